/* SPDX-License-Identifier: MIT */
/*
 * Outcomes that history foretells: in sequences whose answer is known, and in random windows as a
 * naive computation from the definition has them. Denormal operands at their instructions.
 */
#include "ingest/windows/window_visitors.h"

#include "ingest/windows/window_facts.h"
#include "seeds.h"

#include <string.h>

enum {
	LENGTH = 4, /* bytes of each instruction */
	WARM_UP = 32,
	MAX_CODES = 64,
	HISTORY = 32,
	RETURNS = 64,
	PART = 4096,
	MANY = 1024,
};

#define BASE UINT64_C(0x400000)

/* The walk over a program, with what it visited. */
typedef struct {
	LodeSteppedCode codes[MAX_CODES];
	GArray *facts; /* LodeObservedInstruction */
	LodeWindowOutcomes *outcomes;
	LodeWindowVisitor visitor;
	GArray *visited; /* Visited */
	uint32_t index;
	uint32_t log_flags;
	bool is_gap; /* before the next step */
	bool is_hit; /* is the next step */
} Walk;

typedef struct {
	uint32_t code, next; /* LODE_NONE: none */
	bool is_begin, is_frequent;
	uint8_t raised;
} Visited;

static void walk_init(Walk *self, size_t limit)
{
	*self = (Walk){
		.facts = g_array_new(FALSE, TRUE, sizeof(LodeObservedInstruction)),
		.visited = g_array_new(FALSE, FALSE, sizeof(Visited)),
	};
	self->outcomes = lode_window_outcomes_new(self->facts, limit);
	self->visitor = lode_window_outcomes_visitor(self->outcomes);
	for (uint32_t i = 0; i < MAX_CODES; i++)
		self->codes[i] = (LodeSteppedCode){
			.place = {.image = 0, .address = BASE + i * LENGTH},
			.number = i,
			.decoded = {.length = LENGTH},
		};
}

static void walk_clear(Walk *self)
{
	lode_window_outcomes_free(self->outcomes);
	g_array_unref(self->facts);
	g_array_unref(self->visited);
}

static void set_branch(Walk *self, uint32_t code, LodeBranch branch)
{
	LodeDecodedInstruction *decoded = &self->codes[code].decoded;

	decoded->branch = branch;
	if (branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_INDIRECT_CALL)
		decoded->kinds = 1u << LODE_KIND_CALL;
}

static void begin_window(Walk *self)
{
	self->index = 0;
}

/* A step of `code`, after which `next` is executed, or LODE_NONE. */
static void step(Walk *self, uint32_t code, uint32_t next, bool is_frequent, uint8_t raised)
{
	LodeWindowStep now = {.address = BASE + code * LENGTH, .is_gap = self->is_gap};
	LodeWindowStep after = {.address = BASE + next * LENGTH, .raised = raised};
	const LodeWindowLogHeader log = {.flags = self->log_flags};
	LodeVisitedStep visit = {
		.step = &now,
		.log = &log,
		.index = self->index,
		.code = &self->codes[code],
		.next = next != LODE_NONE ? &after : NULL,
		.next_code = next != LODE_NONE ? &self->codes[next] : NULL,
		.is_frequent = is_frequent && (self->is_hit || self->index >= WARM_UP),
		.is_hit = self->is_hit,
	};
	Visited visited = {code, next, self->index == 0 || self->is_gap, visit.is_frequent, raised};

	self->visitor.visit(self->visitor.data, &visit);
	g_array_append_val(self->visited, visited);
	self->index++;
	self->is_gap = false;
}

/* A step in no code that is known. */
static void step_elsewhere(Walk *self)
{
	LodeWindowStep now = {.address = 1}, after = {.address = 2};
	LodeVisitedStep visit = {.step = &now, .index = self->index++, .next = &after};

	self->visitor.visit(self->visitor.data, &visit);
}

static LodeObservedInstruction facts_of(Walk *self, uint32_t code)
{
	lode_window_outcomes_finish(self->outcomes);
	return *lode_window_facts_at(self->facts, code);
}

/* As the header defines it, by looking at all pairs of outcomes. */

typedef struct {
	uint32_t code, way;
	uint32_t part, n; /* n: judged ones of the branch */
	bool is_judged;
	uint32_t history[2]
			[HISTORY]; /* of all and its own; the newest first; 0: before the begin */
} NaiveOutcome;

