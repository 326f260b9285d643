/* SPDX-License-Identifier: MIT */
/* Threads as records tell of them, in order and not. */
#include "model/index.h"
#include "model/process.h"
#include "process/threads.h"

enum { PID = 100 };

static LodePerfRecord record_of(LodePerfRecordKind kind, uint32_t tid, const char *text)
{
	return (LodePerfRecord){
		.kind = kind,
		.pid = PID,
		.tid = tid,
		.parent_pid = PID,
		.parent_tid = PID,
		.text = text,
	};
}

static const LodeThread *thread_at(const LodeThreads *threads, uint32_t index)
{
	return &LODE_AT(threads->threads, LodeThread, index);
}

/* The kernel gives number 7 a second time; what is told comes in no order. */
static void test_reused_number(void)
{
	LodeThreads threads;
	LodePerfRecord end = record_of(LODE_PERF_EXIT, 7, NULL);
	LodePerfRecord begin = record_of(LODE_PERF_FORK, 7, NULL);
	LodePerfRecord name = record_of(LODE_PERF_COMMAND, 7, "second");

	lode_threads_init(&threads, 0);
	lode_threads_note(&threads, &begin, 50);
	lode_threads_note(&threads, &name, 60);
	lode_threads_note(&threads, &end, 40);
	lode_threads_note(&threads, &begin, 20);
	lode_threads_freeze(&threads);
	uint32_t first = lode_threads_find(&threads, PID, 7, 30);
	uint32_t second = lode_threads_find(&threads, PID, 7, 55);
	g_assert_cmpuint(first, !=, second);
	g_assert_cmpuint(thread_at(&threads, first)->end_ns, ==, 40);
	g_assert_null(thread_at(&threads, first)->name);
	g_assert_cmpstr(thread_at(&threads, second)->name, ==, "second");
	g_assert_cmpuint(thread_at(&threads, second)->end_ns, ==, UINT64_MAX);
	lode_threads_clear(&threads);
}

/* As they come: the first thread of the process has number 0, though it is seen last. */
static void test_applied(void)
{
	LodeThreads threads;
	LodePerfRecord begin = record_of(LODE_PERF_FORK, 7, NULL);
	LodePerfRecord end = record_of(LODE_PERF_EXIT, PID, NULL);

	lode_threads_init(&threads, 0);
	lode_threads_apply(&threads, &begin, 1);
	uint32_t other = lode_threads_find(&threads, PID, 8, 2);
	uint32_t first = lode_threads_find(&threads, PID, PID, 3);
	g_assert_cmpuint(thread_at(&threads, 0)->ordinal, ==, 1);
	g_assert_cmpuint(thread_at(&threads, other)->ordinal, ==, 2);
	g_assert_cmpuint(thread_at(&threads, first)->ordinal, ==, 0);
	/* The number of the process comes again. */
	lode_threads_apply(&threads, &end, 4);
	begin.tid = 9;
	lode_threads_apply(&threads, &begin, 5);
	uint32_t later = lode_threads_find(&threads, PID, 9, 6);
	g_assert_cmpuint(thread_at(&threads, later)->ordinal, ==, 1);
	lode_threads_clear(&threads);
}

static void test_too_many(void)
{
	enum { LIMIT = 1000, N = 1 << 17 };
	LodeThreads threads;

	lode_threads_init(&threads, LIMIT);
	for (uint32_t i = 1; i <= N; i++) {
		LodePerfRecord begin = record_of(LODE_PERF_FORK, PID + i, NULL);
		lode_threads_note(&threads, &begin, i);
	}
	lode_threads_freeze(&threads);
	g_assert_cmpuint(threads.threads->len, ==, LIMIT);
	g_assert_cmpuint(threads.n_merged, ==, N - LIMIT);
	g_assert_cmpuint(lode_threads_find(&threads, PID, PID + N, N), ==, LIMIT - 1);
	g_assert_cmpuint(lode_threads_find(&threads, PID, PID + 5, N), ==, 4);
	lode_threads_number(&threads);
	lode_threads_clear(&threads);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/threads/reused-number", test_reused_number);
	g_test_add_func("/threads/applied", test_applied);
	g_test_add_func("/threads/too-many", test_too_many);
	return g_test_run();
}
