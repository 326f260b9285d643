/* SPDX-License-Identifier: MIT */
/* The list of waits and the head, of waits made by hand. */
#include "made_profile.h"
#include "model/process.h"
#include "sample_profile.h"
#include "views/form/display_text.h"
#include "views/profile/wait_lines.h"
#include "views/waits/wait_list.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define S 1e9

static const LodeTerminal narrow = {.width = 80};

static uint32_t stack_of(LodeProfile *profile, const char *function, uint32_t line)
{
	const LodeFrame own = {.function = lode_profile_intern(profile, function),
		.image = lode_profile_intern(profile, "/home/me/app"),
		.file = lode_profile_intern(profile, "/home/me/ledger.c"),
		.line = line};
	const LodeFrame library = {.function = lode_profile_intern(profile, "futex_wait"),
		.image = lode_profile_intern(profile, "/lib/x86_64-linux-gnu/libc.so.6")};

	return made_stack(profile, library, made_stack(profile, own, LODE_NONE));
}

/* Three threads at a lock that is held in two places, one that syncs and sleeps, an idle one, and
 * what nobody looked at. */
static LodeProfile *profile_new(void)
{
	LodeProfile *profile = made_profile("cpu-clock", LODE_EVENT_SAMPLED, "/home/me/app");
	double share[] = {0.9, 0.8, 0.5};

	profile->stacks = lode_stacks_new();
	profile->run.program = lode_profile_intern(profile, "./app");
	made_small_function(profile, "seal", 1);
	made_small_function(profile, "post", 1);
	for (uint32_t i = 0; i < 3; i++) {
		g_autofree char *name = g_strdup_printf("worker %u", 3 - i);
		LodeWait row = {.reason = LODE_WAIT_LOCK,
			.call = "futex",
			.object = "ledger_lock",
			.thread_name = name,
			.pid = 7,
			.tid = 10 + i,
			.stack = stack_of(profile, "post", 31),
			.holder_stack = stack_of(profile, i < 2 ? "seal" : "post", 12),
			.holder_share = share[i],
			.waiting_ns = 1 * S,
			.path_ns = 0.1 * S,
			.count = 100,
			.longest_ns = 0.02 * S + i,
			.looks = 80};
		made_wait(profile, row, 0, 0);
	}
	const LodeWait others[] = {
		{.reason = LODE_WAIT_SYNC,
			.call = "fdatasync",
			.object = "note.log",
			.waiting_ns = 0.5 * S,
			.path_ns = 0.5 * S,
			.count = 10,
			.longest_ns = 0.1 * S,
			.looks = 20},
		{.reason = LODE_WAIT_SLEEP,
			.waiting_ns = 0.25 * S,
			.path_ns = 0.2 * S,
			.count = 5,
			.longest_ns = 0.05 * S,
			.looks = 20},
		{.reason = LODE_WAIT_OTHER,
			.call = "eventfd_read",
			.waiting_ns = 1e5,
			.count = 1,
			.longest_ns = 1e5,
			.looks = 1},
		{.reason = LODE_WAIT_SOCKET,
			.call = "accept",
			.waiting_ns = 1.9 * S,
			.count = 3,
			.longest_ns = 1 * S,
			.looks = 3,
			.is_idle = true},
		{.reason = LODE_WAIT_UNSEEN, .waiting_ns = 0.35 * S, .count = 9},
	};
	for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
		LodeWait row = others[i];
		row.thread_name = "main";
		row.pid = 7;
		row.tid = 20 + i;
		row.stack = row.reason == LODE_WAIT_UNSEEN ? LODE_NONE
		                                           : stack_of(profile, "commit", 50 + i);
		row.holder_stack = LODE_NONE;
		made_wait(profile, row, 0, 0);
	}
	profile->waits->clock_ns = 2 * S;
	profile->waits->running_ns = 1 * S;
	profile->waits->has_path = true;
	profile->waits->path_running_ns = 1 * S;
	profile->waits->path_threads = 1.1;
	profile->waits->path_sure = 0.6;
	profile->waits->refused_ns = 1.5 * S;
	return profile;
}

static char *write_list(const LodeProfile *profile, LodeViewFormat format, uint32_t limit)
{
	const LodeWaitListOptions options = {.format = format, .terminal = narrow, .limit = limit};
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_wait_list_write(profile, &options, file, &error));
	g_assert_no_error(error);
	char *text = sample_close(file);
	g_test_message("%s", text);
	return text;
}

static void test_text(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	g_autofree char *text = write_list(profile, LODE_VIEW_TEXT, 0);
	static const char *const parts[] = {
		"2.00 s by the clock; threads ran 1.00 s and waited 6.00 s",
		"say what 25.0 % of it was for", "Of the critical path 50 % ran", "probable",
		"ledger_lock  post (ledger.c:31)",
		"57 % of it while its holder was in seal (ledger.c:12)", "other:eventfd_read",
		"100 µs", "Idle, waiting for work: 1.90 s by 1 thread, most in accept at"};

	for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
		if (strstr(text, parts[i]) == NULL)
			g_error("no '%s'", parts[i]);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++)
		g_assert_cmpuint(lode_display_width(*line), <=, 80);
	g_assert_null(strstr(text, "unseen"));
	g_autofree char *brief = write_list(profile, LODE_VIEW_TEXT, 1);
	g_assert_nonnull(strstr(brief, "3 more have 0.75 s; --limit 4 lists them, too."));
}

