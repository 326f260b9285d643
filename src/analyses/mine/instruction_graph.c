/* SPDX-License-Identifier: MIT */
/*
 * Functions with code are decoded, as instructions that never executed are in sequences too; given
 * graphs have no code, and their vertices stand as they are. The recording adds the targets of
 * indirect jumps and calls, which decoding cannot know.
 */
#include "analyses/mine/instruction_graph.h"

#include "analyses/flow_graph/function_filter.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/code/control_flow.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint32_t source, target;
} StaticEdge;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningParameters *parameters;
	LodeFunctionFilter filter;
	LodeControlFlow flow;
	GPtrArray *names;                           /* char *: opcodes in the order they were met */
	GHashTable *name_ids;                       /* name → id + 1 */
	GArray *opcodes, *instructions, *functions; /* uint32_t a vertex */
	GArray *edges;                              /* StaticEdge */
	uint32_t *vertices;                         /* profile instruction → vertex */
	uint32_t *entries;                          /* function → its entry's vertex */
	GArray *returns;    /* StaticEdge: function → vertex of one of its returns */
	GArray *calls;      /* StaticEdge: vertex of a call → callee function */
	GArray *hints;      /* LodeFlowHint */
	GArray *leaders;    /* uint64_t */
	uint32_t next_edge; /* of the profile, in step with the functions */
} Construction;

static uint32_t opcode_id(Construction *self, const char *name)
{
	void *found = g_hash_table_lookup(self->name_ids, name);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	char *own = g_strdup(name);
	g_ptr_array_add(self->names, own);
	g_hash_table_insert(self->name_ids, own, GUINT_TO_POINTER(self->names->len));
	return self->names->len - 1;
}

static uint32_t add_vertex(
	Construction *self, uint32_t opcode, uint32_t instruction, uint32_t function)
{
	g_array_append_val(self->opcodes, opcode);
	g_array_append_val(self->instructions, instruction);
	g_array_append_val(self->functions, function);
	if (instruction != LODE_NONE)
		self->vertices[instruction] = self->opcodes->len - 1;
	return self->opcodes->len - 1;
}

static void add_pair(GArray *pairs, uint32_t source, uint32_t target)
{
	StaticEdge pair = {source, target};

	g_array_append_val(pairs, pair);
}

/* The first op: attribute of an instruction, as given. */
static uint32_t given_opcode(Construction *self, const LodeInstruction *instruction)
{
	static const char prefix[] = "op:";
	const char *name = lode_profile_set_value(
		self->profile, instruction->attribute_set, prefix);

	return name != NULL ? opcode_id(self, name - strlen(prefix)) : LODE_NONE;
}

/* A function without code: its instructions and edges as they stand in the profile. */
static void add_given_function(Construction *self, uint32_t index)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *function = lode_profile_function(profile, index);
	uint32_t end = function->first_instruction + function->n_instructions;

	for (uint32_t i = function->first_instruction; i < end; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		add_vertex(self, given_opcode(self, one), i, index);
		if (i == function->first_instruction)
			self->entries[index] = self->vertices[i];
	}
	for (uint32_t i = function->first_instruction; i + 1 < end; i++)
		if (lode_profile_instruction(profile, i)->next_count >= 0)
			add_pair(self->edges, self->vertices[i], self->vertices[i + 1]);
}

static bool is_inside(const LodeFunction *function, uint32_t instruction)
{
	return instruction >= function->first_instruction &&
	       instruction < function->first_instruction + function->n_instructions;
}

/* Jumps that were recorded, and the addresses that were executed: what decoding cannot know. */
static void gather_hints(Construction *self, const LodeFunction *function)
{
	const LodeProfile *profile = self->profile;

	g_array_set_size(self->hints, 0);
	g_array_set_size(self->leaders, 0);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint64_t address = LODE_AT(
			profile->instructions, LodeInstruction, function->first_instruction + i)
		                           .address;
		g_array_append_val(self->leaders, address);
	}
	for (; self->next_edge < profile->edges->len; self->next_edge++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, self->next_edge);
		if (edge->source >= function->first_instruction + function->n_instructions)
			break;
		if (edge->kind != LODE_EDGE_JUMP || !is_inside(function, edge->source) ||
			!is_inside(function, edge->target))
			continue;
		LodeFlowHint hint = {lode_profile_instruction(profile, edge->source)->address,
			lode_profile_instruction(profile, edge->target)->address};
		g_array_append_val(self->hints, hint);
	}
}

static void add_block_edges(Construction *self, const LodeStaticBlock *block, uint32_t base)
{
	uint32_t last = block->first + block->n - 1;

	for (uint32_t i = block->first; i < last; i++)
		add_pair(self->edges, base + i, base + i + 1);
	for (size_t i = 0; i < G_N_ELEMENTS(block->successors); i++) {
		if (block->successors[i] == LODE_NONE)
			continue;
		const LodeStaticBlock *next = &LODE_AT(
			self->flow.blocks, LodeStaticBlock, block->successors[i]);
		add_pair(self->edges, base + last, base + next->first);
	}
}

