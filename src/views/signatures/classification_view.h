/* SPDX-License-Identifier: MIT */
/* The view of `lode classify`: the workload or the mixture, signatures by distance, the evidence,
 * the places of the rest, and capacity. */
#pragma once

#include "analyses/signatures/capacity.h"
#include "views/form/format.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path;
} LodeClassificationViewOptions;

/* `signatures` as they were classified by; `capacity` NULL: not wanted. Errors: _IO. */
bool lode_classification_view_write(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeClassification *found, const LodeCapacity *capacity,
	const LodeClassificationViewOptions *options, FILE *out, GError **error);

/* The result in a word for programs: "known", "mixture", "none", "few-samples". */
const char *lode_classification_verdict(const LodeClassification *found);

/* The view of `lode classify --over-time`: a row for each slice of a recording. The slices of a
 * recording, GArray of LodeTimeSlice, and GPtrArray of LodeClassification, NULL where there are
 * too few samples. Errors: _IO. */
bool lode_classification_slices_write(const GPtrArray *signatures, const GArray *slices,
	const GPtrArray *found, const LodeClassificationViewOptions *options, FILE *out,
	GError **error);
