/* SPDX-License-Identifier: MIT */
#include "analyses/findings/observations.h"

#include "model/code.h"
#include "model/run/program_run.h"

#include <math.h>
#include <string.h>

/* Weight that was not sampled has no chance in it to judge by; it is taken as so many samples. */
#define SAMPLES_OF_COUNTED_WEIGHT 20000.0

/* A vertex that comes before in less than this share of the executions is ignored. */
#define MIN_SHARE 0.01

static double weight_of_a_sample(
	const LodeProfile *profile, const LodeFlowGraph *graph, const char *weight)
{
	uint32_t event = weight != NULL ? lode_profile_find_event(profile, weight)
	                                : lode_code_of(profile)->weight_event;
	bool is_sampled = event != LODE_NONE &&
	                  lode_profile_event(profile, event)->kind == LODE_EVENT_SAMPLED;

	if (is_sampled && lode_program_run_of(profile)->n_samples > 0)
		return graph->total_weight / lode_profile_equal_samples(profile);
	return graph->total_weight / SAMPLES_OF_COUNTED_WEIGHT;
}

/* Numbers the blocks of all vertices: what executes equally often. A call may not come back, or
 * come back twice, so that it ends one. */
static uint32_t number_blocks(
	const LodeProfile *profile, const LodeFlowGraph *graph, uint32_t *out_blocks)
{
	uint32_t n = 0;
	bool is_cut = true;

	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		uint32_t instruction = graph->vertex_instructions[v];
		const LodeInstruction *here = lode_profile_instruction(profile, instruction);
		bool continues = v > 0 && !is_cut && here->block != LODE_NONE &&
		                 graph->vertex_instructions[v - 1] + 1 == instruction &&
		                 here->block ==
		                         lode_profile_instruction(profile, instruction - 1)->block;
		n += !continues;
		out_blocks[v] = n - 1;
		is_cut = lode_profile_set_has(profile, here->attribute_set, "kind:call");
	}
	return n;
}

/* Keeps what executed; where that was not counted, what lies in blocks with samples. */
static void choose_vertices(LodeObservations *self, const LodeProfile *profile)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint32_t *blocks = g_new(uint32_t, graph->n_vertices + 1);
	uint32_t n_blocks = self->is_counted ? 1 : number_blocks(profile, graph, blocks);
	g_autofree double *weights = g_new0(double, n_blocks + 1);
	uint32_t previous = LODE_NONE;

	if (self->is_counted)
		memset(blocks, 0, sizeof(uint32_t) * graph->n_vertices);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		weights[blocks[v]] += graph->weight[v];
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		self->n_executed += graph->count[v] > 0;
		if (!(self->is_counted ? graph->count[v] > 0 : weights[blocks[v]] > 0))
			continue;
		self->n_blocks += blocks[v] != previous;
		previous = blocks[v];
		self->vertices[self->n] = v;
		self->blocks[self->n] = self->n_blocks - 1;
		self->samples[self->n] = graph->weight[v] / self->unit;
		self->executions[self->n] = self->is_counted ? graph->count[v] : 1;
		self->n++;
	}
	self->block_samples = g_new0(double, self->n_blocks + 1);
	self->block_sizes = g_new0(double, self->n_blocks + 1);
	self->sampled = g_new(uint32_t, self->n + 1);
	self->sampled_samples = g_new(double, self->n + 1);
	for (uint32_t u = 0; u < self->n; u++) {
		self->block_samples[self->blocks[u]] += self->samples[u];
		self->block_sizes[self->blocks[u]] += self->executions[u];
		self->sampled[self->n_sampled] = u;
		self->sampled_samples[self->n_sampled] = self->samples[u];
		self->n_sampled += self->samples[u] > 0;
	}
}

typedef struct {
	uint32_t source, target;
	double count;
} Edge;

