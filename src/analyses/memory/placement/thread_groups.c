/* SPDX-License-Identifier: MIT */
/*
 * From several starts (grown greedily; in order of creation; at random with fixed seeds) passes of
 * moves and swaps follow, each thread moving once a pass, also to its loss; of a pass the best
 * prefix is kept. The cheapest result of all starts wins, of equals the first.
 */
#include "analyses/memory/placement/thread_groups.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* Few threads are fast and have the more ways to go wrong. */
enum { N_RANDOM_STARTS = 4, N_SMALL_STARTS = 64, SMALL = 64 };

/* The limit of evaluated pairs of threads, so that thousands of threads take seconds. */
#define MAX_EVALUATIONS (UINT64_C(1) << 31)

typedef struct {
	const LodeThreadGraph *graph;
	uint32_t *memories; /* of each thread */
	uint32_t *sizes;    /* of each memory */
	double *joined;  /* n_threads × n_memories: what a thread shares with a memory's threads */
	double *farther; /* n_memories²: both ways' mean beyond home */
	bool *is_locked;
	uint64_t n_evaluations;
	double epsilon;
} Search;

typedef struct {
	double change;
	uint32_t thread, partner; /* partner G_MAXUINT32: a move */
	uint32_t from, to;
} Step;

static double farther(const LodeThreadGraph *graph, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (graph->distances == NULL)
		return 1;
	double there = graph->distances[(size_t)a * graph->n_memories + b];
	double back = graph->distances[(size_t)b * graph->n_memories + a];
	return MAX((there + back) / 2 - 1, 0);
}

double lode_thread_groups_cost(const LodeThreadGraph *graph, const uint32_t *memories)
{
	double cost = 0;

	for (uint32_t i = 0; i < graph->n_threads; i++)
		for (uint32_t j = i + 1; j < graph->n_threads; j++)
			cost += graph->shared[(size_t)i * graph->n_threads + j] *
			        farther(graph, memories[i], memories[j]);
	return cost;
}

static double shared(const Search *self, uint32_t i, uint32_t j)
{
	return self->graph->shared[(size_t)i * self->graph->n_threads + j];
}

static double far(const Search *self, uint32_t a, uint32_t b)
{
	return self->farther[(size_t)a * self->graph->n_memories + b];
}

/* The cost of the thread on that memory. */
static double cost_on(const Search *self, uint32_t thread, uint32_t memory)
{
	const double *joined = self->joined + (size_t)thread * self->graph->n_memories;
	double cost = 0;

	for (uint32_t m = 0; m < self->graph->n_memories; m++)
		cost += joined[m] * far(self, memory, m);
	return cost;
}

static void set_memory(Search *self, uint32_t thread, uint32_t to)
{
	uint32_t n = self->graph->n_memories, from = self->memories[thread];

	self->sizes[from]--;
	self->sizes[to]++;
	self->memories[thread] = to;
	for (uint32_t j = 0; j < self->graph->n_threads; j++) {
		self->joined[(size_t)j * n + from] -= shared(self, thread, j);
		self->joined[(size_t)j * n + to] += shared(self, thread, j);
	}
}

static void begin(Search *self, const uint32_t *memories)
{
	uint32_t n = self->graph->n_memories;

	memset(self->sizes, 0, n * sizeof(*self->sizes));
	memset(self->joined, 0, (size_t)self->graph->n_threads * n * sizeof(*self->joined));
	for (uint32_t i = 0; i < self->graph->n_threads; i++) {
		self->memories[i] = memories[i];
		self->sizes[memories[i]]++;
		for (uint32_t j = 0; j < self->graph->n_threads; j++)
			self->joined[(size_t)j * n + memories[i]] += i != j ? shared(self, i, j)
			                                                    : 0;
	}
}

static void keep_better(Step *best, double change, uint32_t thread, uint32_t partner)
{
	if (change < best->change)
		*best = (Step){.change = change, .thread = thread, .partner = partner};
}

static void try_moves(Search *self, uint32_t thread, double cost, Step *best)
{
	for (uint32_t m = 0; m < self->graph->n_memories; m++) {
		if (m == self->memories[thread] || self->sizes[m] >= self->graph->capacities[m])
			continue;
		double change = cost_on(self, thread, m) - cost;
		if (change >= best->change)
			continue;
		keep_better(best, change, thread, G_MAXUINT32);
		best->to = m;
	}
}

static void try_swaps(Search *self, uint32_t thread, const double *costs, Step *best)
{
	uint32_t a = self->memories[thread];

	for (uint32_t j = thread + 1; j < self->graph->n_threads; j++) {
		uint32_t b = self->memories[j];
		if (b == a || self->is_locked[j])
			continue;
		/* The two stay as far from each other as they were, which both costs leave out. */
		double change = costs[(size_t)thread * self->graph->n_memories + b] -
		                costs[(size_t)thread * self->graph->n_memories + a] +
		                costs[(size_t)j * self->graph->n_memories + a] -
		                costs[(size_t)j * self->graph->n_memories + b] +
		                2 * shared(self, thread, j) * far(self, a, b);
		keep_better(best, change, thread, j);
	}
}

