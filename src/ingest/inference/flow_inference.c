/* SPDX-License-Identifier: MIT */
/* The steps of an inference: the cheapest flow, made even, made connected. */
#include "ingest/inference/flow_inference.h"

#include "ingest/inference/flow_network.h"

#include <string.h>

/* A few seconds; real functions need a thousandth of it. */
static const uint64_t default_max_work = UINT64_C(1) << 29;

static void check_graph(const LodeInferenceGraph *graph, double unit)
{
	g_assert(unit > 0);
	for (uint32_t e = 0; e < graph->n_edges; e++)
		g_assert(graph->edges[e].source < graph->n_blocks &&
			 graph->edges[e].target < graph->n_blocks);
}

static void take_counts(const LodeFlowNetwork *network, const LodeInferenceGraph *graph,
	double unit, LodeInferenceResult *out)
{
	memset(out->blocks, 0, graph->n_blocks * sizeof(double));
	if (graph->n_edges > 0)
		memset(out->edges, 0, graph->n_edges * sizeof(double));
	for (uint32_t i = 0; i < network->n_arcs; i++) {
		const LodeFlowArc *arc = &network->arcs[i];
		double count = (double)arc->flow * unit;
		if (arc->item < graph->n_blocks)
			out->blocks[arc->item] = count;
		else if (arc->item != LODE_FLOW_OUTSIDE)
			out->edges[arc->item - graph->n_blocks] = count;
	}
}

bool lode_flow_inference_solve(const LodeInferenceGraph *graph, const LodeInferenceOptions *options,
	LodeInferenceResult *out, GError **error)
{
	g_auto(LodeFlowNetwork) network = {0};
	uint64_t max_work = options->max_work == 0 ? default_max_work : options->max_work;
	bool is_optimal;
	uint64_t n_joined;

	check_graph(graph, options->unit);
	if (graph->n_blocks == 0) {
		out->is_optimal = true;
		out->n_joined = 0;
		return true;
	}
	if (!lode_flow_network_init(&network, graph, options, error) ||
		!lode_flow_network_solve(&network, max_work, &is_optimal, error) ||
		!lode_flow_network_balance(&network, max_work, error) ||
		!lode_flow_network_join(&network, &n_joined, error))
		return false;
	take_counts(&network, graph, options->unit, out);
	out->is_optimal = is_optimal;
	out->n_joined = n_joined;
	return true;
}

bool lode_flow_inference_run(const LodeInferenceGraph *graph, double unit, double *out_blocks,
	double *out_edges, GError **error)
{
	LodeInferenceOptions options = {.unit = unit};
	LodeInferenceResult result = {.blocks = out_blocks, .edges = out_edges};

	return lode_flow_inference_solve(graph, &options, &result, error);
}

static double wanted_flow(const LodeFlowNetwork *network, const LodeFlowArc *arc, uint32_t n_blocks,
	const double *entered, const LodeInferenceResult *flow)
{
	if (arc->item < n_blocks)
		return flow->blocks[arc->item];
	if (arc->item != LODE_FLOW_OUTSIDE)
		return flow->edges[arc->item - n_blocks];
	return arc->source == network->hub ? entered[arc->target / 2] : 0;
}

/* The flow from a block to outside is what no edge takes. */
static double *wanted_flows(const LodeFlowNetwork *network, const LodeInferenceGraph *graph,
	double unit, const double *entered, const LodeInferenceResult *flow)
{
	double *wanted = g_new0(double, MAX(network->n_arcs, 1));
	g_autofree double *left = g_memdup2(flow->blocks, graph->n_blocks * sizeof(double));

	for (uint32_t e = 0; e < graph->n_edges; e++)
		left[graph->edges[e].source] -= flow->edges[e];
	for (uint32_t i = 0; i < network->n_arcs; i++) {
		const LodeFlowArc *arc = &network->arcs[i];
		wanted[i] = wanted_flow(network, arc, graph->n_blocks, entered, flow) / unit;
		if (arc->target == network->hub)
			wanted[i] = MAX(left[arc->source / 2], 0) / unit;
	}
	return wanted;
}

bool lode_flow_inference_round(const LodeInferenceGraph *graph, double unit, const double *entered,
	LodeInferenceResult *flow)
{
	const LodeInferenceOptions options = {.unit = unit};
	g_auto(LodeFlowNetwork) network = {0};
	uint64_t n_joined;

	check_graph(graph, unit);
	if (graph->n_blocks == 0 || !lode_flow_network_init(&network, graph, &options, NULL))
		return false;
	g_autofree double *wanted = wanted_flows(&network, graph, unit, entered, flow);
	if (!lode_flow_network_round(&network, wanted, default_max_work, NULL) ||
		!lode_flow_network_join(&network, &n_joined, NULL))
		return false;
	take_counts(&network, graph, unit, flow);
	flow->is_optimal = true;
	flow->n_joined = n_joined;
	return true;
}
