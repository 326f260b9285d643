/* SPDX-License-Identifier: MIT */
#include "views/parts/program_list.h"

#include "base/text/number_format.h"
#include "model/code.h"
#include "model/stacks.h"
#include "model/waits.h"
#include "views/export/stack_export.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>

static const char *const by_words[] = {"command", "pid", "thread"};

enum {
	BY_COMMAND = 1 << LODE_PROGRAMS_BY_COMMAND,
	BY_PID = 1 << LODE_PROGRAMS_BY_PID,
	BY_THREAD = 1 << LODE_PROGRAMS_BY_THREAD,
	HAS_TIMES = 1 << 3,
	HAS_RUNNING = 1 << 4,  /* by command: what processes took is known */
	HAS_COMMANDS = 1 << 5, /* by process: what they executed is known */
};

typedef struct {
	const LodeProgramListOptions *options;
	const GArray *rows;
	const GArray *programs; /* LodeWaitProgram; NULL: not known, or not by command */
	GHashTable *processes;  /* pid → LodeWaitProcess; empty: not known, or not by process */
	bool has_times;
} List;

static const LodeProgramShare *row_at(const GArray *rows, size_t i)
{
	return &g_array_index(rows, LodeProgramShare, i);
}

static size_t n_shown(const List *self)
{
	uint64_t limit = self->options->limit;

	return limit > 0 && limit < self->rows->len ? (size_t)limit : self->rows->len;
}

typedef struct {
	LodeProgramShare share;
	double from_s, to_s;                        /* no number: not known */
	double started, running_s, path_s, alone_s; /* of LodeWaitProgram; likewise */
	char *times;
	const char *command; /* of a process; NULL: not known */
} Row;

static const LodeColumn columns[] = {
	{"name", LODE_CELL_TEXT(Row, share.name), .at = 11, .missing = "(unknown)",
		.style = LODE_STYLE_NAME},
	{"pid", LODE_CELL_NUMBER(Row, share.pid), .at = 4, .when = BY_PID | BY_THREAD},
	{"tid", LODE_CELL_NUMBER(Row, share.tid), .at = 5, .when = BY_THREAD},
	{"threads", LODE_CELL_COUNT(Row, share.n_processes), .at = 3, .dropped = 1, .when = BY_PID},
	{"processes", LODE_CELL_COUNT(Row, share.n_processes), .at = 3, .dropped = 1,
		.when = BY_COMMAND},
	{"started", LODE_CELL_COUNT(Row, started), .at = 6, .dropped = 4, .when = HAS_RUNNING},
	{"running_seconds", LODE_CELL_TIME(Row, running_s), .missing = "–", .at = 7, .title = "ran",
		.dropped = 7, .when = HAS_RUNNING},
	{"path_seconds", LODE_CELL_TIME(Row, path_s), .missing = "–", .at = 8,
		.title = "on the path", .dropped = 6, .when = HAS_RUNNING},
	{"alone_seconds", LODE_CELL_TIME(Row, alone_s), .missing = "–", .at = 9, .title = "alone",
		.dropped = 5, .when = HAS_RUNNING},
	{"samples", LODE_CELL_COUNT(Row, share.samples), .at = 2, .dropped = 2},
	{"weight", LODE_CELL_NUMBER(Row, share.weight)},
	{"share", LODE_CELL_SHARE(Row, share.share), .at = 1, .style = LODE_STYLE_STRONG},
	{"from", LODE_CELL_NUMBER(Row, from_s)},
	{"to", LODE_CELL_NUMBER(Row, to_s)},
	{NULL, LODE_CELL_TEXT(Row, times), .title = "from–to", .at = 10, .dropped = 3,
		.is_right = true, .when = HAS_TIMES},
	{"command", LODE_CELL_TEXT(Row, command), .at = 12, .missing = "", .dropped = 8,
		.when = HAS_COMMANDS, .is_nullable = true},
};
const LodeColumns lode_program_list_columns = LODE_COLUMNS("programs", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const List *self = user_data;
	Row *row = out;

	*row = (Row){.share = *row_at(self->rows, number),
		.from_s = NAN,
		.to_s = NAN,
		.started = NAN,
		.running_s = NAN,
		.path_s = NAN,
		.alone_s = NAN};
	for (guint i = 0; self->programs != NULL && i < self->programs->len; i++) {
		const LodeWaitProgram *program = &g_array_index(self->programs, LodeWaitProgram, i);
		if (g_strcmp0(program->name, row->share.name) != 0)
			continue;
		row->started = program->processes;
		row->running_s = program->running_ns / 1e9;
		row->path_s = program->path_ns / 1e9;
		row->alone_s = program->alone_ns / 1e9;
	}
	const LodeWaitProcess *process = g_hash_table_lookup(
		self->processes, GUINT_TO_POINTER(row->share.pid));
	row->command = process != NULL ? process->command : NULL;
	if (!self->has_times)
		return;
	row->from_s = (double)row->share.first_ns / 1e9;
	row->to_s = (double)row->share.last_ns / 1e9;
	row->times = g_strdup_printf("%.2f–%.2f s", row->from_s, row->to_s);
}

