/* SPDX-License-Identifier: MIT */
/* The instructions after forks in random profiles, as a naive computation from the definition has
 * them, and the shares from which on observed facts are attributes. */
#include "ingest/join/join.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include "seeds.h"

enum { N_FUNCTIONS = 3, OF_FUNCTION = 8, N = N_FUNCTIONS * OF_FUNCTION, LENGTH = 4, CASES = 2000 };

typedef struct {
	LodeProfile *profile;
	LodeJoinCode codes[N];
} Case;

/* A branch, jump, call, return or something else, and where it leads. */
static void add_instruction(Case *self, uint32_t i)
{
	LodeInstruction instruction = {.address = 0x1000 + LENGTH * i,
		.function = i / OF_FUNCTION,
		.next_count = random_int_range(-1, 20),
		.location = LODE_NONE,
		.block = LODE_NONE,
		.size = LENGTH};
	LodeJoinCode *code = &self->codes[i];
	int draw = random_int_range(0, 8);

	*code = (LodeJoinCode){.length = LENGTH};
	if (draw < 4) {
		code->branch = LODE_BRANCH_CONDITIONAL;
		code->kinds = 1u << LODE_KIND_BRANCH;
	} else if (draw == 4) {
		code->branch = LODE_BRANCH_JUMP;
		code->kinds = 1u << LODE_KIND_JUMP;
	} else if (draw == 5) {
		code->kinds = 1u << (random_bit() ? LODE_KIND_CALL : LODE_KIND_RET);
	}
	g_array_append_val(self->profile->code.instructions, instruction);
	bool leads = draw < 5 || (draw == 5 && (code->kinds >> LODE_KIND_CALL & 1) != 0);
	if (leads && random_int_range(0, 5) > 0) {
		const LodeEdge edge = {i, (uint32_t)random_int_range(0, N),
			draw < 4    ? LODE_EDGE_TAKEN
			: draw == 4 ? LODE_EDGE_JUMP
				    : LODE_EDGE_CALL,
			random_int_range(1, 20)};
		g_array_append_val(self->profile->code.edges, edge);
	}
}

static void add_windows(LodeProfile *profile)
{
	profile->windows = lode_windows_new();
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < N; k++) {
			const LodeObservedEdge edge = {i, k, (uint32_t)random_int_range(1, 60), 1};
			if (k == i + 1 ? random_bit() : random_int_range(0, N) == 0)
				g_array_append_val(profile->windows->edges, edge);
		}
}

static void set_up(Case *self)
{
	static const LodeFrequency frequencies[] = {
		LODE_FREQUENCY_EXACT, LODE_FREQUENCY_SAMPLED, LODE_FREQUENCY_INFERRED};
	LodeProfile *profile = self->profile = lode_profile_new();

	profile->run.frequency = frequencies[random_int_range(0, 3)];
	profile->code.weight_event = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		const LodeFunction function = {
			.first_instruction = i * OF_FUNCTION, .n_instructions = OF_FUNCTION};
		g_array_append_val(profile->code.functions, function);
	}
	for (uint32_t i = 0; i < N; i++)
		add_instruction(self, i);
	g_array_set_size(profile->code.cost_starts, 0);
	for (uint32_t i = 0; i < N; i++) {
		const LodeCost cost = {profile->code.weight_event, 1};
		const uint32_t first = profile->code.costs->len;
		g_array_append_val(profile->code.cost_starts, first);
		if (random_int_range(0, 3) > 0)
			g_array_append_val(profile->code.costs, cost);
	}
	const uint32_t end = profile->code.costs->len;
	g_array_append_val(profile->code.cost_starts, end);
	if (random_bit())
		add_windows(profile);
}

/* --- the definition --- */

static bool leads(const Case *self, uint32_t from, uint32_t to)
{
	const GArray *edges = self->profile->code.edges;

	if (from / OF_FUNCTION != to / OF_FUNCTION)
		return false;
	if (to == from + 1 && lode_profile_instruction(self->profile, from)->next_count >= 0)
		return true;
	for (guint i = 0; i < edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, i);
		if (edge->source == from && edge->target == to && edge->kind != LODE_EDGE_CALL)
			return true;
	}
	return false;
}

static bool ends(const Case *self, uint32_t i)
{
	return (self->codes[i].kinds & (1u << LODE_KIND_CALL | 1u << LODE_KIND_RET)) != 0;
}

static bool has_weight(const Case *self, uint32_t head)
{
	const LodeProfile *profile = self->profile;

	for (uint32_t i = 0; i < N; i++)
		if ((i == head || (!ends(self, head) && leads(self, head, i))) &&
			lode_profile_event_value(profile, profile->code.weight_event, i) > 0)
			return true;
	return false;
}