static bool naive_outcome(const Walk *self, const Visited *visited, NaiveOutcome *out_outcome)
{
	LodeBranch branch = self->codes[visited->code].decoded.branch;

	if (visited->next == LODE_NONE || branch == LODE_BRANCH_NONE ||
		branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_JUMP)
		return false;
	*out_outcome = (NaiveOutcome){
		.code = visited->code,
		.way = branch == LODE_BRANCH_CONDITIONAL ? visited->next != visited->code + 1
	                                                 : visited->next,
		.is_judged = branch != LODE_BRANCH_RETURN && visited->is_frequent,
	};
	return true;
}

static void naive_add(uint32_t *history, uint32_t outcome)
{
	memmove(history + 1, history, (HISTORY - 1) * sizeof(history[0]));
	history[0] = outcome;
}

static GArray *naive_outcomes(const Walk *self)
{
	GArray *outcomes = g_array_new(FALSE, FALSE, sizeof(NaiveOutcome));
	uint32_t ways[MAX_CODES], several[MAX_CODES] = {0}, history[HISTORY] = {0};
	uint32_t own[MAX_CODES][HISTORY] = {{0}};
	uint32_t n[MAX_CODES] = {0}, n_before[MAX_CODES] = {0};
	NaiveOutcome outcome;

	memset(ways, 0xff, sizeof(ways));
	for (guint i = 0; i < self->visited->len; i++) {
		if (!naive_outcome(self, &g_array_index(self->visited, Visited, i), &outcome))
			continue;
		several[outcome.code] |= ways[outcome.code] != LODE_NONE &&
		                         ways[outcome.code] != outcome.way;
		ways[outcome.code] = outcome.way;
		n[outcome.code] += outcome.is_judged;
	}
	for (guint i = 0; i < self->visited->len; i++) {
		const Visited *visited = &g_array_index(self->visited, Visited, i);

		if (visited->is_begin) {
			memset(history, 0, sizeof(history));
			memset(own, 0, sizeof(own));
		}
		if (!naive_outcome(self, visited, &outcome))
			continue;
		memcpy(outcome.history[0], history, sizeof(history));
		memcpy(outcome.history[1], own[outcome.code], sizeof(history));
		outcome.n = n[outcome.code];
		if (outcome.is_judged) {
			uint32_t n_parts = (n[outcome.code] + PART - 1) / PART;

			outcome.part = n_before[outcome.code]++ * n_parts / n[outcome.code];
		}
		g_array_append_val(outcomes, outcome);
		if (outcome.is_judged)
			naive_add(own[outcome.code], outcome.way + 1);
		if (several[outcome.code])
			naive_add(history, outcome.way + 1);
	}
	return outcomes;
}

/* 1: foretold, 0: not, −1: not to be judged. */
static int naive_foretold(const GArray *outcomes, guint which, int table)
{
	static const size_t lengths[] = {32, 16, 8, 4, 0};
	const NaiveOutcome *own = &g_array_index(outcomes, NaiveOutcome, which);

	for (size_t k = 0; k < G_N_ELEMENTS(lengths); k++) {
		uint32_t counts[MAX_CODES] = {0}, n = 0, other = 0;

		for (guint i = 0; i < outcomes->len; i++) {
			const NaiveOutcome *outcome = &g_array_index(outcomes, NaiveOutcome, i);

			if (i == which || outcome->code != own->code || !outcome->is_judged ||
				outcome->part != own->part ||
				memcmp(outcome->history[table], own->history[table],
					lengths[k] * sizeof(uint32_t)) != 0)
				continue;
			counts[outcome->way]++;
			n++;
		}
		for (uint32_t way = 0; way < MAX_CODES; way++)
			if (way != own->way)
				other = MAX(other, counts[way]);
		if (lengths[k] == 4 && (own->n < MANY || own->history[table][7] == 0))
			continue;
		if (lengths[k] == 0) {
			uint32_t most = MAX(other, counts[own->way] + 1);
			bool speaks = (own->n >= MANY && own->history[table][7] != 0) ||
			              most * 20 >= (n + 1) * 19;

			return n == 0 || !speaks ? -1 : counts[own->way] > other;
		}
		if (n >= 2 && counts[own->way] != other && own->history[table][lengths[k] - 1] != 0)
			return counts[own->way] > other;
	}
	g_assert_not_reached();
}

