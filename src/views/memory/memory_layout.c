/* SPDX-License-Identifier: MIT */
/* Layouts of types: as text with what each member costs, as JSON and CSV. */
#include "views/memory/memory_views.h"

#include "analyses/memory/sample_attributes.h"
#include "base/text/number_format.h"
#include "model/index.h"
#include "model/memory.h"
#include "model/run/program_run.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_json.h"

#include <math.h>

static const LodeLayoutRow *row_at(const LodeTypeLayout *layout, size_t i)
{
	return &g_array_index(layout->rows, LodeLayoutRow, i);
}

enum { LEVELS_SHOWN = 3 };

/* "L1 80 %, RAM 20 %" */
static char *levels_text(const LodeLayoutRow *row)
{
	GString *out = g_string_new(NULL);
	double whole = 0;
	guint n = row->levels != NULL ? row->levels->len : 0;

	for (guint i = 0; i < n; i++)
		whole += g_array_index(row->levels, LodeLevelWeight, i).weight;
	for (guint i = 0; i < MIN(n, LEVELS_SHOWN); i++) {
		const LodeLevelWeight *level = &g_array_index(row->levels, LodeLevelWeight, i);
		g_string_append_printf(out, "%s%s %s", i > 0 ? ", " : "", level->level,
			LODE_SHARE_TEXT(lode_share_of(level->weight, whole)));
	}
	if (n > LEVELS_SHOWN)
		g_string_append(out, ", ...");
	return g_string_free(out, row->levels == NULL);
}

/* "12", "12:3" of bits; NULL: it has none. */
static char *offset_text(const LodeLayoutRow *row)
{
	if (row->kind == LODE_LAYOUT_LINE || row->kind == LODE_LAYOUT_NO_MEMBER)
		return NULL;
	if (row->bit_size > 0)
		return g_strdup_printf("%" G_GUINT64_FORMAT ":%u", row->offset, row->bit_offset);
	return g_strdup_printf("%" G_GUINT64_FORMAT, row->offset);
}

static char *size_text(const LodeLayoutRow *row)
{
	if (row->kind == LODE_LAYOUT_LINE || row->kind == LODE_LAYOUT_NO_MEMBER)
		return NULL;
	if (row->bit_size > 0)
		return g_strdup_printf("%u bit%s", row->bit_size, row->bit_size == 1 ? "" : "s");
	return g_strdup_printf("%" G_GUINT64_FORMAT, row->size);
}

