/* SPDX-License-Identifier: MIT */
/* The graph of a small profile: which edges it has at each granularity, within and across calls. */
#include "analyses/flow_graph/flow_graph.h"
#include "made_profile.h"
#include "model/mining_run.h"

/*
 *   main: 0 mov → 1 call ⟲ 2 jne → 3 ret      blocks {0} {1 2} {3}
 *   leaf: 4 add → 5 ret                        block {4 5}
 */
static const uint32_t blocks[] = {0, 1, 1, 2, 3, 3};
static const double counts[] = {1, 10, 10, 1, 10, 10};

static void add_function(LodeProfile *profile, const char *name, uint32_t first, uint32_t n)
{
	made_function(profile,
		(LodeFunction){.name = (char *)name, .address = first, .calls = counts[first]});
	for (uint32_t i = first; i < first + n; i++) {
		made_instruction(
			profile, (LodeInstruction){.address = i, .count = counts[i]}, NULL, 0);
		lode_profile_instruction(profile, i)->block = blocks[i];
	}
}

/* `returned` of the ten calls return by a known way. */
static LodeProfile *make_profile(double returned)
{
	LodeProfile *profile = made_profile("executions", LODE_EVENT_COUNT, "a.out");

	add_function(profile, "main", 0, 4);
	add_function(profile, "leaf", 4, 2);
	made_fall(profile, 0, 1);
	made_fall(profile, 1, 10);
	made_fall(profile, 2, 1);
	made_fall(profile, 4, 10);
	made_edge(profile, 1, 4, LODE_EDGE_CALL, 10);
	made_edge(profile, 2, 1, LODE_EDGE_TAKEN, 9);
	if (returned > 0)
		made_edge(profile, 5, 2, LODE_EDGE_RETURN, returned);
	return profile;
}

/* The edges as "source-target:count", by number. */
static void assert_edges(
	const LodeProfile *profile, const LodeMiningParameters *parameters, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, parameters, &error);
	g_autoptr(GString) text = g_string_new(NULL);

	g_assert_no_error(error);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++)
			g_string_append_printf(text, "%s%u-%u:%g", text->len > 0 ? " " : "",
				graph->vertex_instructions[v],
				graph->vertex_instructions[graph->edge_targets[i]],
				graph->edge_counts[i]);
	g_assert_cmpstr(text->str, ==, expected);
}

static void test_instructions(void)
{
	g_autoptr(LodeProfile) profile = make_profile(10);
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	assert_edges(profile, &parameters, "0-1:1 1-2:10 2-1:9 2-3:1 4-5:10");
	parameters.across_calls = true;
	assert_edges(profile, &parameters, "0-1:1 1-4:10 2-1:9 2-3:1 4-5:10 5-2:10");
}

/* What no return explains goes on as without calls. */
static void test_unknown_returns(void)
{
	g_autoptr(LodeProfile) some = make_profile(7), none = make_profile(0);
	g_autoptr(LodeProfile) nearly = make_profile(9.75);
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.across_calls = true;
	assert_edges(some, &parameters, "0-1:1 1-2:3 1-4:10 2-1:9 2-3:1 4-5:10 5-2:7");
	assert_edges(none, &parameters, "0-1:1 1-2:10 1-4:10 2-1:9 2-3:1 4-5:10");
	assert_edges(nearly, &parameters, "0-1:1 1-4:10 2-1:9 2-3:1 4-5:10 5-2:9.75");
}

/* Where one end is filtered out, neither the call nor the return is there. */
static void test_filtered(void)
{
	g_autoptr(LodeProfile) profile = make_profile(10);
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.across_calls = true;
	parameters.functions = "main";
	assert_edges(profile, &parameters, "0-1:1 1-2:10 2-1:9 2-3:1");
	parameters.functions = "leaf";
	assert_edges(profile, &parameters, "4-5:10");
}

/* A block ends at a call that is followed. */
static void test_blocks(void)
{
	g_autoptr(LodeProfile) profile = make_profile(10);
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.granularity = LODE_GRANULARITY_BLOCK;
	assert_edges(profile, &parameters, "0-1:1 1-1:9 1-3:1");
	parameters.across_calls = true;
	assert_edges(profile, &parameters, "0-1:1 1-4:10 2-1:9 2-3:1 4-2:10");
}

static void test_functions(void)
{
	g_autoptr(LodeProfile) profile = make_profile(10);
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.granularity = LODE_GRANULARITY_FUNCTION;
	made_edge(profile, 4, 4, LODE_EDGE_CALL, 3); /* a recursion */
	assert_edges(profile, &parameters, "0-4:10 4-4:3");
	parameters.across_calls = true;
	assert_edges(profile, &parameters, "0-4:10 4-0:10 4-4:3");
}

static void assert_attributes(
	const LodeProfile *profile, const LodeMiningParameters *parameters, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, parameters, &error);

	g_assert_no_error(error);
	g_autofree char *names = g_strjoinv(" ", graph->attribute_names);
	g_assert_cmpstr(names, ==, expected);
}

/* Gives the instructions 0 … 5 values of an event, which becomes attributes. */
static LodeProfile *make_event_profile(
	LodeFrequency frequency, LodeEventKind kind, const double values[6])
{
	LodeProfile *profile = make_profile(10);
	uint32_t event = lode_profile_add_event(profile, "miss", NULL, kind, NULL, 0);

	profile->run.frequency = frequency;
	lode_profile_event(profile, event)->is_attribute = true;
	for (uint32_t i = 0; i < 6; i++) {
		LodeCost cost = {event, values[i]};
		if (values[i] > 0)
			g_array_append_val(profile->code.costs, cost);
		LODE_AT(profile->code.cost_starts, uint32_t, i + 1) = profile->code.costs->len;
	}
	return profile;
}

