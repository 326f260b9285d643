/* SPDX-License-Identifier: MIT */
/*
 * The list of sequences as a table. Its columns follow the kind of run; the key it is sorted by has
 * one in any case.
 */
#include "views/findings/report_text.h"

#include "base/text/number_format.h"
#include "model/code.h"
#include "model/index.h"
#include "model/mining_run.h"
#include "views/figures/event_values.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/table.h"

#include <math.h>

/* --- cells --- */

/* The cells of the list of sequences. */

/* "9.9×" */
static void cell_ratio(double value, GString *out, const LodeTerminal *terminal)
{
	char text[LODE_NUMBER_SIZE];

	if (!isfinite(value)) {
		lode_display_append(out, "–", terminal->is_ascii);
		return;
	}
	int decimals = fabs(value) >= 99.5 ? 0 : fabs(value) >= 9.95 ? 1 : 2;
	g_snprintf(text, sizeof(text), "%.*f×", decimals, value);
	lode_display_append(out, text, terminal->is_ascii);
}

/* A cell: a share, or with a baseline the difference in percentage points. */
static void cell_support(const LodeReportValues *values, double value, GString *out)
{
	/* A difference of shares is in percentage points, not in percent of something. */
	if (values->baseline != SIZE_MAX)
		g_string_append_printf(out, "%+.1f pt", 100 * value);
	else
		g_string_append(out, LODE_SHARE_TEXT(value));
}

/* The sequence's text, harmless. */
static void cell_sequence(
	const LodeMiningRun *run, size_t index, GString *out, const LodeTerminal *terminal)
{
	g_autofree char *text = lode_mining_run_sequence_text(run, index);

	lode_function_name_append(out, text, terminal);
}

/* --- the list --- */

enum { CELL_COST = 100, CELL_WEIGHT_TOTAL, CELL_ID, CELL_SEQUENCE };

typedef struct {
	const LodeProfile *profile;
	const LodeReportValues *values;
	const GArray *indices;
	const LodeTerminal *terminal;
	LodeReportKey key; /* for the column of an event */
	LodeTableColumn columns[LODE_TABLE_MAX_COLUMNS];
	int cells[LODE_TABLE_MAX_COLUMNS]; /* LodeReportKeyKind or CELL_… */
	unsigned n_columns;
	char *event_title, *weight_title;
} List;

static void add_column(List *list, const char *title, int cell, uint8_t dropped)
{
	list->columns[list->n_columns] = (LodeTableColumn){title, cell == CELL_SEQUENCE, dropped};
	list->cells[list->n_columns++] = cell;
}

static void add_graph_columns(List *list)
{
	if (list->key.kind == LODE_REPORT_KEY_MAXIMAL)
		add_column(list, "maximal", LODE_REPORT_KEY_MAXIMAL, 0);
	if (list->key.kind == LODE_REPORT_KEY_DIFFERENTIAL)
		add_column(list, "differential", LODE_REPORT_KEY_DIFFERENTIAL, 0);
	add_column(list, "weight", LODE_REPORT_KEY_WEIGHT, 0);
	add_column(list, "frequency", LODE_REPORT_KEY_FREQUENCY, 2);
	add_column(list, "excess", LODE_REPORT_KEY_EXCESS, 0);
	add_column(list, "places", LODE_REPORT_KEY_PLACES, 1);
	add_column(list, "functions", LODE_REPORT_KEY_FUNCTIONS, 3);
	add_column(list, "executions", LODE_REPORT_KEY_EXECUTIONS, 4);
	add_column(list, "cost", CELL_COST, 0);
}

