/* SPDX-License-Identifier: MIT */
/*
 * Numbers of any size in few bytes: seven bits a byte, the lowest first, the top bit set in all but
 * the last (LEB128). Signed numbers are zigzag: 0, −1, 1, −2 … become 0, 1, 2, 3 …
 */
#pragma once

#include "base/byte_cursor.h"

static inline uint64_t lode_zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t lode_unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static inline void lode_varint_append(GByteArray *out, uint64_t value)
{
	uint8_t bytes[10];
	unsigned n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	g_byte_array_append(out, bytes, n);
}

static inline void lode_varint_append_signed(GByteArray *out, uint64_t difference)
{
	lode_varint_append(out, lode_zigzag(difference));
}

/* Bits after the 64th are lost; after the end it gives 0 and sets the cursor's flag. */
static inline uint64_t lode_varint_read(LodeByteCursor *in)
{
	uint64_t value = 0;
	uint8_t byte;
	unsigned shift = 0;

	do {
		byte = lode_byte_cursor_u8(in);
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80 && shift < 70);
	return value;
}

static inline uint64_t lode_varint_read_signed(LodeByteCursor *in)
{
	return lode_unzigzag(lode_varint_read(in));
}
