/* SPDX-License-Identifier: MIT */
/* Runs are stored beside the profile, replaced by name, listed in order, and read as they were. */
#include "base/error.h"
#include "model/findings.h"
#include "model/index.h"
#include "old_profile.h"
#include "random_profile.h"
#include "store/profile_store.h"
#include "store/run_parameters.h"

#include <gio/gio.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

typedef struct {
	char *folder, *path;
	LodeProfile *profile;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = make_folder();
	fixture->path = g_build_filename(fixture->folder, "x.lode", NULL);
	fixture->profile = random_profile_new(1, 20);
	g_assert_true(lode_profile_store_write(fixture->path, fixture->profile, NULL, NULL));
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	lode_profile_free(fixture->profile);
	g_free(fixture->path);
	remove_folder(fixture->folder);
}

static void add_run(const Fixture *fixture, const LodeMiningRun *run)
{
	g_autoptr(GError) error = NULL;

	lode_profile_store_add_run(fixture->path, fixture->profile, run, NULL, &error);
	g_assert_no_error(error);
}

static void assert_has_run(const Fixture *fixture, const char *name, const LodeMiningRun *run)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun) again = lode_profile_store_read_run(fixture->path, name, &error);

	g_assert_no_error(error);
	assert_equal_runs(run, again);
}

static void assert_list(const Fixture *fixture, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) list = lode_profile_store_list_runs(fixture->path, &error);
	g_autoptr(GString) names = g_string_new(NULL);

	g_assert_no_error(error);
	for (guint i = 0; i < list->len; i++) {
		const LodeRunSummary *summary = g_ptr_array_index(list, i);
		g_string_append_printf(names, "%s ", summary->name);
	}
	g_assert_cmpstr(names->str, ==, expected);
}

static void test_round_trip(Fixture *fixture, const void *data)
{
	(void)data;
	for (guint32 seed = 0; seed < 40; seed++) {
		g_autofree char *name = g_strdup_printf("run '%u'", seed);
		g_autoptr(LodeMiningRun) run = random_run_new(seed, name, seed * 5);
		add_run(fixture, run);
		assert_has_run(fixture, name, run);
		assert_has_run(fixture, NULL, run);
	}
	g_autoptr(LodeMiningRun) first = random_run_new(11, "run '11'", 55);
	assert_has_run(fixture, "run '11'", first);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_memory(fixture->path, NULL, NULL);
	g_assert_nonnull(profile);
	assert_equal_profiles(fixture->profile, profile);
}

static void test_replaced(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) first = random_run_new(1, "a", 300);
	g_autoptr(LodeMiningRun) second = random_run_new(2, "b", 200);
	g_autoptr(LodeMiningRun) third = random_run_new(3, "a", 100);

	(void)data;
	add_run(fixture, first);
	add_run(fixture, second);
	assert_list(fixture, "a b ");
	add_run(fixture, third);
	assert_list(fixture, "b a ");
	assert_has_run(fixture, "a", third);
	assert_has_run(fixture, "b", second);
	assert_has_run(fixture, NULL, third);
}

/* The new run gets the id of the old one, and must not get its findings. */
static void test_replaced_last(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) many_findings = random_run_new(2, "a", 100);
	g_autoptr(LodeMiningRun) other_findings = random_run_new(5, "a", 3);
	g_autoptr(LodeMiningRun) no_findings = random_run_new(6, "a", 100);

	(void)data;
	g_assert_cmpuint(many_findings->findings->findings->len, ==, 10);
	add_run(fixture, many_findings);
	add_run(fixture, other_findings);
	assert_has_run(fixture, "a", other_findings);
	add_run(fixture, many_findings);
	add_run(fixture, no_findings);
	assert_has_run(fixture, "a", no_findings);
}

static void test_summary(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(1, "a", 7);

	(void)data;
	g_free((char *)run->parameters.weight);
	run->parameters.weight = NULL;
	add_run(fixture, run);
	g_autoptr(GPtrArray) list = lode_profile_store_list_runs(fixture->path, NULL);
	g_assert_cmpuint(list->len, ==, 1);
	const LodeRunSummary *summary = g_ptr_array_index(list, 0);
	g_assert_cmpstr(summary->weight, ==, "cycles");
	g_assert_true(g_str_has_prefix(summary->parameters, "{\"weight\":null,"));
	g_assert_cmpuint(summary->n_sequences, ==, 7);
	g_assert_true(summary->is_complete == run->is_complete);
	g_assert_true(summary->seconds == run->seconds);
}

