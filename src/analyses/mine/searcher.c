/* SPDX-License-Identifier: MIT */
#include "analyses/mine/searcher.h"

#include "base/arrays/large_array.h"
#include "base/bits.h"
#include "base/error.h"
#include "machine/memory_budget.h"
#include "model/index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Half: the profile and the graph take memory, too. */
static size_t default_memory(void)
{
	size_t physical = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	return MIN(physical, lode_memory_budget_address_space()) / 2;
}

void lode_search_init(LodeSearch *self, const LodeSearchGraph *graph,
	const LodeMiningParameters *parameters, const LodeProgress *progress)
{
	*self = (LodeSearch){
		.graph = graph,
		.parameters = parameters,
		.progress = progress,
		.uses_windows = parameters->gap > 0 || parameters->window > 0,
		.memory_limit = parameters->memory_bytes != 0 ? parameters->memory_bytes
	                                                      : default_memory(),
	};
}

/* From here on huge pages save more than it takes to ask for them. */
enum { HUGE_BYTES = 4 << 20 };

bool lode_buffer_reserve(LodeSearch *search, LodeBuffer *self, size_t n, size_t item_size)
{
	if (n <= self->capacity)
		return true;
	size_t capacity = MAX(MAX(self->capacity * 2, n), 64);
	size_t more = (capacity - self->capacity) * item_size;
	/* Counted before it is taken: several workers may ask at the same time. */
	size_t used = atomic_fetch_add(&search->memory_used, more) + more;
	void *data = used <= search->memory_limit ? g_try_realloc_n(self->data, capacity, item_size)
	                                          : NULL;
	if (data == NULL) {
		atomic_fetch_sub(&search->memory_used, more);
		atomic_store(&search->stop, LODE_ERROR_LIMIT + 1);
		return false;
	}
	if (capacity * item_size >= HUGE_BYTES)
		lode_large_array_advise(data, capacity * item_size);
	self->data = data;
	self->capacity = capacity;
	return true;
}

void lode_buffer_clear(LodeSearch *search, LodeBuffer *self, size_t item_size)
{
	g_free(self->data);
	atomic_fetch_sub(&search->memory_used, self->capacity * item_size);
	*self = (LodeBuffer){0};
}

void lode_level_clear(LodeSearch *search, LodeLevel *self)
{
	lode_buffer_clear(search, &self->candidates, 1);
	lode_buffer_clear(search, &self->members, sizeof(uint32_t));
	lode_buffer_clear(search, &self->groups, sizeof(LodeGroup));
	lode_buffer_clear(search, &self->group_lists, sizeof(uint32_t));
	lode_buffer_clear(search, &self->items, sizeof(uint32_t));
	lode_buffer_clear(search, &self->patterns, sizeof(LodePattern));
	lode_buffer_clear(search, &self->alternatives, sizeof(LodeAlternative));
	lode_buffer_clear(search, &self->table, sizeof(uint32_t));
	lode_buffer_clear(search, &self->events, sizeof(double));
}

static void vertex_sums_init(LodeVertexSums *self, uint32_t n_vertices)
{
	self->sums = g_new0(double, n_vertices + 1);
	self->vertices = g_new(uint32_t, n_vertices + 1);
	lode_large_array_advise(self->sums, (n_vertices + 1) * sizeof(double));
	lode_large_array_advise(self->vertices, (n_vertices + 1) * sizeof(uint32_t));
	self->n = 0;
}

static void vertex_sums_clear(LodeVertexSums *self)
{
	g_free(self->sums);
	g_free(self->vertices);
}

LodeSearcher *lode_searcher_new(LodeSearch *search)
{
	LodeSearcher *self = g_new0(LodeSearcher, 1);
	const LodeSearchGraph *graph = search->graph;
	uint32_t n = graph->graph->n_vertices;

	self->search = search;
	self->root = search->root;
	self->below = LODE_NONE;
	vertex_sums_init(&self->matched, n);
	vertex_sums_init(&self->firsts, n);
	self->taken_counts = g_new(double, graph->graph->n_events + 1);
	self->graph_stamps = g_new0(uint32_t, graph->graph->n_graphs + 1);
	self->class_groups = g_new0(uint32_t, graph->classes.n + 1);
	self->items.weight = g_new0(double, graph->n_items + 1);
	self->items.count = g_new0(double, graph->n_items + 1);
	self->items.groups = g_new0(uint32_t, graph->n_items + 1);
	self->items.matching = g_new0(uint32_t, graph->n_items + 1);
	self->pairs = graph->class_bits != NULL && search->parameters->window > 0
	                      ? g_new(LodePairs, 1)
	                      : NULL;
	self->levels = g_new0(LodeLevel, search->parameters->iterations + 1);
	return self;
}

