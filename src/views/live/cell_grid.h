/* SPDX-License-Identifier: MIT */
/*
 * A screen as a grid of characters with styles, drawn without a terminal: a test reads it as text,
 * a terminal shows it cell by cell. Each character is one column wide.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
	LODE_CELL_PLAIN,
	LODE_CELL_BOLD,
	LODE_CELL_DIM,
	LODE_CELL_BAR, /* the lines above and below */
	LODE_CELL_CHOSEN,
	LODE_CELL_WARNING,
	LODE_CELL_HEAT, /* the first of the heats, coldest first */
	LODE_CELL_N_HEATS = 5,
	LODE_CELL_N_STYLES = LODE_CELL_HEAT + LODE_CELL_N_HEATS,
} LodeCellStyle;

typedef struct {
	gunichar character;
	LodeCellStyle style;
} LodeCell;

typedef struct {
	unsigned width, height;
	LodeCell *cells; /* row by row */
} LodeCellGrid;

/* All blank. */
void lode_cell_grid_init(LodeCellGrid *self, unsigned width, unsigned height);
void lode_cell_grid_clear(LodeCellGrid *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeCellGrid, lode_cell_grid_clear)

/* Characters outside of the grid are left out. */
void lode_cell_grid_put(
	LodeCellGrid *self, unsigned x, unsigned y, gunichar character, LodeCellStyle style);

typedef struct {
	unsigned x, y, width; /* at most so many columns; the rest of a longer text is left out */
	LodeCellStyle style;
	bool is_ascii;
} LodeCellPlace;

/* Writes an untrusted text: a character that is not printable, or not one column wide, becomes '?'.
 * Gives the columns that it took. */
unsigned lode_cell_grid_write(LodeCellGrid *self, const LodeCellPlace *place, const char *text);

/* A row, or a part of it, in one style; the characters stay. */
void lode_cell_grid_paint(
	LodeCellGrid *self, unsigned x, unsigned y, unsigned width, LodeCellStyle style);

/* Its characters as lines of UTF-8, without blanks at their ends; the caller frees it. */
char *lode_cell_grid_text(const LodeCellGrid *self);
