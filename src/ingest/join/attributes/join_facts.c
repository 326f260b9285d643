/* SPDX-License-Identifier: MIT */
/*
 * Facts of each instruction that become attributes: what windows observed of it, where a share is
 * large enough, and whether it is right after a conditional branch that goes both ways:
 *
 *   jcc ─┬─▶ 1 ─▶ 2       the first two instructions of each way, up to a call or return
 *        └─▶ 1 ─▶ 2
 */
#include "ingest/join/attributes/string_rounds.h"
#include "model/observed/windows.h"
#include "model/profile.h"

/* Shares of the executions, accesses or calls. */
static const double LEAST_DENORMAL = 0.01, LEAST_SPLIT = 0.01, LEAST_REPEATED = 0.9;
static const double LEAST_WAY = 0.1; /* of a branch that goes both ways */

static const struct {
	const char *name_space, *value;
} names[LODE_N_JOIN_FACTS] = {
	[LODE_JOIN_FACT_DENORMAL_OPERAND] = {"denormal", "operand"},
	[LODE_JOIN_FACT_DENORMAL_RESULT] = {"denormal", "result"},
	[LODE_JOIN_FACT_SPLIT_LINE] = {"split", "line"},
	[LODE_JOIN_FACT_SPLIT_PAGE] = {"split", "page"},
	[LODE_JOIN_FACT_REPEATS_ADDRESS] = {"repeats", "address"},
	[LODE_JOIN_FACT_REPEATS_ARGUMENTS] = {"repeats", "arguments"},
	[LODE_JOIN_FACT_REPEATS_RESULT] = {"repeats", "result"},
	[LODE_JOIN_FACT_REPEATS_UNCHANGED] = {"repeats", "unchanged"},
	[LODE_JOIN_FACT_OUTCOMES_FORETOLD] = {"outcomes", "foretold"},
	[LODE_JOIN_FACT_OUTCOMES_HARD] = {"outcomes", "hard"},
	[LODE_JOIN_FACT_AFTER_FORK] = {"after", "fork"},
	[LODE_JOIN_FACT_ROUNDS_FEW] = {"rounds", "few"},
	[LODE_JOIN_FACT_ROUNDS_SOME] = {"rounds", "some"},
	[LODE_JOIN_FACT_ROUNDS_MANY] = {"rounds", "many"},
};

void lode_join_fact_name(LodeJoinFact fact, const char **out_name_space, const char **out_value)
{
	*out_name_space = names[fact].name_space;
	*out_value = names[fact].value;
}

/* --- observed --- */

enum {
	LEAST_CALLS = 20, /* that were compared */
	LEAST_RUNS = 3,   /* of a repeated string instruction */
};

/* Enough were seen, and of them such a share has it. */
static bool has_share(uint32_t part, uint32_t whole, uint32_t enough, double share)
{
	return part > 0 && whole >= enough && part >= share * whole;
}

static uint32_t observed_facts(const LodeJoinCode *code, const LodeObservedInstruction *it)
{
	const uint32_t seen = LODE_OBSERVED_STEPS;
	LodeForetold foretold = lode_window_foretold(it);
	bool is_load = (code->kinds >> LODE_KIND_LOAD & 1) != 0;
	bool has_same_arguments = has_share(
		it->calls.same_arguments, it->calls.compared, LEAST_CALLS, LEAST_REPEATED);
	/* A denormal number that was seen once was there. */
	const bool facts[LODE_N_JOIN_FACTS] = {
		[LODE_JOIN_FACT_DENORMAL_OPERAND] = has_share(
			it->denormals, it->steps, 1, LEAST_DENORMAL),
		[LODE_JOIN_FACT_DENORMAL_RESULT] = has_share(
			it->underflows, it->steps, 1, LEAST_DENORMAL),
		[LODE_JOIN_FACT_SPLIT_LINE] = has_share(it->split, it->accesses, seen, LEAST_SPLIT),
		[LODE_JOIN_FACT_SPLIT_PAGE] = has_share(
			it->split_pages, it->accesses, seen, LEAST_SPLIT),
		[LODE_JOIN_FACT_REPEATS_ADDRESS] =
			is_load && has_share(it->repeated, lode_window_compared_accesses(it), seen,
					   LEAST_REPEATED),
		[LODE_JOIN_FACT_REPEATS_ARGUMENTS] = has_same_arguments,
		[LODE_JOIN_FACT_REPEATS_RESULT] = has_same_arguments &&
	                                          has_share(it->calls.same_results,
							  it->calls.compared_results,
							  LEAST_CALLS / 2, LEAST_REPEATED),
		[LODE_JOIN_FACT_OUTCOMES_FORETOLD] = foretold == LODE_FORETOLD_ALL,
		[LODE_JOIN_FACT_OUTCOMES_HARD] = foretold == LODE_FORETOLD_HARD,
	};
	uint32_t bits = 0;

	for (unsigned i = 0; i < LODE_N_JOIN_FACTS; i++)
		bits |= (uint32_t)facts[i] << i;
	return bits;
}

