/* SPDX-License-Identifier: MIT */
/*
 * Findings from the terms of a fitted model: the elements that people read, what the explained
 * weight has in common, and where it lies.
 *
 * Private to analyses/findings/.
 */
#pragma once

#include "analyses/findings/candidates.h"

typedef struct LodeCostModel LodeCostModel;
typedef struct LodeFindings LodeFindings;

enum { LODE_FITTED_MAX_PARTS = 2 };

/* An attribute that names a cause is shown when this share of a finding's weight has it: a few
 * places that cost as much by chance must not hide it. */
#define LODE_COMMON_CAUSE_SHARE 0.8

/* Candidates that were chosen, and the models of the samples of one or two profiles, in which each
 * is a term. */
typedef struct {
	const LodeObservations *seen; /* of all parts */
	const LodeCandidates *candidates;
	const GArray *chosen; /* uint32_t: candidate of each term */
	const LodeCostModel *models[LODE_FITTED_MAX_PARTS];
	unsigned n_parts;
} LodeFittedFindings;

/* Adds the findings of each part to outs[part], with the same elements, in the order in which they
 * were chosen; the elements themselves only to the first one. */
void lode_fitted_findings_describe(const LodeFittedFindings *self, LodeFindings *const *outs);
