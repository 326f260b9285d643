/* SPDX-License-Identifier: MIT */
/* The views that schema.sql offers to users say the same as the model's functions. */
#include "model/observed/windows.h"
#include "random_profile.h"
#include "store/profile_store.h"

#include <sqlite3.h>

typedef struct {
	char *folder;
	LodeProfile *profile;
	LodeMiningRun *run;
	sqlite3 *handle;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = make_folder();
	g_autofree char *path = g_build_filename(fixture->folder, "x.lode", NULL);
	fixture->profile = random_profile_new(9, 30);
	fixture->run = random_run_new(9, "a", 50);
	g_assert_true(lode_profile_store_write(path, fixture->profile, NULL, NULL));
	g_assert_true(lode_profile_store_add_run(path, fixture->profile, fixture->run, NULL, NULL));
	g_assert_cmpint(sqlite3_open(path, &fixture->handle), ==, SQLITE_OK);
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	sqlite3_close(fixture->handle);
	lode_profile_free(fixture->profile);
	lode_mining_run_free(fixture->run);
	remove_folder(fixture->folder);
}

static sqlite3_stmt *query(const Fixture *fixture, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(fixture->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		g_error("%s", sqlite3_errmsg(fixture->handle));
	return statement;
}

static void test_sequence_text(Fixture *fixture, const void *data)
{
	sqlite3_stmt *rows = query(fixture, "SELECT id, sequence FROM sequence_text ORDER BY id");
	guint n = 0;

	(void)data;
	for (; sqlite3_step(rows) == SQLITE_ROW; n++) {
		g_autofree char *text = lode_mining_run_sequence_text(fixture->run, n);
		g_assert_cmpint(sqlite3_column_int64(rows, 0), ==, n + 1);
		g_assert_cmpstr((const char *)sqlite3_column_text(rows, 1), ==, text);
	}
	g_assert_cmpuint(n, ==, fixture->run->sequences->len);
	sqlite3_finalize(rows);
}

static void test_sequence_event(Fixture *fixture, const void *data)
{
	sqlite3_stmt *rows = query(fixture, "SELECT value FROM sequence_event "
					    "WHERE run = 'a' AND sequence = ? AND event = ?");
	const LodeMiningRun *run = fixture->run;

	(void)data;
	g_assert_cmpuint(run->events->len, >, 0);
	for (guint i = 0; i < run->event_supports->len; i++) {
		const char *name = g_ptr_array_index(run->events, i % run->events->len);
		sqlite3_bind_int64(rows, 1, i / run->events->len + 1);
		sqlite3_bind_text(rows, 2, name, -1, SQLITE_STATIC);
		g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_ROW);
		g_assert_cmpfloat(sqlite3_column_double(rows, 0), ==,
			g_array_index(run->event_supports, double, i));
		sqlite3_reset(rows);
	}
	sqlite3_finalize(rows);
}

static void test_event_value(Fixture *fixture, const void *data)
{
	sqlite3_stmt *rows = query(fixture, "SELECT value FROM event_value "
					    "WHERE event = ? AND instruction = ?");
	LodeProfile *profile = fixture->profile;

	(void)data;
	for (guint event = 0; event < profile->code.events->len; event++)
		for (guint i = 0; i < profile->code.instructions->len; i++) {
			double expected = lode_profile_event_value(profile, event, i);
			sqlite3_bind_int64(rows, 1, event + 1);
			sqlite3_bind_int64(rows, 2, i + 1);
			/* No row means 0. The order of adding may differ. */
			double value = sqlite3_step(rows) == SQLITE_ROW
			                       ? sqlite3_column_double(rows, 0)
			                       : 0;
			g_assert_cmpfloat_with_epsilon(
				value, expected, expected * 1e-12 + G_MINDOUBLE);
			sqlite3_reset(rows);
		}
	sqlite3_finalize(rows);
}

static void test_all_edge(Fixture *fixture, const void *data)
{
	const LodeProfile *profile = fixture->profile;
	gint64 n = profile->code.edges->len;

	(void)data;
	for (guint i = 0; i < profile->code.instructions->len; i++)
		n += lode_profile_instruction(profile, i)->next_count >= 0;
	sqlite3_stmt *rows = query(
		fixture, "SELECT count(*), count(kind), count(count) FROM all_edge");
	g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_ROW);
	for (int column = 0; column < 3; column++)
		g_assert_cmpint(sqlite3_column_int64(rows, column), ==, n);
	sqlite3_finalize(rows);
}

static void test_instruction_attribute(Fixture *fixture, const void *data)
{
	const LodeProfile *profile = fixture->profile;
	sqlite3_stmt *rows = query(fixture, "SELECT attribute - 1, name FROM instruction_attribute "
					    "WHERE instruction = ? ORDER BY attribute");

	(void)data;
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		guint set = lode_profile_instruction(profile, i)->attribute_set;
		LodeAttributeSet range = LODE_AT(
			profile->code.attribute_sets, LodeAttributeSet, set);
		sqlite3_bind_int64(rows, 1, i + 1);
		for (guint k = 0; k < range.n; k++) {
			guint id = LODE_AT(profile->code.set_members, uint32_t, range.first + k);
			g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_ROW);
			g_assert_cmpint(sqlite3_column_int64(rows, 0), ==, id);
			g_assert_cmpstr((const char *)sqlite3_column_text(rows, 1), ==,
				g_ptr_array_index(profile->code.attributes, id));
		}
		g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_DONE);
		sqlite3_reset(rows);
	}
	sqlite3_finalize(rows);
}

