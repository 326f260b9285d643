/* SPDX-License-Identifier: MIT */
/*
 * Time in a thread is its recorded time: how far it has come. A thread that waits for another one
 * waits until that has come to a recorded time. Locks are taken and given back where marks say it.
 */
#include "ingest/waits/critical_path.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/waits/time_heap.h"
#include "ingest/waits/wait_enders.h"
#include "model/index.h"

#include <math.h>
#include <stdlib.h>

enum {
	SLICE_NS = 4000000, /* after which a thread lets another one run */
	START_NS = 50000, /* of the time from its start to its first run: more is for a processor */
	MAX_STEPS_BACK = 64,
	MAX_TIES = 10000,
};

/* A hold is longer than what others saw of it by this at most. */
#define MOST_UNSEEN 10

/* A thread takes or gives back a lock. */
typedef struct {
	uint64_t time_ns;
	uint32_t thread, object;
	uint32_t hold;
	enum { TAKES, IS_IN_THE_MIDDLE, GIVES } kind;
} Mark;

typedef enum {
	WAITS_TO_START,
	IS_READY, /* for a processor */
	RUNS,
	WAITS_FOR_TIME,
	WAITS_FOR_THREAD,
	WAITS_FOR_LOCK,
	WAITS_TO_TAKE, /* a lock that it took at once, in what was recorded */
	HAS_ENDED,
} State;

/* Thread lists are linked through the threads: each is in one at most. */
typedef struct {
	uint32_t first, last;
} Queue;

typedef struct {
	uint64_t local_ns;           /* recorded time to which it has come */
	uint64_t run_ns, run_end_ns; /* of its run now: recorded begin and end */
	uint64_t run_since_ns;       /* replayed begin */
	uint64_t dispatched_ns;      /* replayed time since which it has its processor */
	double scale;                /* of its run */
	uint64_t needed_ns;          /* what it waits for: recorded time of another thread */
	uint64_t watched_ns;         /* the first such time of those that wait for it */
	Queue watchers;
	uint32_t next;     /* in a list */
	uint32_t interval; /* that it is in, or before */
	uint32_t mark;     /* the next one */
	State state;
	bool has_processor;
} Player;

typedef struct {
	Queue queue;
	uint32_t owner;
} Lock;

struct LodePathReplay {
	const LodePathInput *input;
	LodeWaitEnders *enders;
	GArray *marks;        /* Mark, by thread and time */
	uint32_t *first_mark; /* of each thread, and one more */
	uint32_t *lock_cause; /* of each object: of its waits; LODE_NONE: it is no lock */
	bool *is_lock;        /* of each cause */
	uint32_t last;
	uint64_t begin_ns, end_ns;
	double whole_ns; /* replayed without a change */

	/* Of one replay. */
	const LodePathChange *change;
	LodeTimeHeap heap;
	Player *players;
	Lock *locks;
	Queue ready;
	uint64_t *required_ns; /* to which each thread must come before the end */
	uint32_t n_required;
	uint32_t n_free; /* processors */
	uint64_t now_ns;
};

static void push(LodePathReplay *self, Queue *queue, uint32_t thread)
{
	self->players[thread].next = LODE_NONE;
	if (queue->first == LODE_NONE)
		queue->first = thread;
	else
		self->players[queue->last].next = thread;
	queue->last = thread;
}

static uint32_t pop(LodePathReplay *self, Queue *queue)
{
	uint32_t first = queue->first;

	if (first != LODE_NONE)
		queue->first = self->players[first].next;
	return first;
}

/* Holds */

typedef struct {
	uint64_t taken_ns, given_ns; /* of its last hold that is known; taken 0: by no wait */
	uint32_t hold;               /* that began with its wait: its index */
	uint32_t object;             /* that this is of */
} Holder;

/* A condition gives its lock back while a thread waits for it: the hold began after that. */
static uint64_t after_conditions(
	const LodePathInput *input, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	const LodePathThread *life = &input->threads[thread];
	const LodePathInterval *intervals = input->intervals + life->first;
	uint32_t n = LODE_PARTITION_POINT(life->n, i, intervals[i].begin_ns < end_ns);

	for (uint32_t steps = 0; n > 0 && steps < MAX_STEPS_BACK; n--, steps++) {
		if (intervals[n - 1].end_ns <= begin_ns)
			break;
		if (intervals[n - 1].kind == LODE_WAIT_CONDITION)
			return MAX(begin_ns, intervals[n - 1].end_ns);
	}
	return begin_ns;
}

