/* SPDX-License-Identifier: MIT */
#include "views/waits/wait_list.h"

#include "analyses/calls/function_numbers.h"
#include "analyses/waits/wait_groups.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/index.h"
#include "model/waits.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"
#include "views/profile/wait_lines.h"

#include <math.h>

/* Lines of text unless more are asked for; how far notes stand in; from when on one says that part
 * of the waiting was not looked at. */
enum { SCREEN_ROWS = 15, NOTE_INDENT = 4, PLACE_WIDTH = 20 };
static const double MUCH_UNSEEN = 0.01;

typedef struct {
	const LodeProfile *profile;
	const LodeWaitListOptions *options;
	const GArray *groups;
	GArray *shown; /* guint: of the groups */
	LodeFunctionNumbers *numbers;
} List;

typedef struct {
	const LodeWaitGroup *group;
	char *reason;
	const char *object, *function, *file, *holder_function, *holder_file, *holder_call;
	uint32_t line, holder_line;
	double number,
		holder_number; /* of functions; no number: their code is not in the profile */
	GPtrArray *thread_names;
	double seconds, count, mean, longest, path_seconds, holder_share;
	double known_count, known_longest; /* no number: looks alone do not tell which of them are
	                                      at one wait */
	bool is_idle;
} Row;

/* Files without their folders. */
static LodeStyle append_object(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	(void)user_data;
	lode_display_append(
		out, lode_wait_object_text(((const Row *)row)->object), terminal->is_ascii);
	return LODE_STYLE_PLAIN;
}

static LodeStyle append_place(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	(void)user_data;
	lode_wait_append_place(out, &((const Row *)row)->group->place, terminal);
	return LODE_STYLE_NAME;
}

static void put_holder(LodeJsonStream *json, const void *data, const void *user_data)
{
	const Row *row = data;

	(void)user_data;
	if (!(row->holder_share > 0)) {
		lode_json_string(json, NULL);
		return;
	}
	lode_json_begin(json, '{');
	lode_json_member_string(json, "function", row->holder_function);
	lode_function_name_json_short(json, "function", row->holder_function);
	lode_json_member_number(json, "function_number", row->holder_number);
	lode_json_member_string(json, "file", row->holder_file);
	lode_json_member_number(json, "line", row->holder_line);
	lode_json_member_string(json, "call", row->holder_call);
	lode_json_member_number(json, "share", row->holder_share);
	lode_json_end(json, '}');
}

static const LodeColumn columns[] = {
	{"reason", LODE_CELL_TEXT(Row, reason), .at = 6},
	{"object", LODE_CELL_TEXT(Row, object), .append = append_object, .at = 7, .title = "for",
		.dropped = 1},
	{"thread_names", LODE_CELL_TEXTS(Row, thread_names)},
	{"function", LODE_CELL_NAME(Row, function), .is_nullable = true},
	{"function_number", LODE_CELL_NUMBER(Row, number), .is_nullable = true,
		.only = LODE_IN_JSON},
	{"file", LODE_CELL_TEXT(Row, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Row, line)},
	{NULL, LODE_CELL_TEXT(Row, function), .append = append_place, .at = 8, .title = "where"},
	{"holder", LODE_CELL_JSON(put_holder), .only = LODE_IN_JSON,
		.type = "{ function: string | null; short_function?: string; function_number: "
			"number | null; file: string | null; line: number; call: string | null; "
			"share: number } | null"},
	{"holder:function", LODE_CELL_TEXT(Row, holder_function), .only = LODE_IN_CSV},
	{"holder:file", LODE_CELL_TEXT(Row, holder_file), .only = LODE_IN_CSV},
	{"holder:line", LODE_CELL_NUMBER(Row, holder_line), .only = LODE_IN_CSV},
	{"holder:call", LODE_CELL_TEXT(Row, holder_call), .only = LODE_IN_CSV},
	{"holder:share", LODE_CELL_SHARE(Row, holder_share), .only = LODE_IN_CSV},
	{"seconds", LODE_CELL_TIME(Row, seconds), .at = 1, .title = "waited",
		.style = LODE_STYLE_STRONG},
	{"count", LODE_CELL_COUNT(Row, count)},
	{NULL, LODE_CELL_COUNT(Row, known_count), .missing = "–", .at = 2, .title = "number",
		.dropped = 3},
	{NULL, LODE_CELL_TIME(Row, mean), .missing = "–", .at = 3, .title = "mean", .dropped = 4},
	{"longest", LODE_CELL_NUMBER(Row, longest)},
	{NULL, LODE_CELL_TIME(Row, known_longest), .missing = "–", .at = 4, .title = "longest",
		.dropped = 5},
	{"path_seconds", LODE_CELL_TIME(Row, path_seconds), .at = 5, .title = "on the path",
		.dropped = 2, .hides_empty = true},
	{"idle", LODE_CELL_FLAG(Row, is_idle)},
};
const LodeColumns lode_wait_columns = LODE_COLUMNS("waits", columns, Row);

