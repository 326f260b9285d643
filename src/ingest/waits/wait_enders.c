/* SPDX-License-Identifier: MIT */
/*
 * Waits at one object that end together wait for each other here, too: they are judged when the
 * first wait there ends that does not belong to them. What only the usual waker can tell is judged
 * at the end, when it is known who ran how often when waits at the object ended.
 */
#include "ingest/waits/wait_enders.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/waits/time_heap.h"
#include "model/index.h"

#include <stdlib.h>

enum {
	TOGETHER_NS =
		50000, /* ends of waits within it are one broadcast; a waker wakes within it */
	MAX_READY_NS = 10000000, /* for so long at most a waker is looked for where all processors
	                            were busy */
	MAX_RUNNERS = 16,
	N_RECENT = 64,
	N_OWNERS = 4,
	N_USUAL = 4,
	MAX_DELAY_NS = (1 << 28) - 1,
};

/* A waker ran at more ends of waits at an object than by chance, by this share of them. */
#define LEAST_LIFT 0.05

/* One that ran at so many more is the waker also where it ran earlier in the wait: other programs
 * had the processors until the thread that waited ran. */
#define SURE_LIFT 0.5

/* A thread that ran, or had until then. */
typedef struct {
	uint64_t until_ns;
	uint32_t thread;
} Runner;

typedef struct {
	uint32_t thread, count;
} Usual;

typedef struct {
	Runner owners[N_OWNERS];     /* of a lock: since when; the last one first */
	Usual usual[N_USUAL];        /* who ran when waits here ended */
	Runner runners[MAX_RUNNERS]; /* when the first wait of the open group ended */
	uint64_t first_end_ns;       /* of the group */
	uint32_t first_member;       /* LODE_NONE: no group is open */
	uint32_t n_runners;          /* more than MAX_RUNNERS: not all are kept */
	uint32_t n_ends;
} Object;

/* A wait of a group. */
typedef struct {
	uint64_t ready_ns;
	uint32_t interval, thread;
	uint32_t next; /* of the group, or of those free for use */
} Member;

typedef struct {
	uint64_t run_begin_ns, last_end_ns; /* of running; last 0: it did not yet */
	uint32_t at;                        /* the next interval */
	uint32_t slot;                      /* among those that run; LODE_NONE: it does not */
	bool begins;                        /* what comes next is the beginning of a run */
} Follower;

typedef struct {
	const LodePathInput *input;
	LodeWaitEnders *out;
	LodeTimeHeap heap;
	Follower *followers;
	Object *objects;
	uint32_t *running; /* threads */
	uint32_t n_running;
	Runner recent[N_RECENT]; /* those that stopped, a ring */
	uint32_t n_recent;
	uint64_t low_since_ns;  /* fewer threads than processors run since */
	uint64_t busy_since_ns; /* all processors are busy, but for short gaps */
	uint64_t full_since_ns; /* without gaps */
	GArray *participants;   /* of objects: object << 32 | thread, sorted */
	GArray *members;        /* Member */
	uint32_t free_member;
	GArray *pending;    /* LodeLockWait, of any reason */
	uint32_t *group_of; /* by thread: the group that it was last a member of */
	uint32_t n_groups;
	uint64_t begin_ns, end_ns;
} Sweep;

bool lode_wait_ends_alone(const LodePathInterval *wait)
{
	static const bool reasons[LODE_N_WAIT_REASONS] = {
		[LODE_WAIT_SLEEP] = true,
		[LODE_WAIT_SYNC] = true,
		[LODE_WAIT_PAGE] = true,
		[LODE_WAIT_PROCESSOR] = true,
		[LODE_WAIT_STOPPED] = true,
	};

	return (wait->flags & LODE_PATH_ALONE) != 0 || reasons[wait->kind];
}

static bool has_object(const Sweep *self, const LodePathInterval *wait)
{
	return wait->object < self->input->n_objects;
}

