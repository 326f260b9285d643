/* SPDX-License-Identifier: MIT */
/*
 * The parts of the hierarchies that are simulated once are assigned to workers, with all later
 * levels. A worker goes through a frame in pieces that stay in its own processor's cache, and takes
 * each piece through all its parts:
 *
 *   piece ──▶ filter of one shape ──▶ machines and stacks of that shape, one after the other
 */
#include "caches/cache_simulation.h"

#include "base/error.h"
#include "base/worker_pool.h"
#include "caches/hierarchy/hierarchy.h"
#include "caches/hierarchy/hierarchy_text.h"
#include "caches/reference_filter.h"
#include "caches/sets/direct_replay.h"
#include "caches/stacks/set_stacks.h"

#include <stddef.h>
#include <string.h>

/* --- simulation plan --- */

/*
 * The parts of several hierarchies that are simulated once. Caches that never get each other's
 * references are separate (an i1 and a d1 without a common level after them, TLBs), each level is
 * separate from later ones, which get its misses, and equal parts are one:
 *
 *   i1=A,d1=X    i1=A,d1=Y    i1=B,d1=Y,l2=P    i1=B,d1=Y,l2=Q
 *
 *   references ─┬─▶ i1=A
 *               ├─▶ d1=X
 *               ├─▶ d1=Y
 *               └─▶ i1=B,d1=Y ─┬─▶ l2=P
 *                              └─▶ l2=Q
 *
 * Last ones that differ in their ways alone are one too, see set_stacks.h. Levels of several cores,
 * or with a prefetcher, act on each other in more ways and stay together.
 */

enum { PLAN_REFERENCES = UINT32_MAX };

/* Caches that are simulated together. */
typedef struct {
	LodeHierarchy *hierarchy; /* of them alone; as stacks, the one of most ways */
	uint32_t before;          /* whose misses they get; PLAN_REFERENCES: all references */
	bool is_last;             /* no others get their misses */
	bool is_stacks;
	uint32_t stacks; /* another one, whose stacks stand for it; its own number: none */
} PlannedCaches;

/* Where a cache of a hierarchy is found. */
typedef struct {
	uint32_t planned, cache; /* `cache` of its hierarchy */
	uint32_t n_ways;
} PlannedPlace;

typedef struct {
	GArray *planned; /* PlannedCaches, each after the one before it */
	GArray *places;  /* PlannedPlace, LODE_HIERARCHY_MAX_CACHES for each hierarchy */
} SimulationPlan;

typedef struct {
	bool is_whole; /* nothing is shared: misses are reported in the order of each hierarchy */
	bool classifies;
} SimulationPlanOptions;

typedef struct {
	SimulationPlan *plan;
	const SimulationPlanOptions *options;
	GHashTable *by_text; /* char * → number + 1 */
	/* The current hierarchy. */
	const LodeHierarchy *hierarchy;
	PlannedPlace *places;
} Planning;

static const LodeCache *cache_at(const LodeHierarchy *hierarchy, guint i)
{
	return &g_array_index(hierarchy->caches, LodeCache, i);
}

static PlannedCaches *plan_at(const SimulationPlan *self, uint32_t number)
{
	return &g_array_index(self->planned, PlannedCaches, number);
}

static void clear_planned(gpointer data)
{
	lode_hierarchy_free(((PlannedCaches *)data)->hierarchy);
}

