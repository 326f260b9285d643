/* SPDX-License-Identifier: MIT */
/*
 * Outcomes are kept until they are judged, for which of several branches go several ways is known
 * only then. They are sorted by branch, part and the hashes of their histories of 4, 8, 16 and 32,
 * so that those with the same history lie side by side for every length:
 *
 *   branch, part  4   8   16  32
 *   7, 0          a   c   e   h  ┐ ┐
 *   7, 0          a   c   f   i  ┘ │ the last 8 are equal
 *   7, 0          a   d   g   j    ┘ the last 4
 *
 * First with the histories of all branches, then with those of each branch alone.
 */
#include "ingest/windows/window_visitors.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "ingest/windows/window_facts.h"

#include <string.h>

enum {
	LIMIT = 1 << 22,
	PART = 4096,        /* outcomes of a branch that foretell each other, at most */
	MANY = 1024,        /* from so many on, a history of SHORTEST is used, too */
	DENORMAL = 1 << 1,  /* DE of MXCSR, and of x87 */
	UNDERFLOW = 1 << 4, /* likewise UE */
	CALLS = 64,         /* a power of two */
	HISTORIES = 4,
	SHORTEST = 4,
	LONGEST = SHORTEST << (HISTORIES - 1),
};

typedef enum { OF_ALL, OF_ITSELF, N_TABLES } Table;

typedef struct {
	uint32_t branch; /* number of its code */
	uint32_t part;   /* of its outcomes */
	/* Conditional branches: 1: taken, 0: not; others: the number of the code they went to. */
	uint32_t way;
	uint32_t window; /* a history is of one */
	uint32_t index;  /* in the order of execution */
	uint32_t histories[HISTORIES];
	uint8_t n_histories; /* for which the window has enough outcomes before */
	bool is_judged;      /* by histories, and foretells others */
	bool is_decided;
} Outcome;

/* The ways of the last outcomes of a window, each and 1 more, so that no hash is 0. */
typedef struct {
	uint32_t last[LONGEST];
	uint32_t n, window;
} History;

typedef struct {
	uint32_t way;      /* the last */
	uint32_t n;        /* outcomes that are judged by histories */
	uint32_t n_before; /* of them, in the order of execution */
	bool is_known, has_several;
	struct {
		uint32_t outcomes, foretold;
	} judged[N_TABLES];
} Branch;

struct LodeWindowOutcomes {
	GArray *facts;    /* borrowed: LodeObservedInstruction by code */
	GArray *branches; /* Branch by code */
	GArray *outcomes; /* Outcome */
	GArray *counts;   /* uint32_t by way; all 0 between uses */
	size_t limit;
	uint32_t window; /* of the next outcome */
	uint64_t
		calls[CALLS]; /* where the calls of this window return to, the oldest overwritten */
	uint32_t n_calls, n_known; /* made; of them the last that are in `calls` */
};

LodeWindowOutcomes *lode_window_outcomes_new(GArray *facts, size_t limit)
{
	LodeWindowOutcomes *self = g_new0(LodeWindowOutcomes, 1);

	self->facts = facts;
	self->branches = g_array_new(FALSE, TRUE, sizeof(Branch));
	self->outcomes = g_array_new(FALSE, FALSE, sizeof(Outcome));
	self->counts = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->limit = limit > 0 ? limit : LIMIT;
	return self;
}

void lode_window_outcomes_free(LodeWindowOutcomes *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->branches);
	g_array_unref(self->outcomes);
	g_array_unref(self->counts);
	g_free(self);
}

/* Outcomes [from, to) of one branch have the same history: decides those that it can. */
static void decide(LodeWindowOutcomes *self, size_t from, size_t to, Table table, int k)
{
	const bool is_last = k == 0;
	Outcome *outcomes = (Outcome *)self->outcomes->data;
	Branch *branch = &LODE_AT(self->branches, Branch, outcomes[from].branch);
	uint32_t *counts = (uint32_t *)self->counts->data;
	uint32_t most = outcomes[from].way; /* the most frequent way */
	uint32_t second = 0;                /* how often the next after it */

	for (size_t i = from; i < to; i++)
		if (++counts[outcomes[i].way] > counts[most])
			most = outcomes[i].way;
	for (size_t i = from; i < to; i++)
		if (outcomes[i].way != most)
			second = MAX(second, counts[outcomes[i].way]);
	/* Without history, of few outcomes: only where one way prevails. */
	bool prevails = is_last && counts[most] * 20 >= (to - from) * 19;
	bool speaks = !is_last || branch->n >= MANY || prevails;
	for (size_t i = from; i < to && speaks; i++) {
		Outcome *outcome = &outcomes[i];
		uint32_t own = counts[outcome->way] - 1;
		uint32_t other = outcome->way == most ? second : counts[most];

		/* A processor knows more than the window does at its begin. */
		bool is_begin = k <= 1 && outcome->n_histories <= 1 && !prevails;
		if (outcome->is_decided || is_begin || (own == other && !is_last))
			continue;
		outcome->is_decided = true;
		branch->judged[table].outcomes++;
		branch->judged[table].foretold += own > other;
	}
	for (size_t i = from; i < to; i++)
		counts[outcomes[i].way] = 0;
}

