/* SPDX-License-Identifier: MIT */
/*
 * The events of an address trace: references by kind, and misses of the caches that it is replayed
 * through, as columns of a recording and under the names that measured misses have.
 * Private to ingest/traced/.
 */
#pragma once

#include "caches/cache_simulation.h"
#include "sources/recording.h"

#include <glib.h>

/* The sum of all data references. */
#define LODE_TRACED_ACCESSES "accesses"

typedef struct {
	/* The column of each cache and kind of reference; LODE_NONE: none. */
	uint32_t columns[LODE_HIERARCHY_MAX_CACHES][LODE_N_REFERENCE_KINDS];
	/* For each cache, the sum in recording->sums of its misses of data. */
	uint32_t sums[LODE_HIERARCHY_MAX_CACHES];
	/* For each class of misses of data in the first level, a column and a sum; LODE_NONE: they
	 * are not classified. */
	uint32_t class_columns[LODE_N_MISS_CLASSES], class_sums[LODE_N_MISS_CLASSES];
} LodeTracedMisses;

/* Names the columns and sums; `hierarchy` NULL: there are no caches. */
void lode_traced_misses_init(LodeTracedMisses *self, LodeRecording *recording,
	const LodeHierarchy *hierarchy, bool classifies);
