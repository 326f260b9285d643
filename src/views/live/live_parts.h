/* SPDX-License-Identifier: MIT */
/* The parts of a live picture that are not the histogram. Private to views/live/. */
#pragma once

#include "base/number_format.h"
#include "views/live/live_drawing.h"

/* "12 %" or "3.4 %" of a whole; "-" of nothing. */
char *lode_live_share(double part, double whole, char buffer[LODE_NUMBER_SIZE]);
/* "64 B", "4 KiB", "1.5 GiB". */
char *lode_live_size(uint64_t size_bytes, char buffer[LODE_NUMBER_SIZE]);
/* "99999", "123k", "4.56M". */
char *lode_live_count(uint64_t count, char buffer[LODE_NUMBER_SIZE]);
/* Of a path its last part; the caller frees it. */
char *lode_live_mapping_name(const char *mapping);

/* The two lines at the top and the one at the bottom. */
void lode_live_draw_bars(const LodeLiveDrawing *self, LodeCellGrid *grid);
/* The table of ranges, from row `y` to the last but one. */
void lode_live_draw_ranges(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y);
/* The page of help, or the program's output, between the bars. */
void lode_live_draw_text(const LodeLiveDrawing *self, LodeCellGrid *grid);