/* The ender of a wait had the lock until then: since its own wait, where nobody else had it in
 * between; else since the other waits, at least. */
static void add_hold(GArray *holds, const LodePathInput *input, Holder *holders,
	const LodeLockWait *lock_wait, const LodeWaitEnder *ender, uint32_t last_taker)
{
	const LodePathInterval *wait = &input->intervals[lock_wait->interval];
	Holder *holder = &holders[ender->ender];
	uint64_t end_ns = CLAMP(lock_wait->ready_ns, wait->begin_ns + 1, ender->at_ns);
	uint64_t seen_ns = end_ns - wait->begin_ns;
	uint64_t begin_ns = wait->begin_ns > 0 ? wait->begin_ns - 1 : 0;

	if (holder->object != wait->object + 1)
		*holder = (Holder){0, 0, LODE_NONE, wait->object + 1};
	if (holder->hold != LODE_NONE && last_taker == ender->ender &&
		(holder->taken_ns > wait->begin_ns ||
			(wait->begin_ns - holder->taken_ns) / MOST_UNSEEN <= seen_ns)) {
		LodePathHold *hold = &LODE_AT(holds, LodePathHold, holder->hold);
		end_ns = MAX(end_ns, hold->begin_ns);
		hold->begin_ns = after_conditions(input, ender->ender, hold->begin_ns, end_ns);
		hold->end_ns = end_ns;
	} else {
		begin_ns = MAX(begin_ns, holder->given_ns);
		begin_ns = after_conditions(input, ender->ender, begin_ns, end_ns);
		const LodePathHold hold = {begin_ns, end_ns, wait->object, ender->ender};
		if (begin_ns < end_ns)
			g_array_append_val(holds, hold);
	}
	holder->hold = LODE_NONE;
	holder->given_ns = end_ns;
}

static void infer_holds_of(GArray *holds, const LodePathInput *input, Holder *holders,
	const LodeWaitEnder *enders, const LodeLockWait *waits, uint32_t n)
{
	uint32_t last_taker = LODE_NONE;

	for (uint32_t i = 0; i < n; i++) {
		const LodePathInterval *wait = &input->intervals[waits[i].interval];
		const LodeWaitEnder *ender = &enders[waits[i].interval];
		if (ender->ender != LODE_NONE)
			add_hold(holds, input, holders, &waits[i], ender, last_taker);
		/* Until others wait for its end, its hold has no length. */
		const LodePathHold hold = {
			wait->end_ns, wait->end_ns, wait->object, waits[i].thread};
		Holder *holder = &holders[waits[i].thread];
		uint64_t given_ns = holder->object == wait->object + 1 ? holder->given_ns : 0;
		*holder = (Holder){wait->end_ns, given_ns, holds->len, wait->object + 1};
		g_array_append_val(holds, hold);
		last_taker = waits[i].thread;
	}
}

/* By object; those of one stay in the order of their ends. */
static LodeLockWait *sort_lock_waits(const LodePathReplay *self, uint32_t *first)
{
	const GArray *waits = self->enders->lock_waits;
	LodeLockWait *sorted = g_new(LodeLockWait, (gsize)waits->len + 1);

	for (guint i = 0; i < waits->len; i++)
		first[self->input->intervals[LODE_AT(waits, LodeLockWait, i).interval].object +
			1]++;
	for (uint32_t i = 0; i < self->input->n_objects; i++)
		first[i + 1] += first[i];
	g_autofree uint32_t *next = g_memdup2(
		first, sizeof(uint32_t) * (self->input->n_objects + 1));
	for (guint i = 0; i < waits->len; i++) {
		LodeLockWait wait = LODE_AT(waits, LodeLockWait, i);
		sorted[next[self->input->intervals[wait.interval].object]++] = wait;
	}
	return sorted;
}

