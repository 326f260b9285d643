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