static void choose_columns(List *list)
{
	const LodeMiningRun *run = list->values->run;

	if (list->key.kind == LODE_REPORT_KEY_EVENT) {
		list->event_title = lode_display_text(
			g_ptr_array_index(run->events, list->key.event), list->terminal->is_ascii);
		add_column(list, list->event_title, LODE_REPORT_KEY_EVENT, 0);
	}
	if (run->parameters.is_instruction_mode)
		add_column(list, "count", LODE_REPORT_KEY_COUNT, 0);
	if (list->values->weight_event != LODE_NONE) {
		list->weight_title = lode_display_text(
			g_ptr_array_index(run->events, list->values->weight_event),
			list->terminal->is_ascii);
		add_column(list, list->weight_title, CELL_WEIGHT_TOTAL, 0);
	}
	if (!run->parameters.is_instruction_mode)
		add_graph_columns(list);
	/* The column of the sort key stays, however narrow the terminal. */
	for (unsigned i = 0; i < list->n_columns; i++)
		if (list->cells[i] == (int)list->key.kind)
			list->columns[i].dropped = 0;
	add_column(list, "id", CELL_ID, 0);
	add_column(list, "sequence", CELL_SEQUENCE, 0);
}

/* `event` is one of the run; LODE_NONE for executions and the like. */
static void put_count(const List *list, uint32_t event, double value, GString *out)
{
	const GPtrArray *events = list->values->run->events;

	if (isfinite(value))
		lode_event_value_append(out, list->profile,
			event < events->len
				? lode_profile_find_event(list->profile, events->pdata[event])
				: LODE_NONE,
			value);
	else
		lode_display_append(out, "–", list->terminal->is_ascii);
}

static void put_value(const List *list, LodeReportKeyKind kind, size_t index, GString *out)
{
	const LodeMiningRun *run = list->values->run;
	LodeReportKey key = {kind, list->key.event};
	bool is_support = kind <= LODE_REPORT_KEY_DIFFERENTIAL || kind == LODE_REPORT_KEY_COUNT ||
	                  kind == LODE_REPORT_KEY_EVENT;
	double value = lode_report_key_value(run, &key, index);

	if (is_support && kind == LODE_REPORT_KEY_EVENT)
		value = lode_report_values_event(list->values, key.event, index);
	else if (is_support)
		value = lode_report_values_support(list->values, kind, index);
	if (lode_report_key_is_share(run, &key))
		cell_support(list->values, value, out);
	else
		put_count(list, kind == LODE_REPORT_KEY_EVENT ? key.event : LODE_NONE, value, out);
}

static LodeStyle list_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const List *list = user_data;
	uint32_t index = g_array_index(list->indices, uint32_t, row);

	switch (list->cells[column]) {
	case CELL_COST:
		cell_ratio(lode_report_values_cost(list->values, index), out, list->terminal);
		return LODE_STYLE_PLAIN;
	case CELL_WEIGHT_TOTAL:
		put_count(list, list->values->weight_event,
			lode_report_values_event(list->values, list->values->weight_event, index),
			out);
		return LODE_STYLE_PLAIN;
	case CELL_ID:
		g_string_append_printf(out, "%u", index + 1);
		return LODE_STYLE_NAME;
	case CELL_SEQUENCE:
		cell_sequence(list->values->run, index, out, list->terminal);
		return LODE_STYLE_PLAIN;
	default:
		put_value(list, (LodeReportKeyKind)list->cells[column], index, out);
		return LODE_STYLE_PLAIN;
	}
}

void lode_report_list_write(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, const LodeReportKey *key, const LodeReportOptions *options,
	FILE *out)
{
	List list = {
		.profile = profile,
		.values = values,
		.indices = indices,
		.terminal = &options->terminal,
		.key = *key,
	};

	choose_columns(&list);
	LodeTable table = {
		.columns = list.columns,
		.n_columns = list.n_columns,
		.n_rows = indices->len,
		.cell = list_cell,
		.user_data = &list,
		.wraps = true,
	};
	uint32_t left_out = lode_table_write(&table, &options->terminal, out);
	lode_table_write_left_out(&table, left_out, &options->terminal, out);
	g_free(list.event_title);
	g_free(list.weight_title);
}
