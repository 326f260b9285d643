/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a live picture: the counts that the user has chosen to see, by columns of
 * addresses and by hottest ranges. The drawing formats them.
 *
 *   counts ─ chosen threads, zoom, loads or stores ─┬─▶ rows: threads × columns
 *                                                   └─▶ ranges, hottest first
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeLiveCounts LodeLiveCounts;
typedef struct LodeLiveState LodeLiveState;

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

/* The measure of an intensity and a share. */
typedef enum {
	LODE_LIVE_WEIGHT, /* loads and stores, by weight */
	LODE_LIVE_LOADS,
	LODE_LIVE_STORES,
	LODE_LIVE_N_MEASURES,
} LodeLiveMeasure;

typedef struct {
	uint64_t start, end; /* [start, end) */
} LodeLiveZoom;

typedef struct {
	char *label; /* "3", or of several processes "812.3" */
	char *name;  /* the command's; NULL: unknown */
	uint32_t tid;
	uint64_t n_samples;
	uint64_t n_accesses, n_lost; /* samples of loads and stores; those without an address */
	bool has_ended;
} LodeLiveThread;

typedef struct {
	uint32_t thread; /* index; UINT32_MAX: all together */
	double sum;
	double *columns; /* one for each of the scene's columns; owned */
} LodeLiveRow;

enum { LODE_LIVE_THREADS_OF_RANGE = 3 };

typedef struct {
	uint64_t address;
	uint64_t n_loads, n_stores;
	double measure;
	uint32_t threads[LODE_LIVE_THREADS_OF_RANGE]; /* the first few of them */
	uint32_t n_threads; /* one more than there is room for: some more */
	uint32_t votes, object_votes;
	const char *object, *function; /* that have most of it */
} LodeHotRange;

typedef struct {
	LodeLiveColumns columns;
	GArray *rows;          /* LodeLiveRow: of all threads when they are several, then of each */
	GArray *ranges;        /* LodeHotRange, hottest first */
	GArray *known_threads; /* LodeLiveThread; borrowed */
	uint64_t granularity;  /* the state's, or coarser where the counts are */
	double total;          /* of all counts, by the measure */
	double seen;           /* of the shown range */
	double hottest;        /* of all columns and threads, the row of all left out */
	LodeLiveZoom zoom;
	unsigned n_visible_rows, n_visible_ranges; /* room for so many */
	int cursor_column;                         /* −1: there is none */
} LodeLiveScene;

typedef struct {
	unsigned n_places, n_rows, n_ranges; /* that there is room for */
} LodeLiveRoom;

/* `threads` is an array of LodeLiveThread, which lives as long as the scene. */
void lode_live_scene_init(LodeLiveScene *self, const LodeLiveCounts *counts, GArray *threads,
	const LodeLiveState *state, const LodeLiveRoom *room);
void lode_live_scene_clear(LodeLiveScene *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLiveScene, lode_live_scene_clear)