/* --- forks --- */

typedef struct {
	const LodeProfile *profile;
	LodeJoinCode *codes;
	uint32_t *first_edges; /* × (instructions + 1): of profile->code.edges, by source */
} Forks;

/* Where an instruction leads inside its function, without calls. */
typedef struct {
	uint32_t targets[8]; /* of jumps through tables no more */
	unsigned n;
	double taken, passed; /* executions of a conditional branch */
} Ways;

/* Nothing where it is in a different function, or one of them already. */
static void add_target(const Forks *self, uint32_t source, uint32_t target, Ways *ways)
{
	if (lode_profile_instruction(self->profile, source)->function !=
		lode_profile_instruction(self->profile, target)->function)
		return;
	for (unsigned i = 0; i < ways->n; i++)
		if (ways->targets[i] == target)
			return;
	if (ways->n < G_N_ELEMENTS(ways->targets))
		ways->targets[ways->n++] = target;
}

static Ways find_ways(const Forks *self, uint32_t instruction)
{
	const LodeInstruction *own = lode_profile_instruction(self->profile, instruction);
	uint32_t end = self->first_edges[instruction + 1];
	Ways ways = {.passed = MAX(own->next_count, 0)};

	if (own->next_count >= 0 && instruction + 1 < self->profile->code.instructions->len)
		add_target(self, instruction, instruction + 1, &ways);
	for (uint32_t i = self->first_edges[instruction]; i < end; i++) {
		const LodeEdge *edge = &LODE_AT(self->profile->code.edges, LodeEdge, i);
		if (edge->kind == LODE_EDGE_TAKEN)
			ways.taken += edge->count;
		if (edge->kind == LODE_EDGE_FALL_THROUGH)
			ways.passed += edge->count;
		if (edge->kind == LODE_EDGE_TAKEN || edge->kind == LODE_EDGE_JUMP ||
			edge->kind == LODE_EDGE_FALL_THROUGH)
			add_target(self, instruction, edge->target, &ways);
	}
	return ways;
}

static bool leads_on(const LodeJoinCode *code)
{
	return (code->kinds & (1u << LODE_KIND_CALL | 1u << LODE_KIND_RET)) == 0;
}

/* Whether samples lie on the first two instructions of a way. */
static bool has_weight(const Forks *self, uint32_t head)
{
	const LodeProfile *profile = self->profile;

	if (lode_profile_event_value(profile, profile->code.weight_event, head) > 0)
		return true;
	const Ways on = leads_on(&self->codes[head]) ? find_ways(self, head) : (Ways){0};
	for (unsigned i = 0; i < on.n; i++)
		if (lode_profile_event_value(profile, profile->code.weight_event, on.targets[i]) >
			0)
			return true;
	return false;
}

static bool are_both(double one, double other)
{
	return MIN(one, other) >= LEAST_WAY * (one + other) && one + other > 0;
}

