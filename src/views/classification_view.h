/* SPDX-License-Identifier: MIT */
/* What `lode classify` shows: the workload or the mixture, signatures by distance, the evidence,
 * and where the rest is, capacity. */
#pragma once

#include "analyses/signatures/capacity.h"
#include "views/format.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path;
} LodeClassificationViewOptions;

/* `signatures` as they were classified by; `capacity` NULL: not asked for. Errors: _IO. */
bool lode_classification_view_write(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeClassification *found, const LodeCapacity *capacity,
	const LodeClassificationViewOptions *options, FILE *out, GError **error);

/* What the profile is, in a word for programs: "known", "mixture", "none",
 * "few-samples". */
const char *lode_classification_verdict(const LodeClassification *found);
