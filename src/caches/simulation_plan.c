/* SPDX-License-Identifier: MIT */
#include "caches/simulation_plan.h"

#include "caches/hierarchy/hierarchy_text.h"
#include "caches/stacks/set_stacks.h"

typedef struct {
	LodeSimulationPlan *plan;
	const LodeSimulationPlanOptions *options;
	GHashTable *by_text; /* char * → number + 1 */
	/* The current hierarchy. */
	const LodeHierarchy *hierarchy;
	LodePlannedPlace *places;
} Planning;

static const LodeCache *cache_at(const LodeHierarchy *hierarchy, guint i)
{
	return &g_array_index(hierarchy->caches, LodeCache, i);
}

static LodePlannedCaches *planned_at(const LodeSimulationPlan *self, uint32_t number)
{
	return &g_array_index(self->planned, LodePlannedCaches, number);
}

static void clear_planned(gpointer data)
{
	lode_hierarchy_free(((LodePlannedCaches *)data)->hierarchy);
}

/* The caches of which `caches` has a bit, as they were planned before or now. */
static uint32_t add(Planning *self, uint32_t caches, uint32_t before)
{
	LodeSimulationPlan *plan = self->plan;
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
		const LodePlannedCaches planned = {hierarchy, before, true, false, number};

		g_array_append_val(plan->planned, planned);
		g_hash_table_insert(self->by_text, key, GUINT_TO_POINTER(number + 1));
		if (before != LODE_PLAN_REFERENCES)
			planned_at(plan, before)->is_last = false;
	}
	for (guint i = 0, at = 0; i < self->hierarchy->caches->len; i++)
		if (caches & 1u << i)
			self->places[i] = (LodePlannedPlace){
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
	uint32_t before = LODE_PLAN_REFERENCES;

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
	uint32_t left = (UINT32_C(1) << self->hierarchy->caches->len) - 1;

	if (self->options->is_whole) {
		add(self, left, LODE_PLAN_REFERENCES);
		return;
	}
	while (left != 0) {
		uint32_t related = all_related(self->hierarchy, (guint)__builtin_ctz(left));

		if (can_be_cut(self->hierarchy, related))
			add_by_level(self, related);
		else
			add(self, related, LODE_PLAN_REFERENCES);
		left &= ~related;
	}
}

/* Gives the first of those that differ from it in their ways alone, itself included. */
static uint32_t first_of_stacks(
	const LodeSimulationPlan *plan, GHashTable *by_text, uint32_t number)
{
	const LodePlannedCaches *planned = planned_at(plan, number);
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

static void merge_stacks(LodeSimulationPlan *plan)
{
	g_autoptr(GHashTable)
		by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t i = 0; i < plan->planned->len; i++) {
		LodePlannedCaches *planned = planned_at(plan, i);
		LodeCache *cache = &g_array_index(planned->hierarchy->caches, LodeCache, 0);

		if (!planned->is_last || planned->hierarchy->caches->len > 1 ||
			!lode_set_stacks_supports(cache, planned->hierarchy->n_cores))
			continue;
		planned->stacks = first_of_stacks(plan, by_text, i);
		LodePlannedCaches *first = planned_at(plan, planned->stacks);
		if (first == planned)
			continue;
		LodeCache *largest = &g_array_index(first->hierarchy->caches, LodeCache, 0);
		first->is_stacks = true;
		if (largest->n_ways < cache->n_ways)
			*largest = *cache;
	}
}

void lode_simulation_plan_init(LodeSimulationPlan *self, const LodeHierarchy *const *hierarchies,
	size_t n, const LodeSimulationPlanOptions *options)
{
	g_autoptr(GHashTable)
		by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	Planning planning = {.plan = self, .options = options, .by_text = by_text};

	self->planned = g_array_new(FALSE, FALSE, sizeof(LodePlannedCaches));
	g_array_set_clear_func(self->planned, clear_planned);
	self->places = g_array_new(FALSE, TRUE, sizeof(LodePlannedPlace));
	g_array_set_size(self->places, (guint)n * LODE_HIERARCHY_MAX_CACHES);
	for (size_t i = 0; i < n; i++) {
		planning.hierarchy = hierarchies[i];
		planning.places = &g_array_index(
			self->places, LodePlannedPlace, i * LODE_HIERARCHY_MAX_CACHES);
		plan_hierarchy(&planning);
	}
	if (!options->is_whole && !options->classifies)
		merge_stacks(self);
	for (guint i = 0; i < self->places->len; i++) {
		LodePlannedPlace *place = &g_array_index(self->places, LodePlannedPlace, i);

		if (place->n_ways > 0)
			place->planned = planned_at(self, place->planned)->stacks;
	}
}

void lode_simulation_plan_clear(LodeSimulationPlan *self)
{
	g_clear_pointer(&self->planned, g_array_unref);
	g_clear_pointer(&self->places, g_array_unref);
}
