/* SPDX-License-Identifier: MIT */
/* The critical path of threads whose intervals are written by hand, and what it rests on: which
 * threads are a run-time's, and who had the processors. */
#include "ingest/sampled/waits/busy_processors.h"
#include "ingest/sampled/waits/run_time_threads.h"
#include "ingest/sampled/waits/sampled_waits.h"

#include "model/profile.h"
#include "model/waits.h"

enum { PID = 7, MS = 1000000, MAIN = 0, WORKER = 1, POOLED = 2 };

enum { JOIN_ROW, SLEEP_ROW, POOL_ROW, N_ROWS };

typedef struct {
	LodeThreads threads;
	LodeWaitTimes times;
	LodeWaits *waits;
} Recorded;

static void tell(LodeThreads *threads, LodePerfRecordKind kind, uint32_t tid, uint32_t parent_tid,
	uint64_t time_ms)
{
	const LodePerfRecord record = {.kind = kind,
		.pid = PID,
		.tid = tid,
		.parent_pid = parent_tid != 0 ? PID : 1,
		.parent_tid = parent_tid != 0 ? parent_tid : 1};

	lode_threads_apply(threads, &record, time_ms * MS);
}

static void add_thread(Recorded *self, uint32_t number, uint64_t begin_ms, uint64_t end_ms)
{
	const LodeWaitThread thread = {
		begin_ms * MS, end_ms * MS, number, self->times.intervals->len, 0, 0};

	g_array_append_val(self->times.threads, thread);
}

static void add(Recorded *self, uint64_t begin_ms, uint64_t end_ms, uint8_t kind, uint32_t row,
	uint32_t other)
{
	const LodeWaitInterval interval = {.begin_ns = begin_ms * MS,
		.end_ns = end_ms * MS,
		.row = row,
		.object = LODE_NONE,
		.other = other,
		.kind = kind,
		.is_looked_at = true,
		.is_timed_out = kind == LODE_WAIT_SLEEP};

	g_array_append_val(self->times.intervals, interval);
	g_array_index(self->times.threads, LodeWaitThread, self->times.threads->len - 1).n++;
}

/*
 *   main     0 ━━ 10 · join · · · · · · · · · · · · 100 ━━ 110
 *   worker      5 10 ━━ 40 · sleep · 70 ━━━━━━━━━ 99
 *   pooled      5 6 · condition · · · · · · · · · · · · 109
 */
static void record(Recorded *self)
{
	static const LodeWaitReason reasons[N_ROWS] = {
		LODE_WAIT_JOIN, LODE_WAIT_SLEEP, LODE_WAIT_CONDITION};
	static const double waiting_ms[N_ROWS] = {90, 30, 103};
	const uint8_t runs = LODE_N_WAIT_REASONS;

	lode_threads_init(&self->threads, 0);
	tell(&self->threads, LODE_PERF_FORK, PID, 0, 0);
	tell(&self->threads, LODE_PERF_FORK, PID + 1, PID, 5);
	tell(&self->threads, LODE_PERF_FORK, PID + 2, PID, 5);
	for (uint32_t i = 0; i < 3; i++)
		tell(&self->threads, LODE_PERF_EXIT, PID + 2 - i, PID, 108 + i);
	self->times = (LodeWaitTimes){.threads = g_array_new(FALSE, TRUE, sizeof(LodeWaitThread)),
		.intervals = g_array_new(FALSE, TRUE, sizeof(LodeWaitInterval)),
		.n_processors = 4};
	add_thread(self, MAIN, 0, 110);
	add(self, 0, 10, runs, LODE_NONE, LODE_NONE);
	add(self, 10, 100, LODE_WAIT_JOIN, JOIN_ROW, WORKER);
	add(self, 100, 110, runs, LODE_NONE, LODE_NONE);
	add_thread(self, WORKER, 5, 99);
	add(self, 10, 40, runs, LODE_NONE, LODE_NONE);
	add(self, 40, 70, LODE_WAIT_SLEEP, SLEEP_ROW, LODE_NONE);
	add(self, 70, 99, runs, LODE_NONE, LODE_NONE);
	add_thread(self, POOLED, 5, 109);
	add(self, 5, 6, runs, LODE_NONE, LODE_NONE);
	add(self, 6, 109, LODE_WAIT_CONDITION, POOL_ROW, LODE_NONE);
	self->waits = lode_waits_new();
	for (uint32_t i = 0; i < N_ROWS; i++) {
		const LodeWait row = {.reason = reasons[i],
			.pid = PID,
			.tid = PID + i,
			.stack = LODE_NONE,
			.holder_stack = LODE_NONE,
			.cause = LODE_NONE,
			.waiting_ns = waiting_ms[i] * MS};
		g_array_append_val(self->waits->rows, row);
	}
}

