/* SPDX-License-Identifier: MIT */
/*
 * The summary tree as a table:
 *
 *   weight  frequency  excess     new  places  functions   cost  variants   id  sequence
 *   11.9 %      1.2 %  10.7 %  11.9 %   3,264        210  9.92×       812  231  ⟨branch-miss⟩
 *    7.3 %      0.4 %   6.9 %   7.3 %      17         14  …             4  992  └─ ⟨load indexed⟩ →
 * …
 */
#include "base/number_format.h"
#include "views/display_text.h"
#include "views/report_text.h"

#define LARGE_EXCESS 0.05

enum {
	COLUMN_WEIGHT,
	COLUMN_FREQUENCY,
	COLUMN_EXCESS,
	COLUMN_NEW,
	COLUMN_PLACES,
	COLUMN_FUNCTIONS,
	COLUMN_COST,
	COLUMN_VARIANTS,
	COLUMN_ID,
	COLUMN_SEQUENCE,
	N_COLUMNS,
};

static const LodeTableColumn tree_columns[N_COLUMNS] = {
	[COLUMN_WEIGHT] = {"weight"},
	[COLUMN_FREQUENCY] = {"frequency", .dropped = 1},
	[COLUMN_EXCESS] = {"excess"},
	[COLUMN_NEW] = {"new", .dropped = 3},
	[COLUMN_PLACES] = {"places"},
	[COLUMN_FUNCTIONS] = {"functions", .dropped = 2},
	[COLUMN_COST] = {"cost"},
	[COLUMN_VARIANTS] = {"variants", .dropped = 4},
	[COLUMN_ID] = {"id"},
	[COLUMN_SEQUENCE] = {"sequence", .is_text = true},
};

typedef struct {
	const LodeReportValues *values;
	const GArray *lines;
	const LodeTerminal *terminal;
} Tree;

static void put_branch(GString *out, uint32_t depth, const LodeTerminal *terminal)
{
	if (depth == 0)
		return;
	for (uint32_t i = 1; i < depth; i++)
		g_string_append(out, "   ");
	lode_display_append(out, "└─ ", terminal->is_ascii);
}

static void put_count(GString *out, double value)
{
	char text[LODE_NUMBER_SIZE];

	g_string_append(out, lode_number_format_count(value, text));
}

static LodeStyle tree_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Tree *tree = user_data;
	const LodeSummaryLine *line = &g_array_index(tree->lines, LodeSummaryLine, row);
	const LodeMiningRun *run = tree->values->run;
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, line->sequence);
	double excess = lode_sequence_excess(sequence);

	switch (column) {
	case COLUMN_EXCESS:
		lode_report_cell_support(tree->values, excess, out, tree->terminal);
		return excess >= LARGE_EXCESS ? LODE_STYLE_ALARM : LODE_STYLE_PLAIN;
	case COLUMN_WEIGHT:
		lode_report_cell_support(tree->values, sequence->weight, out, tree->terminal);
		break;
	case COLUMN_FREQUENCY:
		lode_report_cell_support(tree->values, sequence->frequency, out, tree->terminal);
		break;
	case COLUMN_NEW:
		lode_report_cell_support(tree->values, line->new_weight, out, tree->terminal);
		break;
	case COLUMN_COST:
		lode_report_cell_ratio(line->cost_ratio, out, tree->terminal);
		break;
	case COLUMN_PLACES:
		put_count(out, sequence->places);
		break;
	case COLUMN_FUNCTIONS:
		put_count(out, sequence->functions);
		break;
	case COLUMN_VARIANTS:
		put_count(out, (double)line->variants);
		break;
	case COLUMN_ID:
		g_string_append_printf(out, "%u", line->sequence + 1);
		return LODE_STYLE_NAME;
	default:
		put_branch(out, line->depth, tree->terminal);
		lode_report_cell_sequence(run, line->sequence, out, tree->terminal);
		return line->depth == 0 ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	}
	return LODE_STYLE_PLAIN;
}

void lode_report_tree_write(const LodeReportValues *values, const GArray *lines,
	const LodeReportOptions *options, FILE *out)
{
	Tree tree = {values, lines, &options->terminal};
	LodeTable table = {
		.columns = tree_columns,
		.n_columns = N_COLUMNS,
		.n_rows = lines->len,
		.cell = tree_cell,
		.user_data = &tree,
	};
	uint32_t left_out = lode_table_write(&table, &options->terminal, out);

	lode_report_left_out(left_out, &table, &options->terminal, out);
}