static void naive_returns(const Walk *self, LodeObservedInstruction *facts)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < self->visited->len; i++) {
		const Visited *visited = &g_array_index(self->visited, Visited, i);
		LodeBranch branch = self->codes[visited->code].decoded.branch;
		uint32_t after = visited->code + 1;

		if (visited->is_begin)
			g_array_set_size(stack, 0);
		if (visited->next == LODE_NONE)
			continue;
		if ((branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_INDIRECT_CALL) &&
			visited->next != after) {
			if (stack->len == RETURNS)
				g_array_remove_index(stack, 0);
			g_array_append_val(stack, after);
		} else if (branch == LODE_BRANCH_RETURN && stack->len > 0) {
			if (visited->is_frequent) {
				facts[visited->code].outcomes++;
				facts[visited->code].unforetold += g_array_index(stack, uint32_t,
									   stack->len - 1) !=
				                                   visited->next;
			}
			g_array_set_size(stack, stack->len - 1);
		}
	}
}

static void compare_with_naive(Walk *walk)
{
	g_autoptr(GArray) outcomes = naive_outcomes(walk);
	LodeObservedInstruction expected[MAX_CODES] = {0};
	uint32_t judged[2][MAX_CODES] = {{0}}, right[2][MAX_CODES] = {{0}};

	naive_returns(walk, expected);
	for (guint i = 0; i < outcomes->len; i++) {
		const NaiveOutcome *outcome = &g_array_index(outcomes, NaiveOutcome, i);

		for (int table = 0; table < 2 && outcome->is_judged; table++) {
			int foretold = naive_foretold(outcomes, i, table);

			judged[table][outcome->code] += foretold >= 0;
			right[table][outcome->code] += foretold > 0;
		}
	}
	for (uint32_t code = 0; code < MAX_CODES; code++) {
		int better = right[1][code] > right[0][code];

		expected[code].outcomes += judged[better][code];
		expected[code].unforetold += judged[better][code] - right[better][code];
	}
	for (guint i = 0; i < walk->visited->len; i++) {
		const Visited *visited = &g_array_index(walk->visited, Visited, i);

		expected[visited->code].denormals += visited->next != LODE_NONE &&
		                                     (visited->raised & 2) != 0;
		expected[visited->code].underflows += visited->next != LODE_NONE &&
		                                      (visited->raised & 16) != 0 &&
		                                      walk->log_flags != 0;
	}
	for (uint32_t code = 0; code < MAX_CODES; code++) {
		LodeObservedInstruction found = facts_of(walk, code);

		g_assert_cmpuint(found.outcomes, ==, expected[code].outcomes);
		g_assert_cmpuint(found.unforetold, ==, expected[code].unforetold);
		g_assert_cmpuint(found.denormals, ==, expected[code].denormals);
		g_assert_cmpuint(found.underflows, ==, expected[code].underflows);
	}
}

/* Random programs: each code has a kind and some targets, drawn with a bias of its own, by chance
 * or by what was drawn some outcomes ago. */
static void test_random(void)
{
	static const LodeBranch kinds[] = {LODE_BRANCH_NONE, LODE_BRANCH_NONE,
		LODE_BRANCH_CONDITIONAL, LODE_BRANCH_CONDITIONAL, LODE_BRANCH_CONDITIONAL,
		LODE_BRANCH_INDIRECT_JUMP, LODE_BRANCH_INDIRECT_CALL, LODE_BRANCH_CALL,
		LODE_BRANCH_RETURN, LODE_BRANCH_JUMP};

	for (unsigned round = random_rounds(40, 400); round > 0; round--) {
		bool is_large = random_int_range(0, 10) == 0;
		uint32_t n_codes = (uint32_t)random_int_range(4, is_large ? 8 : MAX_CODES);
		uint32_t targets[MAX_CODES][4];
		int n_targets[MAX_CODES], noise = random_int_range(0, 100);
		uint32_t drawn = 0;
		Walk walk;

		walk_init(&walk, 0);
		for (uint32_t i = 0; i < n_codes; i++) {
			set_branch(
				&walk, i, kinds[random_int_range(0, (gint32)G_N_ELEMENTS(kinds))]);
			n_targets[i] = random_int_range(1, 5);
			for (int k = 0; k < 4; k++)
				targets[i][k] = (uint32_t)random_int_range(0, (gint32)n_codes);
		}
		for (int window = random_int_range(1, is_large ? 24 : 12); window > 0; window--) {
			uint32_t at = (uint32_t)random_int_range(0, (gint32)n_codes);

			begin_window(&walk);
			for (int left = random_int_range(1, 300); left > 0; left--) {
				LodeBranch branch = walk.codes[at].decoded.branch;
				uint32_t chosen = random_int_range(0, 100) < noise
				                          ? (uint32_t)random_int()
				                          : drawn >> 3;
				uint32_t next = (at + 1) % n_codes;
				bool is_cut = left == 1 || random_int_range(0, 200) == 0;

				drawn = drawn * 5 + chosen % 7 + 1;
				if (branch != LODE_BRANCH_NONE &&
					(branch != LODE_BRANCH_CONDITIONAL || (chosen & 1) != 0))
					next = targets[at][chosen / 2 % (uint32_t)n_targets[at]];
				step(&walk, at, is_cut ? LODE_NONE : next,
					random_int_range(0, 30) > 0,
					(uint8_t)(random_int_range(0, 20) == 0
							  ? random_int_range(0, 64)
							  : 0));
				walk.is_gap = is_cut && left > 1;
				at = next;
			}
		}
		compare_with_naive(&walk);
		walk_clear(&walk);
	}
}

