/* SPDX-License-Identifier: MIT */
/*
 * Prefix growth over the static graph. Paths need not be listed: how many paths match a prefix and
 * end in a vertex is all that its extensions need, so a level is (vertex, number of paths).
 */
#include "analyses/mine/instruction_miner.h"

#include "analyses/flow_graph/function_filter.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "images/code/control_flow.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- instruction graph --- */

/*
 * The static control flow of all mined functions as one graph: every instruction, executed or not,
 * with its opcode; every edge that control can take, whatever its count. For instruction sequences.
 */

/*
 * Functions with code are decoded, as instructions that never executed are in sequences too; given
 * graphs have no code, and their vertices stand as they are. The recording adds the targets of
 * indirect jumps and calls, which decoding cannot know.
 */

typedef struct {
	uint32_t n_vertices, n_edges, n_opcodes;
	uint32_t *opcodes; /* [n_vertices]: by bytes of the names; LODE_NONE: the vertex has none */
	uint32_t *instructions; /* [n_vertices]: profile instruction; LODE_NONE: never executed */
	uint32_t *functions;    /* [n_vertices] */
	uint32_t *edge_starts, *edge_targets;
	char **opcode_names; /* "op:mov" */
} InstructionGraph;

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
		uint64_t address = LODE_AT(profile->code.instructions, LodeInstruction,
			function->first_instruction + i)
		                           .address;
		g_array_append_val(self->leaders, address);
	}
	for (; self->next_edge < profile->code.edges->len; self->next_edge++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, self->next_edge);
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
		(const LodeFunction *)(const void *)profile->code.functions->data;
	uint32_t n = profile->code.functions->len;
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

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		uint32_t vertex = self->vertices[edge->source];
		if (edge->kind == LODE_EDGE_CALL && vertex != LODE_NONE)
			add_pair(self->calls, vertex,
				LODE_AT(profile->code.instructions, LodeInstruction, edge->target)
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

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
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
static void order_opcodes(Construction *self, InstructionGraph *graph)
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

static void pack_edges(Construction *self, InstructionGraph *graph)
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

static InstructionGraph *pack(Construction *self)
{
	InstructionGraph *graph = g_new0(InstructionGraph, 1);

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

	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
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

/* Built from the functions' code (control flow as images/code/control_flow.h, jump tables as
 * recorded), or from the edges of given graphs. Errors: _USAGE (a regular expression). */
static InstructionGraph *instruction_graph_build(
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
	self.vertices = g_new(uint32_t, profile->code.instructions->len + 1);
	memset(self.vertices, 0xff, sizeof(uint32_t) * (profile->code.instructions->len + 1));
	self.entries = g_new(uint32_t, profile->code.functions->len + 1);
	add_functions(&self);
	InstructionGraph *graph = pack(&self);
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

static void instruction_graph_free(InstructionGraph *self)
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

G_DEFINE_AUTOPTR_CLEANUP_FUNC(InstructionGraph, instruction_graph_free)

/* --- instruction miner --- */

typedef struct {
	uint32_t vertex;
	double paths; /* that match the prefix and end here; in 64 steps they can be above 2⁶⁴ */
} End;

typedef struct {
	GArray *ends;   /* End, by opcode of the vertex */
	GArray *starts; /* uint32_t [n_opcodes + 1] */
	uint32_t opcode;
} Level;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningParameters *parameters;
	const LodeProgress *progress;
	const InstructionGraph *graph;
	LodeMiningRun *run;
	Level *levels;    /* [iterations] */
	double *paths;    /* [n_vertices] scratch: paths into a vertex */
	uint32_t *stamps; /* [n_vertices] scratch: marks of one sequence */
	uint32_t *function_stamps;
	uint32_t stamp;
	GArray *touched; /* uint32_t vertices with paths */
	GArray *marked;  /* uint32_t vertices of the sequence being measured */
	double *values;  /* [executed instructions × events], per profile instruction */
	bool is_full, is_cancelled;
} Search;

/* A counting sort. Counts stand two places further on, so that after the sums place opcode + 1 is
 * where the next one goes, and once all are placed it is where the next opcode starts. */
static void group_ends(Search *self, Level *level)
{
	const InstructionGraph *graph = self->graph;
	uint32_t *starts;

	g_array_set_size(level->starts, 0);
	g_array_set_size(level->starts, graph->n_opcodes + 2);
	starts = (uint32_t *)(void *)level->starts->data;
	memset(starts, 0, sizeof(uint32_t) * (graph->n_opcodes + 2));
	g_array_set_size(level->ends, self->touched->len);
	for (guint i = 0; i < self->touched->len; i++)
		starts[graph->opcodes[LODE_AT(self->touched, uint32_t, i)] + 2]++;
	for (uint32_t i = 0; i < graph->n_opcodes; i++)
		starts[i + 2] += starts[i + 1];
	for (guint i = 0; i < self->touched->len; i++) {
		uint32_t v = LODE_AT(self->touched, uint32_t, i);
		LODE_AT(level->ends, End, starts[graph->opcodes[v] + 1]++) = (End){
			v, self->paths[v]};
		self->paths[v] = 0;
	}
	g_array_set_size(self->touched, 0);
}

static void add_paths(Search *self, uint32_t vertex, double paths)
{
	if (self->graph->opcodes[vertex] == LODE_NONE)
		return;
	if (self->paths[vertex] == 0)
		g_array_append_val(self->touched, vertex);
	self->paths[vertex] += paths;
}

static void start_level(Search *self)
{
	for (uint32_t v = 0; v < self->graph->n_vertices; v++)
		add_paths(self, v, 1);
	group_ends(self, &self->levels[0]);
}

static void ends_of(const Level *level, uint32_t opcode, uint32_t *out_first, uint32_t *out_end)
{
	*out_first = LODE_AT(level->starts, uint32_t, opcode);
	*out_end = LODE_AT(level->starts, uint32_t, opcode + 1);
}

static void extend(Search *self, uint32_t depth)
{
	const InstructionGraph *graph = self->graph;
	const Level *above = &self->levels[depth - 1];
	uint32_t first, end;

	ends_of(above, above->opcode, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		const End *one = &LODE_AT(above->ends, End, i);
		for (uint32_t e = graph->edge_starts[one->vertex];
			e < graph->edge_starts[one->vertex + 1]; e++)
			add_paths(self, graph->edge_targets[e], one->paths);
	}
	group_ends(self, &self->levels[depth]);
}

static bool leads_to_marked(const Search *self, uint32_t vertex, uint32_t stamp)
{
	const InstructionGraph *graph = self->graph;

	for (uint32_t e = graph->edge_starts[vertex]; e < graph->edge_starts[vertex + 1]; e++)
		if (self->stamps[graph->edge_targets[e]] == stamp)
			return true;
	return false;
}

/*
 * The distinct vertices of all paths: level by level from the last, those that lead on. Levels
 * alternate between two stamps so that a vertex can be in several; `marked` may then hold it twice.
 */
static void mark_vertices(Search *self, uint32_t depth)
{
	uint32_t first, end;

	g_array_set_size(self->marked, 0);
	for (uint32_t d = depth + 1; d-- > 0;) {
		const Level *level = &self->levels[d];
		uint32_t after = self->stamp++;
		ends_of(level, level->opcode, &first, &end);
		g_autofree bool *leads = g_new(bool, end - first + 1);
		for (uint32_t i = first; i < end; i++)
			leads[i - first] = d == depth ||
			                   leads_to_marked(self,
						   LODE_AT(level->ends, End, i).vertex, after);
		for (uint32_t i = first; i < end; i++) {
			uint32_t v = LODE_AT(level->ends, End, i).vertex;
			if (!leads[i - first])
				continue;
			self->stamps[v] = self->stamp;
			g_array_append_val(self->marked, v);
		}
	}
}

/* places and functions: of the first vertices, which mark_vertices() marked last. */
static void count_places(Search *self, LodeSequence *sequence)
{
	const Level *level = &self->levels[0];
	uint32_t first, end;

	ends_of(level, level->opcode, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		uint32_t v = LODE_AT(level->ends, End, i).vertex;
		if (self->stamps[v] != self->stamp)
			continue;
		uint32_t *stamp = &self->function_stamps[self->graph->functions[v]];
		sequence->places++;
		sequence->functions += *stamp != self->stamp;
		*stamp = self->stamp;
	}
}

static void append_totals(Search *self)
{
	guint n_events = self->run->events->len, at = self->run->event_supports->len;

	g_array_set_size(self->run->event_supports, at + n_events);
	double *totals = &g_array_index(self->run->event_supports, double, at);
	self->stamp++;
	for (guint i = 0; i < self->marked->len; i++) {
		uint32_t v = LODE_AT(self->marked, uint32_t, i);
		uint32_t instruction = self->graph->instructions[v];
		if (self->stamps[v] == self->stamp || instruction == LODE_NONE)
			continue;
		self->stamps[v] = self->stamp;
		for (guint e = 0; e < n_events; e++)
			totals[e] += self->values[(size_t)instruction * n_events + e];
	}
}

static void report(Search *self, uint32_t depth, double count)
{
	LodeSequence sequence = {
		.first_item = self->run->items->len,
		.n_items = depth + 1,
		.count = count,
	};

	for (uint32_t d = 0; d <= depth; d++) {
		uint32_t item = self->levels[d].opcode | LODE_ITEM_START;
		g_array_append_val(self->run->items, item);
	}
	mark_vertices(self, depth);
	count_places(self, &sequence);
	g_array_append_val(self->run->sequences, sequence);
	append_totals(self);
}

static bool should_stop(Search *self)
{
	if (self->run->sequences->len >= self->parameters->max_sequences)
		self->is_full = true;
	if (lode_progress_is_cancelled(self->progress))
		self->is_cancelled = true;
	return self->is_full || self->is_cancelled;
}

static void search(Search *self, uint32_t depth)
{
	Level *level = &self->levels[depth];
	uint32_t first, end;

	for (uint32_t opcode = 0; opcode < self->graph->n_opcodes; opcode++) {
		double count = 0;
		ends_of(level, opcode, &first, &end);
		for (uint32_t i = first; i < end; i++)
			count += LODE_AT(level->ends, End, i).paths;
		if (!(count > self->parameters->min_count))
			continue;
		if (should_stop(self))
			return;
		if (depth == 0)
			lode_progress_report(self->progress, "mining instruction sequences", opcode,
				self->graph->n_opcodes, NULL);
		level->opcode = opcode;
		report(self, depth, count);
		if (depth + 1 < self->parameters->iterations) {
			extend(self, depth + 1);
			search(self, depth + 1);
		}
	}
}

/* All events of the profile as columns, and their values laid out by instruction. */
static bool prepare_events(Search *self, GError **error)
{
	const LodeProfile *profile = self->profile;
	guint n = profile->code.events->len;

	self->values = g_try_new(double, (size_t)profile->code.instructions->len *n + 1);
	if (self->values == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"too little memory for the values of %u events on %u instructions", n,
			profile->code.instructions->len);
		return false;
	}
	for (guint e = 0; e < n; e++) {
		g_ptr_array_add(self->run->events, g_strdup(lode_profile_event(profile, e)->name));
		for (guint i = 0; i < profile->code.instructions->len; i++)
			self->values[(size_t)i * n + e] = lode_profile_event_value(profile, e, i);
	}
	for (uint32_t i = 0; i < self->graph->n_opcodes; i++)
		g_ptr_array_add(self->run->attributes, g_strdup(self->graph->opcode_names[i]));
	return true;
}

static bool search_init(Search *self, GError **error)
{
	self->levels = g_new0(Level, self->parameters->iterations);
	for (uint32_t i = 0; i < self->parameters->iterations; i++) {
		self->levels[i].ends = g_array_new(FALSE, FALSE, sizeof(End));
		self->levels[i].starts = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	}
	self->paths = g_new0(double, self->graph->n_vertices + 1);
	self->stamps = g_new0(uint32_t, self->graph->n_vertices + 1);
	self->function_stamps = g_new0(uint32_t, self->profile->code.functions->len + 1);
	self->touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->marked = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return prepare_events(self, error);
}

static void search_clear(Search *self)
{
	for (uint32_t i = 0; i < self->parameters->iterations; i++) {
		g_array_unref(self->levels[i].ends);
		g_array_unref(self->levels[i].starts);
	}
	g_free(self->levels);
	g_free(self->paths);
	g_free(self->stamps);
	g_free(self->function_stamps);
	g_free(self->values);
	g_array_unref(self->touched);
	g_array_unref(self->marked);
}

LodeMiningRun *lode_instruction_miner_run(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const char *name, const LodeProgress *progress,
	GError **error)
{
	gint64 start_us = g_get_monotonic_time();

	if (parameters->iterations < 1 || parameters->iterations > 64) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a length of %u instructions: between 1 and 64 can be mined",
			parameters->iterations);
		return NULL;
	}
	g_autoptr(InstructionGraph) graph = instruction_graph_build(profile, parameters, error);
	if (graph == NULL)
		return NULL;
	g_autoptr(LodeMiningRun) run = lode_mining_run_new(name, parameters);
	Search self = {.profile = profile,
		.parameters = parameters,
		.progress = progress,
		.graph = graph,
		.run = run};
	bool has_begun = search_init(&self, error);
	if (has_begun) {
		start_level(&self);
		search(&self, 0);
	}
	search_clear(&self);
	if (!has_begun)
		return NULL;
	run->is_complete = !self.is_full;
	run->seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
	if (self.is_cancelled) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return NULL;
	}
	return g_steal_pointer(&run);
}