/* The caches of which `caches` has a bit, as they were planned before or now. */
static uint32_t add(Planning *self, uint32_t caches, uint32_t before)
{
	SimulationPlan *plan = self->plan;
	LodeHierarchy *hierarchy = lode_hierarchy_new(self->hierarchy->name);
	uint32_t number = plan->planned->len;

	hierarchy->n_cores = self->hierarchy->n_cores;
	for (guint i = 0; i < self->hierarchy->caches->len; i++)
		if (caches & 1u << i)
			g_array_append_val(hierarchy->caches, *cache_at(self->hierarchy, i));
	g_autofree char *text = lode_hierarchy_to_text(hierarchy);
	char *key = g_strdup_printf("%u %s", before, text);
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(self->by_text, key));
	if (known > 0 && !self->options->is_whole) {
		lode_hierarchy_free(hierarchy);
		g_free(key);
		number = known - 1;
	} else {
		const PlannedCaches planned = {hierarchy, before, true, false, number};

		g_array_append_val(plan->planned, planned);
		g_hash_table_insert(self->by_text, key, GUINT_TO_POINTER(number + 1));
		if (before != PLAN_REFERENCES)
			plan_at(plan, before)->is_last = false;
	}
	for (guint i = 0, at = 0; i < self->hierarchy->caches->len; i++)
		if (caches & 1u << i)
			self->places[i] = (PlannedPlace){
				number, at++, cache_at(self->hierarchy, i)->n_ways};
	return number;
}

/* All whose references also reach caches of the set: they hold something of the same kind. */
static uint32_t all_related(const LodeHierarchy *hierarchy, guint first)
{
	unsigned holds = cache_at(hierarchy, first)->holds, held;
	uint32_t related = 0;

	do {
		held = holds;
		for (guint i = 0; i < hierarchy->caches->len; i++) {
			const LodeCache *cache = cache_at(hierarchy, i);

			if (cache->is_tlb != cache_at(hierarchy, first)->is_tlb ||
				(cache->holds & holds) == 0)
				continue;
			related |= 1u << i;
			holds |= cache->holds;
		}
	} while (holds != held);
	return related;
}

/* Whether a level acts on the next one by its misses and write-backs alone. */
static bool can_be_cut(const LodeHierarchy *hierarchy, uint32_t caches)
{
	bool can = hierarchy->n_cores == 1;

	for (guint i = 0; i < hierarchy->caches->len; i++)
		if (caches & 1u << i)
			can &= cache_at(hierarchy, i)->prefetch == LODE_PREFETCH_NONE;
	return can;
}

static void add_by_level(Planning *self, uint32_t caches)
{
	uint32_t before = PLAN_REFERENCES;

	for (unsigned level = 1; caches != 0; level++) {
		uint32_t of_level = 0;

		for (guint i = 0; i < self->hierarchy->caches->len; i++)
			if ((caches & 1u << i) != 0 && cache_at(self->hierarchy, i)->level == level)
				of_level |= 1u << i;
		if (of_level != 0)
			before = add(self, of_level, before);
		caches &= ~of_level;
	}
}

static void plan_hierarchy(Planning *self)
{
	uint32_t left = (1u << self->hierarchy->caches->len) - 1;

	if (self->options->is_whole) {
		add(self, left, PLAN_REFERENCES);
		return;
	}
	while (left != 0) {
		uint32_t related = all_related(self->hierarchy, (guint)__builtin_ctz(left));

		if (can_be_cut(self->hierarchy, related))
			add_by_level(self, related);
		else
			add(self, related, PLAN_REFERENCES);
		left &= ~related;
	}
}

/* Gives the first of those that differ from it in their ways alone, itself included. */
static uint32_t first_of_stacks(const SimulationPlan *plan, GHashTable *by_text, uint32_t number)
{
	const PlannedCaches *planned = plan_at(plan, number);
	const LodeCache *cache = cache_at(planned->hierarchy, 0);
	char *key = g_strdup_printf("%u %s %" G_GUINT64_FORMAT " %u", planned->before, cache->name,
		cache->n_sets, (unsigned)cache->line_bytes);
	gpointer known = g_hash_table_lookup(by_text, key);

	if (known != NULL) {
		g_free(key);
		return GPOINTER_TO_UINT(known) - 1;
	}
	g_hash_table_insert(by_text, key, GUINT_TO_POINTER(number + 1));
	return number;
}

