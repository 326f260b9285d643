/* SPDX-License-Identifier: MIT */
/* Inlined functions through the store: what is written is read, and broken rows are refused. */
#include "random_profile.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

static LodeProfile *random_inlinings(guint32 seed)
{
	LodeProfile *profile = random_profile_new(seed, 2);
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);

	for (uint32_t line = 1; line <= 5; line++)
		lode_profile_location(profile, "a.c", line, line % 2 == 0 ? "f" : NULL);
	for (int i = 0; i < 20; i++) {
		uint32_t outer = LODE_NONE;
		if (i > 0 && g_rand_boolean(random))
			outer = (uint32_t)g_rand_int_range(
				random, 0, (gint32)profile->code.inlinings->len);
		lode_profile_inlining(profile,
			(uint32_t)g_rand_int_range(random, 0, (gint32)profile->code.locations->len),
			outer);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i += 3)
		lode_profile_set_inlining(profile, i,
			(uint32_t)g_rand_int_range(
				random, 0, (gint32)profile->code.inlinings->len));
	return profile;
}

typedef struct {
	char *folder, *path;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = g_dir_make_tmp("lode-inlinings-XXXXXX", NULL);
	fixture->path = g_build_filename(fixture->folder, "x.lode", NULL);
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	g_unlink(fixture->path);
	g_rmdir(fixture->folder);
	g_free(fixture->path);
	g_free(fixture->folder);
}

static void write_profile(const Fixture *fixture, LodeProfile *profile)
{
	g_autoptr(GError) error = NULL;

	lode_profile_store_write(fixture->path, profile, NULL, &error);
	g_assert_no_error(error);
}

static void test_round_trip(Fixture *fixture, const void *data)
{
	(void)data;
	for (guint32 seed = 0; seed < 20; seed++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = random_inlinings(seed);
		write_profile(fixture, profile);
		g_autoptr(LodeProfile) again = lode_profile_store_read(fixture->path, NULL, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(again->code.inlinings->len, ==, profile->code.inlinings->len);
		g_assert_true(memcmp(again->code.inlinings->data, profile->code.inlinings->data,
				      again->code.inlinings->len * sizeof(LodeInlining)) == 0);
		for (uint32_t i = 0; i < profile->code.instructions->len; i++)
			g_assert_cmpuint(lode_profile_inlining_of(again, i), ==,
				lode_profile_inlining_of(profile, i));
	}
}

static void change(const char *path, const char *sql)
{
	sqlite3 *database;

	g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
	sqlite3_close(database);
}

/* As profiles of an earlier lode are. */
static void test_absent(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = random_inlinings(1);

	(void)data;
	write_profile(fixture, profile);
	change(fixture->path, "DROP TABLE inlining_of; DROP TABLE inlining");
	g_autoptr(LodeProfile) again = lode_profile_store_read(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(again->code.inlinings->len, ==, 0);
	g_assert_cmpuint(lode_profile_inlining_of(again, 0), ==, LODE_NONE);
}

static void test_harm(Fixture *fixture, const void *data)
{
	static const struct {
		const char *sql, *message;
	} harms[] = {
		{"UPDATE inlining SET location = 1000 WHERE id = 2", "table 'inlining', row 2: "},
		{"UPDATE inlining SET outer_inlining = 1000 WHERE id = 2",
			"table 'inlining', row 2: "},
		{"UPDATE inlining SET outer_inlining = id WHERE id = 2",
			"row 2: its outer one does not stand before it"},
		{"UPDATE inlining SET outer_inlining = 3 WHERE id = 2",
			"row 2: its outer one does not stand before it"},
		{"UPDATE inlining_of SET inlining = 1000 WHERE id = 1",
			"table 'inlining_of', row 1: "},
		{"DELETE FROM inlining_of WHERE id = (SELECT max(id) FROM inlining_of)",
			"there is not one for each instruction"},
		{"INSERT INTO inlining SELECT (SELECT max(id) + 1 FROM inlining), location, "
		 "outer_inlining FROM inlining WHERE id = 1",
			"it has been there before"},
		{"WITH RECURSIVE n(i) AS (SELECT max(id) + 1 FROM inlining UNION ALL SELECT i + 1 "
		 "FROM n LIMIT 100000) INSERT INTO inlining SELECT i, 1, i - 1 FROM n",
			"it is in too many others"},
	};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(harms); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = random_inlinings(2);
		write_profile(fixture, profile);
		change(fixture->path, harms[i].sql);
		g_assert_null(lode_profile_store_read(fixture->path, NULL, &error));
		g_assert_nonnull(error);
		if (strstr(error->message, harms[i].message) == NULL)
			g_error("'%s' has not '%s'", error->message, harms[i].message);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(path, function)                                                                        \
	g_test_add("/inlining-tables/" path, Fixture, NULL, set_up, function, tear_down)
	ADD("round-trip", test_round_trip);
	ADD("absent", test_absent);
	ADD("harm", test_harm);
	return g_test_run();
}
