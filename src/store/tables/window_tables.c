/* SPDX-License-Identifier: MIT */
#include "store/tables/window_tables.h"

#include "base/arrays/partition_point.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "store/tables/row_table.h"

#define AT(type, member) offsetof(type, member)

/* One row, of LodeWindows itself. */
static const LodeColumn recording_columns[] = {
	{"windows", AT(LodeWindows, n_windows), LODE_COLUMN_SIZE, 0},
	{"steps", AT(LodeWindows, n_steps), LODE_COLUMN_SIZE, 0},
	{"unresolved_steps", AT(LodeWindows, n_unresolved), LODE_COLUMN_SIZE, 0},
	{"dropped_samples", AT(LodeWindows, n_dropped), LODE_COLUMN_SIZE, 0},
	{"dropped_weight", AT(LodeWindows, dropped_weight), LODE_COLUMN_AMOUNT, 0},
	{"user_seconds", AT(LodeWindows, user_seconds), LODE_COLUMN_AMOUNT, 0},
	{"system_seconds", AT(LodeWindows, system_seconds), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn edge_columns[] = {
	{"source", AT(LodeObservedEdge, source), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"target", AT(LodeObservedEdge, target), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"steps", AT(LodeObservedEdge, steps), LODE_COLUMN_NUMBER, 0},
	{"windows", AT(LodeObservedEdge, windows), LODE_COLUMN_NUMBER, 0},
};

#define FACT(name, kind)                                                                           \
	{                                                                                          \
#name, AT(LodeObservedInstruction, name), LODE_COLUMN_##kind, 0                    \
	}

static const LodeColumn instruction_columns[] = {
	{"instruction", AT(LodeObservedInstruction, instruction), LODE_COLUMN_REFERENCE,
		LODE_TARGET_INSTRUCTIONS},
	FACT(steps, NUMBER),
	FACT(outcomes, NUMBER),
	FACT(unforetold, NUMBER),
	FACT(denormals, NUMBER),
	FACT(accesses, NUMBER),
	FACT(repeated, NUMBER),
	FACT(strided, NUMBER),
	FACT(stride, BITS),
	FACT(lines, NUMBER),
	FACT(pages, NUMBER),
	FACT(line_bytes, BITS),
	FACT(split, NUMBER),
	{"stored", AT(LodeObservedInstruction, loads.stored), LODE_COLUMN_NUMBER, 0},
	{"part_stored", AT(LodeObservedInstruction, loads.part_stored), LODE_COLUMN_NUMBER, 0},
	{"store_steps", AT(LodeObservedInstruction, loads.store_steps), LODE_COLUMN_NUMBER, 0},
	{"conflicting", AT(LodeObservedInstruction, loads.conflicting), LODE_COLUMN_NUMBER, 0},
};

/* A further fact of an instruction, which is not 0. */
typedef struct {
	uint32_t instruction;
	uint32_t fact; /* LodeWindowFact */
	uint32_t n;
} FactRow;

static const LodeColumn fact_columns[] = {
	{"instruction", AT(FactRow, instruction), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"fact", AT(FactRow, fact), LODE_COLUMN_WORD, LODE_WORDS_WINDOW_FACT},
	{"n", AT(FactRow, n), LODE_COLUMN_NUMBER, 0},
};

static const LodeColumn process_columns[] = {
	{"pid", AT(LodeSteppedProcess, pid), LODE_COLUMN_NUMBER, 0},
	{"name", AT(LodeSteppedProcess, name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"obstacle", AT(LodeSteppedProcess, obstacle), LODE_COLUMN_MAYBE_TEXT, 0},
	{"windows", AT(LodeSteppedProcess, n_windows), LODE_COLUMN_SIZE, 0},
	{"steps", AT(LodeSteppedProcess, n_steps), LODE_COLUMN_SIZE, 0},
};

static const LodeRowTable recording_table = LODE_ROW_TABLE(
	"window_recording", LodeWindows, recording_columns, NULL);
static const LodeRowTable fact_table = LODE_ROW_TABLE("window_fact", FactRow, fact_columns, NULL);

#define TABLE(array, name, type, columns, key)                                                     \
	LODE_ROW_TABLE_OF(LodeWindows, array, name, type, columns, key)

static const LodeRowTable tables[] = {
	TABLE(edges, "window_edge", LodeObservedEdge, edge_columns, "source, target"),
	TABLE(instructions, "window_instruction", LodeObservedInstruction, instruction_columns,
		NULL),
	TABLE(processes, "window_process", LodeSteppedProcess, process_columns, NULL),
};

/* FactRow; the caller owns them. */
static GArray *make_fact_rows(const LodeWindows *windows)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(FactRow));

	for (guint i = 0; i < windows->instructions->len; i++) {
		LodeObservedInstruction *facts = &LODE_AT(
			windows->instructions, LodeObservedInstruction, i);
		for (uint32_t k = 0; k < LODE_N_WINDOW_FACTS; k++) {
			const FactRow row = {
				facts->instruction, k, *lode_window_fact(facts, (LodeWindowFact)k)};
			if (row.n != 0)
				g_array_append_val(rows, row);
		}
	}
	return rows;
}

double lode_window_tables_count(const LodeWindows *windows)
{
	g_autoptr(GArray) facts = make_fact_rows(windows);

	return 1 + facts->len + lode_row_tables_count(tables, G_N_ELEMENTS(tables), windows);
}

bool lode_window_tables_insert(const LodeWindows *windows, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) facts = make_fact_rows(windows);

	return lode_row_table_insert(&recording_table, windows, 1, database, error) &&
	       lode_row_tables_insert(tables, 2, windows, database, error) &&
	       lode_row_table_insert(&fact_table, facts->data, facts->len, database, error) &&
	       lode_row_tables_insert(&tables[2], 1, windows, database, error);
}