static void test_not_found(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun) run = random_run_new(1, "there", 1);

	(void)data;
	assert_list(fixture, "");
	g_assert_null(lode_profile_store_read_run(fixture->path, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message, "lode mine"));
	g_clear_error(&error);
	add_run(fixture, run);
	g_assert_null(lode_profile_store_read_run(fixture->path, "gone", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message, "no run 'gone'; it has 'there'"));
	g_clear_error(&error);
	g_assert_false(
		lode_profile_store_add_run("/nowhere/x.lode", fixture->profile, run, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

static void assert_count(const Fixture *fixture, const char *sql, int expected)
{
	sqlite3 *handle;
	sqlite3_stmt *query;

	g_assert_cmpint(sqlite3_open(fixture->path, &handle), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_prepare_v2(handle, sql, -1, &query, NULL), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_step(query), ==, SQLITE_ROW);
	g_assert_cmpint(sqlite3_column_int(query, 0), ==, expected);
	sqlite3_finalize(query);
	sqlite3_close(handle);
}

/* Runs of a profile of version 3 are read, and stay when the first run is added. */
static void test_version_3(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) first = random_run_new(3, "a", 200);
	g_autoptr(LodeMiningRun) none = random_run_new(4, "none", 0);
	g_autoptr(LodeMiningRun) second = random_run_new(8, "b", 100);
	g_autoptr(LodeMiningRun) more = random_run_new(11, "c", 50);
	g_autoptr(LodeMiningRun) replaced = random_run_new(12, "a", 60);

	(void)data;
	add_run(fixture, first);
	add_run(fixture, none);
	add_run(fixture, second);
	make_old_profile(fixture->path);
	assert_has_run(fixture, "a", first);
	assert_has_run(fixture, "none", none);
	assert_has_run(fixture, NULL, second);
	assert_count(fixture, "PRAGMA user_version", 3);
	add_run(fixture, more);
	assert_count(fixture, "PRAGMA user_version", LODE_SCHEMA_VERSION_RUNS);
	assert_count(fixture, "SELECT value FROM meta WHERE key = 'schema_version'",
		LODE_SCHEMA_VERSION_RUNS);
	assert_list(fixture, "a none b c ");
	assert_has_run(fixture, "a", first);
	assert_has_run(fixture, "none", none);
	assert_has_run(fixture, "b", second);
	assert_has_run(fixture, "c", more);
	assert_count(fixture, "SELECT count(*) FROM sequence_text", 350);
	assert_count(fixture, "SELECT count(*) FROM sequence", 350);
	add_run(fixture, replaced);
	assert_has_run(fixture, "a", replaced);
	assert_count(fixture, "SELECT count(*) FROM mined_sequence WHERE run = 1", 0);
	assert_count(fixture, "SELECT count(*) FROM mined_element WHERE run = 1", 0);
	assert_count(fixture, "SELECT count(*) FROM mined_support WHERE run = 1", 0);
}

/* Sequences with the same figures have them in common. */
static void test_in_common(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(3, "a", 100);
	guint n_events = run->events->len;

	(void)data;
	for (guint i = 1; i < 100; i++) {
		LodeSequence *sequence = &LODE_AT(run->sequences, LodeSequence, i);
		LodeSequence like = LODE_AT(run->sequences, LodeSequence, i % 4);
		like.first_item = sequence->first_item;
		like.n_items = sequence->n_items;
		*sequence = like;
		if (n_events > 0)
			memmove(&LODE_AT(run->event_supports, double, i *n_events),
				&LODE_AT(run->event_supports, double, i % 4 * n_events),
				n_events * sizeof(double));
	}
	add_run(fixture, run);
	assert_has_run(fixture, "a", run);
	assert_count(fixture, "SELECT count(*) FROM mined_sequence", 100);
	assert_count(fixture, "SELECT count(*) FROM mined_support", 4);
	/* An event alone makes a difference. */
	g_assert_cmpuint(n_events, >, 0);
	LODE_AT(run->event_supports, double, 50 * n_events) = 0.25;
	add_run(fixture, run);
	assert_has_run(fixture, "a", run);
	assert_count(fixture, "SELECT count(*) FROM mined_support", 5);
}

static bool is_taken(const Fixture *fixture, const LodeProfile *profile)
{
	g_autoptr(LodeMiningRun) run = random_run_new(1, "a", 10);
	g_autoptr(GError) error = NULL;

	if (lode_profile_store_add_run(fixture->path, profile, run, NULL, &error))
		return true;
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message, "another profile has taken its place"));
	return false;
}

