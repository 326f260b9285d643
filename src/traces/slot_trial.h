/* SPDX-License-Identifier: MIT */
/*
 * Chooses for each slot of a frame the class that its addresses cost the least in, by trying the
 * classes on them.
 */
#pragma once

#include "traces/frame_codec.h"
#include "traces/slot_predictor.h"

/* Sets class, base, constant and whether it is of the stack of all slots of the predictor. */
void lode_slot_trial(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeCodecEffort effort);
