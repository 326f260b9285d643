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

typedef struct {
	unsigned n_threads;
	unsigned share; /* of so many queues at a time, which share the memory; 0: 1 */
	LodePackingSink sink;
	void *user_data;
} LodePackingQueueOptions;

LodePackingQueue *lode_packing_queue_new(const LodePackingQueueOptions *options);

/* Waits for the work that is done right now and drops the rest. */
void lode_packing_queue_free(LodePackingQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePackingQueue, lode_packing_queue_free)

/* Takes the frame. Blocks until there is room for it. */
void lode_packing_queue_add_frame(LodePackingQueue *self, LodeFramePacking *frame);

/* Takes the bytes. */
void lode_packing_queue_add_section(LodePackingQueue *self, GByteArray *section);

/* Returns when all that was added is with the sink. */
void lode_packing_queue_wait(LodePackingQueue *self);