/* The neighbours of observed vertices, by one end of the edges. */
static LodeNeighbour *gather(const LodeObservations *self, const Edge *edges, bool is_before,
	const double *sums, uint32_t **out_starts)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint32_t *observed = g_new(uint32_t, graph->n_vertices + 1);
	uint32_t *starts = g_new0(uint32_t, self->n + 2);

	for (uint32_t v = 0; v < graph->n_vertices; v++)
		observed[v] = LODE_NONE;
	for (uint32_t u = 0; u < self->n; u++)
		observed[self->vertices[u]] = u;
	for (uint32_t e = 0; e < graph->n_edges; e++) {
		uint32_t u = observed[is_before ? edges[e].target : edges[e].source];
		if (u != LODE_NONE)
			starts[u + 2]++;
	}
	for (uint32_t u = 0; u < self->n; u++)
		starts[u + 2] += starts[u + 1];
	LodeNeighbour *neighbours = g_new(LodeNeighbour, starts[self->n + 1] + 1);
	for (uint32_t e = 0; e < graph->n_edges; e++) {
		uint32_t own = is_before ? edges[e].target : edges[e].source;
		uint32_t u = observed[own];
		if (u == LODE_NONE)
			continue;
		/* Edges may sum to more than the executions where both are estimates. */
		double share = edges[e].count / fmax(graph->count[own], sums[own]);
		LodeNeighbour *neighbour = &neighbours[starts[u + 1]++];
		neighbour->vertex = is_before ? edges[e].source : edges[e].target;
		neighbour->share = share >= MIN_SHARE ? (float)share : 0;
	}
	*out_starts = starts;
	return neighbours;
}

static void find_neighbours(LodeObservations *self)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree Edge *edges = g_new(Edge, graph->n_edges + 1);
	g_autofree double *in = g_new0(double, graph->n_vertices + 1);
	g_autofree double *out = g_new0(double, graph->n_vertices + 1);

	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t e = graph->edge_starts[v]; e < graph->edge_starts[v + 1]; e++) {
			edges[e] = (Edge){v, graph->edge_targets[e], graph->edge_counts[e]};
			in[graph->edge_targets[e]] += graph->edge_counts[e];
			out[v] += graph->edge_counts[e];
		}
	self->before = gather(self, edges, true, in, &self->before_starts);
	self->after = gather(self, edges, false, out, &self->after_starts);
}

LodeObservations *lode_observations_new(
	const LodeProfile *profile, const LodeFlowGraph *graph, const char *weight)
{
	LodeObservations *self = g_new0(LodeObservations, 1);

	self->graph = graph;
	self->is_counted = lode_program_run_of(profile)->frequency != LODE_FREQUENCY_INFERRED;
	self->unit = weight_of_a_sample(profile, graph, weight);
	/* Without any weight there is nothing to divide. */
	if (!(self->unit > 0) || !isfinite(1 / self->unit))
		self->unit = 1;
	self->total_samples = self->least_samples = graph->total_weight / self->unit;
	self->total_executions = graph->total_count;
	self->vertices = g_new(uint32_t, graph->n_vertices + 1);
	self->blocks = g_new(uint32_t, graph->n_vertices + 1);
	self->samples = g_new(double, graph->n_vertices + 1);
	self->executions = g_new(double, graph->n_vertices + 1);
	choose_vertices(self, profile);
	find_neighbours(self);
	self->second = self->n;
	self->second_sampled = self->n_sampled;
	self->second_block = self->n_blocks;
	return self;
}

/* --- two profiles --- */

static void *join_arrays(const void *first, size_t n, const void *second, size_t m, size_t size)
{
	char *out = g_malloc0_n(n + m + 2, size);

	if (n > 0)
		memcpy(out, first, n * size);
	if (m > 0)
		memcpy(out + n * size, second, m * size);
	return out;
}

static void add_to_all(uint32_t *numbers, size_t n, uint32_t offset)
{
	for (size_t i = 0; i < n; i++)
		numbers[i] += offset;
}

/* The part's vertices become those of the joined graph, where they begin at `first_vertex`. */
static void move_part(LodeObservations *part, const LodeFlowGraph *joined, uint32_t first_vertex)
{
	add_to_all(part->vertices, part->n, first_vertex);
	for (uint32_t i = 0; i < part->before_starts[part->n]; i++)
		part->before[i].vertex += first_vertex;
	for (uint32_t i = 0; i < part->after_starts[part->n]; i++)
		part->after[i].vertex += first_vertex;
	part->graph = joined;
}

static LodeNeighbour *join_neighbours(LodeObservations *const parts[2], const LodeNeighbour *first,
	const uint32_t *first_starts, const LodeNeighbour *second, const uint32_t *second_starts,
	uint32_t **out_starts)
{
	uint32_t n = parts[0]->n, m = parts[1]->n;
	uint32_t *starts = join_arrays(first_starts, n, second_starts, m + 1, sizeof(uint32_t));

	add_to_all(starts + n, m + 1, first_starts[n]);
	*out_starts = starts;
	return join_arrays(first, first_starts[n], second, second_starts[m], sizeof(LodeNeighbour));
}

