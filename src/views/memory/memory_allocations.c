/* SPDX-License-Identifier: MIT */
/* Allocation sites with their figures; below each, its callers as a tree. */
#include "views/memory/memory_views.h"

#include "base/text/number_format.h"
#include "model/index.h"
#include "model/memory.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/memory/memory_document.h"

#include <math.h>

/* The columns of rows that have LodeAllocationFigures, `figures`, and mean_lifetime_ns. */
#define ALLOCATION_FIGURES(type, figures)                                                          \
	{"allocations", LODE_CELL_NUMBER(type, figures.n)},                                        \
		{"bytes", LODE_CELL_NUMBER(type, figures.n_bytes)},                                \
		{"allocations_at_peak", LODE_CELL_NUMBER(type, figures.n_at_peak)},                \
		{"bytes_at_peak", LODE_CELL_NUMBER(type, figures.n_bytes_at_peak)},                \
		{"allocations_at_end", LODE_CELL_NUMBER(type, figures.n_at_end)},                  \
		{"bytes_at_end", LODE_CELL_NUMBER(type, figures.n_bytes_at_end)},                  \
		{"mean_lifetime_ns", LODE_CELL_NUMBER(type, mean_lifetime_ns)},                    \
		{"samples", LODE_CELL_NUMBER(type, figures.n_samples)},                            \
	{                                                                                          \
		"weight", LODE_CELL_NUMBER(type, figures.weight)                                   \
	}

typedef struct {
	LodeAllocationFigures of;
	double mean_lifetime_ns;
} Totals;

static const LodeColumn totals_columns[] = {ALLOCATION_FIGURES(Totals, of)};
const LodeColumns lode_allocation_totals_columns = LODE_COLUMNS("heap", totals_columns, Totals);

enum { HAS_PEAKS = 1, HAS_PATHS = 2, HAS_WEIGHT = 4 };

static const char *const kinds[] = {"site", "caller", "others"};

typedef struct {
	LodeAllocationUseRow of;
	const char *site, *function, *place;
	char *skipped;
	double most_bytes, most_time_ns; /* no number: it is not a site */
	double mean_lifetime_ns;         /* no number: none was freed */
	double share;
	LodeStyle peak_style, name_style;
	char *life, *name;
} Row;

static const LodeColumn columns[] = {
	{"level", LODE_CELL_NUMBER(Row, of.level)},
	{"kind", LODE_CELL_NUMBER(Row, of.kind), .words = kinds},
	{"site", LODE_CELL_NAME(Row, site)},
	{"function", LODE_CELL_NAME(Row, function)},
	{"place", LODE_CELL_NAME(Row, place)},
	{"skipped", LODE_CELL_TEXT(Row, skipped)},
	{"most_bytes", LODE_CELL_NUMBER(Row, most_bytes)},
	{"most_time_ns", LODE_CELL_NUMBER(Row, most_time_ns)},
	ALLOCATION_FIGURES(Row, of.figures),
	{NULL, LODE_CELL_SIZE(Row, of.figures.n_bytes_at_peak), .title = "at peak", .at = 1,
		.styled = offsetof(Row, peak_style), .when = HAS_PEAKS},
	{NULL, LODE_CELL_SIZE(Row, most_bytes), .title = "most", .at = 2, .dropped = 2,
		.when = HAS_PEAKS},
	{NULL, LODE_CELL_SIZE(Row, of.figures.n_bytes), .title = "in all", .at = 3, .dropped = 3},
	{NULL, LODE_CELL_COUNT(Row, of.figures.n), .title = "blocks", .at = 4, .dropped = 4},
	{NULL, LODE_CELL_SIZE(Row, of.figures.n_bytes_at_end), .title = "at end", .at = 5,
		.dropped = 1, .when = HAS_PATHS},
	{NULL, LODE_CELL_TEXT(Row, life), .title = "mean life", .at = 6, .dropped = 5,
		.is_right = true, .when = HAS_PATHS},
	{NULL, LODE_CELL_SHARE(Row, share), .title = "weight", .at = 7, .dropped = 6,
		.when = HAS_WEIGHT},
	{NULL, LODE_CELL_NAME(Row, name), .title = "site", .at = 8,
		.styled = offsetof(Row, name_style), .indented = offsetof(Row, of.level)},
};
const LodeColumns lode_memory_allocations_columns = LODE_COLUMNS("rows", columns, Row);

