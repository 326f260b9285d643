/* SPDX-License-Identifier: MIT */
/*
 * The addresses of a frame as streams: for each slot its class with its parameters, and a column of
 * the differences to the predictions; columns of a class follow each other.
 *
 *   column of a slot:   symbols   0 0 0 2 0 243 0 …     one for each invocation
 *                       extra     …         a b c       bytes of those that need more
 *                       table     −4096, 73728          differences that came more than once: 0, 1
 *
 * Private to traces/.
 */
#pragma once

#include "traces/frames/frame_streams.h"
#include "traces/slots/slot_predictor.h"

void lode_slot_columns_encode(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeFrameStreams *out);

/* Likewise, quickly, of slots of which the trial has seen a sample: see slot_residuals.h. */
void lode_slot_columns_encode_residuals(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeFrameStreams *out);

/* Fills in the addresses of a frame that has its blocks. Errors: _CORRUPT. */
bool lode_slot_columns_decode(const LodeFrameStreams *streams, const LodeFrameLayout *layout,
	LodeTraceFrame *frame, GError **error);

/* Counts slots and references by class, × LODE_N_SLOT_CLASSES. Errors: _CORRUPT. */
bool lode_slot_columns_count(const LodeFrameStreams *streams, const LodeFrameLayout *layout,
	uint64_t *n_slots, uint64_t *n_references, GError **error);
