/* SPDX-License-Identifier: MIT */
/* Programs and the timeline of random samples, against sums made one by one. */
#include "views/figures/profile_figures.h"
#include "views/parts/program_list.h"
#include "views/profile/program_lines.h"
#include "views/profile/wait_lines.h"

#include "made_profile.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"
#include "seeds.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

enum { N_SAMPLES = 500, N_THREADS = 90, BINS = 7 };

#define FIRST_NS UINT64_C(5000000000)
#define LAST_NS UINT64_C(6000000000)

static const char *const commands[] = {"make", "cc1", "ld"};

/* 30 processes of 3 threads each; the last has no samples. */
static LodeProfile *random_profile(void)
{
	LodeProfile *profile = lode_profile_new();
	LodeStacks *stacks = profile->stacks = lode_stacks_new();

	lode_profile_add_event(profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "faults", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	profile->code.weight_event = 0;
	for (uint32_t i = 0; i < N_THREADS; i++) {
		const LodeStackThread thread = {
			.name = i % 3 == 0 ? (char *)commands[i / 3 % 3] : (char *)"worker",
			.pid = i / 3 * 100,
			.tid = i / 3 * 100 + i % 3};
		g_array_append_val(stacks->threads, thread);
	}
	for (guint i = 0; i < N_SAMPLES; i++) {
		const LodeStackSample sample = {
			.time_ns = random_int_range(0, 30) == 0
		                           ? 0
		                           : FIRST_NS + (uint64_t)random_int_range(0, 1000000001),
			.weight = random_int_range(1, 1000),
			.event = random_int_range(0, 5) == 0,
			.thread = (uint32_t)random_int_range(0, N_THREADS - 1),
			.stack = LODE_NONE,
			.n_more = (uint32_t)random_int_range(0, 2)};
		g_array_append_val(stacks->samples, sample);
	}
	LODE_AT(stacks->samples, LodeStackSample, 0).time_ns = FIRST_NS;
	LODE_AT(stacks->samples, LodeStackSample, 1).time_ns = LAST_NS;
	return profile;
}

typedef bool (*Write)(const LodeProfile *profile, FILE *out);

static char *text_of(const LodeProfile *profile, Write write)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	g_assert_true(write(profile, out));
	fclose(out);
	return text;
}

static bool write_timeline(const LodeProfile *profile, FILE *out)
{
	return lode_timeline_write(profile, BINS, out, NULL);
}

static LodeProgramListOptions options; /* of the next list */

static bool write_list(const LodeProfile *profile, FILE *out)
{
	return lode_program_list_write(profile, &options, out, NULL);
}

static void assert_near(double found, double expected)
{
	g_assert_cmpfloat(fabs(found - expected), <=, 1e-9);
}

static double number(JsonObject *object, const char *name)
{
	return json_object_get_double_member(object, name);
}

static const LodeStackThread *thread_of(const LodeProfile *profile, const LodeStackSample *sample)
{
	return &LODE_AT(profile->stacks->threads, LodeStackThread, sample->thread);
}

static double total_weight(const LodeProfile *profile)
{
	double sum = 0;

	for (guint i = 0; i < N_SAMPLES; i++) {
		const LodeStackSample *sample = &LODE_AT(
			profile->stacks->samples, LodeStackSample, i);
		sum += sample->event == 0 ? sample->weight : 0;
	}
	return sum;
}

/* The weights are nanoseconds: their sum is that of the busy time. */
static void check_busy(const LodeProfile *profile, JsonArray *busy)
{
	double expected = 0, found = 0;

	for (guint i = 0; i < N_SAMPLES; i++) {
		const LodeStackSample *sample = &LODE_AT(
			profile->stacks->samples, LodeStackSample, i);
		expected += sample->event == 0 && sample->time_ns != 0 ? sample->weight : 0;
	}
	g_assert_cmpuint(json_array_get_length(busy), ==, BINS);
	for (guint i = 0; i < BINS; i++)
		found += json_array_get_double_element(busy, i) * (LAST_NS - FIRST_NS) / BINS;
	g_assert_cmpfloat(fabs(found - expected), <=, 1e-6 * expected);
}

