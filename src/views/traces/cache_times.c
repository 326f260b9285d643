/* SPDX-License-Identifier: MIT */
#include "views/traces/cache_results.h"

#include "base/text/number_format.h"
#include "caches/replay_times.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"

#include <string.h>

enum {
	N_PLACES = 3,    /* columns that say where a stretch lies */
	MAX_CACHES = 12, /* columns of a screen; JSON and CSV have all */
	SIZE_STEP = 2,   /* bins of the curve from column to column */
	HAS_PROCESS = 1, /* of columns */
};

static double ratio(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void append_ratio(GString *out, double value)
{
	char number[LODE_NUMBER_SIZE];

	g_string_append_printf(
		out, "%s %%", g_ascii_formatd(number, sizeof(number), "%.3f", 100 * value));
}

static void append_place(GString *out, const LodeReplayTime *time, unsigned column)
{
	const uint64_t numbers[N_PLACES] = {
		time->first_reference, time->n_references, time->n_instructions};

	g_string_append(out, LODE_COUNT_TEXT(numbers[column]));
}

typedef struct {
	const LodeReplayTimes *times;
	size_t distance;
	/* The columns after the places: a cache, or a size. */
	struct {
		size_t hierarchy, cache;
		unsigned bin;
	} columns[MAX_CACHES];
} Table;

static LodeStyle cache_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;

	if (column < N_PLACES) {
		append_place(out, lode_replay_times_at(self->times, (guint)row), column);
		return LODE_STYLE_PLAIN;
	}
	column -= N_PLACES;
	const LodeCacheCounts *counts = lode_replay_times_counts(self->times, (guint)row,
		self->columns[column].hierarchy, self->columns[column].cache);
	append_ratio(out, ratio(lode_cache_counts_sum(counts->misses),
				  lode_cache_counts_sum(counts->accesses)));
	return LODE_STYLE_STRONG;
}

static LodeStyle curve_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;

	if (column < N_PLACES) {
		append_place(out, lode_replay_times_at(self->times, (guint)row), column);
		return LODE_STYLE_PLAIN;
	}
	const LodeReplayReuses *reuses = lode_replay_times_reuses(
		self->times, (guint)row, self->distance);
	append_ratio(
		out, ratio(lode_replay_reuses_misses(reuses, self->columns[column - N_PLACES].bin),
			     reuses->n_accesses));
	return LODE_STYLE_STRONG;
}

static const LodeTableColumn places[N_PLACES] = {
	{"from reference"}, {"references", .dropped = 1}, {"instructions", .dropped = 2}};

static void write_table(const Table *self, LodeTableColumn *columns, unsigned n_columns,
	LodeStyle (*cell)(size_t, unsigned, GString *, const void *), const LodeTerminal *terminal,
	FILE *out)
{
	memcpy(columns, places, sizeof(places));
	const LodeTable table = {
		columns, N_PLACES + n_columns, lode_replay_times_n(self->times), cell, self};
	lode_table_write(&table, terminal, out);
}

static void write_caches(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	Table self = {.times = results->replay->times};
	LodeTableColumn columns[N_PLACES + MAX_CACHES] = {0};
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const GArray *caches = results->hierarchies[i]->caches;
		for (guint j = 0; j < caches->len && names->len < MAX_CACHES; j++) {
			const char *name = g_array_index(caches, LodeCache, j).name;
			self.columns[names->len].hierarchy = i;
			self.columns[names->len].cache = j;
			g_ptr_array_add(names, results->n_hierarchies > 1
						       ? g_strdup_printf("%zu %s", i + 1, name)
						       : g_strdup(name));
			columns[N_PLACES + names->len - 1].title = g_ptr_array_index(
				names, names->len - 1);
		}
	}
	fputs("\nMiss ratios over time\n\n", out);
	write_table(&self, columns, names->len, cache_cell, terminal, out);
}

