/* SPDX-License-Identifier: MIT */
/*
 * The residuals of a frame's addresses that are not 0: where predictions are good they are few, and
 * nothing is written for an address that is as predicted.
 *
 *   slot 41    zigzags  2 243 2      numbers  3 5 17     of the block's invocations
 *
 * Private to traces/.
 */
#pragma once

#include "traces/slots/slot_predictor.h"

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