static void add_code_edges(Construction *self, uint32_t base)
{
	for (guint i = 0; i < self->flow.blocks->len; i++)
		add_block_edges(self, &LODE_AT(self->flow.blocks, LodeStaticBlock, i), base);
	for (guint i = 0; i < self->flow.hints->len; i++) {
		const LodeFlowHint *hint = &LODE_AT(self->flow.hints, LodeFlowHint, i);
		uint32_t source = lode_control_flow_find(&self->flow, hint->source);
		uint32_t target = lode_control_flow_find(&self->flow, hint->target);
		if (source != LODE_NONE && target != LODE_NONE)
			add_pair(self->edges, base + source, base + target);
	}
}

/* The function of the image that begins at an address, or LODE_NONE. */
static uint32_t find_entry(const LodeProfile *profile, uint32_t image, uint64_t address)
{
	const LodeFunction *functions =
		(const LodeFunction *)(const void *)profile->functions->data;
	uint32_t n = profile->functions->len;
	uint32_t found = LODE_PARTITION_POINT(n, i,
		functions[i].image < image ||
			(functions[i].image == image && functions[i].address < address));

	if (found == n || functions[found].image != image || functions[found].address != address)
		return LODE_NONE;
	return found;
}

static void add_code_vertices(Construction *self, uint32_t index, uint32_t base)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *function = lode_profile_function(profile, index);
	uint32_t executed = function->first_instruction;
	uint32_t end = executed + function->n_instructions;
	char mnemonic[64], name[80];

	for (guint i = 0; i < self->flow.instructions->len; i++) {
		const LodeStaticInstruction *one = &LODE_AT(
			self->flow.instructions, LodeStaticInstruction, i);
		while (executed < end &&
			lode_profile_instruction(profile, executed)->address < one->address)
			executed++;
		bool is_executed = executed < end &&
		                   lode_profile_instruction(profile, executed)->address ==
		                           one->address;
		g_snprintf(name, sizeof(name), "op:%s",
			lode_instruction_mnemonic(&one->decoded, mnemonic, sizeof(mnemonic)));
		add_vertex(self, opcode_id(self, name), is_executed ? executed : LODE_NONE, index);
		if (one->address == function->address)
			self->entries[index] = base + i;
		if (one->decoded.branch == LODE_BRANCH_RETURN)
			add_pair(self->returns, index, base + i);
		if (one->decoded.branch == LODE_BRANCH_CALL && one->decoded.has_target) {
			uint32_t callee = find_entry(profile, function->image, one->decoded.target);
			if (callee != LODE_NONE)
				add_pair(self->calls, base + i, callee);
		}
	}
}

static void add_code_function(Construction *self, uint32_t index)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	uint32_t base = self->opcodes->len;
	gsize size;
	const uint8_t *code = g_bytes_get_data(function->code, &size);

	gather_hints(self, function);
	const LodeSeenFlow seen = {(const LodeFlowHint *)(void *)self->hints->data,
		self->hints->len, (const uint64_t *)(void *)self->leaders->data,
		self->leaders->len};
	lode_control_flow_build(&self->flow, code, size, function->address, &seen);
	add_code_vertices(self, index, base);
	add_code_edges(self, base);
}

LODE_ORDER(compare_pairs, StaticEdge, LODE_ASCENDING(source), LODE_ASCENDING(target))

/* Call → entry of the callee, and each return of the callee → after the call. The vertex after the
 * call is the next one of the same function: code is decoded in the order of its addresses. */
static void add_call_edges(Construction *self)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < profile->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, i);
		uint32_t vertex = self->vertices[edge->source];
		if (edge->kind == LODE_EDGE_CALL && vertex != LODE_NONE)
			add_pair(self->calls, vertex,
				LODE_AT(profile->instructions, LodeInstruction, edge->target)
					.function);
	}
	g_array_sort(self->returns, compare_pairs);
	for (guint i = 0; i < self->calls->len; i++) {
		const StaticEdge *call = &LODE_AT(self->calls, StaticEdge, i);
		uint32_t after = call->source + 1, callee = call->target;
		if (self->entries[callee] == LODE_NONE)
			continue;
		add_pair(self->edges, call->source, self->entries[callee]);
		if (after >= self->functions->len ||
			LODE_AT(self->functions, uint32_t, after) !=
				LODE_AT(self->functions, uint32_t, call->source))
			continue;
		for (guint j = 0; j < self->returns->len; j++)
			if (LODE_AT(self->returns, StaticEdge, j).source == callee)
				add_pair(self->edges, LODE_AT(self->returns, StaticEdge, j).target,
					after);
	}
}

static void add_given_edges(Construction *self)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < profile->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, i);
		uint32_t source = self->vertices[edge->source];
		uint32_t target = self->vertices[edge->target];
		if (source == LODE_NONE || target == LODE_NONE || edge->kind == LODE_EDGE_CALL ||
			edge->kind == LODE_EDGE_RETURN)
			continue;
		uint32_t function = LODE_AT(self->functions, uint32_t, source);
		if (function == LODE_AT(self->functions, uint32_t, target) &&
			(lode_profile_function(profile, function)->code == NULL ||
				edge->kind == LODE_EDGE_REPEAT))
			add_pair(self->edges, source, target);
	}
}

