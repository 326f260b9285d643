/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* what zlib reads is const */
#include "sources/stream_decoder.h"

#include <glib.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
	GZIP_WINDOW_BITS = 15 + 16, /* zlib's way to say: a gzip header, any window */
	ZSTD_WINDOW_LOG = 27,       /* of LODE_STREAM_MAX_MEMORY */
};

static void *gzip_open(void)
{
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

static void *xz_open(void)
{
	lzma_stream *state = g_new(lzma_stream, 1);

	*state = (lzma_stream)LZMA_STREAM_INIT;
	if (lzma_stream_decoder(state, LODE_STREAM_MAX_MEMORY, LZMA_CONCATENATED) == LZMA_OK)
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

static void *zstd_open(void)
{
	ZSTD_DStream *state = ZSTD_createDStream();

	if (state != NULL)
		ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
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

static const LodeStreamDecoder decoders[] = {
	/* The third byte is the method, of which there is one: two alone may begin a binary trace.
         */
	{"gzip", {0x1f, 0x8b, 8}, 3, gzip_open, gzip_step, gzip_close},
	{"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, xz_open, xz_step, xz_close},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_open, zstd_step, zstd_close},
};

const LodeStreamDecoder *lode_stream_decoder_find(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < G_N_ELEMENTS(decoders); i++)
		if (size >= decoders[i].magic_size &&
			memcmp(data, decoders[i].magic, decoders[i].magic_size) == 0)
			return &decoders[i];
	return NULL;
}