static bool is_fork(const Case *self, uint32_t branch)
{
	const LodeProfile *profile = self->profile;
	double taken = 0, passed = 0, steps = 0, steps_passed = 0;
	unsigned n_ways = 0, n_weights = 0;

	if (self->codes[branch].branch != LODE_BRANCH_CONDITIONAL)
		return false;
	for (guint i = 0; profile->windows != NULL && i < profile->windows->edges->len; i++) {
		const LodeObservedEdge *edge = &LODE_AT(
			profile->windows->edges, LodeObservedEdge, i);
		if (edge->source != branch)
			continue;
		steps += edge->steps;
		if (edge->target == branch + 1 && (branch + 1) % OF_FUNCTION != 0)
			steps_passed += edge->steps;
	}
	if (steps >= 30 && profile->run.frequency != LODE_FREQUENCY_EXACT)
		return MIN(steps_passed, steps - steps_passed) >= 0.1 * steps;
	passed = MAX(lode_profile_instruction(profile, branch)->next_count, 0);
	for (guint i = 0; i < profile->code.edges->len; i++)
		if (LODE_AT(profile->code.edges, LodeEdge, i).source == branch)
			taken += LODE_AT(profile->code.edges, LodeEdge, i).count;
	if (profile->run.frequency != LODE_FREQUENCY_INFERRED)
		return taken + passed > 0 && MIN(taken, passed) >= 0.1 * (taken + passed);
	for (uint32_t i = 0; i < N; i++) {
		n_ways += leads(self, branch, i);
		n_weights += leads(self, branch, i) && has_weight(self, i);
	}
	return n_ways == 2 && n_weights == 2;
}

static void test_forks(void)
{
	unsigned n_after = 0, n_all = 0;

	for (int round = 0; round < CASES; round++) {
		Case self;
		bool expected[N] = {false};
		set_up(&self);
		lode_join_facts(self.profile, self.codes);
		for (uint32_t b = 0; b < N; b++)
			for (uint32_t i = 0; is_fork(&self, b) && i < N; i++) {
				if (!leads(&self, b, i))
					continue;
				expected[i] = true;
				for (uint32_t k = 0; !ends(&self, i) && k < N; k++)
					expected[k] |= leads(&self, i, k);
			}
		for (uint32_t i = 0; i < N; i++) {
			bool is_after = (self.codes[i].facts >> LODE_JOIN_FACT_AFTER_FORK & 1) != 0;
			g_assert_cmpint(is_after, ==, expected[i]);
			n_after += is_after;
			n_all++;
		}
		lode_profile_free(self.profile);
	}
	g_test_message("%u of %u", n_after, n_all);
}

/* --- shares --- */

