/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_dependences.h"

#include "ingest/join/attributes/call_arguments.h"
#include "ingest/join/attributes/early_addresses.h"
#include "ingest/join/loops/loop_bounds.h"
#include "ingest/join/loops/natural_loops.h"
#include "model/index.h"

#include <glib.h>
#include <string.h>

/* Half of the iterations, less what products of shares are off by. */
static const double HALF = 0.5 - 1e-4;

enum {
	MAX_ITERATION = 4096, /* instructions; longer ones are left out */
	MAX_STORE_WALK = 512, /* instructions that a loaded value is followed back */
	MAX_CYCLES = 64,      /* that are tried for the longest */
	MAX_PASSES = 64,      /* iterations that a cycle may go through */
};

/* Less is no difference between sums of latencies. */
static const double ROUNDING = 1e-9;

/* From one instruction of the iteration to another, by their places in it. */
typedef struct {
	uint32_t source, target;
	double latency;
	uint8_t step;     /* LodeStepOf of what takes most of the latency */
	bool is_crossing; /* the target is in the next iteration */
} Edge;

typedef struct {
	LodeStepOf step; /* the longest */
	double cycles;   /* for each iteration */
} Recurrence;

struct LodeLoopDependences {
	const LodeDependenceGraph *graph;
	LodeAddressedFrame addressed; /* as lode_call_arguments_addressed() */
	LodeNaturalLoop loop;
	GArray *inner_sizes; /* uint32_t × nodes: of the smallest loop that holds it; 0: none */
	GArray *iteration;   /* uint32_t: nodes, from the head to the back edge */
	GArray *places;      /* uint32_t × nodes: 1 + place in the iteration */
	GArray *edges;       /* Edge, by source once they are sorted */
	GArray *first_edges; /* uint32_t × (places + 1) */
	GArray *indices, *lows, *components; /* uint32_t × places, of Tarjan's search */
	GArray *stack, *calls;               /* likewise: uint32_t, Call */
	GArray *reached, *parents;           /* × places: double, Edge * */
	LodeEarlyAddresses early;
	GArray *forwarders;  /* uint32_t × places: that of the store whose value is loaded */
	GArray *are_early;   /* bool × places, and likewise of linear ones */
	GArray *recurrences; /* Recurrence, of the loop at hand */
	LodeLoopBounds *bounds;
};

/* A vertex whose edges are being looked at. */
typedef struct {
	uint32_t vertex, edge;
} Call;

LodeLoopDependences *lode_loop_dependences_new(void)
{
	LodeLoopDependences *self = g_new0(LodeLoopDependences, 1);

	lode_natural_loop_init(&self->loop);
	self->inner_sizes = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->iteration = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->places = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
	self->first_edges = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->indices = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->lows = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->components = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->calls = g_array_new(FALSE, FALSE, sizeof(Call));
	self->reached = g_array_new(FALSE, TRUE, sizeof(double));
	self->parents = g_array_new(FALSE, TRUE, sizeof(const Edge *));
	lode_early_addresses_init(&self->early);
	self->forwarders = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->are_early = g_array_new(FALSE, FALSE, sizeof(bool));
	self->recurrences = g_array_new(FALSE, FALSE, sizeof(Recurrence));
	self->bounds = lode_loop_bounds_new();
	return self;
}

void lode_loop_dependences_free(LodeLoopDependences *self)
{
	if (self == NULL)
		return;
	GArray *const all[] = {self->inner_sizes, self->iteration, self->places, self->edges,
		self->first_edges, self->indices, self->lows, self->components, self->stack,
		self->calls, self->reached, self->parents, self->recurrences, self->forwarders,
		self->are_early};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_array_unref(all[i]);
	lode_early_addresses_clear(&self->early);
	lode_natural_loop_clear(&self->loop);
	lode_loop_bounds_free(self->bounds);
	g_free(self);
}

static uint32_t *numbers(GArray *array)
{
	return (uint32_t *)(void *)array->data;
}

/* n zeros. */
static void clear(GArray *array, uint32_t n)
{
	g_array_set_size(array, 0);
	g_array_set_size(array, n);
}

/* --- the loop --- */

