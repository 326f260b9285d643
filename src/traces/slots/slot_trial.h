/* SPDX-License-Identifier: MIT */
/*
 * Selects for each slot of a frame the class of predictor that codes its addresses in the fewest
 * bits, as estimated from a sample of them. Private to traces/.
 */
#pragma once

#include "traces/frames/frame_codec.h"
#include "traces/slots/slot_predictor.h"

/* Sets class, base, constant and whether it is of the stack of all slots of the predictor. */
void lode_slot_trial(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeCodecEffort effort);