/* Of waits that are judged with those that end at the same time. */
static bool is_grouped(const Sweep *self, const LodePathInterval *wait)
{
	return wait->kind < LODE_N_WAIT_REASONS && wait->kind != LODE_WAIT_LOCK &&
	       has_object(self, wait) && !lode_wait_ends_alone(wait) && wait->other == LODE_NONE;
}

static void find_participants(Sweep *self)
{
	const LodePathInput *input = self->input;
	g_autofree uint32_t *seen = g_new0(uint32_t, (gsize)input->n_objects + 1);

	for (uint32_t t = 0; t < input->n_threads; t++) {
		const LodePathThread *thread = &input->threads[t];
		for (uint32_t i = thread->first; i < thread->first + thread->n; i++) {
			const LodePathInterval *wait = &input->intervals[i];
			if (!is_grouped(self, wait) || seen[wait->object] == t + 1)
				continue;
			seen[wait->object] = t + 1;
			uint64_t pair = (uint64_t)wait->object << 32 | t;
			g_array_append_val(self->participants, pair);
		}
	}
	if (self->participants->len > 1)
		qsort(self->participants->data, self->participants->len, sizeof(uint64_t),
			lode_compare_u64);
}

static bool is_participant(const Sweep *self, uint32_t object, uint32_t thread)
{
	const uint64_t *pairs = (const uint64_t *)(const void *)self->participants->data;
	uint64_t pair = (uint64_t)object << 32 | thread;
	guint at = LODE_PARTITION_POINT(self->participants->len, i, pairs[i] < pair);

	return at < self->participants->len && pairs[at] == pair;
}

/* The end of what a thread ran before a time; 0: it did not. */
static uint64_t last_ran(const Sweep *self, uint32_t thread, uint64_t time_ns)
{
	const Follower *follower = &self->followers[thread];

	return follower->slot != LODE_NONE && follower->run_begin_ns < time_ns
	               ? time_ns
	               : follower->last_end_ns;
}

/* Since when a thread that runs from `time_ns` on could have run, had there been a processor. */
static uint64_t ready_since(const Sweep *self, uint64_t time_ns)
{
	bool is_free = self->n_running < self->input->n_processors &&
	               time_ns - self->low_since_ns > TOGETHER_NS;

	return is_free ? time_ns : MIN(self->busy_since_ns, time_ns);
}

/* Those that ran shortly before a thread's wait ended, and may have ended it. */
static uint32_t find_runners(
	const Sweep *self, uint32_t waiter, uint64_t time_ns, Runner out[MAX_RUNNERS])
{
	uint64_t from_ns = MAX(
		ready_since(self, time_ns), time_ns > MAX_READY_NS ? time_ns - MAX_READY_NS : 0);
	uint32_t n = 0;

	from_ns = from_ns > TOGETHER_NS ? from_ns - TOGETHER_NS : 0;
	for (uint32_t i = 0; i < self->n_running; i++) {
		uint32_t thread = self->running[i];
		if (thread == waiter || self->followers[thread].run_begin_ns >= time_ns)
			continue;
		if (n < MAX_RUNNERS)
			out[n] = (Runner){time_ns, thread};
		n++;
	}
	for (uint32_t back = 1; back <= MIN(self->n_recent, N_RECENT); back++) {
		Runner runner = self->recent[(self->n_recent - back) % N_RECENT];
		if (runner.until_ns < from_ns)
			break;
		bool is_known = runner.thread == waiter;
		for (uint32_t i = 0; i < MIN(n, MAX_RUNNERS) && !is_known; i++)
			is_known = out[i].thread == runner.thread;
		if (is_known)
			continue;
		if (n < MAX_RUNNERS)
			out[n] = runner;
		n++;
	}
	return n;
}

