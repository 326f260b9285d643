/* SPDX-License-Identifier: MIT */
/* The JSON and CSV of replayed traces. */
#include "views/cache_results_rows.h"

#include "base/json_stream.h"
#include "caches/hierarchy_text.h"
#include "views/cache_figures.h"
#include "views/csv.h"

static void put_counts(LodeJsonStream *json, const char *name, const uint64_t *counts,
	const char *const *names, unsigned n)
{
	lode_json_key(json, name);
	lode_json_begin(json, '{');
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

static void put_row(LodeJsonStream *json, const LodeCacheResults *results, const LodeCacheRow *row)
{
	const LodeCacheCounts *counts = row->counts;

	lode_json_line(json);
	lode_json_begin(json, '{');
	put_cache(json, row->cache);
	put_counts(json, "accesses", counts->accesses, lode_reference_kind_names,
		LODE_N_REFERENCE_KINDS);
	put_counts(
		json, "misses", counts->misses, lode_reference_kind_names, LODE_N_REFERENCE_KINDS);
	lode_json_member_number(json, "miss_ratio", lode_cache_miss_ratio(counts));
	lode_json_member_number(json, "misses_per_1000_instructions",
		lode_cache_misses_per_1000(counts, results->replay->n_instructions));
	if (results->is_classified)
		put_counts(json, "classes", counts->classes, lode_cache_class_names,
			LODE_N_MISS_CLASSES);
	lode_json_member_number(json, "write_backs", (double)counts->write_backs);
	lode_json_member_number(json, "invalidations", (double)counts->invalidations);
	lode_json_member_number(json, "prefetches", (double)counts->prefetches);
	lode_json_member_number(json, "useful_prefetches", (double)counts->useful_prefetches);
	lode_json_end(json, '}');
}

static void begin_hierarchy(LodeJsonStream *json, const LodeHierarchy *hierarchy)
{
	g_autofree char *text = lode_hierarchy_to_text(hierarchy);

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", hierarchy->name);
	lode_json_member_string(json, "text", text);
	lode_json_member_number(json, "cores", hierarchy->n_cores);
	lode_json_key(json, "caches");
	lode_json_begin(json, '[');
}

static void end_hierarchy(LodeJsonStream *json)
{
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void put_hierarchies(LodeJsonStream *json, const LodeCacheResults *results)
{
	g_autoptr(GArray) rows = lode_cache_rows_new(results);
	guint row = 0;

	lode_json_key(json, "hierarchies");
	lode_json_begin(json, '[');
	for (size_t i = 0; i < results->n_hierarchies; i++) {
		begin_hierarchy(json, results->hierarchies[i]);
		for (; row < rows->len && g_array_index(rows, LodeCacheRow, row).hierarchy == i;
			row++)
			put_row(json, results, &g_array_index(rows, LodeCacheRow, row));
		end_hierarchy(json);
	}
	lode_json_end(json, ']');
}

static void put_points(LodeJsonStream *json, const LodeMissCurve *curve)
{
	lode_json_key(json, "points");
	lode_json_begin(json, '[');
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);

		lode_json_line(json);
		lode_json_begin(json, '{');
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
	lode_json_key(json, "reuses");
	lode_json_begin(json, '[');
	for (unsigned i = 0; i < curve->n_bins; i++) {
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_number(json, "from", i > 0 ? (double)(UINT64_C(1) << (i - 1)) : 0);
		lode_json_member_number(json, "to", (double)((UINT64_C(1) << i) - 1));
		lode_json_member_number(json, "accesses", (double)curve->reuses[i]);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_curves(LodeJsonStream *json, const GPtrArray *curves)
{
	lode_json_key(json, "curves");
	lode_json_begin(json, '[');
	for (guint i = 0; i < curves->len; i++) {
		const LodeMissCurve *curve = g_ptr_array_index(curves, i);

		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "of", lode_miss_curve_holds_text(curve->holds));
		lode_json_member_number(json, "line_bytes", curve->line_bytes);
		lode_json_member_number(json, "accesses", (double)curve->n_accesses);
		lode_json_member_number(json, "lines", (double)curve->n_lines);
		put_points(json, curve);
		put_reuses(json, curve);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

void lode_cache_results_json(const LodeCacheResults *results, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "trace", results->path);
	lode_json_member_string(&json, "program", results->command);
	lode_json_member_number(&json, "references", (double)results->replay->n_references);
	lode_json_member_number(&json, "instructions", (double)results->replay->n_instructions);
	lode_json_member_string(&json, "damage", results->replay->damage);
	lode_json_line(&json);
	put_hierarchies(&json, results);
	lode_json_line(&json);
	put_curves(&json, results->replay->curves);
	lode_json_end(&json, '}');
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

static void put_cache_titles(LodeCsv *csv, bool is_classified)
{
	static const char *const before[] = {"hierarchy", "name", "cache", "description", "level",
		"holds", "size_bytes", "ways", "line_bytes", "accesses", "misses", "miss_ratio",
		"misses_per_1000_instructions"};
	static const char *const after[] = {
		"write_backs", "invalidations", "prefetches", "useful_prefetches"};

	put_titles(csv, before, G_N_ELEMENTS(before));
	put_kind_titles(csv, "accesses");
	put_kind_titles(csv, "misses");
	if (is_classified)
		put_titles(csv, lode_cache_class_names, LODE_N_MISS_CLASSES);
	put_titles(csv, after, G_N_ELEMENTS(after));
	lode_csv_end_row(csv);
}

static void put_numbers(LodeCsv *csv, const uint64_t *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		lode_csv_number(csv, (double)numbers[i]);
}

static void put_cache_row(LodeCsv *csv, const LodeCacheResults *results, const LodeCacheRow *row)
{
	const LodeCache *cache = row->cache;
	const LodeCacheCounts *counts = row->counts;

	lode_csv_number(csv, (double)row->hierarchy + 1);
	lode_csv_text(csv, results->hierarchies[row->hierarchy]->name);
	lode_csv_text(csv, cache->name);
	lode_csv_text(csv, row->description);
	lode_csv_number(csv, cache->level);
	lode_csv_text(csv, lode_miss_curve_holds_text(cache->holds));
	lode_csv_number(csv, (double)cache->size_bytes);
	lode_csv_number(csv, cache->n_ways);
	lode_csv_number(csv, cache->line_bytes);
	lode_csv_number(csv, (double)lode_cache_accesses(counts));
	lode_csv_number(csv, (double)lode_cache_misses(counts));
	lode_csv_number(csv, lode_cache_miss_ratio(counts));
	lode_csv_number(csv, lode_cache_misses_per_1000(counts, results->replay->n_instructions));
	put_numbers(csv, counts->accesses, LODE_N_REFERENCE_KINDS);
	put_numbers(csv, counts->misses, LODE_N_REFERENCE_KINDS);
	if (results->is_classified)
		put_numbers(csv, counts->classes, LODE_N_MISS_CLASSES);
	lode_csv_number(csv, (double)counts->write_backs);
	lode_csv_number(csv, (double)counts->invalidations);
	lode_csv_number(csv, (double)counts->prefetches);
	lode_csv_number(csv, (double)counts->useful_prefetches);
	lode_csv_end_row(csv);
}

static void put_curve_rows(LodeCsv *csv, const LodeMissCurve *curve)
{
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);

		lode_csv_text(csv, lode_miss_curve_holds_text(curve->holds));
		lode_csv_number(csv, curve->line_bytes);
		lode_csv_number(csv, (double)point->n_lines);
		lode_csv_number(csv, (double)point->n_lines * curve->line_bytes);
		lode_csv_number(csv, (double)point->misses);
		lode_csv_number(csv, lode_miss_curve_ratio(curve, point->misses));
		lode_csv_end_row(csv);
	}
}

void lode_cache_results_csv(const LodeCacheResults *results, FILE *out)
{
	static const char *const curve_titles[] = {
		"of", "line_bytes", "lines", "bytes", "misses", "miss_ratio"};
	const GPtrArray *curves = results->replay->curves;
	LodeCsv csv;

	lode_csv_init(&csv, out);
	if (results->n_hierarchies > 0) {
		g_autoptr(GArray) rows = lode_cache_rows_new(results);

		put_cache_titles(&csv, results->is_classified);
		for (guint i = 0; i < rows->len; i++)
			put_cache_row(&csv, results, &g_array_index(rows, LodeCacheRow, i));
		return;
	}
	put_titles(&csv, curve_titles, G_N_ELEMENTS(curve_titles));
	lode_csv_end_row(&csv);
	for (guint i = 0; i < curves->len; i++)
		put_curve_rows(&csv, g_ptr_array_index(curves, i));
}
