/* SPDX-License-Identifier: MIT */
#include "views/parts/program_list.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "views/form/display_text.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>

static const char *const by_words[] = {"command", "pid", "thread"};

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

/* --- text --- */

enum { SHARE, SAMPLES, MEMBERS, PID, TID, TIMES, NAME, N_COLUMNS };

static LodeStyle append_cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const List *self = user_data;
	const LodeProgramShare *row = row_at(self->rows, index);
	char number[LODE_NUMBER_SIZE];

	switch (column) {
	case SHARE:
		g_string_append(out, lode_number_format_share(row->share, number));
		return LODE_STYLE_STRONG;
	case SAMPLES:
		g_string_append(out, lode_number_format_count(row->samples, number));
		break;
	case MEMBERS:
		g_string_append(out, lode_number_format_count(row->n_processes, number));
		break;
	case PID:
		g_string_append_printf(out, "%" G_GUINT32_FORMAT, row->pid);
		break;
	case TID:
		g_string_append_printf(out, "%" G_GUINT32_FORMAT, row->tid);
		break;
	case TIMES:
		if (self->has_times)
			g_string_append_printf(out, "%.2f–%.2f s", (double)row->first_ns / 1e9,
				(double)row->last_ns / 1e9);
		break;
	default:
		lode_display_append(out, row->name != NULL ? row->name : "(unknown)",
			self->options->terminal.is_ascii);
		return LODE_STYLE_NAME;
	}
	return LODE_STYLE_PLAIN;
}

/* The columns that the rows have, in the table's order. */
typedef struct {
	const List *list;
	unsigned columns[N_COLUMNS];
} Shown;

static LodeStyle shown_cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const Shown *self = user_data;

	return append_cell(index, self->columns[column], out, self->list);
}

static void write_text(const List *self, FILE *out)
{
	static const LodeTableColumn all[N_COLUMNS] = {
		[SHARE] = {"share", false, 0},
		[SAMPLES] = {"samples", false, 2},
		[MEMBERS] = {"processes", false, 1},
		[PID] = {"pid", false, 0},
		[TID] = {"tid", false, 0},
		[TIMES] = {"from–to", false, 3},
		[NAME] = {"name", true, 0},
	};
	LodeProgramsBy by = self->options->by;
	const bool is_shown[N_COLUMNS] = {true, true, by != LODE_PROGRAMS_BY_THREAD,
		by != LODE_PROGRAMS_BY_COMMAND, by == LODE_PROGRAMS_BY_THREAD, self->has_times,
		true};
	LodeTableColumn columns[N_COLUMNS];
	Shown shown = {.list = self};
	LodeTable table = {.columns = columns,
		.n_rows = n_shown(self),
		.cell = shown_cell,
		.user_data = &shown,
		.last_width = 12};
	double rest = 0;
	char number[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];

	for (unsigned i = 0; i < N_COLUMNS; i++) {
		if (!is_shown[i])
			continue;
		columns[table.n_columns] = all[i];
		if (i == MEMBERS && by == LODE_PROGRAMS_BY_PID)
			columns[table.n_columns].title = "threads";
		shown.columns[table.n_columns++] = i;
	}
	uint32_t left_out = lode_table_write(&table, &self->options->terminal, out);
	lode_profile_lines_left_out(&table, left_out, &self->options->terminal, out);
	for (size_t i = table.n_rows; i < self->rows->len; i++)
		rest += row_at(self->rows, i)->share;
	if (table.n_rows < self->rows->len)
		lode_profile_lines_print(&self->options->terminal, out, "%s more have %s.",
			lode_number_format_count((double)(self->rows->len - table.n_rows), number),
			lode_number_format_share(rest, share));
}

/* --- JSON, CSV --- */

static void put_row(const List *self, const LodeProgramShare *row, LodeRowStream *rows)
{
	LodeProgramsBy by = self->options->by;

	lode_row_begin(rows);
	lode_row_text(rows, "name", row->name);
	if (by != LODE_PROGRAMS_BY_COMMAND)
		lode_row_number(rows, "pid", row->pid);
	if (by == LODE_PROGRAMS_BY_THREAD)
		lode_row_number(rows, "tid", row->tid);
	else
		lode_row_number(rows, by == LODE_PROGRAMS_BY_PID ? "threads" : "processes",
			row->n_processes);
	lode_row_number(rows, "samples", row->samples);
	lode_row_number(rows, "weight", row->weight);
	lode_row_number(rows, "share", row->share);
	lode_row_number(rows, "from", self->has_times ? (double)row->first_ns / 1e9 : NAN);
	lode_row_number(rows, "to", self->has_times ? (double)row->last_ns / 1e9 : NAN);
	lode_row_end(rows);
}

static bool has_times(const GArray *rows)
{
	for (guint i = 0; i < rows->len; i++)
		if (row_at(rows, i)->last_ns > 0)
			return true;
	return false;
}