static void test_shares(void)
{
	static const struct {
		LodeObservedInstruction facts;
		uint32_t kinds;
		LodeJoinFact fact;
		bool is_so;
	} cases[] = {
		{{.steps = 100, .denormals = 1}, 0, LODE_JOIN_FACT_DENORMAL_OPERAND, true},
		{{.steps = 101, .denormals = 1}, 0, LODE_JOIN_FACT_DENORMAL_OPERAND, false},
		{{.steps = 1, .underflows = 1}, 0, LODE_JOIN_FACT_DENORMAL_RESULT, true},
		{{.steps = 10}, 0, LODE_JOIN_FACT_DENORMAL_RESULT, false},
		{{.accesses = 30, .split = 1}, 0, LODE_JOIN_FACT_SPLIT_LINE, true},
		{{.accesses = 29, .split = 29}, 0, LODE_JOIN_FACT_SPLIT_LINE, false},
		{{.accesses = 1000, .split = 9}, 0, LODE_JOIN_FACT_SPLIT_LINE, false},
		{{.accesses = 1000, .split = 10, .split_pages = 10}, 0, LODE_JOIN_FACT_SPLIT_PAGE,
			true},
		{{.accesses = 30, .repeated = 27}, 1u << LODE_KIND_LOAD,
			LODE_JOIN_FACT_REPEATS_ADDRESS, true},
		{{.accesses = 30, .repeated = 26}, 1u << LODE_KIND_LOAD,
			LODE_JOIN_FACT_REPEATS_ADDRESS, false},
		{{.accesses = 30, .repeated = 30}, 1u << LODE_KIND_STORE,
			LODE_JOIN_FACT_REPEATS_ADDRESS, false},
		{{.calls.compared = 20, .calls.same_arguments = 18}, 0,
			LODE_JOIN_FACT_REPEATS_ARGUMENTS, true},
		{{.calls.compared = 20, .calls.same_arguments = 17}, 0,
			LODE_JOIN_FACT_REPEATS_ARGUMENTS, false},
		{{.calls.compared = 19, .calls.same_arguments = 19}, 0,
			LODE_JOIN_FACT_REPEATS_ARGUMENTS, false},
		{{.calls.compared = 20,
			 .calls.same_arguments = 20,
			 .calls.compared_results = 10,
			 .calls.same_results = 9},
			0, LODE_JOIN_FACT_REPEATS_RESULT, true},
		{{.calls.compared = 20,
			 .calls.same_arguments = 20,
			 .calls.compared_results = 20,
			 .calls.same_results = 17},
			0, LODE_JOIN_FACT_REPEATS_RESULT, false},
		{{.calls.compared = 20,
			 .calls.same_arguments = 17,
			 .calls.compared_results = 17,
			 .calls.same_results = 17},
			0, LODE_JOIN_FACT_REPEATS_RESULT, false},
		{{.outcomes = 600, .unforetold = 3}, 0, LODE_JOIN_FACT_OUTCOMES_FORETOLD, true},
		{{.outcomes = 600, .unforetold = 4}, 0, LODE_JOIN_FACT_OUTCOMES_FORETOLD, false},
		{{.outcomes = 599}, 0, LODE_JOIN_FACT_OUTCOMES_FORETOLD, false},
		{{.outcomes = 600, .unforetold = 30}, 0, LODE_JOIN_FACT_OUTCOMES_HARD, true},
		{{.outcomes = 600, .unforetold = 29}, 0, LODE_JOIN_FACT_OUTCOMES_HARD, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = lode_profile_new();
		const LodeInstruction instruction = {.next_count = -1};
		LodeJoinCode code = {.length = LENGTH, .kinds = cases[i].kinds};
		g_array_append_val(profile->code.instructions, instruction);
		profile->windows = lode_windows_new();
		g_array_append_vals(profile->windows->instructions, &cases[i].facts, 1);
		lode_join_facts(profile, &code);
		g_test_message("case %zu", i);
		g_assert_cmpint((code.facts >> cases[i].fact & 1) != 0, ==, cases[i].is_so);
	}
}

/* --- rounds --- */

/* Rounds of `rep stosq` in windows, where the code says that there are few. */
static void test_string_rounds(void)
{
	static const struct {
		uint32_t runs, rounds;
		const char *value; /* of rounds: */
	} cases[] = {
		{2, 2 * 512, "few"}, /* not enough: what the code says */
		{3, 3 * 32, "few"},
		{3, 3 * 32 + 1, NULL},
		{3, 3 * 512 - 1, NULL},
		{3, 3 * 512, "many"},
	};
	static const uint8_t rep_stosq[] = {0xf3, 0x48, 0xab};
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;

	lode_instruction_decoder_init(&decoder);
	g_assert_true(lode_instruction_decoder_decode(
		&decoder, rep_stosq, sizeof(rep_stosq), 0x1000, &decoded));
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = lode_profile_new();
		const LodeInstruction instruction = {.next_count = -1};
		const LodeObservedInstruction facts = {
			.string_runs = cases[i].runs, .string_rounds = cases[i].rounds};
		LodeJoinCode code = {
			.length = decoded.length,
			.kinds = decoded.kinds,
			.mnemonic = decoded.mnemonic,
			.prefix = decoded.prefix,
			.is_repeat = decoded.is_repeat,
			.facts = 1u << LODE_JOIN_FACT_ROUNDS_FEW,
		};
		g_array_append_val(profile->code.instructions, instruction);
		profile->windows = lode_windows_new();
		g_array_append_val(profile->windows->instructions, facts);
		lode_join_facts(profile, &code);
		bool is_few = (code.facts >> LODE_JOIN_FACT_ROUNDS_FEW & 1) != 0;
		bool is_many = (code.facts >> LODE_JOIN_FACT_ROUNDS_MANY & 1) != 0;
		g_test_message("case %zu", i);
		g_assert_cmpint(is_few, ==, g_strcmp0(cases[i].value, "few") == 0);
		g_assert_cmpint(is_many, ==, g_strcmp0(cases[i].value, "many") == 0);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/join_facts/shares", test_shares);
	g_test_add_func("/join_facts/string_rounds", test_string_rounds);
	add_random_test("/join_facts/forks", test_forks, "R02S3b7a90c1d2e4f5061728394a5b6c7d8e",
		"R02S90ab12cd34ef56781a2b3c4d5e6f7081", NULL);
	return g_test_run();
}