static const LodeAllocationUseRow *row_at(const LodeAllocationUse *use, size_t row)
{
	return &LODE_AT(use->rows, LodeAllocationUseRow, row);
}

static const LodeAllocationCall *call_of(
	const LodeProfile *profile, const LodeAllocationUseRow *row)
{
	const LodeMemory *memory = lode_memory_of(profile);

	return row->call < memory->calls->len
	               ? &LODE_AT(memory->calls, LodeAllocationCall, row->call)
	               : NULL;
}

/* Calls between the allocator and the site, the innermost first: "operator new, fetch". NULL: the
 * allocator is called there. The C library's own are left out where they have no name. */
static char *skipped_text(const LodeProfile *profile, const LodeAllocationUseRow *row)
{
	const LodeMemory *memory = lode_memory_of(profile);
	const LodeAllocationCall *call = call_of(profile, row);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GString *text;

	if (row->kind != LODE_ALLOCATION_ROW_SITE || call == NULL || call->inner == LODE_NONE)
		return NULL;
	for (uint32_t i = call->inner; i != LODE_NONE;
		i = LODE_AT(memory->calls, LodeAllocationCall, i).inner)
		g_ptr_array_add(
			names, LODE_AT(memory->calls, LodeAllocationCall, i).function != NULL
				       ? LODE_AT(memory->calls, LodeAllocationCall, i).function
				       : LODE_AT(memory->calls, LodeAllocationCall, i).place);
	text = g_string_new(NULL);
	for (guint i = names->len; i-- > 0;)
		g_string_append_printf(
			text, "%s%s", (const char *)names->pdata[i], i > 0 ? ", " : "");
	return g_string_free(text, FALSE);
}

/* --- text --- */

/* "1.5 ms"; NULL: no number. */
static char *life_text(double mean_ns)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};
	size_t unit = 0;

	for (; mean_ns >= 1000 && unit + 1 < G_N_ELEMENTS(units); unit++)
		mean_ns /= 1000;
	return isnan(mean_ns) ? NULL
	                      : g_strdup_printf(
					mean_ns < 10 ? "%.1f %s" : "%.0f %s", mean_ns, units[unit]);
}

static char *name_of(const Row *row)
{
	bool is_site = row->of.kind == LODE_ALLOCATION_ROW_SITE;

	if (row->of.kind == LODE_ALLOCATION_ROW_OTHERS)
		return g_strdup_printf("(%s %s)", LODE_COUNT_TEXT(row->of.n_others),
			row->of.n_others == 1 ? "other" : "others");
	if (is_site && row->function == NULL)
		return g_strdup(row->site);
	return g_strdup_printf("%s%s%s",
		is_site                 ? row->site
		: row->function != NULL ? row->function
					: "",
		row->function != NULL ? " " : "", is_site ? row->function : row->place);
}

static double mean_lifetime_ns(const LodeAllocationFigures *figures)
{
	uint64_t n_freed = figures->n > figures->n_at_end ? figures->n - figures->n_at_end : 0;

	return n_freed > 0 ? figures->lifetime_ns / (double)n_freed : (double)NAN;
}

static void fill_row(size_t number, void *out, const void *user_data)
{
	const LodeMemoryDocument *document = user_data;
	const LodeProfile *profile = document->profile;
	const LodeAllocationUse *use = document->result;
	Row *row = out;

	row->of = *row_at(use, number);
	const LodeAllocationCall *call = call_of(profile, &row->of);
	bool is_site = row->of.kind == LODE_ALLOCATION_ROW_SITE;
	if (row->of.site < lode_memory_of(profile)->sites->len)
		row->site = LODE_AT(
			lode_memory_of(profile)->sites, LodeAllocationSite, row->of.site)
		                    .name;
	row->function = call != NULL ? call->function : NULL;
	row->place = call != NULL ? call->place : NULL;
	row->skipped = skipped_text(profile, &row->of);
	row->most_bytes = is_site ? (double)row->of.most.n_bytes : (double)NAN;
	row->most_time_ns = is_site ? (double)row->of.most.time_ns : (double)NAN;
	row->mean_lifetime_ns = mean_lifetime_ns(&row->of.figures);
	row->share = lode_share_of(row->of.figures.weight, use->weight);
	row->peak_style = is_site ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	row->name_style = row->of.kind == LODE_ALLOCATION_ROW_OTHERS ? LODE_STYLE_FAINT
	                  : is_site                                  ? LODE_STYLE_NAME
	                                                             : LODE_STYLE_PLAIN;
	row->life = life_text(row->mean_lifetime_ns);
	row->name = name_of(row);
}