static void merge_stacks(SimulationPlan *plan)
{
	g_autoptr(GHashTable)
		by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t i = 0; i < plan->planned->len; i++) {
		PlannedCaches *planned = plan_at(plan, i);
		LodeCache *cache = &g_array_index(planned->hierarchy->caches, LodeCache, 0);

		if (!planned->is_last || planned->hierarchy->caches->len > 1 ||
			!lode_set_stacks_supports(cache, planned->hierarchy->n_cores))
			continue;
		planned->stacks = first_of_stacks(plan, by_text, i);
		PlannedCaches *first = plan_at(plan, planned->stacks);
		if (first == planned)
			continue;
		LodeCache *largest = &g_array_index(first->hierarchy->caches, LodeCache, 0);
		first->is_stacks = true;
		if (largest->n_ways < cache->n_ways)
			*largest = *cache;
	}
}

static void simulation_plan_init(SimulationPlan *self, const LodeHierarchy *const *hierarchies,
	size_t n, const SimulationPlanOptions *options)
{
	g_autoptr(GHashTable)
		by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	Planning planning = {.plan = self, .options = options, .by_text = by_text};

	self->planned = g_array_new(FALSE, FALSE, sizeof(PlannedCaches));
	g_array_set_clear_func(self->planned, clear_planned);
	self->places = g_array_new(FALSE, TRUE, sizeof(PlannedPlace));
	g_array_set_size(self->places, (guint)n * LODE_HIERARCHY_MAX_CACHES);
	for (size_t i = 0; i < n; i++) {
		planning.hierarchy = hierarchies[i];
		planning.places = &g_array_index(
			self->places, PlannedPlace, i * LODE_HIERARCHY_MAX_CACHES);
		plan_hierarchy(&planning);
	}
	if (!options->is_whole && !options->classifies)
		merge_stacks(self);
	for (guint i = 0; i < self->places->len; i++) {
		PlannedPlace *place = &g_array_index(self->places, PlannedPlace, i);

		if (place->n_ways > 0)
			place->planned = plan_at(self, place->planned)->stacks;
	}
}

static void simulation_plan_clear(SimulationPlan *self)
{
	g_clear_pointer(&self->planned, g_array_unref);
	g_clear_pointer(&self->places, g_array_unref);
}

/* --- cache simulation --- */

enum { PIECE_INVOCATIONS = 2048 };

/* The machines of one filter; or one machine of the usual kind, which is faster without a filter.
 */
typedef struct {
	LodeFilterRules rules;
	LodeReferenceFilter *filter;
	LodeDirectReplay *direct; /* NULL: by the filter */
	GPtrArray *machines;      /* borrowed LodeCacheMachine */
	GPtrArray *stacks;        /* borrowed LodeSetStacks */
} Group;

/* One of the plan's; stacks that stand for it are its only content then. */
typedef struct {
	LodeCacheMachine machine;
	LodeSetStacks stacks;
	LodeCacheCounts kept_machine[LODE_HIERARCHY_MAX_CACHES]; /* while nothing is counted */
	LodeSetStacksCounts kept_stacks;
} Simulated;

struct LodeCacheSimulation {
	LodeCacheBudget budget;
	SimulationPlan plan;
	Simulated *simulated; /* by number in the plan */
	size_t n_simulated;
	size_t n_hierarchies;
	LodeCacheCounts *counts; /* MAX_CACHES for each hierarchy */
	LodeBlockPlans plans;
	GPtrArray *workers;          /* GArray of Group each */
	const LodeTraceFrame *frame; /* while it is replayed */
	bool is_counting;
};

static void clear_group(gpointer data)
{
	Group *group = data;

	lode_reference_filter_free(group->filter);
	lode_direct_replay_free(group->direct);
	g_ptr_array_unref(group->machines);
	g_ptr_array_unref(group->stacks);
}

