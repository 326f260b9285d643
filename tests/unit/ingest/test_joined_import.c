/* SPDX-License-Identifier: MIT */
/*
 * Samples joined with exact counts: the counts stay as they are, no weight is lost, and what was
 * sampled where nothing was counted is said. On files made here, and on two real runs.
 */
#include "ingest/import.h"
#include "model/run/unresolved.h"
#include "profile_sums.h"
#include "record/program_recording.h"
#include "sample_file.h"
#include "sampled_program.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>

static LodeProfile *import(const char *const *paths, size_t n, const GPtrArray *maps)
{
	g_autoptr(GError) error = NULL;
	const LodeImportOptions options = {
		.paths = paths,
		.n_paths = n,
		.maps = maps != NULL ? (const char *const *)maps->pdata : NULL,
		.n_maps = maps != NULL ? maps->len : 0,
		.threads = 2,
	};
	LodeProfile *profile = lode_import(&options, NULL, &error);

	g_assert_no_error(error);
	return profile;
}

static const char *weight_name(const LodeProfile *profile)
{
	return lode_profile_event(profile, profile->code.weight_event)->name;
}

static const LodeInstruction *instruction_at(const LodeProfile *profile, uint32_t index)
{
	return lode_profile_instruction(profile, index);
}

static const char *image_of(const LodeProfile *profile, uint32_t instruction)
{
	const LodeFunction *function = lode_profile_function(
		profile, instruction_at(profile, instruction)->function);

	return lode_profile_image(profile, function->image)->path;
}

/* Same instructions in the same order, same counts and same counted events. */
static void check_counts_are_kept(const LodeProfile *counted, const LodeProfile *joined)
{
	g_assert_cmpuint(joined->code.instructions->len, ==, counted->code.instructions->len);
	g_assert_cmpuint(joined->code.edges->len, ==, counted->code.edges->len);
	g_assert_cmpfloat(joined->run.total_count, ==, counted->run.total_count);
	g_assert_cmpint(joined->run.frequency, ==, LODE_FREQUENCY_EXACT);
	for (uint32_t i = 0; i < counted->code.instructions->len; i++) {
		const LodeInstruction *left = instruction_at(counted, i);
		const LodeInstruction *right = instruction_at(joined, i);
		g_assert_cmphex(left->address, ==, right->address);
		g_assert_cmpstr(image_of(counted, i), ==, image_of(joined, i));
		g_assert_cmpfloat(left->count, ==, right->count);
		g_assert_cmpfloat(left->next_count, ==, right->next_count);
		for (guint j = 0; j < counted->code.events->len; j++) {
			const LodeEvent *event = &LODE_AT(counted->code.events, LodeEvent, j);
			uint32_t other = lode_profile_find_event(joined, event->name);
			if (event->kind != LODE_EVENT_RECORDED)
				continue;
			g_assert_cmpuint(other, !=, LODE_NONE);
			g_assert_cmpfloat(lode_profile_event_value(counted, j, i), ==,
				lode_profile_event_value(joined, other, i));
		}
	}
}

/* A directory with a dump of two instructions of wander(), and a perf.data. */
typedef struct {
	SampledProgram program;
	SampleFile samples;
	uint64_t entry;
	char *directory, *paths[2];
} Made;

static void made_init(Made *self, const char *events)
{
	sampled_program_open(&self->program, PROGRAM_BRANCHES);
	sample_file_init(&self->samples);
	self->entry = sampled_program_function(&self->program, "wander")->address;
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->paths[0] = g_build_filename(self->directory, "callgrind.out", NULL);
	self->paths[1] = g_build_filename(self->directory, "perf.data", NULL);
	g_autofree char *text = g_strdup_printf(
		"version: 1\npid: 7\ncmd: prog\npositions: instr line\n"
		"events: %s\nob=%s\nfl=b.c\nfn=wander\n0x%" G_GINT64_MODIFIER
		"x 1 30 20 10\nfn=drive\n0x%" G_GINT64_MODIFIER "x 2 3 2 1\nsummary: 33 22 11\n",
		events, PROGRAM_BRANCHES, self->entry,
		sampled_program_function(&self->program, "drive")->address);
	g_assert_true(g_file_set_contents(self->paths[0], text, -1, NULL));
}

