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
	put_event(&json, profile);
	lode_json_member_number(&json, "rows", shares->len);
	lode_listing_put_json(&listing, &json);
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

/* Null where samples do not stand for time, or have none. */
static void put_busy(LodeJsonStream *json, const LodeProfile *profile, uint32_t event,
	const Span *span, uint32_t n_bins)
{
	const GArray *samples = profile->stacks->samples;
	g_autofree double *busy = g_new0(double, n_bins);
	double bin_ns = (double)span->of.length_ns / n_bins;

	lode_json_key(json, "busy");
	if (!lode_stack_export_is_time(profile, event) || span->of.length_ns == 0) {
		lode_json_string(json, NULL);
		return;
	}
	for (guint i = 0; i < samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(samples, LodeStackSample, i);
		if (sample->event == event && sample->time_ns != 0)
			busy[bin_of(span, n_bins, sample->time_ns)] += sample->weight / bin_ns;
	}
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < n_bins; i++)
		lode_json_number(json, busy[i]);
	lode_json_end(json, ']');
}

static void put_thread(
	LodeJsonStream *json, const LodeProgramShare *row, const double *bins, uint32_t n_bins)
{
	lode_json_line_begin(json, '{');
	lode_json_member_number(json, "pid", row->pid);
	lode_json_member_number(json, "tid", row->tid);
	lode_json_member_string(json, "name", row->name);
	lode_json_member_number(json, "samples", row->samples);
	lode_json_member_number(json, "weight", row->share);
	lode_json_member_number(json, "from", (double)row->first_ns / 1e9);
	lode_json_member_begin(json, "values", '[');
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

	put_busy(json, profile, event, span, n_bins);
	lode_json_member_begin(json, "threads", '[');
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
		lode_json_member_string(&json, "busy", NULL);
		lode_json_member_begin(&json, "threads", '[');
		lode_json_end(&json, ']');
		lode_json_member_number(&json, "threads_left_out", 0);
	}
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
