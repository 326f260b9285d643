/* SPDX-License-Identifier: MIT */
/* Layouts of types: as text with what each member costs, as JSON and CSV. */
#include "views/memory/memory_layout.h"

#include "analyses/memory/sample_attributes.h"
#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/code/function_name.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>

static const LodeLayoutRow *row_at(const LodeTypeLayout *layout, size_t i)
{
	return &g_array_index(layout->rows, LodeLayoutRow, i);
}

enum { LEVELS_SHOWN = 3 };

enum { CELL_LEVELS = LODE_N_TOTALS, CELL_OFFSET, CELL_SIZE, CELL_NAME, N_CELLS };

typedef struct {
	const LodeTypeLayout *layout;
	const LodeTerminal *terminal;
	LodeTableColumn columns[N_CELLS];
	unsigned cells[N_CELLS]; /* LodeTotalsColumn or CELL_… */
	unsigned n_columns;
} Table;

static bool has_levels(const LodeTypeLayout *layout)
{
	for (guint i = 0; i < layout->rows->len; i++)
		if (row_at(layout, i)->levels != NULL)
			return true;
	return false;
}

static void add_column(Table *self, unsigned cell, LodeTableColumn column)
{
	self->columns[self->n_columns] = column;
	self->cells[self->n_columns++] = cell;
}

static void choose_columns(Table *self)
{
	add_column(self, LODE_TOTALS_WEIGHT, (LodeTableColumn){"weight"});
	add_column(self, LODE_TOTALS_SAMPLES, (LodeTableColumn){"samples", .dropped = 2});
	add_column(self, LODE_TOTALS_LOADS, (LodeTableColumn){"loads", .dropped = 3});
	add_column(self, LODE_TOTALS_STORES, (LodeTableColumn){"stores", .dropped = 4});
	if (self->layout->total.n_latencies > 0)
		add_column(self, LODE_TOTALS_LATENCY, (LodeTableColumn){"latency", .dropped = 5});
	if (has_levels(self->layout))
		add_column(self, CELL_LEVELS,
			(LodeTableColumn){"from", .is_text = true, .dropped = 6});
	add_column(self, CELL_OFFSET, (LodeTableColumn){"offset"});
	add_column(self, CELL_SIZE, (LodeTableColumn){"size", .dropped = 1});
	add_column(self, CELL_NAME, (LodeTableColumn){"member", .is_text = true});
}

/* "L1 80 %, RAM 20 %" */
static void append_levels(const LodeLayoutRow *row, GString *out)
{
	char share[LODE_NUMBER_SIZE];
	double whole = 0;
	guint n = row->levels != NULL ? row->levels->len : 0;

	for (guint i = 0; i < n; i++)
		whole += g_array_index(row->levels, LodeLevelWeight, i).weight;
	for (guint i = 0; i < MIN(n, LEVELS_SHOWN); i++) {
		const LodeLevelWeight *level = &g_array_index(row->levels, LodeLevelWeight, i);
		g_string_append_printf(out, "%s%s %s", i > 0 ? ", " : "", level->level,
			lode_number_format_share(lode_share_of(level->weight, whole), share));
	}
	if (n > LEVELS_SHOWN)
		g_string_append(out, ", ...");
}

static void append_offset(const LodeLayoutRow *row, GString *out)
{
	if (row->kind == LODE_LAYOUT_LINE || row->kind == LODE_LAYOUT_NO_MEMBER)
		return;
	g_string_append_printf(out, "%" G_GUINT64_FORMAT, row->offset);
	if (row->bit_size > 0)
		g_string_append_printf(out, ":%u", row->bit_offset);
}

static void append_size(const LodeLayoutRow *row, GString *out)
{
	if (row->kind == LODE_LAYOUT_LINE || row->kind == LODE_LAYOUT_NO_MEMBER)
		return;
	if (row->bit_size > 0)
		g_string_append_printf(
			out, "%u bit%s", row->bit_size, row->bit_size == 1 ? "" : "s");
	else
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, row->size);
}

static void append_member(const Table *self, const LodeLayoutRow *row, GString *out)
{
	bool is_hottest = self->layout->hottest != LODE_NONE &&
	                  row == row_at(self->layout, self->layout->hottest);

	g_string_append(out, "  ");
	lode_function_name_append(out, row->member->name, self->terminal);
	if (row->member->type != NULL) {
		g_string_append(out, ": ");
		lode_function_name_append(out, row->member->type, self->terminal);
	}
	if (row->member->stride > 0)
		g_string_append_printf(out,
			"  [%" G_GUINT64_FORMAT " of them, %" G_GUINT64_FORMAT " bytes apart]",
			row->member->repeats, row->member->stride);
	if (row->last_line > row->first_line)
		g_string_append_printf(out, "  [into line %" G_GUINT64_FORMAT "]", row->last_line);
	if (row->wide_weight > 0)
		g_string_append(out, "  [and following]");
	if (is_hottest)
		g_string_append(out, "  [hottest]");
	else if (row->is_beside_hottest)
		g_string_append(out, "  [in the hottest's line]");
}

