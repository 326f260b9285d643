/* SPDX-License-Identifier: MIT */
/*
 * What the codec makes of an address trace: bytes and bits per reference by stream, each compressed
 * by zstd -3, zstd -19 and xz -6, and references per second in and out, in processor time of one
 * thread.
 *
 *   frame_codec [--fast|--thorough] TRACE        any form that `lode trace pack` reads
 */
#include "traces/frames/frame_codec.h"
#include "sources/references/reference_file.h"
#include "traces/blocks/block_splitter.h"

#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

enum { BATCH = 1 << 16, ZSTD_3 = 0, ZSTD_19, XZ_6, N_BACK_ENDS };

typedef struct {
	uint64_t coded[LODE_FRAME_MAX_STREAMS];
	uint64_t packed[LODE_FRAME_MAX_STREAMS][N_BACK_ENDS];
	uint64_t n_references, n_frames;
	double split_s, encode_s, pack_s, unpack_s, decode_s; /* pack and unpack: zstd -3 */
} Totals;

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t pack_xz(const GByteArray *bytes)
{
	size_t bound = lzma_stream_buffer_bound(bytes->len), size = 0;
	g_autofree uint8_t *packed = g_malloc(bound);

	if (lzma_easy_buffer_encode(6, LZMA_CHECK_NONE, NULL, bytes->data, bytes->len, packed,
		    &size, bound) != LZMA_OK)
		g_error("xz");
	return size;
}

static size_t pack_zstd(const GByteArray *bytes, int level, double *unpack_s)
{
	size_t bound = ZSTD_compressBound(bytes->len);
	g_autofree uint8_t *packed = g_malloc(bound);
	g_autofree uint8_t *again = g_malloc(bytes->len + 1U);
	size_t size = ZSTD_compress(packed, bound, bytes->data, bytes->len, level);
	double start_s = now_s();

	if (ZSTD_decompress(again, bytes->len, packed, size) != bytes->len)
		g_error("zstd");
	*unpack_s += now_s() - start_s;
	return size;
}

static void pack_stream(Totals *totals, unsigned stream, const GByteArray *bytes)
{
	double start_s = now_s(), unpack_s = 0, ignored_s = 0;

	if (bytes->len == 0)
		return;
	totals->coded[stream] += bytes->len;
	totals->packed[stream][ZSTD_3] += pack_zstd(bytes, 3, &unpack_s);
	totals->pack_s += now_s() - start_s - unpack_s;
	totals->unpack_s += unpack_s;
	totals->packed[stream][ZSTD_19] += pack_zstd(bytes, 19, &ignored_s);
	totals->packed[stream][XZ_6] += pack_xz(bytes);
}

/* Decodes with a dictionary of its own, which frames of one dictionary share. */
static void decode(Totals *totals, const LodeTraceFrame *frame, const LodeFrameStreams *streams,
	LodeBlockDictionary **dictionary)
{
	LodeFrameHead head = lode_frame_head_of(frame);
	g_autoptr(LodeTraceFrame) again = NULL;
	g_autoptr(GError) error = NULL;
	double start_s = now_s();

	if (frame->first_new_block == 0) {
		lode_block_dictionary_unref(*dictionary);
		*dictionary = lode_block_dictionary_new();
	}
	if (lode_frame_codec_decode_blocks(streams, &head, *dictionary, &error))
		again = lode_frame_codec_decode(streams, &head, *dictionary, &error);
	totals->decode_s += now_s() - start_s;
	if (again == NULL)
		g_error("%s", error->message);
	if (memcmp(again->blocks, frame->blocks, frame->n_invocations * sizeof(uint32_t)) != 0 ||
		(frame->n_addresses > 0 && memcmp(again->addresses, frame->addresses,
						   frame->n_addresses * sizeof(uint64_t)) != 0))
		g_error("another frame came out");
}