/* By the instructions of the second profile. */
static void find_counterparts(LodeObservations *self, const uint32_t *counterparts)
{
	const uint32_t *instructions = self->graph->vertex_instructions;
	g_autoptr(GHashTable) second = g_hash_table_new(NULL, NULL);

	self->counterparts = g_new(uint32_t, self->n + 1);
	for (uint32_t u = 0; u < self->n; u++) {
		self->counterparts[u] = LODE_NONE;
		if (u >= self->second && counterparts != NULL)
			g_hash_table_insert(second,
				GUINT_TO_POINTER(instructions[self->vertices[u]]),
				GUINT_TO_POINTER(u));
	}
	for (uint32_t u = 0; u < self->second && counterparts != NULL; u++) {
		uint32_t same = counterparts[instructions[self->vertices[u]]];
		void *found = NULL;
		if (same == LODE_NONE ||
			!g_hash_table_lookup_extended(second, GUINT_TO_POINTER(same), NULL, &found))
			continue;
		self->counterparts[u] = GPOINTER_TO_UINT(found);
		self->counterparts[GPOINTER_TO_UINT(found)] = u;
	}
}

LodeObservations *lode_observations_join(
	LodeObservations *const parts[2], const LodeFlowGraph *joined, const uint32_t *counterparts)
{
	LodeObservations *self = g_new0(LodeObservations, 1), *a = parts[0], *b = parts[1];
	uint32_t n_vertices = a->graph->n_vertices;

	self->graph = joined;
	self->is_counted = a->is_counted;
	self->unit = 1;
	move_part(a, joined, 0);
	move_part(b, joined, n_vertices);
	self->n = a->n + b->n;
	self->second = a->n;
	self->vertices = join_arrays(a->vertices, a->n, b->vertices, b->n, sizeof(uint32_t));
	self->samples = join_arrays(a->samples, a->n, b->samples, b->n, sizeof(double));
	self->executions = join_arrays(a->executions, a->n, b->executions, b->n, sizeof(double));
	self->n_blocks = a->n_blocks + b->n_blocks;
	self->second_block = a->n_blocks;
	self->blocks = join_arrays(a->blocks, a->n, b->blocks, b->n, sizeof(uint32_t));
	add_to_all(self->blocks + a->n, b->n, a->n_blocks);
	self->block_samples = join_arrays(
		a->block_samples, a->n_blocks, b->block_samples, b->n_blocks, sizeof(double));
	self->block_sizes = join_arrays(
		a->block_sizes, a->n_blocks, b->block_sizes, b->n_blocks, sizeof(double));
	self->n_sampled = a->n_sampled + b->n_sampled;
	self->second_sampled = a->n_sampled;
	self->sampled = join_arrays(
		a->sampled, a->n_sampled, b->sampled, b->n_sampled, sizeof(uint32_t));
	add_to_all(self->sampled + a->n_sampled, b->n_sampled, a->n);
	self->sampled_samples = join_arrays(
		a->sampled_samples, a->n_sampled, b->sampled_samples, b->n_sampled, sizeof(double));
	self->before = join_neighbours(parts, a->before, a->before_starts, b->before,
		b->before_starts, &self->before_starts);
	self->after = join_neighbours(
		parts, a->after, a->after_starts, b->after, b->after_starts, &self->after_starts);
	self->total_samples = a->total_samples + b->total_samples;
	self->least_samples = fmin(a->total_samples, b->total_samples);
	self->total_executions = a->total_executions + b->total_executions;
	self->n_executed = a->n_executed + b->n_executed;
	find_counterparts(self, counterparts);
	return self;
}

void lode_observations_free(LodeObservations *self)
{
	if (self == NULL)
		return;
	g_free(self->vertices);
	g_free(self->blocks);
	g_free(self->samples);
	g_free(self->executions);
	g_free(self->block_samples);
	g_free(self->block_sizes);
	g_free(self->sampled);
	g_free(self->sampled_samples);
	g_free(self->before_starts);
	g_free(self->after_starts);
	g_free(self->before);
	g_free(self->after);
	g_free(self->counterparts);
	g_free(self);
}
