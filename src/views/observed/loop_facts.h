/* SPDX-License-Identifier: MIT */
/* Bounds of a loop, at its head. Private to views/. */
#pragma once

#include "base/text/json_stream.h"
#include "model/observed/loops.h"

/* Appends "loop, cycles on Zen 3: recurrence fp 12, next alu 1; load 2, branch 1, width 3": units
 * that it does not use are left out. */
void lode_loop_facts_append(const LodeProfile *profile, const LodeLoop *loop, GString *out);

/* "loop": an object; nothing where no loop begins. `instruction` may be LODE_NONE. */
void lode_loop_facts_json(const LodeProfile *profile, uint32_t instruction, LodeJsonStream *json);

/* Sums of all loops. */
typedef struct {
	uint32_t n_innermost, n_outer;
	double weight_share; /* of the innermost ones, of all weight; NAN: not known */
	uint32_t n_carried;  /* innermost ones whose longest bound is a recurrence */
	uint32_t n_timed;    /* of which the time of an iteration is known */
	double timed_share;  /* of the innermost ones of these, of the weight of all innermost ones;
	                        NAN: not known */
	uint32_t n_above;    /* with bounds that are left out, as they are above the time */
} LodeLoopSums;

LodeLoopSums lode_loop_facts_sum(const LodeProfile *profile);

/* The heaviest of those with bounds that are left out: "f (0x1136) recurrence store 18, measured
 * 5.4; …". The caller frees it. */
char *lode_loop_facts_above(const LodeProfile *profile);

/* "machine": an object of its clock and what its memory moves, in bytes per nanosecond. */
void lode_loop_facts_machine_json(const LodeProfile *profile, LodeJsonStream *json);

/* "loops": an object of them. */
void lode_loop_facts_sum_json(const LodeProfile *profile, LodeJsonStream *json);