static void clear(Recorded *self)
{
	lode_threads_clear(&self->threads);
	g_array_unref(self->times.threads);
	g_array_unref(self->times.intervals);
	lode_waits_free(self->waits);
}

static const LodeWait *row_of(const Recorded *self, guint number)
{
	return &g_array_index(self->waits->rows, LodeWait, number);
}

static const LodeWaitCause *cause_of(const Recorded *self, guint number)
{
	return &g_array_index(self->waits->causes, LodeWaitCause, row_of(self, number)->cause);
}

static void find_path(Recorded *self)
{
	g_autofree bool *are_own = lode_run_time_threads_new(&self->threads, NULL, self->waits);

	lode_sampled_path_find(self->waits, &self->times, &self->threads, are_own, NULL);
}

static void test_path(void)
{
	Recorded recorded;

	record(&recorded);
	find_path(&recorded);
	g_assert_true(recorded.waits->has_path);
	g_assert_cmpfloat(row_of(&recorded, JOIN_ROW)->path_ns, ==, 1 * MS);
	g_assert_cmpfloat(row_of(&recorded, SLEEP_ROW)->path_ns, ==, 30 * MS);
	g_assert_cmpfloat(row_of(&recorded, POOL_ROW)->path_ns, ==, 0);
	g_assert_cmpfloat(cause_of(&recorded, JOIN_ROW)->high_ns, ==, 90 * MS);
	g_assert_cmpfloat(cause_of(&recorded, SLEEP_ROW)->high_ns, ==, 30 * MS);
	g_assert_cmpfloat(cause_of(&recorded, SLEEP_ROW)->low_ns, ==, 30 * MS);
	g_assert_cmpfloat(recorded.waits->path_running_ns, ==, (10 + 29 + 30 + 5) * MS);
	g_assert_cmpfloat(recorded.waits->path_sure, ==, 1);
	g_assert_true(row_of(&recorded, POOL_ROW)->is_idle);
	g_assert_false(row_of(&recorded, JOIN_ROW)->is_idle);
	clear(&recorded);
}

static void test_left_out(void)
{
	Recorded recorded;

	/* Its end was not seen. */
	record(&recorded);
	g_array_index(recorded.threads.threads, LodeThread, MAIN).end_ns = UINT64_MAX;
	find_path(&recorded);
	g_assert_false(recorded.waits->has_path);
	g_assert_cmpuint(row_of(&recorded, JOIN_ROW)->cause, ==, LODE_NONE);
	clear(&recorded);
	/* There are two recordings. */
	record(&recorded);
	g_array_index(recorded.times.threads, LodeWaitThread, POOLED).recording = 1;
	find_path(&recorded);
	g_assert_false(recorded.waits->has_path);
	clear(&recorded);
	/* It waited for work until it was stopped. */
	record(&recorded);
	g_array_index(recorded.times.intervals, LodeWaitInterval, 1).other = LODE_NONE;
	g_array_index(recorded.times.intervals, LodeWaitInterval, 1).is_timed_out = true;
	g_array_index(recorded.waits->rows, LodeWait, JOIN_ROW).is_idle = true;
	find_path(&recorded);
	g_assert_false(recorded.waits->has_path);
	g_assert_cmpfloat(row_of(&recorded, JOIN_ROW)->path_ns, ==, 0);
	clear(&recorded);
}

