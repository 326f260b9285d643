/* SPDX-License-Identifier: MIT */
/*
 * Pieces of code that were executed one after the other without a branch are one block. Where a
 * program goes it mostly went before: a tree of all that came after each other so far gives the
 * block of a chain of pieces by a step for each, without a look at their instructions.
 *
 *   ─ piece 3 ─▶ chain 7 ─ piece 4 ─▶ chain 9: block 17
 *                        ─ piece 5 ─▶ chain 12: block 30
 *
 * Private to traces/.
 */
#pragma once

#include "traces/blocks/block_dictionary.h"
#include "traces/blocks/code_pieces.h"

/* A piece of code with the accesses that it made. */
typedef struct {
	const LodeCodePiece *piece;
	const uint16_t *heads; /* × n_slots, of their words */
	uint32_t next;         /* another one of the piece; 0: none */
	uint32_t root;         /* the chain that begins with it; 0: none yet */
	uint8_t n_slots;
} LodePieceUse;

enum { LODE_CHAIN_LIKELY = 2 };

typedef struct {
	/* The latest successors: the word of a piece of code, and the chain that it leads to, which
	 * continues this one or, if it begins a block, has no piece before it. */
	uint64_t likely_words[LODE_CHAIN_LIKELY];
	uint32_t likely[LODE_CHAIN_LIKELY]; /* 0: none */

	uint32_t before, use;   /* the chain without its last piece, 0: none; that one… */
	const uint16_t *heads;  /* …, and its */
	uint64_t next_fetch;    /* the address after it */
	uint32_t block;         /* its number… */
	uint32_t block_version; /* …as long as the caller's numbers have this version */
	uint8_t n_instructions, n_slots;
	uint8_t last_instructions, last_slots; /* of the last piece */
} LodeBlockChain;

typedef struct {
	GArray *uses;      /* LodePieceUse; 0: none */
	GArray *chains;    /* LodeBlockChain; 0: none */
	GArray *first_use; /* uint32_t, by number of the piece; 0: none */
	GStringChunk *heads;
	LodeCodePieces *pieces; /* a reference */
	uint32_t *table;        /* of chains, by what they consist of; 0: free */
	unsigned table_bits;
} LodeBlockChains;

/* All groups are of these pieces. */
void lode_block_chains_init(LodeBlockChains *self, LodeCodePieces *pieces);
void lode_block_chains_clear(LodeBlockChains *self);

/* Whether they should be cleared, as there are very many. */
bool lode_block_chains_are_full(const LodeBlockChains *self);

/* The use of a piece that a group of words describes; 0: an unusual one, or one with too many
 * accesses for a block. */
uint32_t lode_block_chains_find_use(LodeBlockChains *self, const LodeWordGroup *group);

/* The number of the chain that continues `chain` by one use of a piece, or begins with it if
 * `chain` is 0. Returns 0 if the use belongs to another block. */
uint32_t lode_block_chains_find_next(LodeBlockChains *self, uint32_t chain, uint32_t use);

/* Writes the block that a chain is into `out`, with its arrays at `sizes` and `slots`. */
void lode_block_chains_block(const LodeBlockChains *self, uint32_t chain, uint32_t *sizes,
	LodeTraceSlot *slots, LodeTraceBlock *out);

static inline LodePieceUse *lode_block_chains_use(const LodeBlockChains *self, uint32_t use)
{
	return &g_array_index(self->uses, LodePieceUse, use);
}

static inline LodeBlockChain *lode_block_chains_at(const LodeBlockChains *self, uint32_t chain)
{
	return &g_array_index(self->chains, LodeBlockChain, chain);
}

/* The use of a piece that came first; 0: none yet. */
static inline uint32_t lode_block_chains_first_use(
	const LodeBlockChains *self, const LodeCodePiece *piece)
{
	return piece->number < self->first_use->len
	               ? g_array_index(self->first_use, uint32_t, piece->number)
	               : 0;
}
