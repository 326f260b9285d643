/* SPDX-License-Identifier: MIT */
/*
 * Data addresses as a picture of two panels that share their axis of addresses:
 *
 *   mappings,   ┌─────────┐ ┌──────────────────┐
 *   addresses   │ threads │ │ time             │    loads blue, stores orange, darker is more
 *               └─────────┘ └──────────────────┘
 */
#pragma once

#include "views/plot/plot_canvas.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodePlotFormat format;
	uint64_t granularity; /* bytes, a power of two */
	bool colours_threads; /* over time: by the thread with most weight, not by the kind of
	                         access */
} LodeMemoryPlotOptions;

/* Draws the samples whose numbers are given, ascending; the profile has memory. Errors: _IO. */
bool lode_memory_plot_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeMemoryPlotOptions *options, FILE *out, GError **error);
