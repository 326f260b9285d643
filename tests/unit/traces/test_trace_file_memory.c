/* SPDX-License-Identifier: MIT */
/*
 * Packing and unpacking of traces of several frames stay within 512 MiB, whatever the trace is
 * like, and many traces that are packed side by side within what they share. Each runs in a process
 * of its own, whose greatest resident set is asked for.
 *
 *   test_trace_file_memory [MILLIONS]        references of each trace
 */
#include "base/arrays/large_blocks.h"
#include "traces/frames/packing_queue.h"
#include "traces/trace_reader.h"
#include "traces/trace_writer.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 4096, MAX_MIB = 512, MIB = 1 << 20 };

static int millions = 3;

typedef struct {
	uint64_t n, random;
	LodeReference batch[BATCH];
	unsigned n_batch;
	uint64_t checksum;
} Source;

static uint64_t next_random(Source *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random;
}

typedef void (*Shape)(Source *self, uint64_t i, LodeReference *out);

/* A small loop with loads all over memory: as many addresses as a frame may hold. */
static void loop_with_random_loads(Source *self, uint64_t i, LodeReference *out)
{
	if (i % 3 < 2)
		*out = (LodeReference){0x400000 + 4 * (i % 3), 4, 0, LODE_REFERENCE_FETCH};
	else
		*out = (LodeReference){next_random(self) >> 17, 8, 0, LODE_REFERENCE_LOAD};
}

static void random_data(Source *self, uint64_t i, LodeReference *out)
{
	*out = (LodeReference){next_random(self) >> 16, 8, 0, (uint8_t)(1 + i % 2)};
}

static void random_code(Source *self, uint64_t i, LodeReference *out)
{
	(void)i;
	*out = (LodeReference){next_random(self) >> 16, 4, 0, LODE_REFERENCE_FETCH};
}

/* Calls of many functions, data in strides: a program. */
static void calls(Source *self, uint64_t i, LodeReference *out)
{
	uint64_t step = i % 24, function = i / 24 * 2654435761U % 4096 * (i / 24) % 5003;

	if (step % 3 < 2)
		*out = (LodeReference){
			0x400000 + function * 512 + 5 * step, 5, 0, LODE_REFERENCE_FETCH};
	else
		*out = (LodeReference){(step % 2 ? 0x7ffd00000000 : 0x600000) + i / 24 * 8 +
					       next_random(self) % 4 * 64,
			8, 0, LODE_REFERENCE_STORE};
	if (step % 3 == 1) /* behind the instruction of four bytes that was in front */
		out->address = 0x400000 + function * 512 + 5 * (step - 1) + 5;
}

static void many_threads(Source *self, uint64_t i, LodeReference *out)
{
	calls(self, i, out);
	out->thread = (uint16_t)(i / 12 % 7);
}

typedef struct {
	const char *name;
	Shape shape;
	unsigned share; /* one of so many references, where frames are short */
} Case;

static const Case cases[] = {
	{"loop-with-random-loads", loop_with_random_loads, 1},
	{"random-data", random_data, 1},
	{"random-code", random_code, 8},
	{"calls", calls, 1},
	{"many-threads", many_threads, 1},
};

static uint64_t mixed(uint64_t checksum, const LodeReference *references, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		checksum ^= references[i].address + references[i].kind * 7U +
		            references[i].size * 131U + references[i].thread * 65537U;
		checksum = (checksum << 7 | checksum >> 57) * 5 + 1;
	}
	return checksum;
}

static uint64_t n_references(const Case *self)
{
	return (uint64_t)millions * 1000000 / self->share;
}

static uint64_t pack(const Case *self, const char *path)
{
	LodeTraceWriterOptions options = {.level = LODE_TRACE_LEVEL_FAST, .threads = 2};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(path, &options, NULL, &error);
	g_autofree Source *source = g_new0(Source, 1);
	uint64_t n = n_references(self);

	g_assert_no_error(error);
	source->random = 88172645463325252U;
	for (uint64_t i = 0; i < n; i++) {
		self->shape(source, i, &source->batch[source->n_batch++]);
		if (source->n_batch < BATCH && i + 1 < n)
			continue;
		lode_trace_stream_add(writer, source->batch, source->n_batch, &error);
		g_assert_no_error(error);
		source->checksum = mixed(source->checksum, source->batch, source->n_batch);
		source->n_batch = 0;
	}
	lode_trace_stream_finish(writer, NULL, &error);
	g_assert_no_error(error);
	return source->checksum;
}

static uint64_t unpack(const char *path)
{
	LodeTraceReaderOptions options = {.threads = 2};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &options, &error);
	g_autofree LodeReference *some = g_new(LodeReference, BATCH);
	const LodeTraceFrame *frame;
	uint64_t checksum = 0;

	g_assert_no_error(error);
	while (lode_trace_reader_next(reader, &frame, &error) > 0) {
		LodeTraceReferences walk;
		size_t n;

		lode_trace_references_init(&walk, frame);
		while ((n = lode_trace_references_next(&walk, some, BATCH)) > 0)
			checksum = mixed(checksum, some, n);
	}
	g_assert_no_error(error);
	return checksum;
}

typedef struct {
	double seconds, processor_seconds;
	double mib;
	uint64_t checksum;
} Figures;

enum { N_WRITERS = 32, EACH = 300000, GROUP_MIB = 48, BESIDE_MIB = 56 };

