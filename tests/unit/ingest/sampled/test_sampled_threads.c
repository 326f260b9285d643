/* SPDX-License-Identifier: MIT */
/* Threads whose slices are thought up, recorded in any order, against counting them one by one. */
#include "ingest/sampled/sampled_threads.h"
#include "model/process.h"
#include "model/profile.h"
#include "sources/perf_data/perf_data_format.h"

#include <math.h>
#include <string.h>

enum { PID = 10, TICK = 100 };

static LodePerfRecord record_of(LodePerfRecordKind kind, uint32_t tid, uint64_t time_ns)
{
	return (LodePerfRecord){
		.kind = kind, .pid = PID, .tid = tid, .time_ns = time_ns, .text = "name"};
}

static LodePerfRecord switch_in(uint32_t tid, uint64_t time_ns)
{
	return record_of(LODE_PERF_SWITCH, tid, time_ns);
}

static LodePerfRecord switch_out(uint32_t tid, uint64_t time_ns, bool is_preempted)
{
	LodePerfRecord record = record_of(LODE_PERF_SWITCH, tid, time_ns);

	record.is_out = true;
	record.is_preempted = is_preempted;
	return record;
}

static LodePerfRecord mark(bool is_on, uint64_t time_ns)
{
	LodePerfRecord record = record_of(LODE_PERF_SWITCH, LODE_PERF_NO_SWITCHES_TID, time_ns);

	record.pid = 0;
	record.is_out = !is_on;
	return record;
}

static LodeSampledThreads *read_all(const LodePerfRecord *records, size_t n)
{
	LodeSampledThreads *threads = lode_sampled_threads_new(0);

	for (size_t i = 0; i < n; i++)
		lode_sampled_threads_note(threads, &records[i], records[i].time_ns);
	lode_sampled_threads_freeze(threads, NULL);
	return threads;
}

static GArray *list(const LodeSampledThreads *threads)
{
	GArray *times = g_array_new(FALSE, FALSE, sizeof(LodeThreadTime));
	LodeThreads names;

	lode_threads_init(&names, 0);
	lode_threads_freeze(&names);
	lode_sampled_threads_list(threads, &names, times);
	lode_threads_clear(&names);
	return times;
}

static void check_time(const GArray *times, guint i, const LodeThreadTime *expected)
{
	const LodeThreadTime *row = &LODE_AT(times, LodeThreadTime, i);

	g_assert_cmpuint(row->tid, ==, expected->tid);
	g_assert_cmpuint(row->begin_ns, ==, expected->begin_ns);
	g_assert_cmpuint(row->end_ns, ==, expected->end_ns);
	g_assert_cmpfloat(row->running_ns, ==, expected->running_ns);
	g_assert_cmpfloat(row->preempted_ns, ==, expected->preempted_ns);
	g_assert_cmpfloat(row->switches, ==, expected->switches);
}

/* The drawing at the head of sampled_threads.h, and thread 3, which never stops. */
static void test_simple(void)
{
	const LodePerfRecord records[] = {
		switch_in(1, 100), record_of(LODE_PERF_FORK, 2, 150), switch_in(2, 200),
		record_of(LODE_PERF_SAMPLE, 3, 250), switch_out(1, 300, false),
		switch_out(2, 400, true), switch_in(2, 500), switch_in(1, 600),
		switch_out(2, 700, false), record_of(LODE_PERF_SAMPLE, 3, 750),
		record_of(LODE_PERF_EXIT, 1, 800), switch_out(1, 801, false), /* that of the exit */
	};
	static const LodeThreadTime expected[] = {
		{.tid = 1, .begin_ns = 100, .end_ns = 800, .running_ns = 400, .switches = 2},
		{.tid = 2,
			.begin_ns = 150,
			.end_ns = 801,
			.running_ns = 400,
			.preempted_ns = 100,
			.switches = 2},
		{.tid = 3, .begin_ns = 100, .end_ns = 801, .running_ns = 501},
	};
	static const struct {
		uint64_t time_ns;
		double n;
	} points[] = {{100, 1}, {199, 1}, {200, 2}, {250, 3}, {299, 3}, {300, 2}, {400, 1},
		{500, 2}, {699, 3}, {700, 2}, {751, 1}, {800, 1}, {120, 1}};
	g_autoptr(LodeSampledThreads) threads = read_all(records, G_N_ELEMENTS(records));
	g_autoptr(GArray) times = list(threads);

	for (size_t i = 0; i < G_N_ELEMENTS(points); i++)
		g_assert_cmpfloat(lode_sampled_threads_share(threads, points[i].time_ns), ==,
			1 / points[i].n);
	g_assert_cmpuint(times->len, ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < times->len; i++)
		check_time(times, i, &expected[i]);
	g_assert_true(lode_sampled_threads_are_parallel(threads));
	g_assert_cmpuint(lode_sampled_threads_n_incomplete(threads), ==, 0);
	g_assert_cmpfloat(lode_sampled_threads_recorded(threads), ==, 1);
}