/* A run belongs to the profile that it was mined from, not to what lies at its path by now. */
static void test_replaced_profile(Fixture *fixture, const void *data)
{
	g_autoptr(LodeProfile) other = random_profile_new(2, 20);
	g_autoptr(LodeProfile) same = random_profile_new(1, 20);

	(void)data;
	g_autoptr(LodeProfile) mined = lode_profile_store_read(fixture->path, NULL, NULL);
	g_assert_true(lode_profile_store_write(fixture->path, other, NULL, NULL));
	g_assert_false(is_taken(fixture, mined));
	g_assert_false(is_taken(fixture, fixture->profile));
	assert_list(fixture, "");
	g_assert_true(is_taken(fixture, other));
	g_assert_true(lode_profile_store_write(fixture->path, same, NULL, NULL));
	g_assert_true(is_taken(fixture, mined));
}

static void forget_content(const Fixture *fixture)
{
	sqlite3 *handle;

	g_assert_cmpint(sqlite3_open(fixture->path, &handle), ==, SQLITE_OK);
	g_assert_cmpint(
		sqlite3_exec(handle, "DELETE FROM meta WHERE key = 'content'", NULL, NULL, NULL),
		==, SQLITE_OK);
	g_assert_cmpint(sqlite3_changes(handle), ==, 1);
	sqlite3_close(handle);
}

/* Profiles written before their content had a hash are told apart by device and inode. */
static void test_replaced_old_profile(Fixture *fixture, const void *data)
{
	g_autoptr(LodeProfile) other = random_profile_new(2, 20);

	(void)data;
	forget_content(fixture);
	g_autoptr(LodeProfile) mined = lode_profile_store_read(fixture->path, NULL, NULL);
	g_assert_true(is_taken(fixture, mined));
	g_assert_true(lode_profile_store_write(fixture->path, other, NULL, NULL));
	g_assert_false(is_taken(fixture, mined));
	forget_content(fixture);
	g_assert_false(is_taken(fixture, mined));
}