static void check_thread(const LodeProfile *profile, JsonObject *row)
{
	double sums[BINS] = {0}, weight = 0, samples = 0, all = total_weight(profile);
	uint64_t first_ns = UINT64_MAX;
	JsonArray *values = json_object_get_array_member(row, "values");

	for (guint i = 0; i < N_SAMPLES; i++) {
		const LodeStackSample *sample = &LODE_AT(
			profile->stacks->samples, LodeStackSample, i);
		if (sample->event != 0 || thread_of(profile, sample)->tid != number(row, "tid"))
			continue;
		weight += sample->weight;
		samples += 1.0 + sample->n_more;
		if (sample->time_ns == 0)
			continue;
		first_ns = MIN(first_ns, sample->time_ns - FIRST_NS);
		unsigned bin = 0;
		while (bin + 1 < BINS &&
			(double)(sample->time_ns - FIRST_NS) >= 1e9 * (double)(bin + 1) / BINS)
			bin++;
		sums[bin] += sample->weight;
	}
	assert_near(number(row, "weight"), weight / all);
	assert_near(number(row, "samples"), samples);
	assert_near(number(row, "from"), first_ns == UINT64_MAX ? 0 : (double)first_ns / 1e9);
	g_assert_cmpuint(json_array_get_length(values), ==, BINS);
	for (guint i = 0; i < BINS; i++)
		assert_near(json_array_get_double_element(values, i), sums[i] / all);
}

static void test_timeline(void)
{
	for (unsigned round = 0; round < random_rounds(10, 100); round++) {
		g_autoptr(LodeProfile) profile = random_profile();
		g_autofree char *text = text_of(profile, write_timeline);
		g_autoptr(JsonParser) parser = json_parser_new();
		bool has_samples[N_THREADS] = {false};
		guint n = 0;
		g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
		JsonObject *root = json_node_get_object(json_parser_get_root(parser));
		JsonArray *threads = json_object_get_array_member(root, "threads");
		assert_near(number(root, "seconds"), 1);
		assert_near(number(root, "bins"), BINS);
		g_assert_cmpstr(json_object_get_string_member(root, "event"), ==, "cpu-clock");
		check_busy(profile, json_object_get_array_member(root, "busy"));
		for (guint i = 0; i < N_SAMPLES; i++) {
			const LodeStackSample *sample = &LODE_AT(
				profile->stacks->samples, LodeStackSample, i);
			n += sample->event == 0 && !has_samples[sample->thread];
			has_samples[sample->thread] |= sample->event == 0;
		}
		g_assert_cmpuint(json_array_get_length(threads), ==, LODE_TIMELINE_MAX_THREADS);
		assert_near(number(root, "threads_left_out"), n - LODE_TIMELINE_MAX_THREADS);
		for (guint i = 0; i < LODE_TIMELINE_MAX_THREADS; i++) {
			JsonObject *row = json_array_get_object_element(threads, i);
			check_thread(profile, row);
			g_assert_true(i == 0 ||
				      number(row, "weight") <=
					      number(json_array_get_object_element(threads, i - 1),
						      "weight"));
		}
	}
}

/* What threads did, in µs from the first sample on, with the groups of their waits; also of one
 * without samples. */