/* Rows without looks are known by the kernel. */
static void test_exact(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	g_autofree char *looked = write_list(profile, LODE_VIEW_TEXT, 0);

	g_assert_null(strstr(looked, "The kernel told"));
	for (guint i = 0; i < profile->waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(profile->waits->rows, LodeWait, i);
		row->looks = row->waiting_ns >= 1 * S ? 0 : row->looks;
	}
	g_autofree char *text = write_list(profile, LODE_VIEW_TEXT, 0);
	g_assert_nonnull(strstr(text, "The kernel told each wait's call and place for"));
	g_autofree char *json = write_list(profile, LODE_VIEW_JSON, 0);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_assert_true(json_parser_load_from_data(parser, json, -1, NULL));
	JsonObject *root = json_node_get_object(json_parser_get_root(parser));
	double exact = json_object_get_double_member(root, "exact");
	g_assert_cmpfloat(exact, >, 0.5);
	g_assert_cmpfloat(exact, <, 1);
}

static void test_json(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	g_autofree char *text = write_list(profile, LODE_VIEW_JSON, 0);
	g_autoptr(JsonParser) parser = json_parser_new();

	g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
	JsonObject *root = json_node_get_object(json_parser_get_root(parser));
	g_assert_cmpfloat(json_object_get_double_member(root, "clock_seconds"), ==, 2);
	g_assert_cmpfloat(fabs(json_object_get_double_member(root, "seen") - 5.65 / 6), <, 0.001);
	g_assert_cmpfloat(fabs(json_object_get_double_member(root, "refused") - 0.25), <, 0.001);
	g_assert_true(json_object_get_boolean_member(root, "has_path"));
	JsonArray *waits = json_object_get_array_member(root, "waits");
	g_assert_cmpuint(json_array_get_length(waits), ==, 6);
	JsonObject *lock = json_array_get_object_element(waits, 0);
	g_assert_cmpstr(json_object_get_string_member(lock, "reason"), ==, "lock");
	g_assert_cmpstr(json_object_get_string_member(lock, "object"), ==, "ledger_lock");
	g_assert_cmpstr(json_object_get_string_member(lock, "function"), ==, "post");
	g_assert_cmpstr(json_object_get_string_member(lock, "file"), ==, "/home/me/ledger.c");
	g_assert_cmpint(json_object_get_int_member(lock, "line"), ==, 31);
	g_assert_cmpint(json_object_get_int_member(lock, "function_number"), ==, 1);
	g_assert_cmpfloat(json_object_get_double_member(lock, "seconds"), ==, 3);
	g_assert_cmpfloat(json_object_get_double_member(lock, "count"), ==, 300);
	g_assert_false(json_object_get_boolean_member(lock, "idle"));
	JsonArray *names = json_object_get_array_member(lock, "thread_names");
	g_assert_cmpuint(json_array_get_length(names), ==, 3);
	g_assert_cmpstr(json_array_get_string_element(names, 0), ==, "worker 1");
	JsonObject *holder = json_object_get_object_member(lock, "holder");
	g_assert_cmpstr(json_object_get_string_member(holder, "function"), ==, "seal");
	g_assert_cmpint(json_object_get_int_member(holder, "function_number"), ==, 0);
	g_assert_true(json_object_get_null_member(holder, "call"));
	g_assert_cmpfloat(fabs(json_object_get_double_member(holder, "share") - 1.7 / 3), <, 0.001);
	JsonObject *idle = json_array_get_object_element(waits, 1);
	g_assert_true(json_object_get_boolean_member(idle, "idle"));
	g_assert_true(json_object_get_null_member(idle, "holder"));
	g_assert_true(json_object_get_null_member(idle, "function_number"));
	/* Never null. */
	g_assert_cmpstr(json_object_get_string_member(idle, "object"), ==, "socket");
	JsonObject *unseen = json_array_get_object_element(waits, 3);
	g_assert_cmpstr(json_object_get_string_member(unseen, "reason"), ==, "unseen");
}

static void test_csv(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	g_autofree char *text = write_list(profile, LODE_VIEW_CSV, 2);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);

	g_assert_cmpuint(rows->len, ==, 3);
	g_assert_cmpstr(sample_cell(rows, 1, "reason"), ==, "lock");
	g_assert_cmpstr(sample_cell(rows, 1, "holder:function"), ==, "seal");
	g_assert_cmpstr(sample_cell(rows, 1, "seconds"), ==, "3");
	g_assert_cmpstr(sample_cell(rows, 2, "idle"), ==, "1");
}

