/* SPDX-License-Identifier: MIT */
/* The list of functions and the control flow of one, from a profile made by hand. */
#include "base/error.h"
#include "made_profile.h"
#include "sample_profile.h"
#include "views/code/function_graph.h"
#include "views/code/function_list.h"

#include <json-glib/json-glib.h>

static JsonNode *parse(FILE *file)
{
	g_autofree char *text = sample_close(file);
	g_autoptr(GError) error = NULL;
	JsonNode *node = json_from_string(text, &error);

	g_assert_no_error(error);
	return node;
}

static JsonNode *list(const LodeFunctionListOptions *options)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_function_list_write(
		profile, profile->code.weight_event, options, file, &error));
	g_assert_no_error(error);
	return parse(file);
}

/* "hot cold", and how many passed. */
static char *names_of(const LodeFunctionListOptions *options, int64_t *out_passed)
{
	g_autoptr(JsonNode) node = list(options);
	JsonObject *object = json_node_get_object(node);
	JsonArray *rows = json_object_get_array_member(object, "functions");
	GString *names = g_string_new(NULL);

	*out_passed = json_object_get_int_member(object, "passed");
	for (guint i = 0; i < json_array_get_length(rows); i++)
		g_string_append_printf(names, "%s%s", i > 0 ? " " : "",
			json_object_get_string_member(
				json_array_get_object_element(rows, i), "name"));
	return g_string_free(names, FALSE);
}

static void test_list(void)
{
	static const struct {
		LodeFunctionListOptions options;
		const char *names;
		int64_t passed;
	} cases[] = {
		{{.format = LODE_VIEW_JSON}, "hot cold", 2},
		{{.format = LODE_VIEW_JSON, .is_reversed = true}, "cold hot", 2},
		{{.format = LODE_VIEW_JSON, .order = LODE_FUNCTION_BY_NAME}, "cold hot", 2},
		{{.format = LODE_VIEW_JSON, .order = LODE_FUNCTION_BY_CALLS}, "hot cold", 2},
		{{.format = LODE_VIEW_JSON,
			 .order = LODE_FUNCTION_BY_EXECUTIONS,
			 .is_reversed = true},
			"cold hot", 2},
		{{.format = LODE_VIEW_JSON, .order = LODE_FUNCTION_BY_IMAGE}, "hot cold", 2},
		{{.format = LODE_VIEW_JSON, .text = "OL"}, "cold", 1},
		{{.format = LODE_VIEW_JSON, .image = "samp"}, "hot cold", 2},
		{{.format = LODE_VIEW_JSON, .image = "libc"}, "", 0},
		{{.format = LODE_VIEW_JSON, .limit = 1}, "hot", 2},
		{{.format = LODE_VIEW_JSON, .limit = 1, .offset = 1}, "cold", 2},
		{{.format = LODE_VIEW_JSON, .offset = 7}, "", 2},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		int64_t passed;
		g_autofree char *names = names_of(&cases[i].options, &passed);
		g_assert_cmpstr(names, ==, cases[i].names);
		g_assert_cmpint(passed, ==, cases[i].passed);
	}
}

/* 300 + 400 of 750 cycles are in `hot`. */
static void test_figures(void)
{
	LodeFunctionListOptions options = {.format = LODE_VIEW_JSON, .limit = 1};
	g_autoptr(JsonNode) node = list(&options);
	JsonObject *row = json_array_get_object_element(
		json_object_get_array_member(json_node_get_object(node), "functions"), 0);
	JsonObject *events = json_object_get_object_member(row, "events");

	g_assert_cmpfloat(json_object_get_double_member(row, "weight"), ==, 700);
	g_assert_cmpfloat_with_epsilon(
		json_object_get_double_member(row, "share"), 700.0 / 750, 1e-12);
	g_assert_cmpfloat(json_object_get_double_member(row, "executions"), ==, 300);
	g_assert_cmpfloat(json_object_get_double_member(row, "calls"), ==, 100);
	g_assert_cmpstr(json_object_get_string_member(row, "address"), ==, "0x1000");
	g_assert_cmpfloat(json_object_get_double_member(events, "l1d-miss"), ==, 40);
}

