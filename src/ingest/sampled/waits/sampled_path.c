/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a recorded program: what its threads did over time is handed to
 * ingest/waits/critical_path.h, and what that finds to the rows of waits. Rows for one lock, or at
 * one line, have one cause.
 */
#include "ingest/sampled/waits/busy_processors.h"
#include "ingest/sampled/waits/run_time_threads.h"
#include "ingest/sampled/waits/sampled_waits.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/waits/critical_path.h"
#include "ingest/waits/wait_words.h"
#include "model/lines/own_lines.h"
#include "model/process.h"
#include "model/stacks.h"
#include "model/waits.h"

enum { MAX_REPLAYS = 32, MIN_REPLAYS = 4, REPLAYED_INTERVALS = 20000000, MAX_CHILDREN = 64 };

/* Of the path: more that is not known leaves it out; more that waits for work is a program that
 * serves until it is stopped. */
#define MOST_UNKNOWN 0.1
#define MOST_IDLE 0.5

/* For so long at most a process that has closed its pipes goes on to its end. */
#define CLOSING_NS UINT64_C(500000)

/* A process that waits for a child for this part of its time does little else. */
#define MOSTLY_FOR_CHILD 0.5

/* Of the path: the waits of a cause with less are not on it. */
#define LEAST_ON_PATH 0.01

/* Of a thread's waiting: where it waits for work, it does so mostly. */
#define MOSTLY 0.5

typedef struct {
	LodeWaits *waits;
	const LodeWaitTimes *times;
	const LodeThreads *threads;
	GArray *lives;       /* LodePathThread, as those of the times */
	GArray *intervals;   /* LodePathInterval, likewise */
	uint32_t *life_of;   /* of each of the threads; LODE_NONE */
	const bool *are_own; /* each of the threads: a run-time's, which nothing waits for */
	GArray *ended;       /* Ended */
	GArray *pieces;      /* LodePathPiece, of the path; NULL: there is none */
	uint32_t processor_cause;
} Finding;

/* A process's first thread has ended. */
typedef struct {
	uint64_t end_ns;
	uint32_t life;
} Ended;

LODE_ORDER(compare_ended, Ended, LODE_ASCENDING(end_ns), LODE_ASCENDING(life))

static const LodeThread *thread_of(const Finding *self, uint32_t life)
{
	return &LODE_AT(self->threads->threads, LodeThread,
		LODE_AT(self->times->threads, LodeWaitThread, life).thread);
}

/* --- causes --- */

/* The innermost frame of the user's of a stack; where there is none, the innermost. NULL: there are
 * no frames. */
static const LodeFrame *frame_of(const LodeStacks *stacks, uint32_t stack, bool *out_is_own)
{
	const LodeFrame *innermost = NULL;

	*out_is_own = false;
	while (stacks != NULL && stack != LODE_NONE) {
		const LodeStack *row = &LODE_AT(stacks->stacks, LodeStack, stack);
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, row->frame);
		*out_is_own = lode_is_own_frame(frame);
		if (*out_is_own)
			return frame;
		innermost = innermost != NULL ? innermost : frame;
		stack = row->outer;
	}
	return innermost;
}

static char *cause_key(const LodeWait *row, const LodeStacks *stacks)
{
	bool is_own;

	if (row->reason == LODE_WAIT_PROCESSOR || row->reason == LODE_WAIT_UNSEEN)
		return g_strdup_printf("%d", (int)row->reason);
	if (row->reason == LODE_WAIT_LOCK && row->object != NULL)
		return g_strdup_printf("%d %u %s", (int)row->reason, row->pid, row->object);
	const LodeFrame *frame = frame_of(stacks, row->stack, &is_own);
	if (frame == NULL)
		return g_strdup_printf("%d %u %s", (int)row->reason, row->pid,
			row->object != NULL ? row->object : "");
	return g_strdup_printf("%d %s %s %u", (int)row->reason,
		frame->function != NULL ? frame->function : "",
		frame->file != NULL ? frame->file : "", frame->line);
}

static void number_causes(Finding *self, const LodeStacks *stacks)
{
	g_autoptr(GHashTable)
		numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const LodeWaitCause none = {0};

	self->processor_cause = LODE_NONE;
	for (guint i = 0; i < self->waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		char *key = cause_key(row, stacks);
		guint known = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
		if (known == 0) {
			g_array_append_val(self->waits->causes, none);
			known = self->waits->causes->len;
		}
		g_hash_table_replace(numbers, key, GUINT_TO_POINTER(known));
		row->cause = known - 1;
		if (row->reason == LODE_WAIT_PROCESSOR)
			self->processor_cause = row->cause;
	}
}