/* Writes the calls that were skipped to get to the site, where callers are shown. */
static void write_skipped(
	size_t number, const LodeTerminal *terminal, FILE *out, const void *user_data)
{
	const LodeMemoryDocument *self = user_data;
	g_autofree char *skipped = skipped_text(self->profile, row_at(self->result, number));
	g_autofree char *shown = skipped != NULL ? lode_display_text(skipped, terminal->is_ascii)
	                                         : NULL;

	if (shown != NULL)
		lode_display_print_indented(terminal, 4, out, "by %s", shown);
}

/* "heap: 1,234 blocks of 5.2 MiB in all, 3.1 MiB at most, 12 of 4 KiB live at the end" */
static void write_totals(const char *what, const char *one, const LodeAllocationFigures *figures,
	const LodeAllocationUse *use, bool has_peak, const LodeTerminal *terminal, FILE *out)
{
	GString *text = g_string_new(NULL);

	if (figures->n > 0) {
		g_string_append_printf(text, "%s: %s %s of %s in all", what,
			LODE_COUNT_TEXT(figures->n), one, LODE_BYTES_TEXT(figures->n_bytes));
		if (has_peak)
			g_string_append_printf(text, " · %s at most, after %.3f s",
				LODE_BYTES_TEXT(use->peak.n_bytes),
				use->peak.time_ns > use->begin_ns
					? (double)(use->peak.time_ns - use->begin_ns) / 1e9
					: 0.0);
		if (use->has_paths)
			g_string_append_printf(text, " · %s of %s live at the end",
				LODE_COUNT_TEXT(figures->n_at_end),
				LODE_BYTES_TEXT(figures->n_bytes_at_end));
		lode_display_print(terminal, out, "%s", text->str);
	}
	g_string_free(text, TRUE);
}

static void write_lines(const LodeMemoryDocument *document, const LodeTerminal *terminal, FILE *out)
{
	const LodeAllocationUse *use = document->result;

	write_totals("heap", use->heap.n == 1 ? "block" : "blocks", &use->heap, use, use->has_peaks,
		terminal, out);
	write_totals("mappings", use->mappings.n == 1 ? "mapping" : "mappings", &use->mappings, use,
		use->has_peaks && use->heap.n == 0, terminal, out);
}

/* --- JSON and CSV --- */

static void put_totals(LodeJsonStream *json, const char *name, const LodeAllocationFigures *figures)
{
	const Totals row = {*figures, mean_lifetime_ns(figures)};

	lode_json_member_begin(json, name, '{');
	lode_columns_put_json(&lode_allocation_totals_columns, &row, json);
	lode_json_end(json, '}');
	lode_json_line(json);
}

static void put_all(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodeAllocationUse *use = document->result;

	lode_json_member_begin(json, "peak", '{');
	lode_json_member_number(
		json, "bytes", use->has_peaks ? (double)use->peak.n_bytes : (double)NAN);
	lode_json_member_number(
		json, "time_ns", use->has_peaks ? (double)use->peak.time_ns : (double)NAN);
	lode_json_end(json, '}');
	lode_json_line(json);
	put_totals(json, "heap", &use->heap);
	put_totals(json, "mappings", &use->mappings);
	lode_json_member_number(json, "weight", use->weight);
	lode_json_line(json);
}

bool lode_memory_allocations_write(const LodeProfile *profile, const LodeAllocationUse *use,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	static const LodeMemoryDocumentParts parts = {
		.write_lines = write_lines,
		.put_after = put_all,
	};
	bool has_callers = false;
	for (guint i = 0; i < use->rows->len; i++)
		has_callers |= row_at(use, i)->level > 0;
	const LodeMemoryDocument document = {&parts, profile, use, "allocations",
		"Nothing was allocated.",
		{&lode_memory_allocations_columns, use->rows->len, .fill = fill_row,
			.what = (use->has_peaks ? HAS_PEAKS : 0) |
	                        (use->has_paths ? HAS_PATHS : 0) |
	                        (use->has_paths && use->weight > 0 ? HAS_WEIGHT : 0),
			.note = has_callers ? write_skipped : NULL},
		.has_head = true};

	return lode_memory_document_write(&document, options, out, error);
}