/* An address is judged by the smallest loop around it. */
static void find_invariants(LodeLoopDependences *self, LodeLoopDependence *out)
{
	const LodeDependenceGraph *graph = self->graph;
	uint32_t *sizes = numbers(self->inner_sizes), size = self->loop.body->len;
	LodeRegisterMask changes = 0;
	bool is_known = true;

	for (guint i = 0; i < size; i++) {
		const LodeDependenceNode *node =
			&graph->nodes[g_array_index(self->loop.body, uint32_t, i)];
		changes |= node->use.changes;
		is_known &= node->is_known;
	}
	for (guint i = 0; i < size; i++) {
		uint32_t number = g_array_index(self->loop.body, uint32_t, i);
		const LodeMemoryUse *memory = &graph->nodes[number].use.memory;
		if (sizes[number] != 0 && sizes[number] <= size)
			continue;
		sizes[number] = size;
		out[number].is_invariant = is_known && memory->size > 0 &&
		                           (memory->is_load || memory->is_store) &&
		                           (memory->registers & changes) == 0;
		out[number].is_repeated = is_known && graph->nodes[number].is_call &&
		                          lode_call_arguments_are_unchanged(
						  &self->loop, changes, &self->addressed, number);
	}
}

/* --- the iteration --- */

/* The instructions that most iterations execute, found backward from the head. False: no way is
 * taken by half of them, or it goes through a loop inside. */
static bool find_iteration(LodeLoopDependences *self, uint32_t head)
{
	const LodeDependenceGraph *graph = self->graph;
	uint32_t at = head;
	double share = 1;

	g_array_set_size(self->iteration, 0);
	do {
		LodeDependenceWay most = {head, 0};
		double inside = 0, outside = 0;
		for (uint32_t w = graph->first_ways[at]; w < graph->first_ways[at + 1]; w++) {
			const LodeDependenceWay *way = &graph->ways[w];
			if (!lode_natural_loop_has(&self->loop, way->source)) {
				outside += way->share;
				continue;
			}
			inside += way->share;
			if (way->share > most.share)
				most = *way;
		}
		/* Where the loop is entered is no matter to an iteration; elsewhere it is not. */
		share *= most.share / (at == head ? inside : 1 - outside);
		at = most.source;
		bool is_inner = graph->nodes[at].is_loop_head && at != head;
		if (!(share >= HALF) || !graph->nodes[at].is_known || is_inner ||
			self->iteration->len == MAX_ITERATION)
			return false;
		g_array_append_val(self->iteration, at);
	} while (at != head);
	for (guint i = 0, k = self->iteration->len - 1; i < k; i++, k--) {
		uint32_t kept = g_array_index(self->iteration, uint32_t, i);
		g_array_index(self->iteration, uint32_t, i) = g_array_index(
			self->iteration, uint32_t, k);
		g_array_index(self->iteration, uint32_t, k) = kept;
	}
	return true;
}

static const LodeDependenceNode *node_at(const LodeLoopDependences *self, uint32_t place)
{
	return &self->graph->nodes[g_array_index(self->iteration, uint32_t, place)];
}

/* `first`: what the value goes through before the work: LODE_STEP_OF_ALU, nothing. */
static void add_edge(LodeLoopDependences *self, uint32_t source, uint32_t target, bool is_crossing,
	LodeStepOf first)
{
	const LodeDependenceNode *node = node_at(self, target);
	double access = first == LODE_STEP_OF_LOAD    ? node->load_latency
	                : first == LODE_STEP_OF_STORE ? node->forward_latency
	                                              : 0;
	bool is_chained = first == LODE_STEP_OF_ALU &&
	                  node_at(self, source)->use.work.work == node->use.work.work;
	double work = first == LODE_STEP_OF_MERGE ? node->merge_latency
	              : is_chained                ? node->chained_latency
	                                          : node->latency;
	bool is_first = first == LODE_STEP_OF_MERGE ||
	                (first != LODE_STEP_OF_ALU && access >= work);
	const Edge edge = {
		.source = source,
		.target = target,
		.latency = access + work,
		.step = (uint8_t)(is_first ? first : node->work),
		.is_crossing = is_crossing,
	};

	g_array_append_val(self->edges, edge);
}

/* Where a value that is read was made: 1 + the place; 0: outside of the loop. */
typedef struct {
	uint32_t makers[LODE_N_REGISTER_BITS];
	bool is_of_before[LODE_N_REGISTER_BITS]; /* of the iteration before */
} Makers;

