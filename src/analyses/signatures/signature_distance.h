/* SPDX-License-Identifier: MIT */
/*
 * How far a profile is from a signature or from a mixture of several, how far it may be, and which
 * sequences say so (docs/use/classify.md §3).
 * Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/classifying.h"

/* The root mean divergence of the profile and a signature. */
double lode_signature_distance(const LodeClassifying *self, guint j);

/* Sets `limits`. */
void lode_signature_limits_find(LodeClassifying *self);

/*
 * How far the executions of an image, or of all, are from a mixture, and by its parts' limits may
 * be: the Jensen-Shannon divergence is convex in both distributions together (J. Lin, "Divergence
 * Measures Based on the Shannon Entropy", 1991), so that a mixture's square is at most the mean of
 * the squares of its parts.
 */
typedef struct {
	double distance, limit;
} LodeMixtureDistance;

/* `shares` of the signatures and the rest, which is left out. `image`: LODE_NONE for all. */
LodeMixtureDistance lode_mixture_distance(
	const LodeClassifying *self, const double *shares, uint32_t image);

/* Whether two signatures are within the larger of their limits of each other: the root mean
 * divergence over the sequences of the first and all else. */
bool lode_signatures_are_alike(const LodeClassifying *self, guint a, guint b);

/* For: what both have and the other signatures have less of. Against: what adds to the distance. */
void lode_signature_evidence_find(const LodeClassifying *self, guint j, LodeSignatureMatch *match);