/* As many processes are traced at a time: references come to one after the other. */
static uint64_t pack_side_by_side(const Case *self, const char *folder)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePackingQueue) queue = lode_packing_queue_new(2, (size_t)GROUP_MIB * MIB / 2);
	g_autoptr(LodeTraceStreamGroup)
		group = lode_trace_stream_group_new((size_t)GROUP_MIB * MIB / 4);
	LodeTraceWriterOptions options = {
		.level = LODE_TRACE_LEVEL_FAST, .queue = queue, .group = group};
	g_autofree Source *source = g_new0(Source, 1);
	LodeTraceStream *writers[N_WRITERS];

	source->random = 88172645463325252U;
	for (unsigned i = 0; i < N_WRITERS; i++) {
		g_autofree char *path = g_strdup_printf("%s/%u.rps", folder, i);
		writers[i] = lode_trace_writer_open(path, &options, NULL, &error);
		g_assert_no_error(error);
	}
	for (uint64_t i = 0; i < (uint64_t)N_WRITERS * EACH; i += BATCH) {
		for (unsigned j = 0; j < BATCH; j++)
			self->shape(source, i + j, &source->batch[j]);
		lode_trace_stream_add(writers[i / BATCH % N_WRITERS], source->batch, BATCH, &error);
		g_assert_no_error(error);
	}
	for (unsigned i = 0; i < N_WRITERS; i++) {
		source->checksum += lode_trace_stream_n_references(writers[i]);
		lode_trace_stream_finish(writers[i], NULL, &error);
		g_assert_no_error(error);
		lode_trace_stream_free(writers[i]);
	}
	return source->checksum;
}

static uint64_t unpack_all(const Case *self, const char *folder)
{
	uint64_t n = 0;

	(void)self;
	for (unsigned i = 0; i < N_WRITERS; i++) {
		g_autofree char *path = g_strdup_printf("%s/%u.rps", folder, i);
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, &error);
		const LodeTraceFrame *frame;

		g_assert_no_error(error);
		while (lode_trace_reader_next(reader, &frame, &error) > 0)
			n += frame->n_references;
		g_assert_no_error(error);
		g_unlink(path);
	}
	return n;
}

static uint64_t pack_one(const Case *self, const char *path)
{
	return pack(self, path);
}

static uint64_t unpack_one(const Case *self, const char *path)
{
	(void)self;
	return unpack(path);
}

typedef uint64_t (*Measured)(const Case *self, const char *path);

/* In a child, so that its memory is its own. */
static Figures measure(const Case *self, const char *path, Measured measured)
{
	int ends[2];
	struct rusage usage;
	Figures figures = {0};
	int64_t start = g_get_monotonic_time();
	int status;

	g_assert_cmpint(pipe(ends), ==, 0);
	pid_t child = fork();
	if (child == 0) {
		uint64_t checksum = measured(self, path);

		_exit(write(ends[1], &checksum, sizeof(checksum)) != sizeof(checksum));
	}
	g_assert_cmpint(wait4(child, &status, 0, &usage), ==, child);
	g_assert_cmpint(status, ==, 0);
	g_assert_cmpint(read(ends[0], &figures.checksum, sizeof(uint64_t)), ==, sizeof(uint64_t));
	close(ends[0]);
	close(ends[1]);
	figures.seconds = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
	figures.processor_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	                            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) /
	                                    G_USEC_PER_SEC;
	figures.mib = (double)usage.ru_maxrss / 1024;
	return figures;
}

static void report(const Case *self, const char *what, const Figures *figures)
{
	g_test_message("%s: %.0f MiB, %.1f s, %.1f s of processors, %.1f Mref/s", what,
		figures->mib, figures->seconds, figures->processor_seconds,
		(double)n_references(self) / 1e6 / figures->seconds);
	g_assert_cmpfloat(figures->mib, <, MAX_MIB);
}

static void test_memory(const void *data)
{
	const Case *self = data;
	g_autofree char *folder = g_dir_make_tmp("lode-memory-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "x.rps", NULL);
	Figures packing = measure(self, path, pack_one);
	Figures unpacking = measure(self, path, unpack_one);
	GStatBuf status;

	g_assert_cmpint(g_stat(path, &status), ==, 0);
	report(self, "packing", &packing);
	report(self, "unpacking", &unpacking);
	g_test_message(
		"%.4f bits per reference", (double)status.st_size * 8 / (double)n_references(self));
	g_assert_cmphex(packing.checksum, ==, unpacking.checksum);
	g_unlink(path);
	g_rmdir(folder);
}

/* Many writers share their memory, whatever each of them gets. */
static void test_side_by_side(const void *data)
{
	const Case *self = data;
	g_autofree char *folder = g_dir_make_tmp("lode-memory-XXXXXX", NULL);
	Figures packing = measure(self, folder, pack_side_by_side);
	Figures unpacking = measure(self, folder, unpack_all);

	g_test_message("packing: %.0f MiB", packing.mib);
	g_assert_cmpfloat(packing.mib, <, GROUP_MIB + BESIDE_MIB);
	g_assert_cmpuint(packing.checksum, ==, unpacking.checksum);
	g_rmdir(folder);
}

int main(int argc, char **argv)
{
	lode_map_large_blocks();
	g_test_init(&argc, &argv, NULL);
	if (argc == 2)
		millions = atoi(argv[1]);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *path = g_strconcat("/traces/memory/", cases[i].name, NULL);

		g_test_add_data_func(path, &cases[i], test_memory);
	}
	g_test_add_data_func("/traces/memory/side-by-side", &cases[1], test_side_by_side);
	return g_test_run();
}
