/* SPDX-License-Identifier: MIT */
/* The results of a replayed trace, as text, JSON and CSV. */
#include "views/traces/cache_results.h"

#include "base/text/json_stream.h"
#include "base/text/number_format.h"
#include "caches/hierarchy/hierarchy_text.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"

#include <math.h>
#include <string.h>

/* --- rows of caches --- */

/* A cache of a hierarchy with its counts. */
typedef struct {
	LodeCache cache;
	LodeCacheCounts counts;
	LodeMissRatioRange range; /* of a sample; else all is the miss ratio */
	uint32_t process, hierarchy;
	const char *hierarchy_name, *holds, *replacement;
	char *name;
	char *description; /* "32K:8:64" as in the text of the hierarchy */
	char *range_text;  /* NULL: not known */
	uint64_t n_accesses, n_misses;
	double ratio, ratio_error, per_1000;
} CacheRow;

enum { HAS_PROCESS = 1, HAS_HIERARCHIES = 2, IS_SAMPLE = 4, IS_CLASSIFIED = 8, HAS_THREADS = 16 };

#define MISSES(title_, kind)                                                                       \
	{                                                                                          \
		.title = title_, LODE_CELL_COUNT(CacheRow, counts.misses[kind]), .at = 9 + (kind), \
		.dropped = 4, .hides_empty = true                                                  \
	}
#define CLASS(key, title_, class)                                                                  \
	{key, LODE_CELL_COUNT(CacheRow, counts.classes[class]), .when = IS_CLASSIFIED},            \
	{                                                                                          \
		.title = title_, LODE_CELL_COUNT(CacheRow, counts.classes[class]),                 \
		.at = 13 + (class), .dropped = 1, .hides_empty = true                              \
	}
#define OF_KINDS(what, form, of_fetches, of_loads, of_stores, of_modifies)                         \
	{of_fetches, LODE_CELL_NUMBER(CacheRow, counts.what[0]), .only = form},                    \
		{of_loads, LODE_CELL_NUMBER(CacheRow, counts.what[1]), .only = form},              \
		{of_stores, LODE_CELL_NUMBER(CacheRow, counts.what[2]), .only = form},             \
	{                                                                                          \
		of_modifies, LODE_CELL_NUMBER(CacheRow, counts.what[3]), .only = form              \
	}
/* In CSV after all else. */
#define RANGE(form)                                                                                \
	{"miss_ratio_error", LODE_CELL_NUMBER(CacheRow, ratio_error), .only = form,                \
		.is_nullable = true},                                                              \
		{"miss_ratio_low", LODE_CELL_NUMBER(CacheRow, range.low), .only = form,            \
			.when = IS_SAMPLE},                                                        \
		{"miss_ratio_high", LODE_CELL_NUMBER(CacheRow, range.high), .only = form,          \
			.when = IS_SAMPLE},                                                        \
	{                                                                                          \
		"cold_misses", LODE_CELL_NUMBER(CacheRow, range.cold_misses), .only = form,        \
									      .when = IS_SAMPLE    \
	}

