/* SPDX-License-Identifier: MIT */
/* Allocation sites with their figures; below each, its callers as a tree. */
#include "views/memory/memory_allocations.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "views/code/function_name.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_document.h"
#include "views/memory/memory_names.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_lines.h"

#include <math.h>

enum {
	COLUMN_PEAK,
	COLUMN_MOST,
	COLUMN_BYTES,
	COLUMN_BLOCKS,
	COLUMN_END,
	COLUMN_LIFE,
	COLUMN_WEIGHT,
	COLUMN_PLACE,
	N_COLUMNS,
};

typedef struct {
	const LodeProfile *profile;
	const LodeAllocationUse *use;
	const LodeTerminal *terminal;
	unsigned columns[N_COLUMNS];
} Table;

static const LodeAllocationUseRow *row_at(const LodeAllocationUse *use, size_t row)
{
	return &LODE_AT(use->rows, LodeAllocationUseRow, row);
}

static const LodeAllocationCall *call_of(
	const LodeProfile *profile, const LodeAllocationUseRow *row)
{
	return row->call < profile->memory->calls->len
	               ? &LODE_AT(profile->memory->calls, LodeAllocationCall, row->call)
	               : NULL;
}

/* Calls between the allocator and the site, the innermost first: "operator new, fetch". NULL: the
 * allocator is called there. The C library's own are left out where they have no name. */
static char *skipped_text(const LodeProfile *profile, const LodeAllocationUseRow *row)
{
	const LodeMemory *memory = profile->memory;
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

static void append_bytes(uint64_t bytes, GString *out)
{
	char text[LODE_ADDRESS_TEXT_SIZE];

	g_string_append(out, lode_memory_size_text(bytes, text));
}

static void append_life(const LodeAllocationFigures *figures, GString *out)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};
	uint64_t n = figures->n > figures->n_at_end ? figures->n - figures->n_at_end : 0;
	double mean = n > 0 ? figures->lifetime_ns / (double)n : 0;
	size_t unit = 0;

	if (n == 0)
		return;
	for (; mean >= 1000 && unit + 1 < G_N_ELEMENTS(units); unit++)
		mean /= 1000;
	g_string_append_printf(out, mean < 10 ? "%.1f %s" : "%.0f %s", mean, units[unit]);
}

static void append_name(const Table *self, const LodeAllocationUseRow *row, GString *out)
{
	const LodeAllocationCall *call = call_of(self->profile, row);
	g_autoptr(GString) name = g_string_new(NULL);
	char number[LODE_NUMBER_SIZE];

	g_string_append_printf(out, "%*s", (int)(2 * row->level), "");
	if (row->kind == LODE_ALLOCATION_ROW_OTHERS) {
		g_string_append_printf(out, "(%s %s)",
			lode_number_format_count(row->n_others, number),
			row->n_others == 1 ? "other" : "others");
		return;
	}
	if (row->kind == LODE_ALLOCATION_ROW_SITE)
		g_string_append(name,
			LODE_AT(self->profile->memory->sites, LodeAllocationSite, row->site).name);
	if (row->kind == LODE_ALLOCATION_ROW_SITE && call != NULL && call->function != NULL)
		g_string_append_printf(name, " %s", call->function);
	if (row->kind == LODE_ALLOCATION_ROW_CALLER)
		g_string_append_printf(name, "%s%s%s", call->function != NULL ? call->function : "",
			call->function != NULL ? " " : "", call->place);
	lode_function_name_append(out, name->str, self->terminal);
}