static void write_text(const List *self, const LodeListing *listing, FILE *out)
{
	double rest = 0;

	lode_listing_write_text(listing, &self->options->terminal, out);
	for (size_t i = listing->n_rows; i < self->rows->len; i++)
		rest += row_at(self->rows, i)->share;
	if (listing->n_rows < self->rows->len)
		lode_display_print(&self->options->terminal, out, "%s more have %s.",
			LODE_COUNT_TEXT((self->rows->len - listing->n_rows)),
			LODE_SHARE_TEXT(rest));
}

static bool has_times(const GArray *rows)
{
	for (guint i = 0; i < rows->len; i++)
		if (row_at(rows, i)->last_ns > 0)
			return true;
	return false;
}

/* Programs whose processes were too short for a sample. */
static void add_unsampled(GArray *shares, const GArray *programs)
{
	guint n = shares->len;

	for (guint i = 0; programs != NULL && i < programs->len; i++) {
		const LodeWaitProgram *program = &g_array_index(programs, LodeWaitProgram, i);
		const LodeProgramShare added = {.name = program->name, .number = shares->len};
		guint k = 0;
		while (k < n && g_strcmp0(row_at(shares, k)->name, program->name) != 0)
			k++;
		if (k == n)
			g_array_append_val(shares, added);
	}
}

static gint compare_begins(const void *left, const void *right, void *processes)
{
	const LodeProgramShare *shares[] = {left, right};
	uint64_t begins[2];

	for (int i = 0; i < 2; i++) {
		const LodeWaitProcess *process = g_hash_table_lookup(
			processes, GUINT_TO_POINTER(shares[i]->pid));
		begins[i] = process != NULL ? process->begin_ns : UINT64_MAX;
	}
	return (begins[0] > begins[1]) - (begins[0] < begins[1]);
}

/* By their numbers; with processes that were too short for a sample, and all of `shares` in the
 * order in which they were started. The caller unrefs it. */
static GHashTable *find_processes(GArray *shares, const LodeProfile *profile)
{
	const LodeWaits *waits = lode_waits_of(profile);
	GHashTable *processes = g_hash_table_new(NULL, NULL);
	const GArray *list = waits != NULL ? waits->processes : NULL;
	g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < shares->len; i++)
		g_hash_table_add(known, GUINT_TO_POINTER(row_at(shares, i)->pid));
	for (guint i = 0; list != NULL && i < list->len; i++) {
		LodeWaitProcess *process = &g_array_index(list, LodeWaitProcess, i);
		const LodeProgramShare added = {
			.name = process->name, .pid = process->pid, .number = shares->len};
		g_hash_table_insert(processes, GUINT_TO_POINTER(process->pid), process);
		if (g_hash_table_add(known, GUINT_TO_POINTER(process->pid)))
			g_array_append_val(shares, added);
	}
	if (g_hash_table_size(processes) > 0)
		g_array_sort_with_data(shares, compare_begins, processes);
	return processes;
}

void lode_program_list_put_event(LodeJsonStream *json, const LodeProfile *profile)
{
	const LodeStacks *stacks = lode_stacks_of(profile);

	lode_json_member_string(json, "event",
		stacks != NULL && stacks->samples->len > 0
			? lode_profile_event(profile, lode_program_shares_event(profile))->name
			: NULL);
}

bool lode_program_list_write(const LodeProfile *profile, const LodeProgramListOptions *options,
	FILE *out, GError **error)
{
	const LodeWaits *waits = lode_waits_of(profile);
	g_autoptr(GArray) shares = lode_program_shares_new(profile, options->by, NULL);
	const GArray *programs = options->by == LODE_PROGRAMS_BY_COMMAND && waits != NULL &&
	                                         waits->programs->len > 0
	                                 ? waits->programs
	                                 : NULL;
	g_autoptr(GHashTable) processes = options->by == LODE_PROGRAMS_BY_PID
	                                          ? find_processes(shares, profile)
	                                          : g_hash_table_new(NULL, NULL);
	const List self = {options, shares, programs, processes, has_times(shares)};
	add_unsampled(shares, programs);
	const LodeListing listing = {
		.columns = &lode_program_list_columns,
		.n_rows = n_shown(&self),
		.fill = fill_row,
		.user_data = &self,
		.what = 1u << options->by | (self.has_times ? HAS_TIMES : 0) |
	                (programs != NULL ? HAS_RUNNING : 0) |
	                (g_hash_table_size(processes) > 0 ? HAS_COMMANDS : 0),
		.last_width = 12,
		.tells_left_out = true,
	};
	LodeJsonStream json;

	if (options->format == LODE_VIEW_TEXT) {
		lode_profile_lines_head(
			profile, lode_code_of(profile)->weight_event, &options->terminal, out);
		fputc('\n', out);
		write_text(&self, &listing, out);
		return lode_view_flush(out, error);
	}
	if (options->format == LODE_VIEW_CSV) {
		lode_listing_write_csv(&listing, out);
		return lode_view_flush(out, error);
	}
	lode_profile_json_begin(&json, out, profile, NULL);
	lode_json_member_string(&json, "by", by_words[options->by]);
	lode_program_list_put_event(&json, profile);
	lode_json_member_number(&json, "rows", shares->len);
	lode_listing_put_json(&listing, &json);
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
