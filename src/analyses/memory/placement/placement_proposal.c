/* SPDX-License-Identifier: MIT */
/* Threads are placed first, by the pages that they share; then each page, by the threads that use
 * it. */
#include "analyses/memory/placement/placement_proposal.h"

#include "analyses/memory/placement/page_matrix.h"
#include "analyses/memory/placement/thread_groups.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "base/error.h"
#include "base/text/words.h"
#include "model/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	LodePlacementPolicy policy;
	const LodeTopology *topology;
	uint32_t threads_per_memory; /* as proposed; 0: by the topology */
} Options;

/* --- which memory each thread runs on --- */

/* The graph of so many is 32 MiB. */
enum { MAX_GROUPED = 2048, THREADS_PER_MEMORY = 2 };

/* The share of all weight below which threads are not kept together, but spread evenly. Threads
 * with less than such a part of the mean weight are not counted then. */
#define LITTLE_SHARED 0.1
#define LIGHT_THREAD 0.1

typedef struct {
	const LodePageMatrix *matrix;
	GArray *threads;   /* uint32_t: those that are grouped, ascending */
	uint32_t *indexes; /* of each thread in `threads`; LODE_NONE */
	double *shared;
	uint32_t *capacities;
	uint32_t n_active; /* that were sampled */
	uint32_t n_heavy;  /* of these, that are grouped or follow for want of room in the graph */
} Grouping;

/* To the memories in turn, in the order of creation. */
static void deal_threads(LodePlacement *placement)
{
	for (uint32_t i = 0; i < placement->n_threads; i++)
		LODE_AT(placement->thread_memories, uint32_t, i) = i % placement->n_memories;
}

static bool check_room(const Options *options, uint32_t n_active, GError **error)
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

/* A memory's share of so many threads, by its processors. */
static uint32_t fair_part(const Options *options, uint32_t memory, uint32_t n_threads)
{
	const LodeTopology *topology = options->topology;
	uint64_t n_cpus = lode_topology_node(topology, memory)->cpus->len;
	uint64_t all = MAX(topology->n_cpus, 1);

	return (uint32_t)((n_threads * n_cpus + all - 1) / all);
}

/* As many as fit: two, or a fair part of all. */
static uint32_t capacity_of(const Options *options, uint32_t memory, uint32_t n_active)
{
	uint32_t n_cpus = lode_topology_node(options->topology, memory)->cpus->len;

	if (options->threads_per_memory > 0)
		return options->threads_per_memory;
	return MAX(fair_part(options, memory, n_active), MIN(n_cpus, THREADS_PER_MEMORY));
}

static int compare_by_weight(const void *a, const void *b, void *data)
{
	const LodePageMatrix *matrix = data;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	double first_weight = lode_page_matrix_thread_weight(matrix, first);
	double second_weight = lode_page_matrix_thread_weight(matrix, second);

	if (first_weight != second_weight)
		return first_weight > second_weight ? -1 : 1;
	return first < second ? -1 : 1;
}

