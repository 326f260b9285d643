/* SPDX-License-Identifier: MIT */
#include "views/parts/program_list.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "views/export/stack_export.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>

static const char *const by_words[] = {"command", "pid", "thread"};

enum {
	BY_COMMAND = 1 << LODE_PROGRAMS_BY_COMMAND,
	BY_PID = 1 << LODE_PROGRAMS_BY_PID,
	BY_THREAD = 1 << LODE_PROGRAMS_BY_THREAD,
	HAS_TIMES = 1 << 3,
};

typedef struct {
	const LodeProgramListOptions *options;
	const GArray *rows;
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
	double from_s, to_s; /* no number: not known */
	char *times;
} Row;

static const LodeColumn columns[] = {
	{"name", LODE_CELL_TEXT(Row, share.name), .at = 7, .missing = "(unknown)",
		.style = LODE_STYLE_NAME},
	{"pid", LODE_CELL_NUMBER(Row, share.pid), .at = 4, .when = BY_PID | BY_THREAD},
	{"tid", LODE_CELL_NUMBER(Row, share.tid), .at = 5, .when = BY_THREAD},
	{"threads", LODE_CELL_COUNT(Row, share.n_processes), .at = 3, .dropped = 1, .when = BY_PID},
	{"processes", LODE_CELL_COUNT(Row, share.n_processes), .at = 3, .dropped = 1,
		.when = BY_COMMAND},
	{"samples", LODE_CELL_COUNT(Row, share.samples), .at = 2, .dropped = 2},
	{"weight", LODE_CELL_NUMBER(Row, share.weight)},
	{"share", LODE_CELL_SHARE(Row, share.share), .at = 1, .style = LODE_STYLE_STRONG},
	{"from", LODE_CELL_NUMBER(Row, from_s)},
	{"to", LODE_CELL_NUMBER(Row, to_s)},
	{NULL, LODE_CELL_TEXT(Row, times), .title = "from–to", .at = 6, .dropped = 3,
		.is_right = true, .when = HAS_TIMES},
};
const LodeColumns lode_program_list_columns = LODE_COLUMNS("programs", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const List *self = user_data;
	Row *row = out;

	*row = (Row){*row_at(self->rows, number), NAN, NAN, NULL};
	if (!self->has_times)
		return;
	row->from_s = (double)row->share.first_ns / 1e9;
	row->to_s = (double)row->share.last_ns / 1e9;
	row->times = g_strdup_printf("%.2f–%.2f s", row->from_s, row->to_s);
}

static void write_text(const List *self, const LodeListing *listing, FILE *out)
{
	double rest = 0;
	char number[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];

	lode_listing_write_text(listing, &self->options->terminal, out);
	for (size_t i = listing->n_rows; i < self->rows->len; i++)
		rest += row_at(self->rows, i)->share;
	if (listing->n_rows < self->rows->len)
		lode_display_print(&self->options->terminal, out, "%s more have %s.",
			lode_number_format_count(
				(double)(self->rows->len - listing->n_rows), number),
			lode_number_format_share(rest, share));
}

static bool has_times(const GArray *rows)
{
	for (guint i = 0; i < rows->len; i++)
		if (row_at(rows, i)->last_ns > 0)
			return true;
	return false;
}

void lode_program_list_put_event(LodeJsonStream *json, const LodeProfile *profile)
{
	lode_json_member_string(json, "event",
		profile->stacks != NULL && profile->stacks->samples->len > 0
			? lode_profile_event(profile, lode_program_shares_event(profile))->name
			: NULL);
}

bool lode_program_list_write(const LodeProfile *profile, const LodeProgramListOptions *options,
	FILE *out, GError **error)
{
	g_autoptr(GArray) shares = lode_program_shares_new(profile, options->by, NULL);
	const List self = {options, shares, has_times(shares)};
	const LodeListing listing = {
		.columns = &lode_program_list_columns,
		.n_rows = n_shown(&self),
		.fill = fill_row,
		.user_data = &self,
		.what = 1u << options->by | (self.has_times ? HAS_TIMES : 0),
		.last_width = 12,
		.tells_left_out = true,
	};
	LodeJsonStream json;

	if (options->format == LODE_VIEW_TEXT) {
		lode_profile_lines_head(profile, profile->weight_event, &options->terminal, out);
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