static void decide(
	Sweep *self, uint32_t interval, uint64_t ready_ns, Runner ender, LodePathRule rule)
{
	LodeWaitEnder *out = &self->out->enders[interval];
	uint64_t delay_ns = ready_ns > ender.until_ns ? ready_ns - ender.until_ns : 0;

	out->at_ns = ender.until_ns;
	out->ender = ender.thread;
	out->delay_ns = MIN(delay_ns, MAX_DELAY_NS) & MAX_DELAY_NS;
	out->rule = (unsigned)rule & 15;
}

static void decide_alone(Sweep *self, uint32_t interval)
{
	self->out->enders[interval] = (LodeWaitEnder){
		.ender = LODE_NONE, .rule = LODE_PATH_RULE_SELF};
}

/* False: it did not run while the other waited, so it cannot have ended that. */
static bool decide_known(
	Sweep *self, uint32_t interval, uint64_t ready_ns, uint32_t thread, LodePathRule rule)
{
	const LodePathInterval *wait = &self->input->intervals[interval];
	Runner ender = {last_ran(self, thread, wait->end_ns), thread};

	if (ender.until_ns <= wait->begin_ns)
		return false;
	decide(self, interval, ready_ns, ender, rule);
	return true;
}

/* Decided when all is known. */
static void put_off(Sweep *self, uint32_t interval, uint32_t waiter, uint64_t ready_ns)
{
	const LodeLockWait pending = {ready_ns, interval, waiter};

	g_array_append_val(self->pending, pending);
}

static void count_runners(Object *object, const Runner *runners, uint32_t n)
{
	object->n_ends++;
	for (uint32_t i = 0; i < MIN(n, MAX_RUNNERS); i++) {
		Usual *least = &object->usual[0], *found = NULL;
		for (uint32_t k = 0; k < N_USUAL && found == NULL; k++) {
			Usual *usual = &object->usual[k];
			if (usual->count > 0 && usual->thread == runners[i].thread)
				found = usual;
			else if (usual->count < least->count)
				least = usual;
		}
		/* The frequent ones stay (Misra, Gries: "Finding repeated elements", 1982). */
		if (found != NULL)
			found->count++;
		else if (least->count == 0)
			*least = (Usual){runners[i].thread, 1};
		else
			least->count--;
	}
}

/* The usual waker by probes, if it is among those that ran. */
static const Runner *find_probed(
	const Sweep *self, uint32_t object, const Runner *runners, uint32_t n)
{
	const LodePathWaker *wakers = self->input->wakers;
	size_t first = LODE_PARTITION_POINT(self->input->n_wakers, i, wakers[i].object < object);
	const Runner *best = NULL;
	double best_share = 0;

	for (size_t i = first; i < self->input->n_wakers && wakers[i].object == object; i++)
		for (uint32_t k = 0; k < MIN(n, MAX_RUNNERS); k++)
			if (runners[k].thread == wakers[i].thread && wakers[i].share > best_share) {
				best = &runners[k];
				best_share = wakers[i].share;
			}
	return best;
}

/* Rules 5 to 7, by those that ran then. */
static void decide_by_runners(Sweep *self, uint32_t interval, uint32_t waiter, uint64_t ready_ns,
	const Runner *runners, uint32_t n)
{
	const LodePathInterval *wait = &self->input->intervals[interval];
	const Runner *probed = has_object(self, wait) ? find_probed(self, wait->object, runners, n)
	                                              : NULL;

	if (probed != NULL && probed->until_ns > wait->begin_ns)
		decide(self, interval, ready_ns, *probed, LODE_PATH_RULE_USUAL);
	else if (n == 1 && runners[0].until_ns > wait->begin_ns)
		decide(self, interval, ready_ns, runners[0], LODE_PATH_RULE_ONLY);
	else if (n != 1 && has_object(self, wait))
		put_off(self, interval, waiter, ready_ns);
	else
		decide_alone(self, interval);
}

/* Rule 3: those that had the lock, the last first, which ran while the other waited; at best until
 * it could go on. A look says who had it in between. */
