/* SPDX-License-Identifier: MIT */
/*
 * Instructions that set a general register to a sum of registers times factors, and a constant:
 * mov, movsxd, cdqe, lea, add, sub, inc, dec, neg, shl, imul by a constant, xor and sub of a
 * register with itself; or to the product of two registers. So addresses are computed, and a
 * loop's counter and its pointers advance.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	uint8_t width; /* 32 or 64 bits of the result are the one register and `constant`; 0: it is
	                  another sum, whose constant is not told */
	int64_t constant;
} LodeRegisterTerms;

/* False: the instruction in these bytes is no such. */
bool lode_register_terms_decode(LodeRegisterTerms *out, const uint8_t *code, size_t size);
