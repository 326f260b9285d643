/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/executed_sequences.h"

#include "base/error.h"
#include "model/mining_run.h"

#include <math.h>
#include <string.h>

static const double least_part = 1e-10;

/* The symbols of a class of vertices; both 0: it has no opcode. */
static bool name_class(const LodeFlowGraph *graph, uint32_t c, LodeSymbols *symbols,
	uint16_t out[2], GError **error)
{
	const char *opcode = NULL;
	g_autoptr(GString) others = g_string_new(NULL), mnemonic = g_string_new(NULL);

	for (uint32_t i = graph->class_starts[c]; i < graph->class_starts[c + 1]; i++) {
		const char *name = graph->attribute_names[graph->class_members[i]];
		if (g_str_has_prefix(name, "op:")) {
			opcode = opcode != NULL ? opcode : name + strlen("op:");
			continue;
		}
		if (others->len > 0)
			g_string_append_c(others, '+');
		lode_signature_append_escaped(others, name);
	}
	out[0] = out[1] = 0;
	if (opcode == NULL)
		return true;
	lode_signature_append_escaped(mnemonic, opcode);
	out[LODE_SEQUENCES_OPCODES] = lode_symbols_add(symbols, mnemonic->str);
	out[LODE_SEQUENCES_ATTRIBUTES] = lode_symbols_add(
		symbols, others->len > 0 ? others->str : "-");
	if (out[0] != 0 && out[1] != 0)
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"more than 65,535 different sets of attributes: choose fewer with --attributes");
	return false;
}

static bool name_vertices(LodeExecutedSequences *self, LodeSymbols *symbols, GError **error)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint16_t *classes = g_new(uint16_t, 2 * (size_t)graph->n_classes + 1);

	for (uint32_t c = 0; c < graph->n_classes; c++)
		if (!name_class(graph, c, symbols, classes + 2 * (size_t)c, error))
			return false;
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
			self->symbols[kind][v] =
				classes[2 * (size_t)graph->attribute_classes[v] + kind];
	return true;
}

/* Bounds the counts of a profile: the edges from an instruction have at most its executions. */
static void scale_vertices(LodeExecutedSequences *self)
{
	const LodeFlowGraph *graph = self->graph;

	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		double out = 0;
		for (uint32_t e = graph->edge_starts[v]; e < graph->edge_starts[v + 1]; e++)
			out += MAX(graph->edge_counts[e], 0);
		double most = MAX(out, graph->count[v]);
		self->scales[v] = most > 0 && isfinite(most) ? 1 / most : 0;
		if (self->symbols[0][v] != 0 && self->scales[v] > 0)
			self->total += graph->count[v];
	}
}

LodeExecutedSequences *lode_executed_sequences_new(
	const LodeProfile *profile, const char *attributes, LodeSymbols *symbols, GError **error)
{
	g_autofree char *namespaces = g_strconcat("op,", attributes, NULL);
	g_auto(GStrv) words = g_strsplit(attributes, ",", -1);
	LodeMiningParameters parameters;

	for (char **word = words; *word != NULL; word++)
		if (strcmp(g_strstrip(*word), "op") == 0 || **word == '\0') {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"--attributes: '%s': opcodes have sequences of their own", *word);
			return NULL;
		}
	lode_mining_parameters_init(&parameters);
	parameters.attributes = namespaces;
	LodeFlowGraph *graph = lode_flow_graph_build(profile, &parameters, error);
	if (graph == NULL)
		return NULL;
	g_autoptr(LodeExecutedSequences) self = g_new0(LodeExecutedSequences, 1);
	self->graph = graph;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		self->symbols[kind] = g_new0(uint16_t, graph->n_vertices + 1);
	self->scales = g_new0(double, graph->n_vertices + 1);
	if (!name_vertices(self, symbols, error))
		return NULL;
	scale_vertices(self);
	if (!(self->total > 0) || !isfinite(self->total)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"no instruction with an opcode was executed: there is nothing that would "
			"characterise the work");
		return NULL;
	}
	return g_steal_pointer(&self);
}

void lode_executed_sequences_free(LodeExecutedSequences *self)
{
	if (self == NULL)
		return;
	lode_flow_graph_free(self->graph);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		g_free(self->symbols[kind]);
	g_free(self->scales);
	g_free(self);
}

typedef struct {
	const LodeExecutedSequences *sequences;
	const uint16_t *symbols;
	LodeExecutedPath visit;
	void *user_data;
	double least;
	uint32_t path[LODE_SIGNATURE_LENGTHS];
} Walk;

/* The path has `n` vertices; `key` is theirs. */
static void walk(Walk *self, unsigned n, uint64_t key, double count)
{
	const LodeFlowGraph *graph = self->sequences->graph;
	uint32_t last = self->path[n - 1];

	self->visit(self->path, n, key, count, self->user_data);
	if (n == LODE_SIGNATURE_LENGTHS)
		return;
	for (uint32_t e = graph->edge_starts[last]; e < graph->edge_starts[last + 1]; e++) {
		uint32_t target = graph->edge_targets[e];
		double part = count * graph->edge_counts[e] * self->sequences->scales[last];
		if (!(part > self->least) || self->symbols[target] == 0)
			continue;
		self->path[n] = target;
		walk(self, n + 1, key | (uint64_t)self->symbols[target] << 16 * n, part);
	}
}

void lode_executed_sequences_visit(const LodeExecutedSequences *self, LodeSequenceKind kind,
	LodeExecutedPath visit, void *user_data)
{
	Walk state = {
		.sequences = self,
		.symbols = self->symbols[kind],
		.visit = visit,
		.user_data = user_data,
		.least = self->total * least_part,
	};

	for (uint32_t v = 0; v < self->graph->n_vertices; v++) {
		if (state.symbols[v] == 0 || !(self->graph->count[v] > state.least) ||
			!(self->scales[v] > 0))
			continue;
		state.path[0] = v;
		walk(&state, 1, state.symbols[v], self->graph->count[v]);
	}
}

typedef struct {
	LodeSequenceTable *supports;
	double *totals;
	double total;
} Counting;

static void count_path(
	const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data)
{
	Counting *self = user_data;

	(void)vertices;
	*lode_sequence_table_at(self->supports, key) += count / self->total;
	self->totals[n - 1] += count / self->total;
}

void lode_executed_sequences_count(const LodeExecutedSequences *self, LodeSequenceKind kind,
	LodeSequenceTable *out_supports, double out_totals[LODE_SIGNATURE_LENGTHS])
{
	Counting counting = {out_supports, out_totals, self->total};

	memset(out_totals, 0, sizeof(double) * LODE_SIGNATURE_LENGTHS);
	lode_executed_sequences_visit(self, kind, count_path, &counting);
}
