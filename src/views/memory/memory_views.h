/* SPDX-License-Identifier: MIT */
/* What `lode memory` shows, each as text, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/access_callers.h"
#include "analyses/memory/objects/allocation_use.h"
#include "analyses/memory/objects/pivot.h"
#include "analyses/memory/objects/type_layout.h"
#include "views/form/format.h"
#include "views/memory/memory_notes.h"

#include <stdint.h>

/* Where memory was allocated, and the calls that led there, as text, JSON or CSV. Errors: _IO. */
bool lode_memory_allocations_write(const LodeProfile *profile, const LodeAllocationUse *use,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);

/* The calls that lead to the accesses of each data object, as text, JSON or CSV. Errors: _IO. */
bool lode_memory_callers_write(const LodeProfile *profile, const LodeAccessCallers *callers,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);

/* A type's members in order with what happened to each, as text, JSON or CSV. `layouts` is what
 * lode_type_layout_find() gives. Errors: _IO. */
bool lode_memory_layout_write(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);

/* Samples in groups, and in groups of these: what a pivot found, as text, JSON or CSV. JSON nests
 * nothing: a row has its level, and the names of the rows above it. CSV has a column for each
 * level. Addresses are text like "0x7f00", since a number there keeps 53 bits
 * only. Errors: _IO. */
bool lode_memory_pivot_write(const LodeProfile *profile, const LodePivot *pivot,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);

/*
 * Accesses by address: all threads together, and each thread. A screen joins neighbouring cells
 * into lines with a picture of their weights; JSON and CSV have every cell.
 *
 *    weight  loads  stores  shape       from            pages  object, mapping
 *    31.2 %    312       0  ▂▃▅█▇▅▃▂    0x7f0000000000      8  [anon]
 */

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

/*
 * The threads that touched pages first, and those that use them: ranges of pages on a screen, most
 * weight of other threads first; in JSON and CSV each page.
 */

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	uint64_t page_bytes;    /* a power of two */
	const char *const *own; /* as of lode_own_lines_new() */
	bool is_by_address;     /* lowest first, instead of most weight of others */
	uint32_t limit;         /* ranges or pages; 0: all */
	bool has_limit;         /* else a screen's default (20), JSON and CSV all */
} LodeFirstTouchOptions;

/* Text, pages of 4096 bytes. */
void lode_first_touch_options_init(LodeFirstTouchOptions *self);

/* Writes the pages of the samples whose numbers are given, ascending, to `out`; the profile has
 * memory. Errors: _IO. */
bool lode_first_touch_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeFirstTouchOptions *options, FILE *out, GError **error);
