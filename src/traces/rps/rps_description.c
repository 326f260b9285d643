/* SPDX-License-Identifier: MIT */
#include "traces/rps/rps_description.h"

#include "base/error.h"
#include "traces/reference.h"
#include "traces/rps/rps_fields.h"
#include "traces/rps/rps_format.h"

enum { IS_PARTIAL = 1 };

static void put_mapping(GByteArray *out, const LodeTraceMapping *mapping)
{
	lode_rps_put_varint(out, mapping->start);
	lode_rps_put_varint(out, mapping->end);
	lode_rps_put_varint(out, mapping->offset);
	lode_rps_put_varint(out, mapping->first_reference);
	lode_rps_put_varint(out, mapping->protection);
	lode_rps_put_text(out, mapping->path);
	lode_rps_put_text(out, mapping->build_id);
}

bool lode_rps_description_has_room(const LodeTraceDescription *description)
{
	return description->mappings->len <= LODE_RPS_MAX_MAPPINGS &&
	       description->threads->len <= LODE_MAX_TRACE_THREADS &&
	       description->totals->len <= LODE_RPS_MAX_TOTALS;
}

GByteArray *lode_rps_description_encode(const LodeTraceDescription *description)
{
	GByteArray *out = g_byte_array_new();

	lode_rps_put_text(out, description->command);
	lode_rps_put_text(out, description->tool);
	lode_rps_put_text(out, description->build);
	lode_rps_put_u8(out, description->is_partial ? IS_PARTIAL : 0);
	lode_rps_put_varint(out, description->mappings->len);
	for (guint i = 0; i < description->mappings->len; i++)
		put_mapping(out, &g_array_index(description->mappings, LodeTraceMapping, i));
	lode_rps_put_varint(out, description->threads->len);
	for (guint i = 0; i < description->threads->len; i++) {
		const LodeTraceThread *thread = &g_array_index(
			description->threads, LodeTraceThread, i);

		lode_rps_put_varint(out, thread->tid);
		lode_rps_put_text(out, thread->name);
	}
	lode_rps_put_varint(out, description->totals->len);
	for (guint i = 0; i < description->totals->len; i++) {
		const LodeTraceTotal *total = &g_array_index(
			description->totals, LodeTraceTotal, i);

		lode_rps_put_text(out, total->name);
		lode_rps_put_varint(out, total->value);
	}
	return out;
}

static char *take_text(LodeByteCursor *cursor, LodeTraceDescription *description)
{
	g_autofree char *text = lode_rps_take_text(cursor);

	return lode_trace_description_intern(description, text);
}

static void take_mappings(LodeByteCursor *cursor, LodeTraceDescription *description)
{
	uint64_t n = lode_rps_take_bounded(cursor, LODE_RPS_MAX_MAPPINGS);

	for (; n > 0 && !cursor->is_overrun; n--) {
		LodeTraceMapping mapping = {.start = lode_rps_take_varint(cursor)};

		mapping.end = lode_rps_take_varint(cursor);
		mapping.offset = lode_rps_take_varint(cursor);
		mapping.first_reference = lode_rps_take_varint(cursor);
		mapping.protection = (uint32_t)lode_rps_take_bounded(cursor, UINT32_MAX);
		mapping.path = take_text(cursor, description);
		mapping.build_id = take_text(cursor, description);
		if (mapping.start > mapping.end)
			cursor->is_overrun = true;
		g_array_append_val(description->mappings, mapping);
	}
}

static void take_threads(LodeByteCursor *cursor, LodeTraceDescription *description)
{
	uint64_t n = lode_rps_take_bounded(cursor, LODE_MAX_TRACE_THREADS);

	for (; n > 0 && !cursor->is_overrun; n--) {
		LodeTraceThread thread = {
			.tid = (uint32_t)lode_rps_take_bounded(cursor, UINT32_MAX)};

		thread.name = take_text(cursor, description);
		g_array_append_val(description->threads, thread);
	}
}

static void take_totals(LodeByteCursor *cursor, LodeTraceDescription *description)
{
	uint64_t n = lode_rps_take_bounded(cursor, LODE_RPS_MAX_TOTALS);

	for (; n > 0 && !cursor->is_overrun; n--) {
		LodeTraceTotal total = {.name = take_text(cursor, description)};

		total.value = lode_rps_take_varint(cursor);
		if (total.name == NULL)
			cursor->is_overrun = true;
		g_array_append_val(description->totals, total);
	}
}

LodeTraceDescription *lode_rps_description_decode(const GByteArray *bytes, GError **error)
{
	g_autoptr(LodeTraceDescription) self = lode_trace_description_new();
	LodeByteCursor cursor;

	lode_rps_cursor_init(&cursor, bytes->data, bytes->len);
	self->command = take_text(&cursor, self);
	self->tool = take_text(&cursor, self);
	self->build = take_text(&cursor, self);
	self->is_partial = (lode_byte_cursor_u8(&cursor) & IS_PARTIAL) != 0;
	take_mappings(&cursor, self);
	take_threads(&cursor, self);
	take_totals(&cursor, self);
	/* a later version may append fields */
	if (!cursor.is_overrun)
		return g_steal_pointer(&self);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "the description is damaged");
	return NULL;
}
