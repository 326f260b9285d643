/* SPDX-License-Identifier: MIT */
/* Readers change nothing beside a profile, and no journal makes lode delete or write other files.
 */
#include "random_profile.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	char *folder, *path, *journal, *log;
	LodeProfile *profile;
	LodeMiningRun *run;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = make_folder();
	fixture->path = g_build_filename(fixture->folder, "x.lode", NULL);
	fixture->journal = g_strconcat(fixture->path, "-journal", NULL);
	fixture->log = g_strconcat(fixture->path, "-wal", NULL);
	fixture->profile = random_profile_new(1, 200);
	fixture->run = random_run_new(1, "a", 2000);
	g_assert_true(lode_profile_store_write(fixture->path, fixture->profile, NULL, NULL));
	g_assert_true(lode_profile_store_add_run(
		fixture->path, fixture->profile, fixture->run, NULL, NULL));
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	lode_profile_free(fixture->profile);
	lode_mining_run_free(fixture->run);
	g_free(fixture->path);
	g_free(fixture->journal);
	g_free(fixture->log);
	remove_folder(fixture->folder);
}

static char *digest(const char *path)
{
	g_autofree char *bytes = NULL;
	gsize size;

	if (!g_file_get_contents(path, &bytes, &size, NULL))
		return NULL;
	return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guchar *)bytes, size);
}

/* Reads everything by every function that reads; the first failure. */
static GError *read_all(const char *path)
{
	GError *error = NULL;

	lode_profile_free(lode_profile_store_read(path, NULL, &error));
	if (error == NULL)
		lode_profile_free(lode_profile_store_read_with_memory(path, NULL, &error));
	if (error == NULL) {
		g_autoptr(GPtrArray) list = lode_profile_store_list_runs(path, &error);

		g_assert_true((list == NULL) == (error != NULL));
	}
	if (error == NULL)
		lode_mining_run_free(lode_profile_store_read_run(path, "a", &error));
	return error;
}

/* Reads, and checks that the folder is as it was; `message` NULL: that the profile is read. */
static void assert_reads(const Fixture *fixture, const char *message)
{
	g_autofree char *before = digest(fixture->path), *journal_before = digest(fixture->journal);
	guint n_files = count_files(fixture->folder);
	g_autoptr(GError) error = read_all(fixture->path);

	if (message == NULL) {
		g_assert_no_error(error);
	} else {
		g_assert_nonnull(error);
		if (strstr(error->message, message) == NULL)
			g_error("'%s' is not in '%s'", message, error->message);
	}
	g_autofree char *after = digest(fixture->path), *journal_after = digest(fixture->journal);
	g_assert_cmpstr(before, ==, after);
	g_assert_cmpstr(journal_before, ==, journal_after);
	g_assert_cmpuint(count_files(fixture->folder), ==, n_files);
}

static void assert_add_fails(const Fixture *fixture, const char *message)
{
	g_autoptr(GError) error = NULL;

	g_assert_false(lode_profile_store_add_run(
		fixture->path, fixture->profile, fixture->run, NULL, &error));
	if (strstr(error->message, message) == NULL)
		g_error("'%s' is not in '%s'", message, error->message);
}

static void append_number(GByteArray *out, guint32 value)
{
	value = GUINT32_TO_BE(value);
	g_byte_array_append(out, (const guint8 *)&value, sizeof(value));
}

/* A journal without pages that names `victim`, as a transaction over several databases has it:
 * https://www.sqlite.org/fileformat2.html, section 3. */
static void plant_journal(const Fixture *fixture, const char *victim)
{
	static const guint8 magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	guint32 sum = 0;
	struct stat status;

	g_assert_cmpint(g_stat(fixture->path, &status), ==, 0);
	g_byte_array_append(bytes, magic, sizeof(magic));
	append_number(bytes, 0);
	append_number(bytes, 1);
	append_number(bytes, (guint32)(status.st_size / 16384));
	append_number(bytes, 512);
	append_number(bytes, 16384);
	g_byte_array_set_size(bytes, 512);
	append_number(bytes, 0x40000000 / 16384 + 1);
	for (const char *c = victim; *c != '\0'; c++)
		sum += (guint8)*c;
	g_byte_array_append(bytes, (const guint8 *)victim, (guint)strlen(victim));
	append_number(bytes, (guint32)strlen(victim));
	append_number(bytes, sum);
	g_byte_array_append(bytes, magic, sizeof(magic));
	g_assert_true(g_file_set_contents(
		fixture->journal, (const char *)bytes->data, (gssize)bytes->len, NULL));
}

