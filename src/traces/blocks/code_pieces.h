/* SPDX-License-Identifier: MIT */
/*
 * The pieces of code that a traced program describes once, and groups of words that say how one was
 * executed: see code_words.h. The program's words are not trusted; a piece is copied when its
 * number first occurs, and stays as it was then.
 */
#pragma once

#include "traces/blocks/code_words.h"

#include <glib.h>
#include <stddef.h>

typedef struct {
	uint64_t address;
	uint32_t n_bytes; /* of all instructions */
	uint32_t number;  /* from 0, by first use: dense, unlike the program's */
	uint8_t n_instructions, n_accesses;
	const uint8_t *accessing; /* × n_accesses: the instruction of each, ascending */
	const uint8_t *kinds;     /* × n_accesses: LodeReferenceKind */
	const uint8_t *sizes;     /* × n_instructions */
} LodeCodePiece;

typedef struct LodeCodePieces LodeCodePieces;

/* `memory` is where the program writes; it is borrowed as long as numbers are looked up. */
LodeCodePieces *lode_code_pieces_new(const uint8_t *memory, size_t n_bytes);
LodeCodePieces *lode_code_pieces_ref(LodeCodePieces *self);
void lode_code_pieces_unref(LodeCodePieces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCodePieces, lode_code_pieces_unref)

/* The piece of that number, valid as long as `self`; NULL if there is none. */
const LodeCodePiece *lode_code_pieces_at(LodeCodePieces *self, uint32_t number);

/* Whether a group was read that names no piece of code, or a word without a meaning: the program
 * has written where only the plugin should. */
bool lode_code_pieces_have_nonsense(const LodeCodePieces *self);

enum {
	LODE_GROUP_MAX_WORDS = 128,
	LODE_GROUP_MAX_REFERENCES = LODE_GROUP_MAX_WORDS + LODE_CODE_MAX_INSTRUCTIONS,
};

/* Words that belong together: one fetch or piece of code, and the accesses after it. */
typedef struct {
	const uint64_t *words;
	size_t n;                   /* words: 1 … LODE_GROUP_MAX_WORDS */
	const LodeCodePiece *piece; /* that the first word names; NULL: it names none */
	bool is_restarted; /* its last instruction was begun anew; the word for that does not count
	                       in `n` */
} LodeWordGroup;

/* The first group of the `n` words, at least one; gives how many words it takes. */
size_t lode_word_group_read(
	LodeCodePieces *pieces, const uint64_t *words, size_t n, LodeWordGroup *out);

/* Whether it is a piece of code with all accesses that are expected: all of its instructions were
 * executed. */
bool lode_word_group_is_whole(const LodeWordGroup *self);

/* Its references, without threads; at most LODE_GROUP_MAX_REFERENCES. */
size_t lode_word_group_references(const LodeWordGroup *self, LodeReference *out);

/* The words that were taken, and what they say. */
typedef struct {
	size_t n; /* words */
	uint64_t n_references, n_instructions;
} LodeWordsTaken;

static inline void lode_words_taken_add(LodeWordsTaken *self, const LodeWordsTaken *more)
{
	self->n += more->n;
	self->n_references += more->n_references;
	self->n_instructions += more->n_instructions;
}
