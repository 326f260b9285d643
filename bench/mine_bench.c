/* SPDX-License-Identifier: MIT */
/*
 * Times the miner. Every line is mined in a process of its own, so that its peak of memory is its
 * own; times are medians.
 *
 *   mine_bench                        all cases, as a table
 *   mine_bench CASE [MIN-SUPPORT]     one case, with another threshold when given
 *   LODE_BENCH_DATA=x.flow.zst        the recorded graph for the cases that need it
 */
#include "analyses/mine/miner.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "naive_miner.h"
#include "sources/flow_file/flow_file.h"
#include "synthetic_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNS = 15 };

static const double enough_seconds = 6; /* of runs of one case; then no further run */

typedef struct {
	const char *name;
	const char *shape; /* NULL: the recorded graph */
	double min_support;
	uint32_t gap, window, iterations;
	uint32_t expected; /* sequences; exactly so many in a recorded graph, near it otherwise */
	double target_seconds; /* with two threads */
} Case;

static const Case cases[] = {
	{"paper", "paper", 0.07, 0, 1, 5, 1300, 1.5},
	{"specjvm", "specjvm", 0.01, 0, 0, 5, 64000, 0.5},
	{"method", "method", 0.0222, 0, 0, 5, 291000, 0.5},
	{"sqlite-0.2", NULL, 0.002, 0, 0, 5, 56340, 1.29 / 5},
	{"sqlite-0.5", NULL, 0.005, 0, 0, 5, 20370, 0.90 / 5},
	{"sqlite-wide", NULL, 0.01, 1, 1, 5, 119090, 10},
};

/* What a child tells its parent. */
typedef struct {
	bool is_skipped; /* the recorded graph is not here */
	bool is_complete;
	uint32_t n_graphs, n_vertices, n_sequences;
	double seconds;
	double peak_mib; /* filled in by the parent */
} Result;

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(double), compare_doubles);
	return values[n / 2];
}

static LodeMiningParameters parameters_of(const Case *one, unsigned threads)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.attributes = NULL;
	parameters.min_support = one->min_support;
	parameters.gap = one->gap;
	parameters.window = one->window;
	parameters.iterations = one->iterations;
	parameters.threads = threads;
	return parameters;
}

static Result mine_repeatedly(
	const LodeFlowGraph *graph, const LodeMiningParameters *parameters, unsigned n_runs)
{
	double seconds[MAX_RUNS], sum = 0;
	Result result = {.n_graphs = graph->n_graphs, .n_vertices = graph->n_vertices};
	unsigned n = 0;

	while (n < n_runs && sum < enough_seconds) {
		g_autoptr(GError) error = NULL;
		gint64 start_us = g_get_monotonic_time();
		g_autoptr(LodeMiningRun) run = lode_miner_run(graph, parameters, "b", NULL, &error);
		if (run == NULL) {
			fprintf(stderr, "mine_bench: %s\n", error->message);
			exit(1);
		}
		seconds[n] = (double)(g_get_monotonic_time() - start_us) / 1e6;
		sum += seconds[n++];
		result.n_sequences = run->sequences->len;
		result.is_complete = run->is_complete;
	}
	result.seconds = median(seconds, n);
	return result;
}

static LodeFlowGraph *read_graph(const char *path)
{
	LodeMiningParameters parameters;
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = lode_flow_file_read(path, NULL, &error);
	LodeFlowGraph *graph = NULL;

	lode_mining_parameters_init(&parameters);
	parameters.attributes = NULL;
	if (profile != NULL)
		graph = lode_flow_graph_build(profile, &parameters, &error);
	if (graph == NULL)
		fprintf(stderr, "mine_bench: %s\n", error->message);
	return graph;
}

static LodeFlowGraph *graph_of(const Case *one)
{
	const char *path = g_getenv("LODE_BENCH_DATA");

	if (one->shape != NULL)
		return synthetic_graph_new(synthetic_shape_find(one->shape));
	if (path == NULL || !g_file_test(path, G_FILE_TEST_EXISTS))
		return NULL;
	return read_graph(path);
}