static bool decide_lock(Sweep *self, uint32_t interval, uint32_t waiter, uint64_t ready_ns)
{
	const LodePathInterval *wait = &self->input->intervals[interval];
	const Object *object = &self->objects[wait->object];
	Runner order[N_OWNERS + 1];
	uint32_t n = 0;
	bool is_seen = wait->other < self->input->n_threads && wait->other != waiter;

	for (uint32_t i = 0; i < N_OWNERS && object->owners[i].thread != LODE_NONE; i++) {
		if (is_seen && object->owners[i].until_ns <= wait->begin_ns) {
			order[n++] = (Runner){0, wait->other};
			is_seen = false;
		}
		if (object->owners[i].thread != waiter)
			order[n++] = object->owners[i];
		if (n > N_OWNERS)
			break;
	}
	if (is_seen && n <= N_OWNERS)
		order[n++] = (Runner){0, wait->other};
	uint64_t near_ns = MIN(ready_ns, wait->end_ns);
	near_ns = near_ns > TOGETHER_NS ? near_ns - TOGETHER_NS : 0;
	for (uint32_t i = 0; i < n; i++)
		if (last_ran(self, order[i].thread, wait->end_ns) >= near_ns &&
			decide_known(
				self, interval, ready_ns, order[i].thread, LODE_PATH_RULE_LOCK))
			return true;
	for (uint32_t i = 0; i < n; i++)
		if (decide_known(self, interval, ready_ns, order[i].thread, LODE_PATH_RULE_LOCK))
			return true;
	return false;
}

static void note_owner(Object *object, uint32_t thread, uint64_t time_ns)
{
	uint32_t at = 0;

	while (at < N_OWNERS - 1 && object->owners[at].thread != thread &&
		object->owners[at].thread != LODE_NONE)
		at++;
	for (; at > 0; at--)
		object->owners[at] = object->owners[at - 1];
	object->owners[0] = (Runner){time_ns, thread};
}

/* Rule 4: the thread that came last. It is one of those that wait here at other times, and ran; or
 * it waited hardly at all. False: not known. */
static bool find_last_to_arrive(Sweep *self, uint32_t number, Runner *out)
{
	const Object *object = &self->objects[number];
	Runner shortest = {0, LODE_NONE};
	uint32_t n_found = 0;

	self->n_groups++;
	for (uint32_t i = object->first_member; i != LODE_NONE;) {
		const Member *member = &LODE_AT(self->members, Member, i);
		uint64_t since_ns = self->input->intervals[member->interval].begin_ns;
		self->group_of[member->thread] = self->n_groups;
		if (since_ns >= shortest.until_ns && since_ns < object->first_end_ns)
			shortest = (Runner){since_ns, member->thread};
		i = member->next;
	}
	for (uint32_t k = 0; k < MIN(object->n_runners, MAX_RUNNERS); k++) {
		const Runner *runner = &object->runners[k];
		if (self->group_of[runner->thread] == self->n_groups ||
			!is_participant(self, number, runner->thread))
			continue;
		*out = *runner;
		n_found++;
	}
	if (n_found == 0 && shortest.thread != LODE_NONE &&
		shortest.until_ns + TOGETHER_NS > object->first_end_ns) {
		*out = shortest;
		n_found++;
	}
	return n_found == 1;
}

static void close_group(Sweep *self, uint32_t number)
{
	Object *object = &self->objects[number];
	Runner last = {0, LODE_NONE};

	if (object->first_member == LODE_NONE)
		return;
	count_runners(object, object->runners, object->n_runners);
	bool is_one = LODE_AT(self->members, Member, object->first_member).next == LODE_NONE;
	bool is_known = !is_one && find_last_to_arrive(self, number, &last);
	while (object->first_member != LODE_NONE) {
		Member *member = &LODE_AT(self->members, Member, object->first_member);
		const LodePathInterval *wait = &self->input->intervals[member->interval];
		if (is_known && last.thread != member->thread && last.until_ns > wait->begin_ns)
			decide(self, member->interval, member->ready_ns, last,
				LODE_PATH_RULE_GROUP);
		else
			decide_by_runners(self, member->interval, member->thread, member->ready_ns,
				object->runners, object->n_runners);
		uint32_t next = member->next;
		member->next = self->free_member;
		self->free_member = object->first_member;
		object->first_member = next;
	}
}