static void test_csv(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeFunctionListOptions options = {.format = LODE_VIEW_CSV};
	FILE *file = sample_open();

	g_assert_true(lode_function_list_write(
		profile, profile->code.weight_event, &options, file, NULL));
	g_autofree char *text = sample_close(file);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);
	g_assert_cmpuint(rows->len, ==, 3);
	g_assert_cmpstr(sample_cell(rows, 1, "name"), ==, "hot");
	g_assert_cmpstr(sample_cell(rows, 2, "event:cycles"), ==, "30");
}

static void add_block(LodeProfile *profile, uint64_t address, uint64_t end, double count)
{
	LodeBlock block = {.address = address, .end = end, .count = count};

	g_array_append_val(profile->code.blocks, block);
}

static void add_edge(LodeProfile *profile, uint32_t source, uint32_t target, LodeEdgeKind kind)
{
	made_edge(profile, source, target, kind, 10 * source + target);
}

/* hot: two blocks, of which the second jumps to itself and back to the first, and calls cold. */
static LodeProfile *profile_with_flow(void)
{
	LodeProfile *profile = sample_profile();

	add_block(profile, 0x1000, 0x1002, 100);
	add_block(profile, 0x1002, 0x1006, 100);
	lode_profile_function(profile, 0)->n_blocks = 2;
	lode_profile_function(profile, 1)->first_block = 2;
	for (uint32_t i = 0; i < 3; i++)
		lode_profile_instruction(profile, i)->block = i > 0;
	add_edge(profile, 1, 3, LODE_EDGE_CALL);
	add_edge(profile, 2, 0, LODE_EDGE_TAKEN);
	add_edge(profile, 2, 1, LODE_EDGE_JUMP);
	add_edge(profile, 5, 2, LODE_EDGE_RETURN);
	return profile;
}

static void test_graph(void)
{
	g_autoptr(LodeProfile) profile = profile_with_flow();
	FILE *file = sample_open();

	const LodeFunctionGraphOptions options = {.weight_event = profile->code.weight_event};

	g_assert_true(lode_function_graph_write(profile, &options, file, NULL));
	g_autoptr(JsonNode) node = parse(file);
	JsonObject *object = json_node_get_object(node);
	JsonArray *blocks = json_object_get_array_member(object, "blocks");
	JsonArray *edges = json_object_get_array_member(object, "edges");
	JsonArray *callees = json_object_get_array_member(object, "callees");
	g_autoptr(GString) found = g_string_new(NULL);

	g_assert_cmpuint(json_array_get_length(blocks), ==, 2);
	g_assert_cmpfloat(
		json_object_get_double_member(json_array_get_object_element(blocks, 0), "weight"),
		==, 500);
	for (guint i = 0; i < json_array_get_length(edges); i++) {
		JsonObject *edge = json_array_get_object_element(edges, i);
		g_string_append_printf(found, "%d>%d %s %g;",
			(int)json_object_get_int_member(edge, "source"),
			(int)json_object_get_int_member(edge, "target"),
			json_object_get_string_member(edge, "kind"),
			json_object_get_double_member(edge, "count"));
	}
	g_assert_cmpstr(found->str, ==, "0>1 fall-through 100;1>0 taken 20;1>1 jump 21;");
	g_assert_cmpuint(json_array_get_length(callees), ==, 1);
	g_assert_cmpstr(
		json_object_get_string_member(json_array_get_object_element(callees, 0), "name"),
		==, "cold");
	g_assert_cmpint(json_object_get_int_member(object, "n_callers"), ==, 0);
}

