/* SPDX-License-Identifier: MIT */
/* The results of a replayed trace, as text, JSON and CSV. */
#include "views/traces/cache_results.h"

#include "base/text/json_stream.h"
#include "base/text/number_format.h"
#include "caches/hierarchy/hierarchy_text.h"
#include "views/form/csv.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_names.h"
#include "views/profile/profile_lines.h"
#include "views/traces/cache_times.h"

#include <math.h>
#include <string.h>

/* A cache of a hierarchy with its counts: a row of every view. */
typedef struct {
	size_t hierarchy;
	const LodeCache *cache;
	const LodeCacheCounts *counts;
	char *description;        /* "32K:8:64" as in the text of the hierarchy */
	LodeMissRatioRange range; /* of a sample; else all is the miss ratio */
} CacheRow;

static const char *const class_names[LODE_N_MISS_CLASSES] = {
	[LODE_MISS_COMPULSORY] = "compulsory",
	[LODE_MISS_CAPACITY] = "capacity",
	[LODE_MISS_CONFLICT] = "conflict",
	[LODE_MISS_TRUE_SHARING] = "true_sharing",
	[LODE_MISS_FALSE_SHARING] = "false_sharing",
};

static bool is_sample(const LodeCacheResults *results)
{
	return results->replay->range.every > 0;
}

static void clear_row(void *row)
{
	g_free(((CacheRow *)row)->description);
}

/* The text after "d1=" in parts between commas. */
static char *find_description(const char *text, const char *name)
{
	g_auto(GStrv) parts = g_strsplit_set(text, ",\n", -1);
	size_t n = strlen(name);

	for (size_t i = 0; parts[i] != NULL; i++)
		if (strncmp(parts[i], name, n) == 0 && parts[i][n] == '=')
			return g_strdup(parts[i] + n + 1);
	return g_strdup("");
}

static uint64_t sum_kinds(const uint64_t *kinds)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LODE_N_REFERENCE_KINDS; i++)
		sum += kinds[i];
	return sum;
}

static uint64_t all_accesses(const LodeCacheCounts *counts)
{
	return sum_kinds(counts->accesses);
}

static uint64_t all_misses(const LodeCacheCounts *counts)
{
	return sum_kinds(counts->misses);
}

/* The share of all accesses, 0 … 1; 0 without any. */
static double miss_ratio(const LodeCacheCounts *counts)
{
	uint64_t accesses = all_accesses(counts);

	return accesses > 0 ? (double)all_misses(counts) / (double)accesses : 0;
}

static void add_rows(GArray *rows, const LodeCacheResults *results, size_t hierarchy)
{
	const GArray *caches = results->hierarchies[hierarchy]->caches;
	const LodeCacheCounts *counts = lode_cache_simulation_counts(
		results->replay->simulation, hierarchy);
	g_autofree char *text = lode_hierarchy_to_text(results->hierarchies[hierarchy]);

	for (guint i = 0; i < caches->len; i++) {
		const LodeCache *cache = &g_array_index(caches, LodeCache, i);
		CacheRow row = {hierarchy, cache, &counts[i], find_description(text, cache->name),
			.range = {miss_ratio(&counts[i]), miss_ratio(&counts[i]), 0}};

		if (is_sample(results))
			row.range = lode_trace_replay_ratio_range(results->replay, hierarchy, i);
		g_array_append_val(rows, row);
	}
}

/* GArray of CacheRow, hierarchy by hierarchy; the caller owns it. Borrows the results. */
static GArray *cache_rows(const LodeCacheResults *results)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(CacheRow));

	g_array_set_clear_func(rows, clear_row);
	for (size_t i = 0; i < results->n_hierarchies; i++)
		add_rows(rows, results, i);
	return rows;
}

/* The distance of the range's farther end from the miss ratio of the windows. */
static double ratio_error(const CacheRow *row)
{
	double ratio = miss_ratio(row->counts);

	return isfinite(row->range.high) ? MAX(row->range.high - ratio, ratio - row->range.low)
	                                 : (double)NAN;
}