/* Steps out of a branch, and of them those to the instruction after it. */
static void observe(const Forks *self, uint32_t branch, double *out_steps, double *out_passed)
{
	const LodeWindows *windows = self->profile->windows;
	const LodeInstruction *own = lode_profile_instruction(self->profile, branch);
	bool has_next = branch + 1 < self->profile->code.instructions->len &&
	                own[1].function == own->function &&
	                own[1].address == own->address + self->codes[branch].length;
	const LodeObservedEdge *passed =
		has_next ? lode_windows_find_edge(windows, branch, branch + 1) : NULL;

	*out_steps = (double)lode_windows_outcomes(windows, branch);
	*out_passed = passed != NULL ? passed->steps : 0;
}

/* Estimates of executions are not asked: where they were inferred, the samples are. */
static bool is_fork(const Forks *self, uint32_t branch, const Ways *ways)
{
	double steps = 0, passed = 0;

	/* Windows have some of what was counted, or of another run. */
	if (self->profile->run.frequency == LODE_FREQUENCY_EXACT)
		return are_both(ways->taken, ways->passed);
	if (self->profile->windows != NULL)
		observe(self, branch, &steps, &passed);
	if (steps >= LODE_OBSERVED_STEPS)
		return are_both(steps - passed, passed);
	if (self->profile->run.frequency != LODE_FREQUENCY_INFERRED)
		return are_both(ways->taken, ways->passed);
	return ways->n == 2 && has_weight(self, ways->targets[0]) &&
	       has_weight(self, ways->targets[1]);
}

static void mark_after(const Forks *self, const Ways *ways)
{
	const uint32_t bit = 1u << LODE_JOIN_FACT_AFTER_FORK;

	for (unsigned i = 0; i < ways->n; i++) {
		uint32_t head = ways->targets[i];
		self->codes[head].facts |= bit;
		if (!leads_on(&self->codes[head]))
			continue;
		const Ways on = find_ways(self, head);
		for (unsigned k = 0; k < on.n; k++)
			self->codes[on.targets[k]].facts |= bit;
	}
}

static void find_forks(const LodeProfile *profile, LodeJoinCode *codes)
{
	uint32_t n = profile->code.instructions->len, edge = 0;
	g_autofree uint32_t *first_edges = g_new(uint32_t, n + 1);
	const Forks self = {profile, codes, first_edges};

	for (uint32_t i = 0; i <= n; i++) {
		while (edge < profile->code.edges->len &&
			LODE_AT(profile->code.edges, LodeEdge, edge).source < i)
			edge++;
		first_edges[i] = edge;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (codes[i].branch != LODE_BRANCH_CONDITIONAL)
			continue;
		const Ways ways = find_ways(&self, i);
		if (is_fork(&self, i, &ways))
			mark_after(&self, &ways);
	}
}

/* Windows go before the code. */
static void observe_rounds(LodeJoinCode *code, const LodeObservedInstruction *it)
{
	const LodeDecodedInstruction decoded = {.mnemonic = code->mnemonic, .prefix = code->prefix};
	double width = lode_instruction_string_width(&decoded);

	if (it->string_runs < LEAST_RUNS || width == 0)
		return;
	code->facts &= ~(1u << LODE_JOIN_FACT_ROUNDS_FEW | 1u << LODE_JOIN_FACT_ROUNDS_SOME |
			 1u << LODE_JOIN_FACT_ROUNDS_MANY);
	code->facts |= lode_string_rounds_facts(width * it->string_rounds / it->string_runs);
}

void lode_join_facts(const LodeProfile *profile, LodeJoinCode *codes)
{
	const GArray *observed = profile->windows != NULL ? profile->windows->instructions : NULL;

	for (guint i = 0; observed != NULL && i < observed->len; i++) {
		const LodeObservedInstruction *it = &LODE_AT(observed, LodeObservedInstruction, i);
		codes[it->instruction].facts |= observed_facts(&codes[it->instruction], it);
		observe_rounds(&codes[it->instruction], it);
	}
	find_forks(profile, codes);
}