/* The attributes of each vertex: "; ev:miss; …". */
static void assert_grades(
	const LodeProfile *profile, const LodeMiningParameters *parameters, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, parameters, &error);
	g_autoptr(GString) text = g_string_new(NULL);

	g_assert_no_error(error);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		uint32_t class = graph->attribute_classes[v];
		g_string_append(text, v > 0 ? "; " : "");
		for (uint32_t i = graph->class_starts[class]; i < graph->class_starts[class + 1];
			i++)
			g_string_append_printf(text, "%s%s",
				i > graph->class_starts[class] ? " " : "",
				graph->attribute_names[graph->class_members[i]]);
	}
	g_assert_cmpstr(text->str, ==, expected);
}

/* Executions are 1, 10, 10, 1, 10, 10. */
static void test_event_grades(void)
{
	const double values[6] = {0.009, 0.1, 1, 0.5, 4.99, 0};
	const double samples[6] = {0, 2, 2, 2, 8, 7};
	g_autoptr(LodeProfile)
		counted = make_event_profile(LODE_FREQUENCY_EXACT, LODE_EVENT_RECORDED, values);
	g_autoptr(LodeProfile)
		inferred = make_event_profile(LODE_FREQUENCY_INFERRED, LODE_EVENT_SAMPLED, values);
	g_autoptr(LodeProfile)
		joined = make_event_profile(LODE_FREQUENCY_EXACT, LODE_EVENT_SAMPLED, samples);
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	assert_grades(counted, &parameters,
		"; ev:miss; ev:miss ev:miss:10; ev:miss ev:miss:10 ev:miss:50; "
		"ev:miss ev:miss:10; ");
	assert_grades(inferred, &parameters, "ev:miss; ev:miss; ev:miss; ev:miss; ev:miss; ");
	/* 2 is a sample; four of them are enough. */
	assert_grades(joined, &parameters,
		"; ev:miss; ev:miss; ev:miss; ev:miss ev:miss:10 ev:miss:50; ev:miss");
	parameters.event_rate = 0.1;
	assert_grades(counted, &parameters, "; ; ev:miss; ev:miss ev:miss:50; ev:miss; ");
	parameters.exclude = "ev:miss";
	assert_grades(counted, &parameters, "; ; ; ev:miss:50; ; ");
}

/* Which attributes are mined: the general ones, those that are asked for, and the user's own. */
static void test_namespaces(void)
{
	static const char *const names[] = {"op:mov", "needs:load", "needs:load-pointer",
		"address:load", "address:load-stack", "chain:2", "chain:4", "user:lookup", "inl:f"};
	g_autoptr(LodeProfile) profile = make_profile(10);
	LodeMiningParameters parameters;
	uint32_t ids[G_N_ELEMENTS(names)];

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		ids[i] = lode_profile_attribute(profile, names[i]);
	lode_profile_instruction(profile, 0)->attribute_set = lode_profile_attribute_set(
		profile, ids, G_N_ELEMENTS(ids));
	lode_mining_parameters_init(&parameters);
	assert_attributes(
		profile, &parameters, "address:load chain:4 needs:load op:mov user:lookup");
	parameters.exclude = "*:load";
	assert_attributes(profile, &parameters, "chain:4 op:mov user:lookup");
	parameters.exclude = NULL;
	parameters.attributes = "needs,address,chain";
	assert_attributes(profile, &parameters,
		"address:load address:load-stack chain:2 chain:4 needs:load needs:load-pointer");
}

static void assert_events(const LodeProfile *profile, const char *weight, const char *expected)
{
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.weight = weight;
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, &parameters, &error);
	g_assert_no_error(error);
	g_autofree char *names = g_strjoinv(" ", graph->event_names);
	g_assert_cmpstr(names, ==, expected);
}

/* Weight as sampled and as charged is one column; its attribute has the event's plain name. */
static void test_causes(void)
{
	static const char *const names[] = {
		"clock", "clock:cause", "misses", "misses:cause", "faults"};
	g_autoptr(LodeProfile) profile = make_profile(10);
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;

	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		lode_profile_add_event(profile, names[i], NULL, LODE_EVENT_SAMPLED, NULL, 0);
	uint32_t misses = lode_profile_find_event(profile, "misses:cause");
	lode_profile_event(profile, misses)->is_attribute = true;
	const LodeCost cost = {misses, 5};
	g_array_append_val(profile->code.costs, cost);
	LODE_AT(profile->code.cost_starts, uint32_t, profile->code.instructions->len) = 1;
	assert_events(profile, "clock:cause", "misses:cause faults");
	assert_events(profile, "clock", "misses:cause faults");
	assert_events(profile, "faults", "clock:cause misses:cause");
	assert_events(profile, "misses", "clock:cause faults");
	lode_mining_parameters_init(&parameters);
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, &parameters, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(graph->n_attributes, ==, 1);
	g_assert_cmpstr(graph->attribute_names[0], ==, "ev:misses");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/profile_graph/instructions", test_instructions);
	g_test_add_func("/profile_graph/unknown_returns", test_unknown_returns);
	g_test_add_func("/profile_graph/filtered", test_filtered);
	g_test_add_func("/profile_graph/blocks", test_blocks);
	g_test_add_func("/profile_graph/functions", test_functions);
	g_test_add_func("/profile_graph/event_grades", test_event_grades);
	g_test_add_func("/profile_graph/namespaces", test_namespaces);
	g_test_add_func("/profile_graph/causes", test_causes);
	return g_test_run();
}