/* Chooses the threads with at least so much weight. */
static void choose_threads(Grouping *self, double least)
{
	const LodePageMatrix *matrix = self->matrix;

	g_array_set_size(self->threads, 0);
	for (uint32_t i = 0; i < matrix->n_threads; i++) {
		double weight = lode_page_matrix_thread_weight(matrix, i);
		if (weight > 0 && weight >= least)
			g_array_append_val(self->threads, i);
	}
	self->n_active = MAX(self->n_active, self->threads->len);
	self->n_heavy = self->threads->len;
	if (self->threads->len > MAX_GROUPED) {
		g_array_sort_with_data(self->threads, compare_by_weight, (void *)matrix);
		g_array_set_size(self->threads, MAX_GROUPED);
		g_array_sort(self->threads, lode_compare_u32);
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

static void share_pages(Grouping *self)
{
	size_t n = self->threads->len;

	memset(self->shared, 0, n * n * sizeof(*self->shared));
	for (guint i = 0; i < self->matrix->pages->len; i++)
		share_page(self, lode_page_matrix_page(self->matrix, i));
}

/* Σ over threads of what each shares with the one that it shares most with. */
static double shared_by_any(const Grouping *self)
{
	size_t n = self->threads->len;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double most = 0;
		for (size_t j = 0; j < n; j++)
			most = MAX(most, self->shared[i * n + j]);
		sum += most;
	}
	return sum;
}

/* Threads beyond the graph's limit: where most room is. */
static void place_rest(Grouping *self, LodePlacement *placement)
{
	uint32_t memory = 0;

	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t *place = &LODE_AT(placement->thread_memories, uint32_t, i);
		if (*place != LODE_NONE || lode_page_matrix_thread_weight(self->matrix, i) <= 0)
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

	lode_thread_groups_find(&graph, memories);
	for (uint32_t i = 0; i < self->threads->len; i++) {
		uint32_t thread = LODE_AT(self->threads, uint32_t, i);
		LODE_AT(placement->thread_memories, uint32_t, thread) = memories[i];
		self->capacities[memories[i]]--;
	}
}

/* Places the sampled threads by the weight that they share, at most as many on each memory as
 * `options` say. If there are more than some thousand threads, those with least accesses follow
 * where there is room. Errors: _USAGE. */
static bool group_threads(LodePlacement *placement, const LodePageMatrix *matrix,
	const Options *options, GError **error)
{
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree uint32_t *indexes = g_new(uint32_t, matrix->n_threads);
	g_autofree uint32_t *capacities = g_new(uint32_t, placement->n_memories);
	Grouping grouping = {.matrix = matrix, .threads = threads, .indexes = indexes};

	choose_threads(&grouping, 0);
	if (!check_room(options, grouping.n_active, error))
		return false;
	g_autofree double *shared = g_new0(double, (size_t)threads->len * threads->len);
	grouping.shared = shared;
	share_pages(&grouping);
	bool is_even = options->threads_per_memory == 0 &&
	               shared_by_any(&grouping) < LITTLE_SHARED * matrix->weight;
	if (is_even) {
		choose_threads(&grouping,
			LIGHT_THREAD * (matrix->weight + matrix->lost) / grouping.n_active);
		share_pages(&grouping);
	}
	for (uint32_t m = 0; m < placement->n_memories; m++)
		capacities[m] = is_even ? fair_part(options, m, grouping.n_heavy)
		                        : capacity_of(options, m, grouping.n_active);
	grouping.capacities = capacities;
	group(&grouping, placement, options->topology->distances);
	for (uint32_t m = 0; m < placement->n_memories && is_even; m++)
		capacities[m] += fair_part(options, m, grouping.n_active - grouping.n_heavy);
	place_rest(&grouping, placement);
	return true;
}

/* --- where each page goes --- */

/* Where a page goes. */
#define INTERLEAVED (UINT32_MAX - 1)

/* A page is shared when its best memory has at most this more than an even share of it. */
#define EVEN_MARGIN 0.1

/* The weight of a page's neighbours counts as so many samples; so many used pages on either side
 * are its neighbours. */
enum { PRIOR_SAMPLES = 3, NEIGHBOURS = 8 };

typedef struct {
	const LodeProfile *profile;
	const LodePageMatrix *matrix;
	const Options *options;
	LodePlacement *placement;
	uint32_t *places;    /* of each page: a memory, INTERLEAVED, or LODE_NONE */
	double sample;       /* what one weighs on average */
	double *neighbours;  /* [memories], for a page at a time */
	GHashTable *objects; /* object + 1 → double [memories]: the weight of its pages */
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
	return lode_word_find(policies, G_N_ELEMENTS(policies), text);
}

/* The cost of the page's accesses when it is on that memory. */
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

/* The page's accesses by the memory of the thread that makes them. */
static void weigh_memories(const Maker *self, const LodeUsedPage *page, double *weights)
{
	const LodePageUse *uses = lode_page_matrix_uses(self->matrix, page);

	memset(weights, 0, self->placement->n_memories * sizeof(*weights));
	for (uint32_t i = 0; i < page->n_uses; i++) {
		uint32_t m = lode_placement_thread_memory(self->placement, uses[i].thread);
		if (m != LODE_NONE)
			weights[m] += uses[i].weight;
	}
}

static void weigh_objects(Maker *self, double *weights)
{
	uint32_t n = self->placement->n_memories;

	for (guint i = 0; i < self->matrix->pages->len; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(self->matrix, i);
		void *key = GUINT_TO_POINTER(page->object + 1);
		double *sums = g_hash_table_lookup(self->objects, key);
		if (page->object == LODE_NONE)
			continue;
		if (sums == NULL) {
			sums = g_new0(double, n);
			g_hash_table_insert(self->objects, key, sums);
		}
		weigh_memories(self, page, weights);
		for (uint32_t m = 0; m < n; m++)
			sums[m] += weights[m];
	}
}

static double add_scaled(double *to, const double *from, uint32_t n, double scale)
{
	double sum = 0;

	for (uint32_t m = 0; m < n; m++) {
		to[m] += from[m] * scale;
		sum += from[m] * scale;
	}
	return sum;
}

/* Weighs the used pages around a page in its mapping. A page counts for at most PRIOR_SAMPLES: a
 * hot page predicts its neighbours no better than another one. If they have too little weight,
 * weighs the pages of its object. Gives the sum. */
static double weigh_neighbours(const Maker *self, guint page, double *weights)
{
	const LodeUsedPage *own = lode_page_matrix_page(self->matrix, page);
	uint32_t n = self->placement->n_memories;
	double most = PRIOR_SAMPLES * self->sample, sum = 0;
	guint first = page > NEIGHBOURS ? page - NEIGHBOURS : 0;
	guint end = (guint)MIN((uint64_t)page + NEIGHBOURS + 1, self->matrix->pages->len);

	memset(self->neighbours, 0, n * sizeof(*self->neighbours));
	for (guint i = first; i < end; i++) {
		const LodeUsedPage *other = lode_page_matrix_page(self->matrix, i);
		if (i == page || other->mapping != own->mapping || !(other->weight > 0))
			continue;
		weigh_memories(self, other, weights);
		sum += add_scaled(self->neighbours, weights, n, MIN(1, most / other->weight));
	}
	const double *object = g_hash_table_lookup(
		self->objects, GUINT_TO_POINTER(own->object + 1));
	double all = 0;
	for (uint32_t m = 0; object != NULL && m < n; m++)
		all += object[m];
	/* Its own samples are among its object's, and no guess about themselves. */
	if (sum < most && all > own->weight)
		sum += add_scaled(self->neighbours, object, n, (most - sum) / all);
	return sum;
}

/* A page with few samples goes with its neighbours or its object: what they say counts as much as
 * PRIOR_SAMPLES samples of its own. */
static uint32_t place_by_majority(const Maker *self, guint number, double *weights)
{
	LodeUsedPage page = *lode_page_matrix_page(self->matrix, number);
	double guess = weigh_neighbours(self, number, weights);
	double scale = guess > 0 ? MIN(1, PRIOR_SAMPLES * self->sample / guess) : 0;

	weigh_memories(self, &page, weights);
	page.weight += add_scaled(weights, self->neighbours, self->placement->n_memories, scale);
	return is_shared_and_hot(self, &page, weights) ? INTERLEAVED
	                                               : best_memory(self, &page, weights);
}

static void choose_places(Maker *self)
{
	g_autofree double *weights = g_new(double, self->placement->n_memories);

	if (self->options->policy == LODE_PLACEMENT_MAJORITY)
		weigh_objects(self, weights);
	for (guint i = 0; i < self->matrix->pages->len; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(self->matrix, i);
		if (self->options->policy == LODE_PLACEMENT_MAJORITY)
			self->places[i] = place_by_majority(self, i, weights);
		else if (self->options->policy == LODE_PLACEMENT_FIRST_TOUCH)
			self->places[i] = lode_placement_thread_memory(
				self->placement, page->first_toucher);
		else
			self->places[i] = INTERLEAVED;
	}
}

/* Pages between two pages belong to them if they are of one mapping. */
static bool are_neighbours(const Maker *self, const LodeUsedPage *a, const LodeUsedPage *b)
{
	const GArray *mappings = lode_memory_of(self->profile)->mappings;

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
		weigh_memories(self, page, weights);
		self->places[i] = best_memory(self, page, weights);
	}
}

