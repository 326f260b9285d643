/* SPDX-License-Identifier: MIT */
/* Dominators and natural loops against definitions applied literally, on random graphs. */
#include "images/code/loop_nest.h"
#include "seeds.h"

#include <string.h>

enum { MAX_VERTICES = 14, MAX_EDGES = 40, N_GRAPHS = 20000 };

typedef struct {
	uint32_t n;
	bool edge[MAX_VERTICES][MAX_VERTICES];
} Matrix;

static Matrix random_matrix(void)
{
	Matrix matrix = {.n = (uint32_t)random_int_range(1, MAX_VERTICES + 1)};
	int n_edges = random_int_range(0, 2 * (int)matrix.n + 2);

	for (int i = 0; i < n_edges; i++)
		matrix.edge[random_int_range(0, (int)matrix.n)]
			   [random_int_range(0, (int)matrix.n)] = true;
	return matrix;
}

/* Marks what is reachable from the roots without passing `banned` (UINT32_MAX: nothing banned). */
static void reach(const Matrix *matrix, const uint32_t *roots, size_t n_roots, uint32_t banned,
	bool *is_reached)
{
	bool has_changed = true;

	memset(is_reached, 0, MAX_VERTICES * sizeof *is_reached);
	for (size_t i = 0; i < n_roots; i++)
		is_reached[roots[i]] = roots[i] != banned;
	while (has_changed) {
		has_changed = false;
		for (uint32_t u = 0; u < matrix->n; u++) {
			for (uint32_t v = 0; v < matrix->n; v++) {
				if (!is_reached[u] || !matrix->edge[u][v] || is_reached[v] ||
					v == banned)
					continue;
				is_reached[v] = has_changed = true;
			}
		}
	}
}

typedef struct {
	bool is_reachable[MAX_VERTICES];
	bool dominates[MAX_VERTICES][MAX_VERTICES];  /* [a][b]: a dominates b */
	bool is_in_loop[MAX_VERTICES][MAX_VERTICES]; /* [head][v] */
	bool is_head[MAX_VERTICES];
} Naive;

/* The natural loop of u → head: head, u and what reaches u without passing head. */
static void add_natural_loop(const Matrix *matrix, Naive *naive, uint32_t u, uint32_t head)
{
	naive->is_head[head] = true;
	naive->is_in_loop[head][head] = true;
	for (uint32_t v = 0; v < matrix->n; v++) {
		bool is_reached[MAX_VERTICES];

		if (!naive->is_reachable[v] || v == head)
			continue;
		reach(matrix, &v, 1, head, is_reached);
		naive->is_in_loop[head][v] |= is_reached[u];
	}
}

static void analyse(const Matrix *matrix, const uint32_t *roots, size_t n_roots, Naive *naive)
{
	memset(naive, 0, sizeof *naive);
	reach(matrix, roots, n_roots, UINT32_MAX, naive->is_reachable);
	for (uint32_t a = 0; a < matrix->n; a++) {
		bool is_reached[MAX_VERTICES];

		reach(matrix, roots, n_roots, a, is_reached);
		for (uint32_t b = 0; b < matrix->n; b++)
			naive->dominates[a][b] = naive->is_reachable[a] && naive->is_reachable[b] &&
			                         !is_reached[b];
	}
	for (uint32_t u = 0; u < matrix->n; u++) {
		for (uint32_t v = 0; v < matrix->n; v++) {
			if (matrix->edge[u][v] && naive->dominates[v][u])
				add_natural_loop(matrix, naive, u, v);
		}
	}
}

static void find(const Matrix *matrix, const uint32_t *roots, size_t n_roots, LodeLoopVertex *out)
{
	uint32_t offsets[MAX_VERTICES + 1], targets[MAX_VERTICES * MAX_VERTICES], n = 0;
	LodeLoopGraph graph = {.n = matrix->n, .offsets = offsets, .targets = targets};

	for (uint32_t u = 0; u < matrix->n; u++) {
		offsets[u] = n;
		for (uint32_t v = 0; v < matrix->n; v++) {
			if (matrix->edge[u][v])
				targets[n++] = v;
		}
	}
	offsets[matrix->n] = n;
	lode_loop_nest_find(&graph, roots, n_roots, out);
}