static LodeStyle append_name(const Table *self, const LodeLayoutRow *row, GString *out)
{
	switch (row->kind) {
	case LODE_LAYOUT_LINE:
		g_string_append_printf(out,
			"line %" G_GUINT64_FORMAT ": bytes %" G_GUINT64_FORMAT
			" to %" G_GUINT64_FORMAT,
			row->first_line, row->offset, row->offset + row->size - 1);
		return LODE_STYLE_STRONG;
	case LODE_LAYOUT_HOLE:
		g_string_append(out, "  (hole)");
		return LODE_STYLE_ALARM;
	case LODE_LAYOUT_PADDING:
		g_string_append(out, "  (padding)");
		return LODE_STYLE_ALARM;
	case LODE_LAYOUT_NO_MEMBER:
		g_string_append(out, "(no member)");
		return LODE_STYLE_FAINT;
	case LODE_LAYOUT_MEMBER:
		break;
	}
	append_member(self, row, out);
	return row->totals.n_samples > 0 ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
}

static LodeStyle layout_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const LodeLayoutRow *row = row_at(self->layout, number);
	unsigned cell = self->cells[column];
	bool is_hole = row->kind == LODE_LAYOUT_HOLE || row->kind == LODE_LAYOUT_PADDING;

	if (cell < LODE_N_TOTALS && !is_hole)
		lode_totals_append(
			&row->totals, (LodeTotalsColumn)cell, self->layout->total.weight, out);
	else if (cell == CELL_LEVELS)
		append_levels(row, out);
	else if (cell == CELL_OFFSET)
		append_offset(row, out);
	else if (cell == CELL_SIZE)
		append_size(row, out);
	else if (cell == CELL_NAME)
		return append_name(self, row, out);
	return row->kind == LODE_LAYOUT_LINE ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
}

/* "12 of them in holes". */
static char *holes_text(const LodeTypeLayout *layout)
{
	if (layout->type->n_members == 0)
		return g_strdup("no members");
	if (layout->hole_bytes == 0)
		return g_strdup("no holes");
	return g_strdup_printf("%" G_GUINT64_FORMAT " of them in holes", layout->hole_bytes);
}

static void put_head(
	const LodeTypeLayout *layout, const LodeMemoryViewOptions *options, guint number, FILE *out)
{
	char share[LODE_NUMBER_SIZE], samples[LODE_NUMBER_SIZE];
	g_autofree char *ordinal = number > 0 ? g_strdup_printf(" (%u)", number) : g_strdup("");
	g_autofree char *holes = holes_text(layout);

	lode_profile_lines_print(&options->terminal, out,
		"%s%s: %" G_GUINT64_FORMAT " byte%s, %s · %s sample%s, %s of all weight",
		layout->type->name, ordinal, layout->type->size, layout->type->size == 1 ? "" : "s",
		holes, lode_number_format_count((double)layout->total.n_samples, samples),
		layout->total.n_samples == 1 ? "" : "s",
		lode_number_format_share(
			lode_share_of(layout->total.weight, layout->all_weight), share));
}

/* Writes the part that the table leaves out: accesses to other types, and those without a known
 * type. */
static void put_left_out(const LodeTypeLayout *layout, const LodeTerminal *terminal, FILE *out)
{
	double others = layout->all_weight - layout->total.weight - layout->untyped_weight;
	char other[LODE_NUMBER_SIZE], untyped[LODE_NUMBER_SIZE];

	/* sums of weights, not exact */
	if (layout->all_weight <= 0 || layout->untyped_weight <= layout->all_weight * 1e-9)
		return;
	lode_profile_lines_print(terminal, out,
		"Left out: %s of all weight is of other types, and %s of no known type, some of "
		"which may be of this one.",
		lode_number_format_share(lode_share_of(MAX(others, 0), layout->all_weight), other),
		lode_number_format_share(
			lode_share_of(layout->untyped_weight, layout->all_weight), untyped));
}