static const LodeColumn cache_columns[] = {
	{"process", LODE_CELL_NUMBER(CacheRow, process), .only = LODE_IN_CSV, .when = HAS_PROCESS},
	{"hierarchy", LODE_CELL_NUMBER(CacheRow, hierarchy), .only = LODE_IN_CSV},
	{"name", LODE_CELL_TEXT(CacheRow, hierarchy_name), .only = LODE_IN_CSV},
	{"cache", LODE_CELL_TEXT(CacheRow, name), .only = LODE_IN_CSV, .at = 2,
		.style = LODE_STYLE_NAME},
	{"description", LODE_CELL_TEXT(CacheRow, description), .only = LODE_IN_CSV,
		.title = "size, ways, line", .at = 22, .style = LODE_STYLE_FAINT},
	{"name", LODE_CELL_TEXT(CacheRow, name), .only = LODE_IN_JSON},
	{"level", LODE_CELL_NUMBER(CacheRow, cache.level)},
	{"holds", LODE_CELL_TEXT(CacheRow, holds)},
	{"is_tlb", LODE_CELL_FLAG(CacheRow, cache.is_tlb), .only = LODE_IN_JSON},
	{"is_shared", LODE_CELL_FLAG(CacheRow, cache.is_shared), .only = LODE_IN_JSON},
	{"size_bytes", LODE_CELL_NUMBER(CacheRow, cache.size_bytes)},
	{"ways", LODE_CELL_NUMBER(CacheRow, cache.n_ways)},
	{"line_bytes", LODE_CELL_NUMBER(CacheRow, cache.line_bytes)},
	{"replacement", LODE_CELL_TEXT(CacheRow, replacement), .only = LODE_IN_JSON},
	{"accesses", LODE_GROUP(""), .only = LODE_IN_JSON},
	OF_KINDS(accesses, LODE_IN_JSON, "fetch", "load", "store", "modify"),
	LODE_GROUP_END,
	{"misses", LODE_GROUP(""), .only = LODE_IN_JSON},
	OF_KINDS(misses, LODE_IN_JSON, "fetch", "load", "store", "modify"),
	LODE_GROUP_END,
	{"accesses", LODE_CELL_COUNT(CacheRow, n_accesses), .only = LODE_IN_CSV, .at = 3},
	{"misses", LODE_CELL_COUNT(CacheRow, n_misses), .only = LODE_IN_CSV, .at = 4},
	{"miss_ratio", LODE_CELL_RATIO(CacheRow, ratio), .title = "miss ratio", .at = 5,
		.style = LODE_STYLE_STRONG},
	RANGE(LODE_IN_JSON),
	{"misses_per_1000_instructions", LODE_CELL_NUMBER(CacheRow, per_1000), .decimals = 3,
		.is_nullable = true, .title = "per 1000 instructions", .at = 8, .dropped = 3},
	OF_KINDS(accesses, LODE_IN_CSV, "fetch_accesses", "load_accesses", "store_accesses",
		"modify_accesses"),
	OF_KINDS(misses, LODE_IN_CSV, "fetch_misses", "load_misses", "store_misses",
		"modify_misses"),
	{"classes", LODE_GROUP(""), .only = LODE_IN_JSON, .when = IS_CLASSIFIED},
	CLASS("compulsory", "compulsory", LODE_MISS_COMPULSORY),
	CLASS("capacity", "capacity", LODE_MISS_CAPACITY),
	CLASS("conflict", "conflict", LODE_MISS_CONFLICT),
	CLASS("true_sharing", "true sharing", LODE_MISS_TRUE_SHARING),
	CLASS("false_sharing", "false sharing", LODE_MISS_FALSE_SHARING),
	{.kind = LODE_COLUMN_GROUP_END, .when = IS_CLASSIFIED},
	{"write_backs", LODE_CELL_COUNT(CacheRow, counts.write_backs), .title = "write-backs",
		.at = 18, .dropped = 5, .hides_empty = true},
	{"invalidations", LODE_CELL_COUNT(CacheRow, counts.invalidations), .title = "invalidated",
		.at = 19, .dropped = 2, .hides_empty = true},
	{"prefetches", LODE_CELL_COUNT(CacheRow, counts.prefetches), .at = 20, .dropped = 2,
		.hides_empty = true},
	{"useful_prefetches", LODE_CELL_COUNT(CacheRow, counts.useful_prefetches),
		.title = "useful", .at = 21, .dropped = 2, .hides_empty = true},
	RANGE(LODE_IN_CSV),
	{NULL, LODE_CELL_NUMBER(CacheRow, hierarchy), .title = "hierarchy", .at = 1,
		.when = HAS_HIERARCHIES},
	{NULL, LODE_CELL_TEXT(CacheRow, range_text), .title = "95 %", .at = 6, .dropped = 2,
		.is_right = true, .when = IS_SAMPLE},
	{NULL, LODE_CELL_COUNT(CacheRow, range.cold_misses), .title = "cold misses", .at = 7,
		.dropped = 2, .when = IS_SAMPLE},
	MISSES("fetch misses", 0),
	MISSES("load misses", 1),
	MISSES("store misses", 2),
	MISSES("modify misses", 3),
};
const LodeColumns lode_cache_columns = LODE_COLUMNS("caches", cache_columns, CacheRow);

static bool is_sample(const LodeCacheResults *results)
{
	return results->replay->range.every > 0;
}

