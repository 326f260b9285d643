/* SPDX-License-Identifier: MIT */
/*
 * Records of the kernel other than samples (perf_event_open(2)). After their own fields stands,
 * when the event has sample_id_all, what a sample would say of itself:
 *
 *   own fields, texts with NUL and padding │ pid tid │ time │ id │ stream │ cpu │ identifier
 */
#include "sources/perf_data_reader.h"

#include <sys/mman.h>

enum { KERNEL_MMAP_IDENTITY_BYTES = 24 }; /* device, inode, generation; or the build-id */

/* Of the record's event, which the trailer names: all events have its id at the same place. */
static uint32_t find_trailer_event(LodePerfData *self, const LodeByteCursor *payload)
{
	uint32_t event = 0;
	size_t id_and_after = 8 * (size_t)MAX(self->trailer_id_word, 0);

	if (self->events->len < 2 || id_and_after == 0 ||
		lode_byte_cursor_left(payload) < id_and_after)
		return 0;
	LodeByteCursor cursor = *payload;
	cursor.at = cursor.end - id_and_after;
	uint64_t id = lode_byte_cursor_u64(&cursor);
	return id != 0 && lode_perf_data_find_id(self, id, &event) ? event : 0;
}

static bool has_own_ids(LodePerfRecordKind kind)
{
	return kind == LODE_PERF_MAPPING || kind == LODE_PERF_COMMAND || kind == LODE_PERF_FORK ||
	       kind == LODE_PERF_EXIT;
}

/* A record may lack its trailer: old perf left it out of what it made up itself. */
static void read_trailer(LodePerfData *self, LodeByteCursor *payload, LodePerfRecord *out)
{
	if (self->events->len == 0)
		return;
	out->event = find_trailer_event(self, payload);
	const LodePerfLayout *layout = &g_array_index(self->layouts, LodePerfLayout, out->event);
	LodeByteCursor cursor = *payload;
	if (layout->trailer_size == 0 || lode_byte_cursor_left(&cursor) < layout->trailer_size)
		return;
	cursor.at = cursor.end - layout->trailer_size;
	if (layout->sample_type & PERF_SAMPLE_TID) {
		uint32_t pid = lode_byte_cursor_u32(&cursor), tid = lode_byte_cursor_u32(&cursor);
		/* The record's own say whom it is about, the trailer's who caused it. */
		out->pid = has_own_ids(out->kind) ? out->pid : pid;
		out->tid = has_own_ids(out->kind) ? out->tid : tid;
	}
	if (layout->sample_type & PERF_SAMPLE_TIME)
		out->time_ns = lode_byte_cursor_u64(&cursor);
	if (layout->sample_type & PERF_SAMPLE_ID)
		out->sample.id = lode_byte_cursor_u64(&cursor);
	if (layout->sample_type & PERF_SAMPLE_STREAM_ID)
		out->sample.stream_id = lode_byte_cursor_u64(&cursor);
	if (layout->sample_type & PERF_SAMPLE_CPU) {
		out->sample.cpu = lode_byte_cursor_u32(&cursor);
		lode_byte_cursor_skip(&cursor, 4);
	}
	if (layout->sample_type & PERF_SAMPLE_IDENTIFIER)
		out->sample.id = lode_byte_cursor_u64(&cursor);
}

static void read_build_id(LodePerfMapping *mapping, LodeByteCursor *cursor)
{
	uint8_t size = lode_byte_cursor_u8(cursor);

	lode_byte_cursor_skip(cursor, 3);
	mapping->build_id = lode_byte_cursor_bytes(cursor, LODE_PERF_BUILD_ID_BYTES);
	mapping->build_id_size = MIN(size, LODE_PERF_BUILD_ID_BYTES);
	if (mapping->build_id_size == 0)
		mapping->build_id = NULL;
}