static void measure_frame(Totals *totals, LodeBlockSplitter *splitter, LodeCodecEffort effort,
	LodeBlockDictionary **dictionary)
{
	double start_s = now_s();
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	g_auto(LodeFrameStreams) streams = {0};

	totals->split_s += now_s() - start_s;
	if (frame == NULL)
		return;
	lode_frame_streams_init(&streams);
	start_s = now_s();
	lode_frame_codec_encode(frame, effort, &streams);
	totals->encode_s += now_s() - start_s;
	decode(totals, frame, &streams, dictionary);
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++)
		pack_stream(totals, i, streams.streams[i]);
	totals->n_references += frame->n_references;
	totals->n_frames++;
}

static void measure(Totals *totals, LodeReferenceReader *reader, LodeCodecEffort effort)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	g_autofree LodeReference *batch = g_new(LodeReference, BATCH);
	g_autoptr(GError) error = NULL;
	ptrdiff_t n;

	while ((n = lode_reference_reader_next(reader, batch, BATCH, &error)) > 0) {
		for (size_t at = 0; at < (size_t)n;) {
			double start_s = now_s();

			at += lode_block_splitter_add(splitter, batch + at, (size_t)n - at);
			totals->split_s += now_s() - start_s;
			if (at < (size_t)n)
				measure_frame(totals, splitter, effort, &dictionary);
		}
	}
	if (n < 0)
		g_error("%s", error->message);
	measure_frame(totals, splitter, effort, &dictionary);
}

static void print_row(
	const Totals *totals, const char *name, uint64_t coded, const uint64_t *packed)
{
	double n = (double)totals->n_references;

	printf("%-28s %10" G_GUINT64_FORMAT, name, coded);
	for (unsigned i = 0; i < N_BACK_ENDS; i++)
		printf("  %9" G_GUINT64_FORMAT " %.4f", packed[i], (double)packed[i] * 8 / n);
	putchar('\n');
}

static void print(const Totals *totals)
{
	uint64_t coded = 0, packed[N_BACK_ENDS] = {0};
	double n = (double)totals->n_references / 1e6;

	printf("%-28s %10s  %16s  %16s  %16s\n", "stream", "bytes", "zstd -3 bits/ref", "zstd -19",
		"xz -6");
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		coded += totals->coded[i];
		for (unsigned k = 0; k < N_BACK_ENDS; k++)
			packed[k] += totals->packed[i][k];
		if (totals->coded[i] > 0)
			print_row(totals, lode_frame_codec_stream_name(i), totals->coded[i],
				totals->packed[i]);
	}
	print_row(totals, "all", coded, packed);
	printf("%.1f M references, %" G_GUINT64_FORMAT " frames; Mref/s: split %.1f, encode %.1f, "
	       "both and zstd -3 %.1f; zstd and decode %.1f\n",
		n, totals->n_frames, n / totals->split_s, n / totals->encode_s,
		n / (totals->split_s + totals->encode_s + totals->pack_s),
		n / (totals->unpack_s + totals->decode_s));
}

int main(int argc, char **argv)
{
	bool is_thorough = argc == 3 && strcmp(argv[1], "--thorough") == 0;
	const char *path = argv[argc - 1];
	g_autoptr(LodeReferenceReader) reader = NULL;
	g_autoptr(GError) error = NULL;
	Totals totals = {.n_references = 0};
	int descriptor;

	if (argc < 2 || argc > 3 || path[0] == '-') {
		fputs("usage: frame_codec [--fast|--thorough] TRACE\n", stderr);
		return 2;
	}
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor >= 0)
		reader = lode_reference_reader_open(descriptor, path, -1, &error);
	if (reader == NULL) {
		fprintf(stderr, "%s: %s\n", path,
			error != NULL ? error->message : "cannot be opened");
		return 1;
	}
	measure(&totals, reader, is_thorough ? LODE_CODEC_THOROUGH : LODE_CODEC_QUICK);
	print(&totals);
	close(descriptor);
	return 0;
}
