/* SPDX-License-Identifier: MIT */
#include "analyses/merge/loop_rows.h"

#include "base/arrays/sort_order.h"
#include "model/observed/loops.h"
#include "model/profile.h"

void lode_loop_rows_add(
	LodeProfile *merged, const LodeProfile *source, const uint32_t *instructions)
{
	for (guint i = 0; i < source->loops->len; i++) {
		LodeLoop row = lode_loop_within_time(source, &LODE_AT(source->loops, LodeLoop, i));
		row.head = instructions[row.head];
		row.recurrence = lode_profile_intern(merged, row.recurrence);
		row.other_recurrence = lode_profile_intern(merged, row.other_recurrence);
		row.iteration_source = lode_profile_intern(merged, row.iteration_source);
		if (row.head != LODE_NONE)
			g_array_append_val(merged->loops, row);
	}
}

LODE_ORDER(compare_heads, LodeLoop, LODE_ASCENDING(head))

static double mean(double a, double b, double share)
{
	return a < 0 || b < 0 ? -1 : a * (1 - share) + b * share;
}

/* The times of different runs, on machines of different speed, are no one time. */
static void add_up(LodeLoop *sum, const LodeLoop *row)
{
	double iterations = sum->iterations + row->iterations;
	double share = iterations > 0 ? row->iterations / iterations : 0;

	if (row->recurrence_cycles > sum->recurrence_cycles)
		sum->recurrence = row->recurrence;
	if (row->other_cycles > sum->other_cycles)
		sum->other_recurrence = row->other_recurrence;
	sum->iterations = iterations;
	sum->weight = sum->weight < 0 || row->weight < 0 ? -1 : sum->weight + row->weight;
	sum->instructions = mean(sum->instructions, row->instructions, share);
	sum->calls = mean(sum->calls, row->calls, share);
	sum->unmodelled = mean(sum->unmodelled, row->unmodelled, share);
	sum->recurrence_cycles = mean(sum->recurrence_cycles, row->recurrence_cycles, share);
	sum->other_cycles = mean(sum->other_cycles, row->other_cycles, share);
	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		sum->cycles[i] = mean(sum->cycles[i], row->cycles[i], share);
	sum->load_bytes = mean(sum->load_bytes, row->load_bytes, share);
	sum->store_bytes = mean(sum->store_bytes, row->store_bytes, share);
	sum->iteration_ns = sum->iteration_error_ns = -1;
	sum->iteration_source = NULL;
}

void lode_loop_rows_add_up(LodeProfile *merged)
{
	guint n = 0;

	g_array_sort(merged->loops, compare_heads);
	for (guint i = 0; i < merged->loops->len; i++) {
		LodeLoop row = LODE_AT(merged->loops, LodeLoop, i);
		LodeLoop *last = n > 0 ? &LODE_AT(merged->loops, LodeLoop, n - 1) : NULL;
		if (last != NULL && last->head == row.head)
			add_up(last, &row);
		else
			LODE_AT(merged->loops, LodeLoop, n++) = row;
	}
	g_array_set_size(merged->loops, n);
}