static void add_to_group(Sweep *self, uint32_t interval, uint32_t thread, uint64_t ready_ns)
{
	const LodePathInterval *wait = &self->input->intervals[interval];
	Object *object = &self->objects[wait->object];
	Member member = {ready_ns, interval, thread, LODE_NONE};
	uint32_t at = self->free_member;

	if (object->first_member != LODE_NONE && wait->end_ns > object->first_end_ns + TOGETHER_NS)
		close_group(self, wait->object), at = self->free_member;
	if (object->first_member == LODE_NONE) {
		object->first_end_ns = wait->end_ns;
		object->n_runners = find_runners(self, thread, wait->end_ns, object->runners);
	}
	member.next = object->first_member;
	if (at != LODE_NONE) {
		self->free_member = LODE_AT(self->members, Member, at).next;
		LODE_AT(self->members, Member, at) = member;
	} else {
		at = self->members->len;
		g_array_append_val(self->members, member);
	}
	object->first_member = at;
}

static void end_wait(Sweep *self, uint32_t interval, uint32_t thread)
{
	const LodePathInterval *wait = &self->input->intervals[interval];
	uint64_t ready_ns = ready_since(self, wait->end_ns);
	bool is_known = wait->other < self->input->n_threads && wait->other != thread;
	Runner runners[MAX_RUNNERS];

	if (is_grouped(self, wait)) {
		add_to_group(self, interval, thread, ready_ns);
		return;
	}
	if (is_known && (wait->flags & LODE_PATH_EXACT) != 0) {
		if (!decide_known(self, interval, ready_ns, wait->other, LODE_PATH_RULE_WAKER))
			decide_alone(self, interval);
	} else if (lode_wait_ends_alone(wait)) {
		decide_alone(self, interval);
	} else if (wait->kind == LODE_WAIT_LOCK && has_object(self, wait)) {
		if (!decide_lock(self, interval, thread, ready_ns)) {
			uint32_t n = find_runners(self, thread, wait->end_ns, runners);
			count_runners(&self->objects[wait->object], runners, n);
			decide_by_runners(self, interval, thread, ready_ns, runners, n);
		}
	} else if (is_known) {
		if (!decide_known(self, interval, ready_ns, wait->other, LODE_PATH_RULE_OTHER))
			decide_alone(self, interval);
	} else {
		uint32_t n = find_runners(self, thread, wait->end_ns, runners);
		decide_by_runners(self, interval, thread, ready_ns, runners, n);
	}
	if (wait->kind == LODE_WAIT_LOCK && has_object(self, wait)) {
		const LodeLockWait lock_wait = {ready_ns, interval, thread};
		note_owner(&self->objects[wait->object], thread, wait->end_ns);
		g_array_append_val(self->out->lock_waits, lock_wait);
	}
}

static void begin_run(Sweep *self, uint32_t thread, uint64_t time_ns)
{
	Follower *follower = &self->followers[thread];

	if (self->n_running + 1 == self->input->n_processors) {
		self->full_since_ns = time_ns;
		if (time_ns - self->low_since_ns > TOGETHER_NS)
			self->busy_since_ns = time_ns;
	}
	follower->run_begin_ns = time_ns;
	follower->slot = self->n_running;
	self->running[self->n_running++] = thread;
}

