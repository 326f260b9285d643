/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* what zlib reads is const */
#include "base/files/stream_decoder.h"

#include <bzlib.h>
#include <glib.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
	GZIP_WINDOW_BITS = 15 + 16, /* zlib's way to say: a gzip header, any window */
	ZSTD_MIN_WINDOW_LOG = 10,
	ZSTD_MAX_WINDOW_LOG = 27, /* of LODE_STREAM_MAX_MEMORY */
};

static void *gzip_open(uint64_t max_memory)
{
	(void)max_memory; /* it takes some kilobytes */
	z_stream *state = g_new0(z_stream, 1);

	if (inflateInit2(state, GZIP_WINDOW_BITS) == Z_OK)
		return state;
	g_free(state);
	return NULL;
}

static LodeStreamOutcome gzip_step(void *data, LodeStreamStep *step, const char **out_why)
{
	z_stream *state = data;
	uInt in_size = (uInt)MIN(step->in_size, UINT_MAX);
	uInt out_size = (uInt)MIN(step->out_size, UINT_MAX);

	state->next_in = step->in;
	state->avail_in = in_size;
	state->next_out = step->out;
	state->avail_out = out_size;
	int result = inflate(state, Z_NO_FLUSH);
	step->in += in_size - state->avail_in;
	step->in_size -= in_size - state->avail_in;
	step->out += out_size - state->avail_out;
	step->out_size -= out_size - state->avail_out;
	if (result == Z_STREAM_END)
		return inflateReset(state) == Z_OK ? LODE_STREAM_BETWEEN_MEMBERS
		                                   : LODE_STREAM_BROKEN;
	if (result == Z_OK || result == Z_BUF_ERROR)
		return LODE_STREAM_GOES_ON;
	*out_why = result == Z_MEM_ERROR   ? "not enough memory"
	           : state->msg != NULL    ? state->msg
	           : result == Z_NEED_DICT ? "needs a dictionary"
	                                   : "broken data";
	return LODE_STREAM_BROKEN;
}

static void gzip_close(void *data)
{
	inflateEnd(data);
	g_free(data);
}

static void *xz_open(uint64_t max_memory)
{
	lzma_stream *state = g_new(lzma_stream, 1);

	*state = (lzma_stream)LZMA_STREAM_INIT;
	if (lzma_stream_decoder(state, max_memory, LZMA_CONCATENATED) == LZMA_OK)
		return state;
	g_free(state);
	return NULL;
}

/* The library looks itself for further members, so that only it knows where the input may end. */
static LodeStreamOutcome xz_step(void *data, LodeStreamStep *step, const char **out_why)
{
	lzma_stream *state = data;

	state->next_in = step->in;
	state->avail_in = step->in_size;
	state->next_out = step->out;
	state->avail_out = step->out_size;
	lzma_ret result = lzma_code(state, step->is_last_input ? LZMA_FINISH : LZMA_RUN);
	step->in = state->next_in;
	step->in_size = state->avail_in;
	step->out = state->next_out;
	step->out_size = state->avail_out;
	if (result == LZMA_STREAM_END)
		return LODE_STREAM_BETWEEN_MEMBERS;
	if (result == LZMA_OK || result == LZMA_BUF_ERROR)
		return LODE_STREAM_GOES_ON;
	if (result == LZMA_MEMLIMIT_ERROR)
		return LODE_STREAM_TOO_LARGE;
	*out_why = result == LZMA_MEM_ERROR       ? "not enough memory"
	           : result == LZMA_OPTIONS_ERROR ? "made with options that liblzma lacks"
	           : result == LZMA_FORMAT_ERROR  ? "something else follows a whole member"
	                                          : "broken data";
	return LODE_STREAM_BROKEN;
}

static void xz_close(void *data)
{
	lzma_end(data);
	g_free(data);
}

static void *zstd_open(uint64_t max_memory)
{
	ZSTD_DStream *state = ZSTD_createDStream();
	int window_log = ZSTD_MIN_WINDOW_LOG;

	while (window_log < ZSTD_MAX_WINDOW_LOG && UINT64_C(2) << window_log <= max_memory)
		window_log++;
	if (state != NULL)
		ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, window_log);
	return state;
}

static LodeStreamOutcome zstd_step(void *data, LodeStreamStep *step, const char **out_why)
{
	ZSTD_inBuffer in = {.src = step->in, .size = step->in_size};
	ZSTD_outBuffer out = {.dst = step->out, .size = step->out_size};
	size_t result = ZSTD_decompressStream(data, &out, &in);

	step->in += in.pos;
	step->in_size -= in.pos;
	step->out += out.pos;
	step->out_size -= out.pos;
	if (!ZSTD_isError(result))
		return result == 0 ? LODE_STREAM_BETWEEN_MEMBERS : LODE_STREAM_GOES_ON;
	if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
		return LODE_STREAM_TOO_LARGE;
	*out_why = ZSTD_getErrorName(result);
	return LODE_STREAM_BROKEN;
}

