/* SPDX-License-Identifier: MIT */
/* Data objects with their share; below each, what accesses it and who called that, as a tree. */
#include "views/memory/memory_callers.h"

#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/code/function_name.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_document.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_lines.h"

enum { COLUMN_SHARE, COLUMN_SAMPLES, COLUMN_NAME };

typedef struct {
	const LodeProfile *profile;
	const LodeAccessCallers *callers;
	const LodeTerminal *terminal;
} Table;

static const LodeAccessCallersRow *row_at(const LodeAccessCallers *callers, size_t row)
{
	return &LODE_AT(callers->rows, LodeAccessCallersRow, row);
}

static const LodeAccessCall *call_of(const LodeProfile *profile, const LodeAccessCallersRow *row)
{
	return row->call != LODE_NONE
	               ? &LODE_AT(profile->memory->access_calls, LodeAccessCall, row->call)
	               : NULL;
}

static const char *object_name(const LodeProfile *profile, const LodeAccessCallersRow *row)
{
	return row->object != LODE_NONE
	               ? LODE_AT(profile->memory->objects, LodeDataObject, row->object).name
	               : NULL;
}

static void append_name(const Table *self, const LodeAccessCallersRow *row, GString *out)
{
	const LodeAccessCall *call = call_of(self->profile, row);
	g_autoptr(GString) name = g_string_new(NULL);
	char number[LODE_NUMBER_SIZE];

	g_string_append_printf(out, "%*s", (int)(2 * row->level), "");
	if (row->kind == LODE_ACCESS_ROW_OTHERS) {
		g_string_append_printf(out, "(%s %s)",
			lode_number_format_count(row->n_others, number),
			row->n_others == 1 ? "other" : "others");
		return;
	}
	if (row->kind == LODE_ACCESS_ROW_CALL)
		g_string_append_printf(name, "%s%s%s", call->function != NULL ? call->function : "",
			call->function != NULL ? " " : "", call->place);
	else
		g_string_append(name, object_name(self->profile, row) != NULL
					      ? object_name(self->profile, row)
					      : "(no object)");
	lode_function_name_append(out, name->str, self->terminal);
}

static LodeStyle cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const LodeAccessCallersRow *row = row_at(self->callers, number);
	bool is_object = row->kind == LODE_ACCESS_ROW_OBJECT;
	char text[LODE_NUMBER_SIZE];

	switch (column) {
	case COLUMN_SHARE:
		g_string_append(
			out, lode_number_format_share(
				     lode_share_of(row->weight, self->callers->weight), text));
		return is_object ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	case COLUMN_SAMPLES:
		g_string_append(out, lode_number_format_count((double)row->n_samples, text));
		return LODE_STYLE_PLAIN;
	default:
		append_name(self, row, out);
		return row->kind == LODE_ACCESS_ROW_OTHERS ? LODE_STYLE_FAINT
		       : is_object                         ? LODE_STYLE_NAME
		                                           : LODE_STYLE_PLAIN;
	}
}

static void write_lines(const LodeMemoryDocument *document, const LodeTerminal *terminal, FILE *out)
{
	const LodeAccessCallers *callers = document->result;
	char share[LODE_NUMBER_SIZE];

	if (callers->weight_without > 0)
		lode_profile_lines_print(terminal, out,
			"Callers are not known for %s of the weight.",
			lode_number_format_share(
				lode_share_of(callers->weight_without, callers->weight), share));
}

static void write_table(const LodeMemoryDocument *document, const LodeTerminal *terminal, FILE *out)
{
	static const LodeTableColumn columns[] = {
		[COLUMN_SHARE] = {"share"},
		[COLUMN_SAMPLES] = {"samples", .dropped = 1},
		[COLUMN_NAME] = {"object, what accesses it, its callers", .is_text = true},
	};
	const Table self = {document->profile, document->result, terminal};
	const LodeTable table = {
		columns, G_N_ELEMENTS(columns), document->n_rows, cell, &self, .note = NULL};

	lode_table_write(&table, terminal, out);
}

static void put_weights(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodeAccessCallers *callers = document->result;

	lode_json_member_number(json, "weight", callers->weight);
	lode_json_member_number(json, "weight_without_callers", callers->weight_without);
	lode_json_line(json);
}

static void put_row(const LodeMemoryDocument *document, size_t number, LodeRowStream *rows)
{
	static const char *const kinds[] = {"object", "call", "others"};
	const LodeAccessCallersRow none = {.object = LODE_NONE, .call = LODE_NONE};
	const LodeAccessCallers *callers = document->result;
	const LodeAccessCallersRow *row = number == SIZE_MAX ? &none : row_at(callers, number);
	const LodeAccessCall *call = call_of(document->profile, row);

	lode_row_begin(rows);
	lode_row_number(rows, "level", row->level);
	lode_row_text(rows, "kind", kinds[row->kind]);
	lode_function_name_row(rows, "object", object_name(document->profile, row));
	lode_function_name_row(rows, "function", call != NULL ? call->function : NULL);
	lode_function_name_row(rows, "place", call != NULL ? call->place : NULL);
	lode_row_number(rows, "samples", (double)row->n_samples);
	lode_row_number(rows, "weight", row->weight);
	lode_row_number(rows, "share", lode_share_of(row->weight, callers->weight));
	lode_row_end(rows);
}

bool lode_memory_callers_write(const LodeProfile *profile, const LodeAccessCallers *callers,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	static const LodeMemoryDocumentParts parts = {
		.write_lines = write_lines,
		.write_table = write_table,
		.put_after = put_weights,
		.put_row = put_row,
	};
	const LodeMemoryDocument document = {&parts, profile, callers, "callers of accesses",
		"No sample was chosen.", callers->rows->len, .has_head = false};

	return lode_memory_document_write(&document, options, out, error);
}
