/* SPDX-License-Identifier: MIT */
/*
 * Packs and unpacks a trace that lies in memory, and prints one line per level and number of
 * threads: bits per reference, millions of references per second in and out, of wall and of
 * processor time. With --raw FILE it only writes the references as raw words of eight bytes, for
 * other compressors: the address in the low seven bytes, kind and size in the highest.
 *
 *   trace_store x.rps [--references N] [--raw FILE] [--level LEVEL]
 */
#include "traces/trace_reader.h"
#include "traces/trace_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static gint64 limit = 25000000;
static char *raw_path, *only_level;
static const GOptionEntry options[] = {
	{"references", 'n', 0, G_OPTION_ARG_INT64, &limit, "take at most so many", "N"},
	{"raw", 0, 0, G_OPTION_ARG_FILENAME, &raw_path, "write raw words and nothing else", "FILE"},
	{"level", 0, 0, G_OPTION_ARG_STRING, &only_level, "this level only, one thread", "LEVEL"},
	{0},
};

static void fail(const GError *error)
{
	fprintf(stderr, "trace_store: %s\n", error->message);
	exit(1);
}

static GArray *read_references(const char *path)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, &error);
	const LodeTraceFrame *frame;
	int status = 0;

	if (reader == NULL)
		fail(error);
	while (out->len < limit && (status = lode_trace_reader_next(reader, &frame, &error)) > 0) {
		LodeTraceReferences walk;
		guint first = out->len;

		g_array_set_size(out, first + (guint)frame->n_references);
		lode_trace_references_init(&walk, frame);
		lode_trace_references_next(
			&walk, &g_array_index(out, LodeReference, first), frame->n_references);
	}
	if (status < 0)
		fail(error);
	g_array_set_size(out, (guint)MIN(out->len, limit));
	return out;
}

static void write_raw(const GArray *references)
{
	FILE *file = fopen(raw_path, "w");
	bool is_ok = file != NULL;

	for (guint i = 0; is_ok && i < references->len; i++) {
		const LodeReference *reference = &g_array_index(references, LodeReference, i);
		uint64_t top = (uint64_t)reference->kind << 62 | (uint64_t)MIN(reference->size, 63)
		                                                         << 56;
		uint64_t word = GUINT64_TO_LE(
			(reference->address & UINT64_C(0xffffffffffffff)) | top);

		is_ok = fwrite(&word, sizeof(word), 1, file) == 1;
	}
	if (file == NULL || fclose(file) != 0 || !is_ok) {
		perror(raw_path);
		exit(1);
	}
}

typedef struct {
	double wall, processor;
} Times;

static Times now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (Times){
		(double)g_get_monotonic_time() / 1e6,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
	};
}

static Times since(Times begin)
{
	Times end = now();

	return (Times){end.wall - begin.wall, end.processor - begin.processor};
}

static Times pack(const GArray *references, const char *path, const LodeTraceWriterOptions *how)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	Times begin = now();
	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(path, how, NULL, &error);

	if (writer == NULL ||
		!lode_trace_stream_add(writer,
			(const LodeReference *)(const void *)references->data, references->len,
			&error) ||
		!lode_trace_stream_finish(writer, description, &error))
		fail(error);
	return since(begin);
}

/* Into frames, and with `is_walked` into references. */
static Times unpack(const char *path, unsigned threads, bool is_walked)
{
	static LodeReference some[4096];
	LodeTraceReaderOptions how = {.threads = threads};
	g_autoptr(GError) error = NULL;
	Times begin = now();
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &how, &error);
	const LodeTraceFrame *frame;
	int status;

	if (reader == NULL)
		fail(error);
	while ((status = lode_trace_reader_next(reader, &frame, &error)) > 0) {
		LodeTraceReferences walk;

		lode_trace_references_init(&walk, frame);
		while (is_walked && lode_trace_references_next(&walk, some, G_N_ELEMENTS(some)) > 0)
			;
	}
	if (status < 0)
		fail(error);
	return since(begin);
}

static void measure(
	const GArray *references, const char *name, LodeTraceLevel level, unsigned threads)
{
	LodeTraceWriterOptions how = {.level = level, .threads = threads};

	if (only_level != NULL && (threads > 1 || strcmp(only_level, name) != 0))
		return;
	g_autofree char *path = g_strdup_printf("/tmp/trace_store-%d.rps", (int)getpid());
	double millions = references->len / 1e6;
	Times in = pack(references, path, &how);
	Times frames = unpack(path, threads, false);
	Times out = unpack(path, threads, true);
	struct stat status = {0};

	stat(path, &status);
	printf("%-8s %u  %8.3f  %8.1f %8.1f  %8.1f %8.1f  %8.1f %8.1f\n", name, threads,
		(double)status.st_size * 8 / references->len, millions / in.wall,
		millions / in.processor, millions / frames.wall, millions / frames.processor,
		millions / out.wall, millions / out.processor);
	fflush(stdout);
	remove(path);
}

int main(int argc, char **argv)
{
	g_autoptr(GOptionContext) context = g_option_context_new("x.rps");
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) references = NULL;

	g_option_context_add_main_entries(context, options, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error))
		fail(error);
	if (argc != 2) {
		fputs("usage: trace_store x.rps [--references N] [--raw FILE] [--level LEVEL]\n",
			stderr);
		return 2;
	}
	references = read_references(argv[1]);
	if (raw_path != NULL) {
		write_raw(references);
		return 0;
	}
	for (unsigned threads = 1; threads <= 2; threads++) {
		measure(references, "fast", LODE_TRACE_LEVEL_FAST, threads);
		measure(references, "default", LODE_TRACE_LEVEL_DEFAULT, threads);
		measure(references, "small", LODE_TRACE_LEVEL_SMALL, threads);
	}
	return 0;
}
