/* SPDX-License-Identifier: MIT */
/*
 * Accesses by address: all threads together, and each thread. A screen joins neighbouring cells
 * into lines with a picture of their weights; JSON and CSV have every cell.
 *
 *    weight  loads  stores  shape       from            pages  object, mapping
 *    31.2 %    312       0  ▂▃▅█▇▅▃▂    0x7f0000000000      8  [anon]
 */
#pragma once

#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_HISTOGRAM_BY_WEIGHT, /* largest first */
	LODE_HISTOGRAM_BY_LOADS,
	LODE_HISTOGRAM_BY_STORES,
	LODE_HISTOGRAM_BY_ADDRESS, /* lowest first */
} LodeHistogramSort;

typedef enum {
	LODE_HISTOGRAM_OVERVIEW,  /* text: all together and the heaviest threads; else each */
	LODE_HISTOGRAM_TOGETHER,  /* all threads together */
	LODE_HISTOGRAM_BY_THREAD, /* each thread */
} LodeHistogramScope;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	uint64_t granularity; /* bytes, a power of two */
	LodeHistogramSort sort;
	LodeHistogramScope scope;
	uint32_t limit; /* lines or cells of each table; 0: all */
	bool has_limit; /* else a screen's default (15, 5 of each thread), JSON and CSV all */
} LodeMemoryHistogramOptions;

/* Text, pages, heaviest first. */
void lode_memory_histogram_options_init(LodeMemoryHistogramOptions *self);

/* "weight", "loads", "stores", "address"; false for another word. */
bool lode_histogram_sort_from_text(const char *text, LodeHistogramSort *out_sort);

/* Writes the samples whose numbers are given, ascending, to `out`; the profile has memory.
 * Errors: _IO. */
bool lode_memory_histogram_write(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeMemoryHistogramOptions *options, FILE *out, GError **error);