static void test_nothing(void)
{
	g_autoptr(LodeProfile) profile = made_profile("cpu-clock", LODE_EVENT_SAMPLED, "/app");
	const LodeWaitListOptions options = {.format = LODE_VIEW_TEXT, .terminal = narrow};
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_false(lode_wait_list_write(profile, &options, file, &error));
	g_assert_nonnull(strstr(error->message, "no waits are known"));
	g_free(sample_close(file));
	g_assert_null(lode_waits_head(profile, &narrow));
	profile->waits = lode_waits_new();
	g_autofree char *text = write_list(profile, LODE_VIEW_TEXT, 0);
	g_assert_nonnull(strstr(text, "No thread waited"));
}

static void test_head(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	LodeWaits *waits = profile->waits;
	g_autofree char *path = lode_waits_head(profile, &narrow);

	g_assert_cmpstr(path, ==,
		"2.00 s by the clock: 50 % running, 25 % in fdatasync (note.log), 15 % waiting for "
		"ledger_lock, 10 % asleep in commit");
	/* The path goes through the holder of the lock. */
	for (guint i = 0; i < waits->rows->len; i++)
		LODE_AT(waits->rows, LodeWait, i).path_ns = 0;
	waits->path_running_ns = 2 * S;
	g_autofree char *threads = lode_waits_head(profile, &narrow);
	g_assert_true(g_str_has_prefix(threads,
		"2.00 s by the clock; of the threads' time: 14 % running, 43 % waiting for "
		"ledger_lock"));
	/* It computes. */
	waits->waiting_ns = 0;
	g_array_set_size(waits->rows, 0);
	g_assert_null(lode_waits_head(profile, &narrow));
}

/* Of two programs: one lock is gone, syncs take longer, sleeps as long, and reads are new. */
static void test_comparison(void)
{
	g_autoptr(LodeProfile) base = profile_new(), other = profile_new();
	const LodeProfile *const both[] = {base, other};
	const LodeWaitListOptions options = {.terminal = narrow};
	GArray *rows = other->waits->rows;

	for (guint i = 0; i < 3; i++)
		LODE_AT(rows, LodeWait, i).reason = LODE_WAIT_READ;
	LODE_AT(rows, LodeWait, 3).waiting_ns = 0.8 * S;
	FILE *file = sample_open();
	lode_wait_comparison_write(both, &options, file);
	g_autofree char *text = sample_close(file);
	g_test_message("%s", text);
	g_assert_nonnull(
		strstr(text, "Gone: waiting for ledger_lock in post (ledger.c:31), 3.00 s."));
	g_assert_nonnull(
		strstr(text, "New: in futex (ledger_lock) in post (ledger.c:31), 3.00 s."));
	g_assert_nonnull(strstr(
		text, "Longer: in fdatasync (note.log) in commit (ledger.c:50), 0.50 s → 0.80 s."));
	g_assert_null(strstr(text, "asleep"));
	/* A profile without waits is compared by nothing. */
	lode_waits_free(other->waits);
	other->waits = NULL;
	file = sample_open();
	lode_wait_comparison_write(both, &options, file);
	g_autofree char *nothing = sample_close(file);
	g_assert_cmpstr(nothing, ==, "");
}

static void test_hostile_names(void)
{
	static const char name[] = "=a\x1b[2Jb\x07\xc2\x9b\r\n,\"\xff";
	g_autoptr(LodeProfile) profile = profile_new();

	for (guint i = 0; i < profile->waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(profile->waits->rows, LodeWait, i);
		row->object = row->call = row->thread_name = row->holder_call = (char *)name;
	}
	for (guint i = 0; i < profile->stacks->frames->len; i++) {
		LodeFrame *frame = &LODE_AT(profile->stacks->frames, LodeFrame, i);
		frame->function = (char *)name;
		if (frame->file != NULL)
			frame->file = (char *)name;
	}
	for (int format = LODE_VIEW_TEXT; format <= LODE_VIEW_CSV; format++) {
		g_autofree char *text = write_list(profile, (LodeViewFormat)format, 0);
		g_assert_null(strpbrk(text, "\x1b\x07"));
		g_assert_null(strstr(text, "\xc2\x9b"));
		g_assert_true(g_utf8_validate(text, -1, NULL));
	}
	g_autofree char *head = lode_waits_head(profile, &narrow);
	g_assert_null(strpbrk(head, "\x1b\x07"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/waits/text", test_text);
	g_test_add_func("/views/waits/json", test_json);
	g_test_add_func("/views/waits/exact", test_exact);
	g_test_add_func("/views/waits/csv", test_csv);
	g_test_add_func("/views/waits/nothing", test_nothing);
	g_test_add_func("/views/waits/head", test_head);
	g_test_add_func("/views/waits/comparison", test_comparison);
	g_test_add_func("/views/waits/hostile_names", test_hostile_names);
	return g_test_run();
}
