/* SPDX-License-Identifier: MIT */
/*
 * The dependences of each executed instruction: the instructions that made the registers that it
 * reads, those of its address, and the value that it loads, and the length of the chain that it
 * ends. Functions are taken one by one, on all workers; each task writes only its own function's
 * codes.
 */
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/worker_pool.h"
#include "images/cores/core_calibration.h"
#include "ingest/join/attributes/dependence_search.h"
#include "ingest/join/attributes/dependences.h"
#include "ingest/join/attributes/string_rounds.h"
#include "ingest/join/loops/loop_bounds.h"
#include "ingest/join/loops/loop_dependences.h"
#include "ingest/join/loops/loop_shares.h"
#include "ingest/join/loops/observed_rounds.h"
#include "model/observed/loops.h"
#include "model/profile.h"

#include <string.h>

/* Loops with less of all weight are not kept. */
static const double LEAST_SHARE = 1e-4;

typedef struct {
	LodeDependenceSearch *search;
	LodeLoopDependences *in_loop;
	LodeLoopTimes *times;
	LodeNaturalLoop loop;
	LodeLoopStrides *strides;
	LodeRegisterUseCache *uses;
	GArray *nodes;       /* LodeDependenceNode */
	GArray *firsts;      /* uint32_t × (nodes + 1) */
	GArray *ways;        /* LodeDependenceWay */
	GArray *inflow;      /* double × nodes: executions that came from another instruction */
	GArray *repeats;     /* double × nodes: and from itself, by a repeat prefix */
	GArray *found;       /* LodeDependence × nodes */
	GArray *in_loops;    /* LodeLoopDependence × nodes */
	GArray *walks;       /* LodeLoopStride × nodes */
	GArray *code_edges;  /* CodeEdge */
	GArray *loops;       /* LodeLoop, of all functions that this worker took */
	GArray *leaves;      /* bool × nodes: as in LodeLoopCode */
	GArray *found_times; /* LodeLoopTime, likewise; head: the instruction */
	LodeLoopRounds *rounds;
	GArray *left; /* double: rounds that are left */
} Scratch;

typedef struct {
	LodeProfile *profile;
	LodeJoinCode *codes;
	LodeNeedMaking making;
	GArray *pairs; /* LodeLoopPair, by function */
	const LodeCore *core;
	double least_weight; /* of a loop that is kept */
	Scratch *scratch;    /* of each worker */
} Finding;

static bool is_block_start(const LodeProfile *profile, const LodeInstruction *instruction)
{
	return instruction->block == LODE_NONE ||
	       lode_profile_block(profile, instruction->block)->address == instruction->address;
}

static void add_nodes(const Finding *self, const LodeFunction *function, Scratch *scratch)
{
	gsize size;
	const uint8_t *code = g_bytes_get_data(function->code, &size);

	g_array_set_size(scratch->nodes, function->n_instructions);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t index = function->first_instruction + i;
		const LodeInstruction *instruction = lode_profile_instruction(self->profile, index);
		const LodeJoinCode *own = &self->codes[index];
		uint64_t offset = instruction->address - function->address;
		LodeDependenceNode *node = &g_array_index(scratch->nodes, LodeDependenceNode, i);
		*node = (LodeDependenceNode){
			.makes = lode_needs_made_by(&self->making, index),
			.loop_depth = own->loop_depth,
			.is_call = (own->kinds >> LODE_KIND_CALL & 1) != 0,
			.is_loop_head = own->is_loop_head,
			.is_block_start = is_block_start(self->profile, instruction),
		};
		node->is_known = own->length > 0 && offset < size && own->length <= size - offset &&
		                 lode_register_use_cache_decode(scratch->uses, &node->use,
					 code + offset, own->length, instruction->address);
		node->count = instruction->count;
		node->weight = self->profile->code.weight_event != LODE_NONE
		                       ? lode_profile_event_value(self->profile,
						 self->profile->code.weight_event, index)
		                       : 0;
		lode_loop_bounds_set_latencies(self->core, node);
	}
}

/* The edges of a function, in the profile's order: calls and edges inside of it. */
typedef struct {
	const LodeProfile *profile;
	uint32_t first, n; /* instructions */
	uint32_t edge, end_edge;
	uint32_t instruction; /* whose next_count comes next */
} EdgeWalk;