/* What the slices of a kind have, of a thread or (tid 0) of all. */
static double sum_slices(const Recorded *self, uint8_t kind, uint32_t tid, bool is_of_path)
{
	double sum = 0;

	for (guint i = 0; i < self->waits->slices->len; i++) {
		const LodeWaitSlice *slice = &g_array_index(self->waits->slices, LodeWaitSlice, i);
		if (slice->kind == kind && (tid == 0 || slice->tid == tid))
			sum += is_of_path ? slice->path_ns : slice->time_ns;
	}
	return sum;
}

/* A few intervals are kept as they are, divided where the path is. */
static void test_slices(void)
{
	Recorded recorded;

	record(&recorded);
	find_path(&recorded);
	const GArray *slices = recorded.waits->slices;
	for (guint i = 0; i < slices->len; i++) {
		const LodeWaitSlice *slice = &g_array_index(slices, LodeWaitSlice, i);
		g_assert_cmpfloat(slice->time_ns, ==, (double)(slice->end_ns - slice->begin_ns));
		g_assert_true(slice->path_ns == 0 || slice->path_ns == slice->time_ns);
		g_assert_cmpuint(slice->wait, ==,
			slice->kind == LODE_WAIT_JOIN        ? JOIN_ROW
			: slice->kind == LODE_WAIT_SLEEP     ? SLEEP_ROW
			: slice->kind == LODE_WAIT_CONDITION ? POOL_ROW
							     : LODE_NONE);
	}
	g_assert_cmpfloat(sum_slices(&recorded, LODE_SLICE_RUNNING, 0, true), ==, 74 * MS);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_SLICE_RUNNING, PID, false), ==, 20 * MS);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_WAIT_JOIN, 0, true), ==, 1 * MS);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_WAIT_JOIN, PID, false), ==, 90 * MS);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_WAIT_SLEEP, PID + 1, true), ==, 30 * MS);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_WAIT_CONDITION, 0, true), ==, 0);
	clear(&recorded);
	/* Without a path, too. */
	record(&recorded);
	g_array_index(recorded.threads.threads, LodeThread, MAIN).end_ns = UINT64_MAX;
	find_path(&recorded);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_SLICE_RUNNING, 0, false), ==, 80 * MS);
	g_assert_cmpfloat(sum_slices(&recorded, LODE_SLICE_RUNNING, 0, true), ==, 0);
	clear(&recorded);
}

/* Of many short ones the sums are kept, and long ones as they are. */
static void test_short_slices(void)
{
	enum { ROUNDS = 100000, SLEEP_AT = 40000, US = 1000 };
	Recorded recorded;
	uint64_t now_ns = 110 * MS;
	double off = 0;

	record(&recorded);
	LodeWaitThread *pooled = &g_array_index(recorded.times.threads, LodeWaitThread, POOLED);
	g_array_set_size(recorded.times.intervals, pooled->first);
	pooled->n = 0;
	add_thread(&recorded, WORKER, 110, 2000);
	for (int i = 0; i < ROUNDS; i++) {
		add(&recorded, 0, 0, LODE_SLICE_RUNNING, LODE_NONE, LODE_NONE);
		add(&recorded, 0, 0, LODE_WAIT_LOCK, i % 3 == 0 ? POOL_ROW : JOIN_ROW, LODE_NONE);
		for (guint k = 2; k > 0; k--) {
			LodeWaitInterval *interval = &g_array_index(recorded.times.intervals,
				LodeWaitInterval, recorded.times.intervals->len - k);
			interval->begin_ns = now_ns;
			now_ns += (k == 1 ? UINT64_C(2) : 1) * US;
			interval->end_ns = now_ns;
		}
		if (i != SLEEP_AT)
			continue;
		uint64_t begin_ms = now_ns / MS + 1;
		add(&recorded, begin_ms, begin_ms + 500, LODE_WAIT_SLEEP, SLEEP_ROW, LODE_NONE);
		now_ns = (begin_ms + 500) * MS;
	}
	find_path(&recorded);
	const GArray *slices = recorded.waits->slices;
	g_assert_cmpuint(slices->len, >, 1000);
	g_assert_cmpuint(slices->len, <=, LODE_MAX_WAIT_SLICES);
	off = sum_slices(&recorded, LODE_WAIT_LOCK, 0, false) - 2.0 * ROUNDS * US;
	g_assert_cmpfloat(off, ==, 0);
	off = sum_slices(&recorded, LODE_SLICE_RUNNING, 0, false) - 1.0 * ROUNDS * US - 79 * MS;
	g_assert_cmpfloat(off, ==, 0);
	guint n_long = 0;
	for (guint i = 0; i < slices->len; i++) {
		const LodeWaitSlice *slice = &g_array_index(slices, LodeWaitSlice, i);
		g_assert_cmpfloat(slice->time_ns, <=, (double)(slice->end_ns - slice->begin_ns));
		n_long += slice->kind == LODE_WAIT_SLEEP && slice->time_ns == 500.0 * MS;
	}
	g_assert_cmpuint(n_long, ==, 1);
	clear(&recorded);
}