static void clear_row(void *row)
{
	CacheRow *self = row;

	g_free(self->name);
	g_free(self->description);
	g_free(self->range_text);
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

static char *ratio_text(double ratio, char buffer[LODE_NUMBER_SIZE])
{
	char number[LODE_NUMBER_SIZE - 2];

	g_ascii_formatd(number, sizeof(number), "%.3f", 100 * ratio);
	g_snprintf(buffer, LODE_NUMBER_SIZE, "%s %%", number);
	return buffer;
}

static void set_range(CacheRow *row, const LodeMissRatioRange *range)
{
	char low[LODE_NUMBER_SIZE], high[LODE_NUMBER_SIZE];

	row->range = *range;
	row->ratio_error = (double)NAN;
	if (!isfinite(range->high))
		return;
	/* The distance of the farther end from the miss ratio of the windows. */
	row->ratio_error = MAX(range->high - row->ratio, row->ratio - range->low);
	row->range_text = g_strdup_printf(
		"%s to %s", ratio_text(range->low, low), ratio_text(range->high, high));
}

static void add_rows(GArray *rows, const LodeCacheResults *results, size_t hierarchy)
{
	const LodeHierarchy *of = results->hierarchies[hierarchy];
	const LodeCacheCounts *counts = lode_cache_simulation_counts(
		results->replay->simulation, hierarchy);
	uint64_t n_instructions = results->replay->n_instructions;
	g_autofree char *text = lode_hierarchy_to_text(of);

	for (guint i = 0; i < of->caches->len; i++) {
		const LodeCache *cache = &g_array_index(of->caches, LodeCache, i);
		CacheRow row = {
			.cache = *cache,
			.counts = counts[i],
			.process = results->process,
			.hierarchy = (uint32_t)hierarchy + 1,
			.hierarchy_name = of->name,
			.holds = lode_miss_curve_holds_text(cache->holds),
			.replacement = lode_replacement_name(cache->replacement),
			.name = g_strdup(cache->name),
			.description = find_description(text, cache->name),
			.n_accesses = lode_cache_counts_sum(counts[i].accesses),
			.n_misses = lode_cache_counts_sum(counts[i].misses),
			.per_1000 = (double)NAN,
		};
		if (row.n_accesses > 0)
			row.ratio = (double)row.n_misses / (double)row.n_accesses;
		if (n_instructions > 0)
			row.per_1000 = 1000 * (double)row.n_misses / (double)n_instructions;
		const LodeMissRatioRange range =
			is_sample(results)
				? lode_trace_replay_ratio_range(results->replay, hierarchy, i)
				: (LodeMissRatioRange){row.ratio, row.ratio, 0};
		set_range(&row, &range);
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

static bool is_by_thread(const LodeCacheResults *results)
{
	return results->replay->thread_curves != NULL && results->replay->thread_curves->len > 0;
}

static uint32_t what_of(const LodeCacheResults *results)
{
	return (results->process > 0 ? HAS_PROCESS : 0) |
	       (results->n_hierarchies > 1 ? HAS_HIERARCHIES : 0) |
	       (is_sample(results) ? IS_SAMPLE : 0) | (results->is_classified ? IS_CLASSIFIED : 0) |
	       (is_by_thread(results) ? HAS_THREADS : 0);
}

static LodeListing caches_of(const LodeCacheResults *results, const GArray *rows)
{
	return (LodeListing){
		&lode_cache_columns, rows->len, .rows = rows->data, .what = what_of(results)};
}

/* --- rows of curves --- */

typedef struct {
	const LodeCacheResults *results;
	const LodeMissCurve *curve;
} CurveView;

typedef struct {
	const char *of;
	char *thread;
	uint32_t process, line_bytes;
	uint64_t n_lines, bytes, misses;
	double ratio;
} PointRow;

static const LodeColumn point_columns[] = {
	{"process", LODE_CELL_NUMBER(PointRow, process), .only = LODE_IN_CSV, .when = HAS_PROCESS},
	{"thread", LODE_CELL_TEXT(PointRow, thread), .only = LODE_IN_CSV, .when = HAS_THREADS},
	{"of", LODE_CELL_TEXT(PointRow, of), .only = LODE_IN_CSV},
	{"line_bytes", LODE_CELL_NUMBER(PointRow, line_bytes), .only = LODE_IN_CSV},
	{"lines", LODE_CELL_NUMBER(PointRow, n_lines)},
	{"bytes", LODE_CELL_NUMBER(PointRow, bytes)},
	{"misses", LODE_CELL_NUMBER(PointRow, misses)},
	{"miss_ratio", LODE_CELL_NUMBER(PointRow, ratio)},
};
const LodeColumns lode_curve_point_columns = LODE_COLUMNS("points", point_columns, PointRow);

static void fill_point(size_t i, void *out, const void *user_data)
{
	const CurveView *view = user_data;
	const LodeMissCurve *curve = view->curve;
	const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);

	*(PointRow *)out = (PointRow){lode_miss_curve_holds_text(curve->holds),
		curve->thread == LODE_MISS_CURVE_ALL ? g_strdup("all")
						     : g_strdup_printf("%u", curve->thread),
		view->results->process, curve->line_bytes, point->n_lines,
		point->n_lines * curve->line_bytes, point->misses,
		lode_miss_curve_ratio(curve, point->misses)};
}

static LodeListing points_of(const CurveView *view)
{
	return (LodeListing){&lode_curve_point_columns,
		view->curve != NULL ? view->curve->points->len : 0, .fill = fill_point,
		.user_data = view, .what = what_of(view->results)};
}

/* --- JSON --- */

static void put_hierarchies(LodeJsonStream *json, const LodeCacheResults *results)
{
	g_autoptr(GArray) rows = cache_rows(results);
	LodeListing caches = caches_of(results, rows);

	lode_json_member_begin(json, "hierarchies", '[');
	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const LodeHierarchy *hierarchy = results->hierarchies[i];
		g_autofree char *text = lode_hierarchy_to_text(hierarchy);
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "name", hierarchy->name);
		lode_json_member_string(json, "text", text);
		lode_json_member_number(json, "cores", hierarchy->n_cores);
		caches.n_rows = hierarchy->caches->len;
		lode_listing_put_json(&caches, json);
		caches.rows = (const CacheRow *)caches.rows + caches.n_rows;
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

static void put_curves(LodeJsonStream *json, const LodeCacheResults *results,
	const GPtrArray *curves, const char *key)
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
		const CurveView view = {results, curve};
		const LodeListing points = points_of(&view);
		lode_listing_put_json(&points, json);
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
	put_curves(json, results, results->replay->curves, "curves");
	if (is_by_thread(results)) {
		lode_json_line(json);
		put_curves(json, results, results->replay->thread_curves, "curves_by_thread");
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

/* --- CSV --- */

static void put_curves_csv(const LodeCacheResults *results, const GPtrArray *curves, FILE *out)
{
	for (guint i = 0; i < curves->len; i++) {
		const CurveView view = {results, curves->pdata[i]};
		const LodeListing points = points_of(&view);
		lode_listing_put_csv_rows(&points, out);
	}
}

/* The first one has the titles of all. */
static void put_csv(const LodeCacheResults *results, bool is_first, FILE *out)
{
	const CurveView none = {results, NULL};
	const LodeListing points = points_of(&none);

	if (results->replay->times != NULL) {
		lode_cache_times_write_csv(results, is_first, out);
	} else if (results->n_hierarchies > 0) {
		g_autoptr(GArray) rows = cache_rows(results);
		const LodeListing caches = caches_of(results, rows);
		if (is_first)
			lode_listing_put_csv_titles(&caches, out);
		lode_listing_put_csv_rows(&caches, out);
	} else {
		if (is_first)
			lode_listing_put_csv_titles(&points, out);
		put_curves_csv(results, results->replay->curves, out);
		if (is_by_thread(results))
			put_curves_csv(results, results->replay->thread_curves, out);
	}
}

/* --- text --- */

enum { BAR_WIDTH = 40 };

/* Whether cold misses make most of the range. */
static bool is_cold(const CacheRow *row)
{
	return 2 * row->range.cold_misses >
	       (row->range.high - row->range.low) * (double)row->n_accesses;
}

/* The cache that a warm-up fills least, and the references that fill it at its miss rate. */
static void write_sample_note(
	const LodeTraceReplay *replay, const GArray *rows, const LodeTerminal *terminal, FILE *out)
{
	const CacheRow *coldest = NULL;
	double longest = 0;

	if (replay->n_windows < LODE_TRACE_REPLAY_MIN_WINDOWS) {
		fputc('\n', out);
		lode_display_print(terminal, out, "No range: fewer than %d windows.",
			LODE_TRACE_REPLAY_MIN_WINDOWS);
		return;
	}
	for (guint i = 0; i < rows->len; i++) {
		const CacheRow *row = &g_array_index(rows, CacheRow, i);
		double n_lines = (double)row->cache.size_bytes / row->cache.line_bytes;
		double needed = n_lines * (double)replay->n_references /
		                (double)MAX(row->n_misses, 1);

		if (!is_cold(row) || needed <= longest)
			continue;
		coldest = row;
		longest = needed;
	}
	if (coldest == NULL)
		return;
	fputc('\n', out);
	lode_display_print(terminal, out,
		"Cold misses are in sets not yet full: with a longer --warm-up they might be hits. "
		"To fill %s takes at least %s references.",
		coldest->name, LODE_COUNT_TEXT(ceil(longest)));
}

static void write_caches(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GArray) rows = cache_rows(results);
	const LodeListing caches = caches_of(results, rows);

	lode_listing_write_text(&caches, terminal, out);
	if (is_sample(results))
		write_sample_note(results->replay, rows, terminal, out);
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
		lode_display_print(terminal, out, "%s%s%s%s",
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

/* A row is a cache of 2^bin lines, and the reuses that no smaller one serves. */
typedef struct {
	uint64_t bytes, n_lines, misses;
	double ratio, reuses;
	char *bar;
} BinRow;

static const LodeColumn bin_columns[] = {
	{NULL, LODE_CELL_SIZE(BinRow, bytes), .title = "cache size", .at = 1},
	{NULL, LODE_CELL_COUNT(BinRow, n_lines), .title = "lines", .at = 2, .dropped = 2},
	{NULL, LODE_CELL_COUNT(BinRow, misses), .title = "misses", .at = 3, .dropped = 1},
	{NULL, LODE_CELL_RATIO(BinRow, ratio), .title = "miss ratio", .at = 4,
		.style = LODE_STYLE_STRONG},
	{NULL, LODE_CELL_SHARE(BinRow, reuses), .title = "reuses", .at = 5},
	{NULL, LODE_CELL_TEXT(BinRow, bar), .title = "shape", .at = 6},
};
const LodeColumns lode_curve_bin_columns = LODE_COLUMNS("bins", bin_columns, BinRow);

static void fill_bin(size_t bin, void *out, const void *user_data)
{
	const LodeMissCurve *curve = user_data;
	uint64_t n_lines = UINT64_C(1) << bin;
	const LodeMissPoint *point = point_of(curve, n_lines);
	double reuses = lode_miss_curve_ratio(curve, bin < curve->n_bins ? curve->reuses[bin] : 0);

	*(BinRow *)out = (BinRow){n_lines * curve->line_bytes, n_lines, point->misses,
		lode_miss_curve_ratio(curve, point->misses), reuses,
		g_strnfill((gsize)lround(reuses * BAR_WIDTH), '#')};
}

static void write_curve(const LodeMissCurve *curve, const LodeTerminal *terminal, FILE *out)
{
	const LodeListing bins = {&lode_curve_bin_columns, MAX(curve->n_bins, 1), .fill = fill_bin,
		.user_data = curve};

	lode_display_print(terminal, out,
		"%s in lines of %u bytes · %s accesses to %s line%s (%s) · "
		"fully associative LRU caches",
		lode_miss_curve_holds_text(curve->holds), curve->line_bytes,
		LODE_COUNT_TEXT(curve->n_accesses), LODE_COUNT_TEXT(curve->n_lines),
		curve->n_lines == 1 ? "" : "s",
		LODE_BYTES_TEXT(curve->n_lines * curve->line_bytes));
	fputc('\n', out);
	if (curve->n_accesses == 0)
		fputs("No accesses.\n", out);
	else
		lode_listing_write_text(&bins, terminal, out);
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
		lode_number_format_bytes(
			(UINT64_C(1) << n * SIZE_STEP) * curve->line_bytes, sizes[n]);
		columns[N_THREAD_COLUMNS + n].title = sizes[n];
		n++;
	} while (n < MAX_SIZES && (n - 1) * SIZE_STEP < curve->n_bins);
	const LodeTable table = {columns, N_THREAD_COLUMNS + n, n_threads, thread_cell, &threads};
	fputc('\n', out);
	lode_display_print(terminal, out,
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
	GString *text = g_string_new(NULL);

	if (range->every > 0)
		g_string_append_printf(text, " in %s window%s, %s of all",
			LODE_COUNT_TEXT(replay->n_windows), replay->n_windows == 1 ? "" : "s",
			LODE_SHARE_TEXT((double)range->length / (double)range->every));
	if (range->first > 0)
		g_string_append_printf(text, " from %s", LODE_COUNT_TEXT(range->first));
	if (range->warm_up > 0)
		g_string_append_printf(text, ", %safter %s to warm up",
			range->every > 0 ? "each " : "", LODE_COUNT_TEXT(range->warm_up));
	return g_string_free(text, FALSE);
}

static void write_text(const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out)
{
	const LodeTraceReplay *replay = results->replay;
	g_autofree char *name = lode_display_text(
		results->command != NULL ? results->command : results->path, terminal->is_ascii);

	g_autofree char *part = range_text(replay);
	lode_display_print(terminal, out, "%s · %s references%s · %s instructions%s", name,
		LODE_COUNT_TEXT(replay->n_references), part,
		LODE_COUNT_TEXT(replay->n_instructions),
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
	for (size_t i = 0; i < n_results && options->format == LODE_VIEW_CSV; i++)
		put_csv(&results[i], i == 0, out);
	for (size_t i = 0; i < n_results && options->format == LODE_VIEW_TEXT; i++) {
		if (i > 0)
			fputc('\n', out);
		write_text(&results[i], &options->terminal, out);
	}
	return lode_view_flush(out, error);
}
