/* SPDX-License-Identifier: MIT */
#include "process/interpreters/python_frames.h"

#include "base/arrays/partition_point.h"
#include "base/byte_cursor.h"
#include "sources/perf_data/script_look.h"

/* An entry begins with the one byte that has this bit: its kind, and how many units of code it is
 * for. */
enum { ENTRY = 0x80, KIND_SHIFT = 3, KIND_MASK = 15, UNITS_MASK = 7, UNIT_BYTES = 2 };

enum {
	KIND_SAME_LINE = 10, /* and one and two lines on */
	KIND_TWO_LINES_ON = 12,
	KIND_NO_COLUMNS = 13,
	KIND_LONG = 14,
	KIND_NONE = 15,
};

/* A signed number, six bits a byte, the lowest first; the lowest bit is the sign. */
static int64_t read_number(LodeByteCursor *cursor)
{
	uint64_t value = 0;
	uint8_t byte = 0x40;

	for (unsigned shift = 0; shift < 36 && (byte & 0x40) != 0; shift += 6) {
		byte = lode_byte_cursor_u8(cursor);
		value |= (uint64_t)(byte & 0x3f) << shift;
	}
	return (value & 1) != 0 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t read_delta(LodeByteCursor *cursor, unsigned kind)
{
	if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
		return read_number(cursor);
	return kind >= KIND_SAME_LINE && kind <= KIND_TWO_LINES_ON ? kind - KIND_SAME_LINE : 0;
}

void lode_python_lines_read(const uint8_t *table, size_t size, uint32_t first_line,
	uint32_t code_bytes, GArray *out_lines)
{
	LodeByteCursor cursor;
	int64_t line = first_line;
	uint32_t offset = 0, last_line = 0;

	lode_byte_cursor_init(&cursor, table, size, false);
	while (lode_byte_cursor_left(&cursor) > 0 && offset < code_bytes) {
		uint8_t head = lode_byte_cursor_u8(&cursor);
		unsigned kind = head >> KIND_SHIFT & KIND_MASK;
		line += read_delta(&cursor, kind);
		if (line < 1 || line > LODE_SCRIPT_MAX_LINE)
			return;
		if (kind != KIND_NONE && line != last_line) {
			const LodePythonLine added = {offset, (uint32_t)line};
			g_array_append_val(out_lines, added);
			last_line = added.line;
		}
		offset += ((head & UNITS_MASK) + 1u) * UNIT_BYTES;
		while (lode_byte_cursor_left(&cursor) > 0 && (*cursor.at & ENTRY) == 0)
			lode_byte_cursor_u8(&cursor);
	}
}

uint32_t lode_python_lines_find(const GArray *lines, uint32_t offset, uint32_t first_line)
{
	const LodePythonLine *all = (const void *)lines->data;
	guint n = LODE_PARTITION_POINT(lines->len, i, all[i].offset <= offset);

	return n > 0 ? all[n - 1].line : first_line;
}