/* The step that costs least, also when it costs something; thread G_MAXUINT32: there is none. */
static Step find_step(Search *self, double *costs)
{
	uint32_t n = self->graph->n_threads, n_memories = self->graph->n_memories;
	Step best = {.change = INFINITY, .thread = G_MAXUINT32};

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t m = 0; m < n_memories; m++)
			costs[(size_t)i * n_memories + m] = cost_on(self, i, m);
	for (uint32_t i = 0; i < n; i++) {
		if (self->is_locked[i])
			continue;
		try_moves(self, i, costs[(size_t)i * n_memories + self->memories[i]], &best);
		try_swaps(self, i, costs, &best);
	}
	self->n_evaluations += (uint64_t)n * (n + (uint64_t)n_memories * n_memories);
	if (best.thread == G_MAXUINT32)
		return best;
	best.from = self->memories[best.thread];
	if (best.partner != G_MAXUINT32)
		best.to = self->memories[best.partner];
	return best;
}

static void take_step(Search *self, const Step *step)
{
	set_memory(self, step->thread, step->to);
	self->is_locked[step->thread] = true;
	if (step->partner == G_MAXUINT32)
		return;
	set_memory(self, step->partner, step->from);
	self->is_locked[step->partner] = true;
}

static void take_back(Search *self, const Step *step)
{
	set_memory(self, step->thread, step->from);
	if (step->partner != G_MAXUINT32)
		set_memory(self, step->partner, step->to);
}

/* Whether the pass made it cheaper. */
static bool run_pass(Search *self)
{
	uint32_t n = self->graph->n_threads;
	g_autofree double *costs = g_new(double, (size_t)n * self->graph->n_memories);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(Step));
	double sum = 0, lowest = 0;
	guint n_kept = 0;

	memset(self->is_locked, 0, n * sizeof(*self->is_locked));
	while (self->n_evaluations < MAX_EVALUATIONS) {
		Step step = find_step(self, costs);
		if (step.thread == G_MAXUINT32)
			break;
		take_step(self, &step);
		g_array_append_val(steps, step);
		sum += step.change;
		if (sum >= lowest - self->epsilon)
			continue;
		lowest = sum;
		n_kept = steps->len;
	}
	for (guint i = steps->len; i > n_kept; i--)
		take_back(self, &g_array_index(steps, Step, i - 1));
	return n_kept > 0;
}

static void exchange(Search *self, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < self->graph->n_threads; i++) {
		uint32_t memory = self->memories[i];
		if (memory == a || memory == b)
			set_memory(self, i, memory == a ? b : a);
	}
}

/* All threads of two memories change places; only where some are nearer than others. */
static bool exchange_groups(Search *self)
{
	const LodeThreadGraph *graph = self->graph;
	double cost = lode_thread_groups_cost(graph, self->memories);
	bool is_cheaper = false;

	for (uint32_t a = 0; a < graph->n_memories; a++)
		for (uint32_t b = a + 1; b < graph->n_memories; b++) {
			if (self->n_evaluations >= MAX_EVALUATIONS)
				return is_cheaper;
			if (self->sizes[a] > graph->capacities[b] ||
				self->sizes[b] > graph->capacities[a])
				continue;
			exchange(self, a, b);
			self->n_evaluations += (uint64_t)graph->n_threads * graph->n_threads;
			double now = lode_thread_groups_cost(graph, self->memories);
			if (now < cost - self->epsilon) {
				cost = now;
				is_cheaper = true;
			} else {
				exchange(self, a, b);
			}
		}
	return is_cheaper;
}

static void refine(Search *self)
{
	bool is_cheaper = true;

	while (is_cheaper && self->n_evaluations < MAX_EVALUATIONS) {
		is_cheaper = run_pass(self);
		if (self->graph->distances != NULL)
			is_cheaper |= exchange_groups(self);
	}
}

/* The free thread that shares most with this memory's (with anyone, where it has none). */
static uint32_t find_nearest(const Search *self, const bool *is_placed, uint32_t memory)
{
	uint32_t n = self->graph->n_threads, best = G_MAXUINT32;
	double best_sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (is_placed[i])
			continue;
		double sum = 0;
		for (uint32_t j = 0; j < n; j++)
			if (j != i &&
				(self->sizes[memory] == 0
						? !is_placed[j]
						: is_placed[j] && self->memories[j] == memory))
				sum += shared(self, i, j);
		if (sum > best_sum) {
			best = i;
			best_sum = sum;
		}
	}
	return best;
}

static uint32_t emptiest(const Search *self)
{
	uint32_t best = G_MAXUINT32;

	for (uint32_t m = 0; m < self->graph->n_memories; m++)
		if (self->sizes[m] < self->graph->capacities[m] &&
			(best == G_MAXUINT32 || self->sizes[m] < self->sizes[best]))
			best = m;
	return best;
}

/* Group after group grows by who shares most with it; who shares nothing goes where most room is.
 */