static void test_cancelled(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun) old = random_run_new(1, "a", 10);
	g_autoptr(LodeMiningRun) new = random_run_new(2, "a", 20000);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	LodeProgress progress = {.cancellable = cancellable};

	(void)data;
	add_run(fixture, old);
	g_cancellable_cancel(cancellable);
	g_assert_false(lode_profile_store_add_run(
		fixture->path, fixture->profile, new, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	assert_has_run(fixture, "a", old);
	g_assert_cmpuint(count_files(fixture->folder), ==, 1);
}

static void assert_refused(const Fixture *fixture, const LodeMiningRun *run)
{
	g_autoptr(GError) error = NULL;

	g_assert_false(
		lode_profile_store_add_run(fixture->path, fixture->profile, run, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "run 'a', sequence 3: "));
	assert_list(fixture, "");
}

/* What could not be read again is not written. */
static void test_broken_runs(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(2, "a", 10);
	LodeSequence *third = &g_array_index(run->sequences, LodeSequence, 2);
	uint32_t *item = &g_array_index(run->items, uint32_t, third->first_item);

	(void)data;
	*item += run->attributes->len;
	assert_refused(fixture, run);
	*item -= run->attributes->len + LODE_ITEM_START;
	assert_refused(fixture, run);
	*item += LODE_ITEM_START;
	third->weight = NAN;
	assert_refused(fixture, run);
	third->weight = 0.5;
	third->n_items = UINT32_MAX;
	assert_refused(fixture, run);
}

/* Many sequences of one attribute of 1 MB would make a file of as many MB. */
static void test_long_names(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(2, "a", 1000);
	g_autoptr(GError) error = NULL;

	(void)data;
	for (guint i = 0; i < run->attributes->len; i++) {
		g_free(g_ptr_array_index(run->attributes, i));
		g_ptr_array_index(run->attributes, i) = g_strnfill(1 << 20, (gchar)('a' + i));
	}
	g_assert_false(
		lode_profile_store_add_run(fixture->path, fixture->profile, run, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_nonnull(strstr(error->message, "attribute names of more than 1024 bytes"));
	assert_list(fixture, "");
}

static void assert_findings_refused(const Fixture *fixture, const LodeMiningRun *run)
{
	g_autoptr(GError) error = NULL;

	g_assert_false(
		lode_profile_store_add_run(fixture->path, fixture->profile, run, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "table 'finding', row 2: "));
	assert_list(fixture, "");
}

static void test_broken_findings(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(2, "a", 10);
	LodeFinding *second = lode_findings_at(run->findings, 1);
	LodeFinding sound = *second;

	(void)data;
	second->focus = 2;
	assert_findings_refused(fixture, run);
	*second = sound;
	second->n_elements = 0;
	assert_findings_refused(fixture, run);
	*second = sound;
	second->first_element = 1000;
	assert_findings_refused(fixture, run);
	*second = sound;
	second->time = NAN;
	assert_findings_refused(fixture, run);
	*second = sound;
	second->each = -1;
	assert_findings_refused(fixture, run);
	*second = sound;
	second->executed = -0.5;
	assert_findings_refused(fixture, run);
	*second = sound;
	second->n_places = 1000;
	assert_findings_refused(fixture, run);
	*second = sound;
	g_array_index(run->findings->places, LodeFindingPlace, second->first_place).instruction =
		UINT32_MAX - 1;
	assert_findings_refused(fixture, run);
	g_array_index(run->findings->places, LodeFindingPlace, second->first_place).instruction = 0;
	add_run(fixture, run);
}

static void assert_parameters(const char *json, const char *message)
{
	LodeMiningParameters defaults;
	g_autoptr(GError) error = NULL;

	lode_mining_parameters_init(&defaults);
	g_autoptr(LodeMiningRun) run = lode_mining_run_new("a", &defaults);
	bool has_worked = lode_run_parameters_from_json(&run->parameters, json, &error);
	g_assert_true(has_worked == (message == NULL));
	if (message != NULL)
		g_assert_nonnull(strstr(error->message, message));
}

static void test_parameter_text(void)
{
	assert_parameters("{}", NULL);
	assert_parameters(" { \"gap\" : 3 , \"weight\" : \"\\u00fc\\ud83d\\ude00\\n\" } ", NULL);
	assert_parameters("{\"of a later lode\":\"x\",\"gap\":1}", NULL);
	assert_parameters("{\"gap\":-1}", "'gap'");
	assert_parameters("{\"gap\":4294967296}", "'gap'");
	assert_parameters("{\"gap\":\"3\"}", "'gap'");
	assert_parameters("{\"min_support\":nan}", "'min_support'");
	assert_parameters("{\"flow\":\"sideways\"}", "'flow'");
	assert_parameters("{\"only_closed\":1}", "'only_closed'");
	assert_parameters("{\"gap\":null}", "'gap'");
	static const char *const broken[] = {"", "{", "[]", "{\"gap\"}", "{\"gap\":1", "{\"gap\":}",
		"{\"gap\":1,}", "{} x", "{\"gap\":[1]}", "{\"x\":{\"y\":1}}", "{\"x\":\"\\u0000\"}",
		"{\"x\":\"\\ud800\"}", "{\"x\":\"\\q\"}", "{\"x\":\"", "{\"x\":\"\\",
		"{\"x\":\"\\u1"};
	for (size_t i = 0; i < G_N_ELEMENTS(broken); i++)
		assert_parameters(broken[i], "flat JSON object");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} cases[] = {
		{"/run_store/round_trip", test_round_trip},
		{"/run_store/replaced", test_replaced},
		{"/run_store/replaced_last", test_replaced_last},
		{"/run_store/summary", test_summary},
		{"/run_store/not_found", test_not_found},
		{"/run_store/version_3", test_version_3},
		{"/run_store/in_common", test_in_common},
		{"/run_store/replaced_profile", test_replaced_profile},
		{"/run_store/replaced_old_profile", test_replaced_old_profile},
		{"/run_store/cancelled", test_cancelled},
		{"/run_store/broken_runs", test_broken_runs},
		{"/run_store/long_names", test_long_names},
		{"/run_store/broken_findings", test_broken_findings},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_test_add(cases[i].name, Fixture, NULL, set_up, cases[i].run, tear_down);
	g_test_add_func("/run_store/parameter_text", test_parameter_text);
	return g_test_run();
}
