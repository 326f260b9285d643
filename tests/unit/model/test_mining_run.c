/* SPDX-License-Identifier: MIT */
#include "model/mining_run.h"
#include "model/profile.h"

static LodeMiningRun *make_run(void)
{
	static const char *const names[] = {
		"at:entry", "ev:l1d-miss", "kind:load", "mem:indexed", "op:add", "user:op:x"};
	static const uint32_t items[] = {
		2 | LODE_ITEM_START, 1, 4 | LODE_ITEM_START, 0 | LODE_ITEM_START, 3, 5};
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	LodeMiningRun *run = lode_mining_run_new("a run", &parameters);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_ptr_array_add(run->attributes, g_strdup(names[i]));
	g_array_append_vals(run->items, items, G_N_ELEMENTS(items));
	LodeSequence sequences[] = {
		{.first_item = 0, .n_items = 3, .weight = 0.25, .frequency = 0.125},
		{.first_item = 3, .n_items = 3, .weight = 0.125, .frequency = 0.5},
		{.first_item = 2, .n_items = 1},
	};
	g_array_append_vals(run->sequences, sequences, G_N_ELEMENTS(sequences));
	return run;
}

static void assert_text(const LodeMiningRun *run, size_t index, const char *expected)
{
	g_autofree char *text = lode_mining_run_sequence_text(run, index);

	g_assert_cmpstr(text, ==, expected);
}

static void test_sequence_text(void)
{
	g_autoptr(LodeMiningRun) run = make_run();

	assert_text(run, 0, "⟨load l1d-miss⟩ → ⟨add⟩");
	assert_text(run, 1, "⟨indexed at:entry user:op:x⟩");
	assert_text(run, 2, "⟨add⟩");
}

static void test_items(void)
{
	g_autoptr(LodeMiningRun) run = make_run();
	const uint32_t *items = lode_mining_run_items(run, 1);

	g_assert_cmpuint(items[0], ==, LODE_ITEM_START);
	g_assert_cmpuint(LODE_ITEM_ATTRIBUTE(items[0]), ==, 0);
	g_assert_cmpuint(LODE_ITEM_ATTRIBUTE(items[2]), ==, 5);
}

static void test_supports(void)
{
	g_autoptr(LodeMiningRun) run = make_run();
	const LodeSequence *costly = &g_array_index(run->sequences, LodeSequence, 0);
	const LodeSequence *cheap = &g_array_index(run->sequences, LodeSequence, 1);

	g_assert_cmpfloat(lode_sequence_maximal(costly), ==, 0.25);
	g_assert_cmpfloat(lode_sequence_differential(costly), ==, 0.125);
	g_assert_cmpfloat(lode_sequence_excess(costly), ==, 0.125);
	g_assert_cmpfloat(lode_sequence_maximal(cheap), ==, 0.5);
	g_assert_cmpfloat(lode_sequence_differential(cheap), ==, 0.375);
	g_assert_cmpfloat(lode_sequence_excess(cheap), ==, -0.375);
}

/* A run owns its texts. */
static void test_copies(void)
{
	LodeMiningParameters parameters;
	char name[] = "name", functions[] = "^main$";

	lode_mining_parameters_init(&parameters);
	parameters.functions = functions;
	g_autoptr(LodeMiningRun) run = lode_mining_run_new(name, &parameters);
	name[0] = functions[0] = 'x';
	g_assert_cmpstr(run->name, ==, "name");
	g_assert_cmpstr(run->parameters.functions, ==, "^main$");
	g_assert_null(run->parameters.attributes);
	g_assert_null(run->parameters.weight);
	g_assert_true(run->is_complete);
}

static void test_defaults(void)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	g_assert_cmpuint(parameters.iterations, ==, 5);
	g_assert_cmpuint(parameters.gap, ==, 0);
	g_assert_cmpuint(parameters.min_functions, ==, 1);
	g_assert_cmpfloat(parameters.event_rate, ==, 0.01);
	g_assert_cmpfloat(parameters.min_differential, >, 1);
	g_assert_cmpuint(parameters.max_sequences, ==, 1000000);
	g_assert_cmpint(parameters.flow, ==, LODE_FLOW_POTENTIAL);
	g_assert_cmpint(parameters.granularity, ==, LODE_GRANULARITY_INSTRUCTION);
}

static void test_words(void)
{
	for (int i = 0; i <= LODE_FLOW_DEFINITE; i++)
		g_assert_cmpint(
			lode_flow_model_from_text(lode_flow_model_to_text((LodeFlowModel)i)), ==,
			i);
	for (int i = 0; i <= LODE_GRANULARITY_FUNCTION; i++)
		g_assert_cmpint(
			lode_granularity_from_text(lode_granularity_to_text((LodeGranularity)i)),
			==, i);
	g_assert_cmpint(lode_flow_model_from_text("Potential"), ==, -1);
	g_assert_cmpint(lode_granularity_from_text(""), ==, -1);
}

static void test_default_support(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	g_assert_cmpfloat(lode_mining_default_support(profile, NULL), ==, 0.01);
	lode_profile_add_event(profile, "time", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "miss", NULL, LODE_EVENT_RECORDED, NULL, 0);
	profile->code.weight_event = 0;
	profile->run.n_samples = 200;
	g_assert_cmpfloat(lode_mining_default_support(profile, NULL), ==, 0.05);
	g_assert_cmpfloat(lode_mining_default_support(profile, "miss"), ==, 0.01);
	g_assert_cmpfloat(lode_mining_default_support(profile, "none"), ==, 0.01);
	profile->run.n_samples = 20000;
	g_assert_cmpfloat(lode_mining_default_support(profile, "time"), ==, 0.01);
	profile->run.n_samples = 3;
	g_assert_cmpfloat(lode_mining_default_support(profile, "time"), ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mining_run/sequence_text", test_sequence_text);
	g_test_add_func("/mining_run/items", test_items);
	g_test_add_func("/mining_run/supports", test_supports);
	g_test_add_func("/mining_run/copies", test_copies);
	g_test_add_func("/mining_run/defaults", test_defaults);
	g_test_add_func("/mining_run/words", test_words);
	lode_mining_run_free(NULL);
	g_test_add_func("/mining-run/default-support", test_default_support);
	return g_test_run();
}