static void test_super_journal(Fixture *fixture, const void *data)
{
	g_autofree char *victim = g_build_filename(fixture->folder, "precious", NULL);

	(void)data;
	g_assert_true(g_file_set_contents(victim, "my work\n", -1, NULL));
	plant_journal(fixture, victim);
	assert_reads(fixture, "names another file");
	assert_add_fails(fixture, "names another file");
	g_assert_true(g_file_test(victim, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(fixture->journal, G_FILE_TEST_EXISTS));
	/* Whoever replaces the profile wants neither it nor its journal. */
	g_assert_true(lode_profile_store_write(fixture->path, fixture->profile, NULL, NULL));
	g_assert_true(g_file_test(victim, G_FILE_TEST_EXISTS));
	g_assert_false(g_file_test(fixture->journal, G_FILE_TEST_EXISTS));
}

static void test_super_journal_is_the_profile(Fixture *fixture, const void *data)
{
	(void)data;
	plant_journal(fixture, fixture->path);
	assert_reads(fixture, "names another file");
	assert_add_fails(fixture, "names another file");
	g_assert_true(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
}

static void execute(sqlite3 *handle, const char *sql)
{
	char *message = NULL;

	sqlite3_exec(handle, sql, NULL, NULL, &message);
	g_assert_cmpstr(message, ==, NULL);
}

static void copy_file(const char *from, const char *to)
{
	g_autofree char *bytes = NULL;
	gsize size;

	g_assert_true(g_file_get_contents(from, &bytes, &size, NULL));
	g_assert_true(g_file_set_contents(to, bytes, (gssize)size, NULL));
}

/* Leaves a profile and its journal as a writer that is killed half-way does. */
static void interrupt_write(const Fixture *fixture)
{
	g_autofree char *half = g_build_filename(fixture->folder, "half", NULL);
	g_autofree char *half_journal = g_build_filename(fixture->folder, "half-journal", NULL);
	sqlite3 *handle;

	copy_file(fixture->path, half);
	g_assert_cmpint(sqlite3_open(half, &handle), ==, SQLITE_OK);
	/* A small cache, so that changed pages are in the file before the end. */
	execute(handle, "PRAGMA cache_size = 2; BEGIN;"
			"UPDATE instruction SET count = -1; DELETE FROM mined_sequence;"
			"UPDATE function SET name = 'half done'");
	copy_file(half, fixture->path);
	copy_file(half_journal, fixture->journal);
	sqlite3_close(handle);
	g_unlink(half);
}

static void test_interrupted_write_is_read(Fixture *fixture, const void *data)
{
	g_autofree char *before = digest(fixture->path);
	g_autoptr(GError) error = NULL;

	(void)data;
	interrupt_write(fixture);
	g_autofree char *half_done = digest(fixture->path);
	g_assert_cmpstr(before, !=, half_done);
	assert_reads(fixture, NULL);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_memory(fixture->path, NULL, &error);
	g_assert_no_error(error);
	assert_equal_profiles(fixture->profile, profile);
	/* A writer undoes it in place. */
	g_assert_true(lode_profile_store_add_run(
		fixture->path, fixture->profile, fixture->run, NULL, &error));
	g_assert_false(g_file_test(fixture->journal, G_FILE_TEST_EXISTS));
	assert_reads(fixture, NULL);
}

static void test_interrupted_write_through_a_link(Fixture *fixture, const void *data)
{
	g_autofree char *link_path = g_build_filename(fixture->folder, "link.lode", NULL);

	(void)data;
	interrupt_write(fixture);
	g_assert_cmpint(symlink("x.lode", link_path), ==, 0);
	g_autoptr(GError) error = read_all(link_path);
	g_assert_no_error(error);
	assert_reads(fixture, NULL);
}

static void test_no_space_for_the_copy(Fixture *fixture, const void *data)
{
	struct rlimit bound = {1000, 1000};

	(void)data;
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
		g_test_trap_assert_passed();
		return;
	}
	interrupt_write(fixture);
	signal(SIGXFSZ, SIG_IGN);
	g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &bound), ==, 0);
	assert_reads(fixture, "a copy in which to undo that cannot be made: ");
}

