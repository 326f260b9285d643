/* SPDX-License-Identifier: MIT */
#include "analyses/memory/placement_threads.h"

#include "analyses/memory/thread_groups.h"
#include "base/error.h"

#include <stdlib.h>

/* The graph of so many is 32 MiB. */
enum { MAX_GROUPED = 2048, THREADS_PER_MEMORY = 2 };

typedef struct {
	const LodePageMatrix *matrix;
	GArray *threads;   /* uint32_t: those that are grouped, ascending */
	uint32_t *indexes; /* of each thread in `threads`; LODE_NONE */
	double *shared;
	uint32_t *capacities;
	uint32_t n_active;
} Grouping;

void lode_placement_threads_deal(LodePlacement *placement)
{
	for (uint32_t i = 0; i < placement->n_threads; i++)
		LODE_AT(placement->thread_memories, uint32_t, i) = i % placement->n_memories;
}

static bool check_room(const LodePlacementOptions *options, uint32_t n_active, GError **error)
{
	uint64_t n_memories = options->topology->nodes->len;

	if (options->threads_per_memory == 0 ||
		options->threads_per_memory * n_memories >= n_active)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"%u threads do not fit onto %u %s, %u on each; give --threads-per-memory %u",
		n_active, (unsigned)n_memories, n_memories == 1 ? "memory" : "memories",
		options->threads_per_memory, (unsigned)((n_active + n_memories - 1) / n_memories));
	return false;
}

/* As many as fit: two, or a fair part of all by the processors. */
static uint32_t capacity_of(const LodePlacementOptions *options, uint32_t memory, uint32_t n_active)
{
	const LodeTopology *topology = options->topology;
	uint32_t n_cpus = lode_topology_node(topology, memory)->cpus->len;
	uint64_t all = MAX(topology->n_cpus, 1);

	if (options->threads_per_memory > 0)
		return options->threads_per_memory;
	uint32_t fair = (uint32_t)(((uint64_t)n_active * n_cpus + all - 1) / all);
	return MAX(fair, MIN(n_cpus, THREADS_PER_MEMORY));
}

static int compare_by_weight(const void *a, const void *b, void *data)
{
	const LodePageMatrix *matrix = data;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	double first_weight = matrix->thread_weights[first];
	double second_weight = matrix->thread_weights[second];

	if (first_weight != second_weight)
		return first_weight > second_weight ? -1 : 1;
	return first < second ? -1 : 1;
}

static int compare_numbers(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void choose_threads(Grouping *self)
{
	const LodePageMatrix *matrix = self->matrix;

	for (uint32_t i = 0; i < matrix->n_threads; i++)
		if (matrix->thread_weights[i] > 0)
			g_array_append_val(self->threads, i);
	self->n_active = self->threads->len;
	if (self->threads->len > MAX_GROUPED) {
		g_array_sort_with_data(self->threads, compare_by_weight, (void *)matrix);
		g_array_set_size(self->threads, MAX_GROUPED);
		g_array_sort(self->threads, compare_numbers);
	}
	for (uint32_t i = 0; i < matrix->n_threads; i++)
		self->indexes[i] = LODE_NONE;
	for (uint32_t i = 0; i < self->threads->len; i++)
		self->indexes[LODE_AT(self->threads, uint32_t, i)] = i;
}

/* Two threads share of a page what both use: the smaller of their weights. */
static void share_page(Grouping *self, const LodeUsedPage *page)
{
	const LodePageUse *uses = lode_page_matrix_uses(self->matrix, page);
	size_t n = self->threads->len;

	for (uint32_t a = 0; a < page->n_uses; a++) {
		uint32_t i = self->indexes[uses[a].thread];
		for (uint32_t b = a + 1; b < page->n_uses && i != LODE_NONE; b++) {
			uint32_t j = self->indexes[uses[b].thread];
			if (j == LODE_NONE)
				continue;
			double both = MIN(uses[a].weight, uses[b].weight);
			self->shared[i * n + j] += both;
			self->shared[j * n + i] += both;
		}
	}
}

/* Threads beyond the graph's limit: where most room is. */
static void place_rest(Grouping *self, LodePlacement *placement)
{
	uint32_t memory = 0;

	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t *place = &LODE_AT(placement->thread_memories, uint32_t, i);
		if (*place != LODE_NONE || self->matrix->thread_weights[i] <= 0)
			continue;
		for (uint32_t m = 0; m < placement->n_memories; m++)
			if (self->capacities[m] > self->capacities[memory])
				memory = m;
		*place = memory;
		self->capacities[memory]--;
	}
}

static void group(Grouping *self, LodePlacement *placement, const double *distances)
{
	g_autofree uint32_t *memories = g_new0(uint32_t, self->threads->len);
	LodeThreadGraph graph = {
		.n_threads = self->threads->len,
		.n_memories = placement->n_memories,
		.shared = self->shared,
		.capacities = self->capacities,
		.distances = distances,
	};

	for (guint i = 0; i < self->matrix->pages->len; i++)
		share_page(self, lode_page_matrix_page(self->matrix, i));
	lode_thread_groups_find(&graph, memories);
	for (uint32_t i = 0; i < self->threads->len; i++) {
		uint32_t thread = LODE_AT(self->threads, uint32_t, i);
		LODE_AT(placement->thread_memories, uint32_t, thread) = memories[i];
		self->capacities[memories[i]]--;
	}
	place_rest(self, placement);
}

bool lode_placement_threads_group(LodePlacement *placement, const LodePageMatrix *matrix,
	const LodePlacementOptions *options, GError **error)
{
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree uint32_t *indexes = g_new(uint32_t, matrix->n_threads);
	g_autofree uint32_t *capacities = g_new(uint32_t, placement->n_memories);
	Grouping grouping = {.matrix = matrix, .threads = threads, .indexes = indexes};

	choose_threads(&grouping);
	if (!check_room(options, grouping.n_active, error))
		return false;
	g_autofree double *shared = g_new0(double, (size_t)threads->len * threads->len);
	for (uint32_t m = 0; m < placement->n_memories; m++)
		capacities[m] = capacity_of(options, m, grouping.n_active);
	grouping.shared = shared;
	grouping.capacities = capacities;
	group(&grouping, placement, options->topology->distances);
	return true;
}
