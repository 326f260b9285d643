/* SPDX-License-Identifier: MIT */
/* Candidates within a bound on their memory. */
#include "analyses/findings/candidates.h"
#include "analyses/findings/observations.h"
#include "model/mining_run.h"
#include "planted_profile.h"
#include "seeds.h"

#include <string.h>

typedef struct {
	LodeProfile *profile;
	LodeFlowGraph *graph;
	LodeObservations *seen;
} Case;

static void case_init(Case *self, bool is_counted)
{
	g_autoptr(GError) error = NULL;
	const PlantedCosts costs = {.seed = soak_seed(7),
		.is_counted = is_counted,
		.n_functions = 40,
		.base = 0.0005,
		.div = 0.01,
		.blocked = 0.006};
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	self->profile = planted_profile_new(&costs).profile;
	self->graph = lode_flow_graph_build(self->profile, &parameters, &error);
	g_assert_no_error(error);
	self->seen = lode_observations_new(self->profile, self->graph, NULL);
}

static void case_clear(Case *self)
{
	lode_observations_free(self->seen);
	lode_flow_graph_free(self->graph);
	lode_profile_free(self->profile);
}

static size_t n_members(const LodeCandidates *found)
{
	return (size_t)found->vertices->len + found->blocks->len;
}

/* The samples on the vertices of a candidate's column. */
static double samples_of(const LodeCandidates *found, const LodeObservations *seen, guint index)
{
	uint32_t column = g_array_index(found->candidates, LodeCandidate, index).column;
	const size_t *starts = (const size_t *)(void *)found->column_starts->data;
	double sum = 0;

	for (size_t i = starts[column]; i < starts[column + 1]; i++) {
		LodeFocusVertex one = g_array_index(found->vertices, LodeFocusVertex, i);
		sum += seen->sampled_samples[one.sampled] * (double)one.share;
	}
	return sum;
}

static void assert_same(GArray *a, GArray *b)
{
	g_assert_cmpuint(a->len, ==, b->len);
	g_assert_true(a->len == 0 ||
		      memcmp(a->data, b->data, (size_t)a->len * g_array_get_element_size(a)) == 0);
}

static void check_bound(bool is_counted)
{
	Case one;

	case_init(&one, is_counted);
	g_autoptr(LodeCandidates) all = lode_candidates_find(one.seen, SIZE_MAX, 2, NULL);
	g_assert_false(all->is_limited);
	g_assert_cmpuint(all->candidates->len, >, 20);
	g_autoptr(LodeCandidates) few = lode_candidates_find(one.seen, n_members(all) / 3, 1, NULL);
	g_assert_true(few->is_limited);
	g_assert_cmpfloat(few->needed, >=, 2 * all->needed);
	g_assert_cmpuint(n_members(few), <=, n_members(all) / 3);
	g_assert_cmpuint(few->candidates->len, >, 0);
	g_assert_cmpuint(few->candidates->len, <, all->candidates->len);
	for (guint i = 0; i < few->candidates->len; i++)
		if (g_array_index(few->candidates, LodeCandidate, i).place == LODE_NONE)
			g_assert_cmpfloat(
				samples_of(few, one.seen, i), >=, few->needed * (1 - 1e-5));
	g_autoptr(LodeCandidates)
		again = lode_candidates_find(one.seen, n_members(all) / 3, 4, NULL);
	assert_same(few->candidates, again->candidates);
	assert_same(few->vertices, again->vertices);
	assert_same(few->blocks, again->blocks);
	g_autoptr(LodeCandidates) none = lode_candidates_find(one.seen, 0, 2, NULL);
	g_assert_cmpuint(none->column_starts->len, ==, none->column_members->len + 1);
	case_clear(&one);
}

static void test_counted(void)
{
	check_bound(true);
}

static void test_alone(void)
{
	check_bound(false);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/candidates/bound/counted", test_counted);
	g_test_add_func("/analyses/candidates/bound/alone", test_alone);
	return g_test_run();
}
