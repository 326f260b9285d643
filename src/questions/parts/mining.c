/* SPDX-License-Identifier: MIT */
#include "questions/parts/mining.h"

#include "analyses/findings/findings.h"
#include "analyses/flow_graph/flow_graph.h"
#include "analyses/mine/instruction_miner.h"
#include "analyses/mine/miner.h"
#include "model/findings.h"
#include "model/mining_run.h"

#include <math.h>

LodeMiningRun *lode_mine_sequences(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const char *name, const LodeProgress *progress,
	GError **error)
{
	g_autoptr(LodeFlowGraph) efg = lode_flow_graph_build(profile, parameters, error);
	LodeMiningRun *run = efg != NULL ? lode_miner_run(efg, parameters, name, progress, error)
	                                 : NULL;

	if (run != NULL)
		lode_mining_run_round(run);
	return run;
}

LodeMiningRun *lode_mine(const LodeProfile *profile, const LodeMiningParameters *parameters,
	const char *name, const LodeProgress *progress, GError **error)
{
	if (parameters->is_instruction_mode)
		return lode_instruction_miner_run(profile, parameters, name, progress, error);
	gint64 start_us = g_get_monotonic_time();
	g_autoptr(LodeFindings) findings = lode_findings_fit(profile, parameters, progress, error);
	if (findings == NULL)
		return NULL;
	double seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
	LodeMiningRun *run = NULL;
	if (parameters->only_findings) {
		run = lode_mining_run_new(name, parameters);
		run->seconds = seconds;
	} else {
		run = lode_mine_sequences(profile, parameters, name, progress, error);
	}
	if (run != NULL)
		run->findings = g_steal_pointer(&findings);
	return run;
}

LodeMiningRun *lode_mine_costliest(const LodeProfile *profile,
	const LodeMiningParameters *parameters, uint32_t n, const char *name,
	const LodeProgress *progress, GError **error)
{
	LodeMiningParameters higher = *parameters;
	g_autoptr(LodeFlowGraph) efg = lode_flow_graph_build(profile, parameters, error);

	double support = 0.5;
	while (efg != NULL) {
		higher.min_support = fmax(support, parameters->min_support);
		LodeMiningRun *run = lode_miner_run(efg, &higher, name, progress, error);
		if (run == NULL)
			return NULL;
		if (run->sequences->len >= n || support <= parameters->min_support) {
			lode_mining_run_round(run);
			return run;
		}
		support *= run->sequences->len < n / 16 ? 0.5 : M_SQRT1_2;
		lode_mining_run_free(run);
	}
	return NULL;
}

LodeMiningRun *lode_mine_by_default(
	const LodeProfile *profile, const char *name, const LodeProgress *progress, GError **error)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.min_support = lode_mining_default_support(profile, NULL);
	parameters.only_findings = true;
	return lode_mine(profile, &parameters, name, progress, error);
}

LodeMiningRun *lode_mine_part(const LodeProfile *profile, const LodeMiningRun *like,
	const LodeProfileChoice *choice, bool has_sequences, const LodeProgress *progress,
	GError **error)
{
	LodeMiningParameters parameters = like->parameters;

	if (choice->origins != NULL)
		parameters.origins = choice->origins;
	if (choice->event != NULL)
		parameters.weight = NULL; /* the profile's */
	parameters.only_findings = !has_sequences && !parameters.is_instruction_mode;
	/* A part has fewer samples and needs a larger support. */
	parameters.min_support = fmax(
		parameters.min_support, lode_mining_default_support(profile, parameters.weight));
	return lode_mine(profile, &parameters, like->name, progress, error);
}
