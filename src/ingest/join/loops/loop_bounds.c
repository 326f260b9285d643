/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_bounds.h"

#include <math.h>

enum { MAX_SETS = 256 /* unions of ports that are tried */ };

/* Work of an iteration that any of some ports does. */
typedef struct {
	uint64_t ports;
	double cycles[LODE_N_UNITS]; /* by the unit that it counts for */
} Demand;

struct LodeLoopBounds {
	GArray *demands; /* Demand, no two with the same ports */
	GArray *sets;    /* uint64_t */
};

LodeLoopBounds *lode_loop_bounds_new(void)
{
	LodeLoopBounds *self = g_new0(LodeLoopBounds, 1);

	self->demands = g_array_new(FALSE, TRUE, sizeof(Demand));
	self->sets = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

void lode_loop_bounds_free(LodeLoopBounds *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->demands);
	g_array_unref(self->sets);
	g_free(self);
}

static double latency_of(const LodeCore *core, uint8_t of)
{
	const LodeClassCost *cost = &core->costs[of];
	bool is_known = of == LODE_CLASS_NONE || cost->slots > 0 || cost->n_uses > 0;

	/* An unknown instruction takes a cycle at least. */
	return is_known ? cost->latency : 1;
}

void lode_loop_bounds_set_latencies(const LodeCore *core, LodeDependenceNode *node)
{
	const LodeInstructionWork *work = &node->use.work;

	node->work = (uint8_t)lode_instruction_class_step((LodeInstructionClass)work->work);
	node->latency = latency_of(core, work->work);
	node->chained_latency = work->work == LODE_CLASS_FP_ADD && core->add_after_add > 0
	                                ? core->add_after_add
	                                : node->latency;
	node->merge_latency = latency_of(core, work->merge);
	node->load_latency = latency_of(core, work->load);
	node->forward_latency = work->load == LODE_CLASS_LOAD_VECTOR ? core->forward_vector
	                        : work->load == LODE_CLASS_LOAD_INDEXED ||
	                                        work->load == LODE_CLASS_LOAD_SCALED
	                                ? core->forward_indexed
	                                : core->forward;
}

static void add_use(LodeLoopBounds *self, const LodePortUse *use, LodeUnit unit, double executions)
{
	guint at = 0;

	while (at < self->demands->len &&
		g_array_index(self->demands, Demand, at).ports != use->ports)
		at++;
	if (at == self->demands->len) {
		const Demand demand = {.ports = use->ports};
		g_array_append_val(self->demands, demand);
	}
	g_array_index(self->demands, Demand, at)
		.cycles[use->is_divider ? LODE_UNIT_DIVIDER : unit] += use->cycles * executions;
}

/* One class of an instruction; false: its cost is not known. */
static bool add_class(LodeLoopBounds *self, const LodeCore *core, const LodeInstructionWork *work,
	LodeInstructionClass of, double executions, double *slots)
{
	LodeClassCost cost;

	if (!lode_core_cost(core, work, of, &cost))
		return false;
	for (unsigned i = 0; i < cost.n_uses; i++)
		add_use(self, &cost.uses[i], lode_instruction_class_unit(of), executions);
	*slots += cost.slots * executions;
	return true;
}

static void add_instruction(LodeLoopBounds *self, const LodeCore *core,
	const LodeDependenceNode *node, double executions, bool is_fused, LodeLoop *out)
{
	const LodeInstructionWork *work = &node->use.work;
	double *slots = &out->cycles[LODE_UNIT_WIDTH], of_access = 0;

	const LodeMemoryUse *memory = &node->use.memory;

	out->instructions += executions;
	out->calls += node->is_call ? executions : 0;
	if (!node->is_known) {
		out->unmodelled += executions;
		out->load_bytes = out->store_bytes = NAN;
		return;
	}
	out->load_bytes += memory->is_load ? executions * memory->size : 0;
	out->store_bytes += memory->is_store ? executions * memory->size : 0;
	add_class(self, core, work, (LodeInstructionClass)work->load, executions, &of_access);
	add_class(self, core, work, (LodeInstructionClass)work->store, executions, &of_access);
	if (is_fused)
		return;
	if (!add_class(self, core, work, (LodeInstructionClass)work->work, executions, slots)) {
		out->unmodelled += executions;
		return;
	}
	/* An access is one operation with its work; alone it is one by itself. */
	if (work->work == LODE_CLASS_NONE)
		*slots += executions;
	else if (work->load != LODE_CLASS_NONE && work->store != LODE_CLASS_NONE)
		*slots += core->modify * executions;
}

