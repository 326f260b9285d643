/* SPDX-License-Identifier: MIT */
/* The list of sequences for people, as a table. Private to views/. */
#pragma once

#include "views/report.h"
#include "views/report_values.h"
#include "views/table.h"

/* A table of sequences; the sort key has a column in any case. */
void lode_report_list_write(const LodeReportValues *values, const GArray *indices,
	const LodeReportKey *key, const LodeReportOptions *options, FILE *out);

/* A cell: a share, or with a baseline the difference in percentage points. */
void lode_report_cell_support(const LodeReportValues *values, double value, GString *out);

/* "9.9×" */
void lode_report_cell_ratio(double value, GString *out, const LodeTerminal *terminal);

/* The sequence's text, harmless. */
void lode_report_cell_sequence(
	const LodeMiningRun *run, size_t index, GString *out, const LodeTerminal *terminal);

/* Says which columns a narrow terminal had no room for; nothing when there were none. */
void lode_report_left_out(
	uint32_t left_out, const LodeTable *table, const LodeTerminal *terminal, FILE *out);