static void end_run(Sweep *self, uint32_t thread, uint64_t time_ns)
{
	Follower *follower = &self->followers[thread];
	uint32_t moved = self->running[--self->n_running];

	self->running[follower->slot] = moved;
	self->followers[moved].slot = follower->slot;
	follower->slot = LODE_NONE;
	follower->last_end_ns = time_ns;
	self->out->running_ns[thread] += (double)(time_ns - follower->run_begin_ns);
	self->recent[self->n_recent++ % N_RECENT] = (Runner){time_ns, thread};
	if (self->n_running + 1 == self->input->n_processors) {
		self->low_since_ns = time_ns;
		self->out->busy_ns += (double)(time_ns - self->full_since_ns);
	}
}

/* The thread's next interval that is not empty; NULL: there is none. */
static const LodePathInterval *next_interval(const Sweep *self, uint32_t thread)
{
	Follower *follower = &self->followers[thread];
	const LodePathThread *life = &self->input->threads[thread];

	for (; follower->at < life->first + life->n; follower->at++) {
		const LodePathInterval *next = &self->input->intervals[follower->at];
		if (next->end_ns > next->begin_ns)
			return next;
	}
	return NULL;
}

/* False: nothing comes. */
static bool find_next(const Sweep *self, uint32_t thread, uint64_t *out_ns)
{
	Follower *follower = &self->followers[thread];
	const LodePathInterval *next = next_interval(self, thread);

	if (next == NULL)
		return false;
	follower->begins = next->kind == LODE_PATH_RUN && follower->slot == LODE_NONE;
	*out_ns = follower->begins ? next->begin_ns : next->end_ns;
	return true;
}

/* A thread's interval begins or ends. */
static void step(Sweep *self, uint32_t thread, uint64_t time_ns)
{
	Follower *follower = &self->followers[thread];
	uint32_t number = follower->at;

	if (follower->begins) {
		begin_run(self, thread, time_ns);
		return;
	}
	follower->at++;
	if (self->input->intervals[number].kind != LODE_PATH_RUN) {
		end_wait(self, number, thread);
		return;
	}
	const LodePathInterval *next = next_interval(self, thread);
	if (next == NULL || next->kind != LODE_PATH_RUN || next->begin_ns != time_ns)
		end_run(self, thread, time_ns);
}

static void sweep(Sweep *self)
{
	uint64_t time_ns;

	for (uint32_t t = 0; t < self->input->n_threads; t++) {
		self->followers[t].at = self->input->threads[t].first;
		self->followers[t].slot = LODE_NONE;
		if (find_next(self, t, &time_ns))
			lode_time_heap_add(&self->heap, time_ns, t);
	}
	self->begin_ns = self->heap.n > 0 ? self->heap.entries[0].time_ns : 0;
	while (self->heap.n > 0) {
		LodeTimeEntry first = self->heap.entries[0];
		step(self, first.thread, first.time_ns);
		self->end_ns = first.time_ns;
		if (find_next(self, first.thread, &time_ns))
			lode_time_heap_put_off(&self->heap, time_ns);
		else
			lode_time_heap_take(&self->heap);
	}
	for (uint32_t i = 0; i < self->input->n_objects; i++)
		close_group(self, i);
}

/* The end of what a thread ran last before a time; 0: nothing. */
static uint64_t look_up_run(const LodePathInput *input, uint32_t thread, uint64_t time_ns)
{
	const LodePathThread *life = &input->threads[thread];
	const LodePathInterval *intervals = input->intervals + life->first;
	uint32_t n = LODE_PARTITION_POINT(life->n, i, intervals[i].begin_ns < time_ns);

	while (n > 0 && (intervals[n - 1].kind != LODE_PATH_RUN ||
				intervals[n - 1].end_ns == intervals[n - 1].begin_ns))
		n--;
	return n > 0 ? MIN(intervals[n - 1].end_ns, time_ns) : 0;
}

/* By how much more often a thread ran when waits at an object ended than at other times. */
static double lift_of(const Sweep *self, const Object *object, const Usual *usual)
{
	double all_ns = MAX((double)(self->end_ns - self->begin_ns), 1);

	return (double)usual->count / (double)MAX(object->n_ends, 1) -
	       self->out->running_ns[usual->thread] / all_ns;
}

