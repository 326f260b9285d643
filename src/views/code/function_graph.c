/* SPDX-License-Identifier: MIT */
#include "views/code/function_graph.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "base/error.h"
#include "model/code.h"
#include "model/observed/branch_shares.h"
#include "model/observed/windows.h"
#include "views/figures/profile_figures.h"
#include "views/form/function_name.h"
#include "views/profile/profile_json.h"

#include <string.h>

enum { MAX_NEIGHBOURS = 100 };

typedef struct {
	uint32_t source, target; /* blocks */
	LodeEdgeKind kind;
	double count;
	uint64_t steps, followed; /* in windows: by this edge, and by all from its instruction */
} BlockEdge;

typedef struct {
	uint32_t function;
	double count;
} Neighbour;

typedef struct {
	const LodeProfile *profile;
	const LodeFunctionGraphOptions *options;
	uint32_t number;
	const LodeFunction *function;
	GArray *edges;      /* BlockEdge */
	double *weights;    /* [blocks of the function] */
	uint32_t *position; /* [blocks of the function]: among those written; LODE_NONE */
	uint32_t n_ran, n_written, centre;
	GArray *callers, *callees; /* Neighbour, by count, falling */
	LodeJsonStream json;
} Graph;

static uint32_t block_of(const Graph *self, uint32_t instruction)
{
	return lode_profile_instruction(self->profile, instruction)->block;
}

static bool is_own(const Graph *self, uint32_t instruction)
{
	return lode_profile_instruction(self->profile, instruction)->function == self->number;
}

static void add_edge(Graph *self, uint32_t source, uint32_t target, LodeEdgeKind kind, double count)
{
	BlockEdge edge = {block_of(self, source), block_of(self, target), kind, count, 0, 0};

	uint32_t first = self->function->first_block, n = self->function->n_blocks;
	if (edge.source - first >= n || edge.target - first >= n)
		return;
	/* The next instruction of the same block is not an edge, a jump to the block's begin is
	 * one. */
	if (edge.source == edge.target &&
		(kind == LODE_EDGE_FALL_THROUGH || kind == LODE_EDGE_REPEAT))
		return;
	/* After a call windows see the callee's first instruction, not the next one. */
	LodeBranchShares shares;
	const LodeObservedEdge *observed =
		lode_windows_of(self->profile) != NULL
			? lode_windows_find_edge(lode_windows_of(self->profile), source, target)
			: NULL;
	edge.steps = observed != NULL ? observed->steps : 0;
	if (lode_windows_of(self->profile) != NULL &&
		(observed != NULL || lode_branch_shares_find(self->profile, source, &shares)))
		edge.followed = lode_windows_outcomes(lode_windows_of(self->profile), source);
	g_array_append_val(self->edges, edge);
}

static void add_neighbour(GHashTable *counts, uint32_t function, double count)
{
	*lode_sum_at(counts, GUINT_TO_POINTER(function)) += count;
}

LODE_ORDER(compare_neighbours, Neighbour, LODE_DESCENDING(count), LODE_ASCENDING(function))

static GArray *sorted_neighbours(GHashTable *counts)
{
	GArray *neighbours = g_array_new(FALSE, FALSE, sizeof(Neighbour));
	GHashTableIter iter;
	void *function, *count;

	g_hash_table_iter_init(&iter, counts);
	while (g_hash_table_iter_next(&iter, &function, &count)) {
		Neighbour one = {GPOINTER_TO_UINT(function), *(double *)count};
		g_array_append_val(neighbours, one);
	}
	g_array_sort(neighbours, compare_neighbours);
	return neighbours;
}

static void find_own_edges(Graph *self, GHashTable *callees)
{
	const GArray *edges = lode_code_of(self->profile)->edges;
	uint32_t first = self->function->first_instruction;
	uint32_t end = first + self->function->n_instructions;
	guint at = LODE_PARTITION_POINT(edges->len, i, LODE_AT(edges, LodeEdge, i).source < first);

	for (uint32_t i = first; i < end; i++) {
		double next = lode_profile_instruction(self->profile, i)->next_count;
		if (next >= 0 && i + 1 < end)
			add_edge(self, i, i + 1, LODE_EDGE_FALL_THROUGH, next);
	}
	for (; at < edges->len && LODE_AT(edges, LodeEdge, at).source < end; at++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, at);
		if (edge->kind == LODE_EDGE_CALL)
			add_neighbour(callees,
				lode_profile_instruction(self->profile, edge->target)->function,
				edge->count);
		else if (edge->kind != LODE_EDGE_RETURN && is_own(self, edge->target))
			add_edge(self, edge->source, edge->target, edge->kind, edge->count);
	}
}

static void find_callers(const Graph *self, GHashTable *callers)
{
	const GArray *edges = lode_code_of(self->profile)->edges;

	for (guint i = 0; i < edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, i);
		if (edge->kind == LODE_EDGE_CALL && is_own(self, edge->target))
			add_neighbour(callers,
				lode_profile_instruction(self->profile, edge->source)->function,
				edge->count);
	}
}