static LodeStyle cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const LodeAllocationUseRow *row = row_at(self->use, number);
	const LodeAllocationFigures *figures = &row->figures;
	bool is_site = row->kind == LODE_ALLOCATION_ROW_SITE;
	char text[LODE_NUMBER_SIZE];

	switch (self->columns[column]) {
	case COLUMN_PEAK:
		append_bytes(figures->n_bytes_at_peak, out);
		return is_site ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	case COLUMN_MOST:
		if (is_site)
			append_bytes(row->most.n_bytes, out);
		return LODE_STYLE_PLAIN;
	case COLUMN_BYTES:
		append_bytes(figures->n_bytes, out);
		return LODE_STYLE_PLAIN;
	case COLUMN_BLOCKS:
		g_string_append(out, lode_number_format_count((double)figures->n, text));
		return LODE_STYLE_PLAIN;
	case COLUMN_END:
		append_bytes(figures->n_bytes_at_end, out);
		return LODE_STYLE_PLAIN;
	case COLUMN_LIFE:
		append_life(figures, out);
		return LODE_STYLE_PLAIN;
	case COLUMN_WEIGHT:
		g_string_append(
			out, lode_number_format_share(
				     lode_share_of(figures->weight, self->use->weight), text));
		return LODE_STYLE_PLAIN;
	default:
		append_name(self, row, out);
		return row->kind == LODE_ALLOCATION_ROW_OTHERS ? LODE_STYLE_FAINT
		       : is_site                               ? LODE_STYLE_NAME
		                                               : LODE_STYLE_PLAIN;
	}
}

/* Writes the calls that were skipped to get to the site, where callers are shown. */
static void write_skipped(
	size_t number, const LodeTerminal *terminal, FILE *out, const void *user_data)
{
	const Table *self = user_data;
	g_autofree char *skipped = skipped_text(self->profile, row_at(self->use, number));
	g_autofree char *shown = skipped != NULL ? lode_display_text(skipped, terminal->is_ascii)
	                                         : NULL;

	if (shown != NULL)
		lode_profile_lines_print_indented(terminal, 4, out, "by %s", shown);
}

static void write_table(const LodeMemoryDocument *document, const LodeTerminal *terminal, FILE *out)
{
	const LodeAllocationUse *use = document->result;
	bool has_callers = false;
	static const LodeTableColumn known[N_COLUMNS] = {
		[COLUMN_PEAK] = {"at peak"},
		[COLUMN_MOST] = {"most", .dropped = 2},
		[COLUMN_BYTES] = {"in all", .dropped = 3},
		[COLUMN_BLOCKS] = {"blocks", .dropped = 4},
		[COLUMN_END] = {"at end", .dropped = 1},
		[COLUMN_LIFE] = {"mean life", .dropped = 5},
		[COLUMN_WEIGHT] = {"weight", .dropped = 6},
		[COLUMN_PLACE] = {"site", .is_text = true},
	};
	LodeTableColumn columns[N_COLUMNS];
	Table self = {.profile = document->profile, .use = use, .terminal = terminal};
	unsigned n = 0;

	for (unsigned i = 0; i < N_COLUMNS; i++) {
		bool is_known = i == COLUMN_PEAK || i == COLUMN_MOST  ? use->has_peaks
		                : i == COLUMN_END || i == COLUMN_LIFE ? use->has_paths
		                : i == COLUMN_WEIGHT ? use->weight > 0 && use->has_paths
		                                     : true;
		if (!is_known)
			continue;
		columns[n] = known[i];
		self.columns[n++] = i;
	}
	for (guint i = 0; i < use->rows->len; i++)
		has_callers |= row_at(use, i)->level > 0;
	LodeTable table = {columns, n, use->rows->len, cell, &self,
		.note = has_callers ? write_skipped : NULL};
	lode_table_write(&table, terminal, out);
}

