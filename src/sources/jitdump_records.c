/* SPDX-License-Identifier: MIT */
/*
 * Header and records. A record says its size, so that one of an unknown kind is stepped over; its
 * contents are read through a cursor that ends where the record does.
 *
 *   [id, size, time] ─┬─ 0 load: pid, tid, vma, address, size, index, name, code
 *                     ├─ 1 move: pid, tid, vma, old address, new address, size, index
 *                     ├─ 2 debug info ─┐ both of the load that comes next
 *                     ├─ 4 unwinding ──┘
 *                     └─ 3 close
 */
#include "sources/jitdump_records.h"

#include "base/error.h"

#include <inttypes.h>

#define MAGIC UINT32_C(0x4a695444)
#define MAGIC_SWAPPED UINT32_C(0x4454694a)
#define FLAG_ARCH_TIMESTAMP UINT64_C(1)
#define MAX_UNITS (UINT32_C(1) << 26)
#define MAX_LINES (UINT32_C(1) << 28)

enum {
	VERSION = 1,
	HEADER_SIZE = 40,
	RECORD_HEADER_SIZE = 16,
};

enum {
	RECORD_LOAD,
	RECORD_MOVE,
	RECORD_DEBUG_INFO,
	RECORD_CLOSE,
	RECORD_UNWINDING_INFO,
};

LodeByteCursor lode_jitdump_cursor_at(const LodeJitdump *self, uint64_t offset, uint64_t end)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(
		&cursor, self->data + offset, (size_t)(end - offset), self->is_swapped);
	return cursor;
}

static uint64_t offset_of(const LodeJitdump *self, const LodeByteCursor *cursor)
{
	return (uint64_t)(cursor->at - self->data);
}

static bool error_at(GError **error, int code, uint64_t offset, const char *message)
{
	g_set_error(error, LODE_ERROR, code, "offset %" PRIu64 ": %s", offset, message);
	return false;
}

bool lode_jitdump_is_format(const char *data, size_t size)
{
	uint32_t magic;

	if (size < sizeof magic)
		return false;
	memcpy(&magic, data, sizeof magic);
	return magic == MAGIC || magic == MAGIC_SWAPPED;
}

uint64_t lode_jitdump_read_header(LodeJitdump *self, GError **error)
{
	LodeByteCursor cursor = lode_jitdump_cursor_at(self, 0, self->size);
	uint32_t magic = lode_byte_cursor_u32(&cursor);

	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return error_at(error, LODE_ERROR_CORRUPT, 0, "not a jitdump file");
	self->is_swapped = cursor.is_swapped = magic == MAGIC_SWAPPED;
	uint32_t version = lode_byte_cursor_u32(&cursor);
	uint32_t size = lode_byte_cursor_u32(&cursor);
	self->elf_machine = lode_byte_cursor_u32(&cursor);
	lode_byte_cursor_u32(&cursor); /* reserved */
	self->pid = lode_byte_cursor_u32(&cursor);
	lode_byte_cursor_u64(&cursor); /* when it was made */
	uint64_t flags = lode_byte_cursor_u64(&cursor);
	if (cursor.is_overrun)
		return error_at(error, LODE_ERROR_CORRUPT, self->size, "the header is cut short");
	if (version != VERSION) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"jitdump version %u, this lode reads version %d", version, VERSION);
		return 0;
	}
	if (size < HEADER_SIZE || size > self->size)
		return error_at(error, LODE_ERROR_CORRUPT, 8, "the header's size is wrong");
	self->is_arch_clock = flags & FLAG_ARCH_TIMESTAMP;
	return size;
}