/* The lines of a type that does not fill them are not an object's own. */
static void put_other_objects(const LodeTypeLayout *layout, const LodeTerminal *terminal, FILE *out)
{
	uint64_t size = layout->type->size;
	g_autofree char *fitting = size * 2 <= LODE_SAMPLE_LINE_BYTES
	                                   ? g_strdup_printf(" (%" G_GUINT64_FORMAT
							     " of them fit in a line)",
						     LODE_SAMPLE_LINE_BYTES / size)
	                                   : g_strdup("");

	lode_profile_lines_print(terminal, out,
		"The type does not fill its lines: what lies beside an object, such as the next "
		"one in an array%s, may share them.",
		fitting);
}

/* "next shares its line with: key, is_hot." */
static void put_neighbours(const LodeTypeLayout *layout, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) names = g_string_new(NULL);
	bool is_filling = layout->type->size % LODE_SAMPLE_LINE_BYTES == 0;

	if (layout->hottest == LODE_NONE)
		return;
	for (guint i = 0; i < layout->rows->len; i++)
		if (row_at(layout, i)->is_beside_hottest)
			g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "",
				row_at(layout, i)->member->name);
	lode_profile_lines_print(terminal, out, "The hottest member, %s, %s%s.",
		row_at(layout, layout->hottest)->member->name,
		names->len > 0 ? "shares its line with: "
		: is_filling   ? "has its line to itself"
			       : "shares its line with no other member of its object",
		names->str);
	if (!is_filling)
		put_other_objects(layout, terminal, out);
}

/* The last row is of accesses to no member: only where there are some. */
static guint count_rows(const LodeTypeLayout *layout)
{
	guint n = layout->rows->len;

	if (n > 0 && row_at(layout, n - 1)->kind == LODE_LAYOUT_NO_MEMBER &&
		row_at(layout, n - 1)->totals.n_samples == 0)
		return n - 1;
	return n;
}

static bool has_wide(const LodeTypeLayout *layout)
{
	for (guint i = 0; i < layout->rows->len; i++)
		if (row_at(layout, i)->wide_weight > 0)
			return true;
	return false;
}

static void put_layout(
	const LodeTypeLayout *layout, const LodeMemoryViewOptions *options, guint number, FILE *out)
{
	Table self = {.layout = layout, .terminal = &options->terminal};

	fputc('\n', out);
	put_head(layout, options, number, out);
	put_left_out(layout, &options->terminal, out);
	if (layout->type->n_members == 0) {
		lode_profile_lines_print(&options->terminal, out,
			"The type has no members, so no layout; --where 'type == \"%s\"' --by line "
			"shows where it is accessed.",
			layout->type->name);
		return;
	}
	choose_columns(&self);
	LodeTable table = {self.columns, self.n_columns, count_rows(layout), layout_cell, &self};
	lode_table_write(&table, &options->terminal, out);
	put_neighbours(layout, &options->terminal, out);
	if (has_wide(layout))
		lode_profile_lines_print(&options->terminal, out,
			"[and following]: some accesses that begin there are wider than the "
			"member; they are counted for it alone.");
}

static void write_text(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out)
{
	lode_profile_lines_print(&options->terminal, out, "%s · layout · weight: %s",
		profile->program != NULL ? profile->program : "?",
		lode_totals_weight_text(options->notes));
	if (layouts->len > 1)
		lode_profile_lines_print(
			&options->terminal, out, "%u types have this name.", layouts->len);
	for (guint i = 0; i < layouts->len; i++)
		put_layout(layouts->pdata[i], options, layouts->len > 1 ? i + 1 : 0, out);
	fputc('\n', out);
	lode_profile_lines_print(&options->terminal, out,
		"Lines are of 64 bytes, as in an object that begins at the start of one.");
	lode_memory_notes_text(options->notes, &options->terminal, out);
}

static const char *const kind_words[] = {"line", "member", "hole", "padding", "no-member"};

static void put_json_levels(const LodeLayoutRow *row, LodeJsonStream *json)
{
	lode_json_key(json, "levels");
	lode_json_begin(json, '{');
	for (guint i = 0; row->levels != NULL && i < row->levels->len; i++) {
		const LodeLevelWeight *level = &g_array_index(row->levels, LodeLevelWeight, i);
		lode_json_member_number(json, level->level, level->weight);
	}
	lode_json_end(json, '}');
}

