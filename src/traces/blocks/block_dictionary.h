/* SPDX-License-Identifier: MIT */
/*
 * The basic blocks of an address trace: straight runs of instructions with the positions, kinds and
 * sizes of their loads and stores, each run once.
 *
 *   id 17:  400510  sizes 3 4 2 5       slots (1, load, 8) (3, store, 4)
 *
 * A block is known by all of that: code that shows a different pattern of accesses (a repeat
 * prefix, a conditional move) is a different block. A block without instructions holds data
 * references that no fetch came before.
 *
 * Source of the idea: A. Fox, T. Grun, "Compressing address trace data for cache simulations",
 * Data Compression Conference 1997 (recovered program structure).
 */
#pragma once

#include "traces/reference.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	LODE_BLOCK_MAX_INSTRUCTIONS = 64,
	LODE_BLOCK_MAX_SLOTS = 64,
	LODE_DICTIONARY_MAX_BLOCKS = 1 << 18,
	LODE_DICTIONARY_MAX_SLOTS = 1 << 18,  /* of all blocks: a coder keeps notes of each */
	LODE_DICTIONARY_MAX_BYTES = 64 << 20, /* of blocks, instructions and slots */
};

/* The place of a data reference in a block. */
typedef struct {
	uint32_t size;       /* bytes */
	uint8_t instruction; /* that makes it: 0 … n_instructions−1; 0 in a block without any */
	uint8_t kind;        /* LodeReferenceKind, no fetch */
} LodeTraceSlot;

typedef struct {
	uint64_t address;                  /* of the first instruction; 0 without instructions */
	const uint32_t *instruction_sizes; /* bytes; owned by the dictionary */
	const LodeTraceSlot *slots;        /* by instruction, in program order; likewise */
	uint64_t n_bytes;                  /* of all instructions */
	uint8_t n_instructions, n_slots;   /* not both 0 */
} LodeTraceBlock;

/*
 * Grows only; a block and its address in memory stay as they are, so that other threads may read
 * the blocks that were there when they got their number, while this one adds.
 */
typedef struct LodeBlockDictionary LodeBlockDictionary;

LodeBlockDictionary *lode_block_dictionary_new(void);
LodeBlockDictionary *lode_block_dictionary_ref(LodeBlockDictionary *self);
void lode_block_dictionary_unref(LodeBlockDictionary *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeBlockDictionary, lode_block_dictionary_unref)

/* The number of blocks; ids are 0 … n−1, in the order in which they were added. */
uint32_t lode_block_dictionary_size(const LodeBlockDictionary *self);

/* Memory that the blocks take. */
size_t lode_block_dictionary_bytes(const LodeBlockDictionary *self);

/* No more frames have it, as if it were full. */
void lode_block_dictionary_close(LodeBlockDictionary *self);

/* Whether another block might not find room: begin another dictionary. */
bool lode_block_dictionary_is_full(const LodeBlockDictionary *self);

/* Whether so many more blocks of any kind may not find room. */
bool lode_block_dictionary_is_nearly_full(const LodeBlockDictionary *self, uint32_t n_blocks);

/* Whether this block may be in the dictionary after all those that are there. Not the opposite of
 * the above: blocks of a dictionary that became full with a large one may come in another order,
 * a small one last. */
bool lode_block_dictionary_has_room(const LodeBlockDictionary *self, const LodeTraceBlock *block);

const LodeTraceBlock *lode_block_dictionary_at(const LodeBlockDictionary *self, uint32_t id);

/* The id of an equal block, which is added (copied) when there is none. Must not be full. */
uint32_t lode_block_dictionary_find_or_add(LodeBlockDictionary *self, const LodeTraceBlock *block);

/*
 * Gives the blocks from `first` on, which no other thread knows yet, ids in the order of their
 * addresses. Block first + i becomes block result[i]; the caller frees the result.
 */
uint32_t *lode_block_dictionary_sort(LodeBlockDictionary *self, uint32_t first);
