/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/call_arguments.h"

#include "base/bits.h"

enum { MAX_WAY = 64, MAX_LOOP = 4096 };
enum { RCX = 1, RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R8 = 8, R9 = 9 };

static const double HALF = 0.5 - 1e-4;

/* In the order in which arguments get them. */
static const uint8_t general[] = {RDI, RSI, RDX, RCX, R8, R9};
enum { N_VECTORS = 8 };
/* Without the first. */
static const LodeRegisterMask later_vectors = (((LodeRegisterMask)1 << N_VECTORS) - 2)
                                              << LODE_BIT_VECTOR;

/* Those of the written registers that can be arguments: before one that was not written there are
 * no more, as the call before has left it undefined. */
static LodeRegisterMask argument_registers(LodeRegisterMask written)
{
	LodeRegisterMask arguments = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(general) && (written & LODE_BIT(general[i])) != 0;
		i++)
		arguments |= LODE_BIT(general[i]);
	for (unsigned i = 0; i < N_VECTORS && (written & LODE_BIT(LODE_BIT_VECTOR + i)) != 0; i++)
		arguments |= LODE_BIT(LODE_BIT_VECTOR + i);
	return arguments;
}

static uint32_t node_at(const LodeNaturalLoop *loop, uint32_t i)
{
	return g_array_index(loop->body, uint32_t, i);
}

/* Backward to the call before it, which may be itself; 0: there is no such way. */
static uint32_t find_way(const LodeNaturalLoop *loop, uint32_t call, uint32_t way[MAX_WAY])
{
	const LodeDependenceGraph *graph = loop->graph;
	uint32_t at = call, n = 0;
	double share = 1;

	for (;;) {
		LodeDependenceWay most = {at, 0};
		double inside = 0;
		for (uint32_t w = graph->first_ways[at]; w < graph->first_ways[at + 1]; w++) {
			const LodeDependenceWay *it = &graph->ways[w];
			if (!lode_natural_loop_has(loop, it->source))
				continue;
			inside += it->share;
			if (it->share > most.share)
				most = *it;
		}
		/* Where the loop is entered is no matter to the other iterations. */
		share *= at == node_at(loop, 0) ? most.share / inside : most.share;
		if (!(share >= HALF))
			return 0;
		at = most.source;
		if (graph->nodes[at].is_call)
			return n;
		if (n == MAX_WAY)
			return 0;
		way[n++] = at;
	}
}

/* Push, pop and calls change rsp by themselves, and are back where they were in the end. */
static LodeRegisterMask without_stack(const LodeNaturalLoop *loop, LodeRegisterMask changes)
{
	changes &= ~LODE_BIT(RSP);

	for (uint32_t i = 0; i < loop->body->len; i++)
		changes |= loop->graph->nodes[node_at(loop, i)].use.writes & LODE_BIT(RSP);
	return changes;
}

LodeAddressedFrame lode_call_arguments_addressed(const LodeDependenceGraph *graph)
{
	LodeAddressedFrame addressed = {0, INT64_MAX, INT64_MAX};

	for (uint32_t i = 0; i < graph->n; i++) {
		const LodeRegisterUse *use = &graph->nodes[i].use;
		bool is_copy = use->is_linear && use->memory.size == 0 &&
		               (use->results & ~(LODE_BIT(RSP) | LODE_BIT(RBP) |
						       LODE_BIT(LODE_BIT_FLAGS))) != 0;
		int64_t at = use->memory.displacement;
		if (is_copy && (use->reads & LODE_BIT(RSP)) != 0)
			addressed.least_rsp = MIN(addressed.least_rsp, at);
		if (is_copy && (use->reads & LODE_BIT(RBP)) != 0)
			addressed.least_rbp = MIN(addressed.least_rbp, at);
		if (is_copy)
			addressed.registers |= use->reads & (LODE_BIT(RSP) | LODE_BIT(RBP));
	}
	return addressed;
}

/* Whether an address that the function makes may lead to a load's place: an object lies from its
 * address upward. */
static bool may_be_addressed(const LodeAddressedFrame *addressed, const LodeMemoryUse *load)
{
	int64_t least = (load->registers & LODE_BIT(RSP)) != 0 ? addressed->least_rsp
	                                                       : addressed->least_rbp;

	return (load->registers & addressed->registers) != 0 &&
	       (load->index != LODE_NO_BIT || load->displacement > least - (int64_t)load->size);
}

/* A load from the stack, where neither the loop stores by the same expression nor others can. */
static bool is_kept_slot(const LodeNaturalLoop *loop, const LodeAddressedFrame *addressed,
	const LodeDependenceNode *node)
{
	const LodeMemoryUse *load = &node->use.memory;

	if ((node->makes >> LODE_NEED_LOAD_STACK & 1) == 0 || load->size == 0 ||
		may_be_addressed(addressed, load))
		return false;
	for (uint32_t i = 0; i < loop->body->len; i++) {
		const LodeMemoryUse *store = &loop->graph->nodes[node_at(loop, i)].use.memory;
		uint64_t after = (uint64_t)load->displacement - (uint64_t)store->displacement;
		if (store->is_store && store->registers == load->registers &&
			(after < store->size || -after < load->size))
			return false;
	}
	return true;
}

bool lode_call_arguments_are_unchanged(const LodeNaturalLoop *loop, LodeRegisterMask changes,
	const LodeAddressedFrame *addressed, uint32_t call)
{
	const LodeDependenceNode *nodes = loop->graph->nodes;
	LodeRegisterMask changing = without_stack(loop, changes), written = 0, used = 0;
	uint32_t way[MAX_WAY];
	uint32_t n = loop->body->len <= MAX_LOOP ? find_way(loop, call, way) : 0;
	bool is_before = false;

	for (uint32_t i = 0; i < n; i++)
		is_before |= way[i] == node_at(loop, 0);

	while (n-- > 0) {
		const LodeDependenceNode *node = &nodes[way[n]];
		const LodeRegisterUse *use = &node->use;
		bool is_pop = (use->changes & ~use->writes & LODE_BIT(RSP)) != 0;
		bool is_load = (node->makes >> LODE_NEED_LOAD & 1) != 0;
		bool is_same = node->is_known && !is_pop && (use->reads & changing) == 0 &&
		               (!is_load || is_kept_slot(loop, addressed, node));
		/* A later vector register that the iteration before wrote and read held a value
		 * between, and is no argument. */
		is_before = is_before && way[n] != node_at(loop, 0);
		used = (used | (is_before ? use->reads & later_vectors : 0)) & ~use->writes;
		written |= use->writes;
		changing = is_same ? changing & ~use->writes
		                   : changing | (use->changes & ~LODE_BIT(RSP));
	}
	written = argument_registers(written & ~used);
	return written != 0 && (written & changing) == 0 && (nodes[call].use.reads & changing) == 0;
}
