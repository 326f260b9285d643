/* SPDX-License-Identifier: MIT */
/*
 * Frames in work: workers encode them one after the other, pack their pieces side by side, and
 * hand them over in the order in which they were added.
 *
 *   add ──▶ waiting ──▶ encoding ──▶ packing (pieces) ──▶ finishing ──▶ ready ──▶ sink
 *           the caller blocks while too many bytes wait or are encoded
 *
 * Bounded in memory by what frames, streams and compressors take, not by their number.
 * Private to traces/.
 */
#pragma once

#include "traces/frame_packing.h"

typedef struct LodePackingQueue LodePackingQueue;

/* Takes what is ready, in order, never two at once, in any thread: a finished frame, or bytes of
 * another section; the other is NULL. Both are borrowed. */
typedef void (*LodePackingSink)(
	const LodeFramePacking *frame, const GByteArray *section, void *user_data);

LodePackingQueue *lode_packing_queue_new(unsigned n_threads, LodePackingSink sink, void *user_data);

/* Waits for the work that is done right now and drops the rest. */
void lode_packing_queue_free(LodePackingQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePackingQueue, lode_packing_queue_free)

/* Takes the frame. Blocks until there is room for it. */
void lode_packing_queue_add_frame(LodePackingQueue *self, LodeFramePacking *frame);

/* Takes the bytes. */
void lode_packing_queue_add_section(LodePackingQueue *self, GByteArray *section);

/* Returns when all that was added is with the sink. */
void lode_packing_queue_wait(LodePackingQueue *self);
