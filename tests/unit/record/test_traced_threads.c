/* SPDX-License-Identifier: MIT */
/* What is read of traced threads: whether they ran, and what they do at SIGTRAP. */
#include "record/ptrace/traced_threads.h"

#include "record/programs/running_process.h"

static void test_delays(void)
{
	const LodeRunDelay look = {5000, 1000, 10, true};
	const LodeRunDelay same = {6000, 1000, 10, true};
	const LodeRunDelay taken_off = {6000, 1000 + 400000, 11, true};
	const LodeRunDelay waited = {6000, 1000 + 700000, 11, true};
	const LodeRunDelay unknown = {0};

	/* looked at at 1 ms, stopped at 1.4 ms */
	g_assert_cmpint(lode_run_delay_compare(&look, &same, 1000000, 1400000), ==, LODE_RAN_ON);
	g_assert_cmpint(
		lode_run_delay_compare(&look, &taken_off, 1000000, 1400000), ==, LODE_RAN_UNTIL);
	g_assert_cmpint(
		lode_run_delay_compare(&look, &waited, 1000000, 1400000), ==, LODE_RAN_BEFORE);
	g_assert_cmpint(lode_run_delay_compare(&look, &unknown, 1000000, 1400000), ==, LODE_RAN_ON);
}

static void test_trap_use(void)
{
	static const char status[] = "Name:\tx\nSigPnd:\t0000000000000000\n"
				     "SigBlk:\t0000000000000010\nSigIgn:\t0000000000000000\n"
				     "SigCgt:\t0000000000004010\n";
	LodeTrapUse use = lode_thread_status_trap(status);

	g_assert_true(use.is_known && use.is_blocked && use.is_caught);
	g_assert_false(use.is_ignored || use.is_pending);
	g_assert_cmpuint(lode_thread_status_number(status, "SigBlk", 16), ==, 0x10);
	g_assert_cmpuint(lode_thread_status_number(status, "Sig", 16), ==, 0);
	g_assert_cmpuint(lode_thread_status_number(status, "igBlk", 16), ==, 0);
	g_assert_false(lode_thread_status_trap("Name:\tx\n").is_known);
	g_assert_false(lode_thread_status_trap(NULL).is_known);
}

static void test_table(void)
{
	g_auto(LodeTracedThreads) threads;
	const LodeTracedRange range = {100, 200};

	lode_traced_threads_init(&threads);
	LodeTracedThread *first = lode_traced_threads_add(&threads, 10, 10, NULL);
	g_array_append_val(first->process->code, range);
	lode_traced_threads_add(&threads, 10, 11, NULL);
	LodeTracedThread *child = lode_traced_threads_add(&threads, 12, 12, first->process);
	g_assert_cmpint(child->process->code->len, ==, 1);
	/* a program that is executed has no other threads and no code of before */
	g_assert_true(lode_traced_threads_execute(&threads, 10) == first);
	g_assert_null(lode_traced_threads_find(&threads, 11));
	g_assert_cmpint(first->process->code->len, ==, 0);
	lode_traced_threads_remove(&threads, child);
	g_assert_null(lode_traced_threads_find_process(&threads, 12));
	g_assert_cmpint(threads.order->len, ==, 1);
}

/* Names may look like fields; of a thread of real time no processor is given, nor of a cut text. */
static void test_stat(void)
{
	static const char fields[] = " R 1 2 3 0 -1 4194304 90 0 0 0 30 10 0 0 20 0 1 0 5 100 200 "
				     "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 ";
	static const struct {
		const char *name, *policy;
		int processor;
	} cases[] = {
		{"x", "0 0 0 0", 3},
		{"a) R 9 (b", "3 0 0 0", 3},
		{"x", "1 0 0 0", -1},
		{"x", "", -1},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strconcat(
			"4711 (", cases[i].name, ")", fields, cases[i].policy, NULL);
		LodeThreadStat stat = lode_thread_stat(text);
		g_assert_cmpint(stat.processor, ==, cases[i].processor);
		g_assert_cmpfloat_with_epsilon(stat.kernel_share, 0.25, 1e-9);
	}
	g_assert_cmpint(lode_thread_stat("").processor, ==, -1);
	g_assert_cmpint(lode_thread_stat("4711 (x) R 1 2").processor, ==, -1);
	g_assert_true(lode_thread_stat("4711 (x) R 1 2").kernel_share <= 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/traced_threads/delays", test_delays);
	g_test_add_func("/record/traced_threads/trap_use", test_trap_use);
	g_test_add_func("/record/traced_threads/table", test_table);
	g_test_add_func("/record/traced_threads/stat", test_stat);
	return g_test_run();
}
