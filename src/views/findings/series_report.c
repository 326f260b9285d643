/* SPDX-License-Identifier: MIT */
#include "views/findings/series_report.h"

#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"

#include <math.h>

/* Share of the whole's time: of what is smaller, a change is of no use to anybody. */
static const double LEAST_TOLD = 0.005;

static const char *const kind_words[] = {
	"processor time", "time by the clock", "diagnosis", "function", "wait"};

typedef struct {
	const char *kind, *name;
	double base_seconds, new_seconds, change, low, high;
	bool is_told, is_whole;
} Row;

/* "+1.2", "−0.3", in percent. */
static void append_signed(double share, GString *out)
{
	double percent = 100 * share;
	bool is_zero = fabs(percent) < 0.05;

	g_string_append_printf(out, "%s%.1f",
		is_zero       ? ""
		: percent < 0 ? "−"
			      : "+",
		fabs(percent));
}

static LodeStyle append_change(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	(void)terminal;
	(void)user_data;
	append_signed(((const Row *)row)->change, out);
	g_string_append(out, " %");
	return ((const Row *)row)->is_told ? LODE_STYLE_STRONG : LODE_STYLE_FAINT;
}

static LodeStyle append_interval(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	(void)terminal;
	(void)user_data;
	append_signed(((const Row *)row)->low, out);
	g_string_append(out, " … ");
	append_signed(((const Row *)row)->high, out);
	g_string_append(out, " %");
	return LODE_STYLE_PLAIN;
}

static LodeStyle append_what(
	const void *of, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Row *row = of;

	(void)user_data;
	if (!row->is_whole)
		g_string_append_printf(out, "%s ", row->kind);
	if (row->kind == kind_words[LODE_SERIES_FUNCTION])
		lode_function_name_append(out, row->name, terminal);
	else
		lode_display_append(out, row->name, terminal->is_ascii);
	return LODE_STYLE_PLAIN;
}

static const LodeColumn columns[] = {
	{"kind", LODE_CELL_TEXT(Row, kind)},
	{"name", LODE_CELL_TEXT(Row, name)},
	{"base_seconds", LODE_CELL_TIME(Row, base_seconds), .missing = "–", .at = 1, .title = "A"},
	{"new_seconds", LODE_CELL_TIME(Row, new_seconds), .missing = "–", .at = 2, .title = "B"},
	{"change", LODE_CELL_NUMBER(Row, change), .append = append_change, .at = 3},
	{"low", LODE_CELL_NUMBER(Row, low), .append = append_interval, .at = 4, .title = "between"},
	{"high", LODE_CELL_NUMBER(Row, high)},
	{"is_told", LODE_CELL_FLAG(Row, is_told)},
	{NULL, LODE_CELL_TEXT(Row, name), .append = append_what, .at = 5, .title = "what"},
};
const LodeColumns lode_series_change_columns = LODE_COLUMNS("changes", columns, Row);

static bool is_whole(const LodeSeriesRow *row)
{
	return row->kind <= LODE_SERIES_CLOCK;
}

static bool is_told(const LodeSeriesRow *row)
{
	return lode_paired_change_is_told(&row->change) &&
	       (is_whole(row) || fabs(row->change.middle) >= LEAST_TOLD);
}

static GArray *rows_of(const LodeRunSeries *series, bool is_all)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));

	for (guint i = 0; i < series->rows->len; i++) {
		const LodeSeriesRow *of = lode_series_row(series, i);
		const Row row = {kind_words[of->kind], of->name, of->medians[0], of->medians[1],
			of->change.middle, of->change.low, of->change.high, is_told(of),
			is_whole(of)};
		if (is_all || row.is_whole || row.is_told)
			g_array_append_val(rows, row);
	}
	return rows;
}

/* "B takes 39.4 % less processor time (38.8 to 40.1 %)", or that there is no difference. */
static void append_verdict(const LodeSeriesRow *row, GString *out)
{
	const LodePairedChange *change = &row->change;
	double least = MIN(fabs(change->low), fabs(change->high)),
	       most = MAX(fabs(change->low), fabs(change->high));

	if (is_told(row))
		g_string_append_printf(out, "%.1f %% %s %s (%.1f to %.1f %%)",
			100 * fabs(change->middle), change->middle < 0 ? "less" : "more",
			kind_words[row->kind], 100 * least, 100 * most);
	else
		g_string_append_printf(out, "as much %s, with no difference above %.1f %%",
			kind_words[row->kind], 100 * most);
}

static void write_text(const LodeRunSeries *series, const LodeSeriesReportOptions *options,
	const LodeListing *listing, FILE *out)
{
	bool is_markdown = options->format == LODE_SERIES_MARKDOWN;
	g_autoptr(GString) verdict = g_string_new("B takes ");

	append_verdict(lode_series_row(series, 0), verdict);
	lode_display_print(&options->terminal, out, "%s,", verdict->str);
	g_string_assign(verdict, "and ");
	append_verdict(lode_series_row(series, 1), verdict);
	lode_display_print(&options->terminal, out, "%s.", verdict->str);
	if (!is_markdown)
		for (int side = 0; side < 2; side++)
			lode_display_print(&options->terminal, out, "%c: %s", "AB"[side],
				options -> commands[side]);
	fputc('\n', out);
	if (is_markdown)
		lode_listing_write_markdown(listing, out);
	else
		lode_listing_write_text(listing, &options->terminal, out);
	fprintf(out,
		"\nMedians of %u runs of each, by turns. Changes are those within the pairs: of "
		"the\n"
		"whole by its own time, of the others by A's. Between: of the whole with a "
		"confidence\n"
		"of %.0f %%, of the others the least and the largest.\n",
		series->n_pairs, 100 * lode_series_row(series, 0)->change.confidence);
}

static void write_json(const LodeRunSeries *series, const LodeSeriesReportOptions *options,
	const LodeListing *listing, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "base", options->commands[0]);
	lode_json_member_string(&json, "new", options->commands[1]);
	lode_json_member_number(&json, "runs", series->n_pairs);
	lode_json_member_number(&json, "confidence", lode_series_row(series, 0)->change.confidence);
	lode_listing_put_json(listing, &json);
	lode_json_end(&json, '}');
}

bool lode_series_report_write(const LodeRunSeries *series, const LodeSeriesReportOptions *options,
	FILE *out, GError **error)
{
	bool is_keyed = options->format == LODE_SERIES_JSON || options->format == LODE_SERIES_CSV;
	g_autoptr(GArray) rows = rows_of(series, options->is_all || is_keyed);
	const LodeListing listing = {
		.columns = &lode_series_change_columns, .n_rows = rows->len, .rows = rows->data};

	if (options->format == LODE_SERIES_JSON)
		write_json(series, options, &listing, out);
	else if (options->format == LODE_SERIES_CSV)
		lode_listing_write_csv(&listing, out);
	else
		write_text(series, options, &listing, out);
	return lode_view_flush(out, error);
}