static double number_of(const List *self, const LodeWaitPlace *place)
{
	uint32_t number = lode_function_numbers_find(self->numbers, place->code, place->image);

	return number != LODE_NONE ? number : (double)NAN;
}

static void fill_row(size_t number, void *out, const void *user_data)
{
	const List *self = user_data;
	const LodeWaitGroup *group = lode_wait_group_at(
		self->groups, g_array_index(self->shown, guint, number));
	Row *row = out;
	bool is_by_looks = group->looks > 0 && !(group->count > 0);

	*row = (Row){.group = group,
		.reason = lode_wait_group_reason(group),
		.object = group->object != NULL ? group->object
	                                        : lode_wait_reason_to_text(group->reason),
		.function = group->place.function,
		.file = group->place.file,
		.line = group->place.line,
		.number = number_of(self, &group->place),
		.holder_function = group->holder.function,
		.holder_file = group->holder.file,
		.holder_line = group->holder.line,
		.holder_number = number_of(self, &group->holder),
		.holder_call = group->holder_call,
		.holder_share = group->holder_share,
		.thread_names = g_ptr_array_ref(group->thread_names),
		.seconds = group->waiting_ns / 1e9,
		.count = group->count,
		.mean = group->count > 0 ? group->waiting_ns / 1e9 / group->count : (double)NAN,
		.longest = group->longest_ns / 1e9,
		.known_count = is_by_looks ? (double)NAN : group->count,
		.known_longest = is_by_looks ? (double)NAN : group->longest_ns / 1e9,
		.path_seconds = group->path_ns / 1e9,
		.is_idle = group->is_idle};
}

/* --- text --- */

static void put_note(size_t number, const LodeTerminal *terminal, FILE *out, const void *user_data)
{
	const List *self = user_data;
	const LodeWaitGroup *group = lode_wait_group_at(
		self->groups, g_array_index(self->shown, guint, number));
	g_autoptr(GString) text = g_string_new(NULL);

	if (!(group->holder_share > 0))
		return;
	g_string_append_printf(text, "%.0f %% of it while %s was", 100 * group->holder_share,
		group->reason == LODE_WAIT_CONDITION ? "who ended it" : "its holder");
	if (group->holder.function != NULL) {
		g_string_append(text, " in ");
		lode_wait_append_place(text, &group->holder, terminal);
	}
	if (group->holder_call != NULL)
		g_string_append_printf(text, "%s in the system call %s",
			group->holder.function != NULL ? "," : "", group->holder_call);
	else if (group->holder.function == NULL)
		g_string_append(text, " running");
	lode_display_print_indented(terminal, NOTE_INDENT, out, "%s", text->str);
}

/* The share of the waiting of which each wait is known by itself, but for processors. */
static double exact_share(const LodeWaits *waits)
{
	double all = 0, exact = 0;

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		if (row->reason == LODE_WAIT_PROCESSOR)
			continue;
		all += row->waiting_ns;
		exact += row->looks > 0 || row->reason == LODE_WAIT_UNSEEN ? 0 : row->waiting_ns;
	}
	return all > 0 ? exact / all : 0;
}

static void put_head(const List *self, FILE *out)
{
	const LodeWaits *waits = lode_waits_of(self->profile);
	const LodeTerminal *terminal = &self->options->terminal;
	g_autoptr(GString) text = g_string_new(NULL);

	g_string_append_printf(text, "%s by the clock; threads ran %s and waited %s",
		LODE_TIME_TEXT(waits->clock_ns), LODE_TIME_TEXT(waits->running_ns),
		LODE_TIME_TEXT(waits->waiting_ns));
	if (waits->waiting_ns > 0 && waits->seen_ns < (1 - MUCH_UNSEEN) * waits->waiting_ns)
		g_string_append_printf(text, ", for what is known of %s",
			LODE_SHARE_TEXT(waits->seen_ns / waits->waiting_ns));
	lode_display_print(terminal, out, "%s.", text->str);
	double exact = exact_share(waits);
	if (exact > MUCH_UNSEEN)
		lode_display_print(terminal, out,
			"The kernel told each wait's call and place for %s of it, but for "
			"processors; files and holders of locks are by looks.",
			LODE_SHARE_TEXT(exact));
	if (waits->refused_ns > MUCH_UNSEEN * waits->waiting_ns)
		lode_display_print(terminal, out,
			"The system refused to say what %s of it was for, but for the kernel's "
			"function where it has a name: kernel.yama.ptrace_scope, another user's "
			"program, or one that hides its memory (set-uid, PR_SET_DUMPABLE).",
			LODE_SHARE_TEXT(waits->refused_ns / waits->waiting_ns));
	if (!waits->has_path)
		return;
	lode_display_print(terminal, out,
		"Of the critical path %.0f %% ran, with %.2g threads on average%s.",
		waits->clock_ns > 0 ? 100 * waits->path_running_ns / waits->clock_ns : 0,
		waits->path_threads, waits->path_sure < 0.7 ? "; it is probable, not certain" : "");
}