/* Two parts of one branch's outcomes, and the naive computation of them. */
static void test_parts(void)
{
	Walk walk;

	walk_init(&walk, 0);
	set_branch(&walk, 0, LODE_BRANCH_CONDITIONAL);
	for (uint32_t window = 0; window < 20; window++) {
		begin_window(&walk);
		for (uint32_t i = 0; i < 260; i++)
			step(&walk, 0, random_int_range(0, 3) == 0 ? 5 : 1, true, 0);
	}
	compare_with_naive(&walk);
	walk_clear(&walk);
}

/* Windows of a loop around one conditional branch, whose outcomes `taken` gives. */
static LodeObservedInstruction facts_of_loop(
	bool (*taken)(uint32_t n), uint32_t n_windows, uint32_t n_outcomes, size_t limit)
{
	LodeObservedInstruction facts;
	uint32_t n = 0;
	Walk walk;

	walk_init(&walk, limit);
	set_branch(&walk, 0, LODE_BRANCH_CONDITIONAL);
	set_branch(&walk, 1, LODE_BRANCH_JUMP);
	for (uint32_t window = 0; window < n_windows; window++) {
		begin_window(&walk);
		for (uint32_t i = 0; i < n_outcomes; i++) {
			uint32_t next = taken(n++) ? 2 : 1;

			step(&walk, 0, next, true, 0);
			step(&walk, next, 0, true, 0);
		}
	}
	facts = facts_of(&walk, 0);
	walk_clear(&walk);
	g_assert_cmpuint(facts.outcomes, ==, n_windows * (n_outcomes - WARM_UP / 2));
	return facts;
}

static bool by_coin(uint32_t n)
{
	(void)n;
	return random_bit();
}

static bool one_in_ten(uint32_t n)
{
	(void)n;
	return random_int_range(0, 10) == 0;
}

static bool by_seven(uint32_t n)
{
	return (0x2d >> n % 7 & 1) != 0;
}

static bool by_twenty(uint32_t n)
{
	return n % 20 != 0;
}

static bool coins[10000];

static bool by_thousand(uint32_t n)
{
	return coins[n % 1000];
}

static bool by_ten_thousand(uint32_t n)
{
	return coins[n % 10000];
}

static bool never(uint32_t n)
{
	(void)n;
	return false;
}

static void check_share(LodeObservedInstruction facts, double least, double most)
{
	double share = (double)facts.unforetold / facts.outcomes;

	g_assert_cmpfloat(share, >=, least);
	g_assert_cmpfloat(share, <=, most);
}

static void test_known(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(coins); i++)
		coins[i] = random_bit();
	check_share(facts_of_loop(by_coin, 40, 500, 0), 0.48, 0.52);
	check_share(facts_of_loop(one_in_ten, 40, 500, 0), 0.09, 0.12);
	check_share(facts_of_loop(by_seven, 40, 500, 0), 0, 0);
	check_share(facts_of_loop(by_twenty, 40, 500, 0), 0, 0.005);
	check_share(facts_of_loop(by_thousand, 80, 500, 0), 0, 0.05);
	check_share(facts_of_loop(by_ten_thousand, 80, 500, 0), 0.4, 0.6);
	check_share(facts_of_loop(never, 40, 500, 0), 0, 0);
	/* Judged in parts, of which each knows less. */
	check_share(facts_of_loop(by_coin, 40, 500, 3000), 0.48, 0.52);
	check_share(facts_of_loop(by_seven, 40, 500, 3000), 0, 0.01);
}

