/* SPDX-License-Identifier: MIT */
#include "analyses/memory/placement_maker.h"

#include "analyses/memory/placement_threads.h"

#include <math.h>
#include <string.h>

/* Where a page goes. */
#define INTERLEAVED (UINT32_MAX - 1)

/* A page is shared when its best memory has at most this more than an even share of it. */
#define EVEN_MARGIN 0.1

typedef struct {
	const LodeProfile *profile;
	const LodePageMatrix *matrix;
	const LodePlacementOptions *options;
	LodePlacement *placement;
	uint32_t *places; /* of each page: a memory, INTERLEAVED, or LODE_NONE */
} Maker;

/* Pages [first, end) that are one range. */
typedef struct {
	guint first, end;
	double weight;
} Run;

static const char *const policies[LODE_N_PLACEMENT_POLICIES] = {
	[LODE_PLACEMENT_MAJORITY] = "majority",
	[LODE_PLACEMENT_FIRST_TOUCH] = "first-touch",
	[LODE_PLACEMENT_ROUND_ROBIN] = "round-robin",
	[LODE_PLACEMENT_INTERLEAVED] = "interleave",
};

const char *lode_placement_policy_to_text(LodePlacementPolicy value)
{
	return policies[value];
}

int lode_placement_policy_from_text(const char *text)
{
	for (int i = 0; i < LODE_N_PLACEMENT_POLICIES; i++)
		if (strcmp(policies[i], text) == 0)
			return i;
	return -1;
}

/* What the page's accesses cost when it is on that memory. */
static double cost_on(const Maker *self, const double *weights, uint32_t memory)
{
	double cost = 0;

	for (uint32_t m = 0; m < self->placement->n_memories; m++)
		cost += weights[m] * lode_topology_distance(self->options->topology, m, memory);
	return cost;
}

/* Cheapest for its accesses; of equals the one where it was touched first, then the lowest. */
static uint32_t best_memory(const Maker *self, const LodeUsedPage *page, const double *weights)
{
	uint32_t home = lode_placement_thread_memory(self->placement, page->first_toucher);
	uint32_t best = home != LODE_NONE ? home : 0;
	double lowest = cost_on(self, weights, best);

	for (uint32_t m = 0; m < self->placement->n_memories; m++) {
		double cost = weights[m] > 0 || self->options->topology->distances != NULL
		                      ? cost_on(self, weights, m)
		                      : (double)INFINITY;
		if (cost >= lowest - page->weight * 1e-9)
			continue;
		lowest = cost;
		best = m;
	}
	return best;
}

static bool is_shared_and_hot(const Maker *self, const LodeUsedPage *page, const double *weights)
{
	uint32_t n = self->placement->n_memories;
	double mean = self->matrix->weight / self->matrix->pages->len, most = 0;

	for (uint32_t m = 0; m < n; m++)
		most = MAX(most, weights[m]);
	return page->weight >= mean && most <= page->weight * (1.0 / n + EVEN_MARGIN);
}

static uint32_t place_by_majority(const Maker *self, const LodeUsedPage *page, double *weights)
{
	const LodePageUse *uses = lode_page_matrix_uses(self->matrix, page);

	memset(weights, 0, self->placement->n_memories * sizeof(*weights));
	for (uint32_t i = 0; i < page->n_uses; i++) {
		uint32_t m = lode_placement_thread_memory(self->placement, uses[i].thread);
		if (m != LODE_NONE)
			weights[m] += uses[i].weight;
	}
	return is_shared_and_hot(self, page, weights) ? INTERLEAVED
	                                              : best_memory(self, page, weights);
}

static void choose_places(Maker *self)
{
	g_autofree double *weights = g_new(double, self->placement->n_memories);

	for (guint i = 0; i < self->matrix->pages->len; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(self->matrix, i);
		if (self->options->policy == LODE_PLACEMENT_MAJORITY)
			self->places[i] = place_by_majority(self, page, weights);
		else if (self->options->policy == LODE_PLACEMENT_FIRST_TOUCH)
			self->places[i] = lode_placement_thread_memory(
				self->placement, page->first_toucher);
		else
			self->places[i] = INTERLEAVED;
	}
}

/* What lies between two pages belongs to them when they are of one mapping. */
static bool are_neighbours(const Maker *self, const LodeUsedPage *a, const LodeUsedPage *b)
{
	const GArray *mappings = self->profile->memory->mappings;

	if (b->address - a->address == LODE_PAGE_SIZE)
		return true;
	if (a->mapping >= mappings->len)
		return false;
	const LodeMemoryMapping *mapping = &LODE_AT(mappings, LodeMemoryMapping, a->mapping);
	return mapping->start <= a->address && mapping->end > b->address;
}

static guint end_of_run(const Maker *self, guint first)
{
	guint end = first + 1;

	while (end < self->matrix->pages->len && self->places[end] == self->places[first] &&
		are_neighbours(self, lode_page_matrix_page(self->matrix, end - 1),
			lode_page_matrix_page(self->matrix, end)))
		end++;
	return end;
}

