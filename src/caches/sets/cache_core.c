/* SPDX-License-Identifier: MIT */
/* Makes cores as threads appear, each with private copies of its own. */
#include "caches/sets/cache_core.h"

#include "caches/sets/line_stores.h"
#include "caches/sets/miss_classes.h"
#include "caches/sets/stride_table.h"

static bool is_private_data(const LodeCache *cache)
{
	return !cache->is_tlb && !cache->is_shared && (cache->holds & LODE_CACHE_DATA) != 0;
}

/* Whether stores end in the first level of data. */
static bool keeps_stores(const LodeHierarchy *hierarchy)
{
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);

		if (!cache->is_tlb && cache->level == 1 && (cache->holds & LODE_CACHE_DATA) != 0)
			return !cache->is_write_through && !cache->is_no_allocate;
	}
	return true;
}

/* One core, LRU of few ways in the first level, stores that end there, and nothing that watches. */
static bool hits_only_touch(const LodeCacheMachine *self)
{
	bool is_so = self->hierarchy->n_cores == 1 && !self->classifies && self->writes_at_once &&
	             !self->has_strides;

	for (guint i = 0; i < self->hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(self->hierarchy->caches, LodeCache, i);

		if (cache->is_tlb || cache->level > 1)
			continue;
		is_so &= lode_cache_sets_is_by_age(cache) && cache->prefetch == LODE_PREFETCH_NONE;
	}
	return is_so;
}

void lode_cache_machine_init(LodeCacheMachine *self, const LodeHierarchy *hierarchy,
	uint32_t number, const LodeCacheSimulationOptions *options, LodeCacheBudget *budget)
{
	*self = (LodeCacheMachine){
		.hierarchy = hierarchy,
		.number = number,
		.classifies = options->classifies,
		.names_stores = options->names_stores && options->classifies &&
	                        options->on_miss != NULL,
		.writes_at_once = keeps_stores(hierarchy),
		.budget = budget,
		.on_miss = options->on_miss,
		.user_data = options->user_data,
	};
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);

		self->has_strides |= cache->prefetch == LODE_PREFETCH_STRIDE;
		if (!is_private_data(cache) || hierarchy->n_cores == 1)
			continue;
		self->has_coherence = true;
		self->coherent_shift = (uint8_t)g_bit_storage(cache->line_bytes - 1);
	}
	self->hits_only_touch = hits_only_touch(self);
}

static void free_copy(LodeCacheCopy *copy)
{
	lode_cache_sets_clear(&copy->sets);
	lode_miss_classes_free(copy->classes);
	lode_line_stores_free(copy->stores);
	g_free(copy->strides);
	g_free(copy);
}

static void free_core(LodeCacheCore *core, unsigned n_copies)
{
	for (unsigned i = 0; i < n_copies; i++) {
		if (core->copies[i] != NULL && !core->copies[i]->cache->is_shared)
			free_copy(core->copies[i]);
	}
	g_free(core);
}

void lode_cache_machine_empty(LodeCacheMachine *self)
{
	unsigned n_copies = self->hierarchy->caches->len;

	for (unsigned i = 0; i < LODE_HIERARCHY_MAX_CORES; i++) {
		if (self->cores[i] != NULL)
			free_core(self->cores[i], n_copies);
		self->cores[i] = NULL;
	}
	for (unsigned i = 0; i < n_copies; i++)
		g_clear_pointer(&self->shared[i], free_copy);
}

void lode_cache_machine_clear(LodeCacheMachine *self)
{
	lode_cache_machine_empty(self);
	g_clear_pointer(&self->followers.machines, g_ptr_array_unref);
	g_clear_pointer(&self->followers.stacks, g_ptr_array_unref);
}

void lode_cache_machine_add_follower(
	LodeCacheMachine *self, LodeCacheMachine *machine, LodeSetStacks *stacks)
{
	GPtrArray **followers = machine != NULL ? &self->followers.machines
	                                        : &self->followers.stacks;

	if (*followers == NULL)
		*followers = g_ptr_array_new();
	g_ptr_array_add(*followers, machine != NULL ? (void *)machine : (void *)stacks);
}

