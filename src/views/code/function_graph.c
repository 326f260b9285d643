/* SPDX-License-Identifier: MIT */
#include "views/code/function_graph.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "views/code/function_name.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"

#include <string.h>

enum { MAX_NEIGHBOURS = 100 };

typedef struct {
	uint32_t source, target; /* blocks */
	LodeEdgeKind kind;
	double count;
} BlockEdge;

typedef struct {
	uint32_t function;
	double count;
} Neighbour;

typedef struct {
	const LodeProfile *profile;
	uint32_t number, weight_event;
	const LodeFunction *function;
	GArray *edges;             /* BlockEdge */
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
	BlockEdge edge = {block_of(self, source), block_of(self, target), kind, count};

	if (edge.source == LODE_NONE || edge.target == LODE_NONE)
		return;
	/* The next instruction of the same block is not an edge, a jump to the block's begin is
	 * one. */
	if (edge.source == edge.target &&
		(kind == LODE_EDGE_FALL_THROUGH || kind == LODE_EDGE_REPEAT))
		return;
	g_array_append_val(self->edges, edge);
}

static void add_neighbour(GHashTable *counts, uint32_t function, double count)
{
	double *sum = g_hash_table_lookup(counts, GUINT_TO_POINTER(function));

	if (sum == NULL) {
		sum = g_new0(double, 1);
		g_hash_table_insert(counts, GUINT_TO_POINTER(function), sum);
	}
	*sum += count;
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
	const GArray *edges = self->profile->edges;
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
	const GArray *edges = self->profile->edges;

	for (guint i = 0; i < edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, i);
		if (edge->kind == LODE_EDGE_CALL && is_own(self, edge->target))
			add_neighbour(callers,
				lode_profile_instruction(self->profile, edge->source)->function,
				edge->count);
	}
}

static void put_address(LodeJsonStream *json, const char *name, uint64_t address)
{
	g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address);

	lode_json_member_string(json, name, text);
}

static double *block_weights(const Graph *self)
{
	const LodeFunction *function = self->function;
	double *weights = g_new0(double, (size_t)function->n_blocks + 1);

	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t block = block_of(self, function->first_instruction + i);
		if (block != LODE_NONE && self->weight_event != LODE_NONE)
			weights[block - function->first_block] += lode_profile_event_value(
				self->profile, self->weight_event, function->first_instruction + i);
	}
	return weights;
}

static void put_blocks(Graph *self)
{
	double total = lode_profile_event_total(self->profile, self->weight_event);
	g_autofree double *weights = block_weights(self);
	LodeJsonStream *json = &self->json;

	lode_json_key(json, "blocks");
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < self->function->n_blocks; i++) {
		const LodeBlock *block = lode_profile_block(
			self->profile, self->function->first_block + i);
		lode_json_line(json);
		lode_json_begin(json, '{');
		put_address(json, "address", block->address);
		put_address(json, "end", block->end);
		lode_json_member_number(json, "executions", block->count);
		lode_json_member_number(json, "weight", weights[i]);
		lode_json_member_number(json, "share", lode_share_of(weights[i], total));
		lode_json_member_number(json, "loop_depth", block->loop_depth);
		lode_json_member_bool(json, "is_loop_head", block->is_loop_head);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_edges(Graph *self)
{
	LodeJsonStream *json = &self->json;

	lode_json_key(json, "edges");
	lode_json_begin(json, '[');
	for (guint i = 0; i < self->edges->len; i++) {
		const BlockEdge *edge = &g_array_index(self->edges, BlockEdge, i);
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_number(json, "source", edge->source - self->function->first_block);
		lode_json_member_number(json, "target", edge->target - self->function->first_block);
		lode_json_member_string(json, "kind", lode_edge_kind_to_text(edge->kind));
		lode_json_member_number(json, "count", edge->count);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_neighbours(Graph *self, const char *name, const GArray *neighbours)
{
	LodeJsonStream *json = &self->json;
	g_autofree char *number = g_strconcat("n_", name, NULL);

	lode_json_member_number(json, number, neighbours->len);
	lode_json_key(json, name);
	lode_json_begin(json, '[');
	for (guint i = 0; i < MIN(neighbours->len, MAX_NEIGHBOURS); i++) {
		const Neighbour *one = &g_array_index(neighbours, Neighbour, i);
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_number(json, "number", one->function);
		lode_json_member_string(
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
}

bool lode_function_graph_write(const LodeProfile *profile, uint32_t weight_event, uint64_t number,
	FILE *out, GError **error)
{
	g_autoptr(GHashTable) callers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_autoptr(GHashTable) callees = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	if (number >= profile->functions->len) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no function %" G_GUINT64_FORMAT " in the profile", number);
		return false;
	}
	Graph self = {.profile = profile,
		.number = (uint32_t)number,
		.weight_event = weight_event,
		.function = lode_profile_function(profile, number),
		.edges = g_array_new(FALSE, FALSE, sizeof(BlockEdge))};
	find_own_edges(&self, callees);
	find_callers(&self, callers);
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