/* --- what threads did --- */

static void find_lives(Finding *self)
{
	const GArray *threads = self->times->threads;

	self->life_of = g_new(uint32_t, (gsize)self->threads->threads->len + 1);
	for (guint i = 0; i < self->threads->threads->len; i++)
		self->life_of[i] = LODE_NONE;
	for (guint i = 0; i < threads->len; i++)
		self->life_of[LODE_AT(threads, LodeWaitThread, i).thread] = i;
	for (guint i = 0; i < threads->len; i++) {
		const LodeWaitThread *thread = &LODE_AT(threads, LodeWaitThread, i);
		const LodeThread *known = thread_of(self, i);
		uint32_t starter = lode_threads_starter(self->threads, thread->thread);
		LodePathThread life = {thread->begin_ns, thread->end_ns,
			starter != LODE_NONE ? self->life_of[starter] : LODE_NONE, known->pid,
			thread->first, thread->n, known->pid == known->tid};
		const Ended ended = {thread->end_ns, i};
		/* That of the first thread ends the program. */
		if (self->are_own[thread->thread] && !life.is_leader)
			life.n = 0;
		g_array_append_val(self->lives, life);
		if (life.is_leader && known->end_ns != UINT64_MAX)
			g_array_append_val(self->ended, ended);
	}
	g_array_sort(self->ended, compare_ended);
}

/* The child of a thread's process that ended last before a wait for one did, or so long after it at
 * most: its pipe is closed before the kernel tells its end. */
static uint32_t find_child(
	const Finding *self, uint32_t pid, const LodeWaitInterval *wait, uint64_t closing_ns)
{
	const Ended *ended = (const Ended *)(const void *)self->ended->data;
	uint64_t until_ns = wait->end_ns + MIN(closing_ns, UINT64_MAX - wait->end_ns);
	guint n = LODE_PARTITION_POINT(self->ended->len, i, ended[i].end_ns <= until_ns);

	for (guint i = n; i > 0 && n - i < MAX_CHILDREN; i--) {
		const LodePathThread *life = &LODE_AT(
			self->lives, LodePathThread, ended[i - 1].life);
		if (ended[i - 1].end_ns <= wait->begin_ns)
			break;
		if (life->starter != LODE_NONE && life->begin_ns < wait->end_ns &&
			thread_of(self, life->starter)->pid == pid)
			return ended[i - 1].life;
	}
	return LODE_NONE;
}

/* Whether a wait is for a child, or for a signal as that of its end. */
static bool is_for_child(const Finding *self, const LodeWaitInterval *wait)
{
	const char *call = wait->row != LODE_NONE
	                           ? LODE_AT(self->waits->rows, LodeWait, wait->row).call
	                           : NULL;

	return wait->kind == LODE_WAIT_CHILD ||
	       (wait->kind == LODE_WAIT_OTHER && call != NULL && lode_wait_is_for_signal(call));
}

/* Whether no thread of the program ended a wait. What a thread's or process's end ends, as a join,
 * a wait for a child or at its pipe, is after the last event of it; and the kernel keeps back what
 * is sent by connections. */
static bool is_ended_outside(const LodeWaitInterval *wait)
{
	static const bool are_told[LODE_N_WAIT_REASONS] = {
		[LODE_WAIT_LOCK] = true,
		[LODE_WAIT_CONDITION] = true,
		[LODE_WAIT_SLEEP] = true,
		[LODE_WAIT_READ] = true,
		[LODE_WAIT_WRITE] = true,
		[LODE_WAIT_SYNC] = true,
		[LODE_WAIT_PAGE] = true,
	};

	return wait->end == LODE_GAP_END_BY_INTERRUPT ||
	       (wait->end == LODE_GAP_END_BY_NONE && are_told[wait->kind]);
}

static uint32_t ender_of(const Finding *self, uint32_t life, const LodeWaitInterval *wait)
{
	const LodeWaitInterval last = {
		.begin_ns = wait->end_ns - MIN(CLOSING_NS, wait->end_ns), .end_ns = wait->end_ns};
	uint32_t pid = thread_of(self, life)->pid, child = LODE_NONE;

	if (wait->end == LODE_GAP_END_BY_THREAD)
		return wait->other != LODE_NONE ? self->life_of[wait->other] : LODE_NONE;
	if (is_ended_outside(wait))
		return LODE_NONE;
	/* Who was seen at a look need not be who is waited for at another time. A wait that nobody
	 * looked at is for the child with whose end it ends. */
	if (is_for_child(self, wait))
		child = find_child(self, pid, wait, CLOSING_NS);
	else if (wait->kind == LODE_WAIT_UNSEEN)
		child = find_child(self, pid, &last, CLOSING_NS);
	return child == LODE_NONE && wait->other != LODE_NONE ? self->life_of[wait->other] : child;
}

