/* SPDX-License-Identifier: MIT */
/*
 * Compressed records hold pieces of one zstd stream, and that stream is the kernel's buffers as
 * perf found them: a record may begin in one piece and end in the next.
 *
 *   file    │ COMPRESSED │ COMPRESSED │ …     other records may stand between
 *              ╰────╮       ╰───╮
 *   stream  │ rec │ rec │ re c │ rec │
 *
 * The stream is unpacked a window at a time: memory does not grow with what a file claims.
 */
#include "sources/perf_data_reader.h"

#include <zstd.h>

enum { WINDOW_BYTES = 1 << 18 }; /* several of the longest records */

struct LodePerfDecompressor {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input; /* of the compressed record at hand; borrowed from the file */
	uint64_t offset;     /* that record's */
	bool is_counted;     /* its bytes are new, not read before */
	bool may_have_more;  /* the window was filled to its end */
	uint8_t *window;
	size_t at, end; /* bytes of the window in use */
};

static bool start(LodePerfData *self, const LodePerfRawRecord *raw, GError **error)
{
	if (self->decompressor == NULL) {
		self->decompressor = g_new0(LodePerfDecompressor, 1);
		self->decompressor->stream = ZSTD_createDStream();
		self->decompressor->window = g_malloc(WINDOW_BYTES);
	}
	if (self->decompressor->stream != NULL)
		return true;
	return lode_perf_data_fail(
		self, raw->offset, LODE_ERROR_LIMIT, "no memory for decompression", error);
}

bool lode_perf_data_decompress(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	LodeByteCursor *cursor = &raw->payload;

	if (!start(self, raw, error))
		return false;
	LodePerfDecompressor *decompressor = self->decompressor;
	uint64_t size = raw->type == LODE_PERF_RECORD_COMPRESSED2 ? lode_byte_cursor_u64(cursor)
	                                                          : lode_byte_cursor_left(cursor);
	const uint8_t *bytes = lode_byte_cursor_bytes(cursor, size);
	if (cursor->is_overrun)
		return true;
	decompressor->input = (ZSTD_inBuffer){.src = bytes, .size = size};
	decompressor->offset = raw->offset;
	decompressor->is_counted = raw->is_first_reading;
	decompressor->may_have_more = true;
	if (raw->is_first_reading)
		self->info.compressed_bytes += size;
	return true;
}

/* More of the stream into the window; false: there is none, or an error. */
static bool fill_window(LodePerfData *self, GError **error)
{
	LodePerfDecompressor *decompressor = self->decompressor;
	size_t left = decompressor->end - decompressor->at;

	if (!decompressor->may_have_more)
		return false;
	memmove(decompressor->window, decompressor->window + decompressor->at, left);
	ZSTD_outBuffer output = {.dst = decompressor->window, .size = WINDOW_BYTES, .pos = left};
	size_t taken_before = decompressor->input.pos;
	size_t result = ZSTD_decompressStream(decompressor->stream, &output, &decompressor->input);
	decompressor->at = 0;
	decompressor->end = output.pos;
	if (ZSTD_isError(result)) {
		g_autofree char *message = g_strconcat(
			"the compressed data is damaged: ", ZSTD_getErrorName(result), NULL);
		return lode_perf_data_fail(
			self, decompressor->offset, LODE_ERROR_CORRUPT, message, error);
	}
	if (decompressor->is_counted)
		self->info.decompressed_bytes += output.pos - left;
	/* Frames may follow each other in one piece; a call ends with its frame. */
	bool is_moving = output.pos > left || decompressor->input.pos > taken_before;
	decompressor->may_have_more = is_moving &&
	                              (output.pos == WINDOW_BYTES ||
					      decompressor->input.pos < decompressor->input.size);
	return output.pos > left || decompressor->may_have_more;
}

LodePerfNext lode_perf_data_take_decompressed(
	LodePerfData *self, LodePerfRawRecord *out_raw, GError **error)
{
	LodePerfDecompressor *decompressor = self->decompressor;
	GError *failure = NULL;
	size_t size;

	while ((size = lode_perf_data_split_record(self, decompressor->window + decompressor->at,
			decompressor->end - decompressor->at, out_raw)) == 0) {
		if (fill_window(self, &failure))
			continue;
		if (failure == NULL)
			return LODE_PERF_NEXT_END;
		g_propagate_error(error, failure);
		return LODE_PERF_NEXT_ERROR;
	}
	out_raw->offset = decompressor->offset;
	out_raw->is_inside = true;
	if (size == SIZE_MAX) {
		lode_perf_data_fail(self, decompressor->offset, LODE_ERROR_CORRUPT,
			"inside compressed data, a record shorter than its own header", error);
		return LODE_PERF_NEXT_ERROR;
	}
	decompressor->at += size;
	return LODE_PERF_NEXT_RECORD;
}

bool lode_perf_data_has_decompressed_rest(const LodePerfData *self)
{
	return self->decompressor != NULL && self->decompressor->end > self->decompressor->at;
}

void lode_perf_data_rewind_decompressor(LodePerfData *self)
{
	LodePerfDecompressor *decompressor = self->decompressor;

	if (decompressor == NULL || decompressor->stream == NULL)
		return;
	ZSTD_DCtx_reset(decompressor->stream, ZSTD_reset_session_only);
	decompressor->input = (ZSTD_inBuffer){0};
	decompressor->at = decompressor->end = 0;
	decompressor->offset = 0;
	decompressor->may_have_more = false;
}

void lode_perf_data_free_decompressor(LodePerfData *self)
{
	if (self->decompressor == NULL)
		return;
	ZSTD_freeDStream(self->decompressor->stream);
	g_free(self->decompressor->window);
	g_clear_pointer(&self->decompressor, g_free);
}
