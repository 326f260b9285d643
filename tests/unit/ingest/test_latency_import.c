/* SPDX-License-Identifier: MIT */
/* Recordings of threads whose serial and parallel parts are known: their shares by the clock. */
#include "ingest/import.h"
#include "model/process.h"
#include "model/run/unresolved.h"
#include "profile_sums.h"
#include "questions/asking.h"
#include "sample_file.h"
#include "sampled_program.h"
#include "store/profile_store.h"
#include "views/code/function_list.h"
#include "views/profile/thread_times.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* The serial part is in wander(), the parallel one in drive(). */
enum { PID = 7, N_WORKERS = 14, SERIAL_MS = 60, PARALLEL_MS = 40, WAIT_MS = 25 };

typedef struct {
	SampledProgram program;
	SampleFile samples;
	char *directory, *path;
	bool is_wide;
} Made;

static void made_init(Made *self, bool has_switches)
{
	*self = (Made){0};
	sampled_program_open(&self->program, PROGRAM_BRANCHES);
	sample_file_init(&self->samples);
	self->samples.has_branches = false;
	self->samples.has_switches = has_switches;
	sample_file_add_event(&self->samples, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
	sample_file_add_event(&self->samples, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, "perf.data", NULL);
	sample_file_exec(&self->samples, PID, 1);
	sample_file_map(&self->samples, PID, 1, &self->program.mapping);
}

static void made_clear(Made *self)
{
	g_unlink(self->path);
	g_rmdir(self->directory);
	g_free(self->path);
	g_free(self->directory);
	sample_file_clear(&self->samples);
	sampled_program_close(&self->program);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static LodeProfile *import(Made *self, const char *other)
{
	const char *const paths[] = {self->path, other};
	const LodeImportOptions options = {
		.paths = paths, .n_paths = other != NULL ? 2 : 1, .threads = 2};
	g_autoptr(GError) error = NULL;

	sample_file_write(&self->samples, self->path);
	LodeProfile *profile = lode_import(&options, NULL, &error);
	g_assert_no_error(error);
	return profile;
}

/* A thread runs in [begin, end): a sample each millisecond. */
static void run(Made *self, uint32_t tid, uint64_t begin_ns, uint64_t end_ns, const char *function)
{
	uint64_t address = sampled_program_second(&self->program, function);
	const SampleSwitch in = {PID, tid, begin_ns, .is_wide = self->is_wide};
	const SampleSwitch out = {
		PID, tid, end_ns, .is_out = true, .is_preempted = true, .is_wide = self->is_wide};

	/* as rings are written, out of the order of time */
	sample_file_switch(&self->samples, &out);
	for (uint64_t at = begin_ns + MS / 2; at < end_ns; at += MS) {
		const Sample sample = {
			.mode = PERF_RECORD_MISC_USER,
			.pid = PID,
			.tid = tid,
			.time_ns = at,
			.ip = address + self->program.bias,
			.period = MS,
		};
		sample_file_add(&self->samples, &sample);
	}
	sample_file_switch(&self->samples, &in);
}

static void make_parts(Made *self)
{
	uint64_t begin_ns = 100 * MS, parallel_ns = begin_ns + SERIAL_MS * MS;

	for (uint32_t i = 0; i < N_WORKERS; i++) {
		sample_file_clone(&self->samples, PID, PID + 1 + i, parallel_ns - WAIT_MS * MS + i);
		run(self, PID + 1 + i, parallel_ns, parallel_ns + PARALLEL_MS * MS, "drive");
		sample_file_exit(&self->samples, PID, PID + 1 + i, parallel_ns + PARALLEL_MS * MS);
	}
	run(self, PID, begin_ns, parallel_ns, "wander");
}

static double share_of(const LodeProfile *profile, const char *event, const char *name)
{
	uint32_t number = lode_profile_find_event(profile, event);
	const LodeFunction *function = find_profile_function(profile, name);
	double value = 0;

	g_assert_cmpuint(number, !=, LODE_NONE);
	for (uint32_t i = 0; i < function->n_instructions; i++)
		value += lode_profile_event_value(profile, number, function->first_instruction + i);
	return value / lode_profile_event(profile, number)->total;
}

static void assert_near(double value, double expected)
{
	if (fabs(value - expected) > 1e-9 * fmax(expected, 1))
		g_error("%g, not %g", value, expected);
}

/* A tenth of the processor time is 60 % by the clock. */
static void check_parts(bool is_wide)
{
	g_auto(Made) made;

	made_init(&made, true);
	made.is_wide = is_wide;
	make_parts(&made);
	g_autoptr(LodeProfile) profile = import(&made, NULL);
	assert_near(share_of(profile, "cpu-clock", "wander"),
		(double)SERIAL_MS / (SERIAL_MS + N_WORKERS * PARALLEL_MS));
	static const char *const events[] = {"latency", "latency:cause"};
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
		uint32_t event = lode_profile_find_event(profile, events[i]);
		assert_near(share_of(profile, events[i], "wander"), 0.6);
		assert_near(lode_profile_event(profile, event)->total,
			(double)((SERIAL_MS + PARALLEL_MS) * MS));
		g_assert_false(lode_profile_event(profile, event)->is_attribute);
	}
	g_assert_cmpstr(lode_profile_event(profile, profile->code.weight_event)->name, ==,
		"cpu-clock:cause");
	check_weight_is_whole(profile);
	check_samples_are_costs(profile);
	g_assert_cmpuint(profile->thread_times->len, ==, 1 + N_WORKERS);
	const LodeThreadTime *first = &LODE_AT(profile->thread_times, LodeThreadTime, 0);
	g_assert_cmpstr(first->name, ==, "program");
	g_assert_cmpfloat(first->running_ns, ==, SERIAL_MS * MS);
	g_assert_cmpuint(first->end_ns - first->begin_ns, ==, (SERIAL_MS + PARALLEL_MS) * MS);
	for (guint i = 1; i <= N_WORKERS; i++) {
		const LodeThreadTime *row = &LODE_AT(profile->thread_times, LodeThreadTime, i);
		g_assert_cmpuint(row->tid, ==, PID + i);
		g_assert_cmpfloat(row->running_ns, ==, PARALLEL_MS * MS);
		g_assert_cmpuint(
			row->end_ns - row->begin_ns, ==, (PARALLEL_MS + WAIT_MS) * MS - (i - 1));
	}
}

static void test_parts(void)
{
	check_parts(false);
	check_parts(true);
}

/* Without switches, in turns, or with a recording that has none, there is no time by the clock. */
static void test_without(void)
{
	g_auto(Made) none, turns, other;

	made_init(&none, false);
	make_parts(&none);
	g_autoptr(LodeProfile) without = import(&none, NULL);
	g_assert_cmpuint(lode_profile_find_event(without, "latency"), ==, LODE_NONE);
	g_assert_cmpuint(without->thread_times->len, ==, 0);
	made_init(&turns, true);
	for (uint32_t i = 0; i < 10; i++)
		run(&turns, PID + i % 2, (100 + 2 * i) * MS, (102 + 2 * i) * MS, "wander");
	g_autoptr(LodeProfile) serial = import(&turns, NULL);
	g_assert_cmpuint(lode_profile_find_event(serial, "latency"), ==, LODE_NONE);
	g_assert_cmpuint(serial->thread_times->len, ==, 2);
	made_init(&other, true);
	make_parts(&other);
	g_autoptr(LodeProfile) both = import(&other, none.path);
	g_assert_cmpuint(lode_profile_find_event(both, "latency"), ==, LODE_NONE);
	g_assert_cmpuint(both->thread_times->len, ==, 1 + N_WORKERS);
}

/* The name of the function that comes first by the profile's weight. */
static char *first_function(const LodeProfile *profile)
{
	const LodeFunctionListOptions options = {.format = LODE_VIEW_CSV, .limit = 1};
	g_autoptr(GError) error = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	lode_function_list_write(profile, profile->code.weight_event, &options, out, &error);
	g_assert_no_error(error);
	fclose(out);
	g_auto(GStrv) lines = g_strsplit(text, "\n", 3);
	free(text);
	return g_strdup(strstr(lines[1], "wander") != NULL  ? "wander"
			: strstr(lines[1], "drive") != NULL ? "drive"
							    : lines[1]);
}

/* With it as the weight, the serial part comes first, and what is unresolved is its share too. */
static void test_weight(void)
{
	g_auto(Made) made;
	const LodeTerminal terminal = {0};
	const LodeProfileChoice by_clock = {.event = "latency"}, by_nothing = {.event = "none"};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;

	made_init(&made, true);
	make_parts(&made);
	/* a sample nowhere, while one thread runs */
	const Sample lost = {.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.time_ns = 110 * MS,
		.ip = 16,
		.period = 5 * MS};
	sample_file_add(&made.samples, &lost);
	g_autoptr(LodeProfile) profile = import(&made, NULL);
	g_autofree char *first = first_function(profile);
	g_assert_cmpstr(first, ==, "drive");
	g_autofree char *hint = lode_latency_hint(profile, profile->code.weight_event, &terminal);
	g_assert_cmpstr(hint, ==, "by the clock wander has 57.1 %, not 9.6 %");
	g_unlink(made.path);
	lode_profile_store_write(made.path, profile, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfile) weighed = lode_profile_choice_read(
		&by_clock, made.path, "x.lode", NULL, &note, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(
		lode_profile_event(weighed, weighed->code.weight_event)->name, ==, "latency:cause");
	g_assert_cmpstr(weighed->part_options, ==, "--weight latency");
	g_autofree char *first_by_clock = first_function(weighed);
	g_assert_cmpstr(first_by_clock, ==, "wander");
	g_assert_null(lode_latency_hint(weighed, weighed->code.weight_event, &terminal));
	double unresolved = 0;
	for (guint i = 0; i < weighed->unresolved->len; i++)
		unresolved += LODE_AT(weighed->unresolved, LodeUnresolved, i).weight;
	assert_near(unresolved, 5.0 * MS);
	g_assert_null(
		lode_profile_choice_read(&by_nothing, made.path, "x.lode", NULL, &note, &error));
	g_assert_cmpstr(error->message, ==, "x.lode: no event 'none'; 'lode info' lists them");
}

/* Samples of other events are not by the clock; an event that lode records for nothing but
 * mappings and switches is none of the profile's. */
static void test_events(void)
{
	g_auto(Made) made;

	made_init(&made, true);
	sample_file_add_event(&made.samples, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 1);
	make_parts(&made);
	const Sample fault = {.event = 1,
		.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.time_ns = 110 * MS,
		.ip = sampled_program_function(&made.program, "wander")->address +
	              made.program.bias,
		.period = 1};
	sample_file_add(&made.samples, &fault);
	g_autoptr(LodeProfile) profile = import(&made, NULL);
	assert_near(share_of(profile, "latency", "wander"), 0.6);
	assert_near(share_of(profile, "page-faults", "wander"), 1);
	g_assert_cmpuint(lode_profile_find_event(profile, "dummy"), ==, LODE_NONE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/latency-import/parts", test_parts);
	g_test_add_func("/ingest/latency-import/without", test_without);
	g_test_add_func("/ingest/latency-import/weight", test_weight);
	g_test_add_func("/ingest/latency-import/events", test_events);
	return g_test_run();
}