static void test_junk_journal(Fixture *fixture, const void *data)
{
	(void)data;
	g_assert_true(g_file_set_contents(fixture->journal, "notes of mine", -1, NULL));
	assert_reads(fixture, NULL);
}

/* SQLite would make the file that the link names and write the journal into it. */
static void test_journal_is_a_link(Fixture *fixture, const void *data)
{
	g_autofree char *victim = g_build_filename(fixture->folder, "precious", NULL);

	(void)data;
	g_assert_cmpint(symlink("precious", fixture->journal), ==, 0);
	assert_add_fails(fixture, "is not one that its owner or you left");
	g_assert_false(g_file_test(victim, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_set_contents(victim, "my work\n", -1, NULL));
	assert_reads(fixture, "is not one that its owner or you left");
	assert_add_fails(fixture, "is not one that its owner or you left");
	g_autofree char *text = NULL;
	g_assert_true(g_file_get_contents(victim, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "my work\n");
}

static void test_journal_of_another(Fixture *fixture, const void *data)
{
	(void)data;
	interrupt_write(fixture);
	if (chown(fixture->journal, 12345, (gid_t)-1) != 0) {
		g_test_skip("only root can give a file away");
		return;
	}
	assert_reads(fixture, "is not one that its owner or you left");
	assert_add_fails(fixture, "is not one that its owner or you left");
}

/* The user may have switched the log on: without one there is nothing to write for a reader. */
static void test_write_ahead_log(Fixture *fixture, const void *data)
{
	g_autofree char *half = g_build_filename(fixture->folder, "half", NULL);
	g_autofree char *half_log = g_build_filename(fixture->folder, "half-wal", NULL);
	sqlite3 *handle;

	(void)data;
	g_assert_cmpint(sqlite3_open(fixture->path, &handle), ==, SQLITE_OK);
	execute(handle, "PRAGMA journal_mode = WAL");
	sqlite3_close(handle);
	assert_reads(fixture, NULL);
	copy_file(fixture->path, half);
	g_assert_cmpint(sqlite3_open(half, &handle), ==, SQLITE_OK);
	execute(handle, "DELETE FROM meta");
	copy_file(half_log, fixture->log);
	sqlite3_close(handle);
	assert_reads(fixture, "holds changes that are not in it yet");
	g_assert_cmpint(g_unlink(fixture->log), ==, 0);
	g_assert_true(lode_profile_store_add_run(
		fixture->path, fixture->profile, fixture->run, NULL, NULL));
	assert_reads(fixture, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} cases[] = {
		{"/planted_journal/super_journal", test_super_journal},
		{"/planted_journal/super_journal_is_the_profile",
			test_super_journal_is_the_profile},
		{"/planted_journal/interrupted_write_is_read", test_interrupted_write_is_read},
		{"/planted_journal/interrupted_write_through_a_link",
			test_interrupted_write_through_a_link},
		{"/planted_journal/no_space_for_the_copy", test_no_space_for_the_copy},
		{"/planted_journal/junk_journal", test_junk_journal},
		{"/planted_journal/journal_is_a_link", test_journal_is_a_link},
		{"/planted_journal/journal_of_another", test_journal_of_another},
		{"/planted_journal/write_ahead_log", test_write_ahead_log},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_test_add(cases[i].name, Fixture, NULL, set_up, cases[i].run, tear_down);
	return g_test_run();
}
