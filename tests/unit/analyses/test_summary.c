/* SPDX-License-Identifier: MIT */
/* The summary tree against one built by brute force, and what it promises whoever reads it. */
#include "analyses/mine/summary.h"

#include "analyses/mine/miner.h"
#include "base/error.h"
#include "naive_marks.h"
#include "naive_summary.h"
#include "random_case.h"
#include "run_comparison.h"
#include "seeds.h"

enum { CASES = 300, MAX_SEQUENCES = 250 };

static char *lines_text(const LodeMiningRun *run, const GArray *lines)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < lines->len; i++) {
		const LodeSummaryLine *line = &g_array_index(lines, LodeSummaryLine, i);
		g_autofree char *key = run_sequence_key(run, line->sequence);
		g_string_append_printf(text, "%*s%s: new %.12g, %u variants, ratio %.12g\n",
			(int)(2 * line->depth), "", key, line->new_weight, (unsigned)line->variants,
			line->cost_ratio);
	}
	return g_string_free(text, FALSE);
}

static bool lines_are_equal(const LodeSummaryLine *a, const LodeSummaryLine *b)
{
	return a->sequence == b->sequence && a->depth == b->depth && a->variants == b->variants &&
	       supports_are_equal(a->new_weight, b->new_weight) &&
	       supports_are_equal(a->cost_ratio, b->cost_ratio);
}

static bool trees_are_equal(const GArray *a, const GArray *b)
{
	bool is_equal = a->len == b->len;

	for (guint i = 0; i < a->len && is_equal; i++)
		is_equal = lines_are_equal(&g_array_index(a, LodeSummaryLine, i),
			&g_array_index(b, LodeSummaryLine, i));
	return is_equal;
}

/* NULL or which promise is broken. */
static const char *broken_promise(
	const LodeMiningRun *run, const GArray *lines, const LodeSummaryOptions *options)
{
	uint32_t above[4] = {0}, n_children[5] = {0}, depth_before = 0;

	for (guint i = 0; i < lines->len; i++) {
		const LodeSummaryLine *line = &g_array_index(lines, LodeSummaryLine, i);
		if (line->depth > 3 || line->depth > (i == 0 ? 0 : depth_before + 1))
			return "a line is too deep";
		if (line->depth > 0 &&
			!naive_is_contained(run, above[line->depth - 1], line->sequence))
			return "a line is no super-sequence of the one above";
		if (++n_children[line->depth] > (line->depth == 0 ? options->limit : 3))
			return "too many lines at one place";
		if (options->is_eligible != NULL && !options->is_eligible[line->sequence])
			return "a line is not eligible";
		for (guint j = 0; j < i; j++)
			if (g_array_index(lines, LodeSummaryLine, j).sequence == line->sequence)
				return "a sequence stands there twice";
		n_children[line->depth + 1] = 0;
		above[line->depth] = line->sequence;
		depth_before = line->depth;
	}
	return NULL;
}

/* Whether the case was compared in full; `out_is_ok` false: the test has failed. */
static bool check_case(const RandomCase *random, const LodeMiningRun *run, bool *out_is_ok)
{
	g_autofree bool *is_eligible = g_new0(bool, run->sequences->len + 1);
	LodeSummaryOptions options = {
		.order = (LodeSummaryOrder)(random->seed % 5), .limit = 1 + random->seed % 6};
	bool is_doubtful;

	for (guint i = 0; i < run->sequences->len; i++)
		is_eligible[i] = (i * 7 + random->seed) % 3 != 0;
	options.is_eligible = random->seed % 4 == 0 ? is_eligible : NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) actual = lode_summary_build(random->graph, run, &options, NULL, &error);
	g_assert_no_error(error);
	const char *broken = broken_promise(run, actual, &options);
	g_autoptr(GArray)
		expected = naive_summary_build(random->graph, run, &options, &is_doubtful);
	*out_is_ok = broken == NULL && (is_doubtful || trees_are_equal(expected, actual));
	if (!*out_is_ok) {
		g_autofree char *want = lines_text(run, expected);
		g_autofree char *have = lines_text(run, actual);
		random_case_fail(random, "%s: order %d, limit %u\n%snot\n%s",
			broken != NULL ? broken : "differs", (int)options.order, options.limit,
			have, want);
	}
	return !is_doubtful;
}

