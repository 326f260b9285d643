/* SPDX-License-Identifier: MIT */
/* What a replayed trace told, as text. */
#include "views/cache_results.h"

#include "base/number_format.h"
#include "views/cache_figures.h"
#include "views/cache_results_rows.h"
#include "views/display_text.h"
#include "views/memory_names.h"
#include "views/profile_lines.h"
#include "views/table.h"

#include <math.h>

enum { BAR_WIDTH = 40 };

/* The columns of caches; what is 0 in all rows is left out of those from FIRST_OPTIONAL on. */
typedef enum {
	COLUMN_HIERARCHY,
	COLUMN_CACHE,
	COLUMN_ACCESSES,
	COLUMN_MISSES,
	COLUMN_RATIO,
	COLUMN_PER_1000,
	COLUMN_FETCH_MISSES,
	COLUMN_LOAD_MISSES,
	COLUMN_STORE_MISSES,
	COLUMN_MODIFY_MISSES,
	COLUMN_COMPULSORY,
	COLUMN_CAPACITY,
	COLUMN_CONFLICT,
	COLUMN_TRUE_SHARING,
	COLUMN_FALSE_SHARING,
	COLUMN_WRITE_BACKS,
	COLUMN_INVALIDATIONS,
	COLUMN_PREFETCHES,
	COLUMN_USEFUL,
	COLUMN_DESCRIPTION,
	N_COLUMNS,
	FIRST_OPTIONAL = COLUMN_FETCH_MISSES,
} Column;

static const LodeTableColumn all_columns[N_COLUMNS] = {
	[COLUMN_HIERARCHY] = {"hierarchy"},
	[COLUMN_CACHE] = {"cache", .is_text = true},
	[COLUMN_ACCESSES] = {"accesses"},
	[COLUMN_MISSES] = {"misses"},
	[COLUMN_RATIO] = {"miss ratio"},
	[COLUMN_PER_1000] = {"per 1000 instructions", .dropped = 3},
	[COLUMN_FETCH_MISSES] = {"fetch misses", .dropped = 4},
	[COLUMN_LOAD_MISSES] = {"load misses", .dropped = 4},
	[COLUMN_STORE_MISSES] = {"store misses", .dropped = 4},
	[COLUMN_MODIFY_MISSES] = {"modify misses", .dropped = 4},
	[COLUMN_COMPULSORY] = {"compulsory", .dropped = 1},
	[COLUMN_CAPACITY] = {"capacity", .dropped = 1},
	[COLUMN_CONFLICT] = {"conflict", .dropped = 1},
	[COLUMN_TRUE_SHARING] = {"true sharing", .dropped = 1},
	[COLUMN_FALSE_SHARING] = {"false sharing", .dropped = 1},
	[COLUMN_WRITE_BACKS] = {"write-backs", .dropped = 5},
	[COLUMN_INVALIDATIONS] = {"invalidated", .dropped = 2},
	[COLUMN_PREFETCHES] = {"prefetches", .dropped = 2},
	[COLUMN_USEFUL] = {"useful", .dropped = 2},
	[COLUMN_DESCRIPTION] = {"size, ways, line", .is_text = true},
};

typedef struct {
	const LodeCacheResults *results;
	const LodeTerminal *terminal;
	GArray *rows; /* LodeCacheRow */
	Column shown[N_COLUMNS];
	unsigned n_shown;
} Table;

static uint64_t count_of(const LodeCacheCounts *counts, Column column)
{
	if (column >= COLUMN_FETCH_MISSES && column <= COLUMN_MODIFY_MISSES)
		return counts->misses[column - COLUMN_FETCH_MISSES];
	if (column >= COLUMN_COMPULSORY && column <= COLUMN_FALSE_SHARING)
		return counts->classes[column - COLUMN_COMPULSORY];
	switch (column) {
	case COLUMN_ACCESSES:
		return lode_cache_accesses(counts);
	case COLUMN_MISSES:
		return lode_cache_misses(counts);
	case COLUMN_WRITE_BACKS:
		return counts->write_backs;
	case COLUMN_INVALIDATIONS:
		return counts->invalidations;
	case COLUMN_PREFETCHES:
		return counts->prefetches;
	default:
		return counts->useful_prefetches;
	}
}