static void test_callers(void)
{
	g_autoptr(LodeProfile) profile = profile_with_flow();
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	LodeFunctionGraphOptions options = {.weight_event = LODE_NONE, .function = 1};

	g_assert_true(lode_function_graph_write(profile, &options, file, NULL));
	g_autoptr(JsonNode) node = parse(file);
	JsonObject *caller = json_array_get_object_element(
		json_object_get_array_member(json_node_get_object(node), "callers"), 0);
	g_assert_cmpstr(json_object_get_string_member(caller, "name"), ==, "hot");
	g_assert_cmpfloat(json_object_get_double_member(caller, "count"), ==, 13);
	options.function = 2;
	g_assert_false(lode_function_graph_write(profile, &options, stdout, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

enum { N_BLOCKS = 60 };

/* A function of blocks of one instruction each, with edges at random. Some never ran. */
static LodeProfile *random_function(GRand *random)
{
	LodeProfile *profile = lode_profile_new();

	made_image(profile, "image");
	made_function(profile, (LodeFunction){.name = "f"});
	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		double count = g_rand_int_range(random, -3, 10);
		made_block(
			profile, (LodeBlock){.address = i, .end = i + 1, .count = MAX(count, 0)});
		made_instruction(profile, (LodeInstruction){.address = i}, NULL, 0);
		for (uint32_t to = 0; to < N_BLOCKS; to++)
			if (g_rand_int_range(random, 0, 40) == 0)
				add_edge(profile, i, to, LODE_EDGE_JUMP);
	}
	return profile;
}

/* Steps along edges between blocks that ran, in either direction; N_BLOCKS: not reached. */
static void naive_distances(const LodeProfile *profile, uint32_t from, uint32_t *out)
{
	for (uint32_t i = 0; i < N_BLOCKS; i++)
		out[i] = i == from ? 0 : N_BLOCKS;
	for (int round = 0; round < N_BLOCKS; round++) {
		for (guint i = 0; i < profile->code.edges->len; i++) {
			const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
			uint32_t a = edge->source, b = edge->target;
			if (lode_profile_block(profile, a)->count > 0)
				out[a] = MIN(out[a], out[b] + 1);
			if (lode_profile_block(profile, b)->count > 0)
				out[b] = MIN(out[b], out[a] + 1);
		}
	}
}

/* How many blocks are before one in the order in which they are taken. */
static uint32_t naive_rank(const LodeProfile *profile, const uint32_t *distances, uint32_t block)
{
	double count = lode_profile_block(profile, block)->count;
	uint32_t rank = 0;

	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		double other = lode_profile_block(profile, i)->count;
		bool is_before = other > count || (other == count && i < block);
		rank += distances[i] < distances[block] ||
		        (distances[i] == distances[block] && distances[i] < N_BLOCKS && is_before);
	}
	return rank;
}

static void check_neighbourhood(const LodeProfile *profile, uint32_t centre, uint32_t limit)
{
	const LodeFunctionGraphOptions options = {
		.weight_event = LODE_NONE, .around = centre, .has_around = true, .limit = limit};
	FILE *file = sample_open();
	uint32_t distances[N_BLOCKS], n = 0;

	g_assert_true(lode_function_graph_write(profile, &options, file, NULL));
	g_autoptr(JsonNode) node = parse(file);
	JsonObject *object = json_node_get_object(node);
	JsonArray *blocks = json_object_get_array_member(object, "blocks");
	naive_distances(profile, centre, distances);
	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		if (distances[i] >= N_BLOCKS || naive_rank(profile, distances, i) >= limit)
			continue;
		g_autofree char *address = g_strdup_printf("0x%x", i);
		JsonObject *block = json_array_get_object_element(blocks, n++);
		g_assert_cmpstr(json_object_get_string_member(block, "address"), ==, address);
	}
	g_assert_cmpuint(json_array_get_length(blocks), ==, n);
	JsonObject *first = json_array_get_object_element(
		blocks, (guint)json_object_get_int_member(object, "centre"));
	g_autofree char *address = g_strdup_printf("0x%x", centre);
	g_assert_cmpstr(json_object_get_string_member(first, "address"), ==, address);
}

static void test_neighbourhood(void)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		g_autoptr(LodeProfile) profile = random_function(random);
		for (uint32_t centre = 0; centre < N_BLOCKS; centre += 7)
			if (lode_profile_block(profile, centre)->count > 0)
				check_neighbourhood(
					profile, centre, (uint32_t)g_rand_int_range(random, 1, 20));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/functions/list", test_list);
	g_test_add_func("/functions/figures", test_figures);
	g_test_add_func("/functions/csv", test_csv);
	g_test_add_func("/functions/graph", test_graph);
	g_test_add_func("/functions/neighbourhood", test_neighbourhood);
	g_test_add_func("/functions/callers", test_callers);
	return g_test_run();
}
