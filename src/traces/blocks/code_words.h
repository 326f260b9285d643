/* SPDX-License-Identifier: MIT */
/*
 * The words of eight bytes in which a traced program reports its execution. Code is described once,
 * and then named by its number; a reference is one word. Plain C, for the plugin in QEMU too.
 *
 *   reference   size 12 bits at 50   kind 2 bits at 62   tag 2 bits at 48   address 48 bits
 *   code        number, in the lowest 32 bits
 *   restart     the last instruction was begun anew: its fetch and its references do not count
 *   count       kind 2 bits at 62   number, in the lowest 48 bits: of references that are not told,
 * as they change nothing in the caches that were asked for (word_filter.h)
 *
 * A piece of code is executed from its first instruction on, as far as the first that accesses
 * memory; after each access that is expected, as far as the next. Accesses after the last expected
 * one belong to its last instruction:
 *
 *   mov (%rsi),%rax   add %rax,%rbx   mov %rbx,(%rdi)   cmp %rbx,%rdx   movups (%rdi),%xmm0
 *   ─ code 17 ─────▶  ─ load … ─────────────────────▶  ─ store … ──────────────────▶  load …
 */
#pragma once

#include "base/bits.h"
#include "traces/reference.h"

#include <stdbool.h>

typedef enum {
	LODE_WORD_REFERENCE,
	LODE_WORD_CODE,
	LODE_WORD_RESTART,
	LODE_WORD_COUNT,
} LodeWordTag;

enum {
	LODE_WORD_ADDRESS_BITS = 48, /* which the processor extends by its sign */
	LODE_WORD_SIZE_BITS = 12,
	LODE_WORD_MAX_SIZE = (1 << LODE_WORD_SIZE_BITS) - 1,
	LODE_CODE_MAX_INSTRUCTIONS = 64,
	LODE_CODE_UNIT_BYTES = 16, /* by which pieces of code are numbered */
};

/* A piece of code as the program describes it, at its number of units in shared memory. */
typedef struct {
	uint64_t address;
	uint8_t n_instructions; /* 1 … LODE_CODE_MAX_INSTRUCTIONS */
	uint8_t n_accesses;     /* expected: at most one an instruction */
	uint8_t bytes[]; /* each access's instruction, each one's kind, each instruction's size */
} LodeCodeDescription;

static inline uint64_t lode_word_of_reference(
	uint64_t address, uint32_t size, LodeReferenceKind kind)
{
	return (address & (LODE_BIT(LODE_WORD_ADDRESS_BITS) - 1)) |
	       (uint64_t)LODE_WORD_REFERENCE << 48 | (uint64_t)size << 50 | (uint64_t)kind << 62;
}

static inline uint64_t lode_word_of_code(uint32_t number)
{
	return (uint64_t)LODE_WORD_CODE << 48 | number;
}

static inline uint64_t lode_word_of_restart(void)
{
	return (uint64_t)LODE_WORD_RESTART << 48;
}

static inline uint64_t lode_word_of_count(LodeReferenceKind kind)
{
	return (uint64_t)LODE_WORD_COUNT << 48 | (uint64_t)kind << 62;
}

static inline bool lode_word_is_count(uint64_t word)
{
	return (word >> 48 & ((1 << (LODE_WORD_SIZE_BITS + 2)) - 1)) == LODE_WORD_COUNT;
}

static inline uint64_t lode_word_count(uint64_t word)
{
	return word & (LODE_BIT(48) - 1);
}

static inline unsigned lode_word_tag(uint64_t word)
{
	return word >> 48 & 3;
}

/* Tag, size and kind. */
static inline uint16_t lode_word_head(uint64_t word)
{
	return (uint16_t)(word >> 48);
}

static inline uint64_t lode_word_address(uint64_t word)
{
	enum { SPARE = 64 - LODE_WORD_ADDRESS_BITS };

	return (uint64_t)((int64_t)(word << SPARE) >> SPARE);
}

static inline uint32_t lode_word_size(uint64_t word)
{
	return (uint32_t)(word >> 50) & LODE_WORD_MAX_SIZE;
}

static inline LodeReferenceKind lode_word_kind(uint64_t word)
{
	return (LodeReferenceKind)(word >> 62);
}

/* An access: a reference that is not a fetch. */
static inline bool lode_word_is_access(uint64_t word)
{
	return lode_word_tag(word) == LODE_WORD_REFERENCE && word >> 62 != LODE_REFERENCE_FETCH;
}
