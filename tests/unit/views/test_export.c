/* SPDX-License-Identifier: MIT */
/* What other tools are given: a profile without call stacks, and one of sampled stacks. */
#include "made_profile.h"
#include "model/process.h"
#include "model/waits.h"
#include "sample_profile.h"
#include "views/export/callgrind_export.h"
#include "views/export/stack_export.h"

#include <math.h>
#include <string.h>

static void set_location(LodeProfile *profile, uint32_t instruction, const char *file,
	uint32_t line, const char *inlined)
{
	lode_profile_instruction(profile, instruction)->location = lode_profile_location(
		profile, file, line, inlined);
}

typedef bool (*WriteStacks)(const LodeStackExport *export, FILE *out, GError **error);

static char *write_stacks(const LodeProfile *profile, WriteStacks write)
{
	g_auto(LodeStackExport) export = {0};
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_stack_export_init(&export, profile, LODE_NONE, &error));
	g_assert_true(write(&export, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

/* The load of hot() comes from a function of a header, inlined at its first instruction. */
static void test_inlined_without_stacks(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_auto(LodeStackExport) export = {0};
	g_autoptr(GError) error = NULL;

	set_location(profile, 0, "/nowhere/get.h", 7, "get");
	g_autofree char *folded = write_stacks(profile, lode_folded_stacks_write);
	g_assert_cmpstr(folded, ==,
		"./sample --fast;cold 30\n"
		"./sample --fast;hot 200\n"
		"./sample --fast;hot;get 500\n");

	g_assert_true(lode_stack_export_init(&export, profile, LODE_NONE, &error));
	const LodeStack *stack = &LODE_AT(export.stacks->stacks, LodeStack,
		LODE_AT(export.stacks->samples, LodeStackSample, 0).stack);
	const LodeFrame *inner = &LODE_AT(export.stacks->frames, LodeFrame, stack->frame);
	const LodeFrame *outer = &LODE_AT(export.stacks->frames, LodeFrame,
		LODE_AT(export.stacks->stacks, LodeStack, stack->outer).frame);
	g_assert_cmpstr(inner->file, ==, "/nowhere/get.h");
	g_assert_cmpuint(inner->line, ==, 7);
	g_assert_true(inner->is_inlined);
	g_assert_cmpstr(outer->function, ==, "hot");
	g_assert_cmpstr(outer->file, ==, "/nowhere/sample.c");
	g_assert_cmpuint(outer->line, ==, 0);
	g_assert_cmphex(outer->address, ==, 0x1000);
	g_assert_false(outer->is_inlined);
}

static char *write_callgrind(const LodeProfile *profile)
{
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_callgrind_write(profile, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

/* What a terminal acts upon, or that is a line or a frame of its own. */
static void test_harmless(void)
{
	static const char name[] = "a\x1b[31m;b\n\xc2\x9b"
				   "c\xe2\x80\xae"
				   "d\xff";
	g_autoptr(LodeProfile) profile = sample_profile();

	lode_profile_function(profile, 0)->name = lode_profile_intern(profile, name);
	profile->run.program = lode_profile_intern(profile, name);
	lode_profile_event(profile, 0)->description = lode_profile_intern(profile, name);
	g_autofree char *folded = write_stacks(profile, lode_folded_stacks_write);
	g_autofree char *callgrind = write_callgrind(profile);
	g_assert_nonnull(strstr(folded, "a\\x1b[31m:b\\x0a\\u{9b}c\\u{202e}d\\xff;a\\x1b[31m:"
					"b\\x0a\\u{9b}c\\u{202e}d\\xff "));
	g_assert_nonnull(strstr(callgrind, "fn=(1) a\\x1b[31m;b\\x0a\\u{9b}c\\u{202e}d\\xff\n"));
	g_assert_nonnull(strstr(callgrind, "cmd: a\\x1b[31m;b\\x0a\\u{9b}c\\u{202e}d\\xff\n"));
	const char *const texts[] = {folded, callgrind};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_assert_true(g_utf8_validate(texts[i], -1, NULL));
		g_assert_null(strchr(texts[i], '\x1b'));
		g_assert_null(strstr(texts[i], "\xc2\x9b"));
		g_assert_null(strstr(texts[i], "\xe2\x80\xae"));
	}
}

/* KCachegrind has them in a menu and in the status bar. */
static void test_callgrind_titles(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();

	lode_profile_add_event(
		profile, "cpu-clock:cause", "said at length", LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(
		profile, "misses", "all misses; of any\ncache", LODE_EVENT_RECORDED, NULL, 0);
	g_autofree char *text = write_callgrind(profile);
	g_assert_nonnull(strstr(text, "event: cpu_clock_cause : cpu-clock:cause, ns\n"));
	g_assert_nonnull(strstr(text, "event: misses : all misses\n"));
	g_assert_nonnull(strstr(text, "event: l1d_miss : first-level misses\n"));
	g_assert_nonnull(strstr(text, "event: Ir : executions\n"));
	g_assert_nonnull(strstr(text, "event: cycles : cycles\n"));
}

static uint32_t add_stack(
	LodeProfile *profile, const char *function, uint64_t address, uint32_t outer)
{
	const LodeFrame frame = {
		.function = (char *)function, .image = "/bin/sample", .address = address};

	return made_stack(profile, frame, outer);
}

/* Of the 300 executions in hot(), three quarters of the samples are of calls from main(), and a
 * quarter of those from cold(), which main() calls. */
static void test_callgrind_shares(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	uint32_t event = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	const LodeStackThread thread = {"sample", 1, 1};

	profile->code.weight_event = event;
	profile->stacks = lode_stacks_new();
	g_array_append_val(profile->stacks->threads, thread);
	uint32_t main_hot = add_stack(profile, "main", 0x3000, LODE_NONE);
	uint32_t hot = add_stack(profile, "hot", 0x1000, main_hot);
	uint32_t main_cold = add_stack(profile, "main", 0x3010, LODE_NONE);
	uint32_t cold = add_stack(profile, "cold", 0x2006, main_cold);
	uint32_t cold_hot = add_stack(profile, "hot", 0x1000, cold);
	uint32_t latency = lode_profile_add_event(
		profile, "latency", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	const LodeStackSample samples[] = {
		{.time_ns = 1, .weight = 30, .event = event, .stack = hot, .n_more = 4},
		{.time_ns = 1, .weight = 15, .event = latency, .stack = hot, .n_more = 4},
		{.time_ns = 2, .weight = 10, .event = event, .stack = cold_hot},
	};
	g_array_append_vals(profile->stacks->samples, samples, G_N_ELEMENTS(samples));

	g_autofree char *text = write_callgrind(profile);
	g_assert_nonnull(strstr(text, "\nevents: cpu_clock Ir l1d_miss latency\n"));
	/* A sample has two weights, and is counted once. */
	g_assert_nonnull(strstr(text, "calls=5 0x1000"));
	/* From main(), from main() to cold(), and from there. */
	g_assert_nonnull(strstr(text, "\n0x3000 0 30 225 30 15\n"));
	g_assert_nonnull(strstr(text, "\n0x3010 0 10 75 10 0\n"));
	g_assert_nonnull(strstr(text, "\n0x2006 0 10 75 10 0\n"));
}

/* The profiler tells it with the profile. Samples 2, 40 and 2 ms after each other, of two threads.
 */
static void test_firefox_interval(void)
{
	static const uint64_t times_ns[] = {0, 2000000, 42000000, 44000000};
	g_autoptr(LodeProfile) profile = sample_profile();
	const LodeStackThread threads[] = {{"sample", 1, 1}, {"sample", 1, 2}};

	profile->code.weight_event = lode_profile_find_event(profile, "l1d-miss");
	profile->stacks = lode_stacks_new();
	g_array_append_vals(profile->stacks->threads, threads, G_N_ELEMENTS(threads));
	uint32_t hot = add_stack(profile, "hot", 0x1000, LODE_NONE);
	for (size_t i = 0; i < 2 * G_N_ELEMENTS(times_ns); i++) {
		const LodeStackSample sample = {.time_ns = times_ns[i / 2] + i % 2 * 500000 + 1,
			.weight = 1,
			.event = profile->code.weight_event,
			.thread = i % 2,
			.stack = hot};
		g_array_append_val(profile->stacks->samples, sample);
	}
	g_autofree char *text = write_stacks(profile, lode_firefox_profile_write);
	g_assert_nonnull(strstr(text, "\"interval\":2,"));

	uint32_t clock = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	profile->code.weight_event = clock;
	for (guint i = 0; i < profile->stacks->samples->len; i++) {
		LodeStackSample *sample = &LODE_AT(profile->stacks->samples, LodeStackSample, i);
		sample->event = clock;
		sample->weight = 20000000;
	}
	g_autofree char *timed = write_stacks(profile, lode_firefox_profile_write);
	g_assert_nonnull(strstr(timed, "\"interval\":20,"));

	/* Rows of many samples. */
	for (guint i = 0; i < profile->stacks->samples->len; i++)
		LODE_AT(profile->stacks->samples, LodeStackSample, i).n_more = 3;
	g_autofree char *joined = write_stacks(profile, lode_firefox_profile_write);
	g_assert_nonnull(strstr(joined, "\"interval\":5,"));
}

/* Samples without calls are the threads' own; of an event without samples, what instructions cost.
 */
static void test_firefox_samples(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	const LodeStackThread threads[] = {{"left", 1, 1}, {"right", 1, 2}};
	uint32_t clock = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);

	profile->code.weight_event = clock;
	profile->stacks = lode_stacks_new();
	profile->stacks->has_chains = false;
	g_array_append_vals(profile->stacks->threads, threads, G_N_ELEMENTS(threads));
	uint32_t hot = add_stack(profile, "hot", 0x1000, LODE_NONE);
	for (uint32_t i = 0; i < 4; i++) {
		const LodeStackSample sample = {.time_ns = 1000000 * (i + 1),
			.weight = 1000000,
			.event = clock,
			.thread = i % 2,
			.stack = hot};
		g_array_append_val(profile->stacks->samples, sample);
	}
	g_auto(LodeStackExport) samples = {0}, costs = {0};
	g_assert_true(lode_stack_export_init_samples(&samples, profile, LODE_NONE, NULL));
	g_assert_true(samples.stacks == profile->stacks);
	g_assert_cmpuint(samples.weight, ==, clock);
	FILE *file = sample_open();
	g_assert_true(lode_firefox_profile_write(&samples, file, NULL));
	g_autofree char *text = sample_close(file);
	g_assert_nonnull(strstr(text, "\"name\":\"left\""));
	g_assert_nonnull(strstr(text, "\"name\":\"right\""));
	g_assert_true(lode_stack_export_init_samples(
		&costs, profile, lode_profile_find_event(profile, "l1d-miss"), NULL));
	g_assert_nonnull(costs.made);
}

/* Waits are markers, also of a thread without samples, with times since the first sample. */
static void test_firefox_markers(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	const LodeStackThread thread = {"left", 1, 1};
	const LodeThreadTime time = {.name = (char *)"joins", .pid = 1, .tid = 2};
	uint32_t clock = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	const LodeWaitSlice slices[] = {
		{1, 1, 3000000, 5000000, LODE_SLICE_RUNNING, LODE_NONE, 2e6, 0},
		{1, 1, 5000000, 9000000, LODE_WAIT_LOCK, 0, 4e6, 1e6},
		{1, 2, 1000000, 7000000, LODE_WAIT_JOIN, LODE_NONE, 6e6, 0},
		{1, 2, 7000000, 8000000, LODE_WAIT_UNSEEN, LODE_NONE, 1e6, 0},
		/* a file may say anything */
		{1, 2, 9000000, 8000000, LODE_WAIT_SYNC, 7777, -1, NAN},
		{1, 2, 9000000, 9500000, LODE_WAIT_SYNC, 7777, 5e5, 0}};

	profile->code.weight_event = clock;
	profile->stacks = lode_stacks_new();
	g_array_append_val(profile->stacks->threads, thread);
	g_array_append_val(profile->thread_times, time);
	const LodeStackSample sample = {.time_ns = 2000000,
		.weight = 1000000,
		.event = clock,
		.stack = add_stack(profile, "hot", 0x1000, LODE_NONE)};
	g_array_append_val(profile->stacks->samples, sample);
	profile->waits = lode_waits_new();
	const LodeWait row = {.reason = LODE_WAIT_LOCK,
		.object = (char *)"a_lock\x1b[2J",
		.stack = LODE_NONE,
		.holder_stack = LODE_NONE};
	g_array_append_val(profile->waits->rows, row);
	g_array_append_vals(profile->waits->slices, slices, G_N_ELEMENTS(slices));
	g_autofree char *text = write_stacks(profile, lode_firefox_profile_write);
	g_test_message("%s", text);
	g_assert_nonnull(strstr(text, "\"name\":\"joins\""));
	g_assert_nonnull(strstr(text, "\"markers\":{\"length\":1,\"data\":[{\"type\":\"wait\","
				      "\"object\":\"a_lock"));
	g_assert_null(strstr(text, "\\u001b"));
	g_assert_nonnull(strstr(text, "\"waited\":4,\"path\":1}]"));
	g_assert_nonnull(strstr(text, "\"startTime\":[3],\"endTime\":[7],\"phase\":[1]"));
	g_assert_nonnull(strstr(text, "\"markers\":{\"length\":2,"));
	g_assert_nonnull(strstr(text, "\"startTime\":[0,7],\"endTime\":[5,7.5]"));
	g_assert_null(strstr(text, "unseen"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/export/inlined_without_stacks", test_inlined_without_stacks);
	g_test_add_func("/views/export/harmless", test_harmless);
	g_test_add_func("/views/export/callgrind_titles", test_callgrind_titles);
	g_test_add_func("/views/export/callgrind_shares", test_callgrind_shares);
	g_test_add_func("/views/export/firefox_samples", test_firefox_samples);
	g_test_add_func("/views/export/firefox_markers", test_firefox_markers);
	g_test_add_func("/views/export/firefox_interval", test_firefox_interval);
	return g_test_run();
}
