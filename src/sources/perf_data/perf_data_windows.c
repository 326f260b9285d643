/* SPDX-License-Identifier: MIT */
/*
 * The logs of windows in a recording, as docs/reference/formats/windows.md describes their section:
 *
 *   version, number of logs │ sizes, frame of zstd │ sizes, frame │ …
 *
 * Only the sizes are read with the header; a log is unpacked on request.
 */
#include "sources/perf_data/perf_data_reader.h"

#include <zstd.h>

static uint64_t padded(uint64_t size)
{
	return size + (8 - size % 8) % 8;
}

bool lode_perf_data_read_windows(LodePerfData *self, uint64_t offset, uint64_t size, GError **error)
{
	uint8_t bytes[LODE_PERF_WINDOWS_LOG_BYTES] = {0};
	uint64_t end = offset + size, raw_left = LODE_PERF_WINDOWS_MAX_BYTES;
	LodeByteCursor cursor;

	if (!lode_input_file_read(
		    self->file, offset, bytes, MIN(size, LODE_PERF_WINDOWS_HEAD_BYTES), error))
		return false;
	lode_byte_cursor_init(&cursor, bytes, LODE_PERF_WINDOWS_HEAD_BYTES, self->is_swapped);
	uint32_t version = lode_byte_cursor_u32(&cursor);
	uint32_t n = lode_byte_cursor_u32(&cursor);
	if (version > LODE_PERF_WINDOWS_VERSION) {
		self->info.left_out.n_unknown_features++;
		return true;
	}
	bool is_damaged = size < LODE_PERF_WINDOWS_HEAD_BYTES || n > LODE_PERF_WINDOWS_MAX_LOGS;
	offset += LODE_PERF_WINDOWS_HEAD_BYTES;
	for (uint32_t i = 0; i < n && !is_damaged; i++) {
		is_damaged = end - offset < sizeof(bytes);
		if (is_damaged)
			break;
		if (!lode_input_file_read(self->file, offset, bytes, sizeof(bytes), error))
			return false;
		lode_byte_cursor_init(&cursor, bytes, sizeof(bytes), self->is_swapped);
		LodePerfWindowLog log = {.size = lode_byte_cursor_u64(&cursor)};
		log.raw_size = lode_byte_cursor_u64(&cursor);
		log.offset = offset += sizeof(bytes);
		is_damaged = log.size > end - offset || padded(log.size) > end - offset ||
		             (log.size > 0 && log.raw_size > raw_left);
		if (is_damaged)
			break;
		offset += padded(log.size);
		raw_left -= log.size > 0 ? log.raw_size : 0;
		g_array_append_val(self->info.window_logs, log);
	}
	self->info.left_out.n_damaged_features += is_damaged;
	return true;
}

GBytes *lode_perf_data_window_log(LodePerfData *self, guint index, GError **error)
{
	const LodePerfWindowLog *log = &g_array_index(
		self->info.window_logs, LodePerfWindowLog, index);

	if (log->size == 0) {
		lode_perf_data_fail(self, log->offset, LODE_ERROR_NOT_FOUND,
			"the recording had no room for this log of windows", error);
		return NULL;
	}
	g_autofree char *packed = lode_input_file_load(
		self->parts.header_file, log->offset, log->size, error);
	if (packed == NULL)
		return NULL;
	g_autofree char *raw = g_try_malloc(MAX(log->raw_size, 1));
	if (raw == NULL) {
		lode_perf_data_fail(self, log->offset, LODE_ERROR_LIMIT,
			"no memory for a log of windows", error);
		return NULL;
	}
	/* more than claimed is an error, too */
	if (ZSTD_decompress(raw, log->raw_size, packed, log->size) != log->raw_size) {
		lode_perf_data_fail(self, log->offset, LODE_ERROR_CORRUPT,
			"a log of windows is damaged", error);
		return NULL;
	}
	return g_bytes_new_take(g_steal_pointer(&raw), log->raw_size);
}
