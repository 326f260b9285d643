/* SPDX-License-Identifier: MIT */
/* A whole packed trace through caches and stack distances. */
#include "caches/trace_replay.h"

#include "base/error.h"
#include "base/worker_pool.h"
#include "caches/frame_slices.h"
#include "caches/replay_times.h"
#include "caches/stacks/stack_distances.h"
#include "traces/frames/frame_turns.h"

#include <math.h>

enum { SLICE_REFERENCES = 2 << 20 };

/*
 * How far the miss ratio of a sample may be from that of the whole trace, by how much it varies
 * from window to window: the ratio estimator of survey sampling (W. Cochran, "Sampling Techniques",
 * 3rd edition, 1977, section 6.4), with the correction for a sample that is a large part of the
 * whole.
 */
typedef struct {
	uint64_t n_windows;
	double accesses, misses;                          /* sums over the windows */
	double accesses_squared, misses_squared, product; /* likewise */
} WindowSums;

static void window_sums_add(WindowSums *self, uint64_t accesses, uint64_t misses)
{
	double a = (double)accesses, m = (double)misses;

	self->n_windows++;
	self->accesses += a;
	self->misses += m;
	self->accesses_squared += a * a;
	self->misses_squared += m * m;
	self->product += a * m;
}

/* Where none of n references misses, 3/n may (J. Hanley, A. Lippman-Hand, "If nothing goes wrong,
 * is everything all right?", JAMA 249(13), 1983). */
enum { RARE = 3 };

/* The 97.5 % quantile of Student's distribution; beyond the table within 0.5 %. */
static double student(uint64_t freedom)
{
	static const double few[] = {12.706, 4.303, 3.182, 2.776, 2.571};
	double f = (double)freedom;

	if (freedom <= G_N_ELEMENTS(few))
		return few[freedom - 1];
	return 1.96 + 2.37 / f + 2.8 / (f * f);
}

/* Half the width of the 95 % interval around misses / accesses, where windows are the share
 * `sampled` (0 … 1) of the whole; NAN for too few windows, or without accesses. */
static double window_sums_error(const WindowSums *self, double sampled)
{
	if (self->n_windows < LODE_TRACE_REPLAY_MIN_WINDOWS || self->accesses <= 0)
		return (double)NAN;
	double n = (double)self->n_windows, ratio = self->misses / self->accesses;
	double squares = self->misses_squared - 2 * ratio * self->product +
	                 ratio * ratio * self->accesses_squared;
	/* Rounding may leave less than nothing. */
	double variance = MAX(squares, 0) / (n - 1) * n * MAX(1 - sampled, 0);
	return MAX(student(self->n_windows - 1) * sqrt(variance), RARE * (1 - sampled)) /
	       self->accesses;
}

/* The caches are emptied where references are left out, and misses in sets not yet full are cold:
 * they might be hits. Misses without them are the lower bound, with them the upper one. */
typedef struct {
	WindowSums most, least;
} CacheSums;

typedef struct {
	LodeTraceReplay result; /* what the caller has */
	LodeTraceReplayOptions options;
	const LodeProgress *progress; /* while a frame is replayed */
	LodeStackDistances **distances;
	GError **distance_errors;
	const LodeTraceFrame *slice;
	LodeTracePart part;      /* of the trace, that is being replayed */
	uint64_t next_reference; /* after those replayed */
	bool is_cut;             /* references were left out before the part */
	LodeCacheCounts *before; /* of all caches, as the window began */
	CacheSums *sums;         /* MAX_CACHES for each hierarchy */
} Replay;

static void replay_distances(size_t task, unsigned worker, void *user_data)
{
	Replay *self = user_data;

	(void)worker;
	lode_stack_distances_replay(
		self->distances[task], self->slice, &self->distance_errors[task]);
}

/* The error of the first, whichever came first. */
static bool replay_all_distances(Replay *self, GError **error)
{
	size_t n = self->options.n_distances;
	unsigned threads = self->options.threads > 0 ? self->options.threads
	                                             : lode_worker_pool_default_size();

	lode_worker_pool_run(n, threads, replay_distances, self);
	for (size_t i = 0; i < n; i++) {
		if (self->distance_errors[i] == NULL)
			continue;
		g_propagate_error(error, g_steal_pointer(&self->distance_errors[i]));
		return false;
	}
	return true;
}