static void read_load(LodeJitdumpReader *self, uint64_t time_ns, LodeByteCursor *cursor)
{
	LodeJitdump *dump = self->dump;
	LodeJitEvent event = {.time_ns = time_ns, .unit = dump->units->len};
	LodeJitUnit unit = {.unwinding_size = self->unwinding_size};

	lode_byte_cursor_skip(cursor, 16); /* pid, tid, and the address once more */
	event.address = lode_byte_cursor_u64(cursor);
	unit.size = lode_byte_cursor_u64(cursor);
	unit.index = lode_byte_cursor_u64(cursor);
	const char *name = lode_byte_cursor_text(cursor);
	unit.code_offset = offset_of(dump, cursor);
	if (lode_byte_cursor_bytes(cursor, unit.size) == NULL ||
		unit.size > UINT64_MAX - event.address) {
		cursor->is_overrun = true;
		return;
	}
	if (unit.size == 0) {
		dump->n_ignored++;
	} else {
		unit.name = lode_jitdump_keep_text(dump, name);
		if (self->lines_size > 0)
			lode_jitdump_read_lines(dump,
				lode_jitdump_cursor_at(dump, self->lines_offset,
					self->lines_offset + self->lines_size),
				&unit, event.address);
		g_array_append_val(dump->units, unit);
		g_array_append_val(self->events, event);
	}
	self->lines_size = self->unwinding_size = 0;
}

static void read_move(LodeJitdumpReader *self, uint64_t time_ns, LodeByteCursor *cursor)
{
	LodeJitEvent event = {.time_ns = time_ns, .is_move = true};

	lode_byte_cursor_skip(cursor, 16); /* pid, tid, and the new address once more */
	event.old_address = lode_byte_cursor_u64(cursor);
	event.address = lode_byte_cursor_u64(cursor);
	lode_byte_cursor_u64(cursor); /* the size, which the unit knows */
	event.index = lode_byte_cursor_u64(cursor);
	if (!cursor->is_overrun)
		g_array_append_val(self->events, event);
}

static void read_contents(
	LodeJitdumpReader *self, uint32_t kind, uint64_t time_ns, LodeByteCursor *cursor)
{
	switch (kind) {
	case RECORD_LOAD:
		read_load(self, time_ns, cursor);
		break;
	case RECORD_MOVE:
		read_move(self, time_ns, cursor);
		break;
	case RECORD_DEBUG_INFO:
		/* its addresses mean something only with the load that follows */
		self->lines_offset = offset_of(self->dump, cursor);
		self->lines_size = lode_byte_cursor_left(cursor);
		break;
	case RECORD_UNWINDING_INFO:
		self->unwinding_size = lode_byte_cursor_u64(cursor);
		break;
	case RECORD_CLOSE:
		break;
	default:
		self->dump->n_unknown_records++;
		break;
	}
}

bool lode_jitdump_read_record(LodeJitdumpReader *self, uint64_t *offset, GError **error)
{
	LodeJitdump *dump = self->dump;
	LodeByteCursor cursor = lode_jitdump_cursor_at(dump, *offset, dump->size);
	uint32_t kind = lode_byte_cursor_u32(&cursor);
	uint32_t size = lode_byte_cursor_u32(&cursor);
	uint64_t time_ns = lode_byte_cursor_u64(&cursor);

	/* the program ended, or was copied from, while it wrote: what came before is whole */
	if (cursor.is_overrun || size > dump->size - *offset) {
		dump->is_truncated = *offset < dump->size;
		return false;
	}
	if (size < RECORD_HEADER_SIZE)
		return error_at(error, LODE_ERROR_CORRUPT, *offset, "a record of no size");
	if (dump->units->len == MAX_UNITS || dump->lines->len > MAX_LINES)
		return error_at(error, LODE_ERROR_LIMIT, *offset, "too much code in one file");
	cursor.end = dump->data + *offset + size;
	/* the greatest number stands for "no end" */
	read_contents(self, kind, MIN(time_ns, UINT64_MAX - 1), &cursor);
	if (cursor.is_overrun)
		return error_at(error, LODE_ERROR_CORRUPT, *offset,
			"a record is too short for what it holds");
	*offset += size;
	return true;
}