static void start_grown(Search *self)
{
	uint32_t n = self->graph->n_threads;
	g_autofree bool *is_placed = g_new0(bool, n);

	memset(self->sizes, 0, self->graph->n_memories * sizeof(*self->sizes));
	for (uint32_t m = 0; m < self->graph->n_memories; m++) {
		uint32_t thread;
		while (self->sizes[m] < self->graph->capacities[m] &&
			(thread = find_nearest(self, is_placed, m)) != G_MAXUINT32) {
			self->memories[thread] = m;
			is_placed[thread] = true;
			self->sizes[m]++;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (is_placed[i])
			continue;
		self->memories[i] = emptiest(self);
		self->sizes[self->memories[i]]++;
	}
}

/* Memory after memory is filled with the threads, both in the order given. */
static void start_in_order(Search *self, const uint32_t *threads, const uint32_t *memories)
{
	uint32_t at = 0, size = 0;

	for (uint32_t i = 0; i < self->graph->n_threads; i++) {
		while (size == self->graph->capacities[memories[at]]) {
			at++;
			size = 0;
		}
		self->memories[threads[i]] = memories[at];
		size++;
	}
}

/* 0 … n − 1, by a seed of 0 in order, else shuffled. */
static uint32_t *order_new(uint32_t n, uint32_t seed)
{
	uint32_t *order = g_new(uint32_t, n);
	uint64_t state = seed;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = seed > 0 ? n : 0; i > 1; i--) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint32_t j = (uint32_t)((state >> 33) % i);
		uint32_t swapped = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swapped;
	}
	return order;
}

static void start(Search *self, unsigned number)
{
	uint32_t n = self->graph->n_threads, seed = number > 1 ? number : 0;
	g_autofree uint32_t *threads = order_new(n, seed);
	g_autofree uint32_t *order = order_new(self->graph->n_memories, seed);

	if (number == 0)
		start_grown(self);
	else
		start_in_order(self, threads, order);
	g_autofree uint32_t *memories = g_memdup2(self->memories, n * sizeof(*memories));
	begin(self, memories);
}

static bool are_equal(const LodeThreadGraph *graph)
{
	for (uint32_t m = 1; m < graph->n_memories; m++)
		if (graph->capacities[m] != graph->capacities[0])
			return false;
	return graph->distances == NULL;
}

/* Where memories are alike, the first thread's is 0, and so on: easier to read. */
static void number_in_order(const LodeThreadGraph *graph, uint32_t *memories)
{
	g_autofree uint32_t *numbers = g_new(uint32_t, graph->n_memories);
	uint32_t n = 0;

	memset(numbers, 0xff, graph->n_memories * sizeof(*numbers));
	for (uint32_t i = 0; i < graph->n_threads; i++) {
		if (numbers[memories[i]] == G_MAXUINT32)
			numbers[memories[i]] = n++;
		memories[i] = numbers[memories[i]];
	}
}

static double largest(const LodeThreadGraph *graph)
{
	double value = 0;

	for (size_t i = 0; i < (size_t)graph->n_threads * graph->n_threads; i++)
		value = MAX(value, graph->shared[i]);
	return value;
}

static void search(Search *self, uint32_t *out_memories)
{
	uint32_t n = self->graph->n_threads;
	unsigned n_starts = 2 + (n <= SMALL ? N_SMALL_STARTS : N_RANDOM_STARTS);
	double lowest = INFINITY;

	for (unsigned i = 0; i < n_starts && lowest > 0; i++) {
		start(self, i);
		refine(self);
		double cost = lode_thread_groups_cost(self->graph, self->memories);
		if (cost >= lowest - (i > 0 ? self->epsilon : 0))
			continue;
		lowest = cost;
		memcpy(out_memories, self->memories, n * sizeof(*out_memories));
	}
}

void lode_thread_groups_find(const LodeThreadGraph *graph, uint32_t *out_memories)
{
	uint32_t n = graph->n_threads, n_memories = graph->n_memories;
	g_autofree uint32_t *memories = g_new0(uint32_t, n), *sizes = g_new0(uint32_t, n_memories);
	const size_t n_joined = (size_t)n * n_memories, n_pairs = (size_t)n_memories * n_memories;
	g_autofree double *joined = g_new0(double, n_joined);
	g_autofree double *distances = g_new0(double, n_pairs);
	g_autofree bool *is_locked = g_new0(bool, n);
	Search self = {
		.graph = graph,
		.memories = memories,
		.sizes = sizes,
		.joined = joined,
		.farther = distances,
		.is_locked = is_locked,
		/* Sums of the same numbers in another order are not a gain. */
		.epsilon = largest(graph) * 1e-9,
	};

	/* The arrays would be NULL, which memset() and memcpy() may not be given. */
	if (n == 0)
		return;
	for (uint32_t a = 0; a < n_memories; a++)
		for (uint32_t b = 0; b < n_memories; b++)
			distances[(size_t)a * n_memories + b] = farther(graph, a, b);
	search(&self, out_memories);
	if (are_equal(graph))
		number_in_order(graph, out_memories);
}