static EdgeWalk edge_walk(const LodeProfile *profile, const LodeFunction *function)
{
	const LodeEdge *edges = (const LodeEdge *)(const void *)profile->code.edges->data;
	uint32_t first = function->first_instruction, end = first + function->n_instructions;

	return (EdgeWalk){
		.profile = profile,
		.first = first,
		.n = function->n_instructions,
		.edge = LODE_PARTITION_POINT(profile->code.edges->len, i, edges[i].source < first),
		.end_edge = LODE_PARTITION_POINT(
			profile->code.edges->len, i, edges[i].source < end),
	};
}

/* The next edge inside the function, of a positive count, as numbers of its instructions. */
static bool next_edge(EdgeWalk *self, LodeEdge *out)
{
	while (self->instruction + 1 < self->n) {
		uint32_t i = self->instruction++;
		double count = lode_profile_instruction(self->profile, self->first + i)->next_count;
		*out = (LodeEdge){i, i + 1, LODE_EDGE_FALL_THROUGH, count};
		if (count > 0)
			return true;
	}
	while (self->edge < self->end_edge) {
		*out = LODE_AT(self->profile->code.edges, LodeEdge, self->edge++);
		bool is_inside = out->kind != LODE_EDGE_CALL && out->kind != LODE_EDGE_RETURN &&
		                 out->target - self->first < self->n;
		out->source -= self->first;
		out->target -= self->first;
		if (is_inside && out->count > 0)
			return true;
	}
	return false;
}

static void count_ways(const Finding *self, const LodeFunction *function, Scratch *scratch)
{
	uint32_t *firsts = (uint32_t *)(void *)scratch->firsts->data;
	double *inflow = (double *)(void *)scratch->inflow->data;
	double *repeats = (double *)(void *)scratch->repeats->data;
	EdgeWalk walk = edge_walk(self->profile, function);
	LodeEdge edge;

	while (next_edge(&walk, &edge)) {
		if (edge.kind == LODE_EDGE_REPEAT) {
			repeats[edge.target] += edge.count;
			continue;
		}
		inflow[edge.target] += edge.count;
		firsts[edge.target + 1]++;
	}
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		double count = lode_profile_instruction(
			self->profile, function->first_instruction + i)
		                       ->count;
		/* The rest came from other functions, or from nowhere known. */
		inflow[i] = MAX(inflow[i], count - repeats[i]);
		firsts[i + 1] += firsts[i];
	}
}

/* Rows by target, in the order of the edges: by a counting sort that leaves each row's start one
 * place further on, and then moves them back. */
static void add_ways(const Finding *self, const LodeFunction *function, Scratch *scratch)
{
	uint32_t n = function->n_instructions;
	EdgeWalk walk = edge_walk(self->profile, function);
	LodeEdge edge;

	g_array_set_size(scratch->firsts, 0);
	g_array_set_size(scratch->firsts, n + 1);
	g_array_set_size(scratch->inflow, 0);
	g_array_set_size(scratch->inflow, n);
	g_array_set_size(scratch->repeats, 0);
	g_array_set_size(scratch->repeats, n);
	count_ways(self, function, scratch);
	uint32_t *firsts = (uint32_t *)(void *)scratch->firsts->data;
	const double *inflow = (const double *)(void *)scratch->inflow->data;
	g_array_set_size(scratch->ways, firsts[n]);
	while (next_edge(&walk, &edge)) {
		if (edge.kind == LODE_EDGE_REPEAT)
			continue;
		g_array_index(scratch->ways, LodeDependenceWay, firsts[edge.target]++) =
			(LodeDependenceWay){edge.source, edge.count / inflow[edge.target]};
	}
	memmove(firsts + 1, firsts, n * sizeof(uint32_t));
	firsts[0] = 0;
}

/* --- times of loops --- */

typedef struct {
	uint32_t target, source; /* nodes */
} CodeEdge;

LODE_ORDER(compare_code_edges, CodeEdge, LODE_ASCENDING(target), LODE_ASCENDING(source))

/* Executions that are inferred leave out ways that no sample shows, such as those of the loop
 * around a long one. A loop's registers are followed over all ways that the code has. */
