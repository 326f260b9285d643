/* SPDX-License-Identifier: MIT */
/*
 * Edges of kind return: from where callees end to the instruction after the call. Callgrind does
 * not write them. How often each call returned is known; where the callee ended is known when it
 * has one return, or jumps to one other function that has (as a PLT entry does). Where it has
 * several, the calls are shared out by how often each of them ran, and shares of less than half an
 * execution are left out. These edges are never part of the account of flow.
 */
#include "ingest/join/join_flow.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"

#include <math.h>

typedef LodeJoinFlow Flow;

enum { MAX_TAIL_DEPTH = 16 };

typedef enum {
	STATE_UNKNOWN,
	STATE_OPEN, /* being computed: a circle of tail calls */
	STATE_KNOWN,
} State;

/* One place where activations of a function end, with its share of them. */
typedef struct {
	uint32_t instruction;
	double share;
} Ending;

typedef struct {
	const Flow *flow;
	uint32_t *first_edges; /* of each function, and one more */
	GArray **endings;      /* Ending; of each function */
	uint8_t *states;       /* State */
	GArray *found;         /* LodeEdge */
} Returning;

static const LodeEdge *edge_at(const Returning *self, uint32_t index)
{
	return &LODE_AT(lode_code_of(self->flow->profile)->edges, LodeEdge, index);
}

static bool is_call(const Returning *self, uint32_t instruction)
{
	uint8_t branch = self->flow->codes[instruction].branch;

	return branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_INDIRECT_CALL;
}

/* Edges are sorted by source, and functions are ranges of instructions. */
static void split_edges(Returning *self)
{
	const LodeProfile *profile = self->flow->profile;
	uint32_t at = 0;

	self->first_edges = g_new(uint32_t, lode_code_of(profile)->functions->len + 1);
	for (guint i = 0; i < lode_code_of(profile)->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		uint32_t end = function->first_instruction + function->n_instructions;
		self->first_edges[i] = at;
		while (at < lode_code_of(profile)->edges->len && edge_at(self, at)->source < end)
			at++;
	}
	self->first_edges[lode_code_of(profile)->functions->len] = at;
}

static void add_ending(GArray *endings, uint32_t instruction, double weight)
{
	Ending ending = {instruction, weight};

	if (weight > 0)
		g_array_append_val(endings, ending);
}

static void add_own_returns(Returning *self, uint32_t function, GArray *endings)
{
	const LodeProfile *profile = self->flow->profile;
	const LodeFunction *row = lode_profile_function(profile, function);

	for (uint32_t i = row->first_instruction; i < row->first_instruction + row->n_instructions;
		i++)
		if (self->flow->codes[i].branch == LODE_BRANCH_RETURN)
			add_ending(endings, i,
				lode_profile_instruction(profile, i)->count - self->flow->out[i]);
}

static const GArray *find_endings(Returning *self, uint32_t function, int depth);

/* A jump to another function ends where that one does. */
static void add_tail_calls(Returning *self, uint32_t function, GArray *endings, int depth)
{
	for (uint32_t i = self->first_edges[function]; i < self->first_edges[function + 1]; i++) {
		const LodeEdge *edge = edge_at(self, i);
		uint32_t callee =
			lode_profile_instruction(self->flow->profile, edge->target)->function;
		if (edge->kind != LODE_EDGE_CALL || is_call(self, edge->source) ||
			callee == function)
			continue;
		const GArray *further = find_endings(self, callee, depth + 1);
		for (guint j = 0; further != NULL && j < further->len; j++) {
			const Ending *ending = &g_array_index(further, Ending, j);
			add_ending(endings, ending->instruction, ending->share * edge->count);
		}
	}
}

LODE_ORDER(compare_endings, Ending, LODE_ASCENDING(instruction))

/* Sums equal ones and makes the weights shares. */
static void normalise(GArray *endings)
{
	double sum = 0;
	guint kept = 0;

	g_array_sort(endings, compare_endings);
	for (guint i = 0; i < endings->len; i++) {
		Ending ending = g_array_index(endings, Ending, i);
		sum += ending.share;
		if (kept > 0 &&
			g_array_index(endings, Ending, kept - 1).instruction == ending.instruction)
			g_array_index(endings, Ending, kept - 1).share += ending.share;
		else
			g_array_index(endings, Ending, kept++) = ending;
	}
	g_array_set_size(endings, kept);
	for (guint i = 0; i < kept; i++)
		g_array_index(endings, Ending, i).share /= sum;
}

static const GArray *find_endings(Returning *self, uint32_t function, int depth)
{
	if (self->states[function] == STATE_KNOWN)
		return self->endings[function];
	if (self->states[function] == STATE_OPEN || depth > MAX_TAIL_DEPTH)
		return NULL;
	self->states[function] = STATE_OPEN;
	GArray *endings = g_array_new(FALSE, FALSE, sizeof(Ending));
	add_own_returns(self, function, endings);
	add_tail_calls(self, function, endings, depth);
	normalise(endings);
	self->states[function] = STATE_KNOWN;
	self->endings[function] = endings;
	return endings;
}

static void add_returns_of(Returning *self, const LodeEdge *call, uint32_t target, double returned)
{
	const GArray *endings = find_endings(
		self, lode_profile_instruction(self->flow->profile, call->target)->function, 0);

	for (guint i = 0; endings != NULL && i < endings->len; i++) {
		const Ending *ending = &g_array_index(endings, Ending, i);
		LodeEdge edge = {
			ending->instruction, target, LODE_EDGE_RETURN, returned * ending->share};
		if (edge.count >= 0.5)
			g_array_append_val(self->found, edge);
	}
}

/* The call edges of one instruction share its returns by how often each callee was called. */
static void add_site(Returning *self, uint32_t first, uint32_t end)
{
	uint32_t source = edge_at(self, first)->source;
	double returned = self->flow->returned[source], calls = 0;

	if (returned == 0 || !is_call(self, source))
		return;
	for (uint32_t i = first; i < end; i++)
		calls += edge_at(self, i)->kind == LODE_EDGE_CALL ? edge_at(self, i)->count : 0;
	for (uint32_t i = first; i < end; i++)
		if (edge_at(self, i)->kind == LODE_EDGE_CALL)
			add_returns_of(self, edge_at(self, i),
				lode_join_flow_following(self->flow, source),
				returned * edge_at(self, i)->count / calls);
}

static void add_sites(Returning *self)
{
	uint32_t n = lode_code_of(self->flow->profile)->edges->len, end;

	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1;
			end < n && edge_at(self, end)->source == edge_at(self, i)->source;)
			end++;
		add_site(self, i, end);
	}
}

void lode_join_add_return_edges(LodeJoinFlow *flow)
{
	LodeProfile *profile = flow->profile;
	guint n = MAX(lode_code_of(profile)->functions->len, 1);
	Returning returning = {
		.flow = flow,
		.endings = g_new0(GArray *, n),
		.states = g_new0(uint8_t, n),
		.found = g_array_new(FALSE, FALSE, sizeof(LodeEdge)),
	};

	split_edges(&returning);
	add_sites(&returning);
	g_array_append_vals(
		lode_code_of(profile)->edges, returning.found->data, returning.found->len);
	for (guint i = 0; i < n; i++)
		g_clear_pointer(&returning.endings[i], g_array_unref);
	g_array_unref(returning.found);
	g_free(returning.first_edges);
	g_free(returning.endings);
	g_free(returning.states);
}