/* One after the other on one CPU is not parallel, nor is a moment in which a process begins. */
static void test_turns(void)
{
	GArray *records = g_array_new(FALSE, FALSE, sizeof(LodePerfRecord));

	for (uint64_t i = 0; i < 100; i++) {
		uint32_t tid = (uint32_t)(1 + i % 2);
		const LodePerfRecord pair[] = {switch_in(tid, 1000 * i + 1),
			switch_out(tid, 1000 * i + 1001 + (i == 50), false)};
		g_array_append_vals(records, pair, 2);
	}
	g_autoptr(LodeSampledThreads)
		threads = read_all((const LodePerfRecord *)(void *)records->data, records->len);
	g_assert_false(lode_sampled_threads_are_parallel(threads));
	g_array_unref(records);
}

/* The number of a thread comes again; a switch is lost; perf's forks of what ran before. */
static void test_lives(void)
{
	LodePerfRecord before = record_of(LODE_PERF_FORK, 1, 0);
	const LodePerfRecord records[] = {
		before,
		switch_out(1, 100, false),
		switch_in(1, 200),
		record_of(LODE_PERF_EXIT, 1, 300),
		record_of(LODE_PERF_FORK, 1, 400),
		switch_in(1, 450),
		switch_in(1, 500), /* out before it is missing */
		switch_out(1, 600, false),
		switch_out(1, 700, false), /* in before it is missing */
		switch_in(2, 50),
		switch_out(2, 1000, false),
	};
	static const LodeThreadTime expected[] = {
		{.tid = 1, .begin_ns = 50, .end_ns = 300, .running_ns = 150, .switches = 1},
		{.tid = 1, .begin_ns = 400, .end_ns = 1000, .running_ns = 100, .switches = 2},
		{.tid = 2, .begin_ns = 50, .end_ns = 1000, .running_ns = 950, .switches = 1},
	};
	g_autoptr(LodeSampledThreads) threads = read_all(records, G_N_ELEMENTS(records));
	g_autoptr(GArray) times = list(threads);

	g_assert_cmpuint(times->len, ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < times->len; i++)
		check_time(times, i, &expected[i]);
	g_assert_cmpuint(lode_sampled_threads_n_incomplete(threads), ==, 2);
}

/* Where records were lost, what seems to run at the end did so until its last sample. */
static void test_lost(void)
{
	const LodePerfRecord records[] = {
		record_of(LODE_PERF_LOST, 1, 90),
		switch_in(1, 100),
		record_of(LODE_PERF_SAMPLE, 1, 149),
		switch_in(2, 100),
		switch_out(2, 1000, false),
	};

	for (size_t first = 0; first < 2; first++) {
		g_autoptr(LodeSampledThreads)
			threads = read_all(records + first, G_N_ELEMENTS(records) - first);
		g_autoptr(GArray) times = list(threads);
		g_assert_cmpfloat(
			LODE_AT(times, LodeThreadTime, 0).running_ns, ==, first == 0 ? 50 : 901);
	}
}

/* --- threads by chance --- */

enum { N_THREADS = 7, N_SLICES = 40, N_WINDOWS = 4, END = 100000 };

typedef struct {
	uint64_t begin, end;
} Slice;

typedef struct {
	Slice slices[N_THREADS][N_SLICES];
	unsigned n_slices[N_THREADS];
	Slice windows[N_WINDOWS];
	unsigned n_windows;
} Truth;

