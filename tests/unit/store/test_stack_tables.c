/* SPDX-License-Identifier: MIT */
/* Call stacks through the store: what is written is read, and broken rows are refused. */
#include "model/stacks.h"
#include "random_profile.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

static uint32_t maybe_index(GRand *rand, guint n)
{
	return n > 0 && g_rand_boolean(rand) ? (uint32_t)g_rand_int_range(rand, 0, (gint32)n)
	                                     : LODE_NONE;
}

static char *maybe_name(LodeProfile *profile, GRand *rand)
{
	static const char *const names[] = {"main", "f'", "a;b", "\xff", "a\nb"};

	return g_rand_boolean(rand) ? lode_profile_intern(profile,
					      names[g_rand_int_range(rand, 0, G_N_ELEMENTS(names))])
	                            : NULL;
}

static LodeProfile *random_stacks(guint32 seed)
{
	LodeProfile *profile = random_profile_new(seed, 2);
	GRand *rand = g_rand_new_with_seed(seed);
	LodeStacks *stacks = profile->stacks = lode_stacks_new();

	for (int i = g_rand_int_range(rand, 1, 20); i > 0; i--) {
		const LodeFrame frame = {maybe_name(profile, rand), maybe_name(profile, rand),
			maybe_name(profile, rand),
			(uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand), g_rand_int(rand),
			g_rand_boolean(rand)};
		g_array_append_val(stacks->frames, frame);
	}
	for (int i = g_rand_int_range(rand, 1, 30); i > 0; i--) {
		const LodeStack stack = {
			(uint32_t)g_rand_int_range(rand, 0, (gint32)stacks->frames->len),
			maybe_index(rand, stacks->stacks->len)};
		g_array_append_val(stacks->stacks, stack);
	}
	for (int i = g_rand_int_range(rand, 1, 4); i > 0; i--) {
		const LodeStackThread thread = {
			maybe_name(profile, rand), g_rand_int(rand) / 2, g_rand_int(rand) / 2};
		g_array_append_val(stacks->threads, thread);
	}
	for (int i = g_rand_int_range(rand, 1, 50); i > 0; i--) {
		const LodeStackSample sample = {(uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand),
			g_rand_double(rand) * 1e9,
			(uint32_t)g_rand_int_range(rand, 0, (gint32)profile->code.events->len),
			(uint32_t)g_rand_int_range(rand, 0, (gint32)stacks->threads->len),
			maybe_index(rand, stacks->stacks->len),
			g_rand_boolean(rand) ? g_rand_int(rand) / 2 : 0};
		g_array_append_val(stacks->samples, sample);
	}
	random_waits_add(profile, seed, stacks->stacks->len);
	stacks->has_chains = g_rand_boolean(rand);
	stacks->has_tops = !stacks->has_chains && g_rand_boolean(rand);
	for (guint i = 0; i < stacks->stacks->len; i++) {
		uint32_t instruction = maybe_index(rand, profile->code.instructions->len);
		g_array_append_val(stacks->instructions, instruction);
	}
	g_rand_free(rand);
	return profile;
}

