/* SPDX-License-Identifier: MIT */
/*
 * Hierarchies are dealt to workers. A worker walks through a frame in pieces that stay in its own
 * processor's cache, and takes each piece through all its hierarchies:
 *
 *   piece ──▶ filter of one shape ──▶ hierarchies of that shape, one after the other
 */
#include "caches/cache_simulation.h"

#include "base/error.h"
#include "base/worker_pool.h"
#include "caches/direct_replay.h"
#include "caches/reference_filter.h"

#include <string.h>

enum { PIECE_INVOCATIONS = 2048 };

/* Machines that one filter serves; or one of the usual kind, which is quicker without. */
typedef struct {
	LodeFilterRules rules;
	LodeReferenceFilter *filter;
	LodeDirectReplay *direct; /* NULL: by the filter */
	GPtrArray *machines;      /* borrowed LodeCacheMachine */
} Group;

struct LodeCacheSimulation {
	LodeCacheBudget budget;
	LodeCacheMachine *machines;
	size_t n_machines;
	LodeBlockPlans plans;
	GPtrArray *workers;          /* GArray of Group each */
	const LodeTraceFrame *frame; /* while it is replayed */
	uint8_t *kept_counts;        /* of all machines, while nothing is counted; NULL: it is */
};

static void clear_group(gpointer data)
{
	Group *group = data;

	lode_reference_filter_free(group->filter);
	lode_direct_replay_free(group->direct);
	g_ptr_array_unref(group->machines);
}

static void set_limit_error(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"the simulation takes more than %" G_GUINT64_FORMAT
		" MiB: simulate fewer or smaller caches at once, or do not classify misses",
		(guint64)(LODE_CACHE_SIMULATION_MAX_BYTES >> 20));
}

static Group *find_group(GArray *groups, const LodeFilterRules *rules)
{
	Group group = {.rules = *rules};

	for (guint i = 0; i < groups->len; i++) {
		Group *other = &g_array_index(groups, Group, i);

		if (memcmp(&other->rules, rules, sizeof(*rules)) == 0)
			return other;
	}
	group.filter = lode_reference_filter_new(rules);
	group.machines = g_ptr_array_new();
	g_array_append_val(groups, group);
	return &g_array_index(groups, Group, groups->len - 1);
}

static void deal_machines(LodeCacheSimulation *self, unsigned n_workers)
{
	for (unsigned i = 0; i < n_workers; i++) {
		GArray *groups = g_array_new(FALSE, FALSE, sizeof(Group));

		g_array_set_clear_func(groups, clear_group);
		g_ptr_array_add(self->workers, groups);
	}
	for (size_t i = 0; i < self->n_machines; i++) {
		LodeCacheMachine *machine = &self->machines[i];
		LodeFilterRules rules;

		lode_filter_rules_init(&rules, machine->hierarchy, machine->classifies);
		g_ptr_array_add(find_group(g_ptr_array_index(self->workers, i % n_workers), &rules)
					->machines,
			machine);
	}
}

static void choose_ways(LodeCacheSimulation *self)
{
	for (guint i = 0; i < self->workers->len; i++) {
		GArray *groups = g_ptr_array_index(self->workers, i);

		for (guint j = 0; j < groups->len; j++) {
			Group *group = &g_array_index(groups, Group, j);

			if (group->machines->len == 1)
				group->direct = lode_direct_replay_new(
					g_ptr_array_index(group->machines, 0));
		}
	}
}

LodeCacheSimulation *lode_cache_simulation_new(const LodeHierarchy *const *hierarchies, size_t n,
	const LodeCacheSimulationOptions *options, GError **error)
{
	static const LodeCacheSimulationOptions no_options;
	g_autoptr(LodeCacheSimulation) self = g_new0(LodeCacheSimulation, 1);
	unsigned n_workers;

	if (options == NULL)
		options = &no_options;
	n_workers = options->threads > 0 ? options->threads : lode_worker_pool_default_size();
	lode_cache_budget_init(&self->budget, LODE_CACHE_SIMULATION_MAX_BYTES);
	lode_block_plans_init(&self->plans);
	self->workers = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	self->machines = g_new0(LodeCacheMachine, n);
	for (self->n_machines = 0; self->n_machines < n; self->n_machines++) {
		LodeCacheMachine *machine = &self->machines[self->n_machines];

		lode_cache_machine_init(machine, hierarchies[self->n_machines],
			(uint32_t)self->n_machines, options, &self->budget);
		if (lode_cache_machine_core(machine, 0) == NULL) {
			set_limit_error(error);
			return NULL;
		}
	}
	deal_machines(self, (unsigned)CLAMP(n_workers, 1, MAX(n, 1)));
	choose_ways(self);
	return g_steal_pointer(&self);
}

void lode_cache_simulation_free(LodeCacheSimulation *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->workers);
	for (size_t i = 0; i < self->n_machines; i++)
		lode_cache_machine_clear(&self->machines[i]);
	g_free(self->machines);
	g_free(self->kept_counts);
	lode_block_plans_clear(&self->plans);
	g_free(self);
}

