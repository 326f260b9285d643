/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an x86-64 instruction as a key: most instructions of a program have the same bytes
 * as an earlier one, whose results can be reused. Bytes that say how far a call, jump or branch
 * goes, where it is written in the usual way, are left out. No instruction is the beginning of
 * another one: bytes that begin with those of an instruction are that instruction.
 * Private to images/.
 */
#pragma once

#include "base/bits.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LODE_CODE_KEY_LONGEST = 15, LODE_CODE_KEY_SIZE = 16 };

typedef struct {
	uint64_t words[2]; /* the last byte is the instruction's length: never all 0 */
} LodeCodeKey;

/* How many bytes at the end say where it goes. */
static inline size_t lode_code_key_jump_bytes(const uint8_t *code, size_t length)
{
	if (length == 2)
		return code[0] == 0xeb || (code[0] & 0xf0) == 0x70 ? 1 : 0;
	if (length == 5)
		return code[0] == 0xe8 || code[0] == 0xe9 ? 4 : 0;
	return length == 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 4 : 0;
}

/* `length` is 1 … 15 and at most `size`, which is how many bytes may be read. */
static inline LodeCodeKey lode_code_key(const uint8_t *code, size_t length, size_t size)
{
	size_t n = length - lode_code_key_jump_bytes(code, length);
	LodeCodeKey key = {{0, 0}};

	if (size >= LODE_CODE_KEY_SIZE) { /* two loads, of known sizes */
		memcpy(&key, code, sizeof(key));
		key.words[0] &= lode_low_bits(8 * (unsigned)n);
		key.words[1] &= n > 8 ? lode_low_bits(8 * (unsigned)(n - 8)) : 0;
	} else {
		memcpy(&key, code, n);
	}
	key.words[1] |= (uint64_t)length << 56;
	return key;
}
