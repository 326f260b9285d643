/* SPDX-License-Identifier: MIT */
/*
 * The sequences of instructions that a profile executes, and how often (docs/use/classify.md §1):
 * every path of up to four instructions inside a function, with n(v1)·Π n(vi,vi+1)/n(vi)
 * executions. So each execution of an instruction begins one sequence of each length, unless the
 * function ends before, and the supports of a mixture are the mixture of the supports.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"
#include "analyses/signatures/sequence_table.h"

typedef struct {
	LodeFlowGraph *graph;
	uint16_t *symbols[LODE_N_SEQUENCE_KINDS]; /* of each vertex; 0: it is in no sequence */
	double *scales;                           /* 1/n(v), or less where more flows out than in */
	double total;                             /* executions of the vertices that have symbols */
} LodeExecutedSequences;

/*
 * `attributes`: namespaces of the second kind, "kind,mem". The profile must outlive the result.
 * Errors: _USAGE (a namespace; no executed instruction with an opcode), _LIMIT (more than 65,535
 * sets of attributes).
 */
LodeExecutedSequences *lode_executed_sequences_new(
	const LodeProfile *profile, const char *attributes, LodeSymbols *symbols, GError **error);
void lode_executed_sequences_free(LodeExecutedSequences *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeExecutedSequences, lode_executed_sequences_free)

/* One path: `count` executions of a sequence of `n` vertices. */
typedef void (*LodeExecutedPath)(
	const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data);

/* Visits all paths of 1 to 4 vertices, in the order of their first vertex. Paths of less than 10⁻¹⁰
 * of the executions are left out, with what follows them. */
void lode_executed_sequences_visit(const LodeExecutedSequences *self, LodeSequenceKind kind,
	LodeExecutedPath visit, void *user_data);

/* The supports of all sequences of a kind, of all lengths, and their sums by length. */
void lode_executed_sequences_count(const LodeExecutedSequences *self, LodeSequenceKind kind,
	LodeSequenceTable *out_supports, double out_totals[LODE_SIGNATURE_LENGTHS]);