static void zstd_close(void *data)
{
	ZSTD_freeDStream(data);
}

/* A state of the library ends with its member. */
typedef struct {
	bz_stream stream;
	bool is_open;
} Bzip2;

static void *bzip2_open(uint64_t max_memory)
{
	Bzip2 *self = g_new0(Bzip2, 1);

	(void)max_memory; /* it takes some megabytes */
	self->is_open = BZ2_bzDecompressInit(&self->stream, 0, 0) == BZ_OK;
	if (!self->is_open)
		g_clear_pointer(&self, g_free);
	return self;
}

static LodeStreamOutcome bzip2_step(void *data, LodeStreamStep *step, const char **out_why)
{
	Bzip2 *self = data;
	unsigned in_size = (unsigned)MIN(step->in_size, UINT_MAX);
	unsigned out_size = (unsigned)MIN(step->out_size, UINT_MAX);

	if (!self->is_open) {
		self->stream = (bz_stream){0};
		self->is_open = BZ2_bzDecompressInit(&self->stream, 0, 0) == BZ_OK;
	}
	if (!self->is_open) {
		*out_why = "not enough memory";
		return LODE_STREAM_BROKEN;
	}
	self->stream.next_in = (char *)step->in; /* which it only reads */
	self->stream.avail_in = in_size;
	self->stream.next_out = (char *)step->out;
	self->stream.avail_out = out_size;
	int result = BZ2_bzDecompress(&self->stream);
	step->in += in_size - self->stream.avail_in;
	step->in_size -= in_size - self->stream.avail_in;
	step->out += out_size - self->stream.avail_out;
	step->out_size -= out_size - self->stream.avail_out;
	if (result == BZ_STREAM_END) {
		BZ2_bzDecompressEnd(&self->stream);
		self->is_open = false;
		return LODE_STREAM_BETWEEN_MEMBERS;
	}
	if (result == BZ_OK)
		return LODE_STREAM_GOES_ON;
	*out_why = result == BZ_MEM_ERROR          ? "not enough memory"
	           : result == BZ_DATA_ERROR_MAGIC ? "something else follows a whole member"
	                                           : "broken data";
	return LODE_STREAM_BROKEN;
}

static void bzip2_close(void *data)
{
	Bzip2 *self = data;

	if (self->is_open)
		BZ2_bzDecompressEnd(&self->stream);
	g_free(self);
}

static const LodeStreamDecoder gzip = {"gzip", "gzip -d", gzip_open, gzip_step, gzip_close};
static const LodeStreamDecoder xz = {"xz", "xz -d", xz_open, xz_step, xz_close};
static const LodeStreamDecoder zstd = {
	"zstd", "zstd -d --long=31", zstd_open, zstd_step, zstd_close};
static const LodeStreamDecoder bzip2 = {"bzip2", "bzip2 -d", bzip2_open, bzip2_step, bzip2_close};

typedef struct {
	const LodeStreamDecoder *decoder;
	uint8_t size;
	uint8_t bytes[LODE_STREAM_MAGIC_SIZE];
	uint8_t free_bits[LODE_STREAM_MAGIC_SIZE]; /* in which files of it may differ */
} Magic;

static const Magic magics[] = {
	/* The third byte is the method, of which there is one: two alone may begin a binary trace.
         */
	{&gzip, 3, {0x1f, 0x8b, 8}, {0}},
	{&xz, 6, {0xfd, '7', 'z', 'X', 'Z', 0}, {0}},
	{&zstd, 4, {0x28, 0xb5, 0x2f, 0xfd}, {0}},
	/* A frame to be skipped, of 16 numbers. */
	{&zstd, 4, {0x50, 0x2a, 0x4d, 0x18}, {0x0f}},
	/* The digit is the size of a block; then one begins. */
	{&bzip2, 6, {'B', 'Z', 'h', '0', 0x31, 0x41}, {0, 0, 0, 0x0f}},
};

const LodeStreamDecoder *lode_stream_decoder_find(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < G_N_ELEMENTS(magics); i++) {
		const Magic *magic = &magics[i];
		size_t n = 0;
		while (n < magic->size && n < size &&
			((data[n] ^ magic->bytes[n]) & ~magic->free_bits[n]) == 0)
			n++;
		if (n == magic->size)
			return magic->decoder;
	}
	return NULL;
}
