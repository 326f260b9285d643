/* SPDX-License-Identifier: MIT */
/* Instruction sequences against brute force on random profiles of given graphs. */
#include "analyses/mine/instruction_miner.h"

#include "made_profile.h"
#include "naive_instructions.h"
#include "run_comparison.h"
#include "seeds.h"

enum { CASES = 300 };

static const LodeEdgeKind edge_kinds[] = {
	LODE_EDGE_GIVEN, LODE_EDGE_TAKEN, LODE_EDGE_JUMP, LODE_EDGE_FALL_THROUGH, LODE_EDGE_CALL};

static bool chance(GRand *random, double probability)
{
	return g_rand_double(random) < probability;
}

static const char *draw_attributes(GRand *random)
{
	static const char *const sets[][2] = {{"op:mov", "op:mov kind:load"},
		{"op:add", "op:add kind:load"}, {"op:jne", "op:jne kind:load"},
		{NULL, "kind:load"}};
	guint opcode = chance(random, 0.95) ? (guint)g_rand_int_range(random, 0, 3) : 3;

	return sets[opcode][chance(random, 0.5)];
}

static void add_function(LodeProfile *profile, GRand *random)
{
	int n = g_rand_int_range(random, 1, 7);

	made_function(profile, (LodeFunction){.source = LODE_FUNCTION_GIVEN, .name = "f"});
	for (int i = 0; i < n; i++) {
		const LodeInstruction row = {
			.address = (uint64_t)i, .count = g_rand_int_range(random, 0, 5)};
		bool falls = i + 1 < n && chance(random, 0.8);
		double next_count = falls ? g_rand_int_range(random, 0, 3) : -1;
		made_fall(profile, made_instruction(profile, row, draw_attributes(random), 0),
			next_count);
		for (uint32_t event = 0; event < 2; event++) {
			double value = g_rand_int_range(random, 1, 9);
			if (chance(random, 0.6))
				made_cost(profile, event, value);
		}
	}
}

static int compare_edges(const void *a, const void *b)
{
	const LodeEdge *left = a, *right = b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	if (left->target != right->target)
		return left->target < right->target ? -1 : 1;
	return (int)left->kind - (int)right->kind;
}

/* Edges inside functions and calls between them; some stand twice, with other kinds. */
static void add_edges(LodeProfile *profile, GRand *random)
{
	uint32_t n = profile->code.instructions->len;

	for (uint32_t i = 0; i < 2 * n / 3; i++) {
		LodeEdge edge = {(uint32_t)g_rand_int_range(random, 0, (gint32)n),
			(uint32_t)g_rand_int_range(random, 0, (gint32)n),
			edge_kinds[g_rand_int_range(random, 0, G_N_ELEMENTS(edge_kinds))],
			g_rand_int_range(random, 0, 4)};
		uint32_t source = lode_profile_instruction(profile, edge.source)->function;
		uint32_t target = lode_profile_instruction(profile, edge.target)->function;
		const LodeFunction *callee = lode_profile_function(profile, target);
		if (edge.kind == LODE_EDGE_CALL)
			edge.target = callee->first_instruction;
		if (edge.kind == LODE_EDGE_CALL || source == target)
			g_array_append_val(profile->code.edges, edge);
	}
	g_array_sort(profile->code.edges, compare_edges);
}

static LodeProfile *draw_profile(GRand *random)
{
	LodeProfile *profile = made_profile("cycles", LODE_EVENT_RECORDED, "graphs");
	gint32 n_functions = g_rand_int_range(random, 1, 4);

	lode_profile_image(profile, 0)->kind = LODE_IMAGE_GRAPHS;
	lode_profile_add_event(profile, "misses", NULL, LODE_EVENT_RECORDED, NULL, 0);
	for (gint32 i = 0; i < n_functions; i++)
		add_function(profile, random);
	add_edges(profile, random);
	return profile;
}

static void test_random_graphs(void)
{
	guint n_sequences = 0, n_across = 0;

	for (uint32_t seed = 1; seed <= CASES; seed++) {
		GRand *random = g_rand_new_with_seed(soak_seed(seed));
		g_autoptr(LodeProfile) profile = draw_profile(random);
		g_autoptr(GError) error = NULL;
		LodeMiningParameters parameters;
		lode_mining_parameters_init(&parameters);
		parameters.is_instruction_mode = true;
		parameters.across_calls = seed % 2 == 0;
		parameters.iterations = (uint32_t)g_rand_int_range(random, 1, 7);
		parameters.min_count = g_rand_int_range(random, 0, 5);
		g_rand_free(random);
		g_autoptr(LodeMiningRun) actual = lode_instruction_miner_run(
			profile, &parameters, "r", NULL, &error);
		g_assert_no_error(error);
		g_autoptr(LodeMiningRun)
			expected = naive_instruction_miner_run(profile, &parameters);
		g_autofree char *difference = run_difference(expected, actual);
		if (difference == NULL && !run_is_in_order(actual))
			difference = g_strdup("not in canonical order");
		if (difference != NULL) {
			g_test_message("seed %u, length %u, count > %g, calls %d: %s", seed,
				parameters.iterations, parameters.min_count,
				parameters.across_calls, difference);
			g_test_fail();
			return;
		}
		n_sequences += expected->sequences->len;
		n_across += parameters.across_calls ? expected->sequences->len : 0;
	}
	g_assert_cmpuint(n_sequences, >, 3 * CASES);
	g_assert_cmpuint(n_across, >, CASES);
}

static void test_max_sequences(void)
{
	GRand *random = g_rand_new_with_seed(soak_seed(12));
	g_autoptr(LodeProfile) profile = draw_profile(random);
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;

	g_rand_free(random);
	lode_mining_parameters_init(&parameters);
	parameters.iterations = 3;
	parameters.min_count = 0;
	g_autoptr(LodeMiningRun) all = naive_instruction_miner_run(profile, &parameters);
	g_assert_cmpuint(all->sequences->len, >, 2);
	for (guint limit = 1; limit <= all->sequences->len; limit++) {
		parameters.max_sequences = limit;
		g_autoptr(LodeMiningRun)
			run = lode_instruction_miner_run(profile, &parameters, "r", NULL, &error);
		g_assert_no_error(error);
		g_autofree char *difference = run_difference_of_part(all, run);
		g_assert_cmpstr(difference, ==, NULL);
		g_assert_cmpuint(run->sequences->len, ==, limit);
		g_assert_cmpint(run->is_complete, ==, limit == all->sequences->len);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/instruction-miner/random-graphs", test_random_graphs);
	g_test_add_func("/instruction-miner/max-sequences", test_max_sequences);
	return g_test_run();
}
