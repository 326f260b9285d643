/* SPDX-License-Identifier: MIT */
/*
 * What a thread did that others waited for at a condition, where there is no path that would lead
 * there: if it mostly waited for a file itself, that is told of their waits as of a lock's holder.
 *
 *   backend 1   ━━╌ condition ╌╌╌╌╌╌╌━━
 *   backend 2   ━━━━╌╌ fdatasync ╌╌━╯       wakes it
 */
#include "ingest/sampled/waits/sampled_waits.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sum_table.h"
#include "ingest/waits/wait_enders.h"
#include "model/index.h"
#include "model/waits.h"

/* Of a wait, and of the waiting of a row. */
#define MOSTLY 0.5

typedef struct {
	LodeWaits *waits;
	const LodeWaitTimes *times;
	const LodePathInput *input;
} Awaited;

static bool is_for_file(uint32_t kind)
{
	return kind == LODE_WAIT_SYNC || kind == LODE_WAIT_READ || kind == LODE_WAIT_WRITE;
}

/* The row of the waits for files that a thread was in for most of a time; LODE_NONE: none. */
static uint32_t file_row(const Awaited *self, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	const LodePathThread *life = &self->input->threads[thread];
	const LodePathInterval *intervals = self->input->intervals + life->first;
	uint32_t first = LODE_PARTITION_POINT(life->n, i, intervals[i].end_ns <= begin_ns);
	double sum_ns = 0, most_ns = 0;
	uint32_t row = LODE_NONE;

	for (uint32_t i = first; i < life->n && intervals[i].begin_ns < end_ns; i++) {
		const LodeWaitInterval *known = &LODE_AT(
			self->times->intervals, LodeWaitInterval, life->first + i);
		double length_ns = (double)(MIN(intervals[i].end_ns, end_ns) -
					    MAX(intervals[i].begin_ns, begin_ns));
		if (!is_for_file(known->kind) || known->row == LODE_NONE)
			continue;
		sum_ns += length_ns;
		row = length_ns > most_ns ? known->row : row;
		most_ns = MAX(most_ns, length_ns);
	}
	return sum_ns >= MOSTLY * (double)(end_ns - begin_ns) ? row : LODE_NONE;
}

/* Adds up, by row of waits and row of files, how long the former waited for the latter. */
static void sum_thread(
	const Awaited *self, const LodeWaitEnders *enders, uint32_t number, GHashTable *sums)
{
	const LodePathThread *life = &self->input->threads[number];

	for (uint32_t i = life->first; i < life->first + life->n; i++) {
		const LodeWaitInterval *wait = &LODE_AT(
			self->times->intervals, LodeWaitInterval, i);
		uint32_t ender = enders->enders[i].ender;
		if (wait->kind != LODE_WAIT_CONDITION || wait->row == LODE_NONE ||
			ender == LODE_NONE)
			continue;
		uint32_t row = file_row(self, ender, wait->begin_ns, wait->end_ns);
		const uint64_t key = (uint64_t)wait->row << 32 | row;
		if (row != LODE_NONE)
			*lode_sum_at_copy(
				sums, &key, sizeof(key)) += (double)(wait->end_ns - wait->begin_ns);
	}
}

void lode_awaited_waits_find(
	LodeWaits *waits, const LodeWaitTimes *times, const LodePathInput *input)
{
	const Awaited self = {waits, times, input};
	g_autoptr(LodeWaitEnders) enders = lode_wait_enders_new(input);
	g_autoptr(GHashTable)
		sums = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	g_autofree double *lengths_ns = g_new0(double, (gsize)waits->rows->len + 1);
	GHashTableIter at;
	void *key, *value;

	for (uint32_t i = 0; i < input->n_threads; i++)
		sum_thread(&self, enders, i, sums);
	for (guint i = 0; i < times->intervals->len; i++) {
		const LodeWaitInterval *wait = &LODE_AT(times->intervals, LodeWaitInterval, i);
		if (wait->row != LODE_NONE)
			lengths_ns[wait->row] += (double)(wait->end_ns - wait->begin_ns);
	}
	g_hash_table_iter_init(&at, sums);
	while (g_hash_table_iter_next(&at, &key, &value)) {
		uint64_t pair = *(const uint64_t *)key;
		LodeWait *row = &LODE_AT(waits->rows, LodeWait, (uint32_t)(pair >> 32));
		const LodeWait *file = &LODE_AT(waits->rows, LodeWait, (uint32_t)pair);
		double share = *(const double *)value / lengths_ns[pair >> 32];
		/* More than half have one row at most. */
		if (row->is_idle || share <= MOSTLY)
			continue;
		row->holder_stack = file->stack;
		row->holder_call = file->call;
		row->holder_share = MIN(share, 1);
	}
}