static void made_clear(Made *self)
{
	for (int i = 0; i < 2; i++) {
		g_unlink(self->paths[i]);
		g_free(self->paths[i]);
	}
	g_rmdir(self->directory);
	g_free(self->directory);
	sample_file_clear(&self->samples);
	sampled_program_close(&self->program);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static void add_sample(Made *self, unsigned event, uint64_t offset, uint64_t period)
{
	const Sample sample = {.event = event,
		.mode = PERF_RECORD_MISC_USER,
		.pid = 7,
		.time_ns = 100,
		.ip = self->entry + offset + self->program.bias,
		.period = period};

	sample_file_add(&self->samples, &sample);
}

/* Cycles on counted and other instructions, page faults on none, one outside. */
static void add_samples(Made *self)
{
	sample_file_add_event(&self->samples, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000);
	sample_file_add_event(&self->samples, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	sample_file_map(&self->samples, 7, 1, &self->program.mapping);
	for (uint64_t i = 0; i < 5; i++)
		add_sample(self, 0, 0, 1000);
	add_sample(self, 1, 0, 1);
	add_sample(self, 0, 5, 100);
	add_sample(self, 0, 5, 100);
	add_sample(self, 0, 6, 50);
	add_sample(self, 0, UINT64_C(0x100000000), 7);
	sample_file_write(&self->samples, self->paths[1]);
}

static void check_made(const char *events, const char *sampled, const char *estimate)
{
	g_auto(Made) made;

	made_init(&made, events);
	add_samples(&made);
	const char *paths[] = {made.paths[0], made.paths[1]}, *turned[] = {paths[1], paths[0]};
	g_autoptr(LodeProfile) counted = import(paths, 1, NULL);
	g_autoptr(LodeProfile) joined = import(paths, 2, NULL);
	g_autoptr(LodeProfile) again = import(turned, 2, NULL);
	check_counts_are_kept(counted, joined);
	check_counts_are_kept(counted, again);
	check_weight_is_whole(joined);
	check_samples_are_costs(joined);
	g_assert_cmpstr(weight_name(joined), ==, sampled);
	uint32_t at = find_instruction(joined, "wander", made.entry);
	g_assert_cmpfloat(
		lode_profile_event_value(joined, joined->code.weight_event, at), ==, 5000);
	uint32_t faults = lode_profile_find_event(joined, "page-faults");
	g_assert_cmpfloat(lode_profile_event_value(joined, faults, at), ==, 1);
	uint32_t cycles = lode_profile_find_event(joined, estimate);
	g_assert_cmpuint(cycles, !=, LODE_NONE);
	g_assert_cmpuint(cycles, !=, joined->code.weight_event);
	const LodeUnresolved *row = find_unresolved(
		joined, "sampled where the counting run executed nothing");
	g_assert_nonnull(row);
	g_assert_cmpfloat(row->weight, ==, 250);
	g_assert_cmpuint(row->places, ==, 2);
	g_assert_cmpfloat(find_unresolved(joined, "sample outside any mapping")->weight, ==, 7);
}

static void test_made(void)
{
	check_made("Ir Dr D1mr", "cycles:cause", "estimated-cycles");
}

/* The dump has an event of that name too. */
static void test_same_name(void)
{
	check_made("Ir Dr cycles", "cycles-sampled:cause", "cycles");
}

static void remove_directory(const char *path)
{
	g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(directory)) != NULL) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		g_unlink(file);
	}
	g_rmdir(path);
}

/* False, and the test marked as skipped, where it cannot be both sampled and counted here. */
static bool record_both(const char *directory, LodeRecordedRun *out_run)
{
	const char *const argv[] = {PROGRAM_BRANCHES, "800", NULL};
	const LodeProgramRecordingOptions options = {
		.argv = argv, .directory = directory, .is_fast = true};
	g_autoptr(GError) error = NULL;

	lode_program_recording_run(&options, out_run, &error);
	g_assert_no_error(error);
	if (out_run->recordings->len >= 2)
		return true;
	g_test_skip("no valgrind, or sampling is not allowed");
	return false;
}

static void test_real(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_auto(LodeRecordedRun) recording = {0};

	if (record_both(directory, &recording)) {
		const char *const *paths = (const char *const *)recording.recordings->pdata;
		guint n = recording.recordings->len;
		g_assert_true(g_str_has_suffix(paths[0], "perf.data"));
		g_autoptr(LodeProfile) counted = import(paths + 1, n - 1, recording.maps);
		g_autoptr(LodeProfile) joined = import(paths, n, recording.maps);
		check_counts_are_kept(counted, joined);
		check_weight_is_whole(joined);
		check_samples_are_costs(joined);
		g_assert_cmpfloat(joined->run.n_samples, >=, 100);
		/* Nearly all of its time is in its own code, at instructions that were counted. */
		const LodeUnresolved *row = find_unresolved(
			joined, "sampled where the counting run executed nothing");
		double total =
			LODE_AT(joined->code.events, LodeEvent, joined->code.weight_event).total;
		g_assert_cmpfloat(row != NULL ? row->weight : 0, <, 0.05 * total);
		double placed = sum_of_event(joined, joined->code.weight_event);
		g_assert_cmpfloat(placed, >, 0.8 * total);
	}
	remove_directory(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/joined-import/made", test_made);
	g_test_add_func("/joined-import/same-name", test_same_name);
	g_test_add_func("/joined-import/real", test_real);
	return g_test_run();
}
