/* SPDX-License-Identifier: MIT */
/*
 * Samples in groups, and those in groups again:
 *
 *   by type, then by line          weight  samples
 *     struct node                      70       70
 *       list.c:21                      60       60
 *       list.c:24                      10       10
 *     (2 others)                       10       10
 *     (none)                           20       20    what has no type
 *
 * Nothing is left out: the rows below one add up to it, and the first level to the total.
 */
#pragma once

#include "analyses/memory/access_totals.h"
#include "analyses/memory/expressions/expression_value.h"
#include "base/progress.h"

typedef struct LodeProfile LodeProfile;

enum { LODE_PIVOT_MAX_LEVELS = 4 };

typedef enum {
	LODE_PIVOT_SORT_WEIGHT,
	LODE_PIVOT_SORT_SAMPLES,
	LODE_PIVOT_SORT_LOADS,
	LODE_PIVOT_SORT_STORES,
	LODE_PIVOT_SORT_LATENCY,
	LODE_PIVOT_SORT_KEY, /* ascending; all others descending */
	LODE_N_PIVOT_SORTS,
} LodePivotSort;

typedef struct {
	const char *by[LODE_PIVOT_MAX_LEVELS]; /* attributes, definitions, or any expression */
	unsigned n_levels;                     /* at least 1 */
	const char *const *definitions;        /* NULL-terminated, or NULL */
	const char *const *own;                /* likewise, as of lode_own_lines_new() */
	LodePivotSort sort;
	uint32_t top;                 /* rows of each group, what lacks a value apart; 0: all */
	const LodeProgress *progress; /* to stop by; NULL: it cannot be stopped */
} LodePivotOptions;

typedef enum {
	LODE_PIVOT_VALUE,
	LODE_PIVOT_OTHERS, /* what `top` cut off, together */
	LODE_PIVOT_NONE,   /* what has no value */
} LodePivotRowKind;

typedef struct {
	LodePivotRowKind kind;
	uint32_t level;    /* from 0 */
	uint32_t parent;   /* row; LODE_NONE */
	uint32_t n_others; /* groups, of OTHERS */
	LodeValue key;     /* of VALUE */
	LodeAccessTotals totals;
} LodePivotRow;

typedef struct LodePivotGroups LodePivotGroups;

typedef struct {
	unsigned n_levels;
	const char *titles[LODE_PIVOT_MAX_LEVELS]; /* as given; borrowed from the options */
	bool is_hex[LODE_PIVOT_MAX_LEVELS];
	LodeAccessTotals total;
	GArray *rows;            /* LodePivotRow, each before those below it */
	LodePivotGroups *groups; /* private: owns the texts of the keys */
} LodePivot;

/*
 * `samples` are numbers, ascending; page faults are left out unless there is nothing else. Rows of
 * one group come in the order of `sort`, equal ones by their keys; others and none stand last.
 * Threads are grouped by process and lines by file as well. Errors: _USAGE, _LIMIT,
 * _CANCELLED.
 */
LodePivot *lode_pivot_new(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodePivotOptions *options, GError **error);
void lode_pivot_free(LodePivot *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePivot, lode_pivot_free)

/* "weight", "samples"…; −1 for an unknown word. */
int lode_pivot_sort_from_text(const char *text);

/* Appends the row's name: the key, "(none)", "(12 others)". */
void lode_pivot_append_name(const LodePivot *self, const LodePivotRow *row, GString *out);
