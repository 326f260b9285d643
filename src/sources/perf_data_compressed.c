/* SPDX-License-Identifier: MIT */
/*
 * Compressed records hold pieces of one zstd stream, and that stream is the kernel's buffers as
 * perf found them: a record may begin in one piece and end in the next.
 *
 *   file    │ COMPRESSED │ COMPRESSED │ …     other records may stand between
 *              ╰────╮       ╰───╮
 *   stream  │ rec │ rec │ re c │ rec │
 *
 * The stream is unpacked a window at a time, so that the reader's own memory does not grow with
 * what a file claims. Its users' does: they keep mappings and threads. zstd can make a gigabyte of
 * mappings out of some kilobytes, so what comes out is limited by what went in. perf's own
 * recordings shrink to a third or a twentieth, copies of user stacks to a hundredth.
 */
#include "sources/perf_data_reader.h"

#include <zstd.h>

enum {
	WINDOW_BYTES = 1 << 18, /* several of the longest records */
	/* bytes out of one byte in, and what may come out beside */
	MAX_EXPANSION = 512,
	FREE_BYTES = 64 << 20,
	/* the same of records that are not samples */
	MAX_KEPT_EXPANSION = 32,
	FREE_KEPT_BYTES = 16 << 20,
};

struct LodePerfDecompressor {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input; /* of the compressed record at hand; borrowed from the file */
	uint64_t offset;     /* that record's */
	bool is_counted;     /* its bytes are new, not read before */
	bool may_have_more;  /* the window was filled to its end */
	uint8_t *window;
	size_t at, end;                    /* bytes of the window in use */
	uint64_t taken_bytes, given_bytes; /* in this reading: compressed, and out of them */
	uint64_t kept_bytes;               /* of given_bytes, in records that are not samples */
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
	decompressor->taken_bytes += size;
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
	decompressor->given_bytes += output.pos - left;
	if (decompressor->given_bytes > FREE_BYTES + MAX_EXPANSION * decompressor->taken_bytes)
		return lode_perf_data_fail(self, decompressor->offset, LODE_ERROR_LIMIT,
			"the compressed data grows to more than 512 times its size", error);
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
	if (out_raw->type == PERF_RECORD_SAMPLE)
		return LODE_PERF_NEXT_RECORD;
	decompressor->kept_bytes += size;
	if (decompressor->kept_bytes <=
		FREE_KEPT_BYTES + MAX_KEPT_EXPANSION * decompressor->taken_bytes)
		return LODE_PERF_NEXT_RECORD;
	lode_perf_data_fail(self, decompressor->offset, LODE_ERROR_LIMIT,
		"the compressed mappings and threads grow to more than 32 times the data's size",
		error);
	return LODE_PERF_NEXT_ERROR;
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
	decompressor->taken_bytes = decompressor->given_bytes = decompressor->kept_bytes = 0;
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