LODE_ORDER(compare_weights, Run, LODE_DESCENDING(weight), LODE_ASCENDING(first))

LODE_ORDER(compare_starts, Run, LODE_ASCENDING(first))

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

/* The name of the object used most in these pages; NULL: unknown. */
static const char *name_of(const Maker *self, const Run *run)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	const GArray *objects = memory->objects;
	g_autoptr(GHashTable) weights = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	uint32_t best = LODE_NONE;
	double most = 0;

	for (guint i = run->first; i < run->end; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(self->matrix, i);
		if (page->object >= objects->len)
			continue;
		double *weight = lode_sum_at(weights, GUINT_TO_POINTER(page->object + 1));
		*weight += page->weight;
		if (*weight <= most)
			continue;
		most = *weight;
		best = page->object;
	}
	return lode_memory_object_name(memory, best);
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

/*
 * The ranges' notes name what lies there, as `profile` has it. Threads that no sample saw may run
 * anywhere, but for the policies that deal them in turn. Errors: _USAGE when threads_per_memory is
 * too small for the topology.
 */
static LodePlacement *make_placement(const LodeProfile *profile, const LodePageMatrix *matrix,
	const Options *options, GError **error)
{
	bool is_grouped = options->policy == LODE_PLACEMENT_MAJORITY ||
	                  options->policy == LODE_PLACEMENT_INTERLEAVED;
	g_autoptr(LodePlacement)
		placement = lode_placement_new(options->topology->nodes->len, matrix->n_threads);

	if (!is_grouped)
		deal_threads(placement);
	else if (!group_threads(placement, matrix, options, error))
		return NULL;
	g_autofree uint32_t *places = g_new(uint32_t, matrix->pages->len);
	g_autofree double *neighbours = g_new(double, placement->n_memories);
	g_autoptr(GHashTable) objects = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	Maker maker = {
		.profile = profile,
		.matrix = matrix,
		.options = options,
		.placement = placement,
		.places = places,
		.sample = matrix->weight / (double)MAX(matrix->n_samples, 1),
		.neighbours = neighbours,
		.objects = objects,
	};
	/* On one memory there is nothing to choose. */
	if (placement->n_memories > 1) {
		choose_places(&maker);
		if (options->policy == LODE_PLACEMENT_MAJORITY)
			place_lone_pages(&maker);
		add_ranges(&maker);
	}
	return g_steal_pointer(&placement);
}

