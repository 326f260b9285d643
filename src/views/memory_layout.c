/* SPDX-License-Identifier: MIT */
/* Layouts of types as JSON and CSV; memory_layout_text.c has the form for people. */
#include "views/memory_layout.h"

#include "views/memory_totals.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"

static const char *const kind_words[] = {"line", "member", "hole", "padding", "no-member"};

static const LodeLayoutRow *row_at(const LodeTypeLayout *layout, guint i)
{
	return &g_array_index(layout->rows, LodeLayoutRow, i);
}

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
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "kind", kind_words[row->kind]);
	if (row->kind == LODE_LAYOUT_MEMBER) {
		lode_json_member_string(json, "name", row->member->name);
		lode_json_member_string(json, "type", row->member->type);
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
	lode_totals_json(&row->totals, layout->total.weight, json);
	put_json_levels(row, json);
	lode_json_end(json, '}');
}

static void put_json_layout(const LodeTypeLayout *layout, LodeJsonStream *json)
{
	const LodeLayoutRow *hottest = layout->hottest != LODE_NONE
	                                       ? row_at(layout, layout->hottest)
	                                       : NULL;

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "type", layout->type->name);
	lode_json_member_number(json, "size", (double)layout->type->size);
	lode_json_member_number(json, "holes", (double)layout->hole_bytes);
	lode_json_member_string(json, "hottest", hottest != NULL ? hottest->member->name : NULL);
	lode_totals_json(&layout->total, layout->all_weight, json);
	lode_json_key(json, "rows");
	lode_json_begin(json, '[');
	for (guint i = 0; i < layout->rows->len; i++)
		put_json_row(layout, row_at(layout, i), json);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryLayoutOptions *options, FILE *out)
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

static void put_csv_row(
	const LodeTypeLayout *layout, const LodeLayoutRow *row, guint number, LodeCsv *csv)
{
	bool has_place = row->kind != LODE_LAYOUT_NO_MEMBER;

	lode_csv_text(csv, layout->type->name);
	lode_csv_number(csv, number);
	lode_csv_text(csv, kind_words[row->kind]);
	lode_csv_text(csv, row->member != NULL ? row->member->name : NULL);
	lode_csv_text(csv, row->member != NULL ? row->member->type : NULL);
	if (has_place) {
		lode_csv_number(csv, (double)row->offset);
		lode_csv_number(csv, (double)row->size);
		lode_csv_number(csv, row->bit_offset);
		lode_csv_number(csv, row->bit_size);
		lode_csv_number(csv, (double)row->first_line);
		lode_csv_number(csv, (double)row->last_line);
	}
	for (int i = 0; !has_place && i < 6; i++)
		lode_csv_text(csv, NULL);
	lode_csv_number(csv, row->member != NULL ? (double)row->member->stride : 0);
	lode_csv_number(csv, row->member != NULL ? (double)row->member->repeats : 0);
	lode_totals_csv(&row->totals, layout->total.weight, csv);
	lode_csv_end_row(csv);
}

static void write_csv(const GPtrArray *layouts, FILE *out)
{
	static const char *const titles[] = {"type", "layout", "kind", "member", "member_type",
		"offset", "size", "bit_offset", "bit_size", "first_line", "last_line", "stride",
		"repeats"};
	LodeCsv csv;

	lode_csv_init(&csv, out);
	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(&csv, titles[i]);
	lode_totals_csv_titles(&csv);
	lode_csv_end_row(&csv);
	for (guint i = 0; i < layouts->len; i++) {
		const LodeTypeLayout *layout = layouts->pdata[i];
		for (guint k = 0; k < layout->rows->len; k++)
			put_csv_row(layout, row_at(layout, k), i + 1, &csv);
	}
}

bool lode_memory_layout_write(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryLayoutOptions *options, FILE *out, GError **error)
{
	switch (options->format) {
	case LODE_VIEW_TEXT:
		lode_memory_layout_text(profile, layouts, options, out);
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
