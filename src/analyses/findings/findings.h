/* SPDX-License-Identifier: MIT */
/*
 * From samples and executions to findings: the patterns and places that explain the cost, with what
 * an execution of each costs. docs/inside/finding-model.md has the definitions: candidates are
 * chosen by how much better the model (cost_model.h) explains the samples with them, less their
 * description length (minimum description length: J. Rissanen 1978; pattern sets by it: J. Vreeken,
 * M. van Leeuwen, A. Siebes, "Krimp", 2011).
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeFindings LodeFindings;
typedef struct LodeMiningParameters LodeMiningParameters;
typedef struct LodeProfile LodeProfile;

/*
 * Fits the findings of a profile. The parameters used are the weight, the attributes, the excludes,
 * the event rate, the images and the functions; vertices are always instructions, and calls and
 * returns are followed. A profile without weight has none. The result does not depend on the number
 * of threads; the caller owns it. Errors: _NOT_FOUND, _USAGE (as lode_flow_graph_build()),
 * _CANCELLED.
 */
LodeFindings *lode_findings_fit(const LodeProfile *profile, const LodeMiningParameters *parameters,
	const LodeProgress *progress, GError **error);

/* How often what a finding is charged for executed, to compare it between profiles. */
typedef struct {
	double value, error; /* and its standard error */
} LodeExposure;

/* Findings of two profiles: finding i is of the same pattern or place in both. */
typedef struct {
	LodeFindings *sides[2]; /* in the order in which they were chosen, not by time */
	/* LodeExposure of each finding: executions, where both were counted; else the weight that
	 * so many executions of the average instructions around it have. Times `each` it is the
	 * weight that the finding explains. */
	GArray *exposures[2];
} LodeSharedFindings;

/*
 * Fits the findings that explain both profiles best: chosen on the sum of their log-likelihoods,
 * described once, and fitted to each by itself. Where one of them has no counted executions,
 * neither is taken to have any. `counterparts`: the instruction of the second profile that is the
 * same, of each of the first, or LODE_NONE; NULL: of all. Otherwise as lode_findings_fit().
 */
LodeSharedFindings *lode_findings_fit_shared(const LodeProfile *const profiles[2],
	const LodeMiningParameters *parameters, const uint32_t *counterparts,
	const LodeProgress *progress, GError **error);
void lode_shared_findings_free(LodeSharedFindings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSharedFindings, lode_shared_findings_free)