/* Numbers the opcodes by the bytes of their names. */
static void order_opcodes(Construction *self, LodeInstructionGraph *graph)
{
	uint32_t n = graph->n_opcodes = self->names->len;
	g_autofree uint32_t *new_ids = g_new(uint32_t, n + 1);

	graph->opcode_names = g_new0(char *, n + 1);
	for (uint32_t i = 0; i < n; i++)
		graph->opcode_names[i] = g_ptr_array_index(self->names, i);
	qsort(graph->opcode_names, n, sizeof(char *), lode_compare_texts);
	for (uint32_t i = 0; i < n; i++)
		new_ids[GPOINTER_TO_UINT(
				g_hash_table_lookup(self->name_ids, graph->opcode_names[i])) -
			1] = i;
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		if (graph->opcodes[v] != LODE_NONE)
			graph->opcodes[v] = new_ids[graph->opcodes[v]];
}

static void pack_edges(Construction *self, LodeInstructionGraph *graph)
{
	graph->edge_starts = g_new0(uint32_t, graph->n_vertices + 1);
	graph->edge_targets = g_new(uint32_t, self->edges->len + 1);
	g_array_sort(self->edges, compare_pairs);
	for (guint i = 0; i < self->edges->len; i++) {
		const StaticEdge *edge = &LODE_AT(self->edges, StaticEdge, i);
		if (i > 0 && compare_pairs(edge - 1, edge) == 0)
			continue;
		graph->edge_targets[graph->n_edges++] = edge->target;
		graph->edge_starts[edge->source + 1]++;
	}
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		graph->edge_starts[v + 1] += graph->edge_starts[v];
}

static LodeInstructionGraph *pack(Construction *self)
{
	LodeInstructionGraph *graph = g_new0(LodeInstructionGraph, 1);

	graph->n_vertices = self->opcodes->len;
	graph->opcodes = (uint32_t *)(void *)g_array_free(self->opcodes, FALSE);
	graph->instructions = (uint32_t *)(void *)g_array_free(self->instructions, FALSE);
	graph->functions = (uint32_t *)(void *)g_array_free(self->functions, FALSE);
	pack_edges(self, graph);
	order_opcodes(self, graph);
	return graph;
}

static void add_functions(Construction *self)
{
	const LodeProfile *profile = self->profile;

	for (uint32_t i = 0; i < profile->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		self->entries[i] = LODE_NONE;
		if (!lode_function_filter_has(&self->filter, profile, function))
			continue;
		if (function->code != NULL)
			add_code_function(self, i);
		else
			add_given_function(self, i);
	}
	add_given_edges(self);
	if (self->parameters->across_calls)
		add_call_edges(self);
}

static GArray *new_array(size_t item_size)
{
	return g_array_new(FALSE, FALSE, (guint)item_size);
}

LodeInstructionGraph *lode_instruction_graph_build(
	const LodeProfile *profile, const LodeMiningParameters *parameters, GError **error)
{
	Construction self = {.profile = profile, .parameters = parameters};

	if (!lode_function_filter_init(&self.filter, parameters, error)) {
		lode_function_filter_clear(&self.filter);
		return NULL;
	}
	lode_control_flow_init(&self.flow);
	self.names = g_ptr_array_new();
	self.name_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self.opcodes = new_array(sizeof(uint32_t));
	self.instructions = new_array(sizeof(uint32_t));
	self.functions = new_array(sizeof(uint32_t));
	self.edges = new_array(sizeof(StaticEdge));
	self.returns = new_array(sizeof(StaticEdge));
	self.calls = new_array(sizeof(StaticEdge));
	self.hints = new_array(sizeof(LodeFlowHint));
	self.leaders = new_array(sizeof(uint64_t));
	self.vertices = g_new(uint32_t, profile->instructions->len + 1);
	memset(self.vertices, 0xff, sizeof(uint32_t) * (profile->instructions->len + 1));
	self.entries = g_new(uint32_t, profile->functions->len + 1);
	add_functions(&self);
	LodeInstructionGraph *graph = pack(&self);
	g_ptr_array_unref(self.names);
	g_hash_table_unref(self.name_ids);
	g_array_unref(self.edges);
	g_array_unref(self.returns);
	g_array_unref(self.calls);
	g_array_unref(self.hints);
	g_array_unref(self.leaders);
	g_free(self.vertices);
	g_free(self.entries);
	lode_control_flow_clear(&self.flow);
	lode_function_filter_clear(&self.filter);
	return graph;
}

void lode_instruction_graph_free(LodeInstructionGraph *self)
{
	if (self == NULL)
		return;
	g_strfreev(self->opcode_names);
	g_free(self->opcodes);
	g_free(self->instructions);
	g_free(self->functions);
	g_free(self->edge_starts);
	g_free(self->edge_targets);
	g_free(self);
}
