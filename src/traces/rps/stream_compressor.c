/* SPDX-License-Identifier: MIT */
/*
 * LZMA2 is written raw, without the header, sizes and checksums of .xz: the head of a section has
 * them for every kind of compression. The windows are bounded on both sides, so that a reader's
 * memory does not depend on what a file asks for.
 */
#include "traces/rps/stream_compressor.h"

#include "base/error.h"

#include <lzma.h>
#include <string.h>
#include <zstd.h>

enum {
	OUTPUT_STEP = 1 << 18,
	MAX_WINDOW_LOG = 24, /* bounds the memory of both sides */
	MAX_CHAIN_LOG = 24,  /* of the levels that have more; four bytes each */
	MAX_HASH_LOG = 23,
	MAX_LZMA_DICTIONARY = 1 << 23,
	HIGHEST_ORDINARY_LEVEL = 19, /* of zstd; above are those that take much memory */
};

/* Both sides know the size of a stream, so that the dictionary need not be written. */
static void set_lzma_options(lzma_options_lzma *options, int preset, uint64_t size)
{
	if (lzma_lzma_preset(options, (uint32_t)preset))
		g_error("xz knows no preset %d", preset);
	options->dict_size = (uint32_t)CLAMP(size, LZMA_DICT_SIZE_MIN, MAX_LZMA_DICTIONARY);
	/* Bytes, not words: their position modulo 4 says nothing. */
	options->pb = 0;
}

struct LodeStreamCompressor {
	LodeCompression compression;
	ZSTD_CCtx *zstd;
	lzma_stream lzma;
	GByteArray *packed;
};

static void start_zstd(LodeStreamCompressor *self, int level, uint64_t size)
{
	self->zstd = ZSTD_createCCtx();
	if (self->zstd == NULL)
		g_error("no memory for compression");
	ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_compressionLevel, level);
	if (level > HIGHEST_ORDINARY_LEVEL && size > UINT64_C(1) << (MAX_WINDOW_LOG - 1)) {
		ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_windowLog, MAX_WINDOW_LOG);
		ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_chainLog, MAX_CHAIN_LOG);
		ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_hashLog, MAX_HASH_LOG);
	}
	ZSTD_CCtx_setPledgedSrcSize(self->zstd, size);
}

static void start_lzma(LodeStreamCompressor *self, int level, uint64_t size)
{
	lzma_options_lzma options;
	lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

	set_lzma_options(&options, level, size);
	if (lzma_raw_encoder(&self->lzma, filters) != LZMA_OK)
		g_error("no memory for compression");
}

LodeStreamCompressor *lode_stream_compressor_new(
	LodeCompression compression, int level, uint64_t size)
{
	LodeStreamCompressor *self = g_new0(LodeStreamCompressor, 1);

	self->compression = compression;
	self->packed = g_byte_array_new();
	if (compression == LODE_COMPRESSION_ZSTD)
		start_zstd(self, level, size);
	else if (compression == LODE_COMPRESSION_LZMA2)
		start_lzma(self, level, size);
	return self;
}

void lode_stream_compressor_free(LodeStreamCompressor *self)
{
	if (self == NULL)
		return;
	ZSTD_freeCCtx(self->zstd);
	lzma_end(&self->lzma);
	if (self->packed != NULL)
		g_byte_array_unref(self->packed);
	g_free(self);
}

/* The tables of both grow with what is to be packed, up to their bounds: measured. */
size_t lode_stream_compressor_memory(LodeCompression compression, int level, uint64_t size)
{
	size_t small = (size_t)CLAMP(size, 1 << 16, 1 << MAX_WINDOW_LOG);

	if (compression == LODE_COMPRESSION_LZMA2)
		return 12 * MIN(small, (size_t)MAX_LZMA_DICTIONARY) + (4 << 20);
	if (compression == LODE_COMPRESSION_STORED)
		return 0;
	if (level < HIGHEST_ORDINARY_LEVEL)
		return MIN(3 * small, 8 << 20);
	return MIN(16 * small, level > HIGHEST_ORDINARY_LEVEL ? 128 << 20 : 96 << 20);
}