static void put_event(LodeJsonStream *json, const LodeProfile *profile)
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
	static const LodeProgramShare none;
	const List self = {options, shares, has_times(shares)};
	size_t n = n_shown(&self);
	LodeJsonStream json;
	LodeRowStream rows;

	if (options->format == LODE_VIEW_TEXT) {
		lode_profile_lines_head(profile, profile->weight_event, &options->terminal, out);
		fputc('\n', out);
		write_text(&self, out);
		return lode_view_flush(out, error);
	}
	if (options->format == LODE_VIEW_CSV) {
		lode_row_stream_init_csv(&rows, out);
		put_row(&self, &none, &rows);
		for (size_t i = 0; i < n; i++)
			put_row(&self, row_at(shares, i), &rows);
		return lode_view_flush(out, error);
	}
	lode_profile_json_begin(&json, out, profile, NULL);
	lode_row_stream_init_json(&rows, &json);
	lode_json_member_string(&json, "by", by_words[options->by]);
	put_event(&json, profile);
	lode_json_member_number(&json, "rows", shares->len);
	lode_json_key(&json, "programs");
	lode_json_begin(&json, '[');
	for (size_t i = 0; i < n; i++)
		put_row(&self, row_at(shares, i), &rows);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}

/* --- the timeline --- */

typedef struct {
	LodeStackSpan of; /* of all samples */
	double weight;    /* of the event */
} Span;

static Span find_span(const LodeStacks *stacks, uint32_t event)
{
	Span span = {.of = lode_stacks_span(stacks)};

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event == event)
			span.weight += sample->weight;
	}
	return span;
}

static uint32_t bin_of(const Span *span, uint32_t n_bins, uint64_t time_ns)
{
	double at = span->of.length_ns > 0
	                    ? (double)(time_ns - span->of.first_ns) / (double)span->of.length_ns
	                    : 0;

	return MIN((uint32_t)(at * n_bins), n_bins - 1);
}

/* The shares of the first threads, one row of bins after another. */
static double *sum_bins(const LodeStacks *stacks, uint32_t event, const Span *span,
	const uint32_t *row_of, uint32_t n_bins)
{
	double *bins = g_new0(double, (size_t)LODE_TIMELINE_MAX_THREADS *n_bins);

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t row = row_of[sample->thread];
		if (sample->event == event && sample->time_ns != 0 &&
			row < LODE_TIMELINE_MAX_THREADS && span->weight > 0)
			bins[(size_t)row * n_bins + bin_of(span, n_bins, sample->time_ns)] +=
				sample->weight / span->weight;
	}
	return bins;
}

static void put_thread(
	LodeJsonStream *json, const LodeProgramShare *row, const double *bins, uint32_t n_bins)
{
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_number(json, "pid", row->pid);
	lode_json_member_number(json, "tid", row->tid);
	lode_json_member_string(json, "name", row->name);
	lode_json_member_number(json, "samples", row->samples);
	lode_json_member_number(json, "weight", row->share);
	lode_json_key(json, "values");
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < n_bins; i++)
		lode_json_number(json, bins[i]);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void put_threads(
	LodeJsonStream *json, const LodeProfile *profile, const Span *span, uint32_t n_bins)
{
	uint32_t event = lode_program_shares_event(profile);
	g_autofree uint32_t *row_of = NULL;
	g_autoptr(GArray) rows = lode_program_shares_new(profile, LODE_PROGRAMS_BY_THREAD, &row_of);
	g_autofree double *bins = sum_bins(profile->stacks, event, span, row_of, n_bins);
	guint n = MIN(rows->len, LODE_TIMELINE_MAX_THREADS);

	lode_json_key(json, "threads");
	lode_json_begin(json, '[');
	for (guint i = 0; i < n; i++)
		put_thread(json, row_at(rows, i), bins + (size_t)i * n_bins, n_bins);
	lode_json_end(json, ']');
	lode_json_member_number(json, "threads_left_out", rows->len - n);
}

bool lode_timeline_write(const LodeProfile *profile, uint32_t n_bins, FILE *out, GError **error)
{
	bool has_samples = profile->stacks != NULL && profile->stacks->samples->len > 0;
	Span span = {0};
	LodeJsonStream json;

	if (has_samples)
		span = find_span(profile->stacks, lode_program_shares_event(profile));
	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_member_number(&json, "seconds", (double)span.of.length_ns / 1e9);
	lode_json_member_number(&json, "bins", n_bins);
	put_event(&json, profile);
	if (has_samples) {
		put_threads(&json, profile, &span, n_bins);
	} else {
		lode_json_key(&json, "threads");
		lode_json_begin(&json, '[');
		lode_json_end(&json, ']');
		lode_json_member_number(&json, "threads_left_out", 0);
	}
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