/* Hits of one branch are its outcomes in turn, though each has a gap before it. Steps are not. */
static void test_hits(void)
{
	for (int is_hit = 0; is_hit < 2; is_hit++) {
		Walk walk;
		walk_init(&walk, 0);
		set_branch(&walk, 1, LODE_BRANCH_CONDITIONAL);
		for (uint32_t i = 0; i < 900; i++) {
			if (i % 60 == 0)
				begin_window(&walk);
			walk.is_gap = true;
			walk.is_hit = is_hit != 0;
			step(&walk, 1, i % 3 == 0 ? 2 : 9, true, 0);
		}
		LodeObservedInstruction facts = facts_of(&walk, 1);
		if (is_hit) {
			g_assert_cmpuint(facts.outcomes, ==, 900 - 15 * 8);
			g_assert_cmpuint(facts.unforetold, ==, 0);
		} else {
			g_assert_cmpuint(facts.outcomes, ==, 0);
		}
		walk_clear(&walk);
	}
}

/* Every eighth time, beside a coin: by its own history alone. */
static void test_own(void)
{
	LodeObservedInstruction coin, eighth;
	Walk walk;

	walk_init(&walk, 0);
	set_branch(&walk, 0, LODE_BRANCH_CONDITIONAL);
	set_branch(&walk, 1, LODE_BRANCH_CONDITIONAL);
	for (uint32_t window = 0; window < 40; window++) {
		begin_window(&walk);
		for (uint32_t i = 0; i < 500; i++) {
			step(&walk, 0, random_bit() ? 8 : 1, true, 0);
			step(&walk, 1, i % 8 == 0 ? 9 : 2, true, 0);
		}
	}
	coin = facts_of(&walk, 0);
	eighth = facts_of(&walk, 1);
	check_share(coin, 0.48, 0.52);
	check_share(eighth, 0, 0.005);
	g_assert_cmpuint(eighth.outcomes, >, 19000);
	walk_clear(&walk);
}

/* Few outcomes are not judged: it is not known whether more would repeat them. */
static void test_few(void)
{
	LodeObservedInstruction facts;
	Walk walk;

	walk_init(&walk, 0);
	set_branch(&walk, 0, LODE_BRANCH_INDIRECT_JUMP);
	for (uint32_t window = 0; window < 4; window++) {
		begin_window(&walk);
		for (uint32_t i = 0; i < 200; i++)
			step(&walk, 0, 10 + (uint32_t)random_int_range(0, 40), true, 0);
	}
	facts = facts_of(&walk, 0);
	g_assert_cmpuint(facts.outcomes, <, 10);
	walk_clear(&walk);
}

/* Forty functions called through a pointer: in turn, and by chance. */
static void test_targets(void)
{
	for (int is_random = 0; is_random <= 1; is_random++) {
		LodeObservedInstruction calls, returns = {0};
		uint32_t n = 0;
		Walk walk;

		walk_init(&walk, 0);
		set_branch(&walk, 0, LODE_BRANCH_INDIRECT_CALL);
		set_branch(&walk, 1, LODE_BRANCH_JUMP);
		for (uint32_t i = 10; i < 50; i++)
			set_branch(&walk, i, LODE_BRANCH_RETURN);
		for (uint32_t window = 0; window < 40; window++) {
			begin_window(&walk);
			for (uint32_t i = 0; i < 500; i++) {
				uint32_t target = 10 +
				                  (is_random ? (uint32_t)random_int_range(0, 40)
							     : n++ % 40);

				step(&walk, 0, target, true, 0);
				step(&walk, target, 1, true, 0);
				step(&walk, 1, 0, true, 0);
			}
		}
		calls = facts_of(&walk, 0);
		g_assert_cmpuint(calls.outcomes, ==, 40 * (500 - 11));
		check_share(calls, is_random ? 0.95 : 0, is_random ? 1 : 0);
		for (uint32_t i = 10; i < 50; i++) {
			LodeObservedInstruction facts = facts_of(&walk, i);

			returns.outcomes += facts.outcomes;
			returns.unforetold += facts.unforetold;
		}
		g_assert_cmpuint(returns.outcomes, ==, 40 * (500 - 11));
		g_assert_cmpuint(returns.unforetold, ==, 0);
		walk_clear(&walk);
	}
}