static void put_json_row(
	const LodeTypeLayout *layout, const LodeLayoutRow *row, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "kind", kind_words[row->kind]);
	if (row->kind == LODE_LAYOUT_MEMBER) {
		lode_function_name_json(json, "name", row->member->name);
		lode_function_name_json(json, "type", row->member->type);
		lode_json_member_bool(json, "is_beside_hottest", row->is_beside_hottest);
		lode_json_member_number(json, "wide_weight", row->wide_weight);
		lode_json_member_number(json, "stride", (double)row->member->stride);
		lode_json_member_number(json, "repeats", (double)row->member->repeats);
	}
	if (row->kind != LODE_LAYOUT_NO_MEMBER) {
		lode_json_member_number(json, "offset", (double)row->offset);
		lode_json_member_number(json, "size", (double)row->size);
		lode_json_member_number(json, "bit_offset", row->bit_offset);
		lode_json_member_number(json, "bit_size", row->bit_size);
		lode_json_member_number(json, "first_line", (double)row->first_line);
		lode_json_member_number(json, "last_line", (double)row->last_line);
	}
	lode_totals_put(&row->totals, layout->total.weight, &rows);
	put_json_levels(row, json);
	lode_json_end(json, '}');
}

static void put_json_layout(const LodeTypeLayout *layout, LodeJsonStream *json)
{
	const LodeLayoutRow *hottest = layout->hottest != LODE_NONE
	                                       ? row_at(layout, layout->hottest)
	                                       : NULL;
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_function_name_json(json, "type", layout->type->name);
	lode_json_member_number(json, "size", (double)layout->type->size);
	lode_json_member_number(json, "holes", (double)layout->hole_bytes);
	lode_json_member_string(json, "hottest", hottest != NULL ? hottest->member->name : NULL);
	lode_totals_put(&layout->total, layout->all_weight, &rows);
	lode_json_member_number(json, "untyped_weight", layout->untyped_weight);
	lode_json_member_number(
		json, "untyped_share", lode_share_of(layout->untyped_weight, layout->all_weight));
	lode_json_key(json, "rows");
	lode_json_begin(json, '[');
	for (guint i = 0; i < layout->rows->len; i++)
		put_json_row(layout, row_at(layout, i), json);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const LodeProfile *profile, const GPtrArray *layouts,
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
	lode_json_key(&json, "layouts");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < layouts->len; i++)
		put_json_layout(layouts->pdata[i], &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

/* The place of a row that has one, and an empty cell of one that has none. */
static void put_csv_place(
	const LodeLayoutRow *row, const char *name, uint64_t value, LodeRowStream *rows)
{
	bool has_place = row->kind != LODE_LAYOUT_NO_MEMBER;

	lode_row_csv_number(rows, name, has_place ? (double)value : (double)NAN);
}

static void put_csv_row(const char *type, guint number, const LodeLayoutRow *row,
	const LodeAccessTotals *total, LodeRowStream *rows)
{
	const LodeDataMember *member = row->member;

	lode_row_begin(rows);
	lode_row_csv_text(rows, "type", type);
	lode_row_csv_number(rows, "layout", number);
	lode_row_csv_text(rows, "kind", kind_words[row->kind]);
	lode_row_csv_text(rows, "member", member != NULL ? member->name : NULL);
	lode_row_csv_text(rows, "member_type", member != NULL ? member->type : NULL);
	put_csv_place(row, "offset", row->offset, rows);
	put_csv_place(row, "size", row->size, rows);
	put_csv_place(row, "bit_offset", row->bit_offset, rows);
	put_csv_place(row, "bit_size", row->bit_size, rows);
	put_csv_place(row, "first_line", row->first_line, rows);
	put_csv_place(row, "last_line", row->last_line, rows);
	lode_row_csv_number(rows, "stride", member != NULL ? (double)member->stride : 0);
	lode_row_csv_number(rows, "repeats", member != NULL ? (double)member->repeats : 0);
	lode_totals_put(&row->totals, total->weight, rows);
	lode_row_end(rows);
}

static void write_csv(const GPtrArray *layouts, FILE *out)
{
	const LodeLayoutRow none = {.kind = LODE_LAYOUT_NO_MEMBER};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_csv_row(NULL, 0, &none, &none.totals, &rows);
	for (guint i = 0; i < layouts->len; i++) {
		const LodeTypeLayout *layout = layouts->pdata[i];
		for (guint k = 0; k < layout->rows->len; k++)
			put_csv_row(layout->type->name, i + 1, row_at(layout, k), &layout->total,
				&rows);
	}
}

bool lode_memory_layout_write(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(profile, layouts, options, out);
		break;
	case LODE_VIEW_JSON:
		write_json(profile, layouts, options, out);
		break;
	case LODE_VIEW_CSV:
		write_csv(layouts, out);
		break;
	}
	return lode_view_flush(out, error);
}
