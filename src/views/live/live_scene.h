/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a live picture: the counts that the user has chosen to see, by columns of
 * addresses and by hottest ranges. The drawing formats them.
 *
 *   counts ─ chosen threads, zoom, loads or stores ─┬─▶ rows: threads × columns
 *                                                   └─▶ ranges, hottest first
 */
#pragma once

#include "views/live/live_columns.h"
#include "views/live/live_counts.h"

typedef struct LodeLiveState LodeLiveState;

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