static bool replay_slice(Replay *self, GError **error)
{
	LodeTraceReplay *result = &self->result;
	const LodeTraceRange *range = &result->range;

	if (lode_progress_is_cancelled(self->progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	lode_progress_report(self->progress, "replaying references",
		(double)self->slice->first_reference, (double)(range->first + range->count), NULL);
	if (result->simulation != NULL &&
		!lode_cache_simulation_replay(result->simulation, self->slice, error))
		return false;
	if (self->part.kind == LODE_TRACE_WARM_UP)
		return true;
	if (self->options.n_distances > 0 && !replay_all_distances(self, error))
		return false;
	if (result->times != NULL)
		lode_replay_times_add(
			result->times, self->slice, result->simulation, self->distances);
	result->n_references += self->slice->n_references;
	result->n_instructions += self->slice->n_instructions;
	return true;
}

/* Goes over the counts of all caches: where a window ends, what it adds goes into the sums. */
static void note_counts(Replay *self, bool is_end)
{
	for (size_t i = 0; i < self->options.n_hierarchies * LODE_HIERARCHY_MAX_CACHES; i++) {
		size_t hierarchy = i / LODE_HIERARCHY_MAX_CACHES;
		const LodeCacheCounts *now = &lode_cache_simulation_counts(
			self->result.simulation, hierarchy)[i % LODE_HIERARCHY_MAX_CACHES];
		LodeCacheCounts *before = &self->before[i];

		if (is_end) {
			uint64_t accesses = lode_cache_counts_sum(now->accesses) -
			                    lode_cache_counts_sum(before->accesses);
			uint64_t misses = lode_cache_counts_sum(now->misses) -
			                  lode_cache_counts_sum(before->misses);
			uint64_t cold = self->is_cut ? now->cold_misses - before->cold_misses : 0;

			window_sums_add(&self->sums[i].most, accesses, misses);
			window_sums_add(&self->sums[i].least, accesses, misses - cold);
		}
		*before = *now;
	}
}

static void end_window(Replay *self)
{
	if (self->part.kind != LODE_TRACE_COUNTED)
		return;
	self->result.n_windows++;
	note_counts(self, true);
}

static void begin_part(Replay *self, LodeTracePart part)
{
	if (part.kind == self->part.kind && part.window == self->part.window)
		return;
	end_window(self);
	self->part = part;
	if (self->result.simulation != NULL)
		lode_cache_simulation_set_counting(
			self->result.simulation, part.kind == LODE_TRACE_COUNTED);
	if (part.kind == LODE_TRACE_COUNTED)
		note_counts(self, false);
}

static uint64_t slice_references(const Replay *self)
{
	if (self->result.times == NULL || self->part.kind == LODE_TRACE_WARM_UP)
		return SLICE_REFERENCES;
	return MIN(SLICE_REFERENCES, lode_replay_times_left(self->result.times));
}

/* Empties the caches: after references that were left out, they would hold different lines. */
static bool begin_after_cut(Replay *self, const LodeTraceFrame *frame, GError **error)
{
	bool is_cut = self->result.range.every > 0 &&
	              self->next_reference != frame->first_reference;

	self->next_reference = frame->first_reference + frame->n_references;
	self->is_cut |= is_cut;
	return !is_cut || self->result.simulation == NULL ||
	       lode_cache_simulation_empty(self->result.simulation, error);
}

static bool replay_frame(Replay *self, const LodeTraceFrame *frame, GError **error)
{
	g_auto(LodeFrameSlices) slices = {0};
	g_autoptr(LodeTraceFrame) turns = NULL;

	begin_part(self, lode_trace_range_part(&self->result.range, frame->first_reference));
	if (!begin_after_cut(self, frame, error))
		return false;
	if (self->options.quantum > 0)
		frame = turns = lode_frame_turns_new(frame, self->options.quantum);
	lode_frame_slices_init(&slices, frame);
	while ((self->slice = lode_frame_slices_next(&slices, slice_references(self))) != NULL)
		if (!replay_slice(self, error))
			return false;
	return true;
}

static bool open_simulation(Replay *self, GError **error)
{
	const LodeCacheSimulationOptions simulation = {
		.threads = self->options.threads,
		.classifies = self->options.classifies,
	};

	if (self->options.n_hierarchies == 0)
		return true;
	self->result.simulation = lode_cache_simulation_new(
		self->options.hierarchies, self->options.n_hierarchies, &simulation, error);
	return self->result.simulation != NULL;
}

LodeTraceReplay *lode_trace_replay_new(
	const LodeTraceReplayOptions *options, const LodeTraceRange *range, GError **error)
{
	Replay *self = g_new0(Replay, 1);
	size_t n_caches = options->n_hierarchies * LODE_HIERARCHY_MAX_CACHES;

	self->options = *options;
	self->distances = g_new0(LodeStackDistances *, options->n_distances);
	self->distance_errors = g_new0(GError *, options->n_distances);
	self->before = g_new0(LodeCacheCounts, n_caches);
	self->sums = g_new0(CacheSums, n_caches);
	self->result.range = *range;
	self->result.curves = g_ptr_array_new_with_free_func((GDestroyNotify)lode_miss_curve_free);
	self->result.thread_curves = g_ptr_array_new_with_free_func(
		(GDestroyNotify)lode_miss_curve_free);
	const LodeReplayTimesOptions times = {
		.n_times = options->n_times,
		.n_references = range->count == UINT64_MAX ? 0 : range->count,
		.hierarchies = options->hierarchies,
		.n_hierarchies = options->n_hierarchies,
		.n_distances = options->n_distances,
	};
	if (options->n_times > 0)
		self->result.times = lode_replay_times_new(&times);
	for (size_t i = 0; i < options->n_distances; i++)
		self->distances[i] = lode_stack_distances_new(&options->distances[i]);
	if (open_simulation(self, error))
		return &self->result;
	lode_trace_replay_free(&self->result);
	return NULL;
}

bool lode_trace_replay_take(LodeTraceReplay *replay, const LodeTraceFrame *frame,
	const LodeProgress *progress, GError **error)
{
	Replay *self = (Replay *)replay;

	self->progress = progress;
	return replay_frame(self, frame, error);
}

bool lode_trace_replay_may_take_words(
	const LodeTraceReplayOptions *options, const LodeTraceRange *range)
{
	return options->n_hierarchies == 1 && !options->classifies && options->n_distances == 0 &&
	       options->n_times == 0 && options->quantum == 0 && range->every == 0 &&
	       range->first == 0 && range->count == UINT64_MAX;
}

bool lode_trace_replay_take_words(LodeTraceReplay *replay, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, LodeWordsTaken *taken)
{
	Replay *self = (Replay *)replay;
	LodeWordsTaken now = {0};

	if (!lode_trace_replay_may_take_words(&self->options, &replay->range))
		return false;
	begin_part(self, lode_trace_range_part(&replay->range, 0));
	if (!lode_cache_simulation_replay_words(replay->simulation, pieces, words, n, &now))
		return false;
	replay->n_references += now.n_references;
	replay->n_instructions += now.n_instructions;
	lode_words_taken_add(taken, &now);
	return true;
}

bool lode_trace_replay_word_filter(const LodeTraceReplay *replay, LodeWordFilterGeometry *out)
{
	const Replay *self = (const Replay *)replay;

	return lode_trace_replay_may_take_words(&self->options, &replay->range) &&
	       lode_cache_simulation_word_filter(replay->simulation, out);
}

void lode_trace_replay_finish(LodeTraceReplay *replay)
{
	Replay *self = (Replay *)replay;

	end_window(self);
	if (replay->times != NULL)
		lode_replay_times_finish(replay->times, replay->simulation, self->distances);
	if (replay->simulation != NULL) {
		lode_cache_simulation_set_counting(replay->simulation, true);
		lode_cache_simulation_finish(replay->simulation);
	}
	for (size_t i = 0; i < self->options.n_distances; i++) {
		g_ptr_array_add(replay->curves, lode_miss_curve_new(self->distances[i]));
		unsigned n_threads = lode_stack_distances_n_threads(self->distances[i]);
		for (unsigned j = 0; j < n_threads; j++)
			g_ptr_array_add(replay->thread_curves,
				lode_miss_curve_new_thread(self->distances[i], j));
		g_clear_pointer(&self->distances[i], lode_stack_distances_free);
	}
}

LodeTraceReplay *lode_trace_replay_run(LodeTraceReader *reader,
	const LodeTraceReplayOptions *options, const LodeProgress *progress, GError **error)
{
	const LodeTraceRange range = lode_trace_reader_range(reader);
	g_autoptr(LodeTraceReplay) self = lode_trace_replay_new(options, &range, error);
	g_autoptr(GError) damage = NULL;
	const LodeTraceFrame *frame;
	int more;

	if (self == NULL)
		return NULL;
	while ((more = lode_trace_reader_next(reader, &frame, &damage)) > 0)
		if (!lode_trace_replay_take(self, frame, progress, error))
			return NULL;
	/* A damaged part ends the trace, but does not affect the part before it. */
	self->damage = g_strdup(more < 0 ? damage->message : lode_trace_reader_damage(reader));
	lode_trace_replay_finish(self);
	return g_steal_pointer(&self);
}

LodeMissRatioRange lode_trace_replay_ratio_range(
	const LodeTraceReplay *replay, size_t hierarchy, size_t cache)
{
	const Replay *self = (const Replay *)replay;
	const CacheSums *sums = &self->sums[hierarchy * LODE_HIERARCHY_MAX_CACHES + cache];
	double sampled = (double)replay->range.length / (double)replay->range.every;
	double accesses = sums->most.accesses;

	double low = sums->least.misses / accesses - window_sums_error(&sums->least, sampled);
	double high = sums->most.misses / accesses + window_sums_error(&sums->most, sampled);

	return (LodeMissRatioRange){
		.low = low < 0 ? 0 : low,
		.high = high > 1 ? 1 : high,
		.cold_misses = sums->most.misses - sums->least.misses,
	};
}

void lode_trace_replay_free(LodeTraceReplay *replay)
{
	Replay *self = (Replay *)replay;

	if (self == NULL)
		return;
	for (size_t i = 0; i < self->options.n_distances; i++) {
		lode_stack_distances_free(self->distances[i]);
		g_clear_error(&self->distance_errors[i]);
	}
	g_free(self->distances);
	g_free(self->distance_errors);
	g_free(self->before);
	g_free(self->sums);
	lode_cache_simulation_free(replay->simulation);
	g_ptr_array_unref(replay->curves);
	g_ptr_array_unref(replay->thread_curves);
	lode_replay_times_free(replay->times);
	g_free(replay->damage);
	g_free(self);
}
