/* SPDX-License-Identifier: MIT */
/* What `lode classify` shows: the workload or the mixture, signatures by distance, the evidence,
 * and where the rest is. */
#pragma once

#include "analyses/signatures/classification.h"
#include "views/format.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path;
} LodeClassificationViewOptions;

/* `signatures` as they were classified by. Errors: _IO. */
bool lode_classification_view_write(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeClassification *found, const LodeClassificationViewOptions *options, FILE *out,
	GError **error);
