/* SPDX-License-Identifier: MIT */
#include "random_case.h"

#include "base/text/number_format.h"
#include "model/mining_run.h"

#include <math.h>
#include <string.h>

enum { MAX_VERTICES = 7 };

static const char *const attribute_names[] = {
	"kind:load", "op:add", "op:mov", "ev:miss", "kind:store", "at:entry"};
static const char *const event_names[] = {"misses", "branches", "cycles"};

/* One graph before it is handed to the builder. */
typedef struct {
	GRand *random;
	bool is_rounded; /* weights and events are thirds and tenths */
	uint32_t n;
	double count[MAX_VERTICES];
	bool has_edge[MAX_VERTICES][MAX_VERTICES];
	double edge[MAX_VERTICES][MAX_VERTICES];
} Draft;

static bool chance(GRand *random, double probability)
{
	return g_rand_double(random) < probability;
}

static void draw_edges(Draft *self, double density)
{
	for (uint32_t i = 0; i < self->n; i++)
		for (uint32_t j = 0; j < self->n; j++)
			self->has_edge[i][j] = chance(self->random, j == i + 1 ? 0.8 : density);
}

/* Counts as they come, so that no flow is conserved. */
static void draw_counts(Draft *self)
{
	static const double counts[] = {0, 0.25, 1, 1, 2, 3, 4.5, 10};

	for (uint32_t i = 0; i < self->n; i++) {
		self->count[i] = counts[g_rand_int_range(self->random, 0, G_N_ELEMENTS(counts))];
		for (uint32_t j = 0; j < self->n; j++)
			self->edge[i][j] =
				counts[g_rand_int_range(self->random, 0, G_N_ELEMENTS(counts))];
	}
}

/* Counts of walks along the edges, so that flow is conserved. Multiples of a quarter are exact. */
static void draw_walks(Draft *self)
{
	double unit = chance(self->random, 0.3) ? 0.25 : 1;
	int n_walks = g_rand_int_range(self->random, 0, 12);

	for (int walk = 0; walk < n_walks; walk++) {
		uint32_t at = chance(self->random, 0.7) ? 0
		                                        : (uint32_t)g_rand_int_range(
								  self->random, 0, (gint32)self->n);
		self->count[at] += unit;
		for (uint32_t tries = 0; tries < 12; tries++) {
			uint32_t next = (uint32_t)g_rand_int_range(
				self->random, 0, (gint32)self->n);
			if (!self->has_edge[at][next])
				continue;
			self->edge[at][next] += unit;
			self->count[next] += unit;
			at = next;
		}
	}
}

static double draw_weight(GRand *random, double count)
{
	static const double costs[] = {0, 0.5, 1, 1, 1, 3, 20};

	if (chance(random, 0.1))
		return g_rand_int_range(random, 0, 5);
	return count * costs[g_rand_int_range(random, 0, G_N_ELEMENTS(costs))];
}

/* The weight of a vertex, and its events. */
static double draw_rounded(GRand *random, double count, double *events)
{
	static const double rates[] = {1.0 / 3, 0.1, 0.1, 0.7, 7.0 / 3, 0};

	for (size_t e = 0; e < G_N_ELEMENTS(event_names); e++)
		events[e] = count * rates[g_rand_int_range(random, 0, G_N_ELEMENTS(rates))];
	return count * rates[g_rand_int_range(random, 0, G_N_ELEMENTS(rates))];
}

static void add_draft(LodeFlowGraphBuilder *builder, const Draft *self, uint32_t n_attributes)
{
	double density = g_rand_double_range(self->random, 0.15, 0.6);
	bool is_flat = chance(self->random, 0.1);
	uint32_t ids[MAX_VERTICES];

	for (uint32_t i = 0; i < self->n; i++) {
		const char *attributes[G_N_ELEMENTS(attribute_names)];
		/* Cycles have the same rate on most vertices, as events do that are estimated. */
		double events[] = {0, 0, self->count[i] * (i % 4 == 3 ? 2.5 : 1)};
		size_t n = 0;
		for (uint32_t a = 0; a < n_attributes; a++)
			if (chance(self->random, density))
				attributes[n++] = attribute_names[a];
		for (size_t e = 0; e < 2; e++)
			if (chance(self->random, 0.4))
				events[e] = g_rand_int_range(self->random, 1, 9) * 0.5;
		double weight = is_flat ? self->count[i] * 2
		                        : draw_weight(self->random, self->count[i]);
		if (self->is_rounded)
			weight = draw_rounded(self->random, self->count[i], events);
		ids[i] = lode_flow_graph_builder_add_vertex(
			builder, weight, self->count[i], attributes, n, events);
	}
	for (uint32_t i = 0; i < self->n; i++)
		for (uint32_t j = 0; j < self->n; j++)
			if (self->has_edge[i][j])
				lode_flow_graph_builder_add_edge(
					builder, ids[i], ids[j], self->edge[i][j]);
}

