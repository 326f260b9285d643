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

#include "traces/frames/frame_codec.h"
#include "traces/frames/frame_layout.h"
#include "traces/frames/frame_streams.h"

typedef struct LodeSlotPredictor LodeSlotPredictor;

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

/*
 * Selects for each slot of a frame the class of predictor that codes its addresses in the fewest
 * bits, as estimated from a sample of them.
 */

/* Sets class, base, constant and whether it is of the stack of all slots of the predictor. */
void lode_slot_trial(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeCodecEffort effort);

/*
 * The residuals of a frame's addresses that are not 0: where predictions are good they are few, and
 * nothing is written for an address that is as predicted.
 *
 *   slot 41    zigzags  2 243 2      numbers  3 5 17     of the block's invocations
 */

typedef struct {
	uint64_t *zigzags; /* owned, as all below; those of a slot one after the other, in order */
	uint32_t *numbers; /* of the invocations of its block, to which they belong */
	uint32_t *first;   /* by slot, × n_slots + 1 */
} LodeSlotResiduals;

/* Predicts all addresses of the frame. A slot that was predicted from its own addresses alone and
 * has no residual is global from then on. False: they are more than half of the addresses, and none
 * is kept. */
bool lode_slot_residuals_init(LodeSlotResiduals *self, LodeSlotPredictor *predictor,
	const LodeTraceFrame *frame, const LodeFrameLayout *layout);
void lode_slot_residuals_clear(LodeSlotResiduals *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSlotResiduals, lode_slot_residuals_clear)

static inline uint32_t lode_slot_residuals_count(const LodeSlotResiduals *self, uint32_t slot)
{
	return self->first[slot + 1] - self->first[slot];
}
