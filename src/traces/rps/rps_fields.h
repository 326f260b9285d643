/* SPDX-License-Identifier: MIT */
/*
 * The numbers and texts of the .rps file: little-endian whatever the machine, and numbers of 7 bits
 * a byte, least first, where most are small.
 */
#pragma once

#include "base/byte_cursor.h"

/* Append to `out`. */
void lode_rps_put_u8(GByteArray *out, uint8_t value);
void lode_rps_put_u32(GByteArray *out, uint32_t value);
void lode_rps_put_u64(GByteArray *out, uint64_t value);
void lode_rps_put_varint(GByteArray *out, uint64_t value);

/* The bytes after their number, plus one; 0 for NULL. */
void lode_rps_put_text(GByteArray *out, const char *text);

/* A cursor over bytes of the file. */
void lode_rps_cursor_init(LodeByteCursor *self, const void *bytes, size_t size);

/* Sets the overrun flag also where a number has more than 64 bits. */
uint64_t lode_rps_take_varint(LodeByteCursor *cursor);

/* As above, and where it is greater than `limit`, the overrun flag and 0. */
uint64_t lode_rps_take_bounded(LodeByteCursor *cursor, uint64_t limit);

/* The caller owns the result; NULL: there is none, or the overrun flag. A text that is not UTF-8 is
 * made so. */
char *lode_rps_take_text(LodeByteCursor *cursor);