static bool is_shown(const Table *self, Column column)
{
	if (column == COLUMN_HIERARCHY)
		return self->results->n_hierarchies > 1;
	if (column < FIRST_OPTIONAL || column == COLUMN_DESCRIPTION)
		return true;
	for (guint i = 0; i < self->rows->len; i++)
		if (count_of(g_array_index(self->rows, LodeCacheRow, i).counts, column) > 0)
			return true;
	return false;
}

static void append_figure(const Table *self, const LodeCacheRow *row, Column column, GString *out)
{
	char number[LODE_NUMBER_SIZE];
	double rate = lode_cache_misses_per_1000(
		row->counts, self->results->replay->n_instructions);

	if (column == COLUMN_HIERARCHY)
		g_string_append_printf(out, "%zu", row->hierarchy + 1);
	else if (column == COLUMN_RATIO)
		g_string_append(
			out, lode_cache_ratio_text(lode_cache_miss_ratio(row->counts), number));
	else if (column != COLUMN_PER_1000)
		g_string_append(out,
			lode_number_format_count((double)count_of(row->counts, column), number));
	else if (isfinite(rate))
		g_string_append(out, g_ascii_formatd(number, sizeof(number), "%.3f", rate));
}

static LodeStyle cache_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const LodeCacheRow *row = &g_array_index(self->rows, LodeCacheRow, number);

	switch (self->shown[column]) {
	case COLUMN_CACHE:
		lode_display_append(out, row->cache->name, self->terminal->is_ascii);
		return LODE_STYLE_NAME;
	case COLUMN_DESCRIPTION:
		lode_display_append(out, row->description, self->terminal->is_ascii);
		return LODE_STYLE_FAINT;
	default:
		append_figure(self, row, self->shown[column], out);
		return self->shown[column] == COLUMN_RATIO ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	}
}

static void write_caches(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	Table self = {results, terminal, lode_cache_rows_new(results), {0}, 0};
	LodeTableColumn columns[N_COLUMNS];

	for (Column column = 0; column < N_COLUMNS; column++) {
		if (!is_shown(&self, column))
			continue;
		columns[self.n_shown] = all_columns[column];
		self.shown[self.n_shown++] = column;
	}
	LodeTable table = {columns, self.n_shown, self.rows->len, cache_cell, &self};
	lode_table_write(&table, terminal, out);
	g_array_unref(self.rows);
}

/* "1  host: i1=32K:8:64,…"; those of one cache are told by their row. */
static void write_hierarchies(
	const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	bool is_any = false;

	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const LodeHierarchy *hierarchy = results->hierarchies[i];
		g_autofree char *text = lode_hierarchy_to_text(hierarchy);
		g_autofree char *number = g_strdup_printf("%zu  ", i + 1);
		bool is_named = g_strcmp0(hierarchy->name, text) != 0;

		if (hierarchy->caches->len < 2 && !is_named)
			continue;
		is_any = true;
		lode_profile_lines_print(terminal, out, "%s%s%s%s",
			results->n_hierarchies > 1 ? number : "", is_named ? hierarchy->name : "",
			is_named ? " · " : "", text);
	}
	if (is_any)
		fputc('\n', out);
}

static const LodeMissPoint *point_of(const LodeMissCurve *curve, uint64_t n_lines)
{
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);
		if (point->n_lines >= n_lines)
			return point;
	}
	return &g_array_index(curve->points, LodeMissPoint, curve->points->len - 1);
}

static void append_bar(GString *out, double share)
{
	int n = (int)lround(share * BAR_WIDTH);

	for (int i = 0; i < n; i++)
		g_string_append_c(out, '#');
}