static void set_limit_error(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"the simulation takes more than %" G_GUINT64_FORMAT
		" MiB: simulate fewer or smaller caches at once, or do not classify misses",
		(guint64)(LODE_CACHE_SIMULATION_MAX_BYTES >> 20));
}

static const PlannedCaches *planned_at(const LodeCacheSimulation *self, size_t number)
{
	return &g_array_index(self->plan.planned, PlannedCaches, number);
}

/* Whether it is simulated itself. */
static bool is_own(const LodeCacheSimulation *self, size_t number)
{
	return planned_at(self, number)->stacks == number;
}

static Group *find_group(GArray *groups, const LodeFilterRules *rules)
{
	Group group = {.rules = *rules};

	for (guint i = 0; i < groups->len; i++) {
		Group *other = &g_array_index(groups, Group, i);

		if (lode_filter_rules_merge(&other->rules, rules))
			return other;
	}
	group.machines = g_ptr_array_new();
	group.stacks = g_ptr_array_new();
	g_array_append_val(groups, group);
	return &g_array_index(groups, Group, groups->len - 1);
}

static void distribute_groups(LodeCacheSimulation *self, unsigned n_workers, bool classifies)
{
	unsigned n_dealt = 0;

	for (unsigned i = 0; i < n_workers; i++) {
		GArray *groups = g_array_new(FALSE, FALSE, sizeof(Group));

		g_array_set_clear_func(groups, clear_group);
		g_ptr_array_add(self->workers, groups);
	}
	for (size_t i = 0; i < self->n_simulated; i++) {
		const PlannedCaches *planned = planned_at(self, i);
		LodeFilterRules rules;

		if (!is_own(self, i) || planned->before != PLAN_REFERENCES)
			continue;
		lode_filter_rules_init(&rules, planned->hierarchy, classifies);
		Group *group = find_group(
			g_ptr_array_index(self->workers, n_dealt++ % n_workers), &rules);
		if (planned->is_stacks)
			g_ptr_array_add(group->stacks, &self->simulated[i].stacks);
		else
			g_ptr_array_add(group->machines, &self->simulated[i].machine);
	}
}

/* Again after the caches were emptied. */
static void choose_ways(LodeCacheSimulation *self)
{
	for (guint i = 0; i < self->workers->len; i++) {
		GArray *groups = g_ptr_array_index(self->workers, i);

		for (guint j = 0; j < groups->len; j++) {
			Group *group = &g_array_index(groups, Group, j);

			g_clear_pointer(&group->direct, lode_direct_replay_free);
			g_clear_pointer(&group->filter, lode_reference_filter_free);
			if (group->machines->len == 1 && group->stacks->len == 0)
				group->direct = lode_direct_replay_new(
					g_ptr_array_index(group->machines, 0));
			if (group->direct == NULL)
				group->filter = lode_reference_filter_new(&group->rules);
		}
	}
}

/* False: no memory. */
static bool init_simulated(
	LodeCacheSimulation *self, size_t number, const LodeCacheSimulationOptions *options)
{
	const PlannedCaches *planned = planned_at(self, number);
	Simulated *simulated = &self->simulated[number];
	LodeCacheMachine *before = planned->before != PLAN_REFERENCES
	                                   ? &self->simulated[planned->before].machine
	                                   : NULL;

	lode_cache_machine_init(
		&simulated->machine, planned->hierarchy, (uint32_t)number, options, &self->budget);
	if (!is_own(self, number))
		return true;
	if (before != NULL)
		lode_cache_machine_add_follower(before,
			planned->is_stacks ? NULL : &simulated->machine, &simulated->stacks);
	if (planned->is_stacks)
		return lode_set_stacks_init(&simulated->stacks,
			&g_array_index(planned->hierarchy->caches, LodeCache, 0), &self->budget);
	return lode_cache_machine_core(&simulated->machine, 0) != NULL;
}