static void read_registers(LodeLoopDependences *self, const Makers *makers, uint32_t place)
{
	const LodeRegisterUse *use = &node_at(self, place)->use;
	bool is_plain_store = use->memory.is_store && !use->memory.is_load && use->writes == 0;
	/* The x87 stack is one register here, so that all of its instructions would be a chain.
	 * What a store's address is made of is no part of what is stored. */
	LodeRegisterMask pending = use->reads & ~lode_register_bit(LODE_BIT_X87);

	if (is_plain_store)
		pending &= ~use->address;
	for (; pending != 0; pending &= pending - 1) {
		unsigned number = (unsigned)__builtin_ctzll(pending);
		LodeRegisterMask bit = lode_register_bit(number);
		bool is_address = (use->address & bit) != 0 && use->memory.is_load;
		if (makers->makers[number] == 0)
			continue;
		add_edge(self, makers->makers[number] - 1, place, makers->is_of_before[number],
			is_address                 ? LODE_STEP_OF_LOAD
			: (use->merges & bit) != 0 ? LODE_STEP_OF_MERGE
						   : LODE_STEP_OF_ALU);
	}
}

static void write_registers(const LodeRegisterUse *use, Makers *makers, uint32_t place)
{
	for (unsigned i = 0; i < LODE_N_REGISTER_BITS; i++) {
		if (((use->kills | use->writes) >> i & 1) == 0)
			continue;
		makers->makers[i] = (use->writes >> i & 1) != 0 ? place + 1 : 0;
		makers->is_of_before[i] = false;
	}
}

/* Twice: the first time to know what the iteration before has made. */
static void add_register_edges(LodeLoopDependences *self)
{
	Makers makers = {{0}, {false}};

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < LODE_N_REGISTER_BITS; i++)
			makers.is_of_before[i] = true;
		for (guint i = 0; i < self->iteration->len; i++) {
			if (round > 0)
				read_registers(self, &makers, i);
			write_registers(&node_at(self, i)->use, &makers, i);
		}
	}
}

/* The store whose value is loaded, up to an iteration before. */
static void add_memory_edge(LodeLoopDependences *self, uint32_t place)
{
	const LodeMemoryUse *load = &node_at(self, place)->use.memory;
	guint n = self->iteration->len;

	if (!load->is_load || load->size == 0)
		return;
	for (guint i = 1; i <= MIN(n, MAX_STORE_WALK); i++) {
		uint32_t at = (uint32_t)((place + n - i) % n);
		const LodeDependenceNode *node = node_at(self, at);
		const LodeMemoryUse *store = &node->use.memory;
		uint64_t after = (uint64_t)load->displacement - (uint64_t)store->displacement;
		if (node->is_call || (node->use.changes & load->registers) != 0)
			return;
		if (!store->is_store || store->form != load->form ||
			(after >= store->size && -after >= load->size))
			continue;
		add_edge(self, at, place, at >= place, LODE_STEP_OF_STORE);
		numbers(self->forwarders)[place] = at;
		return;
	}
}

/* --- recurrences --- */

static gint compare_sources(gconstpointer a, gconstpointer b)
{
	const Edge *first = a, *second = b;

	return (first->source > second->source) - (first->source < second->source);
}

/* A merge is named whatever else is in the cycle: without it there would be none. Of steps that
 * take the same, alu says least. */
static bool is_longer(const Edge *edge, const Edge *other)
{
	bool is_merge = edge->step == LODE_STEP_OF_MERGE;

	if (is_merge != (other->step == LODE_STEP_OF_MERGE))
		return is_merge;
	if (edge->latency != other->latency)
		return edge->latency > other->latency;
	return other->step == LODE_STEP_OF_ALU && edge->step != LODE_STEP_OF_ALU;
}

static void sort_edges(LodeLoopDependences *self)
{
	guint n = self->iteration->len;

	g_array_sort(self->edges, compare_sources);
	clear(self->first_edges, n + 1);
	for (guint i = 0; i < self->edges->len; i++)
		numbers(self->first_edges)[g_array_index(self->edges, Edge, i).source + 1]++;
	for (guint i = 0; i < n; i++)
		numbers(self->first_edges)[i + 1] += numbers(self->first_edges)[i];
}

/* A component: places, ascending, so that a pass over them goes through one iteration. */
typedef struct {
	const uint32_t *places;
	guint n;
} Component;

/* Lengthens the ways to the targets of a place, where each edge into the next iteration costs
 * `ratio`. Gives a place that was reached by a longer way; LODE_NONE: none. */