/* A thread that is not of the program ends a wait as a disk does. */
static uint8_t flags_of(const LodeWaitInterval *wait, uint32_t other)
{
	if (wait->end == LODE_GAP_END_BY_THREAD)
		return other != LODE_NONE ? LODE_PATH_EXACT : LODE_PATH_ALONE;
	return is_ended_outside(wait) || wait->is_timed_out ? LODE_PATH_ALONE : 0;
}

static void add_intervals(Finding *self)
{
	for (guint t = 0; t < self->lives->len; t++) {
		const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, t);
		uint64_t until_ns = 0;
		for (uint32_t i = life->first; i < life->first + life->n; i++) {
			const LodeWaitInterval *known = &LODE_AT(
				self->times->intervals, LodeWaitInterval, i);
			LodePathInterval interval = {
				.begin_ns = MAX(known->begin_ns, until_ns),
				.what = LODE_NONE,
				.object = known->object,
				.other = LODE_NONE,
				.kind = known->kind,
			};
			interval.end_ns = until_ns = MAX(known->end_ns, interval.begin_ns);
			if (known->kind != LODE_PATH_RUN) {
				interval.other = ender_of(self, t, known);
				interval.flags = flags_of(known, interval.other);
			}
			if (known->kind == LODE_WAIT_PROCESSOR)
				interval.what = self->processor_cause;
			else if (known->row != LODE_NONE)
				interval.what =
					LODE_AT(self->waits->rows, LodeWait, known->row).cause;
			g_array_append_val(self->intervals, interval);
		}
	}
}

/* The first thread of the process that all others come from; LODE_NONE: its end is not known. */
static uint32_t find_root(const Finding *self)
{
	uint32_t root = LODE_NONE;

	for (guint i = 0; i < self->lives->len; i++) {
		const LodePathThread *life = &LODE_AT(self->lives, LodePathThread, i);
		if (life->is_leader && life->starter == LODE_NONE &&
			(root == LODE_NONE ||
				life->begin_ns <
					LODE_AT(self->lives, LodePathThread, root).begin_ns))
			root = i;
	}
	return root != LODE_NONE && thread_of(self, root)->end_ns != UINT64_MAX ? root : LODE_NONE;
}

/* Whether the first process waited for a child most of its time, and went on before that ended, as
 * timeout(1) does: what it started was stopped, and has no end of its own. */
static bool stops_child(const Finding *self, uint32_t root)
{
	const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, root);
	uint32_t pid = thread_of(self, root)->pid;
	double least_ns = MOSTLY_FOR_CHILD * (double)(life->end_ns - life->begin_ns);

	for (uint32_t i = life->first; i < life->first + life->n; i++) {
		const LodeWaitInterval *wait = &LODE_AT(
			self->times->intervals, LodeWaitInterval, i);
		const LodeWaitInterval rest = {.begin_ns = wait->end_ns, .end_ns = UINT64_MAX};
		if ((double)(wait->end_ns - wait->begin_ns) >= least_ns &&
			is_for_child(self, wait) && find_child(self, pid, wait, 0) == LODE_NONE &&
			find_child(self, pid, &rest, 0) != LODE_NONE)
			return true;
	}
	return false;
}

/* Its waits are for the end of what it is to stop. */
static void set_idle(Finding *self, uint32_t pid)
{
	for (guint i = 0; i < self->waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		if (row->pid == pid && row->reason != LODE_WAIT_PROCESSOR)
			row->is_idle = true;
	}
}

/* --- what was found --- */

