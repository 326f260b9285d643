/* SPDX-License-Identifier: MIT */
/*
 * Instructions that set a general register to another one, or to itself, and a constant: mov, add,
 * sub, inc, dec, lea. A loop's counter and its pointers advance by these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint8_t target, source; /* general registers, as they are encoded */
	uint8_t width;          /* bits that hold: 32 or 64 */
	int64_t constant;
} LodeRegisterAdvance;

/* False: the instruction in these bytes is no such. */
bool lode_register_advance_decode(LodeRegisterAdvance *out, const uint8_t *code, size_t size);

/*
 * A sum of registers times factors, and a constant: mov, movsxd, cdqe, lea, add, sub, inc, dec,
 * neg, shl, imul by a constant, xor and sub of a register with itself; or the product of two
 * registers. So addresses are computed.
 */
typedef struct {
	uint8_t number; /* general register, as it is encoded */
	int64_t factor;
} LodeRegisterTerm;

typedef struct {
	uint8_t target;
	uint8_t n;       /* terms; 0: a constant */
	bool is_copy;    /* the one term alone */
	bool is_product; /* of two terms */
	LodeRegisterTerm terms[2];
} LodeRegisterTerms;

/* False: the instruction in these bytes is no such. */
bool lode_register_terms_decode(LodeRegisterTerms *out, const uint8_t *code, size_t size);