void lode_searcher_free(LodeSearcher *self)
{
	if (self == NULL)
		return;
	LodeSearch *search = self->search;
	for (uint32_t i = 1; i < search->parameters->iterations; i++)
		lode_level_clear(search, &self->levels[i]);
	lode_buffer_clear(search, &self->growth_children, sizeof(LodeChild));
	lode_buffer_clear(search, &self->growth_lists, sizeof(uint32_t));
	lode_buffer_clear(search, &self->path_table, sizeof(LodePathSlot));
	lode_buffer_clear(search, &self->path_slots, sizeof(uint32_t));
	lode_buffer_clear(search, &self->gathered, sizeof(uint32_t));
	lode_buffer_clear(search, &self->merged, sizeof(uint32_t));
	lode_buffer_clear(search, &self->marks, sizeof(uint64_t));
	lode_buffer_clear(search, &self->rejected, sizeof(uint32_t));
	lode_buffer_clear(search, &self->matches, sizeof(LodeMatch));
	lode_buffer_clear(search, &self->supports, sizeof(LodeSupport));
	lode_buffer_clear(search, &self->event_supports, sizeof(double));
	lode_buffer_clear(search, &self->codes, sizeof(uint32_t));
	lode_buffer_clear(search, &self->sequences, sizeof(LodeFound));
	vertex_sums_clear(&self->matched);
	vertex_sums_clear(&self->firsts);
	g_free(self->taken_counts);
	g_free(self->graph_stamps);
	g_free(self->class_groups);
	g_free(self->items.weight);
	g_free(self->items.count);
	g_free(self->items.groups);
	g_free(self->items.matching);
	g_free(self->pairs);
	g_free(self->levels);
	g_free(self);
}

bool lode_search_may_pass(const LodeSearch *search, double weight, double count)
{
	const LodeSearchGraph *graph = search->graph;
	/* |Sw − Sf| is never above the larger of the two, so that one bound serves both thresholds.
	 */
	double needed = fmin(search->parameters->min_support, search->parameters->min_differential);

	/* The bounds are sums in another order than the supports: leave room for rounding. */
	return fmax(weight / graph->total_weight, count / graph->total_count) >=
	       needed * (1 - 1e-9) - 1e-11;
}

LodeGroup *lode_level_group_of(LodeSearcher *self, LodeLevel *level, uint32_t class_id)
{
	uint32_t known = self->class_groups[class_id];

	if (known != 0)
		return &LODE_BUFFER_AT(&level->groups, LodeGroup, known - 1);
	if (!lode_buffer_has_room(self->search, &level->groups, 1, sizeof(LodeGroup)))
		return NULL;
	LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup, level->groups.n++);
	*group = (LodeGroup){.class_id = class_id};
	self->class_groups[class_id] = (uint32_t)level->groups.n;
	return group;
}

void lode_level_bound_items(LodeSearcher *self, const LodeLevel *level)
{
	const LodeSearchGraph *graph = self->search->graph;
	uint32_t n;

	memset(self->items.weight, 0, sizeof(double) * graph->n_items);
	memset(self->items.count, 0, sizeof(double) * graph->n_items);
	for (size_t g = 0; g < level->groups.n; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup, g);
		const uint32_t *members = lode_search_graph_class(graph, group->class_id, &n);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t item = LODE_MEMBER_ITEM(members[i]);
			self->items.weight[item] += group->bound_weight;
			self->items.count[item] += group->bound_count;
		}
	}
}

static bool has_passing_item(const LodeSearcher *self, uint32_t class_id)
{
	uint32_t n;
	const uint32_t *members = lode_search_graph_class(self->search->graph, class_id, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = LODE_MEMBER_ITEM(members[i]);
		if (lode_search_may_pass(
			    self->search, self->items.weight[item], self->items.count[item]))
			return true;
	}
	return false;
}

void lode_level_mark_passing(LodeSearcher *self, LodeLevel *level)
{
	lode_level_bound_items(self, level);
	for (size_t g = 0; g < level->groups.n; g++) {
		LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup, g);
		group->is_wanted = has_passing_item(self, group->class_id);
	}
}

/* Gives each wanted group from `first_group` on its range of the members from `n` on, still empty;
 * where the last one ends. */