static uint32_t lengthen(LodeLoopDependences *self, uint32_t place, double ratio)
{
	double *reached = (double *)(void *)self->reached->data;
	const Edge **parents = (const Edge **)(void *)self->parents->data;
	const uint32_t *components = numbers(self->components);
	uint32_t end = numbers(self->first_edges)[place + 1], improved = LODE_NONE;

	for (uint32_t i = numbers(self->first_edges)[place]; i < end; i++) {
		const Edge *edge = &g_array_index(self->edges, Edge, i);
		double there = reached[place] + edge->latency - (edge->is_crossing ? ratio : 0);
		if (components[edge->target] != components[place] ||
			there <= reached[edge->target] + ROUNDING)
			continue;
		reached[edge->target] = there;
		parents[edge->target] = edge;
		improved = edge->target;
	}
	return improved;
}

/* A place on a cycle with more latency for each iteration than `ratio`, by Bellman and Ford's
 * method; LODE_NONE: there is none. */
static uint32_t find_longer_cycle(
	LodeLoopDependences *self, const Component *component, double ratio)
{
	const Edge **parents = (const Edge **)(void *)self->parents->data;
	uint32_t improved = LODE_NONE;

	for (guint i = 0; i < component->n; i++) {
		g_array_index(self->reached, double, component->places[i]) = 0;
		parents[component->places[i]] = NULL;
	}
	for (guint pass = 0; pass <= MIN(component->n, MAX_PASSES); pass++) {
		improved = LODE_NONE;
		for (guint i = 0; i < component->n; i++) {
			uint32_t found = lengthen(self, component->places[i], ratio);
			improved = found != LODE_NONE ? found : improved;
		}
		if (improved == LODE_NONE)
			return LODE_NONE;
	}
	/* So many edges back from there is the cycle. */
	for (guint i = 0; i < component->n && parents[improved] != NULL; i++)
		improved = parents[improved]->source;
	return parents[improved] != NULL ? improved : LODE_NONE;
}

/* The cycle with the most latency for each iteration. */
static Recurrence longest_cycle(LodeLoopDependences *self, const Component *component)
{
	const Edge **parents = (const Edge **)(void *)self->parents->data;
	Recurrence most = {LODE_STEP_OF_ALU, 0};

	for (int tries = 0; tries < MAX_CYCLES; tries++) {
		uint32_t start = find_longer_cycle(self, component, most.cycles), at = start;
		double latency = 0, crossings = 0;
		const Edge *longest = NULL;
		if (start == LODE_NONE)
			return most;
		do {
			const Edge *edge = parents[at];
			latency += edge->latency;
			crossings += edge->is_crossing;
			if (longest == NULL || is_longer(edge, longest))
				longest = edge;
			at = edge->source;
		} while (at != start && parents[at] != NULL);
		if (at != start || latency / crossings <= most.cycles + ROUNDING)
			return most;
		most = (Recurrence){(LodeStepOf)longest->step, latency / crossings};
	}
	return most;
}

