/* SPDX-License-Identifier: MIT */
/* The coverage of data addresses and data objects, as rows that all three forms share. */
#include "views/memory/memory_coverage.h"

#include "analyses/memory/coverage.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

typedef struct {
	const char *section, *name;
	const LodeAccessTotals *totals;
	const char *label; /* for people */
} Row;

static void add(GArray *rows, const char *section, const char *name, const LodeAccessTotals *totals,
	const char *label)
{
	Row row = {section, name, totals, label};

	g_array_append_val(rows, row);
}

static void add_addresses(GArray *rows, const LodeMemoryCoverage *coverage)
{
	add(rows, "total", "samples", &coverage->total, "all samples");
	add(rows, "total", "resolved", &coverage->resolved, "with a data address");
	for (int i = LODE_RULE_NONE + 1; i < LODE_N_RULES; i++)
		add(rows, "rule", lode_address_rule_to_text((LodeAddressRule)i),
			&coverage->by_rule[i], "  by rule");
	add(rows, "total", "unverified", &coverage->unverified, "  of these in doubt");
	for (int i = LODE_REASON_NONE + 1; i < LODE_N_REASONS; i++)
		add(rows, "reason", lode_address_reason_to_text((LodeAddressReason)i),
			&coverage->by_reason[i], "without, by reason");
}

/* GArray of Row; the caller unrefs it. */
static GArray *make_rows(const LodeMemoryCoverage *coverage)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));

	add_addresses(rows, coverage);
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add(rows, "named", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->named[i], "named by layer");
	add(rows, "total", "unnamed", &coverage->unnamed, "named by no layer");
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add(rows, "known", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->known[i], "known to layer");
	add(rows, "total", "member", &coverage->members, "down to a member");
	return rows;
}

typedef struct {
	GArray *rows;
	double whole;
	const LodeTerminal *terminal;
} Table;

enum { COLUMN_WEIGHT, COLUMN_SAMPLES, COLUMN_LOADS, COLUMN_STORES, COLUMN_WHAT, N_COLUMNS };

static LodeStyle coverage_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	static const LodeTotalsColumn totals[] = {
		LODE_TOTALS_WEIGHT, LODE_TOTALS_SAMPLES, LODE_TOTALS_LOADS, LODE_TOTALS_STORES};
	const Table *self = user_data;
	const Row *row = &g_array_index(self->rows, Row, number);
	bool is_total = g_str_equal(row->section, "total");

	if (column < COLUMN_WHAT) {
		lode_totals_append(row->totals, totals[column], self->whole, out);
		return column == COLUMN_WEIGHT && is_total ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	}
	g_string_append(out, row->label);
	if (!is_total)
		g_string_append_printf(out, " %s", row->name);
	return is_total ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
}

/* Rows that count nothing say nothing to a person, but for layers and the sums. */
static void drop_empty(GArray *rows)
{
	for (guint i = rows->len; i-- > 0;) {
		const Row *row = &g_array_index(rows, Row, i);
		bool may_go = g_str_equal(row->section, "rule") ||
		              g_str_equal(row->section, "reason") ||
		              g_str_equal(row->name, "unverified") ||
		              g_str_equal(row->name, "unnamed");
		if (may_go && row->totals->n_samples == 0)
			g_array_remove_index(rows, i);
	}
}

static void write_table(const LodeProfile *profile, const LodeMemoryCoverage *coverage,
	const LodeTerminal *terminal, FILE *out)
{
	static const LodeTableColumn columns[N_COLUMNS] = {
		{"weight"},
		{"samples", .dropped = 1},
		{"loads", .dropped = 2},
		{"stores", .dropped = 3},
		{"of what was sampled", .is_text = true},
	};
	g_autoptr(GArray) rows = make_rows(coverage);
	Table self = {rows, coverage->total.weight, terminal};

	drop_empty(rows);
	fputc('\n', out);
	lode_profile_lines_print(
		terminal, out, "Event %s:", lode_profile_event(profile, coverage->event)->name);
	LodeTable table = {columns, N_COLUMNS, rows->len, coverage_cell, &self};
	lode_table_write(&table, terminal, out);
}

static void write_text(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out)
{
	lode_profile_lines_print(&options->terminal, out,
		"%s · coverage of data addresses and data objects",
		profile->program != NULL ? profile->program : "?");
	if (coverage->len == 0)
		fputs("\nNo samples.\n", out);
	for (guint i = 0; i < coverage->len; i++)
		write_table(profile, &g_array_index(coverage, LodeMemoryCoverage, i),
			&options->terminal, out);
	fputc('\n', out);
	lode_memory_notes_text(options->notes, &options->terminal, out);
}

/* In JSON the event stands before its rows. */
static void put_row(
	const char *event, const Row *row, const LodeAccessTotals *total, LodeRowStream *rows)
{
	lode_row_begin(rows);
	lode_row_csv_text(rows, "event", event);
	lode_row_text(rows, "section", row->section);
	lode_row_text(rows, "name", row->name);
	lode_totals_put(row->totals, total->weight, rows);
	lode_row_end(rows);
}

static void put_event(
	const LodeProfile *profile, const LodeMemoryCoverage *coverage, LodeRowStream *stream)
{
	g_autoptr(GArray) rows = make_rows(coverage);

	for (guint i = 0; i < rows->len; i++)
		put_row(lode_profile_event(profile, coverage->event)->name,
			&g_array_index(rows, Row, i), &coverage->total, stream);
}

static void put_json_event(
	const LodeProfile *profile, const LodeMemoryCoverage *coverage, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "event", lode_profile_event(profile, coverage->event)->name);
	lode_json_key(json, "rows");
	lode_json_begin(json, '[');
	put_event(profile, coverage, &rows);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, profile);
	lode_json_line(&json);
	lode_memory_notes_json(options->notes, &json);
	lode_json_line(&json);
	lode_json_key(&json, "coverage");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < coverage->len; i++)
		put_json_event(profile, &g_array_index(coverage, LodeMemoryCoverage, i), &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(const LodeProfile *profile, const GArray *coverage, FILE *out)
{
	const LodeAccessTotals no_totals = {0};
	const Row none = {.totals = &no_totals};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_row(NULL, &none, &no_totals, &rows);
	for (guint i = 0; i < coverage->len; i++)
		put_event(profile, &g_array_index(coverage, LodeMemoryCoverage, i), &rows);
}

bool lode_memory_coverage_write(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(profile, coverage, options, out);
		break;
	case LODE_VIEW_JSON:
		write_json(profile, coverage, options, out);
		break;
	case LODE_VIEW_CSV:
		write_csv(profile, coverage, out);
		break;
	}
	return lode_view_flush(out, error);
}