/* Room for more output after what there is; gives its place. */
static uint8_t *make_room(LodeStreamCompressor *self)
{
	guint used = self->packed->len;

	g_byte_array_set_size(self->packed, used + OUTPUT_STEP);
	return self->packed->data + used;
}

static void run_zstd(LodeStreamCompressor *self, const void *bytes, size_t size, bool is_last)
{
	ZSTD_inBuffer input = {.src = bytes, .size = size};
	size_t left;

	do {
		guint used = self->packed->len;
		ZSTD_outBuffer output = {.dst = make_room(self), .size = OUTPUT_STEP};

		left = ZSTD_compressStream2(
			self->zstd, &output, &input, is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			g_error("zstd: %s", ZSTD_getErrorName(left));
		g_byte_array_set_size(self->packed, used + (guint)output.pos);
	} while (is_last ? left > 0 : input.pos < input.size);
}

static void run_lzma(LodeStreamCompressor *self, const void *bytes, size_t size, bool is_last)
{
	lzma_ret result;

	self->lzma.next_in = bytes;
	self->lzma.avail_in = size;
	do {
		guint used = self->packed->len;

		self->lzma.next_out = make_room(self);
		self->lzma.avail_out = OUTPUT_STEP;
		result = lzma_code(&self->lzma, is_last ? LZMA_FINISH : LZMA_RUN);
		if (result != LZMA_OK && result != LZMA_STREAM_END)
			g_error("liblzma: error %d", (int)result);
		g_byte_array_set_size(
			self->packed, used + OUTPUT_STEP - (guint)self->lzma.avail_out);
	} while (is_last ? result != LZMA_STREAM_END : self->lzma.avail_in > 0);
}

static void run(LodeStreamCompressor *self, const void *bytes, size_t size, bool is_last)
{
	if (self->compression == LODE_COMPRESSION_ZSTD)
		run_zstd(self, bytes, size, is_last);
	else if (self->compression == LODE_COMPRESSION_LZMA2)
		run_lzma(self, bytes, size, is_last);
	else
		g_byte_array_append(self->packed, bytes, (guint)size);
}

void lode_stream_compressor_add(LodeStreamCompressor *self, const void *bytes, size_t size)
{
	if (size > 0)
		run(self, bytes, size, false);
}

size_t lode_stream_compressor_size(const LodeStreamCompressor *self)
{
	return self->packed->len;
}

GByteArray *lode_trimmed_bytes(GByteArray *bytes)
{
	gsize size;
	/* GByteArray never gives memory back by itself. */
	uint8_t *data = g_byte_array_steal(bytes, &size);

	g_byte_array_unref(bytes);
	return g_byte_array_new_take(g_realloc(data, size), size);
}

GByteArray *lode_stream_compressor_finish(LodeStreamCompressor *self)
{
	run(self, "", 0, true);
	return lode_trimmed_bytes(g_steal_pointer(&self->packed));
}

struct LodeStreamDecompressor {
	LodeCompression compression;
	const uint8_t *packed;
	size_t at, packed_size;
	uint64_t left; /* to come out */
	ZSTD_DCtx *zstd;
	lzma_stream lzma;
	bool has_started, has_ended; /* ended: the compressor said so */
};

LodeStreamDecompressor *lode_stream_decompressor_new(
	LodeCompression compression, const void *packed, size_t packed_size, uint64_t size)
{
	LodeStreamDecompressor *self = g_new0(LodeStreamDecompressor, 1);

	self->compression = compression;
	self->packed = packed;
	self->packed_size = packed_size;
	self->left = size;
	return self;
}

void lode_stream_decompressor_free(LodeStreamDecompressor *self)
{
	if (self == NULL)
		return;
	ZSTD_freeDCtx(self->zstd);
	lzma_end(&self->lzma);
	g_free(self);
}

static bool fail(GError **error, LodeErrorCode code, const char *what)
{
	g_set_error(error, LODE_ERROR, (gint)code, "%s", what);
	return false;
}

static bool start(LodeStreamDecompressor *self, GError **error)
{
	lzma_options_lzma options;
	lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

	self->has_started = true;
	if (self->compression == LODE_COMPRESSION_ZSTD) {
		self->zstd = ZSTD_createDCtx();
		if (self->zstd == NULL)
			return fail(error, LODE_ERROR_LIMIT, "no memory for decompression");
		ZSTD_DCtx_setParameter(self->zstd, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
	}
	if (self->compression != LODE_COMPRESSION_LZMA2)
		return true;
	/* Any preset: a decoder uses the dictionary's size only. */
	set_lzma_options(&options, 6, self->left);
	if (lzma_raw_decoder(&self->lzma, filters) != LZMA_OK)
		return fail(error, LODE_ERROR_LIMIT, "no memory for decompression");
	self->lzma.next_in = self->packed;
	self->lzma.avail_in = self->packed_size;
	return true;
}

/* Fills `out` and asks for the end after the last byte; gives how much came. */
static size_t read_zstd(LodeStreamDecompressor *self, void *out, size_t size, GError **error)
{
	ZSTD_inBuffer input = {.src = self->packed, .size = self->packed_size, .pos = self->at};
	ZSTD_outBuffer output = {.dst = out, .size = size};
	bool is_moving = true;

	while (is_moving && !self->has_ended && (output.pos < size || size == self->left)) {
		size_t before = input.pos + output.pos;
		size_t result = ZSTD_decompressStream(self->zstd, &output, &input);

		if (ZSTD_isError(result)) {
			fail(error, LODE_ERROR_CORRUPT, ZSTD_getErrorName(result));
			return SIZE_MAX;
		}
		self->has_ended = result == 0;
		/* Cut data end without an error, but without a step either. */
		is_moving = input.pos + output.pos > before;
	}
	self->at = input.pos;
	return output.pos;
}

static size_t read_lzma(LodeStreamDecompressor *self, void *out, size_t size, GError **error)
{
	lzma_ret result = LZMA_OK;

	self->lzma.next_out = out;
	self->lzma.avail_out = size;
	while (result == LZMA_OK && (self->lzma.avail_out > 0 || size == self->left))
		result = lzma_code(&self->lzma, LZMA_RUN);
	self->at = self->packed_size - self->lzma.avail_in;
	self->has_ended = result == LZMA_STREAM_END;
	if (result == LZMA_OK || result == LZMA_STREAM_END || result == LZMA_BUF_ERROR)
		return size - self->lzma.avail_out;
	fail(error, LODE_ERROR_CORRUPT, "no LZMA2 data");
	return SIZE_MAX;
}

static size_t read_stored(LodeStreamDecompressor *self, void *out, size_t size)
{
	size_t n = MIN(size, self->packed_size - self->at);

	memcpy(out, self->packed + self->at, n);
	self->at += n;
	self->has_ended = n == self->left;
	return n;
}

bool lode_stream_decompressor_read(
	LodeStreamDecompressor *self, void *out, size_t size, GError **error)
{
	size_t n;

	if (!self->has_started && !start(self, error))
		return false;
	if (size > self->left)
		return fail(error, LODE_ERROR_CORRUPT, "more is asked for than there is");
	if (self->compression == LODE_COMPRESSION_ZSTD)
		n = read_zstd(self, out, size, error);
	else if (self->compression == LODE_COMPRESSION_LZMA2)
		n = read_lzma(self, out, size, error);
	else
		n = read_stored(self, out, size);
	if (n == SIZE_MAX)
		return false;
	if (n < size)
		return fail(error, LODE_ERROR_CORRUPT, "less data than announced");
	self->left -= n;
	if (self->left == 0 && (!self->has_ended || self->at < self->packed_size))
		return fail(error, LODE_ERROR_CORRUPT, "more data than announced");
	return true;
}