static const LodeBlock *block_at(const Graph *self, uint32_t block)
{
	return lode_profile_block(self->profile, self->function->first_block + block);
}

static void weigh_blocks(Graph *self)
{
	const LodeFunction *function = self->function;
	uint32_t event = self->options->weight_event;

	self->weights = g_new0(double, (size_t)function->n_blocks + 1);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t block = block_of(self, function->first_instruction + i);
		if (block - function->first_block < function->n_blocks && event != LODE_NONE)
			self->weights[block - function->first_block] += lode_profile_event_value(
				self->profile, event, function->first_instruction + i);
	}
}

/* --- the blocks that are written --- */

/* The block with the address that is asked for, if it ran, else the costliest. */
static uint32_t find_centre(const Graph *self)
{
	const LodeFunctionGraphOptions *options = self->options;
	uint32_t found = 0;

	for (uint32_t i = 0; i < self->function->n_blocks; i++) {
		const LodeBlock *block = block_at(self, i), *best = block_at(self, found);
		if (options->has_around && block->count > 0 && block->address <= options->around &&
			options->around < block->end)
			return i;
		if (self->weights[i] > self->weights[found] ||
			(self->weights[i] == self->weights[found] && block->count > best->count))
			found = i;
	}
	return found;
}

typedef struct {
	uint32_t block;
	double count;
} Reached;

LODE_ORDER(compare_reached, Reached, LODE_DESCENDING(count), LODE_ASCENDING(block))

LODE_ORDER(by_source, BlockEdge, LODE_ASCENDING(source), LODE_ASCENDING(target))
LODE_ORDER(by_target, BlockEdge, LODE_ASCENDING(target), LODE_ASCENDING(source))

/* Adds the blocks at the other ends of a block's edges that are not yet reached. */
static void reach(const Graph *self, const GArray *edges, bool are_outgoing, uint32_t block,
	bool *is_reached, GArray *out_next)
{
	uint32_t first_block = self->function->first_block, own = first_block + block;
	guint at = LODE_PARTITION_POINT(edges->len, i,
		(are_outgoing ? LODE_AT(edges, BlockEdge, i).source
			      : LODE_AT(edges, BlockEdge, i).target) < own);

	for (; at < edges->len; at++) {
		const BlockEdge *edge = &LODE_AT(edges, BlockEdge, at);
		if ((are_outgoing ? edge->source : edge->target) != own)
			break;
		uint32_t other = (are_outgoing ? edge->target : edge->source) - first_block;
		Reached one = {other, block_at(self, other)->count};
		if (is_reached[other] || !(one.count > 0))
			continue;
		is_reached[other] = true;
		g_array_append_val(out_next, one);
	}
}

/* Breadth first from the centre; gives which blocks are written. */
static void choose_around(const Graph *self, bool *out_is_written)
{
	uint32_t n = self->function->n_blocks, left = self->options->limit;
	g_autoptr(GArray) outgoing = g_array_copy(self->edges);
	g_autoptr(GArray) incoming = g_array_copy(self->edges);
	g_autoptr(GArray) now = g_array_new(FALSE, FALSE, sizeof(Reached));
	g_autofree bool *is_reached = g_new0(bool, n);
	Reached centre = {self->centre, 0};

	g_array_sort(outgoing, by_source);
	g_array_sort(incoming, by_target);
	g_array_append_val(now, centre);
	is_reached[self->centre] = true;
	while (now->len > 0 && left > 0) {
		GArray *next = g_array_new(FALSE, FALSE, sizeof(Reached));
		for (guint i = 0; i < now->len && left > 0; i++, left--) {
			uint32_t block = LODE_AT(now, Reached, i).block;
			out_is_written[block] = true;
			reach(self, outgoing, true, block, is_reached, next);
			reach(self, incoming, false, block, is_reached, next);
		}
		g_array_sort(next, compare_reached);
		g_array_unref(now);
		now = next;
	}
}

