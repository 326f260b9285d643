/* SPDX-License-Identifier: MIT */
/* Recordings by the real valgrind, of the shell and what it starts. */
#include "base/error.h"
#include "record/callgrind_run.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

typedef struct {
	char *directory;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	/* A percent sign means something in valgrind's own file names. */
	self->directory = g_dir_make_tmp("lode-test-100%p-XXXXXX", NULL);
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

static LodeCallgrindRun *record(const Fixture *self, const char *script, GError **error)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const LodeCallgrindRunOptions options = {
		.argv = argv, .directory = self->directory, .is_fast = true};

	return lode_callgrind_run(&options, error);
}

static bool contains(const char *path, const char *word)
{
	g_autofree char *text = NULL;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return strstr(text, word) != NULL;
}

static void test_status_and_files(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *core = g_build_filename(self->directory, "valgrind.7.log.core.7", NULL);
	g_assert_true(g_file_set_contents(core, "\177ELF", -1, NULL));
	g_autoptr(LodeCallgrindRun) run = record(self, "exit 7", &error);

	(void)data;
	g_assert_no_error(error);
	g_assert_cmpint(WEXITSTATUS(run->exit_status), ==, 7);
	g_assert_cmpuint(run->dumps->len, ==, 1);
	g_assert_cmpuint(run->maps->len, ==, 1);
	g_assert_cmpuint(run->n_lost, ==, 0);
	const char *dump = g_ptr_array_index(run->dumps, 0);
	g_assert_true(contains(dump, "positions: instr line"));
	g_assert_true(contains(dump, "events: Ir\n"));
	const char *map = g_ptr_array_index(run->maps, 0);
	g_assert_true(contains(map, "Reading syms from /"));
	g_assert_true(contains(map, "svma 0x"));
}

static void test_simulation(Fixture *self, const void *data)
{
	const char *const argv[] = {"true", NULL};
	const LodeCallgrindRunOptions options = {.argv = argv, .directory = self->directory};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCallgrindRun) run = lode_callgrind_run(&options, &error);

	(void)data;
	g_assert_no_error(error);
	g_assert_cmpint(run->exit_status, ==, 0);
	const char *dump = g_ptr_array_index(run->dumps, 0);
	g_assert_true(contains(dump, "D1mr"));
	g_assert_true(contains(dump, "Bcm"));
}

/* The shell's subshell forks only, cat is executed; the shell's own dump comes first. */
static void test_children(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCallgrindRun)
		run = record(self, "(exit 3); cat /dev/null; (:); exit 0", &error);

	(void)data;
	g_assert_no_error(error);
	g_assert_cmpint(run->exit_status, ==, 0);
	g_assert_cmpuint(run->dumps->len, ==, 4);
	g_assert_true(contains(g_ptr_array_index(run->dumps, 0), "cmd:  sh -c (exit 3)"));
	g_assert_true(contains(g_ptr_array_index(run->dumps, 2), "cat /dev/null"));
}

static void test_signals(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCallgrindRun) crashed = record(self, "kill -SEGV $$", &error);

	(void)data;
	g_assert_no_error(error);
	g_assert_true(WIFSIGNALED(crashed->exit_status));
	g_assert_cmpint(WTERMSIG(crashed->exit_status), ==, SIGSEGV);
	g_assert_cmpuint(crashed->dumps->len, ==, 1);

	g_autoptr(LodeCallgrindRun) stopped = record(
		self, "trap 'exit 9' TERM; kill -TERM $PPID; while :; do :; done", &error);
	g_assert_no_error(error);
	g_assert_cmpint(WEXITSTATUS(stopped->exit_status), ==, 9);
	g_assert_cmpint(stopped->stop_signal, ==, SIGTERM);
}

/*
 * Killed from outside, valgrind cannot write: a child is counted, of the program itself there is
 * nothing. The child's own child kills it; the substitution ends when all that hold its pipe have
 * ended.
 */
static void test_lost(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCallgrindRun)
		run = record(self, "x=$(sh -c 'sh -c \"kill -9 \\$PPID; :\"; :'); exit 4", &error);

	(void)data;
	g_assert_no_error(error);
	g_assert_cmpint(WEXITSTATUS(run->exit_status), ==, 4);
	g_assert_cmpuint(run->dumps->len, >=, 2);
	g_assert_cmpuint(run->n_lost, ==, 1);
}

static void test_killed(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	g_autoptr(LodeCallgrindRun) run = record(self, "sh -c \"kill -9 $$; sleep 9\"; :", &error);
	g_assert_no_error(error);
	g_assert_cmpint(WTERMSIG(run->exit_status), ==, SIGKILL);
	g_assert_cmpuint(run->dumps->len, ==, 0);
}

static void test_refused(Fixture *self, const void *data)
{
	const char *const argv[] = {"lode-has-no-such-program", NULL};
	const LodeCallgrindRunOptions options = {.argv = argv, .directory = self->directory};
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_strdup(g_getenv("PATH"));

	(void)data;
	g_assert_null(lode_callgrind_run(&options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);

	const char *const shell[] = {"/bin/sh", NULL};
	const LodeCallgrindRunOptions without = {.argv = shell, .directory = self->directory};
	g_setenv("PATH", self->directory, TRUE);
	g_assert_null(lode_callgrind_run(&without, &error));
	g_setenv("PATH", path, TRUE);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message, "not installed"));
}

/* A name that begins with a dash is a program, not an option of valgrind. */
static void test_dash(Fixture *self, const void *data)
{
	const char *const argv[] = {"--tool=none", "sh", NULL};
	const LodeCallgrindRunOptions options = {.argv = argv, .directory = self->directory};
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_null(lode_callgrind_run(&options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

static void add(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/callgrind-run/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add("status-and-files", test_status_and_files);
	add("simulation", test_simulation);
	add("children", test_children);
	add("signals", test_signals);
	add("lost", test_lost);
	add("killed", test_killed);
	add("refused", test_refused);
	add("dash", test_dash);
	return g_test_run();
}
