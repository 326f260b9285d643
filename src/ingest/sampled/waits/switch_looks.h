/* SPDX-License-Identifier: MIT */
/*
 * Samples of context switches as looks: each wait has one then. The kernel's functions say the
 * system call, the registers its arguments; a look at the same call and argument of the process,
 * the last one before or else the first one after, says what its descriptor is, how long it wanted
 * to wait, and what lies around its futex.
 *
 *   looks                         call, argument, code ─▶ what they saw, over time
 *   sample ─▶ call, argument, code ────────────────────────┘ ─▶ look
 *
 * Private to ingest/sampled/.
 */
#pragma once

#include "process/places.h"
#include "sources/perf_data/wait_look.h"

typedef struct LodeSwitchLooks LodeSwitchLooks;

LodeSwitchLooks *lode_switch_looks_new(void);
void lode_switch_looks_free(LodeSwitchLooks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSwitchLooks, lode_switch_looks_free)

/* A look of the recording, before the first sample is made one. */
void lode_switch_looks_note(LodeSwitchLooks *self, const LodePerfRecord *record,
	const LodeWaitLook *look, uint64_t time_ns);

/* A sample of a switch, and which functions of the kernel it was in (const char *), the innermost
 * first. */
typedef struct {
	const LodePerfRecord *record;
	const LodePerfEvent *event;
	uint64_t time_ns;
	const GPtrArray *functions;
	LodePlaces *places;
} LodeSwitchSample;

/*
 * The look; and the record as one of user code, where the system call returns to. Texts are valid
 * until this is freed or another one is found. False: why the thread was switched is not known, as
 * of a program of 32 bits.
 */
bool lode_switch_looks_find(const LodeSwitchLooks *self, const LodeSwitchSample *sample,
	LodeWaitLook *out_look, LodePerfRecord *out_record);