LodeCacheSimulation *lode_cache_simulation_new(const LodeHierarchy *const *hierarchies, size_t n,
	const LodeCacheSimulationOptions *options, GError **error)
{
	static const LodeCacheSimulationOptions no_options;
	g_autoptr(LodeCacheSimulation) self = g_new0(LodeCacheSimulation, 1);
	unsigned n_workers;

	if (options == NULL)
		options = &no_options;
	const SimulationPlanOptions plan = {
		.is_whole = n == 1 || options->on_miss != NULL,
		.classifies = options->classifies,
	};
	n_workers = options->threads > 0 ? options->threads : lode_worker_pool_default_size();
	lode_cache_budget_init(&self->budget, LODE_CACHE_SIMULATION_MAX_BYTES);
	lode_block_plans_init(&self->plans);
	self->is_counting = true;
	self->workers = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	simulation_plan_init(&self->plan, hierarchies, n, &plan);
	self->n_hierarchies = n;
	self->counts = g_new0(LodeCacheCounts, n * LODE_HIERARCHY_MAX_CACHES);
	self->simulated = g_new0(Simulated, self->plan.planned->len);
	for (; self->n_simulated < self->plan.planned->len; self->n_simulated++) {
		if (!init_simulated(self, self->n_simulated, options)) {
			self->n_simulated++;
			set_limit_error(error);
			return NULL;
		}
	}
	distribute_groups(self, (unsigned)CLAMP(n_workers, 1, MAX(self->n_simulated, 1)),
		options->classifies);
	choose_ways(self);
	return g_steal_pointer(&self);
}

/* Frees the parts that take memory. */
static void clear_simulated(LodeCacheSimulation *self)
{
	for (size_t i = 0; i < self->n_simulated; i++) {
		lode_cache_machine_clear(&self->simulated[i].machine);
		lode_set_stacks_clear(&self->simulated[i].stacks);
	}
}

void lode_cache_simulation_free(LodeCacheSimulation *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->workers);
	clear_simulated(self);
	g_free(self->simulated);
	g_free(self->counts);
	simulation_plan_clear(&self->plan);
	lode_block_plans_clear(&self->plans);
	g_free(self);
}

/* Counts the accesses of the first level, which most references never reach because they are
 * filtered out. */
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

/* As of the first level, by the one core. */
static void replay_stacks(
	LodeSetStacks *stacks, const LodeFilteredReference *references, size_t n, bool is_tlb)
{
	for (size_t i = 0; i < n; i++) {
		const LodeFilteredReference *at = &references[i];
		bool writes = at->kind == LODE_REFERENCE_STORE || at->kind == LODE_REFERENCE_MODIFY;

		const LodeSetStacksAccess access = {at->kind, at->address, at->address + at->extent,
			.marks_dirty = writes && !is_tlb};

		lode_set_stacks_access(stacks, &access);
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
	for (guint i = 0; i < group->stacks->len; i++)
		replay_stacks(g_ptr_array_index(group->stacks, i), references, n,
			group->rules.data_pages.is_there || group->rules.fetch_pages.is_there);
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
	for (guint i = 0; i < group->stacks->len; i++) {
		LodeSetStacks *stacks = g_ptr_array_index(group->stacks, i);

		for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++)
			stacks->counts.accesses[kind] += totals[kind];
	}
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

	for (size_t i = 0; i < self->n_simulated; i++)
		has_core_each |= self->simulated[i].machine.hierarchy->n_cores == 0;
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

/* Copies the counts of the simulated caches to the hierarchies. */
static void collect_counts(LodeCacheSimulation *self)
{
	for (size_t i = 0; i < self->n_simulated; i++)
		if (is_own(self, i) && planned_at(self, i)->is_stacks)
			lode_set_stacks_settle(&self->simulated[i].stacks);
	for (size_t i = 0; i < self->n_hierarchies * LODE_HIERARCHY_MAX_CACHES; i++) {
		const PlannedPlace *place = &g_array_index(self->plan.places, PlannedPlace, i);
		const Simulated *simulated = &self->simulated[place->planned];

		if (place->n_ways == 0)
			continue;
		if (planned_at(self, place->planned)->is_stacks)
			lode_set_stacks_read(&simulated->stacks, place->n_ways, &self->counts[i]);
		else
			self->counts[i] = simulated->machine.counts[place->cache];
	}
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
	if (self->is_counting)
		collect_counts(self);
	return true;
}

/* The only machine's replay, if words can go straight into it. */
static LodeDirectReplay *replay_of_words(const LodeCacheSimulation *self, Group **out_group)
{
	GArray *groups = g_ptr_array_index(self->workers, 0);

	if (self->n_simulated != 1 || groups->len != 1)
		return NULL;
	*out_group = &g_array_index(groups, Group, 0);
	LodeDirectReplay *direct = (*out_group)->direct;
	return direct != NULL && lode_direct_replay_takes_words(direct) ? direct : NULL;
}

bool lode_cache_simulation_replay_words(LodeCacheSimulation *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, LodeWordsTaken *taken)
{
	uint64_t totals[LODE_N_REFERENCE_KINDS] = {0};
	Group *group;
	LodeDirectReplay *direct = replay_of_words(self, &group);

	if (direct == NULL || n > LODE_REPLAY_MAX_WORDS)
		return false;
	lode_direct_replay_words(direct, pieces, words, n, totals);
	count_accesses(g_ptr_array_index(group->machines, 0), totals);
	if (self->is_counting)
		collect_counts(self);
	taken->n += n;
	taken->n_instructions += totals[LODE_REFERENCE_FETCH];
	for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++)
		taken->n_references += totals[kind];
	return true;
}

