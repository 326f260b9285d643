/* SPDX-License-Identifier: MIT */
/*
 * Random code to try the rules of data_access.h on: straight pieces, branches and calls inside the
 * snippet, and memory operands whose parts are noted as they are chosen, so that a test can say
 * where they go without decoding anything.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	SNIPPET_MAX_INSTRUCTIONS = 48,
	SNIPPET_MAX_BYTES = SNIPPET_MAX_INSTRUCTIONS * 15,
	SNIPPET_NO_REGISTER = 16,
};

typedef enum {
	SNIPPET_RUN,      /* the processor runs it */
	SNIPPET_ACCESS,   /* an explicit memory operand: the test takes its part */
	SNIPPET_STRING,   /* the same, of rsi and rdi */
	SNIPPET_INDIRECT, /* goes on where a register or the stack says */
} SnippetKind;

typedef struct {
	uint8_t length;
	SnippetKind kind;
	uint8_t base, index, scale; /* registers by their encoding */
	int32_t displacement;
	uint8_t bytes;  /* accessed */
	uint8_t access; /* LODE_ACCESS_… ; of a string's rdi operand it is a store */
	bool has_short_addresses;
	uint8_t written;     /* register that a load writes; SNIPPET_NO_REGISTER */
	int8_t stack_change; /* push [m]: −8, pop [m]: +8 */
	bool is_pop;
	uint8_t bit_register; /* of bt [m], r */
	bool uses_rsi, uses_rdi, is_repeated;
	uint16_t address; /* in the snippet */
} SnippetInstruction;

typedef struct {
	SnippetInstruction instructions[SNIPPET_MAX_INSTRUCTIONS];
	unsigned n;
	uint8_t code[SNIPPET_MAX_BYTES];
	unsigned size;
} Snippet;

void snippet_make(Snippet *self, GRand *rand);

/* The instruction at an offset in the code; NULL: none begins there. */
const SnippetInstruction *snippet_at(const Snippet *self, uint64_t offset);
