/* SPDX-License-Identifier: MIT */
/*
 * Frames in work, of one or more owners: workers encode them one after the other, pack their pieces
 * side by side, and hand them to their owners in the order in which these added them.
 *
 *   add ──▶ waiting ──▶ encoding ──▶ packing (pieces) ──▶ finishing ──▶ ready ──▶ sink
 *           the caller blocks while too many bytes wait or are encoded
 *
 * Bounded in memory by what frames, streams and compressors take, not by their number.
 */
#pragma once

#include <glib.h>

typedef struct LodeFramePacking LodeFramePacking;
typedef struct LodePackingQueue LodePackingQueue;

/* Takes finished parts, in order, never two of an owner at once, in any thread: a frame, or bytes
 * of another section; the other is NULL. Both are borrowed. */
typedef void (*LodePackingSink)(
	const LodeFramePacking *frame, const GByteArray *section, void *user_data);

typedef struct {
	LodePackingSink sink;
	void *user_data;
} LodePackingOwner;

/* `n_threads`: workers; 0: all processors. `max_bytes`: of all jobs and of the work on them, where
 * a job may take more, alone; 0: 256 MiB. */
LodePackingQueue *lode_packing_queue_new(unsigned n_threads, size_t max_bytes);

/* No owner has anything in it any more. */
void lode_packing_queue_free(LodePackingQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePackingQueue, lode_packing_queue_free)

/* Takes the frame. Blocks until there is room for it. The owner is borrowed until it is dropped. */
void lode_packing_queue_add_frame(
	LodePackingQueue *self, const LodePackingOwner *owner, LodeFramePacking *frame);

/* Takes the bytes. */
void lode_packing_queue_add_section(
	LodePackingQueue *self, const LodePackingOwner *owner, GByteArray *section);

/* Returns when all that the owner added is with its sink. */
void lode_packing_queue_wait(LodePackingQueue *self, const LodePackingOwner *owner);

/* Waits for the work that is done right now for an owner and drops the rest. */
void lode_packing_queue_drop(LodePackingQueue *self, const LodePackingOwner *owner);