static void test_slices(void)
{
	static const double expected[2][6] = {{0, 400000, LODE_WAIT_LOCK, 1, 400000, 0},
		{400000, 600000, LODE_SLICE_RUNNING, -1, 100000, 50000}};
	g_autoptr(LodeProfile) profile = random_profile();
	const LodeThreadTime time = {
		.name = lode_profile_intern(profile, "sleeper"), .pid = 1, .tid = 1};
	const LodeWait wait = {.stack = LODE_NONE, .holder_stack = LODE_NONE, .cause = LODE_NONE};
	LodeWait idle = wait, lock = wait;

	idle.is_idle = true;
	idle.reason = LODE_WAIT_SOCKET;
	idle.waiting_ns = 9;
	lock.reason = LODE_WAIT_LOCK;
	lock.waiting_ns = 5;
	made_wait(profile, idle, 0, 0);
	made_wait(profile, lock, 0, 0);
	g_array_append_val(profile->thread_times, time);
	const LodeWaitSlice slices[] = {
		{1, 1, FIRST_NS - 1000, FIRST_NS + 400000000, LODE_WAIT_LOCK, 1, 400001000, 0},
		{1, 1, FIRST_NS + 400000000, LAST_NS + 500, LODE_SLICE_RUNNING, LODE_NONE, 1e8,
			5e7},
		{1, 1, LAST_NS + 500, LAST_NS + 1000, LODE_WAIT_SOCKET, 0, 500, 0}};
	g_array_append_vals(profile->waits->slices, slices, G_N_ELEMENTS(slices));
	profile->waits->has_path = true;
	const LodeWaitProcess processes[] = {
		{.pid = 1, .command = (char *)"sh -c 'nap 1'", .begin_ns = FIRST_NS},
		{.pid = 1, .command = (char *)"later", .begin_ns = LAST_NS}};
	g_array_append_vals(profile->waits->processes, processes, 2);
	g_autofree char *text = text_of(profile, write_timeline);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
	JsonObject *root = json_node_get_object(json_parser_get_root(parser));
	JsonArray *threads = json_object_get_array_member(root, "threads");
	g_assert_true(json_object_get_boolean_member(root, "has_path"));
	g_assert_cmpstr(json_array_get_string_element(
				json_object_get_array_member(root, "kinds"), LODE_SLICE_RUNNING),
		==, "running");
	JsonArray *are_idle = json_object_get_array_member(root, "idle");
	g_assert_true(json_array_get_boolean_element(are_idle, 0));
	g_assert_false(json_array_get_boolean_element(are_idle, 1));
	g_assert_cmpuint(json_array_get_length(threads), ==, LODE_TIMELINE_MAX_THREADS + 1);
	JsonObject *sleeper = json_array_get_object_element(threads, LODE_TIMELINE_MAX_THREADS);
	g_assert_cmpstr(json_object_get_string_member(sleeper, "name"), ==, "sleeper");
	g_assert_cmpstr(json_object_get_string_member(sleeper, "command"), ==, "sh -c 'nap 1'");
	assert_near(number(sleeper, "from"), 0);
	g_assert_cmpuint(
		json_array_get_length(json_object_get_array_member(sleeper, "values")), ==, 0);
	JsonArray *found = json_object_get_array_member(sleeper, "slices");
	g_assert_cmpuint(json_array_get_length(found), ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
		for (guint k = 0; k < G_N_ELEMENTS(expected[i]); k++)
			assert_near(json_array_get_double_element(
					    json_array_get_array_element(found, i), k),
				expected[i][k]);
}

/* By command, with the times of the samples that have one. */
static void check_program(const LodeProfile *profile, JsonObject *row)
{
	const char *name = json_object_get_string_member(row, "name");
	double weight = 0, samples = 0, from = HUGE_VAL, to = 0;
	bool has_pid[N_THREADS] = {false};
	guint n = 0;

	for (guint i = 0; i < N_SAMPLES; i++) {
		const LodeStackSample *sample = &LODE_AT(
			profile->stacks->samples, LodeStackSample, i);
		uint32_t process = thread_of(profile, sample)->pid / 100;
		double time = ((double)sample->time_ns - (double)FIRST_NS) / 1e9;
		if (strcmp(commands[process % 3], name) != 0)
			continue;
		if (sample->event != 0)
			continue;
		n += !has_pid[process];
		has_pid[process] = true;
		weight += sample->weight;
		samples += 1.0 + sample->n_more;
		from = sample->time_ns != 0 ? fmin(from, time) : from;
		to = sample->time_ns != 0 ? fmax(to, time) : to;
	}
	assert_near(number(row, "weight"), weight);
	assert_near(number(row, "share"), weight / total_weight(profile));
	assert_near(number(row, "samples"), samples);
	assert_near(number(row, "processes"), n);
	assert_near(number(row, "from"), from);
	assert_near(number(row, "to"), to);
}

static void test_programs(void)
{
	for (unsigned round = 0; round < random_rounds(10, 100); round++) {
		g_autoptr(LodeProfile) profile = random_profile();
		options = (LodeProgramListOptions){.format = LODE_VIEW_JSON};
		g_autofree char *text = text_of(profile, write_list);
		g_autoptr(JsonParser) parser = json_parser_new();
		g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
		JsonObject *root = json_node_get_object(json_parser_get_root(parser));
		JsonArray *programs = json_object_get_array_member(root, "programs");
		g_assert_cmpuint(json_array_get_length(programs), ==, G_N_ELEMENTS(commands));
		for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
			check_program(profile, json_array_get_object_element(programs, i));
	}
}

/* Two threads of known weights, and one with a sample of a different event. */
static LodeProfile *small_profile(void)
{
	LodeProfile *profile = lode_profile_new();
	LodeStacks *stacks = profile->stacks = lode_stacks_new();
	const LodeStackThread threads[] = {
		{(char *)"a\x1b[1m", 7, 7}, {(char *)"b", 8, 8}, {(char *)"c", 7, 9}};
	const LodeStackSample samples[] = {
		{.time_ns = 1000000000, .weight = 3, .thread = 0, .stack = LODE_NONE},
		{.time_ns = 3500000000, .weight = 1, .thread = 1, .stack = LODE_NONE, .n_more = 4},
		{.time_ns = 2000000000, .weight = 1, .event = 1, .thread = 2, .stack = LODE_NONE},
	};

	lode_profile_add_event(profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_event(profile, 0)->total = 4;
	profile->code.weight_event = 0;
	lode_profile_add_event(profile, "page-faults", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	g_array_append_vals(stacks->threads, threads, G_N_ELEMENTS(threads));
	g_array_append_vals(stacks->samples, samples, G_N_ELEMENTS(samples));
	return profile;
}

static void test_text(void)
{
	g_autoptr(LodeProfile) profile = small_profile();

	options = (LodeProgramListOptions){.by = LODE_PROGRAMS_BY_THREAD};
	g_autofree char *all = text_of(profile, write_list);
	g_assert_nonnull(strstr(all, "75.0 %        1    7    7  0.00–0.00 s  a"));
	g_assert_nonnull(strstr(all, "25.0 %        5    8    8  2.50–2.50 s  b"));
	g_assert_null(strchr(all, '\x1b'));
	options.limit = 1;
	g_autofree char *one = text_of(profile, write_list);
	g_assert_nonnull(strstr(one, "1 more have 25.0 %."));
	options = (LodeProgramListOptions){
		.by = LODE_PROGRAMS_BY_PID, .limit = 1, .format = LODE_VIEW_CSV};
	g_autofree char *csv = text_of(profile, write_list);
	g_assert_true(g_str_has_prefix(csv, "name,pid,threads,samples,weight,share,from,to"));
	g_assert_nonnull(strstr(csv, ",7,1,1,3,0.75,0,0"));
	LODE_AT(profile->stacks->threads, LodeStackThread, 0).name = (char *)"a";
	g_autofree char *head = lode_profile_programs(profile);
	g_assert_cmpstr(head, ==, "a 75.0 %, b 25.0 %");
	LODE_AT(profile->stacks->samples, LodeStackSample, 1).weight = 0.001;
	g_assert_null(lode_profile_programs(profile));
	const LodeWaitProgram programs[] = {{(char *)"cc1", 41, 10.9e9, 1.1e10, 9e9, 6e9, 1e9},
		{(char *)"ld", 1, 2.1e9, 2.1e9, 2.1e9, 2.1e9, 2.1e9},
		{NULL, 2, 1e3, 1e3, 1e3, 0, 0}};
	profile->waits = lode_waits_new();
	profile->waits->clock_ns = 1e10;
	profile->waits->has_path = true;
	profile->run.n_processors = 2;
	g_array_append_vals(profile->waits->programs, programs, G_N_ELEMENTS(programs));
	options = (LodeProgramListOptions){.format = LODE_VIEW_CSV};
	g_autofree char *listed = text_of(profile, write_list);
	g_assert_nonnull(strstr(listed,
		"name,processes,started,running_seconds,path_seconds,alone_seconds,samples"));
	g_assert_nonnull(strstr(listed, "\ncc1,0,41,10.9,6,1,0,"));
	g_autofree char *times = lode_profile_programs(profile);
	g_assert_cmpstr(times, ==,
		"cc1 ×41 10.9 s on processors, ld 2.10 s, 1 more; 1.3 of 2 processors busy on "
		"average; ld ran alone for 2.10 s");
	/* Of short processes a part was measured; where all were, there is nothing to say. */
	for (guint i = 0; i < 41; i++) {
		const LodeWaitProcess compiler = {
			.pid = 100 + i, .name = (char *)"cc1", .running_ns = 0.1e9};
		g_array_append_val(profile->waits->processes, compiler);
	}
	const LodeWaitProcess linker = {.pid = 200, .name = (char *)"ld", .running_ns = 2.05e9};
	g_array_append_val(profile->waits->processes, linker);
	g_autofree char *estimated = lode_profile_programs(profile);
	g_assert_true(g_str_has_prefix(
		estimated, "cc1 ×41 about 10.9 s on processors, ld 2.10 s, 1 more;"));
	g_array_set_size(profile->waits->processes, 0);
	/* Processes have their commands, in the order in which they were started. */
	LodeWaitProcess processes[] = {{.pid = 99,
					       .parent = UINT32_MAX,
					       .name = (char *)"short",
					       .command = (char *)"short 'a b'",
					       .begin_ns = 3},
		{.pid = 7, .parent = UINT32_MAX, .name = (char *)"a", .begin_ns = 5}};
	g_array_append_vals(profile->waits->processes, processes, G_N_ELEMENTS(processes));
	options.by = LODE_PROGRAMS_BY_PID;
	g_autofree char *by_pid = text_of(profile, write_list);
	g_assert_true(g_str_has_prefix(
		by_pid, "name,pid,threads,samples,weight,share,from,to,command\r\nshort,99,"));
	g_assert_nonnull(strstr(by_pid, ",short 'a b'\r\na,7,"));
	g_autofree char *waits = lode_waits_head(profile, &(LodeTerminal){0});
	g_assert_cmpstr(waits, ==, "10.0 s by the clock: 60 % running cc1, 21 % ld");
}

/* Without samples, without times, with times of any size. */
static void test_odd(void)
{
	g_autoptr(LodeProfile) none = lode_profile_new();
	g_autoptr(LodeProfile) profile = small_profile();

	g_autofree char *empty = text_of(none, write_timeline);
	g_assert_nonnull(strstr(empty, "\"seconds\":0,"));
	g_assert_nonnull(strstr(empty, "\"threads\":[]"));
	g_assert_nonnull(strstr(empty, "\"busy\":null"));
	LODE_AT(profile->stacks->samples, LodeStackSample, 0).time_ns = UINT64_MAX;
	LODE_AT(profile->stacks->samples, LodeStackSample, 1).time_ns = 1;
	g_autofree char *wide = text_of(profile, write_timeline);
	g_assert_nonnull(strstr(wide, "[0,0,0,0,0,0,0.75]"));
	g_assert_nonnull(strstr(wide, "[0.25,0,0,0,0,0,0]"));
	for (guint i = 0; i < profile->stacks->samples->len; i++)
		LODE_AT(profile->stacks->samples, LodeStackSample, i).time_ns = 0;
	g_autofree char *timeless = text_of(profile, write_timeline);
	g_assert_nonnull(strstr(timeless, "\"seconds\":0,"));
	g_assert_nonnull(strstr(timeless, "[0,0,0,0,0,0,0]"));
	g_assert_nonnull(strstr(timeless, "\"busy\":null"));
	options = (LodeProgramListOptions){.format = LODE_VIEW_TEXT};
	g_autofree char *text = text_of(profile, write_list);
	g_assert_null(strstr(text, "from"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/program_list/timeline", test_timeline);
	g_test_add_func("/program_list/slices", test_slices);
	g_test_add_func("/program_list/programs", test_programs);
	g_test_add_func("/program_list/text", test_text);
	g_test_add_func("/program_list/odd", test_odd);
	return g_test_run();
}
