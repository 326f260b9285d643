/* SPDX-License-Identifier: MIT */
#include "ingest/waits/critical_path.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/waits/wait_enders.h"
#include "model/index.h"

#include <stdlib.h>

/* Where all threads are ended at once, this long after the leader, it was the leader that did. */
#define EXIT_NS UINT64_C(10000000)

/* A cause with less of the path than this is not replayed. */
#define LEAST_SHARE 0.005

/* The least part of what replay and path say that less work saves. It saved less than this in 7 %
 * of simulated programs (tests/unit/ingest/waits). */
#define SEEN_SHARE 0.75

typedef struct {
	const LodePathInput *input;
	const LodeWaitEnders *enders;
	LodeCriticalPath *out;
	uint32_t *after; /* of each thread: the intervals before it begin before the path's time */
	uint64_t *reached_ns; /* of each cause: its waits on the path are counted down to here */
	uint32_t thread;
	uint64_t time_ns;
} Walk;

/* The end of what a thread ran last; 0: nothing. */
static uint64_t last_run_end(const LodePathInput *input, const LodePathThread *thread)
{
	for (uint32_t i = thread->first + thread->n; i > thread->first; i--) {
		const LodePathInterval *interval = &input->intervals[i - 1];
		if (interval->kind == LODE_PATH_RUN && interval->end_ns > interval->begin_ns)
			return interval->end_ns;
	}
	return 0;
}

/* The thread that ran last in the main process; LODE_NONE: it never ran. */
static uint32_t find_last(const LodePathInput *input)
{
	uint32_t last = LODE_NONE, leader = LODE_NONE;
	uint64_t last_ns = 0, leader_ns = 0;

	for (uint32_t t = 0; t < input->n_threads; t++) {
		const LodePathThread *thread = &input->threads[t];
		uint64_t end_ns = thread->process == input->main_process
		                          ? last_run_end(input, thread)
		                          : 0;
		if (end_ns > last_ns) {
			last_ns = end_ns;
			last = t;
		}
		if (thread->is_leader && end_ns > leader_ns) {
			leader_ns = end_ns;
			leader = t;
		}
	}
	return leader != LODE_NONE && leader_ns + EXIT_NS >= last_ns ? leader : last;
}

/* Appends the piece that ends where the path is. */
static void add_piece(Walk *self, uint64_t begin_ns, uint32_t interval, LodePathRule rule)
{
	const LodePathPiece piece = {begin_ns, self->time_ns, self->thread, interval, rule};

	g_array_append_val(self->out->pieces, piece);
	self->time_ns = begin_ns;
}

/* What is reached through a wait is the path from its end back to its beginning, once. */
static void count_wait(Walk *self, const LodePathInterval *wait, LodePathRule rule)
{
	LodeCriticalPath *out = self->out;

	out->rule_ns[rule] += (double)(self->time_ns - wait->begin_ns);
	if (wait->what >= self->input->n_causes)
		return;
	uint64_t *reached_ns = &self->reached_ns[wait->what];
	uint64_t until_ns = MIN(self->time_ns, *reached_ns);
	if (until_ns > wait->begin_ns) {
		out->causes[wait->what].high_ns += (double)(until_ns - wait->begin_ns);
		*reached_ns = wait->begin_ns;
	}
}

/* Before its end the thread of a wait was ready for a while; see where the path goes. */
static void add_queue(Walk *self, uint64_t begin_ns)
{
	const LodePathQueue queue = {begin_ns, self->time_ns, 0};

	if (begin_ns < self->time_ns)
		g_array_append_val(self->out->queued, queue);
}