/* --- who had the processors --- */

/*
 *   main    0 ━━━━━━━━━━━━━━━━━ 40 · ready · 60 ━━ 100
 *   worker  0 ━━━━━━━━ 20 · ready · · · · · · 60 ━━ 100
 */
static void record_ready(Recorded *self)
{
	const uint8_t runs = LODE_N_WAIT_REASONS;

	lode_threads_init(&self->threads, 0);
	tell(&self->threads, LODE_PERF_FORK, PID, 0, 0);
	tell(&self->threads, LODE_PERF_FORK, PID + 1, PID, 0);
	self->times = (LodeWaitTimes){.threads = g_array_new(FALSE, TRUE, sizeof(LodeWaitThread)),
		.intervals = g_array_new(FALSE, TRUE, sizeof(LodeWaitInterval)),
		.n_processors = 4};
	add_thread(self, MAIN, 0, 100);
	add(self, 0, 40, runs, LODE_NONE, LODE_NONE);
	add(self, 40, 60, LODE_WAIT_PROCESSOR, LODE_NONE, LODE_NONE);
	add(self, 60, 100, runs, LODE_NONE, LODE_NONE);
	add_thread(self, WORKER, 0, 100);
	add(self, 0, 20, runs, LODE_NONE, LODE_NONE);
	add(self, 20, 60, LODE_WAIT_PROCESSOR, LODE_NONE, LODE_NONE);
	add(self, 60, 100, runs, LODE_NONE, LODE_NONE);
	self->waits = lode_waits_new();
	for (uint32_t i = 0; i < 2; i++) {
		const LodeWait row = {.reason = LODE_WAIT_PROCESSOR,
			.pid = PID,
			.tid = PID + i,
			.stack = LODE_NONE,
			.holder_stack = LODE_NONE,
			.waiting_ns = (i == MAIN ? 20 : 40) * MS,
			.count = 1};
		g_array_append_val(self->waits->rows, row);
	}
}

/* Two ran at once: while fewer do, others have the processors. */
static void test_others(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	Recorded recorded;

	record_ready(&recorded);
	g_assert_cmpuint(lode_busy_processors_count(&recorded.times, 0), ==, 2);
	lode_busy_processors_split(profile, recorded.waits, &recorded.times, &recorded.threads);
	g_assert_cmpuint(recorded.waits->rows->len, ==, 2);
	for (guint i = 0; i < 2; i++) {
		const LodeWait *row = row_of(&recorded, i);
		g_assert_cmpfloat(row->waiting_ns, ==, (i == 0 ? 20 : 40) * MS);
		g_assert_cmpstr(row->object, ==, LODE_WAIT_OTHERS);
	}
	clear(&recorded);
}

/* A third thread has the other processor: the program's own threads are too many. */
static void test_own_threads(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	Recorded recorded;

	record_ready(&recorded);
	tell(&recorded.threads, LODE_PERF_FORK, PID + 2, PID, 0);
	add_thread(&recorded, POOLED, 20, 100);
	add(&recorded, 20, 60, LODE_N_WAIT_REASONS, LODE_NONE, LODE_NONE);
	lode_busy_processors_split(profile, recorded.waits, &recorded.times, &recorded.threads);
	g_assert_cmpuint(recorded.waits->rows->len, ==, 3);
	g_assert_cmpfloat(row_of(&recorded, WORKER)->waiting_ns, ==, 20 * MS);
	g_assert_cmpfloat(row_of(&recorded, 2)->waiting_ns, ==, 20 * MS);
	g_assert_cmpstr(row_of(&recorded, 2)->object, ==, LODE_WAIT_OTHERS);
	clear(&recorded);
}