/* Slices in order, apart from each other; the last thread always runs. */
static void think_up(Truth *self, GRand *random, bool has_windows)
{
	*self = (Truth){.n_windows = 1, .windows = {{0, END}}};
	for (unsigned t = 0; t + 1 < N_THREADS; t++) {
		uint64_t at = (uint64_t)g_rand_int_range(random, 0, 2) * 50;
		while (at < END && self->n_slices[t] < N_SLICES) {
			uint64_t end = at + (uint64_t)g_rand_int_range(random, 1, 4000);
			self->slices[t][self->n_slices[t]++] = (Slice){at, MIN(end, END)};
			at = end + (uint64_t)g_rand_int_range(random, 1, 3000);
		}
	}
	self->slices[N_THREADS - 1][0] = (Slice){0, END};
	self->n_slices[N_THREADS - 1] = 1;
	for (unsigned w = 0; has_windows && w < N_WINDOWS; w++)
		self->windows[w] = (Slice){w * END / N_WINDOWS,
			w * END / N_WINDOWS +
				(uint64_t)g_rand_int_range(random, 5000, END / N_WINDOWS)};
	self->n_windows = has_windows ? N_WINDOWS : 1;
}

static const Slice *window_at(const Truth *self, uint64_t time_ns)
{
	for (unsigned w = 0; w < self->n_windows; w++)
		if (time_ns >= self->windows[w].begin && time_ns < self->windows[w].end)
			return &self->windows[w];
	return NULL;
}

static void add_switch(GArray *records, const Truth *truth, LodePerfRecord record)
{
	/* at the beginning it ran already, and the end is not seen */
	if (window_at(truth, record.time_ns) != NULL && record.time_ns > 0)
		g_array_append_val(records, record);
}

static bool runs(const Truth *self, unsigned thread, uint64_t time_ns)
{
	for (unsigned i = 0; i < self->n_slices[thread]; i++)
		if (time_ns >= self->slices[thread][i].begin &&
			time_ns < self->slices[thread][i].end)
			return true;
	return false;
}

static GArray *record(const Truth *self)
{
	GArray *records = g_array_new(FALSE, FALSE, sizeof(LodePerfRecord));

	for (unsigned t = 0; t < N_THREADS; t++) {
		for (unsigned i = 0; i < self->n_slices[t]; i++) {
			Slice slice = self->slices[t][i];
			add_switch(records, self, switch_in(t + 1, slice.begin));
			add_switch(records, self, switch_out(t + 1, slice.end, i % 3 == 0));
		}
		for (uint64_t at = 0; at < END; at += TICK) {
			const LodePerfRecord sample = record_of(LODE_PERF_SAMPLE, t + 1, at);
			if (runs(self, t, at))
				g_array_append_val(records, sample);
		}
	}
	return records;
}

static void shuffle(GArray *records, GRand *random)
{
	for (guint i = records->len; i > 1; i--) {
		guint other = (guint)g_rand_int_range(random, 0, (gint32)i);
		LodePerfRecord moved = LODE_AT(records, LodePerfRecord, i - 1);
		LODE_AT(records, LodePerfRecord, i - 1) = LODE_AT(records, LodePerfRecord, other);
		LODE_AT(records, LodePerfRecord, other) = moved;
	}
}

static double naive_share(const Truth *self, uint64_t time_ns, uint64_t last_ns)
{
	const Slice *window = window_at(self, time_ns);
	double n = 0, scale = 1;

	for (unsigned t = 0; t < N_THREADS; t++)
		n += runs(self, t, time_ns);
	for (unsigned w = 0; w < self->n_windows; w++)
		if (window == &self->windows[w]) {
			uint64_t next = w + 1 < self->n_windows ? self->windows[w + 1].begin
			                                        : last_ns;
			uint64_t end = MIN(window->end, last_ns + 1);
			scale = (double)(MAX(next, end) - window->begin) /
			        (double)(end - window->begin);
		}
	return window != NULL ? scale / MAX(n, 1) : 0;
}

