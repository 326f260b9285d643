/* SPDX-License-Identifier: MIT */
/* Killed, or out of disk, in the middle of writing: the old content or the new one is there. */
#include "base/error.h"
#include "random_profile.h"
#include "seeds.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	char *folder, *path;
	LodeProfile *old, *new;
	LodeMiningRun *old_run, *new_run;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = make_folder();
	fixture->path = g_build_filename(fixture->folder, "x.lode", NULL);
	fixture->old = random_profile_new(1, 200);
	fixture->new = random_profile_new(2, 1500);
	fixture->old_run = random_run_new(1, "a", 2000);
	fixture->new_run = random_run_new(2, "a", 8000);
	g_assert_true(lode_profile_store_write(fixture->path, fixture->old, NULL, NULL));
	g_assert_true(lode_profile_store_add_run(
		fixture->path, fixture->old, fixture->old_run, NULL, NULL));
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	lode_profile_free(fixture->old);
	lode_profile_free(fixture->new);
	lode_mining_run_free(fixture->old_run);
	lode_mining_run_free(fixture->new_run);
	g_free(fixture->path);
	remove_folder(fixture->folder);
}

typedef bool (*Work)(const Fixture *fixture, GError **error);

static bool write_new(const Fixture *fixture, GError **error)
{
	return lode_profile_store_write(fixture->path, fixture->new, NULL, error);
}

static bool add_new_run(const Fixture *fixture, GError **error)
{
	return lode_profile_store_add_run(
		fixture->path, fixture->old, fixture->new_run, NULL, error);
}

/* Does the work in a child that is killed after `delay_us`. */
static void kill_during(const Fixture *fixture, Work work, gulong delay_us)
{
	pid_t child = fork();

	g_assert_cmpint(child, >=, 0);
	if (child == 0) {
		work(fixture, NULL);
		_exit(0);
	}
	g_usleep(delay_us);
	kill(child, SIGKILL);
	g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
}

/* Whether it is the new profile; ends the test when it is neither. */
static bool has_new_profile(const Fixture *fixture)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile)
		found = lode_profile_store_read_with_memory(fixture->path, NULL, &error);

	g_assert_no_error(error);
	bool is_new = found->code.functions->len == fixture->new->code.functions->len;
	assert_equal_profiles(is_new ? fixture->new : fixture->old, found);
	return is_new;
}

static bool has_new_run(const Fixture *fixture)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun) found = lode_profile_store_read_run(fixture->path, "a", &error);

	g_assert_no_error(error);
	bool is_new = found->sequences->len == fixture->new_run->sequences->len;
	assert_equal_runs(is_new ? fixture->new_run : fixture->old_run, found);
	return is_new;
}

static gulong duration_us(const Fixture *fixture, Work work)
{
	gint64 start = g_get_monotonic_time();
	pid_t child = fork();

	if (child == 0)
		_exit(work(fixture, NULL) ? 0 : 1);
	g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
	return (gulong)(g_get_monotonic_time() - start);
}

/* Spread over the time that the work takes. */
static unsigned n_kills(void)
{
	return random_rounds(8, 25);
}

static void test_killed_while_writing(Fixture *fixture, const void *data)
{
	gulong whole_us = duration_us(fixture, write_new);

	(void)data;
	for (gulong i = 0; i < n_kills(); i++) {
		g_assert_true(lode_profile_store_write(fixture->path, fixture->old, NULL, NULL));
		kill_during(fixture, write_new, i * whole_us * 5 / 4 / n_kills());
		has_new_profile(fixture);
	}
	/* What the killed have left goes with the next write. */
	g_assert_true(lode_profile_store_write(fixture->path, fixture->new, NULL, NULL));
	g_assert_cmpuint(count_files(fixture->folder), ==, 2);
	g_assert_true(has_new_profile(fixture));
}

static void test_killed_while_adding(Fixture *fixture, const void *data)
{
	gulong whole_us = duration_us(fixture, add_new_run);

	(void)data;
	for (gulong i = 0; i < n_kills(); i++) {
		g_assert_true(lode_profile_store_add_run(
			fixture->path, fixture->old, fixture->old_run, NULL, NULL));
		kill_during(fixture, add_new_run, i * whole_us * 5 / 4 / n_kills());
		has_new_run(fixture);
		g_assert_false(has_new_profile(fixture));
	}
	/* A journal that was killed before anything stood in it goes with the next write. */
	g_assert_true(lode_profile_store_add_run(
		fixture->path, fixture->old, fixture->new_run, NULL, NULL));
	g_assert_cmpuint(count_files(fixture->folder), ==, 1);
}

