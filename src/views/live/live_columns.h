/* SPDX-License-Identifier: MIT */
/*
 * Addresses as columns of a picture. Accessed addresses lie in a few ranges far apart; the gaps
 * between them become one column each:
 *
 *   addresses  ──▓▓▓▓────────────────▓▓────────────────────────▓▓▓▓▓▓▓▓▓▓▓──
 *   extents      0                   1                         2
 *   columns      0011223│44│555666777888
 *
 * An extent never lies in two mappings, unless there are too many for the columns there are. Its
 * columns grow with the logarithm of its size, so that a stack is seen beside a large heap.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t start, end; /* [start, end), multiples of the granularity; nothing between two */
	const char *mapping; /* of its first access */
	unsigned first, n;   /* columns */
} LodeLiveExtent;

typedef struct {
	uint64_t start, end; /* [start, end) */
	unsigned extent;
	unsigned place; /* counted with the gaps */
} LodeLiveColumn;

typedef struct {
	GArray *extents, *columns;
} LodeLiveColumns;

typedef struct {
	uint64_t granularity;
	uint64_t start, end; /* the shown range; 0 and UINT64_MAX: all */
	unsigned n_places;   /* columns and gaps that there is room for, at least 1 */
} LodeLiveColumnOptions;

/* One place that was accessed. */
typedef struct {
	uint64_t address; /* a multiple of the granularity */
	const char *mapping;
} LodeLiveTouch;

/* The columns of `n` places in ascending order; no two equal. */
void lode_live_columns_init(LodeLiveColumns *self, const LodeLiveTouch *touched, size_t n,
	const LodeLiveColumnOptions *options);
void lode_live_columns_clear(LodeLiveColumns *self);

/* The number of the column that holds an address or is the next after it; −1: there are no columns.
 */
int lode_live_columns_find(const LodeLiveColumns *self, uint64_t address);