/* As calls and returns are. */
static void add_edges_between(LodeFlowGraphBuilder *builder, GRand *random, uint32_t n_vertices)
{
	for (uint32_t i = 0; i < n_vertices / 2; i++)
		lode_flow_graph_builder_add_edge(builder,
			(uint32_t)g_rand_int_range(random, 0, (gint32)n_vertices),
			(uint32_t)g_rand_int_range(random, 0, (gint32)n_vertices),
			g_rand_int_range(random, 0, 4));
}

static LodeFlowGraph *draw_graph(GRand *random, bool is_rounded)
{
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(
		event_names, G_N_ELEMENTS(event_names));
	uint32_t n_attributes = (uint32_t)g_rand_int_range(random, 2, 7);
	uint32_t n_graphs = (uint32_t)g_rand_int_range(random, 1, 5);
	double density = g_rand_double_range(random, 0.02, 0.25);
	bool is_conserving = chance(random, 0.5), is_joined = chance(random, 0.3);
	uint32_t n_vertices = 0;

	for (uint32_t i = 0; i < n_graphs; i++) {
		Draft draft = {.random = random, .is_rounded = is_rounded};
		draft.n = (uint32_t)g_rand_int_range(random, 1, MAX_VERTICES + 1);
		lode_flow_graph_builder_add_graph(builder, i);
		draw_edges(&draft, density);
		if (is_conserving)
			draw_walks(&draft);
		else
			draw_counts(&draft);
		add_draft(builder, &draft, n_attributes);
		n_vertices += draft.n;
	}
	if (is_joined)
		add_edges_between(builder, random, n_vertices);
	return lode_flow_graph_builder_finish(builder);
}

/* A rough bound on the steps of a naive miner: sequences × paths of the greatest length. */
static double naive_steps(const LodeFlowGraph *graph, const LodeMiningParameters *parameters)
{
	double k = parameters->iterations;
	double length = k * (parameters->window + 1) + (k - 1) * parameters->gap;
	double degree = MAX(1, (double)graph->n_edges / MAX(1, graph->n_vertices));

	return graph->n_vertices * pow(degree, length - 1) * pow(1.4 * graph->n_attributes, k);
}

static void draw_parameters(GRand *random, const LodeFlowGraph *graph, LodeMiningParameters *out)
{
	lode_mining_parameters_init(out);
	out->gap = (uint32_t)g_rand_int_range(random, 0, 3);
	out->window = (uint32_t)g_rand_int_range(random, 0, 3);
	out->flow = (LodeFlowModel)g_rand_int_range(random, 0, 3);
	out->min_functions = chance(random, 0.25) ? 2 : 1;
	out->min_support = chance(random, 0.2) ? 0 : g_rand_double_range(random, 0.01, 0.5);
	if (chance(random, 0.3)) {
		out->min_support = g_rand_double_range(random, 0.3, 1.1);
		out->min_differential = g_rand_double_range(random, 0.01, 0.4);
	}
	out->iterations = (uint32_t)g_rand_int_range(random, 1, 6);
	while (out->iterations > 2 && naive_steps(graph, out) > 1.5e6)
		out->iterations--;
}

static RandomCase *draw_case(uint32_t seed, bool is_rounded)
{
	RandomCase *self = g_new0(RandomCase, 1);
	GRand *random = g_rand_new_with_seed(seed);

	self->seed = seed;
	self->graph = draw_graph(random, is_rounded);
	draw_parameters(random, self->graph, &self->parameters);
	g_rand_free(random);
	return self;
}