static void go_through_wait(Walk *self, uint32_t number)
{
	const LodePathInterval *wait = &self->input->intervals[number];
	const LodeWaitEnder *ender = &self->enders->enders[number];

	count_wait(self, wait, (LodePathRule)ender->rule);
	if (wait->kind == LODE_WAIT_PROCESSOR)
		add_queue(self, wait->begin_ns);
	else if (ender->ender != LODE_NONE)
		add_queue(self, ender->at_ns + ender->delay_ns);
	if (ender->ender == LODE_NONE) {
		add_piece(self, wait->begin_ns, number, LODE_PATH_RULE_SELF);
		return;
	}
	add_piece(self, MIN(ender->at_ns, self->time_ns), number, (LodePathRule)ender->rule);
	self->thread = ender->ender;
}

/* Before the beginning of a thread there is the one that started it. False: it is the first. */
static bool go_to_starter(Walk *self)
{
	const LodePathInput *input = self->input;
	const LodePathThread *life = &input->threads[self->thread];
	uint32_t starter = life->starter;

	if (starter >= input->n_threads || starter == self->thread)
		return false;
	uint32_t first = input->threads[starter].first, *after = &self->after[starter];
	const LodePathInterval *runs = input->intervals;
	while (*after > first && (runs[*after - 1].begin_ns >= self->time_ns ||
					 runs[*after - 1].kind != LODE_PATH_RUN ||
					 runs[*after - 1].end_ns == runs[*after - 1].begin_ns))
		--*after;
	if (*after == first)
		return false;
	if (runs[*after - 1].end_ns < self->time_ns)
		add_piece(self, runs[*after - 1].end_ns, LODE_NONE, LODE_PATH_RULE_NONE);
	self->thread = starter;
	return true;
}

/* One piece backward. False: the path is at its beginning. */
static bool go_back(Walk *self)
{
	const LodePathThread *life = &self->input->threads[self->thread];
	const LodePathInterval *intervals = self->input->intervals;
	uint32_t *after = &self->after[self->thread];

	while (*after > life->first && intervals[*after - 1].begin_ns >= self->time_ns)
		--*after;
	uint64_t known_ns = *after > life->first ? intervals[*after - 1].end_ns : life->begin_ns;
	if (known_ns < self->time_ns)
		add_piece(self, known_ns, LODE_NONE, LODE_PATH_RULE_NONE);
	if (*after == life->first)
		return go_to_starter(self);
	const LodePathInterval *interval = &intervals[*after - 1];
	if (interval->kind != LODE_PATH_RUN) {
		go_through_wait(self, *after - 1);
	} else {
		self->out->running_ns += (double)(self->time_ns - interval->begin_ns);
		add_piece(self, interval->begin_ns, *after - 1, LODE_PATH_RULE_NONE);
	}
	return true;
}

static void walk(Walk *self)
{
	const LodePathInput *input = self->input;

	self->after = g_new(uint32_t, (gsize)input->n_threads);
	self->reached_ns = g_new(uint64_t, (gsize)input->n_causes + 1);
	for (uint32_t t = 0; t < input->n_threads; t++)
		self->after[t] = input->threads[t].first + input->threads[t].n;
	for (uint32_t i = 0; i < input->n_causes; i++)
		self->reached_ns[i] = UINT64_MAX;
	/* An interval and the gap before it have a piece each: more would be a circle. */
	guint most = 2 * (input->n_intervals + input->n_threads) + 1;
	while (self->out->pieces->len < most && go_back(self))
		;
	self->out->begin_ns = self->time_ns;
	g_free(self->after);
	g_free(self->reached_ns);
}

/* They were found from the last one to the first. */
static void put_in_order(LodeCriticalPath *self)
{
	GArray *pieces = self->pieces, *queued = self->queued;
	uint64_t done_ns = 0;

	for (guint i = 0; i < pieces->len / 2; i++) {
		LodePathPiece *a = &LODE_AT(pieces, LodePathPiece, i);
		LodePathPiece *b = &LODE_AT(pieces, LodePathPiece, pieces->len - 1 - i);
		LodePathPiece other = *a;
		*a = *b;
		*b = other;
	}
	for (guint i = 0; i < queued->len / 2; i++) {
		LodePathQueue *a = &LODE_AT(queued, LodePathQueue, i);
		LodePathQueue *b = &LODE_AT(queued, LodePathQueue, queued->len - 1 - i);
		LodePathQueue other = *a;
		*a = *b;
		*b = other;
	}
	for (guint i = 0; i < queued->len; i++) {
		LodePathQueue *queue = &LODE_AT(queued, LodePathQueue, i);
		done_ns += queue->end_ns - queue->begin_ns;
		queue->done_ns = done_ns;
	}
}

