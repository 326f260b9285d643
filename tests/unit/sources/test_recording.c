/* SPDX-License-Identifier: MIT */
/* The programs of a recording that was made of several. */
#include "sources/recording.h"

#include <string.h>

static void add(LodeRecording *recording, const char *command)
{
	lode_recording_add_command(recording, command, strlen(command));
}

static void check(const LodeRecording *recording, const char *expected)
{
	g_autofree char *program = lode_recording_program(recording);

	g_assert_cmpstr(program, ==, expected);
}

static void test_programs(void)
{
	g_autoptr(LodeRecording) recording = lode_recording_new();

	check(recording, NULL);
	add(recording, "");
	check(recording, NULL);
	add(recording, "./a 1");
	add(recording, "./a 1");
	check(recording, "./a 1");
	add(recording, "./b");
	add(recording, "./a 1");
	lode_recording_add_command(recording, "./c and more", strlen("./c"));
	check(recording, "./a 1, ./b, ./c");
}

static void test_many(void)
{
	g_autoptr(LodeRecording) recording = lode_recording_new();

	for (unsigned i = 0; i < 1000; i++) {
		g_autofree char *command = g_strdup_printf("%u", i);
		add(recording, command);
	}
	g_autofree char *program = lode_recording_program(recording);
	g_assert_true(g_str_has_prefix(program, "0, 1, 2, 3, "));
	g_assert_true(g_str_has_suffix(program, ", 31 and 968 more"));
}

/* What was counted knows its program better than who sampled it. */
static void test_joined(void)
{
	g_autoptr(LodeRecording) counts = lode_recording_new();
	g_autoptr(LodeRecording) samples = lode_recording_new();
	const double nothing = 0;
	static char count_column[] = "Ir", creator[] = "x";

	g_ptr_array_add(samples->events, count_column);
	g_array_append_val(samples->totals, nothing);
	samples->instructions = g_array_new(FALSE, FALSE, sizeof(LodeRecordedInstruction));
	counts->instructions = g_array_new(FALSE, FALSE, sizeof(LodeRecordedInstruction));
	samples->programs.creator = creator;
	samples->programs.user_seconds = 2;
	samples->programs.system_seconds = 1;
	add(samples, "perf record ./a");
	add(counts, "./a");
	lode_recording_add_samples(counts, samples);
	check(counts, "./a");
	g_assert_cmpfloat(counts->programs.user_seconds, ==, 2);
	g_assert_cmpfloat(counts->programs.system_seconds, ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sources/recording/programs", test_programs);
	g_test_add_func("/sources/recording/many", test_many);
	g_test_add_func("/sources/recording/joined", test_joined);
	return g_test_run();
}