static inline bool has_same_history(const Outcome *a, const Outcome *b, int n_histories)
{
	return a->branch == b->branch && a->part == b->part &&
	       memcmp(a->histories, b->histories, (size_t)n_histories * sizeof(uint32_t)) == 0;
}

LODE_ORDER(compare_outcomes, Outcome, LODE_ASCENDING(branch), LODE_ASCENDING(part),
	LODE_ASCENDING(histories[0]), LODE_ASCENDING(histories[1]), LODE_ASCENDING(histories[2]),
	LODE_ASCENDING(histories[3]))

LODE_ORDER(compare_executions, Outcome, LODE_ASCENDING(branch), LODE_ASCENDING(index))

/* Gives an outcome its history: hashes of the last 4, 8, 16 and 32. */
static void set_history(Outcome *outcome, History *history)
{
	uint64_t hash = 0;
	uint32_t i = 0, k = 0;

	if (history->window != outcome->window)
		*history = (History){.window = outcome->window};
	memset(outcome->histories, 0, sizeof(outcome->histories));
	for (; k < HISTORIES && (uint32_t)SHORTEST << k <= history->n; k++) {
		for (; i < (uint32_t)SHORTEST << k; i++)
			hash = lode_hash_append(
				hash, history->last[(history->n - 1 - i) % LONGEST]);
		outcome->histories[k] = (uint32_t)hash;
	}
	outcome->n_histories = (uint8_t)k;
}

static void add_to_history(const Outcome *outcome, History *history)
{
	history->last[history->n++ % LONGEST] = outcome->way + 1;
}

/* Gives the outcomes histories of all branches, and parts, and keeps those that are judged. */
static void begin_with_all(LodeWindowOutcomes *self)
{
	Outcome *outcomes = (Outcome *)self->outcomes->data;
	History history = {.window = LODE_NONE};
	guint n = 0;

	for (guint i = 0; i < self->outcomes->len; i++) {
		Outcome outcome = outcomes[i];
		Branch *branch = &LODE_AT(self->branches, Branch, outcome.branch);

		set_history(&outcome, &history);
		if (branch->has_several)
			add_to_history(&outcome, &history);
		if (!outcome.is_judged)
			continue;
		outcome.part = (uint32_t)((uint64_t)branch->n_before++ *
					  ((branch->n + PART - 1) / PART) / branch->n);
		outcome.index = n;
		outcomes[n++] = outcome;
	}
	g_array_set_size(self->outcomes, n);
}

static void go_on_with_each(LodeWindowOutcomes *self)
{
	Outcome *outcomes = (Outcome *)self->outcomes->data;
	History history = {.window = LODE_NONE};

	g_array_sort(self->outcomes, compare_executions);
	for (guint i = 0; i < self->outcomes->len; i++) {
		if (i > 0 && outcomes[i].branch != outcomes[i - 1].branch)
			history.window = LODE_NONE;
		set_history(&outcomes[i], &history);
		add_to_history(&outcomes[i], &history);
		outcomes[i].is_decided = false;
	}
}

/* Whether a history of [from, to) may decide. */
static bool may_decide(const LodeWindowOutcomes *self, size_t from, size_t to, int k)
{
	const Outcome *first = &LODE_AT(self->outcomes, Outcome, from);

	return to - from >= (k > 0 ? 3 : 2) && first->n_histories >= k &&
	       (k != 1 || LODE_AT(self->branches, Branch, first->branch).n >= MANY);
}

static void judge_by(LodeWindowOutcomes *self, Table table)
{
	const Outcome *outcomes = (const Outcome *)self->outcomes->data;
	size_t from, to, n = self->outcomes->len;

	g_array_sort(self->outcomes, compare_outcomes);
	for (int k = HISTORIES; k >= 0; k--)
		for (from = 0; from < n; from = to) {
			for (to = from + 1;
				to < n && has_same_history(&outcomes[from], &outcomes[to], k); to++)
				;
			if (may_decide(self, from, to, k))
				decide(self, from, to, table, k);
		}
}