/* One page alone cannot be spread over memories. */
static void place_lone_pages(Maker *self)
{
	g_autofree double *weights = g_new(double, self->placement->n_memories);

	for (guint i = 0, end; i < self->matrix->pages->len; i = end) {
		end = end_of_run(self, i);
		if (self->places[i] != INTERLEAVED || end - i > 1)
			continue;
		const LodeUsedPage *page = lode_page_matrix_page(self->matrix, i);
		const LodePageUse *uses = lode_page_matrix_uses(self->matrix, page);
		memset(weights, 0, self->placement->n_memories * sizeof(*weights));
		for (uint32_t u = 0; u < page->n_uses; u++) {
			uint32_t m = lode_placement_thread_memory(self->placement, uses[u].thread);
			if (m != LODE_NONE)
				weights[m] += uses[u].weight;
		}
		self->places[i] = best_memory(self, page, weights);
	}
}

static int compare_weights(const void *a, const void *b)
{
	const Run *first = a, *second = b;

	if (first->weight != second->weight)
		return first->weight > second->weight ? -1 : 1;
	return first->first < second->first ? -1 : 1;
}

static int compare_starts(const void *a, const void *b)
{
	const Run *first = a, *second = b;

	return first->first < second->first ? -1 : 1;
}

static GArray *find_runs(const Maker *self)
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(Run));

	for (guint i = 0, end; i < self->matrix->pages->len; i = end) {
		end = end_of_run(self, i);
		if (self->places[i] == LODE_NONE)
			continue;
		Run run = {i, end, 0};
		for (guint p = i; p < end; p++)
			run.weight += lode_page_matrix_page(self->matrix, p)->weight;
		g_array_append_val(runs, run);
	}
	if (runs->len <= LODE_PLACEMENT_MAX_RANGES)
		return runs;
	g_array_sort(runs, compare_weights);
	g_array_set_size(runs, LODE_PLACEMENT_MAX_RANGES);
	g_array_sort(runs, compare_starts);
	return runs;
}

/* The name of what is used most in these pages; NULL: unknown. */
static const char *name_of(const Maker *self, const Run *run)
{
	const GArray *objects = self->profile->memory->objects;
	g_autoptr(GHashTable) weights = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	uint32_t best = LODE_NONE;
	double most = 0;

	for (guint i = run->first; i < run->end; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(self->matrix, i);
		if (page->object >= objects->len)
			continue;
		double *weight = g_hash_table_lookup(weights, GUINT_TO_POINTER(page->object + 1));
		if (weight == NULL) {
			weight = g_new0(double, 1);
			g_hash_table_insert(weights, GUINT_TO_POINTER(page->object + 1), weight);
		}
		*weight += page->weight;
		if (*weight <= most)
			continue;
		most = *weight;
		best = page->object;
	}
	return best != LODE_NONE ? LODE_AT(objects, LodeDataObject, best).name : NULL;
}

static void add_ranges(Maker *self)
{
	g_autoptr(GArray) runs = find_runs(self);

	for (guint i = 0; i < runs->len; i++) {
		const Run *run = &LODE_AT(runs, Run, i);
		uint32_t place = self->places[run->first];
		LodePlacedRange range = {
			.kind = place == INTERLEAVED ? LODE_PLACE_INTERLEAVE : LODE_PLACE_RANGE,
			.start = lode_page_matrix_page(self->matrix, run->first)->address,
			.end = lode_page_matrix_page(self->matrix, run->end - 1)->address +
		               LODE_PAGE_SIZE,
			.memory = place == INTERLEAVED ? 0 : place,
			.note = (char *)name_of(self, run),
		};
		lode_placement_add(self->placement, &range);
	}
}

LodePlacement *lode_placement_make(const LodeProfile *profile, const LodePageMatrix *matrix,
	const LodePlacementOptions *options, GError **error)
{
	bool is_grouped = options->policy == LODE_PLACEMENT_MAJORITY ||
	                  options->policy == LODE_PLACEMENT_INTERLEAVED;
	g_autoptr(LodePlacement)
		placement = lode_placement_new(options->topology->nodes->len, matrix->n_threads);

	if (!is_grouped)
		lode_placement_threads_deal(placement);
	else if (!lode_placement_threads_group(placement, matrix, options, error))
		return NULL;
	g_autofree uint32_t *places = g_new(uint32_t, matrix->pages->len);
	Maker maker = {profile, matrix, options, placement, places};
	/* On one memory there is nothing to choose. */
	if (placement->n_memories > 1) {
		choose_places(&maker);
		if (options->policy == LODE_PLACEMENT_MAJORITY)
			place_lone_pages(&maker);
		add_ranges(&maker);
	}
	return g_steal_pointer(&placement);
}
