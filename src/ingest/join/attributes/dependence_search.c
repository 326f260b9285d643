/* SPDX-License-Identifier: MIT */
/*
 * One register of one instruction is followed at a time, level by level: a level is the set of
 * instructions at one distance, each with the share of executions that came that way, so that ways
 * that meet again are one.
 */
#include "ingest/join/attributes/dependence_search.h"

#include <glib.h>
#include <string.h>

/* Half of the executions, less what sums of shares are off by. */
static const double HALF = 0.5 - 1e-4;

/* A chain that goes on at a later address is followed from there at most so many times. */
enum { MAX_CHAIN_TURNS = 64 };

/* Cheap instructions that go against the order of addresses are seen through so many times. */
enum { MAX_PASSES = 16 };

typedef struct {
	uint32_t node;
	double share;
} Front;

struct LodeDependenceSearch {
	const LodeDependenceGraph *graph;
	Front *level, *next; /* room for each node */
	uint32_t n_level, n_next, room;
	GArray *slots;     /* uint32_t × nodes: 1 + place of a node in `next`; else 0 */
	GArray *main_ways; /* LodeDependenceWay × nodes: where most executions came from */
	GArray *depths;    /* uint32_t × nodes: length of the chain; 0: not known yet */
};

/* The target of a search backward. */
typedef struct {
	LodeRegisterMask bit;        /* a register, or … */
	const LodeMemoryUse *memory; /* … the loaded operand; NULL: a register */
} Query;

static const char *const names[LODE_N_NEEDS] = {
	[LODE_NEED_LOAD] = "load",
	[LODE_NEED_LOAD_POINTER] = "load-pointer",
	[LODE_NEED_LOAD_INDEXED] = "load-indexed",
	[LODE_NEED_LOAD_GLOBAL] = "load-global",
	[LODE_NEED_LOAD_STACK] = "load-stack",
	[LODE_NEED_MISS] = "miss",
	[LODE_NEED_MUL] = "mul",
	[LODE_NEED_DIV] = "div",
	[LODE_NEED_FP] = "fp",
	[LODE_NEED_CONVERT] = "convert",
	[LODE_NEED_ATOMIC] = "atomic",
	[LODE_NEED_CALL] = "call",
	[LODE_NEED_STORE] = "store",
	[LODE_NEED_PART_STORE] = "part-store",
};

const char *lode_need_name(LodeNeed need)
{
	return (unsigned)need < LODE_N_NEEDS ? names[need] : NULL;
}

LodeDependenceSearch *lode_dependence_search_new(void)
{
	LodeDependenceSearch *self = g_new0(LodeDependenceSearch, 1);

	self->slots = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->main_ways = g_array_new(FALSE, FALSE, sizeof(LodeDependenceWay));
	self->depths = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return self;
}

void lode_dependence_search_free(LodeDependenceSearch *self)
{
	if (self == NULL)
		return;
	g_free(self->level);
	g_free(self->next);
	g_array_unref(self->slots);
	g_array_unref(self->main_ways);
	g_array_unref(self->depths);
	g_free(self);
}

static void add_shares(uint16_t makes, double share, double *shares)
{
	for (; makes != 0; makes = (uint16_t)(makes & (makes - 1)))
		shares[__builtin_ctz(makes)] += share;
}

/*
 * Whether a store has all that a load reads, some of it, or nothing. A load gets its data from the
 * store buffer when one store has all of it, at whatever offset; when it has only a part, the load
 * waits until the store is in the cache.
 */
static int compare_extents(const LodeMemoryUse *store, const LodeMemoryUse *load)
{
	/* Modulo 2^64, as addresses are. */
	uint64_t after = (uint64_t)load->displacement - (uint64_t)store->displacement;

	if (after < store->size)
		return store->size - after >= load->size ? LODE_NEED_STORE : LODE_NEED_PART_STORE;
	return -after < load->size ? LODE_NEED_PART_STORE : LODE_N_NEEDS;
}

static bool visit_store(
	const LodeMemoryUse *load, const LodeDependenceNode *node, double share, double *shares)
{
	const LodeMemoryUse *store = &node->use.memory;

	if (node->is_call || (node->use.changes & load->registers) != 0)
		return false;
	if (!store->is_store || store->form != load->form)
		return true;
	int found = compare_extents(store, load);
	if (found < LODE_N_NEEDS)
		shares[found] += share;
	return found == LODE_N_NEEDS;
}

/* Takes note of what an instruction made; false when nothing older can have made it. */
static bool visit(const Query *query, const LodeDependenceNode *node, double share, double *shares)
{
	if (!node->is_known)
		return false;
	if (query->memory != NULL)
		return visit_store(query->memory, node, share, shares);
	if ((node->use.results & query->bit) != 0)
		add_shares(node->makes, share, shares);
	return (node->use.kills & query->bit) == 0;
}