/* --- what each memory gets --- */

static void clear_memory(void *data)
{
	LodeProposedMemory *memory = data;

	g_array_unref(memory->threads);
}

void lode_placement_proposal_free(LodePlacementProposal *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->memories, g_array_unref);
	lode_placement_free(self->placement);
	lode_topology_free(self->own_topology);
	lode_page_matrix_free(self->matrix);
	g_free(self->local_of_thread);
	g_free(self);
}

static LodeProposedMemory *memory_at(const LodePlacementProposal *self, uint32_t memory)
{
	return &LODE_AT(self->memories, LodeProposedMemory, memory);
}

static void count_threads(LodePlacementProposal *self)
{
	for (uint32_t i = 0; i < self->placement->n_threads; i++) {
		uint32_t m = lode_placement_thread_memory(self->placement, i);
		if (m == LODE_NONE) {
			self->n_unplaced_threads++;
			continue;
		}
		g_array_append_val(memory_at(self, m)->threads, i);
		memory_at(self, m)->accesses += lode_page_matrix_thread_weight(self->matrix, i);
	}
}

static void count_pages(LodePlacementProposal *self)
{
	g_autoptr(GArray) pieces = lode_placement_pieces(self->placement, LODE_PAGE_SIZE);
	guint next = 0;

	for (guint i = 0; i < self->matrix->pages->len; i++) {
		uint64_t address = lode_page_matrix_page(self->matrix, i)->address;
		while (next < pieces->len &&
			LODE_AT(pieces, LodePlacementPiece, next).end <= address)
			next++;
		if (next == pieces->len)
			return;
		const LodePlacementPiece *piece = &LODE_AT(pieces, LodePlacementPiece, next);
		if (piece->start > address)
			continue;
		if (piece->memory == LODE_NONE)
			self->n_interleaved++;
		else
			memory_at(self, piece->memory)->n_pages++;
	}
}

