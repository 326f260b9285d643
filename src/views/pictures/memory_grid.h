/* SPDX-License-Identifier: MIT */
/*
 * The samples of a plot counted into the boxes that will be drawn:
 *
 *   by_thread[kind][column][row]   threads × addresses; a column is one thread, or a few
 *   by_time[row][step]             addresses × time, and which kinds of access there were
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeAddressAxis LodeAddressAxis;
typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_GRID_LOAD,
	LODE_GRID_STORE,
	LODE_GRID_UNKNOWN, /* neither is known */
	LODE_GRID_N_KINDS,
} LodeGridKind;

enum { LODE_GRID_STEPS = 180, LODE_GRID_MAX_COLUMNS = 128 };

typedef struct {
	LodeAddressAxis *axis;
	GArray *threads; /* uint32_t: those with accesses, ascending */
	uint32_t threads_per_column, n_columns;
	double *by_thread;         /* weight; an access that loads and stores is in both */
	double *by_time;           /* weight, each access once */
	uint8_t *kinds;            /* [row][step]: bit k for LodeGridKind k */
	uint32_t *time_columns;    /* [row][step]: the threads with most weight; LODE_NONE: none */
	uint64_t begin_ns, end_ns; /* of the samples with a time; begin > end: none has one */
	uint64_t n_samples, n_without_time;
	double weight; /* of all samples, also on rows that the axis left out */
	bool has_unknown;
	bool is_traced;  /* times are numbers of references */
	GArray *extents; /* LodeObjectExtent, of a part: the heaviest objects there; else empty */
} LodeMemoryGrid;

/* Where in a part an object was accessed. */
typedef struct {
	uint32_t object;
	uint64_t first, last; /* the lowest and the highest address */
	double weight;
} LodeObjectExtent;

/* Made of the samples that a histogram counts. NULL: it was stopped. */
LodeMemoryGrid *lode_memory_grid_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, uint64_t granularity, const LodeProgress *progress);

/* A part of the picture, to scale: a tile of one that is moved about. */
typedef struct {
	uint64_t first, last;      /* addresses of bytes; both belong to it */
	uint64_t begin_ns, end_ns; /* likewise */
	uint32_t n_rows;           /* at most so many, 1 … LODE_GRID_MAX_PART_ROWS */
} LodeMemoryGridPart;

enum { LODE_GRID_MAX_PART_ROWS = 1024, LODE_GRID_MAX_EXTENTS = 64 };

/* The data that parts are made of, found once for all of them: the samples that a histogram counts,
 * by time. It is never changed, and does not hold the profile. NULL: it was stopped. */
typedef struct LodeMemoryGridParts LodeMemoryGridParts;

LodeMemoryGridParts *lode_memory_grid_parts_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeProgress *progress);
LodeMemoryGridParts *lode_memory_grid_parts_ref(LodeMemoryGridParts *self);
void lode_memory_grid_parts_unref(LodeMemoryGridParts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryGridParts, lode_memory_grid_parts_unref)

/* The time of the profile's first sample, at which `time` in expressions is 0. */
uint64_t lode_memory_grid_parts_first_time(const LodeMemoryGridParts *self);

/* Made of the samples that lie in the part, with columns for the threads of all samples. It takes
 * time for the samples in its range of time only. NULL: it was stopped. */
LodeMemoryGrid *lode_memory_grid_new_part(const LodeProfile *profile,
	const LodeMemoryGridParts *parts, const LodeMemoryGridPart *part,
	const LodeProgress *progress);
void lode_memory_grid_free(LodeMemoryGrid *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryGrid, lode_memory_grid_free)

/* The title of the axis of time, and the unit that makes its numbers short. */
typedef struct {
	const char *title;
	double factor;
} LodeGridTimeUnit;

LodeGridTimeUnit lode_memory_grid_time_unit(const LodeMemoryGrid *self);

double lode_memory_grid_by_thread(
	const LodeMemoryGrid *self, LodeGridKind kind, uint32_t column, uint32_t row);