typedef struct {
	char *folder, *path;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = g_dir_make_tmp("lode-stacks-XXXXXX", NULL);
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

static void assert_equal_frames(const LodeStacks *a, const LodeStacks *b)
{
	g_assert_cmpuint(a->frames->len, ==, b->frames->len);
	for (guint i = 0; i < a->frames->len; i++) {
		const LodeFrame *left = &g_array_index(a->frames, LodeFrame, i);
		const LodeFrame *right = &g_array_index(b->frames, LodeFrame, i);
		g_assert_cmpstr(left->function, ==, right->function);
		g_assert_cmpstr(left->image, ==, right->image);
		g_assert_cmpstr(left->file, ==, right->file);
		g_assert_cmpuint(left->address, ==, right->address);
		g_assert_cmpuint(left->line, ==, right->line);
		g_assert_true(left->is_inlined == right->is_inlined);
	}
}

static void assert_equal_stacks(const LodeStacks *a, const LodeStacks *b)
{
	assert_equal_frames(a, b);
	g_assert_cmpuint(a->stacks->len, ==, b->stacks->len);
	for (guint i = 0; i < a->stacks->len; i++) {
		const LodeStack *left = &g_array_index(a->stacks, LodeStack, i);
		const LodeStack *right = &g_array_index(b->stacks, LodeStack, i);
		g_assert_cmpuint(left->frame, ==, right->frame);
		g_assert_cmpuint(left->outer, ==, right->outer);
		g_assert_cmpuint(lode_stacks_instruction(a, i), ==, lode_stacks_instruction(b, i));
	}
	g_assert_true(a->has_chains == b->has_chains && a->has_tops == b->has_tops);
	g_assert_cmpuint(a->threads->len, ==, b->threads->len);
	for (guint i = 0; i < a->threads->len; i++) {
		const LodeStackThread *left = &g_array_index(a->threads, LodeStackThread, i);
		const LodeStackThread *right = &g_array_index(b->threads, LodeStackThread, i);
		g_assert_cmpstr(left->name, ==, right->name);
		g_assert_cmpuint(left->pid, ==, right->pid);
		g_assert_cmpuint(left->tid, ==, right->tid);
	}
	g_assert_cmpuint(a->samples->len, ==, b->samples->len);
	for (guint i = 0; i < a->samples->len; i++) {
		const LodeStackSample *left = &g_array_index(a->samples, LodeStackSample, i);
		const LodeStackSample *right = &g_array_index(b->samples, LodeStackSample, i);
		g_assert_cmpuint(left->time_ns, ==, right->time_ns);
		g_assert_true(left->weight == right->weight);
		g_assert_cmpuint(left->event, ==, right->event);
		g_assert_cmpuint(left->thread, ==, right->thread);
		g_assert_cmpuint(left->stack, ==, right->stack);
		g_assert_cmpuint(left->n_more, ==, right->n_more);
	}
}

static void test_round_trip(Fixture *fixture, const void *data)
{
	(void)data;
	for (guint32 seed = 0; seed < 30; seed++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = random_stacks(seed);
		write_profile(fixture, profile);
		g_autoptr(LodeProfile)
			again = lode_profile_store_read_with_stacks(fixture->path, NULL, &error);
		g_assert_no_error(error);
		assert_equal_stacks(profile->stacks, again->stacks);
		assert_equal_waits(profile->waits, again->waits);
		g_autoptr(LodeProfile)
			without = lode_profile_store_read(fixture->path, NULL, &error);
		g_assert_no_error(error);
		g_assert_null(without->stacks);
		assert_equal_waits(profile->waits, without->waits);
	}
}

static void change(const char *path, const char *sql)
{
	sqlite3 *database;

	g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
	sqlite3_close(database);
}

static void test_absent(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = random_stacks(1);

	(void)data;
	write_profile(fixture, profile);
	change(fixture->path,
		"DROP TABLE stack_sample; DROP TABLE stack_thread; DROP TABLE stack; DROP TABLE "
		"frame");
	g_autoptr(LodeProfile)
		again = lode_profile_store_read_with_stacks(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(again->stacks);
}

/* Waits without the stacks that they are at; profiles of before have no waits. */
static void test_waits_absent(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = random_stacks(1);

	(void)data;
	write_profile(fixture, profile);
	change(fixture->path, "DELETE FROM wait_total");
	g_autoptr(LodeProfile)
		empty = lode_profile_store_read_with_stacks(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(empty->waits);
	change(fixture->path, "DROP TABLE wait_program; DROP TABLE wait_process; "
			      "DROP TABLE wait_slice; DROP TABLE wait_total; DROP TABLE wait; "
			      "DROP TABLE wait_cause");
	g_autoptr(LodeProfile)
		older = lode_profile_store_read_with_stacks(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(older->waits);
	g_clear_pointer(&profile->stacks, lode_stacks_free);
	lode_profile_store_write(fixture->path, profile, NULL, &error);
	g_assert_nonnull(strstr(error->message, "table 'wait', row "));
}

/* A profile of before all samples were kept: those that it has are call stacks. */
static void test_older(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = random_stacks(1);

	(void)data;
	profile->stacks->has_chains = false;
	write_profile(fixture, profile);
	change(fixture->path, "DROP TABLE stack_instruction; DROP TABLE stack_sample_more; "
			      "DELETE FROM meta WHERE key = 'has_call_chains'");
	g_autoptr(LodeProfile)
		again = lode_profile_store_read_with_stacks(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_true(again->stacks->has_chains);
	g_assert_cmpuint(again->stacks->instructions->len, ==, 0);
	g_assert_cmpuint(again->stacks->samples->len, ==, profile->stacks->samples->len);
}

static void test_harm(Fixture *fixture, const void *data)
{
	static const struct {
		const char *sql, *message;
	} harms[] = {
		{"UPDATE stack SET frame = 1000 WHERE id = 1", "table 'stack', row 1: "},
		{"UPDATE stack SET outer_stack = 1 WHERE id = 1",
			"table 'stack', row 1: its outer one does not stand before it"},
		{"UPDATE stack_sample SET stack = 1000 WHERE id = 1",
			"table 'stack_sample', row 1: "},
		{"UPDATE stack_sample SET thread = 1000 WHERE id = 1",
			"table 'stack_sample', row 1: "},
		{"UPDATE stack_sample SET event = 1000 WHERE id = 1",
			"table 'stack_sample', row 1: "},
		{"UPDATE stack_sample SET weight = -1 WHERE id = 1",
			"table 'stack_sample', row 1: "},
		{"UPDATE frame SET line = -1 WHERE id = 1", "table 'frame', row 1: "},
		{"UPDATE stack_instruction SET instruction = 100000",
			"table 'stack_instruction', row 1: "},
		{"INSERT INTO stack_instruction SELECT max(id) + 1, 1 FROM stack",
			"table 'stack_instruction', row "},
		{"INSERT INTO stack_sample_more SELECT max(id) + 1, 1 FROM stack_sample",
			"table 'stack_sample_more', row "},
		{"UPDATE stack_sample_more SET n_more = -1", "table 'stack_sample_more', row 1: "},
		{"INSERT INTO stack SELECT max(id) + 1, 1, max(id) FROM stack;"
		 "WITH RECURSIVE n(i) AS (SELECT max(id) + 1 FROM stack UNION ALL SELECT i + 1 "
		 "FROM n "
		 "LIMIT 5000) INSERT INTO stack SELECT i, 1, i - 1 FROM n",
			"it has too many frames"},
		{"UPDATE wait SET stack = 1000 WHERE id = 1", "table 'wait', row 1: "},
		{"UPDATE wait SET holder_stack = 1000 WHERE id = 1", "table 'wait', row 1: "},
		{"UPDATE wait SET cause = 1000 WHERE id = 1", "table 'wait', row 1: "},
		{"UPDATE wait SET reason = 'love' WHERE id = 1", "table 'wait', row 1: "},
		{"UPDATE wait SET waiting_ns = -1 WHERE id = 1", "table 'wait', row 1: "},
		{"UPDATE wait SET count = 9e999 WHERE id = 1", "table 'wait', row 1: "},
		{"UPDATE wait SET holder_share = 1.5 WHERE id = 1",
			"table 'wait', row 1: the holder's share is more than all"},
		{"UPDATE wait SET tid = 5000000000 WHERE id = 1", "table 'wait', row 1: "},
		{"INSERT INTO wait_cause SELECT coalesce(max(id), 0) + 1, -1, 0 FROM wait_cause",
			"table 'wait_cause', row "},
		{"INSERT INTO wait_slice SELECT coalesce(max(id), 0) + 1, 1, 1, 2, 1, 'running', "
		 "NULL, 0, 0 FROM wait_slice",
			": it ends before it begins"},
		{"INSERT INTO wait_slice SELECT coalesce(max(id), 0) + 1, 1, 1, 1, 2, 'lock', "
		 "1000, 0, 0 FROM wait_slice",
			"its wait does not exist"},
		{"INSERT INTO wait_slice SELECT coalesce(max(id), 0) + 1, 1, 1, 1, 2, 'love', "
		 "NULL, 0, 0 FROM wait_slice",
			"table 'wait_slice', row "},
		{"UPDATE wait_total SET clock_ns = -9e999", "table 'wait_total', row 1: "},
		{"UPDATE wait_total SET path_sure = 2",
			"table 'wait_total', row 1: the sure share is more than all"},
		{"INSERT INTO wait_total SELECT 2, 0, 0, 0, 0, 0, 0, 0, 0, 0",
			"table 'wait_total', row 2: there are several"},
	};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(harms); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = random_stacks(2);
		write_profile(fixture, profile);
		change(fixture->path, harms[i].sql);
		g_autoptr(LodeProfile)
			again = lode_profile_store_read_with_stacks(fixture->path, NULL, &error);
		if (again != NULL)
			g_error("%s", harms[i].sql);
		if (strstr(error->message, harms[i].message) == NULL)
			g_error("no '%s' in: %s", harms[i].message, error->message);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/stack_tables/round_trip", Fixture, NULL, set_up, test_round_trip, tear_down);
	g_test_add("/stack_tables/absent", Fixture, NULL, set_up, test_absent, tear_down);
	g_test_add("/stack_tables/older", Fixture, NULL, set_up, test_older, tear_down);
	g_test_add(
		"/stack_tables/waits_absent", Fixture, NULL, set_up, test_waits_absent, tear_down);
	g_test_add("/stack_tables/harm", Fixture, NULL, set_up, test_harm, tear_down);
	return g_test_run();
}
