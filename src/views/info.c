/* SPDX-License-Identifier: MIT */
/* What is in a profile, and how good it is: rows of facts as text or CSV, and a JSON document. */
#include "views/info.h"

#include "base/number_format.h"
#include "views/csv.h"
#include "views/display_text.h"
#include "views/info_rows.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"
#include "views/profile_lines.h"
#include "views/shell_word.h"
#include "views/table.h"

#include <math.h>
#include <string.h>

typedef struct {
	const GArray *rows;
	guint first; /* of the section shown */
	const LodeTerminal *terminal;
} Section;

enum { COLUMN_NAME, COLUMN_VALUE, COLUMN_SHARE, COLUMN_DETAIL, N_COLUMNS };

static LodeStyle info_cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const Section *section = user_data;
	const LodeInfoRow *row = &g_array_index(section->rows, LodeInfoRow, section->first + index);
	bool is_ascii = section->terminal->is_ascii;
	char text[LODE_NUMBER_SIZE];

	if (column == COLUMN_NAME) {
		g_string_append(out, "  ");
		lode_display_append(out, row->name, is_ascii);
	} else if (column == COLUMN_VALUE && isfinite(row->number)) {
		g_string_append(out, lode_number_format_count(row->number, text));
	} else if (column == COLUMN_SHARE && isfinite(row->share)) {
		g_string_append(out, lode_number_format_share(row->share, text));
	} else if (column == COLUMN_DETAIL) {
		lode_display_append(out, row->text != NULL ? row->text : "", is_ascii);
		lode_display_append(out, row->detail != NULL ? row->detail : "", is_ascii);
	}
	return LODE_STYLE_PLAIN;
}

static const char *section_title(const char *section)
{
	static const struct {
		const char *section, *title;
	} titles[] = {
		{"profile", "Profile"},
		{"contents", "Contents"},
		{"quality", "Quality"},
		{"event", "Events"},
		{"image", "Images, by share of weight"},
		{"data address", "Data addresses, samples with share of weight"},
		{"unresolved", "Unresolved, by reason, with share of weight"},
		{"run", "Mining runs"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		if (strcmp(titles[i].section, section) == 0)
			return titles[i].title;
	return section;
}

static void put_section(Section *section, guint n, FILE *out)
{
	static const LodeTableColumn columns[N_COLUMNS] = {
		{"", .is_text = true},
		{""},
		{""},
		{"", .is_text = true},
	};
	LodeTable table = {columns, N_COLUMNS, n, info_cell, section};
	const char *name = g_array_index(section->rows, LodeInfoRow, section->first).section;

	if (section->first > 0)
		fputc('\n', out);
	lode_style_write(out, section->terminal, LODE_STYLE_STRONG, section_title(name));
	fputc('\n', out);
	/* Here nothing is shortened: a command line or a run's parameters are there to be read. */
	LodeTerminal unlimited = *section->terminal;
	unlimited.width = 0;
	lode_table_write(&table, &unlimited, out);
}

static void write_text(const LodeProfile *profile, const GArray *rows, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out)
{
	Section section = {.rows = rows, .terminal = &options->terminal};

	while (section.first < rows->len) {
		const LodeInfoRow *first = &g_array_index(rows, LodeInfoRow, section.first);
		guint n = 1;
		while (section.first + n < rows->len &&
			strcmp(first[n].section, first->section) == 0)
			n++;
		put_section(&section, n, out);
		section.first += n;
	}
	fputc('\n', out);
	if (profile->unresolved->len == 0)
		lode_profile_lines_unresolved(profile, &options->terminal, out);
	if (runs == NULL || runs->len == 0)
		lode_profile_lines_print(&options->terminal, out, "No mining run yet: lode mine %s",
			options->profile_path != NULL ? options->profile_path : "PROFILE.lode");
}

static void write_csv(const GArray *rows, FILE *out)
{
	static const char *const titles[] = {"section", "name", "value", "share", "detail"};
	LodeCsv csv;

	lode_csv_init(&csv, out);
	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(&csv, titles[i]);
	lode_csv_end_row(&csv);
	for (guint i = 0; i < rows->len; i++) {
		const LodeInfoRow *row = &g_array_index(rows, LodeInfoRow, i);
		lode_csv_text(&csv, row->section);
		lode_csv_text(&csv, row->name);
		if (row->text != NULL)
			lode_csv_text(&csv, row->text);
		else
			lode_csv_number(&csv, row->number);
		lode_csv_number(&csv, row->share);
		lode_csv_text(&csv, row->detail);
		lode_csv_end_row(&csv);
	}
}

/* A section's rows as an array of objects. */
static void put_json_rows(LodeJsonStream *json, const GArray *rows, const char *section)
{
	lode_json_begin(json, '[');
	for (guint i = 0; i < rows->len; i++) {
		const LodeInfoRow *row = &g_array_index(rows, LodeInfoRow, i);
		if (strcmp(row->section, section) != 0)
			continue;
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "name", row->name);
		lode_json_member_number(json, "value", row->number);
		if (isfinite(row->share))
			lode_json_member_number(json, "share", row->share);
		lode_json_member_string(json, "detail", row->detail);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_json_runs(LodeJsonStream *json, const GPtrArray *runs)
{
	lode_json_key(json, "runs");
	lode_json_begin(json, '[');
	for (guint i = 0; runs != NULL && i < runs->len; i++) {
		const LodeRunSummary *run = g_ptr_array_index(runs, i);
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "name", run->name);
		lode_json_member_string(json, "weight", run->weight);
		lode_json_member_number(json, "sequences", (double)run->n_sequences);
		lode_json_member_bool(json, "is_complete", run->is_complete);
		lode_json_member_number(json, "seconds", run->seconds);
		/* The store's own JSON, as text: nothing here vouches for it. */
		lode_json_member_string(json, "parameters", run->parameters);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void write_json(
	const LodeProfile *profile, const GArray *rows, const GPtrArray *runs, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, profile);
	lode_json_line(&json);
	lode_json_key(&json, "flow_conservation");
	lode_json_begin(&json, '{');
	lode_json_member_number(&json, "checked", profile->inflow_checked);
	lode_json_member_number(&json, "equal", profile->inflow_equal);
	lode_json_member_number(&json, "share",
		profile->inflow_checked > 0 ? profile->inflow_equal / profile->inflow_checked
					    : (double)NAN);
	lode_json_end(&json, '}');
	lode_json_line(&json);
	lode_json_key(&json, "events");
	put_json_rows(&json, rows, "event");
	lode_json_line(&json);
	lode_json_key(&json, "images");
	put_json_rows(&json, rows, "image");
	lode_json_line(&json);
	if (profile->memory != NULL) {
		lode_json_key(&json, "data_addresses");
		put_json_rows(&json, rows, "data address");
		lode_json_line(&json);
	}
	lode_profile_json_unresolved(&json, profile);
	lode_json_line(&json);
	put_json_runs(&json, runs);
	lode_json_end(&json, '}');
}

bool lode_info_write(const LodeProfile *profile, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out, GError **error)
{
	g_autoptr(GArray) rows = lode_info_rows(profile, runs);

	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(profile, rows, runs, options, out);
		break;
	case LODE_VIEW_JSON:
		write_json(profile, rows, runs, out);
		break;
	case LODE_VIEW_CSV:
		write_csv(rows, out);
		break;
	}
	return lode_view_flush(out, error);
}