static GArray *infer_holds(const LodePathReplay *self)
{
	const LodePathInput *input = self->input;
	GArray *holds = g_array_new(FALSE, FALSE, sizeof(LodePathHold));
	g_autofree uint32_t *first = g_new0(uint32_t, (gsize)input->n_objects + 1);
	g_autofree LodeLockWait *waits = sort_lock_waits(self, first);
	g_autofree Holder *holders = g_new0(Holder, (gsize)input->n_threads + 1);
	g_autofree bool *is_known = g_new0(bool, (gsize)input->n_objects + 1);

	for (size_t i = 0; i < input->n_holds; i++)
		if (input->holds[i].object < input->n_objects &&
			input->holds[i].thread < input->n_threads) {
			is_known[input->holds[i].object] = true;
			g_array_append_val(holds, input->holds[i]);
		}
	for (uint32_t i = 0; i < input->n_objects; i++)
		if (!is_known[i] && first[i] < first[i + 1])
			infer_holds_of(holds, input, holders, self->enders->enders,
				waits + first[i], first[i + 1] - first[i]);
	return holds;
}

/* A lock is given back before the next one is taken; a hold without length is taken first. */
LODE_ORDER(compare_marks, Mark, LODE_ASCENDING(thread), LODE_ASCENDING(time_ns),
	left->hold == right->hold ? LODE_ASCENDING(kind) : LODE_DESCENDING(kind),
	LODE_ASCENDING(hold))

static void make_marks(LodePathReplay *self)
{
	g_autoptr(GArray) holds = infer_holds(self);
	uint32_t n_threads = self->input->n_threads, at = 0;

	self->marks = g_array_sized_new(FALSE, FALSE, sizeof(Mark), 3 * holds->len);
	for (guint i = 0; i < holds->len; i++) {
		const LodePathHold *hold = &LODE_AT(holds, LodePathHold, i);
		uint64_t middle_ns = hold->begin_ns + (hold->end_ns - hold->begin_ns) / 2;
		const Mark marks[] = {{hold->begin_ns, hold->thread, hold->object, i, TAKES},
			{middle_ns, hold->thread, hold->object, i, IS_IN_THE_MIDDLE},
			{hold->end_ns, hold->thread, hold->object, i, GIVES}};
		g_array_append_vals(self->marks, marks, 3);
	}
	if (self->marks->len > 1)
		qsort(self->marks->data, self->marks->len, sizeof(Mark), compare_marks);
	self->first_mark = g_new0(uint32_t, (gsize)n_threads + 1);
	for (uint32_t t = 0; t <= n_threads; t++) {
		while (at < self->marks->len && LODE_AT(self->marks, Mark, at).thread < t)
			at++;
		self->first_mark[t] = at;
	}
}

static void find_locks(LodePathReplay *self)
{
	const LodePathInput *input = self->input;

	self->lock_cause = g_new(uint32_t, (gsize)input->n_objects + 1);
	self->is_lock = g_new0(bool, (gsize)input->n_causes + 1);
	memset(self->lock_cause, 0xff, sizeof(uint32_t) * input->n_objects);
	for (guint i = 0; i < self->enders->lock_waits->len; i++) {
		const LodePathInterval *wait =
			&input->intervals[LODE_AT(self->enders->lock_waits, LodeLockWait, i)
						  .interval];
		if (wait->what >= input->n_causes)
			continue;
		self->lock_cause[wait->object] = wait->what;
		self->is_lock[wait->what] = true;
	}
}

/* One replay */

static bool is_removed(const LodePathReplay *self, uint32_t cause)
{
	return cause != LODE_NONE && cause == self->change->removed;
}

static void set_off(LodePathReplay *self, uint32_t thread, uint64_t length_ns)
{
	self->players[thread].state = WAITS_FOR_TIME;
	lode_time_heap_add(&self->heap, self->now_ns + length_ns, thread);
}

static void give_up_processor(LodePathReplay *self, uint32_t thread)
{
	if (!self->players[thread].has_processor)
		return;
	self->players[thread].has_processor = false;
	self->n_free++;
}

/* When a thread comes to a recorded time that its run now includes. */
static uint64_t time_of(const Player *player, uint64_t local_ns)
{
	return player->run_since_ns +
	       (uint64_t)((double)(local_ns - player->run_ns) * player->scale);
}

