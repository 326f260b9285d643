/* SPDX-License-Identifier: MIT */
/*
 * Which threads of a service wait for work. It has no end, and so no critical path that would tell
 * what is waited for:
 *
 *   accepts   ╌╌╌━╌╌╌╌╌╌╌╌━╌╌╌╌╌     idle, by what it waits for
 *   worker 1  ╌╌╌╌━━╌╌╌╌╌╌╌╌╌╌╌╌     one condition of several threads: while they wait, nobody
 *   worker 2  ╌╌╌╌╌╌╌╌╌╌╌╌╌━━╌╌╌     else of the process does anything
 *   watches   ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌     nobody wakes it
 */
#include "ingest/sampled/waits/sampled_waits.h"

#include "base/arrays/sum_table.h"
#include "model/process.h"
#include "model/waits.h"

/* Of the clock, and of the waiting. */
#define MOSTLY 0.5

typedef struct {
	LodeWaits *waits;
	const LodeWaitTimes *times;
	const LodeThreads *threads;
} Service;

/* Nobody wakes it for most of the time. */
static void find_unwoken(const Service *self)
{
	for (guint i = 0; i < self->waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		bool may_be = row->reason == LODE_WAIT_CONDITION ||
		              lode_wait_may_watch(row->reason);
		if (may_be && row->longest_ns >= MOSTLY * self->waits->clock_ns)
			row->is_idle = true;
	}
}

/* Whether they wait for the same, in one process. */
static bool is_same(const LodeWait *one, const LodeWait *other)
{
	return one->pid == other->pid && one->reason == other->reason &&
	       (one->object != NULL ? g_strcmp0(one->object, other->object) == 0
				    : other->object == NULL && one->stack == other->stack);
}

/* How long each thread waits for the same as a row, by tid; the longest. The caller unrefs it. */
static GHashTable *find_members(const Service *self, const LodeWait *like, double *out_most_ns)
{
	GHashTable *members = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	*out_most_ns = 0;
	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		if (!is_same(like, row))
			continue;
		double *sum = lode_sum_at(members, GUINT_TO_POINTER(row->tid));
		*sum += row->waiting_ns;
		*out_most_ns = MAX(*out_most_ns, *sum);
	}
	return members;
}

/* What other threads of the process do: run, or wait for something that is not work. */
static double activity_beside(const Service *self, uint32_t pid, GHashTable *members)
{
	double sum_ns = 0;

	for (guint i = 0; i < self->times->threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, i);
		const LodeThread *thread = &LODE_AT(
			self->threads->threads, LodeThread, life->thread);
		if (thread->pid != pid ||
			g_hash_table_contains(members, GUINT_TO_POINTER(thread->tid)))
			continue;
		for (uint32_t k = life->first; k < life->first + life->n; k++) {
			const LodeWaitInterval *one = &LODE_AT(
				self->times->intervals, LodeWaitInterval, k);
			if (one->kind == LODE_SLICE_RUNNING || one->kind == LODE_WAIT_PROCESSOR)
				sum_ns += (double)(one->end_ns - one->begin_ns);
		}
	}
	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		bool is_no_work = row->reason == LODE_WAIT_CONDITION ||
		                  row->reason == LODE_WAIT_JOIN ||
		                  row->reason == LODE_WAIT_PROCESSOR ||
		                  row->reason == LODE_WAIT_UNSEEN;
		if (row->pid == pid && !row->is_idle && !is_no_work &&
			!g_hash_table_contains(members, GUINT_TO_POINTER(row->tid)))
			sum_ns += row->waiting_ns;
	}
	return sum_ns;
}

static bool has_runs(const LodeWaitTimes *times)
{
	for (guint i = 0; i < times->intervals->len; i++)
		if (LODE_AT(times->intervals, LodeWaitInterval, i).kind == LODE_SLICE_RUNNING)
			return true;
	return false;
}

/* Several threads wait for one condition nearly all the time, and while they do nobody else of the
 * process does anything that they could wait for: they are a pool at its empty queue. */
static void find_pools(const Service *self)
{
	/* by looks alone it is not known who runs */
	if (!has_runs(self->times))
		return;
	for (guint i = 0; i < self->waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		double most_ns;
		if (row->is_idle || row->reason != LODE_WAIT_CONDITION ||
			row->waiting_ns < MOSTLY * self->waits->clock_ns)
			continue;
		g_autoptr(GHashTable) members = find_members(self, row, &most_ns);
		if (g_hash_table_size(members) < 2 ||
			activity_beside(self, row->pid, members) >= MOSTLY * most_ns)
			continue;
		for (guint k = i; k < self->waits->rows->len; k++)
			if (is_same(row, &LODE_AT(self->waits->rows, LodeWait, k)))
				LODE_AT(self->waits->rows, LodeWait, k).is_idle = true;
	}
}

void lode_service_waits_find_idle(
	LodeWaits *waits, const LodeWaitTimes *times, const LodeThreads *threads)
{
	const Service self = {waits, times, threads};

	find_unwoken(&self);
	find_pools(&self);
}