static void add_code_ways(const Finding *self, const LodeFunction *function, Scratch *scratch)
{
	bool *leaves;
	GArray *edges = scratch->code_edges, *ways = scratch->ways;
	const LodeInstruction *own = lode_profile_instruction(
		self->profile, function->first_instruction);
	uint32_t n = function->n_instructions;
	EdgeWalk walk = edge_walk(self->profile, function);
	LodeEdge edge;

	g_array_set_size(edges, 0);
	g_array_set_size(scratch->leaves, 0);
	g_array_set_size(scratch->leaves, n);
	leaves = (bool *)(void *)scratch->leaves->data;
	while (next_edge(&walk, &edge))
		if (edge.kind != LODE_EDGE_REPEAT)
			g_array_append_val(edges, ((CodeEdge){edge.target, edge.source}));
	for (uint32_t i = 0; i < n; i++) {
		const LodeJoinCode *code = &self->codes[function->first_instruction + i];
		bool is_jump = code->branch == LODE_BRANCH_CONDITIONAL ||
		               code->branch == LODE_BRANCH_JUMP;
		uint32_t to = LODE_PARTITION_POINT(n, k, own[k].address < code->target);
		bool is_inside = to < n && own[to].address == code->target;
		if (is_jump && is_inside)
			g_array_append_val(edges, ((CodeEdge){to, i}));
		bool goes_on = code->branch != LODE_BRANCH_JUMP &&
		               code->branch != LODE_BRANCH_INDIRECT_JUMP &&
		               code->branch != LODE_BRANCH_RETURN &&
		               code->branch != LODE_BRANCH_STOP;
		bool is_next = i + 1 < n && own[i].address + code->length == own[i + 1].address;
		if (goes_on && is_next)
			g_array_append_val(edges, ((CodeEdge){i + 1, i}));
		leaves[i] = (is_jump && !is_inside) || (goes_on && !is_next) ||
		            code->branch == LODE_BRANCH_RETURN || code->length == 0;
	}
	g_array_sort(edges, compare_code_edges);
	g_array_set_size(scratch->firsts, 0);
	g_array_set_size(scratch->firsts, n + 1);
	g_array_set_size(ways, 0);
	uint32_t *firsts = (uint32_t *)(void *)scratch->firsts->data;
	for (guint i = 0; i < edges->len; i++) {
		const CodeEdge *at = &LODE_AT(edges, CodeEdge, i);
		const LodeDependenceWay way = {.source = at->source};
		bool is_known = i > 0 && compare_code_edges(at, at - 1) == 0;
		if (is_known)
			continue;
		g_array_append_val(ways, way);
		firsts[at->target + 1]++;
	}
	for (uint32_t i = 0; i < n; i++)
		firsts[i + 1] += firsts[i];
}

typedef struct {
	const Finding *finding;
	const LodeFunction *function;
} Advancing;

static LodeLoopBytes bytes_of(const void *data, uint32_t node)
{
	const Advancing *self = data;
	const LodeFunction *function = self->function;
	uint32_t index = function->first_instruction + node;
	gsize size;
	const uint8_t *code = g_bytes_get_data(function->code, &size);
	uint64_t offset = lode_profile_instruction(self->finding->profile, index)->address -
	                  function->address;
	uint8_t length = self->finding->codes[index].length;

	return offset < size && length <= size - offset ? (LodeLoopBytes){code + offset, length}
	                                                : (LodeLoopBytes){NULL, 0};
}

/* The function in the profile that a node calls directly. */
static uint32_t called_by(const void *data, uint32_t node)
{
	const Advancing *self = data;
	const LodeProfile *profile = self->finding->profile;
	const LodeJoinCode *code = &self->finding->codes[self->function->first_instruction + node];
	uint32_t called = code->branch == LODE_BRANCH_CALL
	                          ? lode_join_find_function(
					    profile, self->function->image, code->target)
	                          : LODE_NONE;

	return called != LODE_NONE &&
	                       lode_profile_function(profile, called)->address == code->target
	               ? called
	               : LODE_NONE;
}

static LodeDependenceGraph code_graph(const LodeFunction *function, const Scratch *scratch)
{
	return (LodeDependenceGraph){
		.nodes = (const LodeDependenceNode *)(const void *)scratch->nodes->data,
		.n = function->n_instructions,
		.first_ways = (const uint32_t *)(const void *)scratch->firsts->data,
		.ways = (const LodeDependenceWay *)(const void *)scratch->ways->data,
	};
}