RandomCase *random_case_new(uint32_t seed)
{
	return draw_case(seed, false);
}

RandomCase *random_case_new_rounded(uint32_t seed)
{
	return draw_case(seed, true);
}

RandomCase *random_case_new_paths(uint32_t seed)
{
	RandomCase *self = g_new0(RandomCase, 1);
	GRand *random = g_rand_new_with_seed(seed);
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(
		event_names, G_N_ELEMENTS(event_names));
	uint32_t n_attributes = (uint32_t)g_rand_int_range(random, 2, 5);
	uint32_t n_graphs = (uint32_t)g_rand_int_range(random, 2, 9);

	for (uint32_t g = 0; g < n_graphs; g++) {
		Draft draft = {.random = random};
		draft.n = (uint32_t)g_rand_int_range(random, 1, MAX_VERTICES + 1);
		for (uint32_t i = 0; i < draft.n; i++) {
			draft.count[i] = 1;
			draft.has_edge[i][(i + 1) % draft.n] = i + 1 < draft.n;
			draft.edge[i][(i + 1) % draft.n] = 1;
		}
		lode_flow_graph_builder_add_graph(builder, g);
		add_draft(builder, &draft, n_attributes);
	}
	self->seed = seed;
	self->graph = lode_flow_graph_builder_finish(builder);
	lode_mining_parameters_init(&self->parameters);
	self->parameters.min_support = 0;
	self->parameters.gap = (uint32_t)g_rand_int_range(random, 0, 4);
	self->parameters.min_functions = (uint32_t)g_rand_int_range(
		random, 1, (gint32)n_graphs + 1);
	self->parameters.iterations = (uint32_t)g_rand_int_range(random, 1, 6);
	if (self->parameters.min_functions < 3)
		self->parameters.iterations = MIN(self->parameters.iterations, 4);
	g_rand_free(random);
	return self;
}

static void add_vertex_again(
	LodeFlowGraphBuilder *builder, const LodeFlowGraph *graph, uint32_t vertex)
{
	const char *attributes[G_N_ELEMENTS(attribute_names)];
	double events[G_N_ELEMENTS(event_names)] = {0};
	uint32_t class_id = graph->attribute_classes[vertex];
	size_t n = 0;

	for (uint32_t i = graph->class_starts[class_id]; i < graph->class_starts[class_id + 1]; i++)
		attributes[n++] = graph->attribute_names[graph->class_members[i]];
	for (uint32_t i = graph->event_starts[vertex]; i < graph->event_starts[vertex + 1]; i++)
		events[graph->event_ids[i]] += graph->event_values[i];
	lode_flow_graph_builder_add_vertex(
		builder, graph->weight[vertex], graph->count[vertex], attributes, n, events);
}

/* The vertices and edges of `graph`, as those of functions from `first_function` on. */
static void add_graph_again(LodeFlowGraphBuilder *builder, const LodeFlowGraph *graph,
	uint32_t first_vertex, uint32_t first_function)
{
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		if (v == 0 || graph->vertex_graphs[v] != graph->vertex_graphs[v - 1])
			lode_flow_graph_builder_add_graph(
				builder, first_function + graph->vertex_graphs[v]);
		add_vertex_again(builder, graph, v);
	}
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++)
			lode_flow_graph_builder_add_edge(builder, first_vertex + v,
				first_vertex + graph->edge_targets[i], graph->edge_counts[i]);
}

static RandomCase *case_of(const RandomCase *original, LodeFlowGraphBuilder *builder)
{
	RandomCase *self = g_new0(RandomCase, 1);

	self->seed = original->seed;
	self->parameters = original->parameters;
	self->graph = lode_flow_graph_builder_finish(builder);
	return self;
}

RandomCase *random_case_repeat(const RandomCase *self, uint32_t copies)
{
	const LodeFlowGraph *graph = self->graph;
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(
		(const char *const *)graph->event_names, graph->n_events);

	for (uint32_t copy = 0; copy < copies; copy++)
		add_graph_again(builder, graph, copy * graph->n_vertices, copy * graph->n_graphs);
	RandomCase *repeated = case_of(self, builder);
	repeated->parameters.min_functions *= copies;
	return repeated;
}