static void test_random_graphs(void)
{
	uint32_t n_compared = 0;

	for (uint32_t seed = 5000; seed < 5000 + CASES; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(GError) error = NULL;
		bool is_ok = true;
		g_autoptr(LodeMiningRun)
			run = lode_miner_run(random->graph, &random->parameters, "r", NULL, &error);
		g_assert_no_error(error);
		if (run->sequences->len <= MAX_SEQUENCES)
			n_compared += check_case(random, run, &is_ok);
		if (!is_ok)
			return;
	}
	g_test_message("%u trees compared", n_compared);
	g_assert_cmpuint(n_compared, >, CASES / 4);
}

static void test_default_is_added(void)
{
	const LodeSummaryOptions options = {
		.order = LODE_SUMMARY_BY_EXCESS, .limit = LODE_SUMMARY_LIMIT};
	g_autoptr(RandomCase) random = random_case_new(5001);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun)
		run = lode_miner_run(random->graph, &random->parameters, "r", NULL, &error);

	g_assert_no_error(error);
	g_assert_null(run->summary);
	g_assert_true(lode_summary_add(random->graph, run, NULL, &error));
	g_autoptr(GArray) expected = lode_summary_build(random->graph, run, &options, NULL, &error);
	g_assert_cmpuint(expected->len, >, 0);
	g_assert_true(trees_are_equal(expected, run->summary));
}

static void test_cancelled(void)
{
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(RandomCase) random = random_case_new(5001);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun)
		run = lode_miner_run(random->graph, &random->parameters, "r", NULL, &error);

	g_assert_no_error(error);
	g_assert_true(lode_summary_add(random->graph, run, NULL, &error));
	g_cancellable_cancel(cancellable);
	g_assert_false(lode_summary_add(random->graph, run, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	g_assert_null(run->summary);
}

/* Two sequences of the same vertices: one line, the longer one. */
static void test_repeats_are_folded(void)
{
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(NULL, 0);
	const char *const dear[] = {"kind:load", "ev:miss"};
	const char *const cheap[] = {"op:add"};
	LodeSummaryOptions options = {.limit = 15};
	LodeMiningParameters parameters;
	g_autoptr(GError) error = NULL;

	lode_flow_graph_builder_add_graph(builder, 0);
	uint32_t a = lode_flow_graph_builder_add_vertex(builder, 1000, 10, dear, 2, NULL);
	uint32_t b = lode_flow_graph_builder_add_vertex(builder, 100, 100, cheap, 1, NULL);
	lode_flow_graph_builder_add_edge(builder, a, b, 10);
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_builder_finish(builder);
	lode_mining_parameters_init(&parameters);
	g_autoptr(LodeMiningRun) run = lode_miner_run(graph, &parameters, "r", NULL, &error);
	g_assert_no_error(error);
	g_autoptr(GArray) lines = lode_summary_build(graph, run, &options, NULL, &error);
	g_assert_no_error(error);
	const LodeSummaryLine *first = &g_array_index(lines, LodeSummaryLine, 0);
	g_autofree char *key = run_sequence_key(run, first->sequence);
	g_assert_cmpstr(key, ==, "ev:miss kind:load → op:add");
	g_assert_cmpuint(first->variants, >=, 3);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/summary/random-graphs", test_random_graphs);
	g_test_add_func("/summary/default-is-added", test_default_is_added);
	g_test_add_func("/summary/cancelled", test_cancelled);
	g_test_add_func("/summary/repeats-are-folded", test_repeats_are_folded);
	return g_test_run();
}