static LodeLoopCode loop_code(
	const LodeDependenceGraph *graph, const Advancing *advancing, const Scratch *scratch)
{
	return (LodeLoopCode){
		.graph = graph,
		.bytes = bytes_of,
		.leaves = (const bool *)(const void *)scratch->leaves->data,
		.data = advancing,
	};
}

static void find_times(const Finding *self, uint32_t index, Scratch *scratch)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	size_t n;
	const LodeLoopPair *pairs = lode_loop_pairs_of(self->pairs, index, &n);
	const Advancing advancing = {self, function};
	guint n_before = scratch->found_times->len;

	if (n < LODE_PACE_FEWEST)
		return;
	add_code_ways(self, function, scratch);
	const LodeDependenceGraph graph = code_graph(function, scratch);
	const LodeLoopCode code = loop_code(&graph, &advancing, scratch);
	lode_loop_times_find(scratch->times, &code, pairs, n, scratch->found_times);
	for (guint i = n_before; i < scratch->found_times->len; i++)
		LODE_AT(scratch->found_times, LodeLoopTime, i).head += function->first_instruction;
}

/* Rounds of the innermost loops, by the registers of samples in them. */
static void find_mean_rounds(
	const Finding *self, uint32_t index, guint first_loop, Scratch *scratch)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	size_t n;
	const LodeLoopPair *pairs = lode_loop_pairs_of(self->pairs, index, &n);
	const Advancing advancing = {self, function};

	if (n < LODE_PACE_FEWEST || first_loop == scratch->loops->len)
		return;
	add_code_ways(self, function, scratch);
	const LodeDependenceGraph graph = code_graph(function, scratch);
	const LodeLoopCode code = loop_code(&graph, &advancing, scratch);
	lode_loop_rounds_begin(scratch->rounds, &code);
	for (guint i = first_loop; i < scratch->loops->len; i++) {
		const LodeLoop *loop = &LODE_AT(scratch->loops, LodeLoop, i);
		uint32_t head = loop->head - function->first_instruction;
		if (!loop->is_innermost || !lode_loop_rounds_find(scratch->rounds, head))
			continue;
		g_array_set_size(scratch->left, 0);
		for (size_t k = 0; k < n; k++) {
			const LodeSamplePair *pair = pairs[k].pair;
			const LodeLoopSample sample = {
				pairs[k].nodes[1], pair->known, pair->registers[1]};
			if (pair->is_of_caller ||
				!lode_loop_rounds_has(scratch->rounds, sample.node))
				continue;
			double left = lode_loop_rounds_left(scratch->rounds, &sample);
			if (left > 0)
				g_array_append_val(scratch->left, left);
		}
		self->codes[loop->head].rounds = lode_mean_rounds(
			(double *)(void *)scratch->left->data, scratch->left->len);
	}
}

static void add_times(LodeProfile *profile, const GArray *times, const char *name)
{
	char *source = lode_profile_intern(profile, name);

	for (guint i = 0; i < times->len; i++) {
		const LodeLoopTime *time = &LODE_AT(times, LodeLoopTime, i);
		LodeLoop *loop = lode_loops_add(profile, time->head);
		if (loop->iteration_ns >= 0)
			continue;
		loop->iteration_ns = time->time.ns;
		loop->iteration_error_ns = time->time.error_ns;
		loop->iteration_source = source;
	}
}

/* Loops begin with instructions of this function, so that no other task writes their facts. */
static void find_rounds(
	const Finding *self, const LodeFunction *function, guint first_loop, Scratch *scratch)
{
	const LodeWindows *windows = self->profile->windows;

	if (windows == NULL || windows->edges->len == 0 || first_loop == scratch->loops->len)
		return;
	add_code_ways(self, function, scratch);
	const LodeDependenceGraph graph = code_graph(function, scratch);
	lode_natural_loop_begin(&scratch->loop, &graph);
	for (guint i = first_loop; i < scratch->loops->len; i++) {
		uint32_t head = LODE_AT(scratch->loops, LodeLoop, i).head;
		const LodeObservedInstruction *found = lode_windows_find(windows, head);
		if (found == NULL ||
			!lode_natural_loop_find(&scratch->loop, head - function->first_instruction))
			continue;
		LodeObservedInstruction *facts = &LODE_AT(windows->instructions,
			LodeObservedInstruction,
			found - (const LodeObservedInstruction *)(const void *)
					windows->instructions->data);
		lode_observed_rounds_count(&scratch->loop, windows, function->first_instruction,
			&facts->loop_rounds, &facts->loop_exits);
	}
}

