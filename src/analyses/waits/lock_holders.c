/* SPDX-License-Identifier: MIT */
/*
 * Who holds a lock that does not say so, as Java's monitors: a thread that waits for something else
 * inside of the function where others wait for the lock has entered it.
 *
 *   Thread-1  lock at deposit()                     Thread-2  sleep at audit() ◀ deposit() ◀ work()
 */
#include "analyses/waits/wait_groups.h"
#include "model/index.h"
#include "model/process.h"
#include "model/stacks.h"
#include "model/waits.h"

/* Of the time that each thread waits for the lock: others wait so long inside. */
static const double LEAST = 0.3;

static bool is_called_by(const LodeStacks *stacks, uint32_t stack, const char *function)
{
	while (stack < stacks->stacks->len) {
		const LodeStack *at = &LODE_AT(stacks->stacks, LodeStack, stack);
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, at->frame);
		if (g_strcmp0(frame->function, function) == 0)
			return true;
		stack = at->outer;
	}
	return false;
}

/* The part of a group's waiting that is inside of a function. */
static double inside_ns(
	const LodeProfile *profile, const LodeWaitGroup *group, const char *function)
{
	const LodeStacks *stacks = lode_stacks_of(profile);
	const LodeWaits *waits = lode_waits_of(profile);
	double sum = 0;

	for (guint i = 0; i < group->rows->len; i++) {
		const LodeWait *row = &LODE_AT(
			waits->rows, LodeWait, LODE_AT(group->rows, uint32_t, i));
		sum += is_called_by(stacks, row->stack, function) ? row->waiting_ns : 0;
	}
	return sum;
}

static bool may_hold(const LodeWaitGroup *group)
{
	return !group->is_idle && group->place.function != NULL &&
	       (group->reason == LODE_WAIT_SLEEP || group->reason == LODE_WAIT_SOCKET ||
		       group->reason == LODE_WAIT_READ || group->reason == LODE_WAIT_WRITE ||
		       group->reason == LODE_WAIT_SYNC || group->reason == LODE_WAIT_PIPE ||
		       group->reason == LODE_WAIT_POLL || group->reason == LODE_WAIT_CHILD);
}

void lode_wait_groups_find_holders(GArray *groups, const LodeProfile *profile)
{
	const LodeStacks *stacks = lode_stacks_of(profile);

	for (guint i = 0; stacks != NULL && i < groups->len; i++) {
		LodeWaitGroup *lock = &g_array_index(groups, LodeWaitGroup, i);
		double most = LEAST * lock->waiting_ns / MAX(g_hash_table_size(lock->threads), 1);
		if (lock->reason != LODE_WAIT_LOCK || lock->holder_share > 0 ||
			lock->place.function == NULL)
			continue;
		for (guint k = 0; k < groups->len; k++) {
			const LodeWaitGroup *other = lode_wait_group_at(groups, k);
			double inside = may_hold(other)
			                        ? inside_ns(profile, other, lock->place.function)
			                        : 0;
			if (inside <= most)
				continue;
			most = inside;
			lock->holder = other->place;
			lock->holder_call = other->reason == LODE_WAIT_SLEEP ? "nanosleep"
			                    : other->call != NULL            ? other->call
			                                                     : "a system call";
			lock->is_holder_inferred = true;
			lock->holder_share = 1;
		}
	}
}
