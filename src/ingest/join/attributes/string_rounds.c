/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/string_rounds.h"

#include "images/instructions/register_test.h"

enum { RCX = 1, MAX_STEPS = 16 };

/* Bytes. */
static const double FEW = 256, MANY = 4096;

uint32_t lode_string_rounds_facts(double bytes)
{
	return 1u << (bytes <= FEW     ? LODE_JOIN_FACT_ROUNDS_FEW
		       : bytes >= MANY ? LODE_JOIN_FACT_ROUNDS_MANY
				       : LODE_JOIN_FACT_ROUNDS_SOME);
}

bool lode_string_rounds_find(const LodeLoopCode *code, uint32_t node, uint64_t *out)
{
	const LodeDependenceGraph *graph = code->graph;

	for (unsigned i = 0; i < MAX_STEPS; i++) {
		uint32_t way = graph->first_ways[node];
		uint8_t target;
		if (graph->first_ways[node + 1] != way + 1)
			return false;
		node = graph->ways[way].source;
		const LodeDependenceNode *at = &graph->nodes[node];
		LodeLoopBytes bytes = code->bytes(code->data, node);
		if (!at->is_known || at->is_call || bytes.bytes == NULL)
			return false;
		if ((at->use.changes >> RCX & 1) != 0)
			return lode_register_constant_decode(
				       &target, out, bytes.bytes, bytes.size) &&
			       target == RCX;
	}
	return false;
}
