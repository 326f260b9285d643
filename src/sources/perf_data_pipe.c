/* SPDX-License-Identifier: MIT */
/*
 * Records of perf itself: in pipe mode they stand for the header, and some have a payload after
 * them that their own size does not count.
 */
#include "sources/perf_data_reader.h"

static void read_header_attribute(LodePerfData *self, LodeByteCursor *cursor)
{
	LodePerfAttribute attribute = lode_perf_data_read_attribute(self, cursor);
	uint32_t event = self->events->len;

	if (cursor->is_overrun)
		return;
	lode_perf_data_add_event(self, &attribute);
	lode_perf_data_make_names(self, event);
	while (lode_byte_cursor_left(cursor) >= sizeof(uint64_t))
		lode_perf_data_add_id(self, lode_byte_cursor_u64(cursor), event);
}

/* A name that perf learned after the attribute was written. */
static void read_event_update(LodePerfData *self, LodeByteCursor *cursor)
{
	uint64_t kind = lode_byte_cursor_u64(cursor);
	uint64_t id = lode_byte_cursor_u64(cursor);
	uint32_t event;

	if (kind != LODE_PERF_UPDATE_NAME || !lode_perf_data_find_id(self, id, &event))
		return;
	size_t size = lode_byte_cursor_left(cursor);
	const uint8_t *name = lode_byte_cursor_bytes(cursor, size);
	if (!cursor->is_overrun)
		lode_perf_data_name_event(self, event, lode_perf_data_keep_text(self, name, size));
}

/* Old perf names its events so, those of the kernel by their configuration alone. */
static void read_event_type(LodePerfData *self, LodeByteCursor *cursor)
{
	uint64_t id = lode_byte_cursor_u64(cursor);
	size_t size = MIN(lode_byte_cursor_left(cursor), LODE_PERF_EVENT_NAME_BYTES);
	const uint8_t *name = lode_byte_cursor_bytes(cursor, size);

	if (!cursor->is_overrun)
		g_hash_table_insert(self->tracepoint_names, g_memdup2(&id, sizeof(id)),
			(char *)lode_perf_data_keep_text(self, name, size));
}

static void read_build_id_record(LodePerfData *self, LodePerfRawRecord *raw)
{
	if (!lode_perf_data_read_build_id(self, raw->misc, &raw->payload))
		raw->payload.is_overrun = true;
}

static void read_feature_record(LodePerfData *self, LodeByteCursor *cursor)
{
	uint64_t feature = lode_byte_cursor_u64(cursor);

	if (!cursor->is_overrun)
		lode_perf_data_read_feature(self, feature, *cursor);
}

/* What a second reading does not need again. */
static void read_once(LodePerfData *self, LodePerfRawRecord *raw)
{
	LodeByteCursor *cursor = &raw->payload;

	switch (raw->type) {
	case LODE_PERF_RECORD_HEADER_ATTR:
		if (self->info.is_pipe)
			read_header_attribute(self, cursor);
		return;
	case LODE_PERF_RECORD_EVENT_TYPE:
		read_event_type(self, cursor);
		return;
	case LODE_PERF_RECORD_EVENT_UPDATE:
		read_event_update(self, cursor);
		return;
	case LODE_PERF_RECORD_BUILD_ID:
		read_build_id_record(self, raw);
		return;
	case LODE_PERF_RECORD_FEATURE:
		read_feature_record(self, cursor);
		return;
	default:
		self->info.n_unknown_records += raw->type > LODE_PERF_RECORD_LAST_KNOWN;
		return;
	}
}

/* A payload that is not whole is a file that ends too early. */
static bool pass_payload(
	LodePerfData *self, const LodePerfRawRecord *raw, uint64_t size, GError **error)
{
	if (size <= self->data_end - self->at) {
		self->at += size;
		return true;
	}
	if (!self->info.is_pipe && !self->info.is_truncated)
		return lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"what follows the record is longer than the data", error);
	self->info.is_truncated = true;
	self->at = self->data_end;
	return true;
}

static bool pass_trace(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	uint64_t size = lode_byte_cursor_u64(&raw->payload);

	if (raw->is_first_reading)
		self->info.aux_bytes += MIN(size, self->data_end - self->at);
	return pass_payload(self, raw, size, error);
}

/* Only what the kernel wrote is compressed; these move the reader in the file itself. */
static bool read_outside(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	if (raw->is_inside)
		return lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"a record inside compressed data that cannot stand there", error);
	if (raw->type == LODE_PERF_RECORD_AUXTRACE)
		return pass_trace(self, raw, error);
	if (raw->type == LODE_PERF_RECORD_TRACING_DATA)
		return pass_payload(self, raw, lode_byte_cursor_u32(&raw->payload), error);
	return lode_perf_data_decompress(self, raw, error);
}

LodePerfParse lode_perf_data_read_own_record(
	LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	bool is_ok = true;

	switch (raw->type) {
	case LODE_PERF_RECORD_AUXTRACE:
	case LODE_PERF_RECORD_TRACING_DATA:
	case LODE_PERF_RECORD_COMPRESSED:
	case LODE_PERF_RECORD_COMPRESSED2:
		is_ok = read_outside(self, raw, error);
		break;
	default:
		if (raw->is_first_reading)
			read_once(self, raw);
		break;
	}
	if (!is_ok)
		return LODE_PERF_FAILED;
	if (!raw->payload.is_overrun)
		return LODE_PERF_PASSED_OVER;
	lode_perf_data_fail(
		self, raw->offset, LODE_ERROR_CORRUPT, "a record shorter than its fields", error);
	return LODE_PERF_FAILED;
}
