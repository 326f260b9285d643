/* SPDX-License-Identifier: MIT */
/* The line on threads, of profiles made up. */
#include "model/process.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "views/profile/thread_times.h"

static void add(LodeProfile *profile, const char *name, uint32_t tid, const double seconds[3])
{
	const LodeThreadTime time = {
		.name = lode_profile_intern(profile, name),
		.pid = 7,
		.tid = tid,
		.begin_ns = (uint64_t)(seconds[0] * 1e9),
		.end_ns = (uint64_t)(seconds[1] * 1e9),
		.running_ns = seconds[2] * 1e9,
	};

	g_array_append_val(profile->thread_times, time);
}

static void check(const LodeProfile *profile, unsigned width, const char *expected)
{
	const LodeTerminal terminal = {.width = width};
	g_autofree char *text = lode_threads_text(profile, false, &terminal);

	g_assert_cmpstr(text, ==, expected);
}

static void test_line(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	check(profile, 0, NULL);
	add(profile, "main", 1, (const double[]){1, 11, 9});
	check(profile, 0, NULL);
	add(profile, "worker", 2, (const double[]){2, 6, 1});
	/* a time in which no thread is there does not count: 10 s of 12 */
	add(profile, "worker", 3, (const double[]){12, 14, 2});
	add(profile, NULL, 4, (const double[]){3, 3.5, 0.25});
	g_assert_cmpfloat(lode_threads_running(profile), ==, 12.25 / 12);
	check(profile, 0,
		"1.0 threads ran at a time on average; waited longest: worker (2) 3.00 s of 4.00 "
		"s, main "
		"1.00 s of 10.0 s, thread (4) 0.25 s of 0.50 s");
	check(profile, 80,
		"1.0 threads ran at a time on average; waited longest: worker (2) 3.00 s of 4.00 "
		"s");
	check(profile, 10,
		"1.0 threads ran at a time on average; waited longest: worker (2) 3.00 s of 4.00 "
		"s");
	/* one that never ran is not worth a word; some of the waits are for a processor */
	add(profile, "idle", 5, (const double[]){1, 14, 0});
	LODE_AT(profile->thread_times, LodeThreadTime, 1).preempted_ns = 2e9;
	check(profile, 80,
		"0.94 threads ran at a time on average, 0.15 more waited for a processor; waited "
		"longest: worker "
		"(2) 3.00 s of 4.00 s");
	g_autofree uint32_t *order = lode_threads_by_waiting(profile);
	g_assert_true(order[0] == 1 && order[3] == 2 && order[4] == 4);
}

/* Threads that could run and use less than a processor: others have it. */
static void test_other_programs(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	add(profile, "main", 1, (const double[]){0, 10, 4});
	LODE_AT(profile->thread_times, LodeThreadTime, 0).preempted_ns = 0.05e9;
	check(profile, 80, NULL);
	LODE_AT(profile->thread_times, LodeThreadTime, 0).preempted_ns = 5e9;
	check(profile, 80, "For 5 s it was ready to run, but other programs had the processors");
	add(profile, "worker", 2, (const double[]){0, 10, 1});
	check(profile, 80,
		"0.50 threads ran at a time on average, 0.50 more were ready, but other programs "
		"had the processors; "
		"waited longest: worker 9.00 s of 10.0 s");
}

/* Where switches were recorded for a part of the time, the kernel's accounts say how many ran. */
static void test_gaps(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	add(profile, "main", 1, (const double[]){0, 10, 4});
	add(profile, "worker", 2, (const double[]){0, 10, 1});
	profile->run.user_seconds = 9;
	profile->run.system_seconds = 6;
	profile->run.wall_seconds = 10;
	g_assert_cmpfloat(lode_threads_running(profile), ==, 0.5);
	lode_profile_add_unresolved(profile, LODE_UNRESOLVED_SWITCHES, NULL, 0, 0);
	g_assert_cmpfloat(lode_threads_running(profile), ==, 1.5);
	check(profile, 80,
		"1.5 threads ran at a time on average; waited longest: worker 9.00 s of 10.0 s");
}

/* More running than there is time, and none at all. */
static void test_extremes(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	add(profile, "a\nb", 1, (const double[]){5, 5, 0});
	add(profile, "c", 2, (const double[]){5, 5, 0});
	check(profile, 0, NULL);
	add(profile, "d", 3, (const double[]){5, 6, 1e200});
	const LodeThreadTime *last = &LODE_AT(profile->thread_times, LodeThreadTime, 2);
	g_assert_cmpfloat(lode_thread_waiting_ns(last), ==, 0);
	g_autofree uint32_t *order = lode_threads_by_waiting(profile);
	g_assert_true(order[0] == 2 && order[1] == 0 && order[2] == 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/thread-times/line", test_line);
	g_test_add_func("/views/thread-times/other-programs", test_other_programs);
	g_test_add_func("/views/thread-times/gaps", test_gaps);
	g_test_add_func("/views/thread-times/extremes", test_extremes);
	return g_test_run();
}