/* The predecessors of a level, each once. */
static void step_back(LodeDependenceSearch *self)
{
	const LodeDependenceGraph *graph = self->graph;
	uint32_t *slots = (uint32_t *)(void *)self->slots->data;

	self->n_next = 0;
	for (uint32_t i = 0; i < self->n_level; i++) {
		const Front *front = &self->level[i];
		uint32_t end = graph->first_ways[front->node + 1];
		for (uint32_t w = graph->first_ways[front->node]; w < end; w++) {
			const LodeDependenceWay *way = &graph->ways[w];
			double share = front->share * way->share;
			if (slots[way->source] > 0) {
				self->next[slots[way->source] - 1].share += share;
				continue;
			}
			self->next[self->n_next++] = (Front){way->source, share};
			slots[way->source] = self->n_next;
		}
	}
	for (uint32_t i = 0; i < self->n_next; i++)
		slots[self->next[i].node] = 0;
}

/* Adds to `shares`, by kind of maker, in how many of the executions of `start` the queried value
 * was made, beginning `distance` instructions before. */
static void follow(
	LodeDependenceSearch *self, Front start, int distance, const Query *query, double *shares)
{
	double left = start.share, best = 0;

	self->level[0] = start;
	self->n_level = 1;
	/* Nothing can come to a half any more. */
	while (distance++ < LODE_NEED_DISTANCE && best + left >= HALF) {
		uint32_t kept = 0;
		step_back(self);
		left = 0;
		for (uint32_t i = 0; i < self->n_next; i++) {
			Front front = self->next[i];
			if (!visit(query, &self->graph->nodes[front.node], front.share, shares) ||
				front.share * LODE_NEED_SMALLEST_WAY < 1)
				continue;
			left += front.share;
			self->next[kept++] = front;
		}
		Front *swapped = self->level;
		self->level = self->next;
		self->next = swapped;
		self->n_level = kept;
		if (kept == 0)
			return;
		for (unsigned i = 0; i < LODE_N_NEEDS; i++)
			best = MAX(best, shares[i]);
	}
}

static uint16_t halves(const double *shares)
{
	uint16_t found = 0;

	for (unsigned i = 0; i < LODE_N_NEEDS; i++)
		if (shares[i] >= HALF)
			found |= (uint16_t)(1u << i);
	return found;
}

static void add_found(
	const LodeRegisterUse *use, LodeRegisterMask bits, uint16_t found, LodeDependence *out)
{
	out->needs |= found;
	if ((use->address & bits) != 0)
		out->address |= found;
}

static void find_stored(LodeDependenceSearch *self, uint32_t node, LodeDependence *out)
{
	const LodeMemoryUse *memory = &self->graph->nodes[node].use.memory;
	double shares[LODE_N_NEEDS] = {0};

	if (!memory->is_load || memory->size == 0)
		return;
	follow(self, (Front){node, 1}, 0, &(Query){.memory = memory}, shares);
	out->needs |= halves(shares);
}

/*
 * All registers together as long as there is one way back only, as there is in a block; then each
 * by itself. x87 is followed by itself from the start: what writes to its stack does not end it.
 */
static void find_made(LodeDependenceSearch *self, uint32_t node, LodeDependence *out)
{
	const LodeDependenceGraph *graph = self->graph;
	const LodeRegisterUse *use = &graph->nodes[node].use;
	const LodeRegisterMask x87 = lode_register_bit(LODE_BIT_X87);
	LodeRegisterMask pending = use->reads & ~x87;
	Front front = {node, 1};
	int distance = 0;

	while (pending != 0 && distance < LODE_NEED_DISTANCE &&
		graph->first_ways[front.node + 1] - graph->first_ways[front.node] == 1) {
		const LodeDependenceWay *way = &graph->ways[graph->first_ways[front.node]];
		const LodeDependenceNode *source = &graph->nodes[way->source];
		front = (Front){way->source, front.share * way->share};
		distance++;
		if (!source->is_known || front.share < HALF)
			pending = 0;
		add_found(use, pending & source->use.results,
			(pending & source->use.results) != 0 ? source->makes : 0, out);
		pending &= ~source->use.kills;
	}
	for (; pending != 0; pending &= pending - 1) {
		double shares[LODE_N_NEEDS] = {0};
		LodeRegisterMask bit = pending & -pending;
		follow(self, front, distance, &(Query){.bit = bit}, shares);
		add_found(use, bit, halves(shares), out);
	}
	if ((use->reads & x87) != 0) {
		double shares[LODE_N_NEEDS] = {0};
		follow(self, (Front){node, 1}, 0, &(Query){.bit = x87}, shares);
		add_found(use, x87, halves(shares), out);
	}
}

static void find_main_ways(LodeDependenceSearch *self)
{
	const LodeDependenceGraph *graph = self->graph;

	g_array_set_size(self->main_ways, graph->n);
	for (uint32_t i = 0; i < graph->n; i++) {
		LodeDependenceWay most = {0, 0};
		for (uint32_t w = graph->first_ways[i]; w < graph->first_ways[i + 1]; w++)
			if (graph->ways[w].share > most.share)
				most = graph->ways[w];
		g_array_index(self->main_ways, LodeDependenceWay, i) = most;
	}
}

