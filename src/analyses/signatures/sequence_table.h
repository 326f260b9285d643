/* SPDX-License-Identifier: MIT */
/*
 * Sequences of up to four symbols and a number for each. A symbol is one of 65,535 texts, known to
 * all tables of one dictionary by the same number, so that a sequence is a key of 64 bits: the
 * first symbol in the lowest 16, 0 after the last.
 */
#pragma once

#include "base/arrays/name_table.h"
#include "model/mined/signature.h"

typedef struct {
	LodeNameTable names; /* the text of symbol i + 1 is number i */
} LodeSymbols;

LodeSymbols *lode_symbols_new(void);
void lode_symbols_free(LodeSymbols *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSymbols, lode_symbols_free)

/* The number of a text, added when new; 0: there are too many. */
uint16_t lode_symbols_add(LodeSymbols *self, const char *text);

/* The key of "mov add"; 0: not 1 to 4 symbols, or too many are known. */
uint64_t lode_symbols_key(LodeSymbols *self, const char *text);

/* And back; the caller frees it. */
char *lode_symbols_text(const LodeSymbols *self, uint64_t key);

/* How many symbols a key has. */
static inline unsigned lode_sequence_length(uint64_t key)
{
	return key >> 48 != 0 ? 4 : key >> 32 != 0 ? 3 : key >> 16 != 0 ? 2 : key != 0;
}

typedef struct {
	uint64_t key; /* 0: an empty slot */
	double value;
} LodeSequenceValue;

/* Open addressing; begin with zeros. */
typedef struct {
	LodeSequenceValue *slots;
	size_t n_slots, n_used; /* slots: a power of two, or 0 */
} LodeSequenceTable;

void lode_sequence_table_clear(LodeSequenceTable *self);

/* The value of a key, 0 when it is new; valid until the next call. */
double *lode_sequence_table_at(LodeSequenceTable *self, uint64_t key);

/* The value, or `missing`. */
double lode_sequence_table_get(const LodeSequenceTable *self, uint64_t key, double missing);

/* LodeSequenceValue, by key; the caller unrefs it. */
GArray *lode_sequence_table_sorted(const LodeSequenceTable *self);
