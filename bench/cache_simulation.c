/* SPDX-License-Identifier: MIT */
/*
 * Times the cache simulator alone, on frames that are in memory already: million references a
 * second, by processor time and by the clock, the best of several replays.
 *
 *   cache_simulation TRACE.rps REFERENCES [HIERARCHY]
 */
#include "caches/cache_simulation.h"
#include "caches/frame_slices.h"
#include "traces/trace_reader.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 3, MANY = 64 };

static uint64_t n_references;

static LodeTraceFrame *copy_frame(const LodeTraceFrame *frame)
{
	LodeTraceFrame *copy = lode_trace_frame_new(frame->dictionary);
	LodeBlockDictionary *dictionary = copy->dictionary;

	*copy = *frame;
	copy->dictionary = dictionary;
	copy->blocks = g_memdup2(frame->blocks, frame->n_invocations * sizeof(*frame->blocks));
	copy->addresses = g_memdup2(
		frame->addresses, frame->n_addresses * sizeof(*frame->addresses));
	copy->switches = g_memdup2(frame->switches, frame->n_switches * sizeof(*frame->switches));
	return copy;
}

/* As much of the frame as is still wanted. */
static void add_frame(GPtrArray *frames, const LodeTraceFrame *frame, uint64_t n_wanted)
{
	g_auto(LodeFrameSlices) slices = {0};
	const LodeTraceFrame *slice;

	lode_frame_slices_init(&slices, frame);
	slice = lode_frame_slices_next(&slices, n_wanted - n_references);
	if (slice == NULL)
		return;
	g_ptr_array_add(frames, copy_frame(slice));
	n_references += slice->n_references;
}

static GPtrArray *read_frames(const char *path, uint64_t n_wanted, GError **error)
{
	g_autoptr(GPtrArray)
		frames = g_ptr_array_new_with_free_func((GDestroyNotify)lode_trace_frame_free);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, error);
	const LodeTraceFrame *frame;
	int more = 0;

	if (reader == NULL)
		return NULL;
	while (n_references < n_wanted &&
		(more = lode_trace_reader_next(reader, &frame, error)) > 0)
		add_frame(frames, frame, n_wanted);
	return more < 0 ? NULL : g_steal_pointer(&frames);
}

static uint64_t sum_misses(const LodeCacheSimulation *simulation, const LodeHierarchy *hierarchy)
{
	uint64_t sum = 0;

	for (guint i = 0; i < hierarchy->caches->len; i++) {
		for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++)
			sum += lode_cache_simulation_counts(simulation, 0)[i].misses[kind];
	}
	return sum;
}

/* Of all threads together; other work on the machine does not count. */
static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

typedef struct {
	double cpu_s, wall_s;
	uint64_t misses;
} Result;

static Result replay(const LodeHierarchy *const *hierarchies, size_t n, const GPtrArray *frames,
	const LodeCacheSimulationOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCacheSimulation)
		simulation = lode_cache_simulation_new(hierarchies, n, options, &error);
	gint64 start_us = g_get_monotonic_time();
	double start_s = cpu_seconds();
	Result result;

	for (guint i = 0; simulation != NULL && i < frames->len; i++) {
		if (!lode_cache_simulation_replay(simulation, g_ptr_array_index(frames, i), &error))
			break;
	}
	if (error != NULL)
		g_error("%s", error->message);
	result.cpu_s = cpu_seconds() - start_s;
	result.wall_s = (double)(g_get_monotonic_time() - start_us) / 1e6;
	result.misses = sum_misses(simulation, hierarchies[0]);
	return result;
}

/* One line of the table. */
static void measure(const char *label, const LodeHierarchy *const *hierarchies, size_t n,
	const GPtrArray *frames, const LodeCacheSimulationOptions *options)
{
	Result best = {G_MAXDOUBLE, G_MAXDOUBLE, 0};
	double n_references_in_all = (double)n_references * (double)n / 1e6;

	for (unsigned i = 0; i < ROUNDS; i++) {
		Result result = replay(hierarchies, n, frames, options);

		best.cpu_s = MIN(best.cpu_s, result.cpu_s);
		best.wall_s = MIN(best.wall_s, result.wall_s);
		best.misses = result.misses;
	}
	printf("%-24s %3zu hierarchies, %u threads: %7.1f Mref/s a processor, %7.1f by the clock "
	       "(%" G_GUINT64_FORMAT " misses in the first)\n",
		label, n, options->threads, n_references_in_all / best.cpu_s,
		n_references_in_all / best.wall_s, best.misses);
}

static LodeHierarchy *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	LodeHierarchy *hierarchy = lode_hierarchy_parse(text, &error);

	if (hierarchy == NULL)
		g_error("%s", error->message);
	return hierarchy;
}

static void measure_one(const char *text, const GPtrArray *frames)
{
	g_autoptr(LodeHierarchy) hierarchy = parse(text);
	const LodeHierarchy *hierarchies[] = {hierarchy};
	LodeCacheSimulationOptions plain = {.threads = 1};
	LodeCacheSimulationOptions classified = {.threads = 1, .classifies = true};

	printf("%s\n", text);
	measure("  one", hierarchies, 1, frames, &plain);
	measure("  one, classified", hierarchies, 1, frames, &classified);
}

/* First levels of 4 KiB … 512 KiB and 1 … 16 ways, before four second levels. */
static void measure_many(const GPtrArray *frames)
{
	LodeHierarchy *hierarchies[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		unsigned ways = 1u << (i % 4 + i % 4 / 3), kib = 4u << (i / 4 % 4) * 2;
		g_autofree char *text = g_strdup_printf("i1=32K:8:64,d1=%uK:%u:64,l2=%uK:16:64",
			MAX(kib, ways / 16), ways, 512u << i / 16);

		hierarchies[i] = parse(text);
	}
	for (unsigned threads = 1; threads <= 2; threads++) {
		LodeCacheSimulationOptions options = {.threads = threads};

		measure("i1+d1+l2, sizes and ways", (const LodeHierarchy *const *)hierarchies, MANY,
			frames, &options);
	}
	for (unsigned i = 0; i < MANY; i++)
		lode_hierarchy_free(hierarchies[i]);
}

int main(int argc, char **argv)
{
	static const char *const texts[] = {
		"i1=32K:8:64,d1=32K:8:64,l2=1M:16:64",
		"i1=32K:8:64,d1=32K:8:64,l2=1M:16:64,l3=32M:16:64",
		"i1=32K:8:64:plru,d1=32K:8:64:plru:stride,l2=1M:16:64:srrip:next-line",
		"skylake-server",
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) frames = NULL;

	if (argc < 3) {
		fputs("usage: cache_simulation TRACE.rps REFERENCES [HIERARCHY]\n", stderr);
		return 2;
	}
	frames = read_frames(argv[1], g_ascii_strtoull(argv[2], NULL, 10), &error);
	if (frames == NULL) {
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	printf("%s: %" G_GUINT64_FORMAT " references\n", argv[1], n_references);
	for (size_t i = 0; argc == 3 && i < G_N_ELEMENTS(texts); i++)
		measure_one(texts[i], frames);
	if (argc > 3)
		measure_one(argv[3], frames);
	else
		measure_many(frames);
	return 0;
}