/* A return to elsewhere, one of a call before the window, and a call that asks for its address. */
static void test_returns(void)
{
	LodeObservedInstruction facts;
	Walk walk;

	walk_init(&walk, 0);
	set_branch(&walk, 0, LODE_BRANCH_CALL);
	set_branch(&walk, 3, LODE_BRANCH_CALL);
	set_branch(&walk, 9, LODE_BRANCH_RETURN);
	for (uint32_t i = 0; i < WARM_UP; i++)
		step(&walk, 20, 20, true, 0);
	step(&walk, 9, 0, true, 0);
	step(&walk, 0, 3, true, 0);
	step(&walk, 3, 4, true, 0);
	step(&walk, 4, 9, true, 0);
	step(&walk, 9, 1, true, 0);
	step(&walk, 0, 9, true, 0);
	step(&walk, 9, 7, true, 0);
	facts = facts_of(&walk, 9);
	g_assert_cmpuint(facts.outcomes, ==, 2);
	g_assert_cmpuint(facts.unforetold, ==, 1);
	walk_clear(&walk);
}

/* A call into code that is not known, as that of the vDSO, has no return that is seen. */
static void test_returns_elsewhere(void)
{
	Walk walk;

	walk_init(&walk, 0);
	set_branch(&walk, 0, LODE_BRANCH_CALL);
	set_branch(&walk, 9, LODE_BRANCH_RETURN);
	for (uint32_t i = 0; i < WARM_UP; i++)
		step(&walk, 20, 20, true, 0);
	step(&walk, 0, 5, true, 0);
	step(&walk, 5, 0, true, 0);
	step(&walk, 0, 30, true, 0);
	step_elsewhere(&walk);
	step(&walk, 1, 9, true, 0);
	step(&walk, 9, 1, true, 0);
	g_assert_cmpuint(facts_of(&walk, 9).outcomes, ==, 0);
	walk_clear(&walk);
}

/* A program of one instruction has facts of none but that. */
static void test_one_code(void)
{
	Walk walk;

	walk_init(&walk, 0);
	set_branch(&walk, 0, LODE_BRANCH_JUMP);
	for (uint32_t i = 0; i < 100; i++)
		step(&walk, 0, 0, true, 0);
	lode_window_outcomes_finish(walk.outcomes);
	g_assert_cmpuint(walk.facts->len, <=, 1);
	walk_clear(&walk);
}

/* A hundred denormal operands in two hundred executions, also in the first steps; and as many
 * underflows as steps, if the log has them. */
static void check_denormals(uint32_t log_flags)
{
	Walk walk;

	walk_init(&walk, 0);
	walk.log_flags = log_flags;
	for (uint32_t i = 0; i < 200; i++) {
		step(&walk, 5, 6, true, (uint8_t)(i % 2 == 0 ? 0x22 : 0x20));
		step(&walk, 6, 5, true, 0x10);
	}
	g_assert_cmpuint(facts_of(&walk, 5).denormals, ==, 100);
	g_assert_cmpuint(facts_of(&walk, 6).denormals, ==, 0);
	g_assert_cmpuint(facts_of(&walk, 5).underflows, ==, 0);
	g_assert_cmpuint(facts_of(&walk, 6).underflows, ==, log_flags != 0 ? 200 : 0);
	walk_clear(&walk);
}

static void test_denormals(void)
{
	check_denormals(0);
	check_denormals(LODE_WINDOW_LOG_UNDERFLOWS);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/window_outcomes/known", test_known);
	g_test_add_func("/window_outcomes/parts", test_parts);
	g_test_add_func("/window_outcomes/hits", test_hits);
	g_test_add_func("/window_outcomes/own", test_own);
	g_test_add_func("/window_outcomes/few", test_few);
	g_test_add_func("/window_outcomes/targets", test_targets);
	g_test_add_func("/window_outcomes/returns", test_returns);
	g_test_add_func("/window_outcomes/returns_elsewhere", test_returns_elsewhere);
	g_test_add_func("/window_outcomes/one_code", test_one_code);
	g_test_add_func("/window_outcomes/denormals", test_denormals);
	add_random_test("/window_outcomes/random", test_random,
		"R02S5d2c7f1096ab3e48c1d0752e9f6ab314", "R02S0b9e61d2475fca8033617e52d4c9f0a8",
		NULL);
	return g_test_run();
}
