/* SPDX-License-Identifier: MIT */
#include "traces/rps/rps_fields.h"

enum { VARINT_BYTES = 10 };

void lode_rps_put_u8(GByteArray *out, uint8_t value)
{
	g_byte_array_append(out, &value, sizeof(value));
}

void lode_rps_put_u32(GByteArray *out, uint32_t value)
{
	uint32_t bytes = GUINT32_TO_LE(value);

	g_byte_array_append(out, (const uint8_t *)&bytes, sizeof(bytes));
}

void lode_rps_put_u64(GByteArray *out, uint64_t value)
{
	uint64_t bytes = GUINT64_TO_LE(value);

	g_byte_array_append(out, (const uint8_t *)&bytes, sizeof(bytes));
}

void lode_rps_put_varint(GByteArray *out, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES];
	unsigned n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	g_byte_array_append(out, bytes, n);
}

void lode_rps_put_text(GByteArray *out, const char *text)
{
	size_t size = text != NULL ? strlen(text) : 0;

	lode_rps_put_varint(out, text != NULL ? size + 1 : 0);
	if (size > 0)
		g_byte_array_append(out, (const uint8_t *)text, (guint)size);
}

void lode_rps_cursor_init(LodeByteCursor *self, const void *bytes, size_t size)
{
	lode_byte_cursor_init(self, bytes, size, G_BYTE_ORDER == G_BIG_ENDIAN);
}

uint64_t lode_rps_take_varint(LodeByteCursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = lode_byte_cursor_u8(cursor);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->is_overrun = true;
	return 0;
}

uint64_t lode_rps_take_bounded(LodeByteCursor *cursor, uint64_t limit)
{
	uint64_t value = lode_rps_take_varint(cursor);

	if (value <= limit)
		return value;
	cursor->is_overrun = true;
	return 0;
}

char *lode_rps_take_text(LodeByteCursor *cursor)
{
	uint64_t size = lode_rps_take_varint(cursor);
	const uint8_t *bytes;

	if (size == 0)
		return NULL;
	bytes = lode_byte_cursor_bytes(cursor, size - 1);
	return bytes != NULL ? g_utf8_make_valid((const char *)bytes, (gssize)(size - 1)) : NULL;
}