/* The innermost loop of each instruction, by the executed ways. */
static void mark_loops(const Finding *self, const LodeDependenceGraph *graph, uint32_t first,
	guint first_loop, Scratch *scratch)
{
	lode_natural_loop_begin(&scratch->loop, graph);
	for (guint i = first_loop; i < scratch->loops->len; i++) {
		const LodeLoop *loop = &LODE_AT(scratch->loops, LodeLoop, i);
		if (!loop->is_innermost ||
			!lode_natural_loop_find(&scratch->loop, loop->head - first))
			continue;
		const GArray *body = scratch->loop.body;
		for (guint k = 0; k < body->len; k++)
			self->codes[first + LODE_AT(body, uint32_t, k)].loop = loop->head + 1;
		double entries = 1;
		uint32_t head = loop->head - first;
		for (uint32_t w = graph->first_ways[head]; w < graph->first_ways[head + 1]; w++)
			if (lode_natural_loop_has(&scratch->loop, graph->ways[w].source))
				entries -= graph->ways[w].share;
		self->codes[loop->head].loop_entries = MAX(entries, 0) * loop->iterations;
	}
}

/* Rounds of repeated string instructions, by the code. */
static void find_string_rounds(const LodeLoopCode *code, LodeJoinCode *codes)
{
	for (uint32_t i = 0; i < code->graph->n; i++) {
		const LodeDecodedInstruction decoded = {
			.mnemonic = codes[i].mnemonic, .prefix = codes[i].prefix};
		unsigned width = codes[i].is_repeat ? lode_instruction_string_width(&decoded) : 0;
		uint64_t rounds;
		if (width > 0 && lode_string_rounds_find(code, i, &rounds))
			codes[i].facts |= lode_string_rounds_facts((double)rounds * width);
	}
}

static bool has_loops(const LodeJoinCode *codes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (codes[i].is_loop_head)
			return true;
	return false;
}

static void find_strides(const Finding *self, const LodeFunction *function, Scratch *scratch)
{
	const Advancing advancing = {self, function};
	LodeJoinCode *codes = self->codes + function->first_instruction;
	uint32_t n = function->n_instructions;

	if (!has_loops(codes, n))
		return;
	add_code_ways(self, function, scratch);
	const LodeDependenceGraph graph = code_graph(function, scratch);
	LodeLoopCode code = loop_code(&graph, &advancing, scratch);
	if (lode_join_has_hidden_ways(self->profile, self->codes, function))
		code.leaves = NULL;
	g_array_set_size(scratch->walks, n);
	LodeLoopStride *walks = (LodeLoopStride *)(void *)scratch->walks->data;
	lode_loop_strides_find(scratch->strides, &code, self->least_weight, walks);
	for (uint32_t i = 0; i < n; i++) {
		bool is_walk = walks[i].is_equal || (walks[i].is_known && walks[i].stride != 0);
		codes[i].walk = walks[i];
		codes[i].is_early |= is_walk; /* it is made of what the loop adds up */
	}
}