/* --- threads that wait for work --- */

static uint32_t add_stack(LodeStacks *stacks, const char *image, uint32_t outer)
{
	const LodeFrame frame = {.image = (char *)image, .function = (char *)"f"};
	const LodeStack stack = {.frame = stacks->frames->len, .outer = outer};

	g_array_append_val(stacks->frames, frame);
	g_array_append_val(stacks->stacks, stack);
	return stacks->stacks->len - 1;
}

/* A thread of the program that waits once does so for work; one that is woken often does not, also
 * where the end of the program does not depend on it, but a thread of a library does. */
static void test_woken_often(void)
{
	static const struct {
		const char *image;
		double longest_ms;
		bool is_idle;
	} cases[] = {
		{"/home/u/program", 103, true},
		{"/home/u/program", 10, false},
		{"/usr/lib/libblas.so.3", 10, true},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeStacks) stacks = lode_stacks_new();
		Recorded recorded;
		record(&recorded);
		LodeWait *row = &g_array_index(recorded.waits->rows, LodeWait, POOL_ROW);
		row->stack = add_stack(stacks, cases[i].image, LODE_NONE);
		row->longest_ns = cases[i].longest_ms * MS;
		g_autofree bool *are_own = g_new0(bool, N_ROWS);
		lode_sampled_path_find(
			recorded.waits, &recorded.times, &recorded.threads, are_own, stacks);
		g_assert_cmpint(row_of(&recorded, POOL_ROW)->is_idle, ==, cases[i].is_idle);
		clear(&recorded);
	}
}

/* Of threads that wait in libc below Node.js, those that were in a script are the
 * program's. */
static void test_run_time_threads(void)
{
	static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6", node[] = "/usr/bin/node";
	g_autoptr(LodeStacks) stacks = lode_stacks_new();
	Recorded recorded;
	uint32_t script = add_stack(stacks, "/tmp/perf-7.map", LODE_NONE);
	const uint32_t where[N_ROWS] = {add_stack(stacks, libc, add_stack(stacks, node, script)),
		add_stack(stacks, libc, add_stack(stacks, node, LODE_NONE)),
		add_stack(stacks, libc, LODE_NONE)};

	record(&recorded);
	for (guint i = 0; i < N_ROWS; i++)
		g_array_index(recorded.waits->rows, LodeWait, i).stack = where[i];
	g_autofree bool *are_own = lode_run_time_threads_new(
		&recorded.threads, stacks, recorded.waits);
	g_assert_false(lode_run_time_threads_have(
		&recorded.threads, are_own, row_of(&recorded, JOIN_ROW)));
	g_assert_true(lode_run_time_threads_have(
		&recorded.threads, are_own, row_of(&recorded, SLEEP_ROW)));
	g_assert_false(lode_run_time_threads_have(
		&recorded.threads, are_own, row_of(&recorded, POOL_ROW)));
	clear(&recorded);
}

/*
 * As timeout(1) does with a server:
 *
 *   main     0 ━━ 2 · rt_sigsuspend · · · · · · · · 100 ━━ 101 · rt_sigsuspend · 105 ━━ 106
 *   child      2 ━━ 10 · epoll_wait · · · · · · · · · · · · · · · · 103 ━━ 104
 */