static gint compare_places(gconstpointer a, gconstpointer b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

/* The component that ends the stack, from a vertex on. */
static void end_component(LodeLoopDependences *self, uint32_t vertex, LodeLoopDependence *out)
{
	uint32_t *components = numbers(self->components), number = vertex + 1;
	guint first = self->stack->len;
	uint32_t member;

	do {
		member = g_array_index(self->stack, uint32_t, --first);
		components[member] = number;
	} while (member != vertex);
	uint32_t *members = &g_array_index(self->stack, uint32_t, first);
	guint n = self->stack->len - first;
	bool is_cycle = n > 1;
	for (uint32_t e = numbers(self->first_edges)[vertex];
		e < numbers(self->first_edges)[vertex + 1]; e++)
		is_cycle |= g_array_index(self->edges, Edge, e).target == vertex;
	if (is_cycle) {
		qsort(members, n, sizeof(uint32_t), compare_places);
		Recurrence found = longest_cycle(self, &(Component){members, n});
		g_array_append_val(self->recurrences, found);
		for (guint i = 0; i < n; i++)
			out[g_array_index(self->iteration, uint32_t, members[i])].carried =
				(uint8_t)(1 + found.step);
	}
	g_array_set_size(self->stack, first);
}

/* Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion. */
static void find_components(LodeLoopDependences *self, LodeLoopDependence *out)
{
	guint n = self->iteration->len;
	uint32_t next = 0;

	clear(self->indices, n);
	clear(self->lows, n);
	clear(self->components, n);
	g_array_set_size(self->reached, n);
	g_array_set_size(self->parents, n);
	uint32_t *indices = numbers(self->indices), *lows = numbers(self->lows);
	for (uint32_t root = 0; root < n; root++) {
		if (indices[root] != 0)
			continue;
		g_array_append_val(self->calls, ((Call){root, 0}));
		while (self->calls->len > 0) {
			Call *call = &g_array_index(self->calls, Call, self->calls->len - 1);
			uint32_t v = call->vertex;
			if (call->edge == 0 && indices[v] == 0) {
				indices[v] = lows[v] = ++next;
				g_array_append_val(self->stack, v);
			}
			uint32_t edge = numbers(self->first_edges)[v] + call->edge;
			if (edge < numbers(self->first_edges)[v + 1]) {
				uint32_t target = g_array_index(self->edges, Edge, edge).target;
				call->edge++;
				if (indices[target] == 0)
					g_array_append_val(self->calls, ((Call){target, 0}));
				else if (numbers(self->components)[target] == 0)
					lows[v] = MIN(lows[v], indices[target]);
				continue;
			}
			if (lows[v] == indices[v])
				end_component(self, v, out);
			g_array_set_size(self->calls, self->calls->len - 1);
			if (self->calls->len > 0) {
				uint32_t caller = g_array_index(
					self->calls, Call, self->calls->len - 1)
				                          .vertex;
				lows[caller] = MIN(lows[caller], lows[v]);
			}
		}
	}
}

static void find_recurrences(LodeLoopDependences *self, LodeLoopDependence *out)
{
	g_array_set_size(self->edges, 0);
	g_array_set_size(self->forwarders, self->iteration->len);
	for (uint32_t i = 0; i < self->iteration->len; i++)
		numbers(self->forwarders)[i] = LODE_NONE;
	g_array_set_size(self->recurrences, 0);
	add_register_edges(self);
	for (uint32_t i = 0; i < self->iteration->len; i++)
		add_memory_edge(self, i);
	sort_edges(self);
	find_components(self, out);
}

static void find_early(LodeLoopDependences *self, LodeLoopDependence *out)
{
	const uint32_t *iteration = numbers(self->iteration);
	uint32_t n = self->iteration->len;

	g_array_set_size(self->are_early, 2 * n);
	lode_early_addresses_find(&self->early, self->graph, iteration, n,
		numbers(self->forwarders), (bool *)self->are_early->data,
		(bool *)self->are_early->data + n);
	for (uint32_t i = 0; i < n; i++) {
		out[iteration[i]].is_on_way = true;
		out[iteration[i]].is_early = g_array_index(self->are_early, bool, i);
		out[iteration[i]].is_linear = g_array_index(self->are_early, bool, n + i);
	}
}

static gint compare_recurrences(gconstpointer a, gconstpointer b)
{
	const Recurrence *first = a, *second = b;

	if (first->cycles != second->cycles)
		return first->cycles > second->cycles ? -1 : 1;
	return (first->step > second->step) - (first->step < second->step);
}

/* The two longest that share no instruction. */
static void name_recurrences(LodeLoopDependences *self, LodeLoop *loop)
{
	char **const names[] = {&loop->recurrence, &loop->other_recurrence};
	double *const cycles[] = {&loop->recurrence_cycles, &loop->other_cycles};

	g_array_sort(self->recurrences, compare_recurrences);
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		const Recurrence *found = i < self->recurrences->len
		                                  ? &g_array_index(self->recurrences, Recurrence, i)
		                                  : NULL;
		*cycles[i] = found != NULL ? found->cycles : 0;
		if (*cycles[i] > 0)
			*names[i] = (char *)lode_step_of_name(found->step);
	}
}

void lode_loop_dependences_run(LodeLoopDependences *self, const LodeDependenceGraph *graph,
	LodeLoopDependence *out, double least_weight, GArray *loops)
{
	self->graph = graph;
	self->addressed = lode_call_arguments_addressed(graph);
	lode_natural_loop_begin(&self->loop, graph);
	clear(self->inner_sizes, graph->n);
	for (uint32_t i = 0; i < graph->n; i++)
		out[i] = (LodeLoopDependence){0};
	for (uint32_t i = 0; i < graph->n; i++) {
		LodeLoop loop;
		if (!graph->nodes[i].is_loop_head || !lode_natural_loop_find(&self->loop, i))
			continue;
		find_invariants(self, out);
		bool has_iteration = find_iteration(self, i);
		if (has_iteration) {
			find_recurrences(self, out);
			find_early(self, out);
		}
		if (loops == NULL ||
			!lode_loop_bounds_find(self->bounds, &self->loop, least_weight, &loop))
			continue;
		loop.head = i;
		if (has_iteration)
			name_recurrences(self, &loop);
		g_array_append_val(loops, loop);
	}
}
