/* SPDX-License-Identifier: MIT */
/*
 * Recordings by perf and by lode, imported: whatever they hold, the weight of instructions and of
 * what came to none is the total of the event, and threads change nothing.
 */
#include "base/error.h"
#include "ingest/import.h"
#include "model/run/unresolved.h"
#include "profile_sums.h"
#include "record/perf/perf_sampler.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zstd.h>

static LodeProfile *import(const char *path, unsigned threads, GError **error)
{
	const LodeImportOptions options = {.paths = &path, .n_paths = 1, .threads = threads};

	return lode_import(&options, NULL, error);
}

static double number_of_samples(const LodeProfile *profile)
{
	double n = 0;

	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		n += g_str_has_prefix(row->reason, "sample ") ? row->samples : 0;
	}
	return n;
}

static void check_alike(const LodeProfile *left, const LodeProfile *right)
{
	g_assert_cmpuint(left->code.instructions->len, ==, right->code.instructions->len);
	g_assert_cmpuint(left->code.edges->len, ==, right->code.edges->len);
	g_assert_cmpfloat(left->run.total_count, ==, right->run.total_count);
	for (guint i = 0; i < left->code.instructions->len; i++) {
		const LodeInstruction *a = &LODE_AT(left->code.instructions, LodeInstruction, i);
		const LodeInstruction *b = &LODE_AT(right->code.instructions, LodeInstruction, i);
		g_assert_cmphex(a->address, ==, b->address);
		g_assert_cmpfloat(a->count, ==, b->count);
		g_assert_cmpfloat(a->next_count, ==, b->next_count);
	}
}

static void check_recording(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = import(path, 1, &error);
	g_autoptr(LodeProfile) again = profile != NULL ? import(path, 3, &error) : NULL;

	if (strstr(path, "corrupted") != NULL) {
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		return;
	}
	g_assert_no_error(error);
	check_weight_is_whole(profile);
	check_samples_are_costs(profile);
	check_alike(profile, again);
	g_assert_cmpint(profile->run.frequency, !=, LODE_FREQUENCY_EXACT);
	g_assert_cmpfloat(number_of_samples(profile), <=, profile->run.n_samples);
}

enum { MAX_BYTES = 1 << 26 };

static void decompress(const char *from, const char *to)
{
	g_autofree char *packed = NULL;
	size_t packed_size;

	g_assert_true(g_file_get_contents(from, &packed, &packed_size, NULL));
	g_autofree char *data = g_malloc(MAX_BYTES);
	size_t size = ZSTD_decompress(data, MAX_BYTES, packed, packed_size);
	g_assert_false(ZSTD_isError(size));
	g_assert_true(g_file_set_contents(to, data, (gssize)size, NULL));
}

static void test_recordings_of_perf(void)
{
	g_autofree char *source = g_build_filename(
		g_getenv("LODE_SOURCE_ROOT"), "..", "shared", "data", "perf", NULL);
	g_autoptr(GDir) directory = g_dir_open(source, 0, NULL);
	g_autofree char *made = g_dir_make_tmp("lode-XXXXXX", NULL);
	const char *name;
	unsigned n = 0;

	while (directory != NULL && (name = g_dir_read_name(directory)) != NULL) {
		if (!g_str_has_suffix(name, ".perf.data.zst"))
			continue;
		g_autofree char *packed = g_build_filename(source, name, NULL);
		g_autofree char *path = g_build_filename(made, name, NULL);
		decompress(packed, path);
		g_test_message("%s", name);
		check_recording(path);
		g_unlink(path);
		n++;
	}
	g_rmdir(made);
	if (n == 0)
		g_test_skip("no recordings in ../shared/data/perf");
}

/* False where it is not allowed. */
static bool record(const char *output, const char *const *command)
{
	const char *const events[] = {"cpu-clock:u", NULL};
	bool is_refused = false;
	const LodePerfSamplerOptions options = {
		.events = events,
		.frequency = 5000,
		.argv = command,
		.command = command,
		.output = output,
		.is_refused = &is_refused,
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfSampling) sampling = lode_perf_sampler_run(&options, NULL, &error);

	if (is_refused) {
		g_test_skip("sampling is not allowed");
		return false;
	}
	g_assert_no_error(error);
	return sampling != NULL;
}

static void check_command(const char *const *command, const char *function)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
	g_autoptr(GError) error = NULL;

	if (record(path, command)) {
		check_recording(path);
		g_autoptr(LodeProfile) profile = import(path, 2, &error);
		g_assert_no_error(error);
		const LodeFunction *own = find_profile_function(profile, function);
		double weight = 0;
		for (uint32_t i = 0; i < own->n_instructions; i++)
			weight += lode_profile_event_value(
				profile, profile->code.weight_event, own->first_instruction + i);
		/* It runs by the clock, so that on a busy machine it gets little. */
		g_assert_cmpfloat(weight, >,
			0.05 * lode_profile_event(profile, profile->code.weight_event)->total);
		g_unlink(path);
	}
	g_rmdir(directory);
}

static void test_threads(void)
{
	const char *const command[] = {PROGRAM_BUSY, "150", NULL};

	check_command(command, "spin");
}

/* The shell forks, and what it forks executes another program, which is mapped elsewhere. */
static void test_forks(void)
{
	const char *const command[] = {"sh", "-c",
		"for i in 1 2 3 4; do " PROGRAM_BRANCHES " 300 & done; (" PROGRAM_BRANCHES
		" 300); wait",
		NULL};

	check_command(command, "wander");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/recorded-samples/perf", test_recordings_of_perf);
	g_test_add_func("/recorded-samples/threads", test_threads);
	g_test_add_func("/recorded-samples/forks", test_forks);
	return g_test_run();
}
