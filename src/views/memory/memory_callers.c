/* SPDX-License-Identifier: MIT */
/* Data objects with their share; below each, what accesses it and who called that, as a tree. */
#include "views/memory/memory_views.h"

#include "base/text/number_format.h"
#include "model/index.h"
#include "model/memory.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/memory/memory_document.h"

static const char *const kinds[] = {"object", "call", "others"};

typedef struct {
	LodeAccessCallersRow of;
	const char *object, *function, *place;
	double share;
	LodeStyle share_style, name_style;
	char *name;
} Row;

static const LodeColumn columns[] = {
	{"level", LODE_CELL_NUMBER(Row, of.level)},
	{"kind", LODE_CELL_NUMBER(Row, of.kind), .words = kinds},
	{"object", LODE_CELL_NAME(Row, object)},
	{"function", LODE_CELL_NAME(Row, function)},
	{"place", LODE_CELL_NAME(Row, place)},
	{"samples", LODE_CELL_COUNT(Row, of.n_samples), .at = 2, .dropped = 1},
	{"weight", LODE_CELL_NUMBER(Row, of.weight)},
	{"share", LODE_CELL_SHARE(Row, share), .at = 1, .styled = offsetof(Row, share_style)},
	{NULL, LODE_CELL_NAME(Row, name), .title = "object, what accesses it, its callers", .at = 3,
		.styled = offsetof(Row, name_style), .indented = offsetof(Row, of.level)},
};
const LodeColumns lode_memory_callers_columns = LODE_COLUMNS("rows", columns, Row);

static const LodeAccessCall *call_of(const LodeProfile *profile, const LodeAccessCallersRow *row)
{
	return row->call != LODE_NONE
	               ? &LODE_AT(lode_memory_of(profile)->access_calls, LodeAccessCall, row->call)
	               : NULL;
}

static char *name_of(const Row *row)
{
	if (row->of.kind == LODE_ACCESS_ROW_OTHERS)
		return g_strdup_printf("(%s %s)", LODE_COUNT_TEXT(row->of.n_others),
			row->of.n_others == 1 ? "other" : "others");
	if (row->of.kind == LODE_ACCESS_ROW_CALL)
		return g_strdup_printf("%s%s%s", row->function != NULL ? row->function : "",
			row->function != NULL ? " " : "", row->place);
	return g_strdup(row->object != NULL ? row->object : "(no object)");
}

static void fill_row(size_t number, void *out, const void *user_data)
{
	const LodeMemoryDocument *document = user_data;
	const LodeAccessCallers *callers = document->result;
	Row *row = out;

	row->of = LODE_AT(callers->rows, LodeAccessCallersRow, number);
	const LodeAccessCall *call = call_of(document->profile, &row->of);
	row->object = lode_memory_object_name(lode_memory_of(document->profile), row->of.object);
	row->function = call != NULL ? call->function : NULL;
	row->place = call != NULL ? call->place : NULL;
	row->share = lode_share_of(row->of.weight, callers->weight);
	row->name = name_of(row);
	if (row->of.kind == LODE_ACCESS_ROW_OTHERS)
		row->name_style = LODE_STYLE_FAINT;
	if (row->of.kind == LODE_ACCESS_ROW_OBJECT) {
		row->share_style = LODE_STYLE_STRONG;
		row->name_style = LODE_STYLE_NAME;
	}
}

static void write_lines(const LodeMemoryDocument *document, const LodeTerminal *terminal, FILE *out)
{
	const LodeAccessCallers *callers = document->result;

	if (callers->weight_without > 0)
		lode_display_print(terminal, out, "Callers are not known for %s of the weight.",
			LODE_SHARE_TEXT(lode_share_of(callers->weight_without, callers->weight)));
}

static void put_weights(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodeAccessCallers *callers = document->result;

	lode_json_member_number(json, "weight", callers->weight);
	lode_json_member_number(json, "weight_without_callers", callers->weight_without);
	lode_json_line(json);
}

bool lode_memory_callers_write(const LodeProfile *profile, const LodeAccessCallers *callers,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	static const LodeMemoryDocumentParts parts = {
		.write_lines = write_lines,
		.put_after = put_weights,
	};
	const LodeMemoryDocument document = {&parts, profile, callers, "callers of accesses",
		"No sample was chosen.",
		{&lode_memory_callers_columns, callers->rows->len, .fill = fill_row},
		.has_head = false};

	return lode_memory_document_write(&document, options, out, error);
}