/* Those that wait for a time until `local_ns` go on when the thread comes to it. */
static void wake_watchers(LodePathReplay *self, Player *player, uint64_t local_ns)
{
	Queue all = player->watchers;
	uint32_t thread;

	if (player->watched_ns > local_ns)
		return;
	player->watchers = (Queue){LODE_NONE, LODE_NONE};
	player->watched_ns = UINT64_MAX;
	while ((thread = pop(self, &all)) != LODE_NONE) {
		Player *watcher = &self->players[thread];
		if (watcher->needed_ns > local_ns) {
			push(self, &player->watchers, thread);
			player->watched_ns = MIN(player->watched_ns, watcher->needed_ns);
			continue;
		}
		uint64_t time_ns = player->state == RUNS && watcher->needed_ns > player->run_ns
		                           ? time_of(player, watcher->needed_ns)
		                           : self->now_ns;
		lode_time_heap_add(&self->heap, MAX(time_ns, self->now_ns), thread);
	}
}

/* True: the other one is there; else the thread goes on when it is. */
static bool has_come(LodePathReplay *self, uint32_t thread, uint32_t other, uint64_t local_ns)
{
	Player *player = &self->players[other];

	if (player->local_ns >= local_ns || player->state == HAS_ENDED)
		return true;
	self->players[thread].needed_ns = local_ns;
	if (player->state == RUNS && local_ns <= player->run_end_ns) {
		uint64_t time_ns = local_ns > player->run_ns ? time_of(player, local_ns)
		                                             : self->now_ns;
		if (time_ns <= self->now_ns)
			return true;
		lode_time_heap_add(&self->heap, time_ns, thread);
	} else {
		push(self, &player->watchers, thread);
		player->watched_ns = MIN(player->watched_ns, local_ns);
	}
	return false;
}

/* Whether an object is a lock in this replay. */
static bool is_lock(const LodePathReplay *self, uint32_t object)
{
	return self->change->removed == LODE_NONE ||
	       self->lock_cause[object] != self->change->removed;
}

/* True: the thread has it now. */
static bool take_lock(LodePathReplay *self, uint32_t thread, uint32_t object)
{
	Lock *lock = &self->locks[object];

	if (lock->owner == LODE_NONE)
		lock->owner = thread;
	if (lock->owner == thread)
		return true;
	push(self, &lock->queue, thread);
	return false;
}

static void give_lock(LodePathReplay *self, uint32_t thread, uint32_t object)
{
	Lock *lock = &self->locks[object];

	if (lock->owner != thread)
		return;
	lock->owner = pop(self, &lock->queue);
	if (lock->owner != LODE_NONE)
		lode_time_heap_add(&self->heap, self->now_ns, lock->owner);
}

/* The thread's next mark that means something in this replay; NULL: there is none. */
static const Mark *next_mark(const LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];

	for (; player->mark < self->first_mark[thread + 1]; player->mark++) {
		const Mark *mark = &LODE_AT(self->marks, Mark, player->mark);
		bool is_halved = self->change->halved != LODE_NONE &&
		                 self->lock_cause[mark->object] == self->change->halved;
		if (is_lock(self, mark->object) &&
			(mark->kind == TAKES || (mark->kind == IS_IN_THE_MIDDLE) == is_halved))
			return mark;
	}
	return NULL;
}

/* False: the thread waits for a lock that it takes while it runs. */
static bool pass_marks(LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];
	const Mark *mark;

	while ((mark = next_mark(self, thread)) != NULL && mark->time_ns <= player->local_ns) {
		if (mark->kind != TAKES) {
			give_lock(self, thread, mark->object);
		} else if (!take_lock(self, thread, mark->object)) {
			player->state = WAITS_TO_TAKE;
			give_up_processor(self, thread);
			return false;
		}
		player->mark++;
	}
	return true;
}

/* A thread that must be where it is now before the end, is there. */
static void check_required(LodePathReplay *self, uint32_t thread)
{
	if (self->required_ns[thread] == 0 ||
		(self->players[thread].local_ns < self->required_ns[thread] &&
			self->players[thread].state != HAS_ENDED))
		return;
	self->required_ns[thread] = 0;
	self->n_required--;
}