/* Whether it is one operation with the branch that follows. */
static bool is_fused(const LodeCore *core, const LodeDependenceGraph *graph, uint32_t number)
{
	const LodeDependenceNode *node = &graph->nodes[number], *next = node + 1;
	LodeFusing fusing = (LodeFusing)node->use.work.fuses;

	return fusing != LODE_FUSES_NOT && number + 1 < graph->n && next->is_known &&
	       !next->is_block_start && next->use.work.work == LODE_CLASS_BRANCH &&
	       (fusing == LODE_FUSES_COMPARE || core->fuses_arithmetic);
}

/* The unions of ports, for a set that is none is as busy as a smaller one. */
static void find_sets(LodeLoopBounds *self)
{
	g_array_set_size(self->sets, 0);
	for (guint i = 0; i < self->demands->len; i++) {
		uint64_t ports = g_array_index(self->demands, Demand, i).ports;
		guint n = self->sets->len;
		for (guint k = 0; k <= n && self->sets->len < MAX_SETS; k++) {
			uint64_t set = ports | (k < n ? g_array_index(self->sets, uint64_t, k) : 0);
			bool is_new = true;
			for (guint j = 0; j < self->sets->len && is_new; j++)
				is_new = g_array_index(self->sets, uint64_t, j) != set;
			if (is_new)
				g_array_append_val(self->sets, set);
		}
	}
}

static void find_units(LodeLoopBounds *self, LodeLoop *out)
{
	find_sets(self);
	for (guint i = 0; i < self->sets->len; i++) {
		uint64_t set = g_array_index(self->sets, uint64_t, i);
		double n_ports = __builtin_popcountll(set), cycles[LODE_N_UNITS] = {0};
		for (guint k = 0; k < self->demands->len; k++) {
			const Demand *demand = &g_array_index(self->demands, Demand, k);
			for (unsigned unit = 0;
				(demand->ports & ~set) == 0 && unit < LODE_UNIT_PORTS; unit++) {
				cycles[unit] += demand->cycles[unit];
				cycles[LODE_UNIT_PORTS] += demand->cycles[unit];
			}
		}
		for (unsigned unit = 0; unit <= LODE_UNIT_PORTS; unit++)
			out->cycles[unit] = MAX(out->cycles[unit], cycles[unit] / n_ports);
	}
}

bool lode_loop_bounds_find(
	LodeLoopBounds *self, const LodeNaturalLoop *loop, double least_weight, LodeLoop *out)
{
	const LodeDependenceGraph *graph = loop->graph;
	const LodeCore *core = graph->core;
	double iterations = graph->nodes[g_array_index(loop->body, uint32_t, 0)].count;

	*out = (LodeLoop){
		.iterations = iterations,
		.is_innermost = !lode_natural_loop_has_inner(loop),
		.recurrence_cycles = -1,
		.other_cycles = -1,
		.iteration_ns = -1,
		.iteration_error_ns = -1,
	};
	for (guint i = 0; i < loop->body->len; i++)
		out->weight += graph->nodes[g_array_index(loop->body, uint32_t, i)].weight;
	if (!(iterations > 0) || out->weight < least_weight)
		return false;
	g_array_set_size(self->demands, 0);
	for (guint i = 0; i < loop->body->len; i++) {
		uint32_t number = g_array_index(loop->body, uint32_t, i);
		const LodeDependenceNode *node = &graph->nodes[number];
		double executions = node->count / iterations;
		/* No instruction of an innermost loop is executed twice in an iteration. */
		if (out->is_innermost)
			executions = MIN(executions, 1);
		add_instruction(self, core, node, executions, is_fused(core, graph, number), out);
	}
	if (isnan(out->load_bytes))
		out->load_bytes = out->store_bytes = -1;
	find_units(self, out);
	out->cycles[LODE_UNIT_WIDTH] /= core->width;
	/* The back edge is a branch that is taken. */
	out->cycles[LODE_UNIT_BRANCH] = MAX(out->cycles[LODE_UNIT_BRANCH], 1 / core->taken);
	return true;
}
