/* SPDX-License-Identifier: MIT */
/*
 * Results of stack distances: misses by cache size, and the distances between uses of a line. Both
 * are exact, for fully associative LRU caches.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeStackDistances LodeStackDistances;

/* A cache of so many lines. */
typedef struct {
	uint64_t n_lines;
	uint64_t misses; /* first uses of lines included */
} LodeMissPoint;

/* Uses that found their line at a depth from 2^(i−1) to 2^i − 1, of bin i; at 0, of bin 0. A cache
 * of 2^i lines is the smallest power of two that serves them. */
enum { LODE_REUSE_MAX_BINS = 33 };

typedef struct {
	uint32_t line_bytes;
	uint8_t holds;       /* LODE_CACHE_… bits: the references counted */
	uint64_t n_accesses; /* uses of lines */
	uint64_t n_lines;    /* different ones: the footprint; of a thread, that it used first */
	GArray *points;      /* LodeMissPoint by size: four to an octave, and the footprint last */
	uint64_t reuses[LODE_REUSE_MAX_BINS]; /* Σ + n_lines = n_accesses */
	unsigned n_bins;
	uint32_t thread; /* whose uses these are, in caches that all use; LODE_MISS_CURVE_ALL */
} LodeMissCurve;

#define LODE_MISS_CURVE_ALL UINT32_MAX

/* Never NULL; without accesses there are no points. */
LodeMissCurve *lode_miss_curve_new(LodeStackDistances *distances);

/* The curve of the uses of one thread; its points are those of all threads. */
LodeMissCurve *lode_miss_curve_new_thread(LodeStackDistances *distances, unsigned thread);
void lode_miss_curve_free(LodeMissCurve *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMissCurve, lode_miss_curve_free)

/* Uses by distance, so far. */
void lode_miss_curve_count_reuses(
	LodeStackDistances *distances, uint64_t out_reuses[LODE_REUSE_MAX_BINS]);

/* Misses of all accesses, 0 … 1; 0 without any. */
double lode_miss_curve_ratio(const LodeMissCurve *self, uint64_t misses);

/* "data", "instructions", "all". */
const char *lode_miss_curve_holds_text(uint8_t holds);