/* Whether a way back from `at` leaves the iteration or the block of an instruction. */
static bool is_start(const LodeDependenceNode *of, const LodeDependenceNode *at)
{
	return of->loop_depth > 0 ? at->is_loop_head && at->loop_depth <= of->loop_depth
	                          : at->is_block_start;
}

/*
 * How many instructions depend on each other, each on one before it, up to this one: 1 and the
 * longest chain up to one of the makers of its inputs. Loops that are not natural ones may lead
 * back here: then the instruction counts alone.
 */
static uint32_t chain_depth(LodeDependenceSearch *self, uint32_t node, int turns)
{
	const LodeDependenceGraph *graph = self->graph;
	const LodeDependenceNode *own = &graph->nodes[node];
	uint32_t *depths = (uint32_t *)(void *)self->depths->data;
	LodeRegisterMask pending = own->use.reads;
	uint32_t longest = 0, at = node;
	double share = 1;

	if (depths[node] > 0 || turns == MAX_CHAIN_TURNS)
		return MAX(depths[node], 1);
	depths[node] = 1;
	for (int i = 0; i < LODE_NEED_DISTANCE && pending != 0; i++) {
		const LodeDependenceWay *way = &g_array_index(
			self->main_ways, LodeDependenceWay, at);
		const LodeDependenceNode *source = &graph->nodes[way->source];
		share *= way->share;
		if (is_start(own, &graph->nodes[at]) || share < HALF || !source->is_known ||
			source->is_call)
			break;
		at = way->source;
		if ((pending & source->use.writes) != 0)
			longest = MAX(longest, chain_depth(self, at, turns + 1));
		pending &= ~source->use.kills;
	}
	return depths[node] = longest + 1;
}

/* Slow kinds of instructions. All other kinds are cheap: their inputs are searched instead. */
enum {
	SLOW = 1 << LODE_NEED_LOAD | 1 << LODE_NEED_MUL | 1 << LODE_NEED_DIV | 1 << LODE_NEED_FP |
	       1 << LODE_NEED_CONVERT | 1 << LODE_NEED_CALL,
};

/* Adds the slow instructions whose results reach the instruction through cheap ones, on the way
 * that most executions took. */
static void see_through(LodeDependenceSearch *self, uint32_t node, LodeDependence *out)
{
	const LodeDependenceGraph *graph = self->graph;
	LodeRegisterMask pending = graph->nodes[node].use.reads;
	uint32_t at = node;
	double share = 1;

	for (int i = 0; i < LODE_NEED_DISTANCE && pending != 0; i++) {
		const LodeDependenceWay *way = &g_array_index(
			self->main_ways, LodeDependenceWay, at);
		const LodeDependenceNode *source = &graph->nodes[way->source];
		share *= way->share;
		if (share < HALF || !source->is_known)
			return;
		at = way->source;
		if ((pending & source->use.results) != 0 && (source->makes & SLOW) == 0)
			out[node].behind |= (uint16_t)((out[at].needs & SLOW) | out[at].behind);
		pending &= ~source->use.kills;
	}
}

/* In the order of addresses, which most values go, until nothing changes: round loops. */
static void find_behind(LodeDependenceSearch *self, LodeDependence *out)
{
	bool is_changed = true;

	for (int pass = 0; pass < MAX_PASSES && is_changed; pass++) {
		is_changed = false;
		for (uint32_t i = 0; i < self->graph->n; i++) {
			uint16_t before = out[i].behind;
			if (self->graph->nodes[i].is_known)
				see_through(self, i, out);
			is_changed |= out[i].behind != before;
		}
	}
}

void lode_dependence_search_run(
	LodeDependenceSearch *self, const LodeDependenceGraph *graph, LodeDependence *out)
{
	self->graph = graph;
	if (self->room < graph->n) {
		self->room = MAX(graph->n, 2 * self->room);
		self->level = g_renew(Front, self->level, self->room);
		self->next = g_renew(Front, self->next, self->room);
	}
	if (self->slots->len < graph->n)
		g_array_set_size(self->slots, graph->n);
	g_array_set_size(self->depths, graph->n);
	if (graph->n > 0)
		memset(self->depths->data, 0, graph->n * sizeof(uint32_t));
	find_main_ways(self);
	for (uint32_t i = 0; i < graph->n; i++) {
		out[i] = (LodeDependence){0};
		if (!graph->nodes[i].is_known)
			continue;
		find_made(self, i, &out[i]);
		find_stored(self, i, &out[i]);
		uint32_t depth = chain_depth(self, i, 0);
		out[i].chain = (uint8_t)(31 - __builtin_clz(depth));
	}
	find_behind(self, out);
}
