/* SPDX-License-Identifier: MIT */
/* The critical path of threads whose intervals are written by hand. */
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

static void test_path(void)
{
	Recorded recorded;

	record(&recorded);
	lode_sampled_path_find(recorded.waits, &recorded.times, &recorded.threads, NULL);
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
	lode_sampled_path_find(recorded.waits, &recorded.times, &recorded.threads, NULL);
	g_assert_false(recorded.waits->has_path);
	g_assert_cmpuint(row_of(&recorded, JOIN_ROW)->cause, ==, LODE_NONE);
	clear(&recorded);
	/* There are two recordings. */
	record(&recorded);
	g_array_index(recorded.times.threads, LodeWaitThread, POOLED).recording = 1;
	lode_sampled_path_find(recorded.waits, &recorded.times, &recorded.threads, NULL);
	g_assert_false(recorded.waits->has_path);
	clear(&recorded);
	/* It waited for work until it was stopped. */
	record(&recorded);
	g_array_index(recorded.times.intervals, LodeWaitInterval, 1).other = LODE_NONE;
	g_array_index(recorded.times.intervals, LodeWaitInterval, 1).is_timed_out = true;
	g_array_index(recorded.waits->rows, LodeWait, JOIN_ROW).is_idle = true;
	lode_sampled_path_find(recorded.waits, &recorded.times, &recorded.threads, NULL);
	g_assert_false(recorded.waits->has_path);
	g_assert_cmpfloat(row_of(&recorded, JOIN_ROW)->path_ns, ==, 0);
	clear(&recorded);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sampled-path/path", test_path);
	g_test_add_func("/sampled-path/left-out", test_left_out);
	return g_test_run();
}
