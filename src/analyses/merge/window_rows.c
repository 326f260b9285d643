/* SPDX-License-Identifier: MIT */
#include "analyses/merge/window_rows.h"

#include "base/arrays/sort_order.h"
#include "model/observed/windows.h"
#include "model/profile.h"

/* Sums stay within what the store can hold. */
static void increase(uint64_t *sum, uint64_t value)
{
	*sum = MIN(*sum + value, (uint64_t)INT64_MAX);
}

static void increase_number(uint32_t *sum, uint32_t value)
{
	*sum = value < UINT32_MAX - *sum ? *sum + value : UINT32_MAX;
}

static void add_process(LodeProfile *merged, const LodeSteppedProcess *process)
{
	GArray *processes = merged->windows->processes;
	LodeSteppedProcess row = *process;

	if (processes->len == LODE_WINDOW_ROWS_MAX_PROCESSES) {
		const LodeSteppedProcess others = {
			.name = lode_profile_intern(merged, "further processes")};
		g_array_append_val(processes, others);
	}
	if (processes->len > LODE_WINDOW_ROWS_MAX_PROCESSES) {
		LodeSteppedProcess *others = &LODE_AT(
			processes, LodeSteppedProcess, LODE_WINDOW_ROWS_MAX_PROCESSES);
		increase(&others->n_windows, process->n_windows);
		increase(&others->n_steps, process->n_steps);
		return;
	}
	row.name = lode_profile_intern(merged, process->name);
	row.obstacle = lode_profile_intern(merged, process->obstacle);
	g_array_append_val(processes, row);
}

void lode_window_rows_add(
	LodeProfile *merged, const LodeWindows *windows, const uint32_t *instructions)
{
	LodeWindows *sum = merged->windows;

	if (sum == NULL)
		sum = merged->windows = lode_windows_new();
	increase(&sum->n_windows, windows->n_windows);
	increase(&sum->n_steps, windows->n_steps);
	increase(&sum->n_unresolved, windows->n_unresolved);
	increase(&sum->n_dropped, windows->n_dropped);
	sum->dropped_weight += windows->dropped_weight;
	sum->user_seconds += windows->user_seconds;
	sum->system_seconds += windows->system_seconds;
	for (guint i = 0; i < windows->edges->len; i++) {
		LodeObservedEdge row = LODE_AT(windows->edges, LodeObservedEdge, i);
		row.source = instructions[row.source];
		row.target = instructions[row.target];
		if (row.source != LODE_NONE && row.target != LODE_NONE)
			g_array_append_val(sum->edges, row);
	}
	for (guint i = 0; i < windows->instructions->len; i++) {
		LodeObservedInstruction row = LODE_AT(
			windows->instructions, LodeObservedInstruction, i);
		row.instruction = instructions[row.instruction];
		if (row.instruction != LODE_NONE)
			g_array_append_val(sum->instructions, row);
	}
	for (guint i = 0; i < windows->processes->len; i++)
		add_process(merged, &LODE_AT(windows->processes, LodeSteppedProcess, i));
}

LODE_ORDER(compare_edges, LodeObservedEdge, LODE_ASCENDING(source), LODE_ASCENDING(target))

static void add_up_edges(GArray *edges)
{
	guint n = 0;

	g_array_sort(edges, compare_edges);
	for (guint i = 0; i < edges->len; i++) {
		LodeObservedEdge row = LODE_AT(edges, LodeObservedEdge, i);
		LodeObservedEdge *last = n > 0 ? &LODE_AT(edges, LodeObservedEdge, n - 1) : NULL;
		if (last == NULL || compare_edges(last, &row) != 0) {
			LODE_AT(edges, LodeObservedEdge, n++) = row;
			continue;
		}
		increase_number(&last->steps, row.steps);
		increase_number(&last->windows, row.windows);
	}
	g_array_set_size(edges, n);
}

LODE_ORDER(
	compare_facts, LodeObservedInstruction, LODE_ASCENDING(instruction), LODE_ASCENDING(stride))

static void add_facts(LodeObservedInstruction *sum, LodeObservedInstruction *row)
{
	increase_number(&sum->steps, row->steps);
	increase_number(&sum->outcomes, row->outcomes);
	increase_number(&sum->unforetold, row->unforetold);
	increase_number(&sum->denormals, row->denormals);
	increase_number(&sum->accesses, row->accesses);
	increase_number(&sum->repeated, row->repeated);
	sum->lines = MAX(sum->lines, row->lines);
	sum->pages = MAX(sum->pages, row->pages);
	sum->line_bytes |= row->line_bytes;
	increase_number(&sum->split, row->split);
	increase_number(&sum->stored, row->stored);
	increase_number(&sum->part_stored, row->part_stored);
	increase_number(&sum->conflicting, row->conflicting);
	for (int i = 0; i < LODE_N_WINDOW_FACTS; i++)
		increase_number(lode_window_fact(sum, (LodeWindowFact)i),
			*lode_window_fact(row, (LodeWindowFact)i));
	if (row->store_steps != 0)
		sum->store_steps = sum->store_steps != 0 ? MIN(sum->store_steps, row->store_steps)
		                                         : row->store_steps;
}

/* The rows of one instruction, by stride. */
static LodeObservedInstruction add_up_facts(LodeObservedInstruction *rows, guint n)
{
	LodeObservedInstruction sum = rows[0];
	uint32_t strided = 0; /* of the stride at hand */

	sum.strided = 0;
	sum.stride = 0;
	for (guint i = 0; i < n; i++) {
		if (i > 0)
			add_facts(&sum, &rows[i]);
		if (i > 0 && rows[i].stride != rows[i - 1].stride)
			strided = 0;
		increase_number(&strided, rows[i].strided);
		if (strided > sum.strided) {
			sum.strided = strided;
			sum.stride = rows[i].stride;
		}
	}
	return sum;
}

static void add_up_instructions(GArray *rows)
{
	guint n = 0;

	g_array_sort(rows, compare_facts);
	for (guint first = 0, end; first < rows->len; first = end) {
		LodeObservedInstruction *row = &LODE_AT(rows, LodeObservedInstruction, first);
		for (end = first + 1; end < rows->len; end++)
			if (LODE_AT(rows, LodeObservedInstruction, end).instruction !=
				row->instruction)
				break;
		LODE_AT(rows, LodeObservedInstruction, n++) = add_up_facts(row, end - first);
	}
	g_array_set_size(rows, n);
}

void lode_window_rows_add_up(LodeProfile *merged)
{
	if (merged->windows == NULL)
		return;
	add_up_edges(merged->windows->edges);
	add_up_instructions(merged->windows->instructions);
}