static void append_member(const LodeTypeLayout *layout, const LodeLayoutRow *row,
	const LodeTerminal *terminal, GString *out)
{
	bool is_hottest = layout->hottest != LODE_NONE && row == row_at(layout, layout->hottest);

	g_string_append(out, "  ");
	lode_function_name_append(out, row->member->name, terminal);
	if (row->member->type != NULL) {
		g_string_append(out, ": ");
		lode_function_name_append(out, row->member->type, terminal);
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

static const char *const kind_words[] = {"line", "member", "hole", "padding", "no-member"};

typedef struct {
	const LodeTypeLayout *layout;
	guint number; /* of the layout, from 1 */
} View;

typedef struct {
	const LodeLayoutRow *of;
	LodeTotalsCells cells;
	const char *type, *kind, *member, *member_type;
	uint32_t layout;
	double offset, size, bit_offset, bit_size, first_line, last_line; /* no number: no place */
	uint64_t stride, repeats;
	LodeStyle style, totals_style;
	char *levels, *offset_text, *size_text;
} Row;

static LodeStyle append_name(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const LodeLayoutRow *of = ((const Row *)row)->of;
	const View *view = user_data;

	switch (of->kind) {
	case LODE_LAYOUT_LINE:
		g_string_append_printf(out,
			"line %" G_GUINT64_FORMAT ": bytes %" G_GUINT64_FORMAT
			" to %" G_GUINT64_FORMAT,
			of->first_line, of->offset, of->offset + of->size - 1);
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
	append_member(view->layout, of, terminal, out);
	return of->totals.n_samples > 0 ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
}

/* Members that JSON has of the rows that have them. */
static void put_place(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeLayoutRow *of = ((const Row *)row)->of;

	(void)user_data;
	if (of->kind == LODE_LAYOUT_MEMBER) {
		lode_function_name_json(json, "name", of->member->name);
		lode_function_name_json(json, "type", of->member->type);
		lode_json_member_bool(json, "is_beside_hottest", of->is_beside_hottest);
		lode_json_member_number(json, "wide_weight", of->wide_weight);
		lode_json_member_number(json, "stride", (double)of->member->stride);
		lode_json_member_number(json, "repeats", (double)of->member->repeats);
	}
}

static void put_levels(LodeJsonStream *json, const void *row, const void *user_data)
{
	const GArray *levels = ((const Row *)row)->of->levels;

	(void)user_data;
	lode_json_member_begin(json, "levels", '{');
	for (guint i = 0; levels != NULL && i < levels->len; i++) {
		const LodeLevelWeight *level = &g_array_index(levels, LodeLevelWeight, i);
		lode_json_member_number(json, level->level, level->weight);
	}
	lode_json_end(json, '}');
}

static const LodeColumn columns[] = {
	{"type", LODE_CELL_TEXT(Row, type), .only = LODE_IN_CSV},
	{"layout", LODE_CELL_NUMBER(Row, layout), .only = LODE_IN_CSV},
	{"kind", LODE_CELL_TEXT(Row, kind),
		.type = "\"line\" | \"member\" | \"hole\" | \"padding\" | \"no-member\""},
	{.put = put_place,
		.type = "name?: string; short_name?: string; type?: string; short_type?: string; "
			"is_beside_hottest?: boolean; wide_weight?: number; stride?: number; "
			"repeats?: number"},
	{"member", LODE_CELL_TEXT(Row, member), .only = LODE_IN_CSV},
	{"member_type", LODE_CELL_TEXT(Row, member_type), .only = LODE_IN_CSV},
	{"offset", LODE_CELL_NUMBER(Row, offset), .is_optional = true},
	{"size", LODE_CELL_NUMBER(Row, size), .is_optional = true},
	{"bit_offset", LODE_CELL_NUMBER(Row, bit_offset), .is_optional = true},
	{"bit_size", LODE_CELL_NUMBER(Row, bit_size), .is_optional = true},
	{"first_line", LODE_CELL_NUMBER(Row, first_line), .is_optional = true},
	{"last_line", LODE_CELL_NUMBER(Row, last_line), .is_optional = true},
	{"stride", LODE_CELL_NUMBER(Row, stride), .only = LODE_IN_CSV},
	{"repeats", LODE_CELL_NUMBER(Row, repeats), .only = LODE_IN_CSV},
	LODE_TOTALS_COLUMNS(
		Row, cells, 1, 2, offsetof(Row, totals_style), offsetof(Row, totals_style)),
	{.put = put_levels, .type = "levels: Record<string, number>"},
	{NULL, LODE_CELL_TEXT(Row, levels), .title = "from", .at = 6, .dropped = 6,
		.hides_empty = true, .styled = offsetof(Row, style)},
	{NULL, LODE_CELL_TEXT(Row, offset_text), .title = "offset", .at = 7, .is_right = true,
		.styled = offsetof(Row, style)},
	{NULL, LODE_CELL_TEXT(Row, size_text), .title = "size", .at = 8, .is_right = true,
		.dropped = 1, .styled = offsetof(Row, style)},
	{.title = "member", .append = append_name, .at = 9},
};
const LodeColumns lode_memory_layout_columns = LODE_COLUMNS("rows", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const View *view = user_data;
	const LodeLayoutRow *of = row_at(view->layout, number);
	bool is_hole = of->kind == LODE_LAYOUT_HOLE || of->kind == LODE_LAYOUT_PADDING;
	bool has_place = of->kind != LODE_LAYOUT_NO_MEMBER;
	Row row = {
		.of = of,
		.cells = lode_totals_cells(&of->totals, view->layout->total.weight),
		.type = view->layout->type->name,
		.kind = kind_words[of->kind],
		.layout = view->number,
		.offset = has_place ? (double)of->offset : (double)NAN,
		.size = has_place ? (double)of->size : (double)NAN,
		.bit_offset = has_place ? of->bit_offset : (double)NAN,
		.bit_size = has_place ? of->bit_size : (double)NAN,
		.first_line = has_place ? (double)of->first_line : (double)NAN,
		.last_line = has_place ? (double)of->last_line : (double)NAN,
		.style = of->kind == LODE_LAYOUT_LINE ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN,
		.totals_style = is_hole                        ? LODE_STYLE_BLANK
	                        : of->kind == LODE_LAYOUT_LINE ? LODE_STYLE_STRONG
	                                                       : LODE_STYLE_PLAIN,
		.levels = levels_text(of),
		.offset_text = offset_text(of),
		.size_text = size_text(of),
	};

	if (of->member != NULL) {
		row.member = of->member->name;
		row.member_type = of->member->type;
		row.stride = of->member->stride;
		row.repeats = of->member->repeats;
	}
	*(Row *)out = row;
}

static LodeListing listing_of(const View *view)
{
	return (LodeListing){&lode_memory_layout_columns, view->layout->rows->len, .fill = fill_row,
		.user_data = view};
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
	g_autofree char *ordinal = number > 0 ? g_strdup_printf(" (%u)", number) : g_strdup("");
	g_autofree char *holes = holes_text(layout);

	lode_display_print(&options->terminal, out,
		"%s%s: %" G_GUINT64_FORMAT " byte%s, %s · %s sample%s, %s of all weight",
		layout->type->name, ordinal, layout->type->size, layout->type->size == 1 ? "" : "s",
		holes, LODE_COUNT_TEXT(layout->total.n_samples),
		layout->total.n_samples == 1 ? "" : "s",
		LODE_SHARE_TEXT(lode_share_of(layout->total.weight, layout->all_weight)));
}

/* Writes the part that the table leaves out: accesses to other types, and those without a known
 * type. */
static void put_left_out(const LodeTypeLayout *layout, const LodeTerminal *terminal, FILE *out)
{
	double others = layout->all_weight - layout->total.weight - layout->untyped_weight;

	/* sums of weights, not exact */
	if (layout->all_weight <= 0 || layout->untyped_weight <= layout->all_weight * 1e-9)
		return;
	lode_display_print(terminal, out,
		"Left out: %s of all weight is of other types, and %s of no known type, some of "
		"which may be of this one.",
		LODE_SHARE_TEXT(lode_share_of(MAX(others, 0), layout->all_weight)),
		LODE_SHARE_TEXT(lode_share_of(layout->untyped_weight, layout->all_weight)));
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

	lode_display_print(terminal, out,
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
	lode_display_print(terminal, out, "The hottest member, %s, %s%s.",
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
	const View view = {layout, number};
	LodeListing listing = listing_of(&view);

	fputc('\n', out);
	put_head(layout, options, number, out);
	put_left_out(layout, &options->terminal, out);
	if (layout->type->n_members == 0) {
		lode_display_print(&options->terminal, out,
			"The type has no members, so no layout; --where 'type == \"%s\"' --by line "
			"shows where it is accessed.",
			layout->type->name);
		return;
	}
	listing.n_rows = count_rows(layout);
	lode_listing_write_text(&listing, &options->terminal, out);
	put_neighbours(layout, &options->terminal, out);
	if (has_wide(layout))
		lode_display_print(&options->terminal, out,
			"[and following]: some accesses that begin there are wider than the "
			"member; they are counted for it alone.");
}

static void write_text(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out)
{
	const LodeProgramRun *run = lode_program_run_of(profile);

	lode_display_print(&options->terminal, out, "%s · layout · weight: %s",
		run->program != NULL ? run->program : "?", lode_totals_weight_text(options->notes));
	if (layouts->len > 1)
		lode_display_print(
			&options->terminal, out, "%u types have this name.", layouts->len);
	for (guint i = 0; i < layouts->len; i++)
		put_layout(layouts->pdata[i], options, layouts->len > 1 ? i + 1 : 0, out);
	fputc('\n', out);
	lode_display_print(&options->terminal, out,
		"Lines are of 64 bytes, as in an object that begins at the start of one.");
	lode_memory_notes_text(options->notes, &options->terminal, out);
}

static void put_json_layout(const LodeTypeLayout *layout, LodeJsonStream *json)
{
	const LodeLayoutRow *hottest = layout->hottest != LODE_NONE
	                                       ? row_at(layout, layout->hottest)
	                                       : NULL;
	const View view = {layout, 0};
	const LodeListing listing = listing_of(&view);

	lode_json_line_begin(json, '{');
	lode_function_name_json(json, "type", layout->type->name);
	lode_json_member_number(json, "size", (double)layout->type->size);
	lode_json_member_number(json, "holes", (double)layout->hole_bytes);
	lode_json_member_string(json, "hottest", hottest != NULL ? hottest->member->name : NULL);
	lode_totals_put(&layout->total, layout->all_weight, json);
	lode_json_member_number(json, "untyped_weight", layout->untyped_weight);
	lode_json_member_number(
		json, "untyped_share", lode_share_of(layout->untyped_weight, layout->all_weight));
	lode_listing_put_json(&listing, json);
	lode_json_end(json, '}');
}

static void write_json(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out)
{
	LodeJsonStream json;

	lode_profile_json_open(&json, out, profile);
	lode_memory_notes_json(options->notes, &json);
	lode_json_line(&json);
	lode_json_member_begin(&json, "layouts", '[');
	for (guint i = 0; i < layouts->len; i++)
		put_json_layout(layouts->pdata[i], &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(const GPtrArray *layouts, FILE *out)
{
	lode_listing_put_csv_titles(&(LodeListing){&lode_memory_layout_columns}, out);
	for (guint i = 0; i < layouts->len; i++) {
		const View view = {layouts->pdata[i], i + 1};
		const LodeListing listing = listing_of(&view);
		lode_listing_put_csv_rows(&listing, out);
	}
}

bool lode_memory_layout_write(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	if (options->format == LODE_VIEW_TEXT)
		write_text(profile, layouts, options, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(profile, layouts, options, out);
	else
		write_csv(layouts, out);
	return lode_view_flush(out, error);
}