static size_t lay_out_groups(LodeLevel *level, size_t first_group, size_t n)
{
	for (size_t g = first_group; g < level->groups.n; g++) {
		LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup, g);
		group->first = (uint32_t)n;
		n += group->is_wanted ? group->n : 0;
		group->n = 0;
	}
	return n;
}

bool lode_level_make_room(LodeSearcher *self, LodeLevel *level, size_t first_group, size_t size)
{
	for (size_t g = first_group; g < level->groups.n; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup, g);
		self->class_groups[group->class_id] = group->is_wanted ? (uint32_t)g + 1 : 0;
	}
	size_t n_listed = level->members.n;
	level->members.n = lay_out_groups(level, first_group, n_listed);
	size_t n = level->candidates.n + level->members.n - n_listed;
	return lode_buffer_reserve(self->search, &level->candidates, n * size, 1) &&
	       lode_buffer_reserve(
		       self->search, &level->members, level->members.n, sizeof(uint32_t));
}

bool lode_level_list_groups(LodeSearcher *self, LodeLevel *level, size_t first_group)
{
	level->members.n = lay_out_groups(level, first_group, level->members.n);
	lode_level_finish(self, level, first_group);
	return lode_buffer_reserve(
		self->search, &level->members, level->members.n, sizeof(uint32_t));
}

bool lode_searcher_reject(LodeSearcher *self, uint32_t class_id)
{
	if (!lode_buffer_has_room(self->search, &self->rejected, 1, sizeof(uint32_t)))
		return false;
	LODE_BUFFER_AT(&self->rejected, uint32_t, self->rejected.n++) = class_id;
	self->class_groups[class_id] = LODE_NONE;
	return true;
}

void lode_level_finish(LodeSearcher *self, const LodeLevel *level, size_t first_group)
{
	for (size_t g = first_group; g < level->groups.n; g++)
		self->class_groups[LODE_BUFFER_AT(&level->groups, LodeGroup, g).class_id] = 0;
	for (size_t i = 0; i < self->rejected.n; i++)
		self->class_groups[LODE_BUFFER_AT(&self->rejected, uint32_t, i)] = 0;
	self->rejected.n = 0;
}

/*
 * Sorts what was gathered by marking it in a bit for each candidate. Faster than sorting numbers,
 * as the bits are few beside the candidates themselves, and so stay in the caches.
 */
static bool sort_gathered(LodeSearcher *self, size_t n_candidates)
{
	LodeBuffer *marks = &self->marks;
	size_t n_words = n_candidates / 64 + 1, n_before = marks->capacity, n = 0;
	uint32_t *gathered = self->gathered.data;

	if (!lode_buffer_reserve(self->search, marks, n_words, sizeof(uint64_t)))
		return false;
	uint64_t *words = marks->data;
	if (marks->capacity != n_before)
		memset(words, 0, marks->capacity * sizeof(uint64_t));
	for (size_t i = 0; i < self->gathered.n; i++)
		words[gathered[i] / 64] |= LODE_BIT(gathered[i] % 64);
	for (size_t word = 0; word < n_words; word++) {
		for (uint64_t rest = words[word]; rest != 0; rest &= rest - 1)
			gathered[n++] = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(rest);
		words[word] = 0;
	}
	return true;
}

/* So few are faster to walk in any order than to sort. */
enum { FEW_GATHERED = 2048 };

bool lode_level_gather(LodeSearcher *self, const LodeLevel *level, const LodePattern *pattern)
{
	const uint32_t *members = level->members.data;
	LodeBuffer *gathered = &self->gathered;

	gathered->n = 0;
	for (uint32_t g = 0; g < pattern->n_groups; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup,
			LODE_BUFFER_AT(&level->group_lists, uint32_t, pattern->first_group + g));
		if (!lode_buffer_has_room(self->search, gathered, group->n, sizeof(uint32_t)))
			return false;
		memcpy(&LODE_BUFFER_AT(gathered, uint32_t, gathered->n), members + group->first,
			group->n * sizeof(uint32_t));
		gathered->n += group->n;
	}
	bool is_sorted = pattern->n_groups < 2 || gathered->n >= FEW_GATHERED;
	/* Where there are longer windows, too, lode_windows_*() put them among the others. */
	self->is_in_order = is_sorted && level->is_ordered && level->n_short == 0;
	return pattern->n_groups < 2 || !is_sorted || sort_gathered(self, level->candidates.n);
}