/* "heap: 1,234 blocks of 5.2 MiB in all, 3.1 MiB at most, 12 of 4 KiB live at the end" */
static void write_totals(const char *what, const char *one, const LodeAllocationFigures *figures,
	const LodeAllocationUse *use, bool has_peak, const LodeTerminal *terminal, FILE *out)
{
	char n[LODE_NUMBER_SIZE], size[LODE_ADDRESS_TEXT_SIZE];
	GString *text = g_string_new(NULL);

	if (figures->n > 0) {
		g_string_append_printf(text, "%s: %s %s of %s in all", what,
			lode_number_format_count((double)figures->n, n), one,
			lode_memory_size_text(figures->n_bytes, size));
		if (has_peak)
			g_string_append_printf(text, " · %s at most, after %.3f s",
				lode_memory_size_text(use->peak.n_bytes, size),
				use->peak.time_ns > use->begin_ns
					? (double)(use->peak.time_ns - use->begin_ns) / 1e9
					: 0.0);
		if (use->has_paths)
			g_string_append_printf(text, " · %s of %s live at the end",
				lode_number_format_count((double)figures->n_at_end, n),
				lode_memory_size_text(figures->n_bytes_at_end, size));
		lode_profile_lines_print(terminal, out, "%s", text->str);
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

static void put_figures(LodeRowStream *rows, const LodeAllocationFigures *figures)
{
	uint64_t n_freed = figures->n > figures->n_at_end ? figures->n - figures->n_at_end : 0;

	lode_row_number(rows, "allocations", (double)figures->n);
	lode_row_number(rows, "bytes", (double)figures->n_bytes);
	lode_row_number(rows, "allocations_at_peak", (double)figures->n_at_peak);
	lode_row_number(rows, "bytes_at_peak", (double)figures->n_bytes_at_peak);
	lode_row_number(rows, "allocations_at_end", (double)figures->n_at_end);
	lode_row_number(rows, "bytes_at_end", (double)figures->n_bytes_at_end);
	lode_row_number(rows, "mean_lifetime_ns",
		n_freed > 0 ? figures->lifetime_ns / (double)n_freed : (double)NAN);
	lode_row_number(rows, "samples", (double)figures->n_samples);
	lode_row_number(rows, "weight", figures->weight);
}

static void put_row(const LodeMemoryDocument *document, size_t number, LodeRowStream *rows)
{
	static const char *const kinds[] = {"site", "caller", "others"};
	const LodeAllocationUseRow none = {.site = LODE_NONE, .call = LODE_NONE};
	const LodeAllocationUseRow *row = number == SIZE_MAX ? &none
	                                                     : row_at(document->result, number);
	const LodeProfile *profile = document->profile;
	const LodeAllocationCall *call = call_of(profile, row);
	bool has_site = row->site < profile->memory->sites->len;
	g_autofree char *skipped = skipped_text(profile, row);

	lode_row_begin(rows);
	lode_row_number(rows, "level", row->level);
	lode_row_text(rows, "kind", kinds[row->kind]);
	lode_function_name_row(rows, "site",
		has_site ? LODE_AT(profile->memory->sites, LodeAllocationSite, row->site).name
			 : NULL);
	lode_function_name_row(rows, "function", call != NULL ? call->function : NULL);
	lode_function_name_row(rows, "place", call != NULL ? call->place : NULL);
	lode_row_text(rows, "skipped", skipped);
	lode_row_number(rows, "most_bytes",
		row->kind == LODE_ALLOCATION_ROW_SITE ? (double)row->most.n_bytes : (double)NAN);
	lode_row_number(rows, "most_time_ns",
		row->kind == LODE_ALLOCATION_ROW_SITE ? (double)row->most.time_ns : (double)NAN);
	put_figures(rows, &row->figures);
	lode_row_end(rows);
}

static void put_totals(LodeJsonStream *json, LodeRowStream *rows, const char *name,
	const LodeAllocationFigures *figures)
{
	lode_json_key(json, name);
	lode_json_begin(json, '{');
	put_figures(rows, figures);
	lode_json_end(json, '}');
	lode_json_line(json);
}

static void put_all(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodeAllocationUse *use = document->result;
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_key(json, "peak");
	lode_json_begin(json, '{');
	lode_json_member_number(
		json, "bytes", use->has_peaks ? (double)use->peak.n_bytes : (double)NAN);
	lode_json_member_number(
		json, "time_ns", use->has_peaks ? (double)use->peak.time_ns : (double)NAN);
	lode_json_end(json, '}');
	lode_json_line(json);
	put_totals(json, &rows, "heap", &use->heap);
	put_totals(json, &rows, "mappings", &use->mappings);
	lode_json_member_number(json, "weight", use->weight);
	lode_json_line(json);
}

bool lode_memory_allocations_write(const LodeProfile *profile, const LodeAllocationUse *use,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	static const LodeMemoryDocumentParts parts = {
		.write_lines = write_lines,
		.write_table = write_table,
		.put_after = put_all,
		.put_row = put_row,
	};
	const LodeMemoryDocument document = {&parts, profile, use, "allocations",
		"Nothing was allocated.", use->rows->len, .has_head = true};

	return lode_memory_document_write(&document, options, out, error);
}