/* A row is a cache of 2^bin lines, and the reuses that no smaller one serves. */
static LodeStyle curve_cell(size_t bin, unsigned column, GString *out, const void *user_data)
{
	const LodeMissCurve *curve = user_data;
	uint64_t n_lines = UINT64_C(1) << bin;
	const LodeMissPoint *point = point_of(curve, n_lines);
	uint64_t reuses = bin < curve->n_bins ? curve->reuses[bin] : 0;
	char text[LODE_NUMBER_SIZE];

	if (column == 0)
		g_string_append(out, lode_memory_size_text(n_lines * curve->line_bytes, text));
	if (column == 1)
		g_string_append(out, lode_number_format_count((double)n_lines, text));
	if (column == 2)
		g_string_append(out, lode_number_format_count((double)point->misses, text));
	if (column == 3)
		g_string_append(out,
			lode_cache_ratio_text(lode_miss_curve_ratio(curve, point->misses), text));
	if (column == 4)
		g_string_append(
			out, lode_number_format_share(lode_miss_curve_ratio(curve, reuses), text));
	if (column == 5)
		append_bar(out, lode_miss_curve_ratio(curve, reuses));
	return column == 3 ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
}

static void write_curve(const LodeMissCurve *curve, const LodeTerminal *terminal, FILE *out)
{
	static const LodeTableColumn columns[] = {{"cache size"}, {"lines", .dropped = 2},
		{"misses", .dropped = 1}, {"miss ratio"}, {"reuses"}, {"", .is_text = true}};
	char accesses[LODE_NUMBER_SIZE], lines[LODE_NUMBER_SIZE], size[LODE_NUMBER_SIZE];
	LodeTable table = {
		columns, G_N_ELEMENTS(columns), MAX(curve->n_bins, 1), curve_cell, curve};

	lode_profile_lines_print(terminal, out,
		"%s in lines of %u bytes · %s accesses to %s line%s (%s) · "
		"fully associative LRU caches",
		lode_miss_curve_holds_text(curve->holds), curve->line_bytes,
		lode_number_format_count((double)curve->n_accesses, accesses),
		lode_number_format_count((double)curve->n_lines, lines),
		curve->n_lines == 1 ? "" : "s",
		lode_memory_size_text(curve->n_lines * curve->line_bytes, size));
	fputc('\n', out);
	if (curve->n_accesses == 0)
		fputs("No accesses.\n", out);
	else
		lode_table_write(&table, terminal, out);
}

static void write_text(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	const LodeTraceReplay *replay = results->replay;
	char references[LODE_NUMBER_SIZE], instructions[LODE_NUMBER_SIZE];
	g_autofree char *name = lode_display_text(
		results->command != NULL ? results->command : results->path, terminal->is_ascii);

	lode_profile_lines_print(terminal, out, "%s · %s references · %s instructions%s", name,
		lode_number_format_count((double)replay->n_references, references),
		lode_number_format_count((double)replay->n_instructions, instructions),
		replay->damage != NULL ? " · the file is damaged: these are not all" : "");
	if (results->n_hierarchies > 0) {
		fputc('\n', out);
		write_hierarchies(results, terminal, out);
		write_caches(results, terminal, out);
	}
	for (guint i = 0; i < replay->curves->len; i++) {
		fputc('\n', out);
		write_curve(g_ptr_array_index(replay->curves, i), terminal, out);
	}
}

bool lode_cache_results_write(const LodeCacheResults *results,
	const LodeCacheResultsOptions *options, FILE *out, GError **error)
{
	if (options->format == LODE_VIEW_JSON)
		lode_cache_results_json(results, out);
	else if (options->format == LODE_VIEW_CSV)
		lode_cache_results_csv(results, out);
	else
		write_text(results, &options->terminal, out);
	return lode_view_flush(out, error);
}