static void require(LodePathReplay *self, uint32_t thread, uint64_t local_ns)
{
	if (self->players[thread].local_ns >= local_ns || self->players[thread].state == HAS_ENDED)
		return;
	self->n_required += self->required_ns[thread] == 0;
	self->required_ns[thread] = MAX(self->required_ns[thread], local_ns);
}

static void end_player(LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];

	give_up_processor(self, thread);
	player->state = HAS_ENDED;
	for (uint32_t i = player->mark; i < self->first_mark[thread + 1]; i++)
		give_lock(self, thread, LODE_AT(self->marks, Mark, i).object);
	wake_watchers(self, player, UINT64_MAX);
	check_required(self, thread);
}

/* An interval, or the gap before it, is over. */
static void come_to(LodePathReplay *self, uint32_t thread, uint64_t local_ns)
{
	Player *player = &self->players[thread];

	player->local_ns = MAX(player->local_ns, local_ns);
	if (player->watched_ns <= player->local_ns)
		wake_watchers(self, player, player->local_ns);
}

/* True: the wait is over at once. */
static bool begin_wait(LodePathReplay *self, uint32_t thread, uint32_t number)
{
	Player *player = &self->players[thread];
	const LodePathInterval *wait = &self->input->intervals[number];
	const LodeWaitEnder *ender = &self->enders->enders[number];

	if (is_removed(self, wait->what)) {
		if (ender->ender != LODE_NONE && wait->kind != LODE_WAIT_LOCK)
			require(self, ender->ender, ender->at_ns);
		return true;
	}
	if (wait->kind == LODE_WAIT_PROCESSOR) {
		if (player->has_processor && self->ready.first != LODE_NONE)
			give_up_processor(self, thread);
		return true;
	}
	bool is_at_lock = wait->kind == LODE_WAIT_LOCK && wait->object < self->input->n_objects;
	if (is_at_lock && !is_lock(self, wait->object))
		return true;
	if (ender->ender == LODE_NONE) {
		give_up_processor(self, thread);
		set_off(self, thread, wait->end_ns - wait->begin_ns);
		return false;
	}
	player->state = is_at_lock ? WAITS_FOR_LOCK : WAITS_FOR_THREAD;
	bool goes_on = is_at_lock ? take_lock(self, thread, wait->object)
	                          : has_come(self, thread, ender->ender, ender->at_ns);
	if (!goes_on)
		give_up_processor(self, thread);
	return goes_on;
}

/* The wait that the thread is in has ended: until it runs, it takes as long as it did. */
static void end_wait(LodePathReplay *self, uint32_t thread)
{
	const Player *player = &self->players[thread];

	set_off(self, thread, self->enders->enders[player->interval].delay_ns);
}

static void begin_run(LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];
	const LodePathInterval *run = &self->input->intervals[player->interval];
	uint64_t end_ns = MIN(run->end_ns, self->end_ns);
	const double *scales = self->change->place_scale;
	const Mark *mark = next_mark(self, thread);

	if (mark != NULL)
		end_ns = MIN(end_ns, mark->time_ns);
	player->state = RUNS;
	player->scale = scales != NULL && run->what < self->input->n_places ? scales[run->what] : 1;
	player->run_ns = player->local_ns;
	player->run_end_ns = end_ns;
	player->run_since_ns = self->now_ns;
	lode_time_heap_add(&self->heap, time_of(player, end_ns), thread);
	wake_watchers(self, player, end_ns);
}

/* True: the thread has a processor, for as long as others do not wait for it too long. */
static bool get_processor(LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];

	if (player->has_processor && self->ready.first != LODE_NONE &&
		self->now_ns - player->dispatched_ns >= SLICE_NS)
		give_up_processor(self, thread);
	if (player->has_processor)
		return true;
	if (self->n_free > 0 && self->ready.first == LODE_NONE) {
		self->n_free--;
		player->has_processor = true;
		player->dispatched_ns = self->now_ns;
		return true;
	}
	player->state = IS_READY;
	push(self, &self->ready, thread);
	return false;
}