/* Gives rows the path's time. Returns how much of it is not known. */
static double charge_rows(Finding *self, const LodeCriticalPath *path)
{
	LodeWaits *waits = self->waits;
	g_autofree double *ready_ns = g_new0(double, (gsize)self->threads->threads->len + 1);
	g_autofree double *all_ns = g_new0(double, (gsize)self->threads->threads->len + 1);
	double unknown_ns = 0;

	for (guint i = 0; i < path->pieces->len; i++) {
		const LodePathPiece *piece = &LODE_AT(path->pieces, LodePathPiece, i);
		double length_ns = (double)(piece->end_ns - piece->begin_ns);
		if (piece->interval == LODE_NONE) {
			unknown_ns += length_ns;
			continue;
		}
		const LodeWaitInterval *interval = &LODE_AT(
			self->times->intervals, LodeWaitInterval, piece->interval);
		if (interval->kind == LODE_WAIT_PROCESSOR)
			ready_ns[LODE_AT(self->times->threads, LodeWaitThread, piece->thread)
					 .thread] += length_ns;
		else if (interval->row != LODE_NONE)
			LODE_AT(waits->rows, LodeWait, interval->row).path_ns += length_ns;
	}
	/* Waits for a processor are rows in proportion. */
	for (int is_second = 0; is_second < 2; is_second++)
		for (guint i = 0; i < waits->rows->len; i++) {
			LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
			if (row->reason != LODE_WAIT_PROCESSOR)
				continue;
			uint32_t thread = lode_threads_look_up(
				self->threads, row->pid, row->tid, path->end_ns);
			if (thread == LODE_NONE)
				continue;
			if (is_second == 0)
				all_ns[thread] += row->waiting_ns;
			else if (all_ns[thread] > 0)
				row->path_ns = ready_ns[thread] * row->waiting_ns / all_ns[thread];
		}
	return unknown_ns;
}

static double idle_on_path(const LodeWaits *waits)
{
	double idle_ns = 0;

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		idle_ns += row->is_idle ? row->path_ns : 0;
	}
	return idle_ns;
}

/* Whether the path goes through a thread that waits for the cause. */
static bool *find_causes_on_path(const Finding *self, const LodeCriticalPath *path)
{
	bool *causes = g_new0(bool, (gsize)self->waits->causes->len + 1);
	g_autofree bool *lives = g_new0(bool, (gsize)self->lives->len + 1);

	for (guint i = 0; i < path->pieces->len; i++)
		lives[LODE_AT(path->pieces, LodePathPiece, i).thread] = true;
	for (guint t = 0; t < self->lives->len; t++) {
		const LodePathThread *life = &LODE_AT(self->lives, LodePathThread, t);
		for (uint32_t i = life->first; lives[t] && i < life->first + life->n; i++) {
			const LodePathInterval *interval = &LODE_AT(
				self->intervals, LodePathInterval, i);
			if (interval->kind != LODE_PATH_RUN && interval->what != LODE_NONE)
				causes[interval->what] = true;
		}
	}
	return causes;
}

static gint64 *sum_key(const LodeWait *row)
{
	gint64 key = (gint64)((uint64_t)row->pid << 32 | row->tid);

	return g_memdup2(&key, sizeof(key));
}

/* Whether others of the program end these waits again and again, for work that goes through them:
 * at a queue without work, a thread waits once, and long. */
static bool is_woken_often(const LodeWait *row, const LodeStacks *stacks)
{
	bool is_own;

	frame_of(stacks, row->stack, &is_own);
	return is_own && row->reason == LODE_WAIT_CONDITION &&
	       row->longest_ns < MOSTLY * row->waiting_ns;
}

/* Whether a thread waits nearly all its life for something to read that does not come, as one that
 * watches for signals by a pipe. */
static bool is_watching(const LodeWait *row, double sum_ns)
{
	return row->longest_ns >= MOSTLY * sum_ns && lode_wait_may_watch(row->reason);
}

/* A thread that mostly waits for a condition, or a timer, waits for work, where neither it nor one
 * like it is on the path, unless it is woken often; so does one that watches. Waiting that the path
 * goes through is not for work. */
static void find_idle(Finding *self, const LodeCriticalPath *path, const LodeStacks *stacks)
{
	LodeWaits *waits = self->waits;
	double least_ns = LEAST_ON_PATH * (double)(path->end_ns - path->begin_ns);
	g_autofree bool *on_path = find_causes_on_path(self, path);
	g_autoptr(GHashTable)
		sums = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		gint64 *key = sum_key(row);
		const double *known = g_hash_table_lookup(sums, key);
		double sum = (known != NULL ? *known : 0) + row->waiting_ns;
		g_hash_table_replace(sums, key, g_memdup2(&sum, sizeof(sum)));
	}
	for (guint i = 0; i < waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		g_autofree gint64 *key = sum_key(row);
		const double *sum = g_hash_table_lookup(sums, key);
		if (lode_run_time_threads_have(self->threads, self->are_own, row))
			continue;
		bool may_be = row->reason == LODE_WAIT_CONDITION ||
		              row->reason == LODE_WAIT_SLEEP || is_watching(row, *sum);
		if (path->causes[row->cause].high_ns >= least_ns)
			row->is_idle = false;
		else if (may_be && !on_path[row->cause] && row->waiting_ns >= MOSTLY * *sum &&
			 !is_woken_often(row, stacks))
			row->is_idle = true;
	}
}