/* Rule 5 without probes. */
static void decide_by_usual(Sweep *self, const LodeLockWait *pending)
{
	const LodePathInterval *wait = &self->input->intervals[pending->interval];
	const Object *object = &self->objects[wait->object];
	uint64_t from_ns = MIN(pending->ready_ns, wait->end_ns);
	Runner best = {0, LODE_NONE}, earlier = {0, LODE_NONE};
	double best_lift = LEAST_LIFT, earlier_lift = SURE_LIFT;

	from_ns = MAX(from_ns > TOGETHER_NS ? from_ns - TOGETHER_NS : 0, wait->begin_ns);
	for (uint32_t k = 0; k < N_USUAL; k++) {
		const Usual *usual = &object->usual[k];
		if (usual->count == 0 || usual->thread == pending->thread)
			continue;
		double lift = lift_of(self, object, usual);
		uint64_t until_ns = look_up_run(self->input, usual->thread, wait->end_ns);
		if (lift > best_lift && until_ns > from_ns) {
			best_lift = lift;
			best = (Runner){until_ns, usual->thread};
		}
		if (lift > earlier_lift && until_ns > wait->begin_ns) {
			earlier_lift = lift;
			earlier = (Runner){until_ns, usual->thread};
		}
	}
	if (best.thread == LODE_NONE)
		best = earlier;
	if (best.thread != LODE_NONE)
		decide(self, pending->interval, pending->ready_ns, best, LODE_PATH_RULE_USUAL);
	else
		decide_alone(self, pending->interval);
}

static void sweep_init(Sweep *self, const LodePathInput *input, LodeWaitEnders *out)
{
	*self = (Sweep){.input = input, .out = out, .free_member = LODE_NONE};
	lode_time_heap_init(&self->heap, input->n_threads);
	self->followers = g_new0(Follower, (gsize)input->n_threads + 1);
	self->running = g_new(uint32_t, (gsize)input->n_threads + 1);
	self->group_of = g_new0(uint32_t, (gsize)input->n_threads + 1);
	self->objects = g_new0(Object, (gsize)input->n_objects + 1);
	for (uint32_t i = 0; i < input->n_objects; i++) {
		self->objects[i].first_member = LODE_NONE;
		for (uint32_t k = 0; k < N_OWNERS; k++)
			self->objects[i].owners[k].thread = LODE_NONE;
	}
	self->participants = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->members = g_array_new(FALSE, FALSE, sizeof(Member));
	self->pending = g_array_new(FALSE, FALSE, sizeof(LodeLockWait));
}

static void sweep_clear(Sweep *self)
{
	lode_time_heap_clear(&self->heap);
	g_free(self->followers);
	g_free(self->running);
	g_free(self->group_of);
	g_free(self->objects);
	g_array_unref(self->participants);
	g_array_unref(self->members);
	g_array_unref(self->pending);
}

LodeWaitEnders *lode_wait_enders_new(const LodePathInput *input)
{
	LodeWaitEnders *self = g_new0(LodeWaitEnders, 1);
	Sweep all;

	self->enders = g_new0(LodeWaitEnder, (gsize)input->n_intervals + 1);
	self->lock_waits = g_array_new(FALSE, FALSE, sizeof(LodeLockWait));
	self->running_ns = g_new0(double, (gsize)input->n_threads + 1);
	sweep_init(&all, input, self);
	find_participants(&all);
	sweep(&all);
	for (guint i = 0; i < all.pending->len; i++)
		decide_by_usual(&all, &LODE_AT(all.pending, LodeLockWait, i));
	sweep_clear(&all);
	return self;
}

void lode_wait_enders_free(LodeWaitEnders *self)
{
	if (self == NULL)
		return;
	g_free(self->enders);
	g_array_unref(self->lock_waits);
	g_free(self->running_ns);
	g_free(self);
}