/* Goes on until the thread runs, waits or ends. */
static void go_on(LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];
	const LodePathThread *life = &self->input->threads[thread];
	uint32_t end = life->first + life->n;

	player->state = IS_READY;
	for (;;) {
		if (!pass_marks(self, thread))
			return;
		while (player->interval < end &&
			self->input->intervals[player->interval].end_ns <= player->local_ns)
			player->interval++;
		check_required(self, thread);
		if (player->interval == end || player->local_ns >= self->end_ns ||
			self->input->intervals[player->interval].begin_ns >= self->end_ns) {
			end_player(self, thread);
			return;
		}
		const LodePathInterval *next = &self->input->intervals[player->interval];
		if (next->begin_ns > player->local_ns) {
			uint64_t gap_ns = next->begin_ns - player->local_ns;
			bool is_first = player->interval == life->first;
			give_up_processor(self, thread);
			set_off(self, thread, is_first ? MIN(gap_ns, START_NS) : gap_ns);
			return;
		}
		if (next->kind == LODE_PATH_RUN) {
			if (get_processor(self, thread))
				begin_run(self, thread);
			return;
		}
		if (!begin_wait(self, thread, player->interval))
			return;
		come_to(self, thread, next->end_ns);
	}
}

/* What the thread was set off for, or what it waited for, is over. */
static void awake(LodePathReplay *self, uint32_t thread)
{
	Player *player = &self->players[thread];
	const LodePathThread *life = &self->input->threads[thread];
	const LodePathInterval *interval = &self->input->intervals[player->interval];
	bool is_inside = player->interval < life->first + life->n &&
	                 interval->begin_ns <= player->local_ns;

	switch (player->state) {
	case RUNS:
		come_to(self, thread, player->run_end_ns);
		break;
	case WAITS_FOR_TIME:
		come_to(self, thread, is_inside ? interval->end_ns : interval->begin_ns);
		break;
	case WAITS_FOR_LOCK:
	case WAITS_FOR_THREAD:
		end_wait(self, thread);
		return;
	case WAITS_TO_START:
		player->local_ns = life->begin_ns;
		break;
	case WAITS_TO_TAKE:
	case IS_READY:
		break;
	case HAS_ENDED:
		return;
	}
	go_on(self, thread);
}

static void dispatch(LodePathReplay *self)
{
	while (self->n_free > 0 && self->ready.first != LODE_NONE) {
		uint32_t thread = pop(self, &self->ready);
		Player *player = &self->players[thread];
		self->n_free--;
		player->has_processor = true;
		player->dispatched_ns = self->now_ns;
		begin_run(self, thread);
	}
}

static void leave_queue(LodePathReplay *self, Queue *queue, uint32_t thread)
{
	Queue all = *queue;
	uint32_t next;

	*queue = (Queue){LODE_NONE, LODE_NONE};
	while ((next = pop(self, &all)) != LODE_NONE)
		if (next != thread)
			push(self, queue, next);
}

static void stop_waiting(LodePathReplay *self, uint32_t thread)
{
	const Player *player = &self->players[thread];
	uint32_t other = self->input->threads[thread].starter;
	uint32_t object = LODE_NONE;

	if (player->state == WAITS_FOR_LOCK)
		object = self->input->intervals[player->interval].object;
	else if (player->state == WAITS_TO_TAKE)
		object = LODE_AT(self->marks, Mark, player->mark).object;
	else if (player->state == WAITS_FOR_THREAD)
		other = self->enders->enders[player->interval].ender;
	if (object == LODE_NONE) {
		leave_queue(self, &self->players[other].watchers, thread);
		return;
	}
	leave_queue(self, &self->locks[object].queue, thread);
	self->locks[object].owner = thread;
}

/* Where all wait for each other, as what was inferred is wrong somewhere, the one that is back
 * farthest goes on. False: none waits. */
static bool untie(LodePathReplay *self)
{
	uint32_t first = LODE_NONE;

	for (uint32_t t = 0; t < self->input->n_threads; t++) {
		const Player *player = &self->players[t];
		bool waits = player->state == WAITS_FOR_LOCK || player->state == WAITS_TO_TAKE ||
		             player->state == WAITS_FOR_THREAD || player->state == WAITS_TO_START;
		if (waits &&
			(first == LODE_NONE || player->local_ns < self->players[first].local_ns))
			first = t;
	}
	if (first == LODE_NONE)
		return false;
	stop_waiting(self, first);
	lode_time_heap_add(&self->heap, self->now_ns, first);
	return true;
}

