/* SPDX-License-Identifier: MIT */
/*
 * The types of the page's rows, made of the columns that are declared:
 *
 *   page_types FILE [--update]
 *
 * prints as TAP whether FILE, ui/src/api_types.ts, is what they give; --update writes it.
 */
#include "views/form/declared_columns.h"

#include <string.h>

static const struct {
	const LodeColumns *columns;
	const char *name;
	bool has_all;      /* the page's answers have all columns, those with `when`, too */
	bool has_optional; /* and those that others leave out */
} types[] = {
	{&lode_finding_place_columns, "Place", true, true},
	{&lode_finding_columns, "Finding", true},
	{&lode_diagnosis_columns, "Diagnosis", true},
	{&lode_top_function_columns, "TopFunction", true},
	{&lode_sequence_columns, "Sequence"},
	{&lode_function_list_columns, "FunctionRow", true},
	{&lode_called_function_columns, "CalledFunction", true},
	{&lode_function_callers_columns, "Caller", true},
	{&lode_totals_columns, "Totals", true},
	{&lode_memory_pivot_columns, "PivotRow", true},
	{&lode_memory_layout_columns, "LayoutRow"},
	{&lode_shared_line_columns, "SharedLine", true},
	{&lode_sharing_access_columns, "SharingAccess", true},
	{&lode_sharing_store_columns, "SharingStore", true},
	{&lode_annotated_place_columns, "CodePlace", true},
	{&lode_annotated_line_columns, "CodeLine", true},
	{&lode_annotated_data_columns, "InstructionData", true},
	{&lode_observed_columns, "Observed", true},
	{&lode_cache_columns, "Cache"},
	{&lode_curve_point_columns, "CurvePoint", true},
	{&lode_event_table_columns, "MissesRow", true},
	{&lode_compared_total_columns, "ComparedTotal", true},
	{&lode_compared_side_columns, "ComparedSide", true},
	{&lode_compared_row_columns, "ComparedRow", true},
	{&lode_compared_cause_columns, "ComparedCause", true},
	{&lode_compared_diagnosis_columns, "ComparedDiagnosis", true},
	{&lode_wait_columns, "Wait", true},
};

static const char head[] =
	"// SPDX-License-Identifier: MIT\n"
	"//\n"
	"// Rows of answers, made of the columns that lode declares (src/views/form/listing.h) by\n"
	"// tests/house/page_types.c. Do not edit: `meson test page-types` says how it is made "
	"anew.\n"
	"import type { InlinedLine } from \"./api\";\n";

static const char *type_of(const LodeColumn *column)
{
	if (column->type != NULL)
		return column->type;
	switch (column->kind) {
	case LODE_COLUMN_FLAG:
		return "boolean";
	case LODE_COLUMN_TEXTS:
		return "string[]";
	case LODE_COLUMN_TEXT:
	case LODE_COLUMN_NAME:
	case LODE_COLUMN_ADDRESS:
		return "string";
	default:
		return column->words != NULL ? "string" : "number";
	}
}

static const char *name_of(const LodeColumns *set)
{
	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		if (types[i].columns == set)
			return types[i].name;
	g_error("%s: a part has no type", set->name);
}

/* A group from its first column on. Gives its end, where the columns go on. */
static const LodeColumn *append_group(GString *out, const LodeColumn *column)
{
	g_autoptr(GString) members = g_string_new(NULL);
	const char *type = NULL;

	for (; column->kind != LODE_COLUMN_GROUP_END; column++) {
		if (column->kind == LODE_COLUMN_PART)
			type = name_of(column->part);
		else if (column->is_repeated)
			type = "Record<string, number>";
		else if (column->key != NULL && column->only != LODE_IN_CSV)
			g_string_append_printf(members, " %s: %s%s;%s%s%s", column->key,
				type_of(column), column->is_nullable ? " | null" : "",
				column->kind == LODE_COLUMN_NAME ? " short_" : "",
				column->kind == LODE_COLUMN_NAME ? column->key : "",
				column->kind == LODE_COLUMN_NAME ? "?: string;" : "");
	}
	if (type != NULL)
		g_string_append_printf(out, "%s;\n", type);
	else
		g_string_append_printf(out, "{%s };\n", members->str);
	return column;
}

static void append_interface(GString *out, size_t type)
{
	const LodeColumns *set = types[type].columns;
	const LodeColumn *column = set->columns, *end = column + set->n_columns;

	g_string_append_printf(out, "export interface %s {\n", types[type].name);
	for (; column < end; column++) {
		bool is_optional = (column->is_optional && !types[type].has_optional) ||
		                   (column->when != 0 && !types[type].has_all);
		if (column->only == LODE_IN_CSV)
			continue;
		if (column->key == NULL && column->put != NULL) {
			if (column->type == NULL)
				g_error("%s: a column without a key has no type", set->name);
			g_string_append_printf(out, "\t%s;\n", column->type);
		}
		if (column->key == NULL)
			continue;
		g_string_append_printf(out, "\t%s%s: ", column->key, is_optional ? "?" : "");
		if (column->kind == LODE_COLUMN_GROUP) {
			column = append_group(out, column + 1);
			continue;
		}
		g_string_append_printf(
			out, "%s%s;\n", type_of(column), column->is_nullable ? " | null" : "");
		if (column->kind == LODE_COLUMN_NAME)
			g_string_append_printf(out, "\tshort_%s?: string;\n", column->key);
	}
	g_string_append(out, "}\n");
}

int main(int argc, char **argv)
{
	g_autoptr(GString) text = g_string_new(head);
	g_autofree char *old = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		append_interface(text, i);
	if (argc > 2 && strcmp(argv[2], "--update") == 0)
		return g_file_set_contents(argv[1], text->str, -1, NULL) ? 0 : 1;
	if (argc < 2)
		return 2;
	g_file_get_contents(argv[1], &old, NULL, NULL);
	bool is_same = g_strcmp0(old, text->str) == 0;
	g_print("1..1\n%s 1 - types of the page's rows\n", is_same ? "ok" : "not ok");
	if (!is_same)
		g_print("# %s %s --update\n", argv[0], argv[1]);
	return 0;
}
