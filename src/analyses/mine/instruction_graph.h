/* SPDX-License-Identifier: MIT */
/*
 * The static control flow of all mined functions as one graph: every instruction, executed or not,
 * with its opcode; every edge that control can take, whatever its count. For instruction sequences.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeMiningParameters LodeMiningParameters;
typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t n_vertices, n_edges, n_opcodes;
	uint32_t *opcodes; /* [n_vertices]: by bytes of the names; LODE_NONE: the vertex has none */
	uint32_t *instructions; /* [n_vertices]: profile instruction; LODE_NONE: never executed */
	uint32_t *functions;    /* [n_vertices] */
	uint32_t *edge_starts, *edge_targets;
	char **opcode_names; /* "op:mov" */
} LodeInstructionGraph;

/* Built from the functions' code (control flow as images/code/control_flow.h, jump tables as
 * recorded), or from the edges of given graphs. Errors: _USAGE (a regular expression). */
LodeInstructionGraph *lode_instruction_graph_build(
	const LodeProfile *profile, const LodeMiningParameters *parameters, GError **error);
void lode_instruction_graph_free(LodeInstructionGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeInstructionGraph, lode_instruction_graph_free)