/* Every second power of two, up to the first that all fits into. */
static void write_curve(
	const LodeCacheResults *results, guint number, const LodeTerminal *terminal, FILE *out)
{
	const LodeMissCurve *curve = g_ptr_array_index(results->replay->curves, number);
	Table self = {.times = results->replay->times, .distance = number};
	LodeTableColumn columns[N_PLACES + MAX_CACHES] = {0};
	char sizes[MAX_CACHES][LODE_NUMBER_SIZE];
	unsigned n = 0;

	do {
		unsigned bin = n * SIZE_STEP;
		lode_number_format_bytes((UINT64_C(1) << bin) * curve->line_bytes, sizes[n]);
		columns[N_PLACES + n].title = sizes[n];
		self.columns[n++].bin = bin;
	} while (n < MAX_CACHES && (n - 1) * SIZE_STEP < curve->n_bins);
	fputc('\n', out);
	lode_display_print(terminal, out,
		"Miss ratios over time, by cache size: %s in lines of %u bytes",
		lode_miss_curve_holds_text(curve->holds), curve->line_bytes);
	fputc('\n', out);
	write_table(&self, columns, n, curve_cell, terminal, out);
}

void lode_cache_times_write(
	const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	if (results->replay->times == NULL)
		return;
	if (results->n_hierarchies > 0)
		write_caches(results, terminal, out);
	for (guint i = 0; i < results->replay->curves->len; i++)
		write_curve(results, i, terminal, out);
}

/* ---- JSON ---- */

static void put_json_caches(LodeJsonStream *json, const LodeCacheResults *results, guint time)
{
	lode_json_member_begin(json, "caches", '[');
	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const GArray *caches = results->hierarchies[i]->caches;
		for (guint j = 0; j < caches->len; j++) {
			const LodeCacheCounts *counts = lode_replay_times_counts(
				results->replay->times, time, i, j);
			lode_json_begin(json, '{');
			lode_json_member_number(json, "hierarchy", (double)i + 1);
			lode_json_member_string(
				json, "name", g_array_index(caches, LodeCache, j).name);
			lode_json_member_number(
				json, "accesses", (double)lode_cache_counts_sum(counts->accesses));
			lode_json_member_number(
				json, "misses", (double)lode_cache_counts_sum(counts->misses));
			lode_json_end(json, '}');
		}
	}
	lode_json_end(json, ']');
}