bool lode_cache_simulation_word_filter(const LodeCacheSimulation *self, LodeWordFilterGeometry *out)
{
	Group *group;
	const LodeDirectReplay *direct = replay_of_words(self, &group);

	return direct != NULL && lode_direct_replay_filter(direct, out);
}

void lode_cache_simulation_set_counting(LodeCacheSimulation *self, bool is_counting)
{
	if (is_counting == self->is_counting)
		return;
	self->is_counting = is_counting;
	for (size_t i = 0; i < self->n_simulated; i++) {
		Simulated *simulated = &self->simulated[i];
		LodeCacheCounts *counts = simulated->machine.counts;

		/* write-backs so far belong to the references before */
		if (is_own(self, i) && planned_at(self, i)->is_stacks)
			lode_set_stacks_settle(&simulated->stacks);
		if (is_counting) {
			memcpy(counts, simulated->kept_machine, sizeof(simulated->kept_machine));
			simulated->stacks.counts = simulated->kept_stacks;
		} else {
			memcpy(simulated->kept_machine, counts, sizeof(simulated->kept_machine));
			simulated->kept_stacks = simulated->stacks.counts;
		}
	}
}

bool lode_cache_simulation_empty(LodeCacheSimulation *self, GError **error)
{
	for (size_t i = 0; i < self->n_simulated; i++) {
		Simulated *simulated = &self->simulated[i];

		if (!is_own(self, i))
			continue;
		if (planned_at(self, i)->is_stacks) {
			lode_set_stacks_empty(&simulated->stacks);
			continue;
		}
		lode_cache_machine_empty(&simulated->machine);
		if (lode_cache_machine_core(&simulated->machine, 0) != NULL)
			continue;
		set_limit_error(error);
		return false;
	}
	choose_ways(self);
	return true;
}

void lode_cache_simulation_finish(LodeCacheSimulation *self)
{
	g_ptr_array_set_size(self->workers, 0);
	clear_simulated(self);
	lode_block_plans_clear(&self->plans);
	lode_block_plans_init(&self->plans);
}

const LodeCacheCounts *lode_cache_simulation_counts(
	const LodeCacheSimulation *self, size_t hierarchy)
{
	return &self->counts[hierarchy * LODE_HIERARCHY_MAX_CACHES];
}
