/* SPDX-License-Identifier: MIT */
/*
 * How the numbers of a live picture look:
 *
 *   program, rate, unresolved share, what is switched off
 *   granularity, measure, range
 *             │[heap]           │libc.so.6│[stack]
 *   all       │█▓░··▒           │·        │▒
 *   0 main    │█·               │·        │▒         one row per thread
 *   1 worker  │·▓░··▒           │         │
 *                 ▲ 405000–405fff …
 *   address  share  loads  stores  threads  object  function
 *   405000  …                                        hottest first
 *   keys
 */
#pragma once

#include "views/form/format.h"
#include "views/live/cell_grid.h"
#include "views/live/live_state.h"

/* "1 worker 98 %, 3 90 % and 2 more": threads that lost the addresses of much more of their loads
 * and stores than others; NULL: none. The caller frees it. */
char *lode_live_lost_threads(const GArray *threads);

enum { LODE_LIVE_MIN_WIDTH = 40, LODE_LIVE_MIN_HEIGHT = 10 };

typedef struct LodeLiveStatus {
	const char *program;
	double seconds; /* since the start */
	double samples_per_second;
	uint64_t n_samples;
	uint64_t n_accesses, n_lost; /* samples of loads and stores; those without an address */
	const char *reason;          /* why most of these are; NULL */
	uint64_t n_dropped;          /* records that the picture had no time for */
	bool is_sampling, is_stall_weighted;
	bool has_output; /* the program's goes to a file */
} LodeLiveStatus;

typedef struct {
	const LodeLiveScene *scene;
	const LodeLiveState *state;
	const LodeLiveStatus *status;
	const char *output;    /* the program's last lines; NULL: none */
	LodeTerminal terminal; /* its width is the grid's */
} LodeLiveDrawing;

/* The numbers of rows and columns on a screen of this size. */
LodeLiveRoom lode_live_room(unsigned width, unsigned height, unsigned n_threads);

/* Draws on a blank grid. */
void lode_live_draw(const LodeLiveDrawing *drawing, LodeCellGrid *grid);

/* The last line that the page of text can be scrolled to. */
unsigned lode_live_last_scroll(const LodeLiveDrawing *drawing, unsigned height);