static void take_path(Finding *self, const LodeCriticalPath *path, const LodeStacks *stacks)
{
	LodeWaits *waits = self->waits;
	double length_ns = (double)(path->end_ns - path->begin_ns);
	double unknown_ns = charge_rows(self, path);

	if (unknown_ns > MOST_UNKNOWN * length_ns || idle_on_path(waits) > MOST_IDLE * length_ns) {
		for (guint i = 0; i < waits->rows->len; i++)
			LODE_AT(waits->rows, LodeWait, i).path_ns = 0;
		return;
	}
	waits->has_path = true;
	self->pieces = g_array_ref(path->pieces);
	waits->path_running_ns = path->running_ns;
	waits->path_sure = path->sure;
	waits->path_threads = path->threads;
	for (guint i = 0; i < waits->causes->len; i++)
		LODE_AT(waits->causes, LodeWaitCause, i) = (LodeWaitCause){
			path->causes[i].high_ns, path->causes[i].low_ns};
	find_idle(self, path, stacks);
}

static LodePathInput input_of(const Finding *self, uint32_t main_process)
{
	return (LodePathInput){
		.threads = (const LodePathThread *)(const void *)self->lives->data,
		.intervals = (const LodePathInterval *)(const void *)self->intervals->data,
		.n_threads = self->lives->len,
		.n_intervals = self->intervals->len,
		.n_objects = self->times->n_objects,
		.n_causes = self->waits->causes->len,
		.n_processors = lode_busy_processors_count(
			self->times, LODE_AT(self->times->threads, LodeWaitThread, 0).recording),
		.main_process = main_process,
	};
}

static void find_path(Finding *self, const LodeStacks *stacks)
{
	find_lives(self);
	uint32_t root = find_root(self);
	if (root == LODE_NONE) {
		lode_service_waits_find_idle(self->waits, self->times, self->threads);
		add_intervals(self);
		const LodePathInput all = input_of(self, 0);
		lode_awaited_waits_find(self->waits, self->times, &all);
		return;
	}
	if (stops_child(self, root)) {
		set_idle(self, thread_of(self, root)->pid);
		return;
	}
	number_causes(self, stacks);
	add_intervals(self);
	const LodePathInput input = input_of(
		self, LODE_AT(self->lives, LodePathThread, root).process);
	uint32_t n_replays = CLAMP(
		REPLAYED_INTERVALS / MAX(input.n_intervals, 1), MIN_REPLAYS, MAX_REPLAYS);
	g_autoptr(LodeCriticalPath) path = lode_critical_path_new(&input, n_replays);
	if (path != NULL && path->end_ns > path->begin_ns)
		take_path(self, path, stacks);
	if (self->waits->has_path)
		return;
	lode_service_waits_find_idle(self->waits, self->times, self->threads);
	g_array_set_size(self->waits->causes, 0);
	for (guint i = 0; i < self->waits->rows->len; i++)
		LODE_AT(self->waits->rows, LodeWait, i).cause = LODE_NONE;
}

void lode_sampled_path_find(LodeWaits *waits, const LodeWaitTimes *times,
	const LodeThreads *threads, const bool *are_own, const LodeStacks *stacks)
{
	Finding self = {.waits = waits, .times = times, .threads = threads, .are_own = are_own};

	for (guint i = 0; i < times->threads->len; i++)
		if (LODE_AT(times->threads, LodeWaitThread, i).recording !=
			LODE_AT(times->threads, LodeWaitThread, 0).recording)
			return;
	if (times->is_full || times->threads->len == 0)
		return;
	self.lives = g_array_new(FALSE, FALSE, sizeof(LodePathThread));
	self.intervals = g_array_new(FALSE, FALSE, sizeof(LodePathInterval));
	self.ended = g_array_new(FALSE, FALSE, sizeof(Ended));
	find_path(&self, stacks);
	lode_program_times_find(waits, times, threads, self.pieces);
	lode_wait_slices_find(waits, times, threads, self.pieces);
	g_clear_pointer(&self.pieces, g_array_unref);
	g_array_unref(self.lives);
	g_array_unref(self.intervals);
	g_array_unref(self.ended);
	g_free(self.life_of);
}