static void begin_replay(LodePathReplay *self, const LodePathChange *change)
{
	const LodePathInput *input = self->input;

	self->change = change;
	self->now_ns = 0;
	self->n_free = MAX(input->n_processors, 1);
	self->n_required = 0;
	self->ready = (Queue){LODE_NONE, LODE_NONE};
	lode_time_heap_init(&self->heap, input->n_threads);
	self->players = g_new0(Player, (gsize)input->n_threads + 1);
	self->locks = g_new(Lock, (gsize)input->n_objects + 1);
	self->required_ns = g_new0(uint64_t, (gsize)input->n_threads + 1);
	for (uint32_t i = 0; i < input->n_objects; i++)
		self->locks[i] = (Lock){{LODE_NONE, LODE_NONE}, LODE_NONE};
	for (uint32_t t = 0; t < input->n_threads; t++)
		self->players[t] = (Player){.local_ns = input->threads[t].begin_ns,
			.watched_ns = UINT64_MAX,
			.watchers = {LODE_NONE, LODE_NONE},
			.interval = input->threads[t].first,
			.mark = self->first_mark[t],
			.state = WAITS_TO_START};
	for (uint32_t t = 0; t < input->n_threads; t++) {
		const LodePathThread *thread = &input->threads[t];
		bool has_starter = thread->starter < input->n_threads && thread->starter != t;
		uint64_t since_ns = MAX(thread->begin_ns, self->begin_ns) - self->begin_ns;
		if (!has_starter)
			lode_time_heap_add(&self->heap, since_ns, t);
		else if (has_come(self, t, thread->starter, thread->begin_ns))
			lode_time_heap_add(&self->heap, 0, t);
	}
}

static void end_replay(LodePathReplay *self)
{
	lode_time_heap_clear(&self->heap);
	g_clear_pointer(&self->players, g_free);
	g_clear_pointer(&self->locks, g_free);
	g_clear_pointer(&self->required_ns, g_free);
}

double lode_path_replay_run(LodePathReplay *self, const LodePathChange *change)
{
	uint32_t n_tied = 0;

	begin_replay(self, change);
	while (self->players[self->last].state != HAS_ENDED || self->n_required > 0) {
		if (self->heap.n == 0 && (++n_tied > MAX_TIES || !untie(self)))
			break;
		LodeTimeEntry next = lode_time_heap_take(&self->heap);
		self->now_ns = MAX(next.time_ns, self->now_ns);
		awake(self, next.thread);
		dispatch(self);
	}
	double length_ns = n_tied > MAX_TIES ? INFINITY : (double)self->now_ns;
	end_replay(self);
	return length_ns;
}

double lode_path_replay_saves(LodePathReplay *self, const LodePathChange *change)
{
	double now_ns = MIN(self->whole_ns, (double)(self->end_ns - self->begin_ns));

	return MAX(now_ns - lode_path_replay_run(self, change), 0);
}

double lode_path_replay_whole(const LodePathReplay *self)
{
	return self->whole_ns;
}

bool lode_path_replay_has_lock(const LodePathReplay *self, uint32_t cause)
{
	return self->is_lock[cause];
}

LodePathReplay *lode_path_replay_new(const LodePathInput *input, LodeWaitEnders *enders,
	uint32_t last, uint64_t begin_ns, uint64_t end_ns)
{
	LodePathReplay *self = g_new0(LodePathReplay, 1);
	const LodePathChange nothing = {.removed = LODE_NONE, .halved = LODE_NONE};

	self->input = input;
	self->enders = enders;
	self->last = last;
	self->begin_ns = begin_ns;
	self->end_ns = end_ns;
	find_locks(self);
	make_marks(self);
	self->whole_ns = lode_path_replay_run(self, &nothing);
	return self;
}

void lode_path_replay_free(LodePathReplay *self)
{
	if (self == NULL)
		return;
	lode_wait_enders_free(self->enders);
	g_array_unref(self->marks);
	g_free(self->first_mark);
	g_free(self->lock_cause);
	g_free(self->is_lock);
	g_free(self);
}