static bool check_edges(const GArray *rows, GError **error)
{
	for (guint i = 0; i < rows->len; i++) {
		const LodeObservedEdge *row = &LODE_AT(rows, LodeObservedEdge, i);
		if (i > 0 &&
			(row[-1].source > row->source ||
				(row[-1].source == row->source && row[-1].target >= row->target)))
			return lode_row_table_broken(
				error, "window_edge", i, "it does not come after the one before");
		if (row->windows > row->steps)
			return lode_row_table_broken(
				error, "window_edge", i, "it has more windows than steps");
	}
	return true;
}

static bool check_instructions(const GArray *rows, GError **error)
{
	for (guint i = 0; i < rows->len; i++) {
		const LodeObservedInstruction *row = &LODE_AT(rows, LodeObservedInstruction, i);
		if (i > 0 && row[-1].instruction >= row->instruction)
			return lode_row_table_broken(error, "window_instruction", i,
				"it does not come after the one before");
		if (row->unforetold > row->outcomes || row->denormals > row->steps ||
			row->repeated > row->accesses || row->strided > row->accesses ||
			row->split > row->accesses || row->loads.stored > row->accesses ||
			row->loads.part_stored > row->accesses - row->loads.stored ||
			row->loads.conflicting > row->accesses || row->underflows > row->steps ||
			row->split_pages > row->split || row->calls.compared > row->steps ||
			row->calls.same_arguments > row->calls.compared ||
			row->calls.compared_results > row->calls.same_arguments ||
			row->calls.same_results > row->calls.compared_results ||
			row->page_changes > row->accesses || row->line_visits > row->accesses ||
			row->line_used_bytes > (uint64_t)row->line_visits * 64)
			return lode_row_table_broken(error, "window_instruction", i,
				"it has more of a kind than there are");
	}
	return true;
}

/* Profiles of schema version 5 do not have the table. */
static bool read_facts(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(FactRow));
	GArray *instructions = profile->windows->instructions;
	const LodeObservedInstruction *all = (const LodeObservedInstruction *)instructions->data;
	bool has;

	if (!lode_database_has_table(database, fact_table.name, &has, error))
		return false;
	if (!has)
		return true;
	if (!lode_row_table_read(&fact_table, profile->strings, rows, database, error))
		return false;
	for (guint i = 0; i < rows->len; i++) {
		const FactRow *row = &LODE_AT(rows, FactRow, i);
		uint32_t at = LODE_PARTITION_POINT(
			instructions->len, k, all[k].instruction < row->instruction);
		if (at == instructions->len || all[at].instruction != row->instruction)
			return lode_row_table_broken(error, "window_fact", i,
				"its instruction was not executed in windows");
		*lode_window_fact(&LODE_AT(instructions, LodeObservedInstruction, at),
			(LodeWindowFact)row->fact) = row->n;
	}
	return true;
}

bool lode_window_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) recordings = g_array_new(FALSE, TRUE, sizeof(LodeWindows));
	g_autoptr(LodeWindows) windows = lode_windows_new();
	bool has;

	if (!lode_database_has_table(database, recording_table.name, &has, error))
		return false;
	if (!has)
		return true;
	if (!lode_row_tables_read(tables, G_N_ELEMENTS(tables), windows, profile->strings, database,
		    &has, error) ||
		(has && !lode_row_table_read(
				&recording_table, profile->strings, recordings, database, error)))
		return false;
	if (recordings->len == 0)
		return true;
	if (recordings->len > 1)
		return lode_row_table_broken(error, "window_recording", 1, "there is one already");
	LodeWindows totals = LODE_AT(recordings, LodeWindows, 0);
	totals.edges = windows->edges;
	totals.instructions = windows->instructions;
	totals.processes = windows->processes;
	*windows = totals;
	profile->windows = g_steal_pointer(&windows);
	return lode_window_tables_check(profile, error) && read_facts(profile, database, error) &&
	       check_instructions(profile->windows->instructions, error);
}

bool lode_window_tables_check(const LodeProfile *profile, GError **error)
{
	const LodeWindows *windows = profile->windows;
	size_t counts[LODE_N_TARGETS] = {0};

	if (windows == NULL)
		return true;
	counts[LODE_TARGET_INSTRUCTIONS] = profile->code.instructions->len;
	return lode_row_table_check(&recording_table, windows, 1, counts, error) &&
	       lode_row_tables_check(tables, G_N_ELEMENTS(tables), windows, counts, error) &&
	       check_edges(windows->edges, error) &&
	       check_instructions(windows->instructions, error);
}