static void record_stopped(Recorded *self, uint64_t child_end_ms)
{
	enum { CHILD = 9 };
	const uint8_t runs = LODE_N_WAIT_REASONS;
	const LodePerfRecord begins = {.kind = LODE_PERF_FORK,
		.pid = CHILD,
		.tid = CHILD,
		.parent_pid = PID,
		.parent_tid = PID};
	const LodePerfRecord ends = {.kind = LODE_PERF_EXIT, .pid = CHILD, .tid = CHILD};
	LodeWait row = {.reason = LODE_WAIT_OTHER,
		.call = (char *)"rt_sigsuspend",
		.pid = PID,
		.tid = PID,
		.stack = LODE_NONE,
		.holder_stack = LODE_NONE,
		.cause = LODE_NONE,
		.waiting_ns = 102 * MS};

	lode_threads_init(&self->threads, 0);
	tell(&self->threads, LODE_PERF_FORK, PID, 0, 0);
	lode_threads_apply(&self->threads, &begins, 2 * MS);
	lode_threads_apply(&self->threads, &ends, child_end_ms * MS);
	tell(&self->threads, LODE_PERF_EXIT, PID, 0, 106);
	self->times = (LodeWaitTimes){.threads = g_array_new(FALSE, TRUE, sizeof(LodeWaitThread)),
		.intervals = g_array_new(FALSE, TRUE, sizeof(LodeWaitInterval)),
		.n_processors = 4};
	add_thread(self, MAIN, 0, 106);
	add(self, 0, 2, runs, LODE_NONE, LODE_NONE);
	add(self, 2, 100, LODE_WAIT_OTHER, 0, LODE_NONE);
	add(self, 100, 101, runs, LODE_NONE, LODE_NONE);
	add(self, 101, 105, LODE_WAIT_OTHER, 0, LODE_NONE);
	add(self, 105, 106, runs, LODE_NONE, LODE_NONE);
	add_thread(self, WORKER, 2, child_end_ms);
	add(self, 2, 10, runs, LODE_NONE, LODE_NONE);
	add(self, 10, child_end_ms - 1, LODE_WAIT_POLL, 1, LODE_NONE);
	add(self, child_end_ms - 1, child_end_ms, runs, LODE_NONE, LODE_NONE);
	self->waits = lode_waits_new();
	g_array_append_val(self->waits->rows, row);
	row.reason = LODE_WAIT_POLL;
	row.pid = row.tid = CHILD;
	row.call = (char *)"epoll_wait";
	g_array_append_val(self->waits->rows, row);
}

static void test_stopped(void)
{
	Recorded recorded;

	record_stopped(&recorded, 104);
	find_path(&recorded);
	g_assert_false(recorded.waits->has_path);
	g_assert_true(row_of(&recorded, 0)->is_idle);
	clear(&recorded);
	/* It ends by itself: the signal says so. */
	record_stopped(&recorded, 99);
	find_path(&recorded);
	g_assert_true(recorded.waits->has_path);
	g_assert_false(row_of(&recorded, 0)->is_idle);
	g_assert_cmpfloat(row_of(&recorded, 1)->path_ns, ==, 88 * MS);
	clear(&recorded);
}

/*
 * A shell whose wait nobody looked at, and which goes on before the kernel has told the child's
 * end:
 *
 *   main     0 ━━ 10 · unseen · · · · · · · · · · 50 ━━━ 60
 *   sed       10 ━━━━━━━━━━━━━━━ 50.2
 */