static void find_in_function(size_t index, unsigned worker, void *user_data)
{
	Finding *self = user_data;
	Scratch *scratch = &self->scratch[worker];
	const LodeFunction *function = lode_profile_function(self->profile, index);
	LodeJoinCode *codes = self->codes + function->first_instruction;

	if (function->code == NULL || function->n_instructions == 0)
		return;
	add_nodes(self, function, scratch);
	add_ways(self, function, scratch);
	g_array_set_size(scratch->found, function->n_instructions);
	LodeDependence *found = (LodeDependence *)(void *)scratch->found->data;
	guint first_loop = scratch->loops->len;
	const LodeDependenceGraph graph = {
		.core = self->core,
		.nodes = (const LodeDependenceNode *)(const void *)scratch->nodes->data,
		.n = function->n_instructions,
		.first_ways = (const uint32_t *)(const void *)scratch->firsts->data,
		.ways = (const LodeDependenceWay *)(const void *)scratch->ways->data,
	};
	lode_dependence_search_run(scratch->search, &graph, found);
	g_array_set_size(scratch->in_loops, function->n_instructions);
	LodeLoopDependence *in_loops = (LodeLoopDependence *)(void *)scratch->in_loops->data;
	lode_loop_dependences_run(
		scratch->in_loop, &graph, in_loops, self->least_weight, scratch->loops);
	for (guint i = first_loop; i < scratch->loops->len; i++)
		g_array_index(scratch->loops, LodeLoop, i).head += function->first_instruction;
	mark_loops(self, &graph, function->first_instruction, first_loop, scratch);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		codes[i].needs = found[i].needs;
		codes[i].address_needs = found[i].address;
		codes[i].behind = found[i].behind;
		codes[i].chain = found[i].chain;
		codes[i].carried = in_loops[i].carried;
		codes[i].is_invariant = in_loops[i].is_invariant;
		codes[i].is_on_way = in_loops[i].is_on_way;
		codes[i].is_linear = in_loops[i].is_linear;
		codes[i].is_early = in_loops[i].is_early && !in_loops[i].is_invariant;
		if (in_loops[i].is_repeated)
			codes[i].facts |= 1u << LODE_JOIN_FACT_REPEATS_UNCHANGED;
	}
	const Advancing advancing = {self, function};
	const LodeLoopCode code = loop_code(&graph, &advancing, scratch);
	find_string_rounds(&code, codes);
	find_times(self, (uint32_t)index, scratch);
	find_mean_rounds(self, (uint32_t)index, first_loop, scratch);
	find_rounds(self, function, first_loop, scratch);
	find_strides(self, function, scratch);
}

/* --- times carried inward --- */

/* The code of a function becomes the one at hand. */
typedef struct {
	Advancing advancing;
	LodeDependenceGraph graph;
	LodeLoopCode code;
} AtHand;

static void take_code(
	const Finding *self, uint32_t index, Scratch *scratch, AtHand *out, LodeLoopShares *shares)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);

	out->advancing = (Advancing){self, function};
	add_nodes(self, function, scratch);
	add_code_ways(self, function, scratch);
	out->graph = code_graph(function, scratch);
	out->code = loop_code(&out->graph, &out->advancing, scratch);
	if (lode_join_has_hidden_ways(self->profile, self->codes, function))
		out->code.leaves = NULL;
	lode_loop_shares_begin(shares, &out->code, function->first_instruction);
}

/* From the loops that have a time to those in them, and in the functions that they call. */
static void carry_times(const Finding *self, const GArray *times)
{
	LodeProfile *profile = self->profile;
	Scratch *scratch = &self->scratch[0];
	uint32_t weight = profile->code.weight_event;
	g_auto(LodeLoopShares) shares = {0};
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(LodeLoopTime));
	AtHand at_hand;

	if (weight == LODE_NONE || profile->run.n_samples <= 0)
		return;
	double sample_weight = lode_profile_event(profile, weight)->total / profile->run.n_samples;
	lode_loop_shares_init(&shares);
	for (guint i = 0; i < times->len; i++) {
		const LodeLoopTime *time = &LODE_AT(times, LodeLoopTime, i);
		uint32_t index = lode_profile_instruction(profile, time->head)->function;
		LodeLoopTurn turn = {.time = time->time};
		take_code(self, index, scratch, &at_hand, &shares);
		turn.head = time->head - shares.first_instruction;
		turn.pairs = lode_loop_pairs_of(self->pairs, index, &turn.n_pairs);
		lode_loop_shares_add_turn(&shares, &turn, called_by);
	}
	for (guint i = 0; i < shares.callees->len; i++) {
		const LodeLoopCallee *callee = &LODE_AT(shares.callees, LodeLoopCallee, i);
		if (lode_profile_function(profile, callee->function)->code == NULL)
			continue;
		take_code(self, callee->function, scratch, &at_hand, &shares);
		lode_loop_shares_add_callee(&shares, callee, sample_weight);
	}
	lode_loop_shares_times(&shares, found);
	add_times(profile, found, "carried");
}