static char *ratio_text(double ratio, char buffer[LODE_NUMBER_SIZE])
{
	char number[LODE_NUMBER_SIZE - 2];

	g_ascii_formatd(number, sizeof(number), "%.3f", 100 * ratio);
	g_snprintf(buffer, LODE_NUMBER_SIZE, "%s %%", number);
	return buffer;
}

/* For 1000 instructions; NAN without any. */
static double misses_per_1000(const LodeCacheCounts *counts, uint64_t n_instructions)
{
	if (n_instructions == 0)
		return (double)NAN;
	return 1000 * (double)all_misses(counts) / (double)n_instructions;
}

static void put_counts(LodeJsonStream *json, const char *name, const uint64_t *counts,
	const char *const *names, unsigned n)
{
	lode_json_member_begin(json, name, '{');
	for (unsigned i = 0; i < n; i++)
		lode_json_member_number(json, names[i], (double)counts[i]);
	lode_json_end(json, '}');
}

static void put_cache(LodeJsonStream *json, const LodeCache *cache)
{
	lode_json_member_string(json, "name", cache->name);
	lode_json_member_number(json, "level", cache->level);
	lode_json_member_string(json, "holds", lode_miss_curve_holds_text(cache->holds));
	lode_json_member_bool(json, "is_tlb", cache->is_tlb);
	lode_json_member_bool(json, "is_shared", cache->is_shared);
	lode_json_member_number(json, "size_bytes", (double)cache->size_bytes);
	lode_json_member_number(json, "ways", cache->n_ways);
	lode_json_member_number(json, "line_bytes", cache->line_bytes);
	lode_json_member_string(json, "replacement", lode_replacement_name(cache->replacement));
}

static void put_row(LodeJsonStream *json, const LodeCacheResults *results, const CacheRow *row)
{
	const LodeCacheCounts *counts = row->counts;

	lode_json_line_begin(json, '{');
	put_cache(json, row->cache);
	put_counts(json, "accesses", counts->accesses, lode_reference_kind_names,
		LODE_N_REFERENCE_KINDS);
	put_counts(
		json, "misses", counts->misses, lode_reference_kind_names, LODE_N_REFERENCE_KINDS);
	lode_json_member_number(json, "miss_ratio", miss_ratio(counts));
	lode_json_member_number(json, "miss_ratio_error", ratio_error(row));
	if (is_sample(results)) {
		lode_json_member_number(json, "miss_ratio_low", row->range.low);
		lode_json_member_number(json, "miss_ratio_high", row->range.high);
		lode_json_member_number(json, "cold_misses", row->range.cold_misses);
	}
	lode_json_member_number(json, "misses_per_1000_instructions",
		misses_per_1000(counts, results->replay->n_instructions));
	if (results->is_classified)
		put_counts(json, "classes", counts->classes, class_names, LODE_N_MISS_CLASSES);
	lode_json_member_number(json, "write_backs", (double)counts->write_backs);
	lode_json_member_number(json, "invalidations", (double)counts->invalidations);
	lode_json_member_number(json, "prefetches", (double)counts->prefetches);
	lode_json_member_number(json, "useful_prefetches", (double)counts->useful_prefetches);
	lode_json_end(json, '}');
}

static void begin_hierarchy(LodeJsonStream *json, const LodeHierarchy *hierarchy)
{
	g_autofree char *text = lode_hierarchy_to_text(hierarchy);

	lode_json_line_begin(json, '{');
	lode_json_member_string(json, "name", hierarchy->name);
	lode_json_member_string(json, "text", text);
	lode_json_member_number(json, "cores", hierarchy->n_cores);
	lode_json_member_begin(json, "caches", '[');
}

