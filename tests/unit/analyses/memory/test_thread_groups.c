/* SPDX-License-Identifier: MIT */
/* Groups of threads against all that are possible, and planted ones. */
#include "analyses/memory/placement/thread_groups.h"
#include "seeds.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_THREADS = 8 };

typedef struct {
	const LodeThreadGraph *graph;
	uint32_t memories[MAX_THREADS], sizes[MAX_THREADS];
	double lowest;
} BruteForce;

static double naive_cost(const LodeThreadGraph *graph, const uint32_t *memories)
{
	double cost = 0;

	for (uint32_t i = 0; i < graph->n_threads; i++)
		for (uint32_t j = 0; j < graph->n_threads; j++) {
			double distance =
				graph->distances == NULL
					? (memories[i] != memories[j] ? 2 : 1)
					: graph->distances[memories[i] * graph->n_memories +
							   memories[j]];
			cost += graph->shared[i * graph->n_threads + j] / 2 * (distance - 1);
		}
	return cost;
}

static void try_all(BruteForce *self, uint32_t thread)
{
	if (thread == self->graph->n_threads) {
		self->lowest = MIN(self->lowest, naive_cost(self->graph, self->memories));
		return;
	}
	for (uint32_t m = 0; m < self->graph->n_memories; m++) {
		if (self->sizes[m] == self->graph->capacities[m])
			continue;
		self->sizes[m]++;
		self->memories[thread] = m;
		try_all(self, thread + 1);
		self->sizes[m]--;
	}
}

static void check_capacities(const LodeThreadGraph *graph, const uint32_t *memories)
{
	uint32_t sizes[MAX_THREADS * MAX_THREADS] = {0};

	for (uint32_t i = 0; i < graph->n_threads; i++) {
		g_assert_cmpuint(memories[i], <, graph->n_memories);
		sizes[memories[i]]++;
	}
	for (uint32_t m = 0; m < graph->n_memories; m++)
		g_assert_cmpuint(sizes[m], <=, graph->capacities[m]);
}

static void fill_shared(GRand *random, uint32_t n, double density, double *shared)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++) {
			bool is_there = i != j && g_rand_double(random) < density;
			double value = is_there ? floor(g_rand_double(random) * 100) : 0;
			shared[i * n + j] = shared[j * n + i] = value;
		}
}

static void fill_distances(GRand *random, uint32_t n, double *distances)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++)
			distances[i * n + j] = distances[j * n + i] =
				i == j ? 1 : 1.2 + g_rand_int_range(random, 0, 10) / 10.0;
}

/* Of small graphs the best of all groupings is found in nearly all cases, and never much less. */
static void test_against_all(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(11));
	unsigned n_cases = 600, n_best = 0;
	double worst = 1;

	for (unsigned i = 0; i < n_cases; i++) {
		uint32_t n = (uint32_t)g_rand_int_range(random, 1, MAX_THREADS + 1);
		uint32_t n_memories = (uint32_t)g_rand_int_range(random, 1, 5);
		double shared[MAX_THREADS * MAX_THREADS], distances[16];
		uint32_t capacities[4], memories[MAX_THREADS];
		fill_shared(random, n, i % 3 == 0 ? 1 : 0.5, shared);
		fill_distances(random, n_memories, distances);
		for (uint32_t m = 0; m < n_memories; m++)
			capacities[m] = (n + n_memories - 1) / n_memories +
			                (i % 2 == 0 ? 0 : g_rand_int(random) % 2);
		LodeThreadGraph graph = {
			n, n_memories, shared, capacities, i % 4 < 2 ? NULL : distances};
		lode_thread_groups_find(&graph, memories);
		check_capacities(&graph, memories);
		double cost = naive_cost(&graph, memories);
		g_assert_cmpfloat_with_epsilon(
			cost, lode_thread_groups_cost(&graph, memories), 1e-6);
		BruteForce all = {.graph = &graph, .lowest = INFINITY};
		try_all(&all, 0);
		g_assert_cmpfloat(cost, >=, all.lowest - 1e-6);
		n_best += cost <= all.lowest + 1e-6;
		worst = MAX(worst, (cost + 1) / (all.lowest + 1));
	}
	g_test_message("%u of %u graphs: the best grouping; at worst %.3f times its cost", n_best,
		n_cases, worst);
	g_assert_cmpuint(n_best, ==, n_cases);
}