static void test_hot_instruction(Fixture *fixture, const void *data)
{
	LodeProfile *profile = fixture->profile;
	sqlite3_stmt *rows = query(fixture, "SELECT instruction, weight, function, line, image "
					    "FROM hot_instruction");
	double last = G_MAXDOUBLE;
	guint n = 0;

	(void)data;
	for (; sqlite3_step(rows) == SQLITE_ROW; n++) {
		uint32_t id = (uint32_t)sqlite3_column_int64(rows, 0) - 1;
		double weight = sqlite3_column_double(rows, 1);
		const LodeInstruction *instruction = lode_profile_instruction(profile, id);
		const LodeFunction *function = lode_profile_function(
			profile, instruction->function);
		g_assert_cmpfloat(weight, <=, last);
		g_assert_cmpfloat_with_epsilon(weight,
			lode_profile_event_value(profile, profile->code.weight_event, id),
			weight * 1e-12 + G_MINDOUBLE);
		g_assert_cmpstr((const char *)sqlite3_column_text(rows, 2), ==, function->name);
		g_assert_cmpstr((const char *)sqlite3_column_text(rows, 4), ==,
			lode_profile_image(profile, function->image)->path);
		last = weight;
	}
	g_assert_cmpuint(n, ==, profile->code.instructions->len);
	sqlite3_finalize(rows);
}

static void test_observed(Fixture *fixture, const void *data)
{
	LodeProfile *profile = fixture->profile;
	const LodeWindows *windows = profile->windows;
	sqlite3_stmt *rows = query(fixture, "SELECT source, target, function, address, share, "
					    "steps FROM observed_edge ORDER BY source, target");
	guint n = 0;

	(void)data;
	for (; sqlite3_step(rows) == SQLITE_ROW; n++) {
		uint32_t source = (uint32_t)sqlite3_column_int64(rows, 0) - 1;
		uint32_t target = (uint32_t)sqlite3_column_int64(rows, 1) - 1;
		const LodeObservedEdge *edge = lode_windows_find_edge(windows, source, target);
		const LodeInstruction *instruction = lode_profile_instruction(profile, source);
		g_autofree char *address = g_strdup_printf(
			"0x%" G_GINT64_MODIFIER "x", instruction->address);
		g_assert_nonnull(edge);
		g_assert_cmpstr((const char *)sqlite3_column_text(rows, 2), ==,
			lode_profile_function(profile, instruction->function)->name);
		g_assert_cmpstr((const char *)sqlite3_column_text(rows, 3), ==, address);
		g_assert_cmpfloat_with_epsilon(sqlite3_column_double(rows, 4),
			edge->steps / (double)lode_windows_outcomes(windows, source), 1e-12);
		g_assert_cmpint(sqlite3_column_int64(rows, 5), ==, edge->steps);
	}
	g_assert_cmpuint(n, ==, windows->edges->len);
	sqlite3_finalize(rows);
	rows = query(fixture, "SELECT count(*), sum(unforetold), count(function) FROM "
			      "observed_instruction");
	g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_ROW);
	gint64 unforetold = 0;
	for (guint i = 0; i < windows->instructions->len; i++)
		unforetold += LODE_AT(windows->instructions, LodeObservedInstruction, i).unforetold;
	g_assert_cmpint(sqlite3_column_int64(rows, 0), ==, windows->instructions->len);
	g_assert_cmpint(sqlite3_column_int64(rows, 1), ==, unforetold);
	g_assert_cmpint(sqlite3_column_int64(rows, 2), ==, windows->instructions->len);
	sqlite3_finalize(rows);
}

static void test_integrity(Fixture *fixture, const void *data)
{
	static const char *const checks[] = {
		"PRAGMA integrity_check", "SELECT 'ok' FROM meta WHERE key = 'creator'"};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(checks); i++) {
		sqlite3_stmt *rows = query(fixture, checks[i]);
		g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_ROW);
		g_assert_cmpstr((const char *)sqlite3_column_text(rows, 0), ==, "ok");
		sqlite3_finalize(rows);
	}
	sqlite3_stmt *rows = query(fixture, "PRAGMA foreign_key_check");
	g_assert_cmpint(sqlite3_step(rows), ==, SQLITE_DONE);
	sqlite3_finalize(rows);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} cases[] = {
		{"/views/sequence_text", test_sequence_text},
		{"/views/sequence_event", test_sequence_event},
		{"/views/event_value", test_event_value},
		{"/views/all_edge", test_all_edge},
		{"/views/instruction_attribute", test_instruction_attribute},
		{"/views/hot_instruction", test_hot_instruction},
		{"/views/observed", test_observed},
		{"/views/integrity", test_integrity},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_test_add(cases[i].name, Fixture, NULL, set_up, cases[i].run, tear_down);
	return g_test_run();
}
