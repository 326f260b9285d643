/* SPDX-License-Identifier: MIT */
/* The view of `lode classify --over-time`: a row for each slice of a recording. */
#pragma once

#include "views/signatures/classification_view.h"

/* The slices of a recording, GArray of LodeTimeSlice, and GPtrArray of LodeClassification, NULL
 * where there are too few samples. Errors: _IO. */
bool lode_classification_slices_write(const GPtrArray *signatures, const GArray *slices,
	const GPtrArray *found, const LodeClassificationViewOptions *options, FILE *out,
	GError **error);
