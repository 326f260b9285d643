/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "base/arrays/sum_table.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"

/* Of the waiting for others: what these wait for themselves is worth a diagnosis of its own. */
static const double SOME = 0.1;

static bool does_wait(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle, uint32_t thread)
{
	const LodeStackThread *row = &LODE_AT(
		self->profile->stacks->threads, LodeStackThread, thread);
	uint64_t key = (uint64_t)row->pid << 32 | row->tid;

	return g_hash_table_contains(bundle->threads, &key);
}

/* The function of the user's with most samples in other threads, and of it the line with most. */
static LodeWaitRuns find_by_samples(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const LodeStacks *stacks = self->profile->stacks;
	uint32_t event = lode_wait_sampled_event(self);
	g_autoptr(GHashTable) functions = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_autoptr(GHashTable) lines = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	LodeWaitRuns most = {0};
	double all = 0, best = 0, line = 0;

	for (guint i = 0; stacks != NULL && i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != event || does_wait(self, bundle, sample->thread))
			continue;
		LodeWaitPlace place = lode_wait_place_of(self->profile, self->own, sample->stack);
		all += sample->weight;
		if (place.function == NULL)
			continue;
		double *sum = lode_sum_at(functions, place.function);
		*sum += sample->weight;
		if (*sum > best) {
			best = *sum;
			most.place = place;
		}
	}
	const char *function = most.place.function;
	for (guint i = 0; function != NULL && i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		LodeWaitPlace place = {0};
		if (sample->event == event && !does_wait(self, bundle, sample->thread))
			place = lode_wait_place_of(self->profile, self->own, sample->stack);
		if (place.function != function)
			continue;
		double *sum = lode_sum_at(lines, GUINT_TO_POINTER(place.line));
		*sum += sample->weight;
		if (*sum > line) {
			line = *sum;
			most.place = place;
		}
	}
	most.share = all > 0 ? best / all : 0;
	return most;
}

LodeWaitRuns lode_wait_find_running(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const LodeWaitGroup *first = bundle->first;

	if (first->holder_share > 0 && first->holder.function != NULL && first->holder_call == NULL)
		return (LodeWaitRuns){first->holder, first->holder_share};
	return find_by_samples(self, bundle);
}

const LodeWaitGroup *lode_wait_find_other(
	const GArray *groups, const LodeWaitBundle *bundle, double least)
{
	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		GHashTableIter iter;
		void *key;
		bool is_other = !group->is_idle && group->reason != LODE_WAIT_UNSEEN &&
		                group->waiting_ns >= least * bundle->most_ns;
		g_hash_table_iter_init(&iter, group->threads);
		while (is_other && g_hash_table_iter_next(&iter, &key, NULL))
			is_other = !g_hash_table_contains(bundle->threads, key);
		if (is_other)
			return group;
	}
	return NULL;
}

/* What threads did that do not wait here. */
typedef struct {
	double ran_ns; /* or could have */
	double waited_ns;
} Meanwhile;

static Meanwhile sum_meanwhile(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *times = self->profile->thread_times;
	Meanwhile sum = {0};

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *row = &LODE_AT(times, LodeThreadTime, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		sum.ran_ns += g_hash_table_contains(bundle->threads, &key) ? 0 : row->running_ns;
	}
	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		if (!row->is_idle && !g_hash_table_contains(bundle->threads, &key))
			*(row->reason == LODE_WAIT_PROCESSOR ? &sum.ran_ns
							     : &sum.waited_ns) += row->waiting_ns;
	}
	return sum;
}

/* Whether the threads that are waited for wait for a lock in turn, which is told itself: the work
 * is divided among them already. */
static bool is_for_divided(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	for (guint i = 0; i < self->bundles->len; i++) {
		const LodeWaitBundle *lock = lode_wait_bundle_at(self, i);
		if (lock->first->reason == LODE_WAIT_LOCK && lode_wait_bundle_is_known(lock) &&
			lock->high >= LODE_LEAST_BY_CLOCK && g_hash_table_size(lock->threads) > 1 &&
			lock->waiting_ns >= LODE_WAIT_MOSTLY * bundle->most_ns)
			return true;
	}
	return false;
}

bool lode_wait_bundle_is_for_waiting(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle, const GArray *groups)
{
	if (!lode_wait_bundle_is_serial(bundle))
		return false;
	if (is_for_divided(self, bundle))
		return true;
	if (lode_wait_find_other(groups, bundle, SOME) == NULL)
		return false;
	const Meanwhile sum = sum_meanwhile(self, bundle);
	return sum.ran_ns < LODE_WAIT_MOSTLY * bundle->most_ns &&
	       sum.waited_ns >= LODE_WAIT_MOSTLY * bundle->most_ns;
}