/* A single run where the caller tries out thresholds. */
static unsigned runs_for(const Case *one)
{
	return one->expected == 0 ? 1 : MAX_RUNS;
}

static Result mine_case(const Case *one, unsigned threads)
{
	LodeMiningParameters parameters = parameters_of(one, threads);
	g_autoptr(LodeFlowGraph) graph = graph_of(one);

	if (graph == NULL)
		return (Result){.is_skipped = true};
	return mine_repeatedly(graph, &parameters, runs_for(one));
}

/* Mines in a child, which also makes the graph: a parent's peak of memory would be its child's. */
static bool mine_apart(const Case *one, unsigned threads, Result *out)
{
	struct rusage usage;
	int pipe_ends[2], status;

	if (pipe(pipe_ends) != 0)
		return false;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		Result result = mine_case(one, threads);
		_exit(write(pipe_ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
	}
	close(pipe_ends[1]);
	bool is_read = child > 0 && read(pipe_ends[0], out, sizeof(*out)) == sizeof(*out);
	close(pipe_ends[0]);
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		return false;
	out->peak_mib = (double)usage.ru_maxrss / 1024;
	return is_read && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Whether the number of sequences is what it has to be. */
static bool print_case(const Case *one)
{
	Result alone, both;

	if (!mine_apart(one, 1, &alone) || !mine_apart(one, 2, &both)) {
		printf("%-11s failed\n", one->name);
		return false;
	}
	if (alone.is_skipped) {
		printf("%-11s skipped: set LODE_BENCH_DATA to the recorded graph\n", one->name);
		return true;
	}
	bool is_equal = alone.n_sequences == both.n_sequences &&
	                (one->shape != NULL || both.n_sequences == one->expected ||
				one->expected == 0);
	printf("%-11s %9u %9u %6.2f %1u %1u %1u %9u %9u%s %8.3f %8.3f %6.2f %8.3f %8.0f %s\n",
		one->name, both.n_graphs, both.n_vertices, one->min_support * 100, one->window,
		one->gap, one->iterations, one->expected, both.n_sequences,
		both.is_complete ? " " : "+", alone.seconds, both.seconds,
		alone.seconds / both.seconds, one->target_seconds, both.peak_mib,
		!is_equal                             ? "WRONG NUMBER"
		: both.seconds <= one->target_seconds ? "ok"
						      : "slow");
	return is_equal;
}

/* A graph that the naive miner can do. */
static void print_naive_ratio(void)
{
	static const SyntheticShape shape = {"naive", 4, 1200, 30, 1.0, 0.5, 0, 0.05, 4};
	g_autoptr(LodeFlowGraph) graph = synthetic_graph_new(&shape);
	LodeMiningParameters parameters = parameters_of(
		&(Case){.min_support = 0.01, .window = 1, .gap = 1, .iterations = 3}, 1);
	gint64 start_us = g_get_monotonic_time();
	g_autoptr(LodeMiningRun) run = naive_miner_run(graph, &parameters);
	double naive_seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
	Result real = mine_repeatedly(graph, &parameters, MAX_RUNS);

	printf("naive miner, %u vertices, window 1, gap 1: %.3f s; lode, one thread: %.4f s; "
	       "ratio %.0f; %u and %u sequences%s\n",
		graph->n_vertices, naive_seconds, real.seconds, naive_seconds / real.seconds,
		run->sequences->len, real.n_sequences,
		run->sequences->len == real.n_sequences ? "" : ": WRONG NUMBER");
}

int main(int argc, char **argv)
{
	bool is_ok = true;

	printf("%-11s %9s %9s %6s w g L %9s %10s %8s %8s %6s %8s %8s\n", "case", "graphs",
		"vertices", "min %", "wanted", "sequences ", "1 thr s", "2 thr s", "ratio",
		"target s", "peak MiB");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		Case one = cases[i];
		if (argc > 1 && strcmp(argv[1], one.name) != 0)
			continue;
		if (argc > 2) {
			one.min_support = g_ascii_strtod(argv[2], NULL);
			one.expected = 0;
		}
		is_ok &= print_case(&one);
	}
	if (argc == 1)
		print_naive_ratio();
	return is_ok ? 0 : 1;
}