static void read_mapping(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	LodeByteCursor *cursor = &raw->payload;
	LodePerfMapping *mapping = &out->mapping;

	out->kind = LODE_PERF_MAPPING;
	out->pid = lode_byte_cursor_u32(cursor);
	out->tid = lode_byte_cursor_u32(cursor);
	mapping->start = lode_byte_cursor_u64(cursor);
	mapping->size = lode_byte_cursor_u64(cursor);
	mapping->offset = lode_byte_cursor_u64(cursor);
	/* PERF_RECORD_MMAP does not say it: one without the bit is of code */
	mapping->protection = PROT_READ | (raw->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC);
	if (raw->type == PERF_RECORD_MMAP2) {
		if (raw->misc & LODE_PERF_MISC_MMAP_BUILD_ID)
			read_build_id(mapping, cursor);
		else
			lode_byte_cursor_skip(cursor, KERNEL_MMAP_IDENTITY_BYTES);
		mapping->protection = lode_byte_cursor_u32(cursor);
		lode_byte_cursor_skip(cursor, 4);
	}
	mapping->path = lode_byte_cursor_text(cursor);
}

static void read_command(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = LODE_PERF_COMMAND;
	out->pid = lode_byte_cursor_u32(&raw->payload);
	out->tid = lode_byte_cursor_u32(&raw->payload);
	out->is_exec = (raw->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
	out->text = lode_byte_cursor_text(&raw->payload);
}

static void read_task(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = raw->type == PERF_RECORD_FORK ? LODE_PERF_FORK : LODE_PERF_EXIT;
	out->pid = lode_byte_cursor_u32(&raw->payload);
	out->parent_pid = lode_byte_cursor_u32(&raw->payload);
	out->tid = lode_byte_cursor_u32(&raw->payload);
	out->parent_tid = lode_byte_cursor_u32(&raw->payload);
	out->time_ns = lode_byte_cursor_u64(&raw->payload);
}

static void read_lost(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = LODE_PERF_LOST_SAMPLES;
	if (raw->type == PERF_RECORD_LOST) {
		out->kind = LODE_PERF_LOST;
		out->sample.id = lode_byte_cursor_u64(&raw->payload);
	}
	out->value = lode_byte_cursor_u64(&raw->payload);
}

static void read_throttle(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = raw->type == PERF_RECORD_THROTTLE ? LODE_PERF_THROTTLE : LODE_PERF_UNTHROTTLE;
	out->time_ns = lode_byte_cursor_u64(&raw->payload);
	out->sample.id = lode_byte_cursor_u64(&raw->payload);
	out->sample.stream_id = lode_byte_cursor_u64(&raw->payload);
}

/* Whether it concerns the user. */
static bool read_fields(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	switch (raw->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		read_mapping(raw, out);
		return true;
	case PERF_RECORD_COMM:
		read_command(raw, out);
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		read_task(raw, out);
		return true;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		read_lost(raw, out);
		return true;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		read_throttle(raw, out);
		return true;
	default:
		return false;
	}
}

LodePerfParse lode_perf_data_parse_kernel_record(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out, GError **error)
{
	*out = (LodePerfRecord){
		.mode = (LodePerfMode)MIN(
			raw->misc & PERF_RECORD_MISC_CPUMODE_MASK, LODE_PERF_MODE_GUEST_USER),
		.pid = UINT32_MAX,
		.tid = UINT32_MAX,
		.offset = raw->offset,
		.sample = {.cpu = UINT32_MAX, .branch_hw_index = UINT64_MAX},
	};
	if (!read_fields(raw, out)) {
		bool is_unknown = raw->type == 0 || raw->type > LODE_PERF_RECORD_LAST_OF_KERNEL;
		self->info.n_unknown_records += is_unknown && raw->is_first_reading;
		return LODE_PERF_PASSED_OVER;
	}
	if (raw->payload.is_overrun) {
		lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"a record shorter than its fields", error);
		return LODE_PERF_FAILED;
	}
	read_trailer(self, &raw->payload, out);
	return LODE_PERF_PARSED;
}