/* How long the path waited for processors until then. */
static uint64_t queued_until(const LodeCriticalPath *self, uint64_t time_ns)
{
	const LodePathQueue *queued = (const LodePathQueue *)(const void *)self->queued->data;
	guint n = LODE_PARTITION_POINT(self->queued->len, i, queued[i].begin_ns < time_ns);

	if (n == 0)
		return 0;
	return queued[n - 1].done_ns - (queued[n - 1].end_ns - MIN(queued[n - 1].end_ns, time_ns));
}

double lode_critical_path_weight(const LodeCriticalPath *self, const LodePathInput *input,
	const LodePathInterval *run, double piece_ns)
{
	uint64_t queued_ns = queued_until(self, run->end_ns) - queued_until(self, run->begin_ns);

	return piece_ns + (double)queued_ns / MAX(input->n_processors, 1);
}

/* Of waits that another thread must have ended; one that ends alone needs nobody. */
static void sum_rules(LodeCriticalPath *self, const LodePathInput *input)
{
	double sure = 0, all = 0;

	for (guint i = 0; i < self->pieces->len; i++) {
		const LodePathPiece *piece = &LODE_AT(self->pieces, LodePathPiece, i);
		if (piece->rule != LODE_PATH_RULE_SELF)
			continue;
		const LodePathInterval *wait = &input->intervals[piece->interval];
		if (lode_wait_ends_alone(wait))
			all -= (double)(piece->end_ns - piece->begin_ns);
	}
	for (int rule = LODE_PATH_RULE_WAKER; rule < LODE_PATH_N_RULES; rule++) {
		all += self->rule_ns[rule];
		if (rule <= LODE_PATH_RULE_GROUP)
			sure += self->rule_ns[rule];
	}
	self->sure = all > 0 ? MIN(sure / all, 1) : 1;
}

static void average_threads(
	LodeCriticalPath *self, const LodePathInput *input, const LodeWaitEnders *enders)
{
	double running_ns = 0;

	for (uint32_t t = 0; t < input->n_threads; t++) {
		const LodePathThread *thread = &input->threads[t];
		running_ns += enders->running_ns[t];
		/* What ran after the end, or before the beginning. */
		for (uint32_t i = thread->first + thread->n; i > thread->first; i--) {
			const LodePathInterval *interval = &input->intervals[i - 1];
			if (interval->end_ns <= self->end_ns)
				break;
			if (interval->kind == LODE_PATH_RUN)
				running_ns -= (double)(interval->end_ns -
						       MAX(interval->begin_ns, self->end_ns));
		}
	}
	self->busy_ns = enders->busy_ns;
	self->threads = self->end_ns > self->begin_ns
	                        ? running_ns / (double)(self->end_ns - self->begin_ns)
	                        : 0;
}