static LodeCacheCopy *new_copy(LodeCacheMachine *self, unsigned core, unsigned index)
{
	const LodeCache *cache = &g_array_index(self->hierarchy->caches, LodeCache, index);
	LodeCacheCopy *copy = g_new0(LodeCacheCopy, 1);
	bool is_whole;

	copy->cache = cache;
	copy->counts = &self->counts[index];
	copy->line_shift = (uint8_t)g_bit_storage(cache->line_bytes - 1);
	copy->last_line = UINT64_MAX >> copy->line_shift;
	copy->index = (uint8_t)index;
	copy->is_coherent = self->has_coherence && is_private_data(cache);
	if (cache->prefetch == LODE_PREFETCH_STRIDE)
		copy->strides = g_new0(LodeStrideTable, 1);
	is_whole = lode_cache_sets_init(&copy->sets, cache, cache->seed + core + 1, self->budget);
	if (is_whole && self->classifies) {
		copy->classes = lode_miss_classes_new(cache->n_sets * cache->n_ways, self->budget);
		is_whole = copy->classes != NULL;
	}
	if (is_whole && self->names_stores && copy->is_coherent && cache->level == 1) {
		copy->stores = lode_line_stores_new(
			(unsigned)MAX(copy->line_shift, 6) - 6, self->budget);
		is_whole = copy->stores != NULL;
	}
	if (!is_whole)
		g_clear_pointer(&copy, free_copy);
	return copy;
}

/* The copy that a core uses: the one of all cores, or one of its own. */
static LodeCacheCopy *copy_for_core(LodeCacheMachine *self, unsigned core, unsigned index)
{
	if (!g_array_index(self->hierarchy->caches, LodeCache, index).is_shared)
		return new_copy(self, core, index);
	if (self->shared[index] == NULL)
		self->shared[index] = new_copy(self, 0, index);
	return self->shared[index];
}

static void append_to_path(LodeCachePath path, LodeCacheCopy *copy)
{
	unsigned i = 0;

	while (path[i] != NULL)
		i++;
	path[i] = copy;
}

/* Copies come by level. */
static void lay_paths(LodeCacheCore *core, unsigned n_copies)
{
	for (unsigned i = 0; i < n_copies; i++) {
		LodeCacheCopy *copy = core->copies[i];

		if (copy->cache->holds & LODE_CACHE_INSTRUCTIONS)
			append_to_path(
				copy->cache->is_tlb ? core->fetch_tlbs : core->fetches, copy);
		if (copy->cache->holds & LODE_CACHE_DATA)
			append_to_path(copy->cache->is_tlb ? core->data_tlbs : core->data, copy);
	}
	for (unsigned i = 0; core->data[i] != NULL; i++)
		core->data[i]->data_level = (uint8_t)i;
}

static LodeCacheCore *new_core(LodeCacheMachine *self, unsigned number)
{
	unsigned n_copies = self->hierarchy->caches->len;
	LodeCacheCore *core = g_new0(LodeCacheCore, 1);

	core->followers = &self->followers;
	for (unsigned i = 0; i < n_copies; i++) {
		core->copies[i] = copy_for_core(self, number, i);
		if (core->copies[i] == NULL) {
			free_core(core, n_copies);
			return NULL;
		}
	}
	lay_paths(core, n_copies);
	return core;
}

LodeCacheCore *lode_cache_machine_core(LodeCacheMachine *self, uint16_t thread)
{
	uint32_t n_cores = self->hierarchy->n_cores;
	uint32_t number = n_cores == 0 ? thread : thread % n_cores;

	if (number >= LODE_HIERARCHY_MAX_CORES)
		return NULL;
	if (self->cores[number] == NULL)
		self->cores[number] = new_core(self, number);
	return self->cores[number];
}
