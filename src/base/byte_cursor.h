/* SPDX-License-Identifier: MIT */
/*
 * Reads numbers and bytes from a bounded piece of memory, in the machine's byte order or the other.
 *
 *   bytes  │ read │ left          │
 *                 at             end
 *
 * A read after the end gives 0 or NULL, moves to the end and sets a flag that stays, so that a
 * parser asks once per record whether all of it was there.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
	const uint8_t *at, *end; /* borrowed */
	bool is_swapped;         /* numbers are in the other byte order */
	bool is_overrun;
} LodeByteCursor;

static inline void lode_byte_cursor_init(
	LodeByteCursor *self, const void *bytes, size_t size, bool is_swapped)
{
	self->at = bytes;
	self->end = size > 0 ? self->at + size : self->at;
	self->is_swapped = is_swapped;
	self->is_overrun = false;
}

static inline size_t lode_byte_cursor_left(const LodeByteCursor *self)
{
	return (size_t)(self->end - self->at);
}

/* The next `size` bytes, borrowed; NULL when there are fewer. */
static inline const uint8_t *lode_byte_cursor_bytes(LodeByteCursor *self, uint64_t size)
{
	const uint8_t *bytes = self->at;

	if (G_UNLIKELY(size > lode_byte_cursor_left(self))) {
		self->at = self->end;
		self->is_overrun = true;
		return NULL;
	}
	self->at += size;
	return bytes;
}

static inline void lode_byte_cursor_skip(LodeByteCursor *self, uint64_t size)
{
	lode_byte_cursor_bytes(self, size);
}

static inline uint8_t lode_byte_cursor_u8(LodeByteCursor *self)
{
	const uint8_t *bytes = lode_byte_cursor_bytes(self, 1);

	return bytes != NULL ? *bytes : 0;
}

static inline uint16_t lode_byte_cursor_u16(LodeByteCursor *self)
{
	const uint8_t *bytes = lode_byte_cursor_bytes(self, sizeof(uint16_t));
	uint16_t value;

	if (bytes == NULL)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return (uint16_t)(self->is_swapped ? GUINT16_SWAP_LE_BE(value) : value);
}

static inline uint32_t lode_byte_cursor_u32(LodeByteCursor *self)
{
	const uint8_t *bytes = lode_byte_cursor_bytes(self, sizeof(uint32_t));
	uint32_t value;

	if (bytes == NULL)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return self->is_swapped ? GUINT32_SWAP_LE_BE(value) : value;
}

static inline uint64_t lode_byte_cursor_u64(LodeByteCursor *self)
{
	const uint8_t *bytes = lode_byte_cursor_bytes(self, sizeof(uint64_t));
	uint64_t value;

	if (bytes == NULL)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return self->is_swapped ? GUINT64_SWAP_LE_BE(value) : value;
}

/* A text up to its NUL, which is passed too; borrowed. NULL when no NUL is left. */
static inline const char *lode_byte_cursor_text(LodeByteCursor *self)
{
	const uint8_t *start = self->at;
	const uint8_t *nul = memchr(start, '\0', lode_byte_cursor_left(self));

	if (nul == NULL) {
		self->at = self->end;
		self->is_overrun = true;
		return NULL;
	}
	self->at = nul + 1;
	return (const char *)start;
}