static void scratch_init(Scratch *self)
{
	self->times = lode_loop_times_new();
	self->rounds = lode_loop_rounds_new();
	self->left = g_array_new(FALSE, FALSE, sizeof(double));
	lode_natural_loop_init(&self->loop);
	self->strides = lode_loop_strides_new();
	self->code_edges = g_array_new(FALSE, FALSE, sizeof(CodeEdge));
	self->leaves = g_array_new(FALSE, TRUE, sizeof(bool));
	self->found_times = g_array_new(FALSE, FALSE, sizeof(LodeLoopTime));
	self->search = lode_dependence_search_new();
	self->in_loop = lode_loop_dependences_new();
	self->uses = lode_register_use_cache_new();
	self->nodes = g_array_new(FALSE, FALSE, sizeof(LodeDependenceNode));
	self->firsts = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->ways = g_array_new(FALSE, FALSE, sizeof(LodeDependenceWay));
	self->inflow = g_array_new(FALSE, TRUE, sizeof(double));
	self->repeats = g_array_new(FALSE, TRUE, sizeof(double));
	self->found = g_array_new(FALSE, FALSE, sizeof(LodeDependence));
	self->in_loops = g_array_new(FALSE, FALSE, sizeof(LodeLoopDependence));
	self->walks = g_array_new(FALSE, FALSE, sizeof(LodeLoopStride));
	self->loops = g_array_new(FALSE, FALSE, sizeof(LodeLoop));
}

static void scratch_clear(Scratch *self)
{
	lode_dependence_search_free(self->search);
	lode_loop_dependences_free(self->in_loop);
	lode_loop_times_free(self->times);
	lode_loop_rounds_free(self->rounds);
	g_array_unref(self->left);
	lode_natural_loop_clear(&self->loop);
	lode_loop_strides_free(self->strides);
	g_array_unref(self->code_edges);
	g_array_unref(self->leaves);
	g_array_unref(self->found_times);
	lode_register_use_cache_free(self->uses);
	g_array_unref(self->nodes);
	g_array_unref(self->firsts);
	g_array_unref(self->ways);
	g_array_unref(self->inflow);
	g_array_unref(self->repeats);
	g_array_unref(self->found);
	g_array_unref(self->in_loops);
	g_array_unref(self->walks);
	g_array_unref(self->loops);
}

LODE_ORDER(compare_heads, LodeLoop, LODE_ASCENDING(head))

static void add_loops(LodeProfile *profile, const GArray *loops)
{
	for (guint i = 0; i < loops->len; i++) {
		LodeLoop loop = LODE_AT(loops, LodeLoop, i);
		loop.recurrence = lode_profile_intern(profile, loop.recurrence);
		loop.other_recurrence = lode_profile_intern(profile, loop.other_recurrence);
		g_array_append_val(profile->loops, loop);
	}
}

static LodeCore *core_of(LodeProfile *profile, const LodeJoinContext *context)
{
	LodeCore *core = lode_core_new(context->processor);

	if (context->core_figures != NULL)
		profile->run.n_core_figures = lode_core_calibrate(core, context->core_figures);
	if (profile->run.n_core_figures > 0)
		profile->run.mispredict_cycles = core->mispredict;
	return core;
}

void lode_join_dependences(LodeProfile *profile, const LodeJoinImages *images, LodeJoinCode *codes)
{
	g_autoptr(LodeCore) core = core_of(profile, images->context);
	uint32_t weight = profile->code.weight_event;
	unsigned n_workers = images->n_workers;
	Finding finding = {
		.profile = profile,
		.codes = codes,
		.making = {profile, codes, lode_miss_events_find(profile)},
		.pairs = lode_loop_pairs_find(profile, images),
		.core = core,
		.least_weight = weight != LODE_NONE
	                                ? LEAST_SHARE * lode_profile_event(profile, weight)->total
	                                : 0,
		.scratch = g_new0(Scratch, n_workers),
	};

	for (unsigned i = 0; i < n_workers; i++)
		scratch_init(&finding.scratch[i]);
	lode_worker_pool_run(profile->code.functions->len, n_workers, find_in_function, &finding);
	for (unsigned i = 0; i < n_workers; i++)
		add_loops(profile, finding.scratch[i].loops);
	g_array_sort(profile->loops, compare_heads);
	profile->run.core = lode_profile_intern(profile, core->name);
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(LodeLoopTime));
	for (unsigned i = 0; i < n_workers; i++) {
		const GArray *found = finding.scratch[i].found_times;
		g_array_append_vals(times, found->data, found->len);
	}
	add_times(profile, times, "native");
	carry_times(&finding, times);
	for (unsigned i = 0; i < n_workers; i++)
		scratch_clear(&finding.scratch[i]);
	g_free(finding.scratch);
	g_array_unref(finding.making.miss_events);
	g_array_unref(finding.pairs);
}