/* "Idle, waiting for work: 35.2 s by 3 threads, most in accept at serve (http.c:40)." */
static void put_idle(const List *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeWaitGroup *most = NULL;
	g_autoptr(GHashTable) threads = g_hash_table_new(g_int64_hash, g_int64_equal);
	g_autoptr(GString) text = g_string_new("Idle, waiting for work: ");
	double all = 0;

	for (guint i = 0; i < self->groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(self->groups, i);
		GHashTableIter iter;
		void *thread;
		if (!group->is_idle)
			continue;
		most = most != NULL ? most : group;
		all += group->waiting_ns;
		g_hash_table_iter_init(&iter, group->threads);
		while (g_hash_table_iter_next(&iter, &thread, NULL))
			g_hash_table_add(threads, thread);
	}
	if (most == NULL)
		return;
	g_autofree char *words = lode_wait_group_text(most);
	g_string_append_printf(text, "%s by %u thread%s, most %s", LODE_TIME_TEXT(all),
		g_hash_table_size(threads), g_hash_table_size(threads) == 1 ? "" : "s", words);
	if (most->place.function != NULL) {
		g_string_append(text, " at ");
		lode_wait_append_place(text, &most->place, terminal);
	}
	lode_display_print(terminal, out, "%s.", text->str);
}

static void write_text(List *self, LodeListing *listing, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	guint most = self->options->limit > 0 ? self->options->limit : SCREEN_ROWS, left = 0;
	double rest = 0;

	for (guint i = 0; i < self->groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(self->groups, i);
		bool is_shown = !group->is_idle && group->reason != LODE_WAIT_UNSEEN;
		if (is_shown && self->shown->len < most)
			g_array_append_val(self->shown, i);
		else if (is_shown) {
			left++;
			rest += group->waiting_ns;
		}
	}
	listing->n_rows = self->shown->len;
	lode_profile_lines_head(
		self->profile, lode_code_of(self->profile)->weight_event, terminal, out);
	put_head(self, out);
	fputc('\n', out);
	if (listing->n_rows > 0)
		lode_listing_write_text(listing, terminal, out);
	else
		lode_display_print(terminal, out, "No thread waited for anything but work.");
	if (left > 0)
		lode_display_print(terminal, out, "%u more have %s; --limit %u lists them, too.",
			left, LODE_TIME_TEXT(rest), most + left);
	put_idle(self, out);
}

bool lode_wait_list_write(
	const LodeProfile *profile, const LodeWaitListOptions *options, FILE *out, GError **error)
{
	if (lode_waits_of(profile) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no waits are known: 'lode run' and 'lode record' note them, unless with "
			"--no-waits or where perf events are refused; a part of a profile and an "
			"older one have none");
		return false;
	}
	const LodeWaits *waits = lode_waits_of(profile);
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, options->own);
	g_autoptr(GArray) groups = lode_wait_groups_new(profile, own);
	g_autoptr(GArray) shown = g_array_new(FALSE, FALSE, sizeof(guint));
	g_auto(LodeFunctionNumbers) numbers;
	List self = {profile, options, groups, shown, &numbers};
	LodeListing listing = {.columns = &lode_wait_columns,
		.fill = fill_row,
		.user_data = &self,
		.note = put_note,
		.last_width = PLACE_WIDTH,
		.wraps = true,
		.tells_left_out = true};
	LodeJsonStream json;

	lode_function_numbers_init(&numbers, profile);
	if (options->format == LODE_VIEW_TEXT) {
		write_text(&self, &listing, out);
		return lode_view_flush(out, error);
	}
	guint n = options->limit > 0 ? MIN(options->limit, groups->len) : groups->len;
	for (guint i = 0; i < n; i++)
		g_array_append_val(shown, i);
	listing.n_rows = n;
	if (options->format == LODE_VIEW_CSV) {
		lode_listing_write_csv(&listing, out);
		return lode_view_flush(out, error);
	}
	lode_profile_json_begin(&json, out, profile, NULL);
	lode_json_member_number(&json, "clock_seconds", waits->clock_ns / 1e9);
	lode_json_member_number(&json, "running_seconds", waits->running_ns / 1e9);
	lode_json_member_number(&json, "waiting_seconds", waits->waiting_ns / 1e9);
	lode_json_member_number(&json, "seen",
		waits->waiting_ns > 0 ? MIN(waits->seen_ns / waits->waiting_ns, 1) : 1);
	lode_json_member_number(&json, "exact", exact_share(waits));
	g_autofree char *head = lode_waits_head(profile, &options->terminal);
	lode_json_member_string(&json, "head", head);
	if (waits->refused_ns > 0)
		lode_json_member_number(&json, "refused", waits->refused_ns / waits->waiting_ns);
	lode_json_member_bool(&json, "has_path", waits->has_path);
	if (waits->has_path) {
		lode_json_member_number(
			&json, "path_running_seconds", waits->path_running_ns / 1e9);
		lode_json_member_number(&json, "path_sure", waits->path_sure);
		lode_json_member_number(&json, "path_threads", waits->path_threads);
	}
	lode_listing_put_json(&listing, &json);
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
