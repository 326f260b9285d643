/* SPDX-License-Identifier: MIT */
/* What a recording leaves on the disk: the old one, nothing, or what fitted; and what is read of it
 * again. */
#include "base/error.h"
#include "record/perf/perf_writer.h"
#include "sources/perf_data/perf_data.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

typedef struct {
	char *directory, *path, *old;
	GPtrArray *nothing;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, "x.data", NULL);
	self->old = g_strconcat(self->path, ".old", NULL);
	self->nothing = g_ptr_array_new();
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_remove(self->path);
	g_remove(self->old);
	/* Fails where a temporary file was left. */
	g_assert_cmpint(g_rmdir(self->directory), ==, 0);
	g_free(self->directory);
	g_free(self->path);
	g_free(self->old);
	g_ptr_array_unref(self->nothing);
}

/* A recording is replaced; nothing else is. */
#define OLD "PERFILE2, an old one"

static uint64_t data_size(const char *path)
{
	g_autofree char *text = NULL;
	uint64_t size;
	gsize length;

	g_assert_true(g_file_get_contents(path, &text, &length, NULL));
	g_assert_cmpuint(length, >=, 104);
	memcpy(&size, text + 48, sizeof(size));
	return size;
}

static void test_unpublished(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_true(g_file_set_contents(self->path, OLD, -1, NULL));
	LodePerfWriter *writer = lode_perf_writer_open(self->path, &error);
	g_assert_no_error(error);
	lode_perf_writer_close(writer);
	g_autofree char *text = NULL;
	g_assert_true(g_file_get_contents(self->path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, OLD);
	g_assert_false(g_file_test(self->old, G_FILE_TEST_EXISTS));
}

static void test_refused(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	(void)data;
	g_assert_true(g_file_set_contents(self->path, "int main(void);\n", -1, NULL));
	g_assert_null(lode_perf_writer_open(self->path, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_true(g_file_get_contents(self->path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "int main(void);\n");
}

static void test_old_and_sealed(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	(void)data;
	g_assert_true(g_file_set_contents(self->path, OLD, -1, NULL));
	g_autoptr(LodePerfWriter) writer = lode_perf_writer_open(self->path, &error);
	g_assert_true(lode_perf_writer_publish(writer, self->nothing, &error));
	g_assert_true(g_file_get_contents(self->old, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, OLD);
	g_assert_true(lode_perf_writer_add(writer, "12345678", 8, &error));
	g_assert_cmpuint(data_size(self->path), ==, 0);
	g_assert_true(lode_perf_writer_seal(writer, &error));
	g_assert_cmpuint(data_size(self->path), ==, 8);
	g_assert_no_error(error);
}

static void test_no_file(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_null(lode_perf_writer_open(self->directory, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_nonnull(strstr(error->message, "is a directory"));
}

/* A file that may not grow any more stands for a full disk. */
static void test_full_disk(Fixture *self, const void *data)
{
	const struct rlimit tight = {4096, RLIM_INFINITY};
	struct rlimit before;
	g_autoptr(GError) error = NULL, features_error = NULL;
	g_autoptr(GPtrArray)
		features = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	g_autofree char *records = g_malloc0(8000);

	(void)data;
	g_ptr_array_add(features, g_bytes_new_static("text", 4));
	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	g_autoptr(LodePerfWriter) writer = lode_perf_writer_open(self->path, &error);
	g_assert_true(lode_perf_writer_publish(writer, self->nothing, &error));
	setrlimit(RLIMIT_FSIZE, &tight);
	g_assert_true(lode_perf_writer_add(writer, records, 3992, &error));
	g_assert_no_error(error);
	g_assert_false(lode_perf_writer_add(writer, records, 8000, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, "x.data: "));
	g_assert_false(lode_perf_writer_finish(writer, features, NULL, NULL, &features_error));
	setrlimit(RLIMIT_FSIZE, &before);
	g_assert_cmpuint(data_size(self->path), ==, 3992);
}

/* The figures of section 255, in the units of its keys. */
static void test_program_figures(Fixture *self, const void *data)
{
	const uint32_t record[] = {68, 8 << 16};
	const LodeCpuTime cpu_time = {.user_ns = 1200000, .system_ns = 34};
	LodePerfTally tally;
	g_autoptr(GError) error = NULL;

	(void)data;
	lode_perf_tally_init(&tally);
	const LodePerfFeatureInput input = {
		.choices = self->nothing,
		.tally = &tally,
		.cpu_time = &cpu_time,
		.wall_ns = 5000000001,
		.speed = {.runs = 17,
			.chain_ns = 0.234567,
			.chain_scatter = 0.0101,
			.walk_ns = 1.428571,
			.walk_scatter = 0.0052,
			.steal = 0.001,
			.others = 0.906},
		.core_figures = {.of = {[LODE_CORE_LOAD] = {4.001, 3.5, 4.25},
					 [LODE_CORE_LOAD_INDEXED] = {5, 6, 7},
					 [LODE_CORE_FP_MUL] = {3, 3, 3}}},
	};
	g_autoptr(GPtrArray) features = lode_perf_features_make(&input);
	lode_perf_tally_clear(&tally);
	g_autoptr(LodePerfWriter) writer = lode_perf_writer_open(self->path, &error);
	g_assert_true(lode_perf_writer_publish(writer, self->nothing, &error));
	g_assert_true(lode_perf_writer_add(writer, record, sizeof(record), &error));
	g_assert_true(lode_perf_writer_finish(writer, features, NULL, NULL, &error));
	g_assert_no_error(error);
	LodePerfData *written = lode_perf_data_open(self->path, &error);
	g_assert_no_error(error);
	const LodePerfInfo *info = lode_perf_data_info(written);
	g_assert_cmpuint(info->run.user_ns, ==, 1200000);
	g_assert_cmpuint(info->run.system_ns, ==, 34);
	g_assert_cmpuint(info->run.wall_ns, ==, 5000000001);
	g_assert_cmpfloat(info->run.speed.runs, ==, 17);
	g_assert_cmpfloat_with_epsilon(info->run.speed.chain_ns, 0.234567, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.speed.chain_scatter, 0.0101, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.speed.walk_ns, 1.428571, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.speed.walk_scatter, 0.0052, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.speed.steal, 0.001, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.speed.others, 0.906, 1e-6);
	g_assert_cmpfloat_with_epsilon(
		info->run.core_figures.of[LODE_CORE_LOAD].median, 4.001, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.core_figures.of[LODE_CORE_LOAD].low, 3.5, 1e-6);
	g_assert_cmpfloat_with_epsilon(info->run.core_figures.of[LODE_CORE_LOAD].high, 4.25, 1e-6);
	/* not in order */
	g_assert_cmpfloat(info->run.core_figures.of[LODE_CORE_LOAD_INDEXED].median, ==, 0);
	g_assert_cmpfloat(info->run.core_figures.of[LODE_CORE_FP_MUL].high, ==, 3);
	g_assert_cmpfloat(info->run.core_figures.of[LODE_CORE_FP_FMA].median, ==, 0);
	lode_perf_data_close(written);
}

static void add(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/perf-writer/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add("unpublished", test_unpublished);
	add("refused", test_refused);
	add("old-and-sealed", test_old_and_sealed);
	add("no-file", test_no_file);
	add("full-disk", test_full_disk);
	add("program-figures", test_program_figures);
	return g_test_run();
}
