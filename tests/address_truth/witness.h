/* SPDX-License-Identifier: MIT */
/*
 * Sees each instruction of a stepped program, asks the library at some of them where data is
 * accessed, and counts what is true of the answers.
 *
 *   ── last access ── … ── point ── … ── next access ──▶ a thread's time
 *        │                  │ │ └────────────┐ │
 *        └─ backward is ────┘ └─ at-pc is    └─┴─ forward is compared with it, when it comes
 *           compared with it     compared
 *                                with this
 */
#pragma once

#include "image_set.h"
#include "live_mappings.h"
#include "stepped_program.h"
#include "truth_table.h"

enum { WITNESS_MAX_STACK = 4096 };

typedef struct {
	uint64_t n_skipped, n_steps, every; /* of steps of all threads; n_steps 0: no limit */
	size_t stack_bytes;    /* of the stack, from rsp upward, the library is told; at most
	                          WITNESS_MAX_STACK */
	bool has_thread_bases; /* and fs and gs */
} WitnessOptions;

typedef struct {
	WitnessOptions options;
	LiveMappings mappings;
	ImageSet images;
	TruthTable table;
	uint64_t n_seen;
	ImagePlace place; /* of the last point; good in [place_start, place_end) */
	uint64_t place_start, place_end;
} Witness;

void witness_init(Witness *self, const WitnessOptions *options);
void witness_clear(Witness *self);

SteppedProgramWatcher witness_watcher(Witness *self);
