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

/* Code from an offset in it on. */
typedef struct {
	int64_t line;
	uint32_t n_bytes; /* of it */
	bool has_line;
} Range;

static Range read_location(LodeByteCursor *cursor, int64_t line)
{
	uint8_t head = lode_byte_cursor_u8(cursor);
	unsigned kind = head >> KIND_SHIFT & KIND_MASK;

	line += read_delta(cursor, kind);
	while (lode_byte_cursor_left(cursor) > 0 && (*cursor->at & ENTRY) == 0)
		lode_byte_cursor_u8(cursor);
	return (Range){line, ((head & UNITS_MASK) + 1u) * UNIT_BYTES, kind != KIND_NONE};
}

/* A number of bytes, and by how much their line differs from that before. */
static Range read_range(LodeByteCursor *cursor, int64_t line)
{
	uint8_t n_bytes = lode_byte_cursor_u8(cursor);
	int8_t delta = (int8_t)lode_byte_cursor_u8(cursor);

	return (Range){delta != INT8_MIN ? line + delta : line, n_bytes, delta != INT8_MIN};
}

/* The other way round: by how much a line differs from that before, and the number of bytes before
 * the next one. */
static Range read_lnotab(LodeByteCursor *cursor, int64_t line)
{
	int8_t delta = (int8_t)lode_byte_cursor_u8(cursor);
	bool is_last = lode_byte_cursor_left(cursor) == 0;

	return (Range){line + delta, is_last ? UINT8_MAX : lode_byte_cursor_u8(cursor), true};
}

void lode_python_lines_read(LodePythonTable kind, GBytes *table, uint32_t first_line,
	uint32_t code_bytes, GArray *out_lines)
{
	static Range (*const readers[])(LodeByteCursor *, int64_t) = {
		[LODE_PYTHON_LNOTAB] = read_lnotab,
		[LODE_PYTHON_RANGES] = read_range,
		[LODE_PYTHON_LOCATIONS] = read_location,
	};
	LodeByteCursor cursor;
	Range range = {.line = first_line};
	uint32_t offset = 0, last_line = 0;
	gsize size;
	const uint8_t *bytes = g_bytes_get_data(table, &size);

	lode_byte_cursor_init(&cursor, bytes, size, false);
	if (kind == LODE_PYTHON_LNOTAB)
		offset = lode_byte_cursor_u8(&cursor); /* with the first line */
	while (lode_byte_cursor_left(&cursor) > 0 && offset < code_bytes) {
		range = readers[kind](&cursor, range.line);
		if (range.line < 0 || range.line > LODE_SCRIPT_MAX_LINE)
			return;
		/* a module begins with an instruction at line 0 */
		if (range.has_line && range.line > 0 && range.n_bytes > 0 &&
			range.line != last_line) {
			const LodePythonLine added = {offset, (uint32_t)range.line};
			g_array_append_val(out_lines, added);
			last_line = added.line;
		}
		offset += range.n_bytes;
	}
}

uint32_t lode_python_lines_find(const GArray *lines, uint32_t offset, uint32_t first_line)
{
	const LodePythonLine *all = (const void *)lines->data;
	guint n = LODE_PARTITION_POINT(lines->len, i, all[i].offset <= offset);

	return n > 0 ? all[n - 1].line : first_line;
}
