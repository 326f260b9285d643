/* SPDX-License-Identifier: MIT */
/*
 * Recovers blocks from references: a block ends where the next fetch does not follow, where another
 * thread continues, or at its greatest length. The frames have the same references in the same
 * order.
 */
#pragma once

#include "traces/blocks/code_pieces.h"
#include "traces/frames/trace_frame.h"

typedef struct LodeBlockSplitter LodeBlockSplitter;

LodeBlockSplitter *lode_block_splitter_new(void);
void lode_block_splitter_free(LodeBlockSplitter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeBlockSplitter, lode_block_splitter_free)

/* Before all else: its frames use them, and it keeps a reference. */
void lode_block_splitter_use_pool(LodeBlockSplitter *self, LodeFramePool *pool);

/*
 * Takes references until a frame is full; gives how many of the `n` were taken. When fewer than
 * `n` were, lode_block_splitter_take_frame() must be called before more are added.
 */
size_t lode_block_splitter_add(LodeBlockSplitter *self, const LodeReference *references, size_t n);

/*
 * Likewise takes words of one thread, see code_words.h, in whole groups, and gives the number
 * taken. Not more than `limit` references; a limit below LODE_GROUP_MAX_REFERENCES takes nothing.
 * Blocks may begin and end elsewhere than those of the same references. `pieces` are always the
 * same.
 */
LodeWordsTaken lode_block_splitter_add_words(LodeBlockSplitter *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, uint64_t limit);

/* Ends the block that is open and gives the frame so far, owned by the caller; NULL when there is
 * nothing in it. The next frame goes on with the same dictionary, or a new one when that is full.
 */
LodeTraceFrame *lode_block_splitter_take_frame(LodeBlockSplitter *self);

/* Where its dictionary is closed the next frame has a new one; right after
 * lode_block_splitter_take_frame(). */
void lode_block_splitter_renew_dictionary(LodeBlockSplitter *self);

/* The dictionary of the frame in progress, borrowed. A closed one has this frame as its last. */
LodeBlockDictionary *lode_block_splitter_dictionary(const LodeBlockSplitter *self);

/* Memory that the frame takes, without its dictionary. */
size_t lode_block_splitter_frame_bytes(const LodeBlockSplitter *self);
