/* SPDX-License-Identifier: MIT */
/*
 * A function is drawn as a tree of regions, so that counts follow from the top down and conserve
 * flow without solving anything:
 *
 *   region = run | if (p) region else region | loop (trips) region
 */
#include "synthetic_graph.h"

#include <math.h>
#include <string.h>

enum { MAX_ATTRIBUTES = 24, N_EXTRAS = 5, MAX_DEPTH = 12 };

/* What a compiler would add to each instruction: how many values, how skewed. */
static const struct {
	const char *name;
	uint32_t n;
	double skew;
} extras[N_EXTRAS] = {{"bytecode", 200, 0.8}, {"register", 32, 0.3}, {"node", 400, 0.8},
	{"line", 1000, 0.5}, {"phase", 64, 0.5}};

const SyntheticShape synthetic_shapes[] = {
	{"paper", 4000, 1000000, 150, 1.0, 0.5, 7, 0.05, 1},
	{"specjvm", 1500, 60000, 120, 1.0, 0.9, 1, 0.05, 2},
	{"method", 1, 4000, 90, 1.0, 0, 3, 0.05, 3},
};
const size_t n_synthetic_shapes = G_N_ELEMENTS(synthetic_shapes);

const SyntheticShape *synthetic_shape_find(const char *name)
{
	for (size_t i = 0; i < n_synthetic_shapes; i++)
		if (strcmp(synthetic_shapes[i].name, name) == 0)
			return &synthetic_shapes[i];
	return NULL;
}

/* What every instruction with an opcode has. */
typedef struct {
	char *op;
	const char *kinds[2];
	uint32_t n_kinds;
	bool is_memory;
	double cost;
	char *form, *unit;
} Opcode;

typedef struct {
	const SyntheticShape *shape;
	LodeFlowGraphBuilder *builder;
	uint64_t state;
	Opcode *opcodes;
	double *opcode_sums; /* Zipf, cumulated */
	char **extras[N_EXTRAS];
	double *extra_sums[N_EXTRAS];
	uint32_t n_left; /* vertices that the function may still have */
	uint32_t loop_depth;
} Drawing;