static void judge(LodeWindowOutcomes *self)
{
	begin_with_all(self);
	judge_by(self, OF_ALL);
	go_on_with_each(self);
	judge_by(self, OF_ITSELF);
	for (guint i = 0; i < self->branches->len; i++) {
		const Branch *branch = &LODE_AT(self->branches, Branch, i);
		Table better = branch->judged[OF_ITSELF].foretold > branch->judged[OF_ALL].foretold
		                       ? OF_ITSELF
		                       : OF_ALL;
		/* There may be no code of that number. */
		if (branch->judged[better].outcomes == 0)
			continue;
		LodeObservedInstruction *facts = lode_window_facts_at(self->facts, i);
		facts->outcomes += branch->judged[better].outcomes;
		facts->unforetold += branch->judged[better].outcomes -
		                     branch->judged[better].foretold;
	}
	g_array_set_size(self->outcomes, 0);
	if (self->branches->len > 0)
		memset(self->branches->data, 0, self->branches->len * sizeof(Branch));
	self->window++;
}

static void add_outcome(
	LodeWindowOutcomes *self, const LodeVisitedStep *step, uint32_t way, bool is_judged)
{
	Branch *branch = &LODE_AT(self->branches, Branch, step->code->number);
	Outcome outcome = {
		.branch = step->code->number,
		.way = way,
		.window = self->window,
		.is_judged = is_judged,
	};

	if (branch->is_known && branch->way != way)
		branch->has_several = true;
	branch->is_known = true;
	branch->way = way;
	branch->n += is_judged;
	g_array_append_val(self->outcomes, outcome);
	if (self->outcomes->len >= self->limit)
		judge(self);
}

static void judge_return(LodeWindowOutcomes *self, const LodeVisitedStep *step)
{
	LodeObservedInstruction *facts = lode_window_facts_at(self->facts, step->code->number);
	uint64_t foretold;

	if (self->n_known == 0)
		return;
	self->n_known--;
	foretold = self->calls[--self->n_calls % CALLS];
	if (step->is_frequent) {
		facts->outcomes++;
		facts->unforetold += step->next->address != foretold;
	}
}

static void add_branch(LodeWindowOutcomes *self, const LodeVisitedStep *step)
{
	uint64_t after = step->step->address + step->code->decoded.length;
	bool is_next = step->next->address == after;

	/* Code asks for its own address by a call of the next instruction, without a return. */
	if ((step->code->decoded.kinds >> LODE_KIND_CALL & 1) != 0 && !is_next) {
		self->calls[self->n_calls++ % CALLS] = after;
		self->n_known = MIN(self->n_known + 1, CALLS);
	}
	switch (step->code->decoded.branch) {
	case LODE_BRANCH_CONDITIONAL:
		add_outcome(self, step, !is_next, step->is_frequent);
		break;
	case LODE_BRANCH_RETURN:
		judge_return(self, step);
		if (step->next_code != NULL)
			add_outcome(self, step, step->next_code->number, false);
		break;
	case LODE_BRANCH_INDIRECT_JUMP:
	case LODE_BRANCH_INDIRECT_CALL:
		if (step->next_code != NULL)
			add_outcome(self, step, step->next_code->number, step->is_frequent);
		break;
	default:
		break;
	}
}

static void visit(void *data, const LodeVisitedStep *step)
{
	LodeWindowOutcomes *self = data;
	uint32_t n = 2; /* a conditional branch has two ways */

	if (step->index == 0 || (step->step->is_gap && !step->is_hit))
		self->window++;
	/* Calls and returns of other code are not seen. */
	if (step->index == 0 || step->step->is_gap || step->code == NULL)
		self->n_known = 0;
	if (step->code == NULL || step->next == NULL)
		return;
	n = MAX(n, step->code->number + 1);
	if (step->next_code != NULL)
		n = MAX(n, step->next_code->number + 1);
	if (n > self->branches->len) {
		g_array_set_size(self->branches, n);
		g_array_set_size(self->counts, n);
	}
	if ((step->next->raised & DENORMAL) != 0)
		lode_window_facts_at(self->facts, step->code->number)->denormals++;
	if ((step->next->raised & UNDERFLOW) != 0 &&
		(step->log->flags & LODE_WINDOW_LOG_UNDERFLOWS) != 0)
		lode_window_facts_at(self->facts, step->code->number)->underflows++;
	if (step->code->decoded.branch != LODE_BRANCH_NONE)
		add_branch(self, step);
}

LodeWindowVisitor lode_window_outcomes_visitor(LodeWindowOutcomes *self)
{
	return (LodeWindowVisitor){.visit = visit, .data = self};
}

void lode_window_outcomes_finish(LodeWindowOutcomes *self)
{
	judge(self);
}
