/* SPDX-License-Identifier: MIT */
/*
 * Instructions that compare a general register with another one or a constant, jumps by what was
 * compared, and instructions that set a register to a constant: by these the rounds of a loop are
 * known from its code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LODE_TEST_CONSTANT = 16 }; /* in place of the right register */

/* Values are those before the instruction: `sub ecx, 1` compares ecx with 1. */
typedef struct {
	uint8_t left, right; /* general registers, as they are encoded */
	uint8_t width;       /* bits that are compared: 32 or 64 */
	bool is_equality;    /* only whether both are equal is known */
	int64_t constant;
} LodeRegisterTest;

/* cmp, sub, add, inc, dec, and test of a register with itself. False: the instruction in these
 * bytes is no such. */
bool lode_register_test_decode(LodeRegisterTest *out, const uint8_t *code, size_t size);

typedef enum {
	LODE_TEST_EQUAL,
	LODE_TEST_BELOW, /* unsigned */
	LODE_TEST_BELOW_OR_EQUAL,
	LODE_TEST_LESS, /* signed */
	LODE_TEST_LESS_OR_EQUAL,
} LodeTestKind;

typedef struct {
	LodeTestKind kind;
	bool is_negated; /* jumps where it does not hold */
} LodeTestJump;

/* The condition of a jump. False: the instruction is no such, or goes by other flags. */
bool lode_test_jump_decode(LodeTestJump *out, const uint8_t *code, size_t size);

/* What an instruction sets a register to, the upper half included: mov of a constant, xor and sub
 * of a register with itself. False: it is no such. */
bool lode_register_constant_decode(
	uint8_t *out_register, uint64_t *out_value, const uint8_t *code, size_t size);