static uint64_t draw(Drawing *self)
{
	uint64_t z = self->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 ≤ x < 1 */
static double draw_share(Drawing *self)
{
	return (double)(draw(self) >> 11) * 0x1p-53;
}

static uint32_t draw_below(Drawing *self, uint32_t n)
{
	return (uint32_t)(draw_share(self) * n);
}

static double *sum_zipf(uint32_t n, double skew)
{
	double *sums = g_new(double, n);
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sums[i] = sum += pow(i + 1, -skew);
	for (uint32_t i = 0; i < n; i++)
		sums[i] /= sum;
	return sums;
}

static uint32_t draw_ranked(Drawing *self, const double *sums, uint32_t n)
{
	double share = draw_share(self);
	uint32_t low = 0, high = n - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (sums[middle] > share)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void draw_opcodes(Drawing *self)
{
	static const char *const kinds[] = {"kind:load", "kind:store", "kind:fp", "kind:simd",
		"kind:mul", "kind:convert", "kind:string", "kind:div"};

	self->opcodes = g_new0(Opcode, self->shape->n_opcodes);
	self->opcode_sums = sum_zipf(self->shape->n_opcodes, self->shape->opcode_skew);
	for (uint32_t i = 0; i < self->shape->n_opcodes; i++) {
		Opcode *opcode = &self->opcodes[i];
		uint32_t kind = i < 3 ? i : draw_below(self, 2 * G_N_ELEMENTS(kinds));
		opcode->op = g_strdup_printf("op:%03u", i);
		if (kind < G_N_ELEMENTS(kinds))
			opcode->kinds[opcode->n_kinds++] = kinds[kind];
		opcode->is_memory = kind < 2;
		opcode->cost = kind == 7 ? 20 : kind == 4 ? 3 : 1;
		opcode->form = g_strdup_printf("user:form-%u", draw_below(self, 24));
		opcode->unit = g_strdup_printf("user:unit-%u", draw_below(self, 12));
	}
	for (uint32_t i = 0; i < N_EXTRAS; i++) {
		self->extra_sums[i] = sum_zipf(extras[i].n, extras[i].skew);
		self->extras[i] = g_new0(char *, extras[i].n + 1);
		for (uint32_t j = 0; j < extras[i].n; j++)
			self->extras[i][j] = g_strdup_printf("user:%s-%u", extras[i].name, j);
	}
}

static void clear_opcodes(Drawing *self)
{
	for (uint32_t i = 0; i < self->shape->n_opcodes; i++) {
		g_free(self->opcodes[i].op);
		g_free(self->opcodes[i].form);
		g_free(self->opcodes[i].unit);
	}
	for (uint32_t i = 0; i < N_EXTRAS; i++) {
		g_strfreev(self->extras[i]);
		g_free(self->extra_sums[i]);
	}
	g_free(self->opcodes);
	g_free(self->opcode_sums);
}

static uint32_t add_vertex(Drawing *self, double count, const char *role)
{
	static const char *const places[] = {"mem:stack", "mem:stack", "mem:pointer", "mem:pointer",
		"mem:indexed", "mem:global"};
	static const char *const loops[] = {"loop:1", "loop:2", "loop:3"};
	const Opcode *opcode =
		&self->opcodes[draw_ranked(self, self->opcode_sums, self->shape->n_opcodes)];
	const char *attributes[MAX_ATTRIBUTES];
	double cost = opcode->cost, misses = 0;
	size_t n = 0;

	attributes[n++] = opcode->op;
	for (uint32_t i = 0; i < opcode->n_kinds; i++)
		attributes[n++] = opcode->kinds[i];
	if (role != NULL)
		attributes[n++] = role;
	if (self->loop_depth > 0)
		attributes[n++] = loops[MIN(self->loop_depth, 3) - 1];
	if (opcode->is_memory)
		attributes[n++] = places[draw_below(self, G_N_ELEMENTS(places))];
	if (opcode->is_memory && draw_share(self) < self->shape->miss_rate) {
		attributes[n++] = "ev:l1d-miss";
		misses = count * draw_share(self);
		cost += 10 * misses / fmax(count, 1e-9);
	}
	if (self->shape->n_extra > 0)
		attributes[n++] = opcode->form;
	if (self->shape->n_extra > 1)
		attributes[n++] = opcode->unit;
	for (uint32_t i = 2; i < self->shape->n_extra; i++)
		attributes[n++] = self->extras[i - 2][draw_ranked(
			self, self->extra_sums[i - 2], extras[i - 2].n)];
	if (self->n_left > 0)
		self->n_left--;
	return lode_flow_graph_builder_add_vertex(
		self->builder, cost * count, count, attributes, n, &misses);
}

/* The first and the last vertex of a region, which is entered and left as often. */
typedef struct {
	uint32_t first, last;
} Region;

static Region draw_run(Drawing *self, double count, const char *last_role)
{
	uint32_t length = 1 + draw_below(self, 9);
	Region region = {.first = add_vertex(self, count, length == 1 ? last_role : NULL)};

	region.last = region.first;
	for (uint32_t i = 1; i < length; i++) {
		uint32_t next = add_vertex(self, count, i + 1 == length ? last_role : NULL);
		lode_flow_graph_builder_add_edge(self->builder, region.last, next, count);
		region.last = next;
	}
	return region;
}

static Region draw_region(Drawing *self, double count, uint32_t depth);

static Region draw_branch(Drawing *self, double count, uint32_t depth)
{
	Region test = draw_run(self, count, "kind:branch");
	double taken = count *
	               (draw_share(self) < 0.6 ? pow(draw_share(self), 4) : draw_share(self));
	Region yes = draw_region(self, taken, depth + 1);
	uint32_t join;

	lode_flow_graph_builder_add_edge(self->builder, test.last, yes.first, taken);
	if (draw_share(self) < 0.5) {
		join = add_vertex(self, count, NULL);
		lode_flow_graph_builder_add_edge(self->builder, test.last, join, count - taken);
	} else {
		Region no = draw_region(self, count - taken, depth + 1);
		join = add_vertex(self, count, NULL);
		lode_flow_graph_builder_add_edge(self->builder, test.last, no.first, count - taken);
		lode_flow_graph_builder_add_edge(self->builder, no.last, join, count - taken);
	}
	lode_flow_graph_builder_add_edge(self->builder, yes.last, join, taken);
	return (Region){test.first, join};
}

static Region draw_loop(Drawing *self, double count, uint32_t depth)
{
	double trips = 1 + 7 * draw_share(self);
	Region head = draw_run(self, count, NULL);

	self->loop_depth++;
	Region body = draw_region(self, count * trips, depth + 1);
	Region back = draw_run(self, count * trips, "kind:branch");
	self->loop_depth--;
	uint32_t end = add_vertex(self, count, NULL);
	lode_flow_graph_builder_add_edge(self->builder, head.last, body.first, count);
	lode_flow_graph_builder_add_edge(self->builder, body.last, back.first, count * trips);
	lode_flow_graph_builder_add_edge(self->builder, back.last, body.first, count * (trips - 1));
	lode_flow_graph_builder_add_edge(self->builder, back.last, end, count);
	return (Region){head.first, end};
}

static Region draw_region(Drawing *self, double count, uint32_t depth)
{
	double share = draw_share(self);

	if (depth < MAX_DEPTH && self->n_left > 8 && share < 0.35)
		return draw_branch(self, count, depth);
	if (depth < MAX_DEPTH && self->n_left > 8 && share < 0.43)
		return draw_loop(self, count, depth);
	return draw_run(self, count, share < 0.6 ? "kind:call" : NULL);
}

static void draw_function(Drawing *self, uint32_t size, double count)
{
	Region whole;

	self->n_left = size;
	whole.last = add_vertex(self, count, "at:entry");
	while (self->n_left > 0) {
		Region next = draw_region(self, count, 0);
		lode_flow_graph_builder_add_edge(self->builder, whole.last, next.first, count);
		whole.last = next.last;
	}
}

LodeFlowGraph *synthetic_graph_new(const SyntheticShape *shape)
{
	static const char *const events[] = {"l1d-miss"};
	Drawing self = {.shape = shape, .state = shape->seed};
	uint32_t mean = shape->n_vertices / shape->n_functions, n_drawn = 0;

	self.builder = lode_flow_graph_builder_new(events, G_N_ELEMENTS(events));
	draw_opcodes(&self);
	for (uint32_t f = 0; f < shape->n_functions; f++) {
		uint32_t left = shape->n_vertices - MIN(n_drawn, shape->n_vertices);
		uint32_t size = f + 1 == shape->n_functions
		                        ? left
		                        : (uint32_t)(mean * -log(1 - draw_share(&self)));
		size = MAX(1, MIN(size, left));
		lode_flow_graph_builder_add_graph(self.builder, f);
		draw_function(&self, size, 1000 * pow(f + 1, -shape->function_skew));
		n_drawn += size;
	}
	clear_opcodes(&self);
	return lode_flow_graph_builder_finish(self.builder);
}
