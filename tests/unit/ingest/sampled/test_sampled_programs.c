/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_programs.h"

#include <glib.h>

enum { EXECUTE = 4 };

static void note_exec(LodeSampledPrograms *programs, uint32_t pid, uint64_t time, const char *name)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_COMMAND, .pid = pid, .tid = pid, .is_exec = true, .text = name};

	lode_sampled_programs_note(programs, &record, time);
}

static void note_fork(LodeSampledPrograms *programs, uint32_t pid, uint64_t time, uint32_t parent)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_FORK, .pid = pid, .tid = pid, .parent_pid = parent};

	lode_sampled_programs_note(programs, &record, time);
}

static void note_code(LodeSampledPrograms *programs, uint32_t pid, uint64_t time, const char *path)
{
	const LodePerfRecord record = {.kind = LODE_PERF_MAPPING,
		.pid = pid,
		.tid = pid,
		.mapping = {.path = path, .protection = EXECUTE}};

	lode_sampled_programs_note(programs, &record, time);
}

/* In the order of the CPUs' buffers, which is not that of time. */
static void note_all(LodeSampledPrograms *programs)
{
	note_exec(programs, 2, 30, "a_program_of_a_");
	note_code(programs, 2, 31, "/bin/a_program_of_a_long_name");
	note_code(programs, 2, 32, "/lib/libsh.so");
	note_exec(programs, 1, 10, "sh");
	note_code(programs, 1, 11, "/usr/bin/dash");
	note_fork(programs, 2, 20, 1);
	note_fork(programs, 3, 40, 2);
	note_exec(programs, 1, 50, "script");
	note_code(programs, 1, 51, "/usr/bin/perl");
	lode_sampled_programs_freeze(programs);
}

static void assert_wanted(const char *glob, bool is_alone, const char *expected)
{
	static const struct {
		uint32_t pid;
		uint64_t time;
	} asked[] = {
		{1, 5}, {1, 10}, {1, 49}, {1, 55}, {2, 25}, {2, 30}, {2, 99}, {3, 45}, {4, 45}};
	const char *only[] = {"no_such_one", glob, NULL};
	g_autoptr(LodeSampledPrograms)
		programs = lode_sampled_programs_new(glob != NULL ? only : NULL, is_alone);
	char found[G_N_ELEMENTS(asked) + 1] = "";

	note_all(programs);
	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++)
		found[i] = lode_sampled_programs_are_wanted(programs, asked[i].pid, asked[i].time)
		                   ? '1'
		                   : '0';
	g_assert_cmpstr(found, ==, expected);
}

static void test_names(void)
{
	assert_wanted("sh", false, "011010000");
	assert_wanted("dash", false, "011010000");
	assert_wanted("script", false, "000100000");
	assert_wanted("perl", false, "000100000");
	assert_wanted("a_program_of_a_long_name", false, "000001110");
	assert_wanted("a_*", false, "000001110");
	assert_wanted("*/a_program*", false, "000001110");
	assert_wanted("/usr/bin/*", false, "011110000");
	assert_wanted("libsh.so", false, "000000000");
	assert_wanted(NULL, false, "011111110");
}

static void test_alone(void)
{
	assert_wanted(NULL, true, "011000000");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sampled_programs/names", test_names);
	g_test_add_func("/sampled_programs/alone", test_alone);
	return g_test_run();
}