static void leave(const Fixture *fixture, pid_t pid, const char *rest)
{
	g_autofree char *name = g_strdup_printf(".x.lode.%d-%s", (int)pid, rest);
	g_autofree char *path = g_build_filename(fixture->folder, name, NULL);

	g_assert_true(g_file_set_contents(path, "x", 1, NULL));
}

/* Temporary files and their journals go when their maker has ended, and only then. */
static void test_left_behind(Fixture *fixture, const void *data)
{
	pid_t ended = fork();

	(void)data;
	g_assert_cmpint(ended, >=, 0);
	if (ended == 0)
		_exit(0);
	g_assert_cmpint(waitpid(ended, NULL, 0), ==, ended);
	leave(fixture, ended, "00000001.tmp");
	leave(fixture, ended, "00000001.tmp-journal");
	leave(fixture, ended, "00000002.tmp-journal");
	leave(fixture, getpid(), "00000003.tmp");
	leave(fixture, getpid(), "00000003.tmp-journal");
	g_assert_true(lode_profile_store_write(fixture->path, fixture->new, NULL, NULL));
	g_assert_cmpuint(count_files(fixture->folder), ==, 4);
}

/* A journal that a killed process left must not be played back into the file that comes after. */
static void test_written_over_a_journal(Fixture *fixture, const void *data)
{
	g_autofree char *journal = g_strconcat(fixture->path, "-journal", NULL);
	gulong whole_us = duration_us(fixture, add_new_run);
	guint n_journals = 0;

	(void)data;
	for (gulong i = 0; i < n_kills(); i++) {
		g_assert_true(lode_profile_store_write(fixture->path, fixture->old, NULL, NULL));
		g_assert_true(lode_profile_store_add_run(
			fixture->path, fixture->old, fixture->old_run, NULL, NULL));
		kill_during(fixture, add_new_run, i * whole_us / n_kills());
		n_journals += g_file_test(journal, G_FILE_TEST_EXISTS) ? 1 : 0;
		g_assert_true(lode_profile_store_write(fixture->path, fixture->new, NULL, NULL));
		g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
		g_assert_true(has_new_profile(fixture));
	}
	g_test_message("%u of %u kills left a journal", n_journals, n_kills());
}

/* Runs the work in a child that may not write files longer than `limit`; whether it worked. */
static bool works_within(const Fixture *fixture, Work work, rlim_t limit)
{
	pid_t child = fork();
	int status;

	g_assert_cmpint(child, >=, 0);
	if (child == 0) {
		g_autoptr(GError) error = NULL;
		struct rlimit bound = {limit, limit};
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &bound);
		if (work(fixture, &error))
			_exit(0);
		_exit(g_error_matches(error, LODE_ERROR, LODE_ERROR_IO) ? 1 : 2);
	}
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), <, 2);
	return WEXITSTATUS(status) == 0;
}

static void test_disk_full_while_writing(Fixture *fixture, const void *data)
{
	(void)data;
	for (rlim_t limit = 0; limit < 400000; limit += 50000) {
		g_assert_false(works_within(fixture, write_new, limit));
		g_assert_false(has_new_profile(fixture));
		g_assert_false(has_new_run(fixture));
		g_assert_cmpuint(count_files(fixture->folder), ==, 1);
	}
	g_assert_true(works_within(fixture, write_new, 100000000));
	g_assert_true(has_new_profile(fixture));
}

static void test_disk_full_while_adding(Fixture *fixture, const void *data)
{
	rlim_t limit = 0;

	(void)data;
	/* The limit may keep SQLite from rolling back, too: the journal stays until the next write.
	 */
	while (!works_within(fixture, add_new_run, limit)) {
		g_assert_false(has_new_profile(fixture));
		g_assert_false(has_new_run(fixture));
		limit += 150000;
		g_assert_cmpuint(limit, <, 100000000);
	}
	g_assert_cmpuint(limit, >, 0);
	g_assert_true(has_new_run(fixture));
	g_assert_cmpuint(count_files(fixture->folder), ==, 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} cases[] = {
		{"/interrupted_write/killed_while_writing", test_killed_while_writing},
		{"/interrupted_write/killed_while_adding", test_killed_while_adding},
		{"/interrupted_write/left_behind", test_left_behind},
		{"/interrupted_write/written_over_a_journal", test_written_over_a_journal},
		{"/interrupted_write/disk_full_while_writing", test_disk_full_while_writing},
		{"/interrupted_write/disk_full_while_adding", test_disk_full_while_adding},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_test_add(cases[i].name, Fixture, NULL, set_up, cases[i].run, tear_down);
	return g_test_run();
}