/* Between times at which the thread runs that is known, unless not all switches were recorded. */
static void check_running(LodeSampledThreads *threads, const Truth *truth, GRand *random,
	uint64_t last_ns, bool has_windows)
{
	for (unsigned i = 0; i < 300; i++) {
		unsigned t = (unsigned)g_rand_int_range(random, 0, N_THREADS);
		uint64_t begin = (uint64_t)g_rand_int_range(random, 0, (gint32)last_ns);
		uint64_t end = (uint64_t)g_rand_int_range(
			random, (gint32)begin, (gint32)MIN(last_ns + 1, begin + 9000));
		const LodePerfRecord sample = record_of(LODE_PERF_SAMPLE, t + 1, begin);
		double running = -1, expected = 0;
		bool is_known = lode_sampled_threads_running(
			threads, &sample, begin, end, &running);
		for (unsigned k = 0; k < truth->n_slices[t]; k++) {
			uint64_t from = MAX(truth->slices[t][k].begin, begin);
			uint64_t to = MIN(truth->slices[t][k].end, end);
			expected += to > from ? (double)(to - from) : 0;
		}
		if (runs(truth, t, begin) && runs(truth, t, end) && !has_windows)
			g_assert_true(is_known);
		if (is_known)
			g_assert_cmpfloat(running, ==, expected);
	}
}

static void check_random(guint32 seed, bool has_windows)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);
	g_autoptr(LodeSampledThreads) threads = lode_sampled_threads_new(0);
	uint64_t last_ns = 0;
	Truth truth;

	think_up(&truth, random, has_windows);
	g_autoptr(GArray) records = record(&truth);
	shuffle(records, random);
	/* lode writes the marks before what comes after them */
	for (unsigned w = 0; has_windows && w < N_WINDOWS; w++) {
		const LodePerfRecord marks[] = {
			mark(true, truth.windows[w].begin), mark(false, truth.windows[w].end)};
		for (unsigned i = w == 0; i < 2; i++)
			lode_sampled_threads_note(threads, &marks[i], marks[i].time_ns);
	}
	for (guint i = 0; i < records->len; i++) {
		const LodePerfRecord *row = &LODE_AT(records, LodePerfRecord, i);
		lode_sampled_threads_note(threads, row, row->time_ns);
		last_ns = MAX(last_ns, row->time_ns);
	}
	lode_sampled_threads_freeze(threads, NULL);
	for (uint64_t at = 0; at < END; at += TICK) {
		double expected = naive_share(&truth, at, last_ns);
		double share = lode_sampled_threads_share(threads, at);
		if (fabs(share - expected) > 1e-9)
			g_error("seed %u, time %u: %g, not %g", seed, (unsigned)at, share,
				expected);
	}
	check_running(threads, &truth, random, last_ns, has_windows);
	if (has_windows)
		return;
	g_autoptr(GArray) times = list(threads);
	g_assert_cmpuint(times->len, ==, N_THREADS);
	for (unsigned t = 0; t + 1 < N_THREADS; t++) {
		double running = 0;
		for (unsigned i = 0; i < truth.n_slices[t]; i++)
			running += (double)(MIN(truth.slices[t][i].end, last_ns + 1) -
					    truth.slices[t][i].begin);
		g_assert_cmpfloat(
			fabs(LODE_AT(times, LodeThreadTime, t).running_ns - running), <, 1.5);
	}
}

static void test_random(void)
{
	for (guint32 seed = 1; seed <= 100; seed++) {
		check_random(seed, false);
		check_random(seed, true);
	}
}

/* --- what no recorder writes --- */

static uint64_t any_time(GRand *random)
{
	static const uint64_t times[] = {
		0, 1, 2, 1000, UINT64_MAX - 1, UINT64_MAX, UINT64_C(1) << 63};
	gint32 i = g_rand_int_range(random, 0, 2 * G_N_ELEMENTS(times));

	return i < (gint32)G_N_ELEMENTS(times) ? times[i]
	                                       : (uint64_t)g_rand_int_range(random, 0, 2000);
}