/* Groups that were planted, their threads mixed, with noise between all. */
static void test_planted(void)
{
	enum { GROUPS = 8, SIZE = 6, N = GROUPS * SIZE, N_PAIRS = N * N };
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(5));
	g_autofree double *shared = g_new0(double, N_PAIRS);
	uint32_t planted[N], memories[N], capacities[GROUPS];

	for (uint32_t i = 0; i < N; i++)
		planted[i] = i % GROUPS;
	for (uint32_t i = N; i > 1; i--) {
		uint32_t j = (uint32_t)g_rand_int_range(random, 0, (gint32)i), swapped = planted[j];
		planted[j] = planted[i - 1];
		planted[i - 1] = swapped;
	}
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t j = 0; j < i; j++)
			shared[i * N + j] = shared[j * N + i] = (planted[i] == planted[j] ? 50
											  : 0) +
			                                        g_rand_int_range(random, 0, 20);
	for (uint32_t m = 0; m < GROUPS; m++)
		capacities[m] = SIZE;
	LodeThreadGraph graph = {N, GROUPS, shared, capacities, NULL};
	lode_thread_groups_find(&graph, memories);
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t j = 0; j < N; j++)
			g_assert_true((planted[i] == planted[j]) == (memories[i] == memories[j]));
	g_assert_cmpuint(memories[0], ==, 0);
}

/* A line of memories: groups that share stand beside each other. */
static void test_distances(void)
{
	const double distances[16] = {1, 2, 3, 4, 2, 1, 2, 3, 3, 2, 1, 2, 4, 3, 2, 1};
	const uint32_t capacities[4] = {1, 1, 1, 1};
	double shared[16] = {0};
	uint32_t memories[4];

	/* the chain 0 ─ 2 ─ 1 ─ 3 */
	shared[0 * 4 + 2] = shared[2 * 4 + 0] = 10;
	shared[2 * 4 + 1] = shared[1 * 4 + 2] = 10;
	shared[1 * 4 + 3] = shared[3 * 4 + 1] = 10;
	LodeThreadGraph graph = {4, 4, shared, capacities, distances};
	lode_thread_groups_find(&graph, memories);
	g_assert_cmpfloat(lode_thread_groups_cost(&graph, memories), ==, 30);
}

/* Who shares nothing is spread, not piled up. */
static void test_nothing_shared(void)
{
	const double shared[16] = {0};
	const uint32_t capacities[4] = {2, 2, 2, 2};
	uint32_t memories[4];
	LodeThreadGraph graph = {4, 4, shared, capacities, NULL};

	lode_thread_groups_find(&graph, memories);
	for (uint32_t i = 0; i < 4; i++)
		g_assert_cmpuint(memories[i], ==, i);
}

/* Its arrays are NULL, which memset() and memcpy() must not get: seen by UBSan. */
static void test_no_threads(void)
{
	const uint32_t capacities[2] = {1, 1};
	LodeThreadGraph graph = {0, 2, NULL, capacities, NULL};

	lode_thread_groups_find(&graph, NULL);
	g_assert_cmpfloat(lode_thread_groups_cost(&graph, NULL), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/thread-groups/against-all", test_against_all);
	g_test_add_func("/thread-groups/planted", test_planted);
	g_test_add_func("/thread-groups/distances", test_distances);
	g_test_add_func("/thread-groups/nothing-shared", test_nothing_shared);
	g_test_add_func("/thread-groups/no-threads", test_no_threads);
	return g_test_run();
}