static void test_unseen_child(void)
{
	enum { CHILD = 9, CHILD_END_US = 50200 };
	const LodePerfRecord begins = {.kind = LODE_PERF_FORK,
		.pid = CHILD,
		.tid = CHILD,
		.parent_pid = PID,
		.parent_tid = PID};
	const LodePerfRecord executes = {.kind = LODE_PERF_COMMAND,
		.pid = CHILD,
		.tid = CHILD,
		.text = "sed",
		.is_exec = true};
	const LodePerfRecord ends = {.kind = LODE_PERF_EXIT, .pid = CHILD, .tid = CHILD};
	const uint8_t runs = LODE_N_WAIT_REASONS;
	Recorded recorded = {.waits = lode_waits_new()};

	lode_threads_init(&recorded.threads, 0);
	tell(&recorded.threads, LODE_PERF_FORK, PID, 0, 0);
	lode_threads_apply(&recorded.threads, &begins, 10 * MS);
	lode_threads_apply(&recorded.threads, &executes, 11 * MS);
	lode_threads_apply(&recorded.threads, &ends, CHILD_END_US * UINT64_C(1000));
	tell(&recorded.threads, LODE_PERF_EXIT, PID, 0, 60);
	recorded.times = (LodeWaitTimes){
		.threads = g_array_new(FALSE, TRUE, sizeof(LodeWaitThread)),
		.intervals = g_array_new(FALSE, TRUE, sizeof(LodeWaitInterval)),
		.n_processors = 4};
	add_thread(&recorded, MAIN, 0, 60);
	add(&recorded, 0, 10, runs, LODE_NONE, LODE_NONE);
	add(&recorded, 10, 50, LODE_WAIT_UNSEEN, LODE_NONE, LODE_NONE);
	add(&recorded, 50, 60, runs, LODE_NONE, LODE_NONE);
	add_thread(&recorded, WORKER, 10, 50);
	LODE_AT(recorded.times.threads, LodeWaitThread, 1).end_ns = CHILD_END_US * UINT64_C(1000);
	add(&recorded, 10, 50, runs, LODE_NONE, LODE_NONE);
	recorded.waits->running_ns = 60 * MS;
	find_path(&recorded);
	g_assert_true(recorded.waits->has_path);
	g_assert_cmpfloat(recorded.waits->path_running_ns, ==, 60 * MS);
	g_assert_cmpuint(recorded.waits->programs->len, ==, 2);
	const LodeWaitProgram *sed = &g_array_index(recorded.waits->programs, LodeWaitProgram, 0);
	g_assert_cmpstr(sed->name, ==, "sed");
	g_assert_cmpfloat(sed->processes, ==, 1);
	g_assert_cmpfloat(sed->running_ns, ==, 40 * MS);
	g_assert_cmpfloat(sed->path_ns, ==, 40 * MS);
	g_assert_cmpfloat(sed->alone_ns, ==, 40 * MS);
	g_assert_cmpfloat(sed->lives_ns, ==, 40.2 * MS);
	g_assert_cmpfloat(sed[1].path_ns, ==, 20 * MS);
	clear(&recorded);
}

/*
 * One process of two threads:
 *
 *   main     0 ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 60
 *   worker             20 ━━━━━━ 30
 */
static void test_programs(void)
{
	Recorded recorded = {.waits = lode_waits_new()};
	const uint8_t runs = LODE_N_WAIT_REASONS;

	lode_threads_init(&recorded.threads, 0);
	tell(&recorded.threads, LODE_PERF_FORK, PID, 0, 0);
	tell(&recorded.threads, LODE_PERF_FORK, PID + 1, PID, 5);
	recorded.times = (LodeWaitTimes){
		.threads = g_array_new(FALSE, TRUE, sizeof(LodeWaitThread)),
		.intervals = g_array_new(FALSE, TRUE, sizeof(LodeWaitInterval)),
		.n_processors = 4};
	add_thread(&recorded, MAIN, 0, 60);
	add(&recorded, 0, 60, runs, LODE_NONE, LODE_NONE);
	add_thread(&recorded, WORKER, 5, 40);
	add(&recorded, 20, 30, runs, LODE_NONE, LODE_NONE);
	/* switches were recorded for half of the time */
	recorded.waits->running_ns = 140 * MS;
	find_path(&recorded);
	g_assert_cmpuint(recorded.waits->programs->len, ==, 1);
	const LodeWaitProgram *all = &g_array_index(recorded.waits->programs, LodeWaitProgram, 0);
	g_assert_cmpfloat(all->processes, ==, 1);
	g_assert_cmpfloat(all->running_ns, ==, 140 * MS);
	g_assert_cmpfloat(all->alone_ns, ==, 100 * MS);
	g_assert_cmpfloat(all->lived_ns, ==, 60 * MS);
	clear(&recorded);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sampled-path/path", test_path);
	g_test_add_func("/sampled-path/left-out", test_left_out);
	g_test_add_func("/sampled-path/slices", test_slices);
	g_test_add_func("/sampled-path/short-slices", test_short_slices);
	g_test_add_func("/sampled-path/others", test_others);
	g_test_add_func("/sampled-path/own-threads", test_own_threads);
	g_test_add_func("/sampled-path/woken-often", test_woken_often);
	g_test_add_func("/sampled-path/run-time-threads", test_run_time_threads);
	g_test_add_func("/sampled-path/stopped", test_stopped);
	g_test_add_func("/sampled-path/unseen-child", test_unseen_child);
	g_test_add_func("/sampled-path/programs", test_programs);
	return g_test_run();
}
