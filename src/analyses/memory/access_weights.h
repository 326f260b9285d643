/* SPDX-License-Identifier: MIT */
/*
 * Accesses in place of time. A timer samples what waits; where it is known how often each
 * instruction was executed, its samples still say which addresses it accessed:
 *
 *   weight of a sample = executions of its instruction × its share of that instruction's samples
 *
 * of those with an address, and for each operand. An address trace needs none of this: its
 * accesses are its rows.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	double accesses;     /* by instructions that load or store, as far as the profile knows */
	double unsampled;    /* of these, by instructions without a sample */
	double unresolved;   /* by instructions of whose samples none has an address */
	uint64_t n_unplaced; /* samples whose instruction is not known: their weight is 0 */
} LodeAccessWeights;

/*
 * Gives all samples but page faults such weights, and makes them samples of an event "accesses".
 * The profile has memory. Errors: _NOT_FOUND: executions were not counted; a trace's rows are
 * misses.
 */
bool lode_access_weights_apply(
	LodeProfile *profile, LodeAccessWeights *out_weights, GError **error);

/*
 * Weighs samples by latency instead of by number: where the processor measured how long each
 * sampled access took, the sum shows where time was lost to memory.
 *
 * Each sample gets its latency times its weight (an event's count), and becomes a sample of an
 * event "latency", in cycles. Samples without a latency get weight 0. The profile has memory.
 * Errors: _NOT_FOUND: no sample has a latency.
 */
bool lode_latency_weights_apply(LodeProfile *profile, GError **error);