/* Those of the first level, which most references never reach for being left out. */
static void count_accesses(LodeCacheMachine *machine, const uint64_t *totals)
{
	for (guint i = 0; i < machine->hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(machine->hierarchy->caches, LodeCache, i);

		for (unsigned kind = 0; cache->level == 1 && kind < LODE_N_REFERENCE_KINDS;
			kind++) {
			unsigned holds = kind == LODE_REFERENCE_FETCH ? LODE_CACHE_INSTRUCTIONS
			                                              : LODE_CACHE_DATA;

			if (cache->holds & holds)
				machine->counts[i].accesses[kind] += totals[kind];
		}
	}
}

/* False: the frame is at its end, or memory is. */
static bool replay_piece(LodeCacheSimulation *self, Group *group)
{
	const LodeFilteredReference *references;
	size_t n;

	if (group->direct != NULL)
		return lode_direct_replay_next(group->direct, PIECE_INVOCATIONS);
	if (!lode_reference_filter_next(group->filter, PIECE_INVOCATIONS, &references, &n))
		return false;
	for (guint i = 0; i < group->machines->len; i++) {
		if (!lode_filtered_references_replay(
			    references, n, self->frame, g_ptr_array_index(group->machines, i)))
			return false;
	}
	return true;
}

static void begin_frame(const LodeCacheSimulation *self, Group *group)
{
	if (group->direct != NULL)
		lode_direct_replay_begin(group->direct, self->frame, &self->plans);
	else
		lode_reference_filter_begin(group->filter, self->frame, &self->plans);
}

static void end_frame(Group *group)
{
	uint64_t totals[LODE_N_REFERENCE_KINDS] = {0};

	if (group->direct != NULL)
		lode_direct_replay_count(group->direct, totals);
	else
		lode_reference_filter_count(group->filter, totals);
	for (guint i = 0; i < group->machines->len; i++)
		count_accesses(g_ptr_array_index(group->machines, i), totals);
}

static void replay_worker(size_t task, unsigned worker, void *user_data)
{
	LodeCacheSimulation *self = user_data;
	GArray *groups = g_ptr_array_index(self->workers, task);
	bool is_going_on = groups->len > 0;

	(void)worker;
	for (guint i = 0; i < groups->len; i++)
		begin_frame(self, &g_array_index(groups, Group, i));
	while (is_going_on && !atomic_load(&self->budget.is_spent)) {
		for (guint i = 0; i < groups->len; i++)
			is_going_on &= replay_piece(self, &g_array_index(groups, Group, i));
	}
	for (guint i = 0; i < groups->len; i++)
		end_frame(&g_array_index(groups, Group, i));
}

static bool check_cores(
	const LodeCacheSimulation *self, const LodeTraceFrame *frame, GError **error)
{
	bool has_core_each = false;

	for (size_t i = 0; i < self->n_machines; i++)
		has_core_each |= self->machines[i].hierarchy->n_cores == 0;
	for (size_t i = 0; has_core_each && i < frame->n_switches; i++) {
		if (frame->switches[i].thread < LODE_HIERARCHY_MAX_CORES)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the trace has more than %d threads, too many for a core each: give the "
			"hierarchy cores=N",
			LODE_HIERARCHY_MAX_CORES);
		return false;
	}
	return true;
}

bool lode_cache_simulation_replay(
	LodeCacheSimulation *self, const LodeTraceFrame *frame, GError **error)
{
	if (!check_cores(self, frame, error))
		return false;
	lode_block_plans_add(&self->plans, frame);
	self->frame = frame;
	lode_worker_pool_run(self->workers->len, self->workers->len, replay_worker, self);
	self->frame = NULL;
	if (atomic_load(&self->budget.is_spent)) {
		set_limit_error(error);
		return false;
	}
	return true;
}

void lode_cache_simulation_set_counting(LodeCacheSimulation *self, bool is_counting)
{
	const size_t size = sizeof(self->machines->counts);

	if (is_counting == (self->kept_counts == NULL))
		return;
	if (is_counting) {
		for (size_t i = 0; i < self->n_machines; i++)
			memcpy(self->machines[i].counts, self->kept_counts + i * size, size);
		g_clear_pointer(&self->kept_counts, g_free);
		return;
	}
	self->kept_counts = g_malloc(self->n_machines * size);
	for (size_t i = 0; i < self->n_machines; i++)
		memcpy(self->kept_counts + i * size, self->machines[i].counts, size);
}

void lode_cache_simulation_finish(LodeCacheSimulation *self)
{
	g_ptr_array_set_size(self->workers, 0);
	for (size_t i = 0; i < self->n_machines; i++)
		lode_cache_machine_clear(&self->machines[i]);
	lode_block_plans_clear(&self->plans);
	lode_block_plans_init(&self->plans);
}

const LodeCacheCounts *lode_cache_simulation_counts(
	const LodeCacheSimulation *self, size_t hierarchy)
{
	return self->machines[hierarchy].counts;
}