void lode_critical_path_saving(const LodeCriticalPath *self, const LodePathInput *input,
	const double *place_scale, double *out_low_ns, double *out_high_ns)
{
	const LodePathChange change = {LODE_NONE, LODE_NONE, place_scale};
	double replay_ns = lode_path_replay_saves(self->replay, &change);
	double path_ns = 0, saved_ns = 0, all_ns = 0;

	for (guint i = 0; i < self->pieces->len; i++) {
		const LodePathPiece *piece = &LODE_AT(self->pieces, LodePathPiece, i);
		if (piece->interval == LODE_NONE)
			continue;
		const LodePathInterval *run = &input->intervals[piece->interval];
		if (run->kind == LODE_PATH_RUN && run->what < input->n_places)
			path_ns += (1 - place_scale[run->what]) *
			           (double)(piece->end_ns - piece->begin_ns);
	}
	for (uint32_t i = 0; i < input->n_intervals; i++) {
		const LodePathInterval *run = &input->intervals[i];
		if (run->kind != LODE_PATH_RUN)
			continue;
		double length_ns = (double)(run->end_ns - run->begin_ns);
		all_ns += length_ns;
		if (run->what >= input->n_places)
			continue;
		saved_ns += (1 - place_scale[run->what]) * length_ns;
		path_ns += (1 - place_scale[run->what]) *
		           lode_critical_path_weight(self, input, run, 0);
	}
	*out_low_ns = SEEN_SHARE * MIN(replay_ns, path_ns);
	*out_high_ns = MAX(MAX(replay_ns, path_ns), self->busy_ns * saved_ns / MAX(all_ns, 1));
}

typedef struct {
	double high_ns;
	uint32_t cause;
} Candidate;

LODE_ORDER(compare_candidates, Candidate, LODE_DESCENDING(high_ns), LODE_ASCENDING(cause))

static void replay_cause(LodeCriticalPath *self, uint32_t number)
{
	LodePathCause *cause = &self->causes[number];
	LodePathChange removed = {.removed = number, .halved = LODE_NONE};
	LodePathChange halved = {.removed = LODE_NONE, .halved = number};

	cause->is_replayed = true;
	cause->low_ns = MIN(lode_path_replay_saves(self->replay, &removed), cause->high_ns);
	if (lode_path_replay_has_lock(self->replay, number))
		cause->half_ns = MIN(lode_path_replay_saves(self->replay, &halved), cause->high_ns);
}

static void replay_causes(LodeCriticalPath *self, uint32_t n_causes, uint32_t n_replays)
{
	g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));
	double least_ns = LEAST_SHARE * (double)(self->end_ns - self->begin_ns);

	for (uint32_t i = 0; i < n_causes; i++) {
		Candidate candidate = {self->causes[i].high_ns, i};
		if (candidate.high_ns > least_ns)
			g_array_append_val(candidates, candidate);
	}
	g_array_sort(candidates, compare_candidates);
	for (guint i = 0; i < MIN(candidates->len, n_replays); i++)
		replay_cause(self, LODE_AT(candidates, Candidate, i).cause);
}

LodeCriticalPath *lode_critical_path_new(const LodePathInput *input, uint32_t n_replays)
{
	uint32_t last = find_last(input);

	if (last == LODE_NONE)
		return NULL;
	LodeCriticalPath *self = g_new0(LodeCriticalPath, 1);
	LodeWaitEnders *enders = lode_wait_enders_new(input);
	uint64_t end_ns = MAX(
		input->threads[last].end_ns, last_run_end(input, &input->threads[last]));
	Walk path = {
		.input = input, .enders = enders, .out = self, .thread = last, .time_ns = end_ns};

	self->pieces = g_array_new(FALSE, FALSE, sizeof(LodePathPiece));
	self->queued = g_array_new(FALSE, FALSE, sizeof(LodePathQueue));
	self->causes = g_new0(LodePathCause, (gsize)input->n_causes + 1);
	self->end_ns = end_ns;
	walk(&path);
	put_in_order(self);
	sum_rules(self, input);
	average_threads(self, input, enders);
	if (n_replays == 0) {
		lode_wait_enders_free(enders);
		return self;
	}
	self->replay = lode_path_replay_new(input, enders, last, self->begin_ns, end_ns);
	replay_causes(self, input->n_causes, n_replays);
	return self;
}

void lode_critical_path_free(LodeCriticalPath *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->pieces);
	g_array_unref(self->queued);
	g_free(self->causes);
	lode_path_replay_free(self->replay);
	g_free(self);
}