/* The strict dominator that all other strict dominators dominate. */
static uint32_t naive_dominator(const Matrix *matrix, const Naive *naive, uint32_t v)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t a = 0; a < matrix->n; a++) {
		if (a == v || !naive->dominates[a][v])
			continue;
		if (best == UINT32_MAX || naive->dominates[best][a])
			best = a;
	}
	return best;
}

static void compare(const Matrix *matrix, const Naive *naive, const LodeLoopVertex *vertices)
{
	for (uint32_t v = 0; v < matrix->n; v++) {
		uint32_t depth = 0;

		g_assert_cmpint(vertices[v].is_reachable, ==, naive->is_reachable[v]);
		if (!naive->is_reachable[v])
			continue;
		for (uint32_t head = 0; head < matrix->n; head++)
			depth += naive->is_in_loop[head][v];
		g_assert_cmpuint(vertices[v].dominator, ==, naive_dominator(matrix, naive, v));
		g_assert_cmpint(vertices[v].is_loop_head, ==, naive->is_head[v]);
		g_assert_cmpuint(vertices[v].loop_depth, ==, depth);
	}
}

static void test_random(void)
{
	unsigned n_deep = 0;

	for (int i = 0; i < N_GRAPHS; i++) {
		Matrix matrix = random_matrix();
		uint32_t roots[2] = {0, (uint32_t)random_int_range(0, (int)matrix.n)};
		size_t n_roots = (size_t)random_int_range(1, 3);
		LodeLoopVertex vertices[MAX_VERTICES];
		bool is_reached[MAX_VERTICES];
		Naive naive;

		/* a second root that the first one reaches is none */
		reach(&matrix, roots, 1, UINT32_MAX, is_reached);
		find(&matrix, roots, n_roots, vertices);
		if (n_roots == 2 && is_reached[roots[1]])
			n_roots = 1;
		analyse(&matrix, roots, n_roots, &naive);
		compare(&matrix, &naive, vertices);
		for (uint32_t v = 0; v < matrix.n; v++)
			n_deep += vertices[v].loop_depth > 1;
	}
	g_assert_cmpuint(n_deep, >, 100);
}

/* Each block goes on to the next one or to the common exit, and back from every tenth. */
static void test_long_ladder(void)
{
	enum { N = 300000 };
	g_autofree uint32_t *offsets = g_new(uint32_t, N + 1), *targets = g_new(uint32_t, 3 * N);
	g_autofree LodeLoopVertex *vertices = g_new(LodeLoopVertex, N);
	LodeLoopGraph graph = {.n = N, .offsets = offsets, .targets = targets};
	uint32_t n = 0, root = 0;

	for (uint32_t v = 0; v < N; v++) {
		offsets[v] = n;
		if (v + 1 >= N)
			continue;
		targets[n++] = v + 1;
		targets[n++] = N - 1;
		if (v % 10 == 9)
			targets[n++] = v - 9;
	}
	offsets[N] = n;
	lode_loop_nest_find(&graph, &root, 1, vertices);
	g_assert_cmpuint(vertices[N - 1].dominator, ==, 0);
	g_assert_cmpuint(vertices[N - 2].dominator, ==, N - 3);
	g_assert_true(vertices[20].is_loop_head);
	g_assert_cmpuint(vertices[25].loop_depth, ==, 1);
	g_assert_cmpuint(vertices[N - 1].loop_depth, ==, 0);
}

/* Dead code that runs into a loop does not make the loop's head less of one. */
static void test_dead_entry(void)
{
	Matrix matrix = {.n = 5};
	LodeLoopVertex vertices[MAX_VERTICES];
	uint32_t root = 0;

	matrix.edge[0][1] = matrix.edge[1][2] = matrix.edge[2][1] = true;
	matrix.edge[3][4] = matrix.edge[4][3] = matrix.edge[4][2] = true;
	find(&matrix, &root, 1, vertices);
	g_assert_true(vertices[1].is_loop_head);
	g_assert_cmpuint(vertices[2].loop_depth, ==, 1);
	g_assert_false(vertices[3].is_reachable);
	g_assert_true(vertices[3].is_loop_head);
	g_assert_cmpuint(vertices[4].loop_depth, ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/images/loop_nest/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/images/loop_nest/long_ladder", test_long_ladder);
	g_test_add_func("/images/loop_nest/dead_entry", test_dead_entry);
	return g_test_run();
}