static void test_hostile(void)
{
	static const LodePerfRecordKind kinds[] = {LODE_PERF_SAMPLE, LODE_PERF_SWITCH,
		LODE_PERF_FORK, LODE_PERF_EXIT, LODE_PERF_COMMAND, LODE_PERF_LOST};
	static const uint32_t ids[] = {0, 1, 2, 3, UINT32_MAX};

	for (guint32 seed = 1; seed <= 300; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		g_autoptr(LodeSampledThreads)
			threads = lode_sampled_threads_new(seed % 3 == 0 ? 20 : 0);
		for (unsigned i = 0; i < 200; i++) {
			LodePerfRecord record = record_of(
				kinds[g_rand_int_range(random, 0, G_N_ELEMENTS(kinds))],
				ids[g_rand_int_range(random, 0, G_N_ELEMENTS(ids))],
				any_time(random));
			record.pid = ids[g_rand_int_range(random, 0, G_N_ELEMENTS(ids))];
			record.is_out = g_rand_boolean(random);
			record.is_preempted = g_rand_boolean(random);
			lode_sampled_threads_note(threads, &record, record.time_ns);
		}
		lode_sampled_threads_freeze(threads, NULL);
		for (unsigned i = 0; i < 200; i++) {
			double share = lode_sampled_threads_share(threads, any_time(random));
			g_assert_true(isfinite(share) && share >= 0);
		}
		double recorded = lode_sampled_threads_recorded(threads);
		g_assert_true(recorded >= 0 && recorded <= 1);
		g_autoptr(GArray) times = list(threads);
		for (guint i = 0; i < times->len; i++) {
			const LodeThreadTime *row = &LODE_AT(times, LodeThreadTime, i);
			g_assert_cmpuint(row->begin_ns, <=, row->end_ns);
			g_assert_true(isfinite(row->running_ns) && row->running_ns >= 0);
			g_assert_true(isfinite(row->preempted_ns) && row->preempted_ns >= 0);
		}
	}
}

/* A million threads, each for a moment. */
static void test_many(void)
{
	enum { N = 1000000 };
	g_autoptr(LodeSampledThreads) threads = lode_sampled_threads_new(0);

	for (uint32_t i = 0; i < N; i++) {
		const LodePerfRecord records[] = {switch_out(i + 1, 2 * i + 12, false),
			switch_in(i + 1, 2 * i + 10),
			record_of(LODE_PERF_SAMPLE, i + 1, 2 * i + 11)};
		for (unsigned j = 0; j < 3; j++)
			lode_sampled_threads_note(threads, &records[j], records[j].time_ns);
	}
	lode_sampled_threads_freeze(threads, NULL);
	g_assert_false(lode_sampled_threads_are_parallel(threads));
	g_autoptr(GArray) times = list(threads);
	g_assert_cmpuint(times->len, ==, N);
	for (guint i = 0; i < N; i += 1000)
		g_assert_cmpfloat(LODE_AT(times, LodeThreadTime, i).running_ns, ==, 2);
}

/* What has no room is a time without records: the samples before stand for it. */
static void test_limit(void)
{
	g_autoptr(LodeSampledThreads) threads = lode_sampled_threads_new(10);

	for (uint64_t i = 0; i < 10; i++) {
		const LodePerfRecord records[] = {
			switch_in(1, 100 * i), switch_out(1, 100 * i + 50, false)};
		for (unsigned j = 0; j < 2; j++)
			lode_sampled_threads_note(threads, &records[j], records[j].time_ns);
	}
	lode_sampled_threads_freeze(threads, NULL);
	g_assert_cmpfloat(fabs(lode_sampled_threads_recorded(threads) - 500 / 951.0), <, 1e-9);
	g_assert_cmpfloat(fabs(lode_sampled_threads_share(threads, 420) - 950 / 500.0), <, 1e-9);
	g_assert_cmpfloat(lode_sampled_threads_share(threads, 620), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/sampled-threads/simple", test_simple);
	g_test_add_func("/ingest/sampled-threads/turns", test_turns);
	g_test_add_func("/ingest/sampled-threads/lives", test_lives);
	g_test_add_func("/ingest/sampled-threads/lost", test_lost);
	g_test_add_func("/ingest/sampled-threads/random", test_random);
	g_test_add_func("/ingest/sampled-threads/hostile", test_hostile);
	g_test_add_func("/ingest/sampled-threads/many", test_many);
	g_test_add_func("/ingest/sampled-threads/limit", test_limit);
	return g_test_run();
}