static void put_json_curve(
	LodeJsonStream *json, const LodeMissCurve *curve, const LodeReplayReuses *reuses)
{
	lode_json_begin(json, '{');
	lode_json_member_string(json, "of", lode_miss_curve_holds_text(curve->holds));
	lode_json_member_number(json, "line_bytes", curve->line_bytes);
	lode_json_member_number(json, "accesses", (double)reuses->n_accesses);
	lode_json_member_number(json, "first_uses", (double)reuses->n_first);
	lode_json_member_begin(json, "points", '[');
	for (unsigned bin = 0; bin < MAX(curve->n_bins, 1); bin++) {
		double lines = (double)(UINT64_C(1) << bin);
		lode_json_begin(json, '{');
		lode_json_member_number(json, "lines", lines);
		lode_json_member_number(json, "bytes", lines * curve->line_bytes);
		lode_json_member_number(
			json, "misses", (double)lode_replay_reuses_misses(reuses, bin));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

void lode_cache_times_put_json(LodeJsonStream *json, const LodeCacheResults *results)
{
	const LodeReplayTimes *times = results->replay->times;
	const GPtrArray *curves = results->replay->curves;

	if (times == NULL)
		return;
	lode_json_line(json);
	lode_json_member_begin(json, "times", '[');
	for (guint i = 0; i < lode_replay_times_n(times); i++) {
		const LodeReplayTime *time = lode_replay_times_at(times, i);
		lode_json_line_begin(json, '{');
		lode_json_member_number(json, "first_reference", (double)time->first_reference);
		lode_json_member_number(json, "references", (double)time->n_references);
		lode_json_member_number(json, "instructions", (double)time->n_instructions);
		put_json_caches(json, results, i);
		lode_json_member_begin(json, "curves", '[');
		for (guint j = 0; j < curves->len; j++)
			put_json_curve(
				json, curves->pdata[j], lode_replay_times_reuses(times, i, j));
		lode_json_end(json, ']');
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* ---- CSV ---- */

typedef struct {
	LodeReplayTime time;
	uint32_t process, hierarchy, line_bytes;
	const char *name; /* of a cache, or what a curve holds */
	double n_lines, bytes;
	uint64_t accesses, misses;
	double ratio;
} CsvRow;

#define TIME_COLUMNS                                                                               \
	{"process", LODE_CELL_NUMBER(CsvRow, process), .when = HAS_PROCESS},                       \
		{"first_reference", LODE_CELL_NUMBER(CsvRow, time.first_reference)},               \
		{"references", LODE_CELL_NUMBER(CsvRow, time.n_references)},                       \
	{                                                                                          \
		"instructions", LODE_CELL_NUMBER(CsvRow, time.n_instructions)                      \
	}
#define MISS_COLUMNS                                                                               \
	{"accesses", LODE_CELL_NUMBER(CsvRow, accesses)},                                          \
		{"misses", LODE_CELL_NUMBER(CsvRow, misses)},                                      \
	{                                                                                          \
		"miss_ratio", LODE_CELL_NUMBER(CsvRow, ratio)                                      \
	}

static const LodeColumn cache_columns[] = {
	TIME_COLUMNS,
	{"hierarchy", LODE_CELL_NUMBER(CsvRow, hierarchy)},
	{"cache", LODE_CELL_TEXT(CsvRow, name)},
	MISS_COLUMNS,
};
static const LodeColumn size_columns[] = {
	TIME_COLUMNS,
	{"of", LODE_CELL_TEXT(CsvRow, name)},
	{"line_bytes", LODE_CELL_NUMBER(CsvRow, line_bytes)},
	{"lines", LODE_CELL_NUMBER(CsvRow, n_lines)},
	{"bytes", LODE_CELL_NUMBER(CsvRow, bytes)},
	MISS_COLUMNS,
};
const LodeColumns lode_cache_time_columns = LODE_COLUMNS("caches", cache_columns, CsvRow);
const LodeColumns lode_size_time_columns = LODE_COLUMNS("sizes", size_columns, CsvRow);

static CsvRow row_at(const LodeCacheResults *results, guint time)
{
	return (CsvRow){.time = *lode_replay_times_at(results->replay->times, time),
		.process = results->process};
}

static void add_row(GArray *rows, CsvRow row, uint64_t accesses, uint64_t misses)
{
	row.accesses = accesses;
	row.misses = misses;
	row.ratio = ratio(misses, accesses);
	g_array_append_val(rows, row);
}

static void add_caches(GArray *rows, const LodeCacheResults *results, guint time)
{
	CsvRow row = row_at(results, time);

	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const GArray *caches = results->hierarchies[i]->caches;
		for (guint j = 0; j < caches->len; j++) {
			const LodeCacheCounts *counts = lode_replay_times_counts(
				results->replay->times, time, i, j);
			row.hierarchy = (uint32_t)i + 1;
			row.name = g_array_index(caches, LodeCache, j).name;
			add_row(rows, row, lode_cache_counts_sum(counts->accesses),
				lode_cache_counts_sum(counts->misses));
		}
	}
}

static void add_sizes(GArray *rows, const LodeCacheResults *results, guint time, guint number)
{
	const LodeMissCurve *curve = g_ptr_array_index(results->replay->curves, number);
	const LodeReplayReuses *reuses = lode_replay_times_reuses(
		results->replay->times, time, number);
	CsvRow row = row_at(results, time);

	row.name = lode_miss_curve_holds_text(curve->holds);
	row.line_bytes = curve->line_bytes;
	for (unsigned bin = 0; bin < MAX(curve->n_bins, 1); bin++) {
		row.n_lines = (double)(UINT64_C(1) << bin);
		row.bytes = row.n_lines * curve->line_bytes;
		add_row(rows, row, reuses->n_accesses, lode_replay_reuses_misses(reuses, bin));
	}
}

void lode_cache_times_write_csv(const LodeCacheResults *results, bool has_titles, FILE *out)
{
	bool has_caches = results->n_hierarchies > 0;
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsvRow));

	for (guint i = 0; i < lode_replay_times_n(results->replay->times); i++) {
		if (has_caches)
			add_caches(rows, results, i);
		for (guint j = 0; j < results->replay->curves->len && !has_caches; j++)
			add_sizes(rows, results, i, j);
	}
	const LodeListing listing = {
		.columns = has_caches ? &lode_cache_time_columns : &lode_size_time_columns,
		.n_rows = rows->len,
		.rows = rows->data,
		.what = results->process > 0 ? HAS_PROCESS : 0,
	};
	if (has_titles)
		lode_listing_put_csv_titles(&listing, out);
	lode_listing_put_csv_rows(&listing, out);
}