RandomCase *random_case_widen(const RandomCase *self, uint32_t n)
{
	static const double no_events[G_N_ELEMENTS(event_names)] = {0};
	const LodeFlowGraph *graph = self->graph;
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(
		(const char *const *)graph->event_names, graph->n_events);

	add_graph_again(builder, graph, 0, 0);
	lode_flow_graph_builder_add_graph(builder, graph->n_graphs);
	for (uint32_t i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("user:%03u", i);
		const char *attribute = name;
		lode_flow_graph_builder_add_vertex(builder, 0, 1e-13, &attribute, 1, no_events);
	}
	return case_of(self, builder);
}

RandomCase *random_case_reverse(const RandomCase *self)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t last = graph->n_vertices - 1;
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(
		(const char *const *)graph->event_names, graph->n_events);

	for (uint32_t v = graph->n_vertices; v-- > 0;) {
		if (v == last || graph->vertex_graphs[v] != graph->vertex_graphs[v + 1])
			lode_flow_graph_builder_add_graph(builder, graph->vertex_graphs[v]);
		add_vertex_again(builder, graph, v);
	}
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++)
			lode_flow_graph_builder_add_edge(builder, last - v,
				last - graph->edge_targets[i], graph->edge_counts[i]);
	RandomCase *reversed = case_of(self, builder);
	reversed->graph->total_count = graph->total_count;
	reversed->graph->total_weight = graph->total_weight;
	return reversed;
}

void random_case_free(RandomCase *self)
{
	if (self == NULL)
		return;
	lode_flow_graph_free(self->graph);
	g_free(self);
}

static void append_number(GString *text, double value)
{
	char buffer[LODE_NUMBER_SIZE];

	g_string_append_printf(text, " %s", lode_number_format_exact(value, buffer));
}

static void append_vertex(GString *text, const LodeFlowGraph *graph, uint32_t v)
{
	uint32_t class = graph->attribute_classes[v];

	g_string_append_printf(text, "v %u", v);
	append_number(text, graph->weight[v]);
	append_number(text, graph->count[v]);
	for (uint32_t i = graph->class_starts[class]; i < graph->class_starts[class + 1]; i++)
		g_string_append_printf(
			text, " %s", graph->attribute_names[graph->class_members[i]]);
	g_string_append_c(text, '\n');
	for (uint32_t i = graph->event_starts[v]; i < graph->event_starts[v + 1]; i++) {
		g_string_append_printf(text, "x %u %s", v, graph->event_names[graph->event_ids[i]]);
		append_number(text, graph->event_values[i]);
		g_string_append_c(text, '\n');
	}
	for (uint32_t e = graph->edge_starts[v]; e < graph->edge_starts[v + 1]; e++) {
		g_string_append_printf(text, "e %u %u", v, graph->edge_targets[e]);
		append_number(text, graph->edge_counts[e]);
		g_string_append_c(text, '\n');
	}
}

static char *case_text(const RandomCase *self)
{
	const LodeMiningParameters *parameters = &self->parameters;
	GString *text = g_string_new(NULL);

	g_string_append_printf(text,
		"# seed %u: gap %u, window %u, iterations %u, flow %s, min functions %u\n",
		self->seed, parameters->gap, parameters->window, parameters->iterations,
		lode_flow_model_to_text(parameters->flow), parameters->min_functions);
	g_string_append_printf(text, "# min support %.17g, min differential %.17g\nlode-flow 1\n",
		parameters->min_support, parameters->min_differential);
	for (uint32_t g = 0; g < self->graph->n_graphs; g++) {
		g_string_append_printf(text, "graph g%u\n", g);
		for (uint32_t v = self->graph->graph_starts[g];
			v < self->graph->graph_starts[g + 1]; v++)
			append_vertex(text, self->graph, v);
	}
	return g_string_free(text, FALSE);
}

void random_case_fail(const RandomCase *self, const char *format, ...)
{
	g_autofree char *text = case_text(self);
	g_autofree char *what = NULL;
	va_list arguments;

	va_start(arguments, format);
	what = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_test_message("%s\n%s", what, text);
	g_test_fail();
}