static void count_memories(LodePlacementProposal *self)
{
	self->memories = g_array_new(FALSE, TRUE, sizeof(LodeProposedMemory));
	g_array_set_clear_func(self->memories, clear_memory);
	for (uint32_t m = 0; m < self->placement->n_memories; m++) {
		LodeProposedMemory memory = {
			.threads = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
		g_array_append_val(self->memories, memory);
	}
	count_threads(self);
	count_pages(self);
}

static bool choose_topology(
	LodePlacementProposal *self, const LodePlacementProposalOptions *options, GError **error)
{
	uint32_t n = 0, each = MAX(options->threads_per_memory, 1);

	self->topology = options->topology;
	if (self->topology != NULL)
		return true;
	for (uint32_t i = 0; i < self->matrix->n_threads; i++)
		n += lode_page_matrix_thread_weight(self->matrix, i) > 0;
	uint32_t n_memories = MAX((uint32_t)(((uint64_t)n + each - 1) / each), 1);
	if (n_memories > LODE_PLACEMENT_MAX_MEMORIES || each > LODE_PLACEMENT_MAX_THREADS) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%u threads, %u on each memory, need %u memories; there can be %d", n, each,
			n_memories, LODE_PLACEMENT_MAX_MEMORIES);
		return false;
	}
	self->own_topology = lode_topology_new_even(n_memories, each);
	self->topology = self->own_topology;
	return true;
}

/* The chosen policy's placement stays; of the others only what they would do. */
static bool try_policy(LodePlacementProposal *self, const LodeProfile *profile,
	const Options *options, GError **error)
{
	g_autoptr(LodePlacement) placement = make_placement(profile, self->matrix, options, error);

	if (placement == NULL)
		return false;
	self->localities[options->policy] = lode_placement_locality(placement, self->matrix,
		options->topology, options->policy == self->policy ? self->local_of_thread : NULL);
	if (options->policy == self->policy)
		self->placement = g_steal_pointer(&placement);
	return true;
}

LodePlacementProposal *lode_placement_proposal_new(
	const LodeProfile *profile, const LodePlacementProposalOptions *options, GError **error)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autoptr(LodePlacementProposal) self = g_new0(LodePlacementProposal, 1);
	Options placement = {
		.threads_per_memory = options->threads_per_memory,
	};

	self->policy = options->policy;
	if (memory != NULL && lode_memory_is_traced(memory)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"the addresses are of an address trace, and the program has others when it "
			"runs by itself; 'lode memory record' records those");
		return NULL;
	}
	self->matrix = lode_page_matrix_new(
		profile, options->event, options->pid, options->progress, error);
	if (self->matrix == NULL || !choose_topology(self, options, error))
		return NULL;
	placement.topology = self->topology;
	self->local_of_thread = g_new0(double, self->matrix->n_threads);
	self->has_fixed_addresses = memory->has_fixed_addresses;
	for (int i = 0; i < LODE_N_PLACEMENT_POLICIES; i++) {
		if (lode_progress_is_cancelled(options->progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return NULL;
		}
		placement.policy = (LodePlacementPolicy)i;
		bool is_chosen = placement.policy == options->policy;
		self->has_locality[i] = try_policy(
			self, profile, &placement, is_chosen ? error : NULL);
		if (is_chosen && !self->has_locality[i])
			return NULL;
	}
	count_memories(self);
	return g_steal_pointer(&self);
}
