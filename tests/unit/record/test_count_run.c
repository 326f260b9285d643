/* SPDX-License-Identifier: MIT */
/* Programs counted by the real qemu, with the plugin: the shell, and what it forks. */
#include "base/error.h"
#include "record/qemu/count_run.h"
#include "sources/counts/count_file.h"

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

typedef struct {
	char *directory;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	/* A comma ends an option of qemu's. */
	self->directory = g_dir_make_tmp("lode-test-a,b=c-XXXXXX", NULL);
	g_assert_nonnull(self->directory);
}

static void tear_down(Fixture *self, const void *data)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	const char *name;

	(void)data;
	while ((name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		g_remove(path);
	}
	g_rmdir(self->directory);
	g_free(self->directory);
}

/* NULL: skipped. */
static LodeCountRun *record(const Fixture *self, const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const LodeCountRunOptions options = {.argv = argv, .directory = self->directory};
	g_autofree char *emulator = g_find_program_in_path("qemu-x86_64");
	g_autoptr(GError) error = NULL;

	if (emulator == NULL) {
		g_test_skip("no qemu-x86_64");
		return NULL;
	}
	LodeCountRun *run = lode_count_run(&options, &error);
	g_assert_no_error(error);
	return run;
}

static uint64_t executions(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCountFile) file = lode_count_file_read(path, &error);
	uint64_t n = 0;

	g_assert_no_error(error);
	for (guint i = 1; i < file->blocks->len; i++) {
		const LodeCountBlock *block = &g_array_index(file->blocks, LodeCountBlock, i);
		n += block->count * block->n_instructions;
	}
	g_assert_cmpuint(n, ==, lode_count_file_progress(path));
	return n;
}

static void test_status_and_file(Fixture *self, const void *data)
{
	g_autoptr(LodeCountRun) run = record(self, "exit 7");

	(void)data;
	if (run == NULL)
		return;
	g_assert_cmpint(WEXITSTATUS(run->exit_status), ==, 7);
	g_assert_cmpuint(run->files->len, ==, 1);
	g_assert_cmpuint(executions(run->files->pdata[0]), >, 10000);
}

/* Each has a file of its own, which begins with what its parent had translated. */
static void test_forks(Fixture *self, const void *data)
{
	g_autoptr(LodeCountRun)
		run = record(self, "(i=0; while [ $i -lt 999 ]; do i=$((i+1)); done)"
				   "; (exit 3); exit 0");
	uint64_t most = 0;
	unsigned n_forked = 0;

	(void)data;
	if (run == NULL)
		return;
	g_assert_cmpuint(run->files->len, ==, 3);
	for (guint i = 0; i < run->files->len; i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeCountFile) file = lode_count_file_read(run->files->pdata[i], &error);
		g_assert_no_error(error);
		g_assert_cmpuint(file->mappings->len, >, 3);
		g_assert_cmpstr(file->arguments->pdata[2], ==, "-c");
		n_forked += file->is_forked;
		if (file->is_forked)
			most = MAX(most, executions(run->files->pdata[i]));
		else
			g_assert_cmpuint(file->n_forks, ==, 2);
	}
	g_assert_cmpuint(n_forked, ==, 2);
	g_assert_cmpuint(most, >, 100000);
}

static void test_killed(Fixture *self, const void *data)
{
	g_autoptr(LodeCountRun) run = record(self, "kill -9 $$");

	(void)data;
	if (run == NULL)
		return;
	g_assert_true(WIFSIGNALED(run->exit_status));
	g_assert_cmpint(WTERMSIG(run->exit_status), ==, SIGKILL);
	g_assert_cmpuint(executions(run->files->pdata[0]), >, 10000);
}

static void test_not_a_program(Fixture *self, const void *data)
{
	const char *const argv[] = {"/nonexistent/program", NULL};
	const LodeCountRunOptions options = {.argv = argv, .directory = self->directory};
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_null(lode_count_run(&options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

/* A range that is not narrower than what was measured; nothing of what is short. */
static void test_wait(void)
{
	g_autofree char *with_caches = lode_count_run_wait(0.5, true);
	g_autofree char *without = lode_count_run_wait(0.5, false);
	g_autofree char *least = lode_count_run_wait(0.07, true);
	g_autofree char *hour = lode_count_run_wait(3600, true);

	g_assert_cmpstr(with_caches, ==, "5 to 75 s");
	g_assert_cmpstr(without, ==, "2 to 30 s");
	g_assert_cmpstr(least, ==, "1 to 11 s");
	g_assert_cmpstr(hour, ==, "36000 to 540000 s");
	g_assert_null(lode_count_run_wait(0.01, true));
	g_assert_null(lode_count_run_wait(0.15, false));
	g_assert_null(lode_count_run_wait(0, true));
	g_assert_null(lode_count_run_wait(NAN, true));
}

/* A second of the processor is at most twenty billion instructions; sqlite3 executed 1.44 billion
 * in 0.155 s. */
static void test_remaining(void)
{
	static const struct {
		double done, per_second, native;
		const char *text;
	} cases[] = {
		{1e9, 5e8, 3, "1.0 billion instructions, up to 118 s left"},
		{20e9, 5e8, 3, "20.0 billion instructions, up to 80 s left"},
		{60e9, 5e8, 3, "60.0 billion instructions"},
		{1e9, 5e8, 0.155, "1.0 billion instructions, up to 5 s left"},
		{1e9, 5e8, 0, "1.0 billion instructions"},
		{1e7, 5e8, 3, "0.0 billion instructions"},
		{1e9, 0, 3, "1.0 billion instructions"},
		{1e9, -1, 3, "1.0 billion instructions"},
		{0, 0, 0, "0.0 billion instructions"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = lode_count_run_remaining(
			cases[i].done, cases[i].per_second, cases[i].native);
		g_assert_cmpstr(text, ==, cases[i].text);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name, function)                                                                        \
	g_test_add("/record/count-run/" name, Fixture, NULL, set_up, function, tear_down)
	ADD("status-and-file", test_status_and_file);
	ADD("forks", test_forks);
	ADD("killed", test_killed);
	ADD("not-a-program", test_not_a_program);
#undef ADD
	g_test_add_func("/record/count-run/wait", test_wait);
	g_test_add_func("/record/count-run/remaining", test_remaining);
	return g_test_run();
}
