/* SPDX-License-Identifier: MIT */
/*
 * From samples and executions to findings: the patterns and places that explain the cost, with what
 * an execution of each costs. docs/findings.md has the definitions: candidates are chosen by how
 * much better the model (cost_model.h) explains the samples with them, less what they take to
 * describe (minimum description length: J. Rissanen 1978; pattern sets by it: J. Vreeken,
 * M. van Leeuwen, A. Siebes, "Krimp", 2011).
 */
#pragma once

#include "base/progress.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"

/*
 * Fits the findings of a profile. Of the parameters, the weight, the attributes, the excludes, the
 * event rate, the images and the functions count; vertices are instructions, and calls and returns
 * are followed, whatever else they say. A profile without weight has none. The result does not
 * depend on the number of threads; the caller owns it. Errors: _NOT_FOUND, _USAGE (as
 * lode_flow_graph_build()), _CANCELLED.
 */
LodeFindings *lode_findings_fit(const LodeProfile *profile, const LodeMiningParameters *parameters,
	const LodeProgress *progress, GError **error);