static void choose_blocks(Graph *self)
{
	uint32_t n = self->function->n_blocks;
	g_autofree bool *is_written = g_new0(bool, (size_t)n + 1);

	for (uint32_t i = 0; i < n; i++)
		self->n_ran += block_at(self, i)->count > 0;
	self->centre = n > 0 ? find_centre(self) : 0;
	bool is_part = self->options->limit > 0 && self->n_ran > self->options->limit;
	if (is_part)
		choose_around(self, is_written);
	self->position = g_new(uint32_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		self->position[i] = !is_part || is_written[i] ? self->n_written++ : LODE_NONE;
}

static void put_blocks(Graph *self)
{
	double total = lode_profile_event_total(self->profile, self->options->weight_event);
	uint32_t first = self->function->first_block;
	LodeJsonStream *json = &self->json;
	g_autofree uint32_t *left_out = g_new0(uint32_t, (size_t)self->function->n_blocks + 1);

	for (guint i = 0; i < self->edges->len; i++) {
		const BlockEdge *edge = &LODE_AT(self->edges, BlockEdge, i);
		left_out[edge->source - first] += self->position[edge->target - first] == LODE_NONE;
		left_out[edge->target - first] += self->position[edge->source - first] == LODE_NONE;
	}
	lode_json_member_begin(json, "blocks", '[');
	for (uint32_t i = 0; i < self->function->n_blocks; i++) {
		const LodeBlock *block = block_at(self, i);
		if (self->position[i] == LODE_NONE)
			continue;
		lode_json_line_begin(json, '{');
		lode_json_member_address(json, "address", block->address);
		lode_json_member_address(json, "end", block->end);
		lode_json_member_number(json, "executions", block->count);
		lode_json_member_number(json, "weight", self->weights[i]);
		lode_json_member_number(json, "share", lode_share_of(self->weights[i], total));
		lode_json_member_number(json, "loop_depth", block->loop_depth);
		lode_json_member_bool(json, "is_loop_head", block->is_loop_head);
		lode_json_member_number(json, "edges_left_out", left_out[i]);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_edges(Graph *self)
{
	LodeJsonStream *json = &self->json;

	lode_json_member_begin(json, "edges", '[');
	for (guint i = 0; i < self->edges->len; i++) {
		const BlockEdge *edge = &g_array_index(self->edges, BlockEdge, i);
		uint32_t source = self->position[edge->source - self->function->first_block];
		uint32_t target = self->position[edge->target - self->function->first_block];
		if (source == LODE_NONE || target == LODE_NONE)
			continue;
		lode_json_line_begin(json, '{');
		lode_json_member_number(json, "source", source);
		lode_json_member_number(json, "target", target);
		lode_json_member_string(json, "kind", lode_edge_kind_to_text(edge->kind));
		lode_json_member_number(json, "count", edge->count);
		if (edge->followed > 0) {
			lode_json_member_number(json, "steps", (double)edge->steps);
			lode_json_member_number(json, "followed", (double)edge->followed);
			lode_json_member_bool(
				json, "is_observed", edge->followed >= LODE_OBSERVED_STEPS);
		}
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_neighbours(Graph *self, const char *name, const GArray *neighbours)
{
	LodeJsonStream *json = &self->json;
	g_autofree char *number = g_strconcat("n_", name, NULL);

	lode_json_member_number(json, number, neighbours->len);
	lode_json_member_begin(json, name, '[');
	for (guint i = 0; i < MIN(neighbours->len, MAX_NEIGHBOURS); i++) {
		const Neighbour *one = &g_array_index(neighbours, Neighbour, i);
		lode_json_line_begin(json, '{');
		lode_json_member_number(json, "number", one->function);
		lode_function_name_json(
			json, "name", lode_profile_function(self->profile, one->function)->name);
		lode_json_member_number(json, "count", one->count);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void graph_clear(Graph *self)
{
	g_clear_pointer(&self->edges, g_array_unref);
	g_clear_pointer(&self->callers, g_array_unref);
	g_clear_pointer(&self->callees, g_array_unref);
	g_clear_pointer(&self->weights, g_free);
	g_clear_pointer(&self->position, g_free);
}

bool lode_function_graph_write(const LodeProfile *profile, const LodeFunctionGraphOptions *options,
	FILE *out, GError **error)
{
	g_autoptr(GHashTable) callers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_autoptr(GHashTable) callees = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	if (options->function >= lode_code_of(profile)->functions->len) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no function %" G_GUINT64_FORMAT " in the profile", options->function);
		return false;
	}
	Graph self = {.profile = profile,
		.options = options,
		.number = (uint32_t)options->function,
		.function = lode_profile_function(profile, options->function),
		.edges = g_array_new(FALSE, FALSE, sizeof(BlockEdge))};
	find_own_edges(&self, callees);
	find_callers(&self, callers);
	weigh_blocks(&self);
	choose_blocks(&self);
	self.callers = sorted_neighbours(callers);
	self.callees = sorted_neighbours(callees);
	lode_json_stream_init(&self.json, out);
	lode_json_begin(&self.json, '{');
	lode_json_line(&self.json);
	lode_profile_json_head(&self.json, profile);
	lode_json_line(&self.json);
	lode_json_member_number(&self.json, "number", self.number);
	lode_function_name_json(&self.json, "function", self.function->name);
	lode_json_member_number(&self.json, "calls", self.function->calls);
	lode_json_member_number(&self.json, "n_blocks", self.function->n_blocks);
	lode_json_member_number(&self.json, "n_blocks_that_ran", self.n_ran);
	if (self.n_written < self.function->n_blocks)
		lode_json_member_number(&self.json, "centre", self.position[self.centre]);
	lode_json_line(&self.json);
	put_blocks(&self);
	lode_json_line(&self.json);
	put_edges(&self);
	lode_json_line(&self.json);
	put_neighbours(&self, "callers", self.callers);
	lode_json_line(&self.json);
	put_neighbours(&self, "callees", self.callees);
	lode_json_end(&self.json, '}');
	graph_clear(&self);
	return lode_view_flush(out, error);
}