static void put_hierarchies(LodeJsonStream *json, const LodeCacheResults *results)
{
	g_autoptr(GArray) rows = cache_rows(results);
	guint row = 0;

	lode_json_member_begin(json, "hierarchies", '[');
	for (size_t i = 0; i < results->n_hierarchies; i++) {
		begin_hierarchy(json, results->hierarchies[i]);
		for (; row < rows->len && g_array_index(rows, CacheRow, row).hierarchy == i; row++)
			put_row(json, results, &g_array_index(rows, CacheRow, row));
		lode_json_end(json, ']');
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_points(LodeJsonStream *json, const LodeMissCurve *curve)
{
	lode_json_member_begin(json, "points", '[');
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);

		lode_json_line_begin(json, '{');
		lode_json_member_number(json, "lines", (double)point->n_lines);
		lode_json_member_number(json, "bytes", (double)point->n_lines * curve->line_bytes);
		lode_json_member_number(json, "misses", (double)point->misses);
		lode_json_member_number(
			json, "miss_ratio", lode_miss_curve_ratio(curve, point->misses));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_reuses(LodeJsonStream *json, const LodeMissCurve *curve)
{
	lode_json_member_begin(json, "reuses", '[');
	for (unsigned i = 0; i < curve->n_bins; i++) {
		lode_json_line_begin(json, '{');
		lode_json_member_number(json, "from", i > 0 ? (double)(UINT64_C(1) << (i - 1)) : 0);
		lode_json_member_number(json, "to", (double)((UINT64_C(1) << i) - 1));
		lode_json_member_number(json, "accesses", (double)curve->reuses[i]);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_curves(LodeJsonStream *json, const GPtrArray *curves, const char *key)
{
	lode_json_member_begin(json, key, '[');
	for (guint i = 0; i < curves->len; i++) {
		const LodeMissCurve *curve = g_ptr_array_index(curves, i);

		lode_json_line_begin(json, '{');
		if (curve->thread != LODE_MISS_CURVE_ALL)
			lode_json_member_number(json, "thread", curve->thread);
		lode_json_member_string(json, "of", lode_miss_curve_holds_text(curve->holds));
		lode_json_member_number(json, "line_bytes", curve->line_bytes);
		lode_json_member_number(json, "accesses", (double)curve->n_accesses);
		lode_json_member_number(json,
			curve->thread == LODE_MISS_CURVE_ALL ? "lines" : "first_uses",
			(double)curve->n_lines);
		put_points(json, curve);
		put_reuses(json, curve);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_results(LodeJsonStream *json, const LodeCacheResults *results)
{
	lode_json_begin(json, '{');
	lode_json_member_string(json, "trace", results->path);
	lode_json_member_string(json, "program", results->command);
	lode_json_member_number(json, "first_reference", (double)results->replay->range.first);
	lode_json_member_number(json, "warm_up", (double)results->replay->range.warm_up);
	if (is_sample(results)) {
		lode_json_member_number(json, "every", (double)results->replay->range.every);
		lode_json_member_number(json, "length", (double)results->replay->range.length);
		lode_json_member_number(json, "windows", (double)results->replay->n_windows);
	}
	lode_json_member_number(json, "references", (double)results->replay->n_references);
	lode_json_member_number(json, "instructions", (double)results->replay->n_instructions);
	lode_json_member_string(json, "damage", results->replay->damage);
	lode_json_line(json);
	put_hierarchies(json, results);
	lode_json_line(json);
	put_curves(json, results->replay->curves, "curves");
	if (results->replay->thread_curves != NULL && results->replay->thread_curves->len > 0) {
		lode_json_line(json);
		put_curves(json, results->replay->thread_curves, "curves_by_thread");
	}
	lode_cache_times_put_json(json, results);
	lode_json_end(json, '}');
}

static void write_json(const LodeCacheResults *results, size_t n_results, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	if (n_results > 1)
		lode_json_begin(&json, '[');
	for (size_t i = 0; i < n_results; i++)
		put_results(&json, &results[i]);
	if (n_results > 1)
		lode_json_end(&json, ']');
}

static void put_titles(LodeCsv *csv, const char *const *titles, size_t n)
{
	for (size_t i = 0; i < n; i++)
		lode_csv_text(csv, titles[i]);
}

static void put_kind_titles(LodeCsv *csv, const char *what)
{
	for (unsigned i = 0; i < LODE_N_REFERENCE_KINDS; i++) {
		g_autofree char *title = g_strdup_printf(
			"%s_%s", lode_reference_kind_names[i], what);
		lode_csv_text(csv, title);
	}
}

static void put_cache_titles(LodeCsv *csv, const LodeCacheResults *results)
{
	static const char *const before[] = {"hierarchy", "name", "cache", "description", "level",
		"holds", "size_bytes", "ways", "line_bytes", "accesses", "misses", "miss_ratio",
		"misses_per_1000_instructions"};
	static const char *const after[] = {"write_backs", "invalidations", "prefetches",
		"useful_prefetches", "miss_ratio_error"};
	static const char *const of_sample[] = {"miss_ratio_low", "miss_ratio_high", "cold_misses"};

	if (results->process > 0)
		lode_csv_text(csv, "process");
	put_titles(csv, before, G_N_ELEMENTS(before));
	put_kind_titles(csv, "accesses");
	put_kind_titles(csv, "misses");
	if (results->is_classified)
		put_titles(csv, class_names, LODE_N_MISS_CLASSES);
	put_titles(csv, after, G_N_ELEMENTS(after));
	if (is_sample(results))
		put_titles(csv, of_sample, G_N_ELEMENTS(of_sample));
	lode_csv_end_row(csv);
}

static void put_numbers(LodeCsv *csv, const uint64_t *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		lode_csv_number(csv, (double)numbers[i]);
}

static void put_cache_row(LodeCsv *csv, const LodeCacheResults *results, const CacheRow *row)
{
	const LodeCache *cache = row->cache;
	const LodeCacheCounts *counts = row->counts;

	if (results->process > 0)
		lode_csv_number(csv, results->process);
	lode_csv_number(csv, (double)row->hierarchy + 1);
	lode_csv_text(csv, results->hierarchies[row->hierarchy]->name);
	lode_csv_text(csv, cache->name);
	lode_csv_text(csv, row->description);
	lode_csv_number(csv, cache->level);
	lode_csv_text(csv, lode_miss_curve_holds_text(cache->holds));
	lode_csv_number(csv, (double)cache->size_bytes);
	lode_csv_number(csv, cache->n_ways);
	lode_csv_number(csv, cache->line_bytes);
	lode_csv_number(csv, (double)all_accesses(counts));
	lode_csv_number(csv, (double)all_misses(counts));
	lode_csv_number(csv, miss_ratio(counts));
	lode_csv_number(csv, misses_per_1000(counts, results->replay->n_instructions));
	put_numbers(csv, counts->accesses, LODE_N_REFERENCE_KINDS);
	put_numbers(csv, counts->misses, LODE_N_REFERENCE_KINDS);
	if (results->is_classified)
		put_numbers(csv, counts->classes, LODE_N_MISS_CLASSES);
	lode_csv_number(csv, (double)counts->write_backs);
	lode_csv_number(csv, (double)counts->invalidations);
	lode_csv_number(csv, (double)counts->prefetches);
	lode_csv_number(csv, (double)counts->useful_prefetches);
	lode_csv_number(csv, ratio_error(row));
	if (is_sample(results)) {
		lode_csv_number(csv, row->range.low);
		lode_csv_number(csv, row->range.high);
		lode_csv_number(csv, row->range.cold_misses);
	}
	lode_csv_end_row(csv);
}

static bool is_by_thread(const LodeCacheResults *results)
{
	return results->replay->thread_curves != NULL && results->replay->thread_curves->len > 0;
}

static void put_thread(LodeCsv *csv, const LodeMissCurve *curve)
{
	if (curve->thread == LODE_MISS_CURVE_ALL)
		lode_csv_text(csv, "all");
	else
		lode_csv_number(csv, curve->thread);
}

static void put_curve_rows(
	LodeCsv *csv, const LodeCacheResults *results, const LodeMissCurve *curve)
{
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);

		if (results->process > 0)
			lode_csv_number(csv, results->process);
		if (is_by_thread(results))
			put_thread(csv, curve);
		lode_csv_text(csv, lode_miss_curve_holds_text(curve->holds));
		lode_csv_number(csv, curve->line_bytes);
		lode_csv_number(csv, (double)point->n_lines);
		lode_csv_number(csv, (double)point->n_lines * curve->line_bytes);
		lode_csv_number(csv, (double)point->misses);
		lode_csv_number(csv, lode_miss_curve_ratio(curve, point->misses));
		lode_csv_end_row(csv);
	}
}

static void put_result_titles(LodeCsv *csv, const LodeCacheResults *results)
{
	static const char *const curve_titles[] = {
		"of", "line_bytes", "lines", "bytes", "misses", "miss_ratio"};

	if (results->replay->times != NULL) {
		lode_cache_times_put_titles(csv, results);
		return;
	}
	if (results->n_hierarchies > 0) {
		put_cache_titles(csv, results);
		return;
	}
	if (results->process > 0)
		lode_csv_text(csv, "process");
	if (is_by_thread(results))
		lode_csv_text(csv, "thread");
	put_titles(csv, curve_titles, G_N_ELEMENTS(curve_titles));
	lode_csv_end_row(csv);
}

static void put_result_rows(LodeCsv *csv, const LodeCacheResults *results)
{
	const GPtrArray *curves = results->replay->curves;

	if (results->replay->times != NULL) {
		lode_cache_times_put_rows(csv, results);
		return;
	}
	if (results->n_hierarchies > 0) {
		g_autoptr(GArray) rows = cache_rows(results);
		for (guint i = 0; i < rows->len; i++)
			put_cache_row(csv, results, &g_array_index(rows, CacheRow, i));
		return;
	}
	for (guint i = 0; i < curves->len; i++)
		put_curve_rows(csv, results, g_ptr_array_index(curves, i));
	for (guint i = 0; is_by_thread(results) && i < results->replay->thread_curves->len; i++)
		put_curve_rows(csv, results, results->replay->thread_curves->pdata[i]);
}

static void write_csv(const LodeCacheResults *results, size_t n_results, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_result_titles(&csv, results);
	for (size_t i = 0; i < n_results; i++)
		put_result_rows(&csv, &results[i]);
}

enum { BAR_WIDTH = 40 };

/* The columns of caches; those from FIRST_OPTIONAL on are left out if they are 0 in all rows. */
typedef enum {
	COLUMN_HIERARCHY,
	COLUMN_CACHE,
	COLUMN_ACCESSES,
	COLUMN_MISSES,
	COLUMN_RATIO,
	COLUMN_RATIO_RANGE,
	COLUMN_COLD,
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
	[COLUMN_RATIO_RANGE] = {"95 %", .dropped = 2},
	[COLUMN_COLD] = {"cold misses", .dropped = 2},
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
	GArray *rows; /* CacheRow */
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
		return all_accesses(counts);
	case COLUMN_MISSES:
		return all_misses(counts);
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
	if (column == COLUMN_RATIO_RANGE || column == COLUMN_COLD)
		return is_sample(self->results);
	if (column < FIRST_OPTIONAL || column == COLUMN_DESCRIPTION)
		return true;
	for (guint i = 0; i < self->rows->len; i++)
		if (count_of(g_array_index(self->rows, CacheRow, i).counts, column) > 0)
			return true;
	return false;
}

static void append_range(const LodeMissRatioRange *range, GString *out)
{
	char low[LODE_NUMBER_SIZE], high[LODE_NUMBER_SIZE];

	if (isfinite(range->high))
		g_string_append_printf(out, "%s to %s", ratio_text(range->low, low),
			ratio_text(range->high, high));
}

static void append_figure(const Table *self, const CacheRow *row, Column column, GString *out)
{
	char number[LODE_NUMBER_SIZE];
	double rate = misses_per_1000(row->counts, self->results->replay->n_instructions);

	if (column == COLUMN_HIERARCHY)
		g_string_append_printf(out, "%zu", row->hierarchy + 1);
	else if (column == COLUMN_RATIO)
		g_string_append(out, ratio_text(miss_ratio(row->counts), number));
	else if (column == COLUMN_RATIO_RANGE)
		append_range(&row->range, out);
	else if (column == COLUMN_COLD)
		g_string_append(out, lode_number_format_count(row->range.cold_misses, number));
	else if (column != COLUMN_PER_1000)
		g_string_append(out,
			lode_number_format_count((double)count_of(row->counts, column), number));
	else if (isfinite(rate))
		g_string_append(out, g_ascii_formatd(number, sizeof(number), "%.3f", rate));
}

static LodeStyle cache_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const CacheRow *row = &g_array_index(self->rows, CacheRow, number);

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

/* Whether cold misses make most of the range. */
static bool is_cold(const CacheRow *row)
{
	return 2 * row->range.cold_misses >
	       (row->range.high - row->range.low) * (double)all_accesses(row->counts);
}

/* The cache that a warm-up fills least, and the references that fill it at its miss rate. */
static void write_sample_note(const Table *self, FILE *out)
{
	const LodeTraceReplay *replay = self->results->replay;
	const CacheRow *coldest = NULL;
	double longest = 0;
	char number[LODE_NUMBER_SIZE];

	if (replay->n_windows < LODE_TRACE_REPLAY_MIN_WINDOWS) {
		fputc('\n', out);
		lode_profile_lines_print(self->terminal, out, "No range: fewer than %d windows.",
			LODE_TRACE_REPLAY_MIN_WINDOWS);
		return;
	}
	for (guint i = 0; i < self->rows->len; i++) {
		const CacheRow *row = &g_array_index(self->rows, CacheRow, i);
		double n_lines = (double)row->cache->size_bytes / row->cache->line_bytes;
		double needed = n_lines * (double)replay->n_references /
		                (double)MAX(all_misses(row->counts), 1);

		if (!is_cold(row) || needed <= longest)
			continue;
		coldest = row;
		longest = needed;
	}
	if (coldest == NULL)
		return;
	fputc('\n', out);
	lode_profile_lines_print(self->terminal, out,
		"Cold misses are in sets not yet full: with a longer --warm-up they might be hits. "
		"To fill %s takes at least %s references.",
		coldest->cache->name, lode_number_format_count(ceil(longest), number));
}

static void write_caches(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	Table self = {results, terminal, cache_rows(results), {0}, 0};
	LodeTableColumn columns[N_COLUMNS];

	for (Column column = 0; column < N_COLUMNS; column++) {
		if (!is_shown(&self, column))
			continue;
		columns[self.n_shown] = all_columns[column];
		self.shown[self.n_shown++] = column;
	}
	LodeTable table = {columns, self.n_shown, self.rows->len, cache_cell, &self};
	lode_table_write(&table, terminal, out);
	if (is_sample(results))
		write_sample_note(&self, out);
	g_array_unref(self.rows);
}

/* "1 host: i1=32K:8:64,…"; hierarchies of one cache are described by their row. */
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
		g_string_append(out, ratio_text(lode_miss_curve_ratio(curve, point->misses), text));
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

/* ---- curves by thread: a row for each, a column for every second power of two ---- */

enum { N_THREAD_COLUMNS = 3, MAX_SIZES = 10, SIZE_STEP = 2 };

typedef struct {
	LodeMissCurve **curves; /* of the threads */
} Threads;

static LodeStyle thread_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Threads *self = user_data;
	const LodeMissCurve *curve = self->curves[row];
	char text[LODE_NUMBER_SIZE];

	if (column == 0)
		g_string_append_printf(out, "%u", curve->thread);
	else if (column == 1)
		g_string_append(out, lode_number_format_count((double)curve->n_accesses, text));
	else if (column == 2)
		g_string_append(out, lode_number_format_count((double)curve->n_lines, text));
	else if (curve->points->len > 0)
		g_string_append(out,
			ratio_text(
				lode_miss_curve_ratio(curve,
					point_of(curve, UINT64_C(1) << (column - N_THREAD_COLUMNS) *
									       SIZE_STEP)
						->misses),
				text));
	return column < N_THREAD_COLUMNS ? LODE_STYLE_PLAIN : LODE_STYLE_STRONG;
}

static void write_threads(
	const LodeCacheResults *results, guint number, const LodeTerminal *terminal, FILE *out)
{
	const GPtrArray *all = results->replay->thread_curves;
	const LodeMissCurve *curve = results->replay->curves->pdata[number];
	guint n_threads = all->len / results->replay->curves->len;
	const Threads threads = {(LodeMissCurve **)all->pdata + number * n_threads};
	LodeTableColumn columns[N_THREAD_COLUMNS + MAX_SIZES] = {
		{"thread"}, {"accesses"}, {"first uses", .dropped = 1}};
	char sizes[MAX_SIZES][LODE_NUMBER_SIZE];
	unsigned n = 0;

	do {
		lode_memory_size_text((UINT64_C(1) << n * SIZE_STEP) * curve->line_bytes, sizes[n]);
		columns[N_THREAD_COLUMNS + n].title = sizes[n];
		n++;
	} while (n < MAX_SIZES && (n - 1) * SIZE_STEP < curve->n_bins);
	const LodeTable table = {columns, N_THREAD_COLUMNS + n, n_threads, thread_cell, &threads};
	fputc('\n', out);
	lode_profile_lines_print(terminal, out,
		"By thread, miss ratios by size of a cache that all threads use: %s in lines of "
		"%u bytes",
		lode_miss_curve_holds_text(curve->holds), curve->line_bytes);
	fputc('\n', out);
	lode_table_write(&table, terminal, out);
}

/* " from 1,000,000, after 50,000 to warm up", " in 55 windows, 1 % of all, each after …" */
static char *range_text(const LodeTraceReplay *replay)
{
	const LodeTraceRange *range = &replay->range;
	char first[LODE_NUMBER_SIZE], warm_up[LODE_NUMBER_SIZE], windows[LODE_NUMBER_SIZE];
	char share[LODE_NUMBER_SIZE];
	GString *text = g_string_new(NULL);

	if (range->every > 0)
		g_string_append_printf(text, " in %s window%s, %s of all",
			lode_number_format_count((double)replay->n_windows, windows),
			replay->n_windows == 1 ? "" : "s",
			lode_number_format_share(
				(double)range->length / (double)range->every, share));
	if (range->first > 0)
		g_string_append_printf(
			text, " from %s", lode_number_format_count((double)range->first, first));
	if (range->warm_up > 0)
		g_string_append_printf(text, ", %safter %s to warm up",
			range->every > 0 ? "each " : "",
			lode_number_format_count((double)range->warm_up, warm_up));
	return g_string_free(text, FALSE);
}

static void write_text(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	const LodeTraceReplay *replay = results->replay;
	char references[LODE_NUMBER_SIZE], instructions[LODE_NUMBER_SIZE];
	g_autofree char *name = lode_display_text(
		results->command != NULL ? results->command : results->path, terminal->is_ascii);

	g_autofree char *part = range_text(replay);
	lode_profile_lines_print(terminal, out, "%s · %s references%s · %s instructions%s", name,
		lode_number_format_count((double)replay->n_references, references), part,
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
		if (is_by_thread(results))
			write_threads(results, i, terminal, out);
	}
	lode_cache_times_write(results, terminal, out);
}

bool lode_cache_results_write(const LodeCacheResults *results, size_t n_results,
	const LodeCacheResultsOptions *options, FILE *out, GError **error)
{
	if (options->format == LODE_VIEW_JSON)
		write_json(results, n_results, out);
	else if (options->format == LODE_VIEW_CSV)
		write_csv(results, n_results, out);
	for (size_t i = 0; i < n_results && options->format == LODE_VIEW_TEXT; i++) {
		if (i > 0)
			fputc('\n', out);
		write_text(&results[i], &options->terminal, out);
	}
	return lode_view_flush(out, error);
}
