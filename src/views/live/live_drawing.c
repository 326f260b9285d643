/* SPDX-License-Identifier: MIT */
#include "views/live/live_drawing.h"

#include "base/number_format.h"
#include "views/live/live_parts.h"

#include <string.h>

enum { N_HEAD_LINES = 3, N_LINES_AROUND = 6 };
enum { NARROW = 60, WIDE = 100, NARROW_LABEL = 6, MIDDLE_LABEL = 18, WIDE_LABEL = 26 };
enum { SHARE_WIDTH = 6 };

static unsigned label_width(unsigned width)
{
	return width < NARROW ? NARROW_LABEL : width < WIDE ? MIDDLE_LABEL : WIDE_LABEL;
}

LodeLiveRoom lode_live_room(unsigned width, unsigned height, unsigned n_threads)
{
	unsigned left = height > N_LINES_AROUND ? height - N_LINES_AROUND : 1;
	unsigned n_rows = n_threads > 1 ? n_threads + 1 : 1;
	LodeLiveRoom room = {
		.n_places = MAX(width, label_width(width) + 2) - label_width(width) - 1};

	room.n_rows = CLAMP(n_rows, 1, MAX(left / 2, 1));
	room.n_ranges = left > room.n_rows ? left - room.n_rows : 0;
	return room;
}

static LodeCellPlace place_at(const LodeLiveDrawing *self, unsigned x, unsigned y, unsigned width)
{
	return (LodeCellPlace){
		.x = x,
		.y = y,
		.width = width,
		.is_ascii = self->terminal.is_ascii,
	};
}

/* --- the histogram --- */

static gunichar heat_character(int heat, bool is_ascii)
{
	static const gunichar blocks[] = {0xb7, 0x2591, 0x2592, 0x2593, 0x2588};
	static const gunichar signs[] = {'.', ':', '+', '#', '@'};

	return is_ascii ? signs[heat] : blocks[heat];
}

/* Shares of the hottest from which on the next heat begins. */
static int heat_of(double value, double hottest)
{
	static const double begins[] = {0, 0.01, 0.05, 0.2, 0.5};
	int heat = -1;

	for (int i = 0; i < LODE_CELL_N_HEATS; i++)
		if (value > 0 && value >= begins[i] * hottest)
			heat = i;
	return heat;
}

static void draw_columns(
	const LodeLiveDrawing *self, LodeCellGrid *grid, const LodeLiveRow *row, unsigned y)
{
	const LodeLiveScene *scene = self->scene;
	unsigned x = label_width(grid->width) + 1;

	for (guint i = 0; i < scene->columns.columns->len; i++) {
		const LodeLiveColumn *column = &g_array_index(
			scene->columns.columns, LodeLiveColumn, i);
		int heat = heat_of(row->columns[i], scene->hottest);
		if (heat >= 0)
			lode_cell_grid_put(grid, x + column->place, y,
				heat_character(heat, self->terminal.is_ascii),
				(LodeCellStyle)(LODE_CELL_HEAT + heat));
	}
}

static void draw_gaps(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	const LodeLiveScene *scene = self->scene;
	unsigned x = label_width(grid->width);
	gunichar line = self->terminal.is_ascii ? '|' : 0x2502;

	lode_cell_grid_put(grid, x, y, line, LODE_CELL_DIM);
	for (guint i = 1; i < scene->columns.extents->len; i++) {
		const LodeLiveExtent *extent = &g_array_index(
			scene->columns.extents, LodeLiveExtent, i);
		lode_cell_grid_put(grid, x + extent->first + i, y, line, LODE_CELL_DIM);
	}
}

static void draw_label(
	const LodeLiveDrawing *self, LodeCellGrid *grid, const LodeLiveRow *row, unsigned y)
{
	unsigned width = label_width(grid->width);
	bool is_all = row->thread == UINT32_MAX;
	const LodeLiveThread *thread = is_all ? NULL
	                                      : &g_array_index(self->scene->known_threads,
							LodeLiveThread, row->thread);
	bool is_tagged = !is_all &&
	                 g_hash_table_contains(self->state->tagged, GUINT_TO_POINTER(row->thread));
	bool is_chosen = row->thread == self->state->thread;
	g_autofree char *text = g_strdup_printf("%c%s%s%s", is_tagged ? '*' : ' ',
		is_all ? "all" : thread->label, is_all || thread->name == NULL ? "" : " ",
		is_all || thread->name == NULL ? "" : thread->name);
	LodeCellPlace place = place_at(self, 0, y, width);
	char share[LODE_NUMBER_SIZE];

	place.style = !is_all && thread->has_ended ? LODE_CELL_DIM : LODE_CELL_PLAIN;
	if (width >= MIDDLE_LABEL) {
		place.width = width - SHARE_WIDTH - 1;
		lode_live_share(row->sum, self->scene->total, share);
		LodeCellPlace right = place_at(
			self, width - (unsigned)strlen(share) - 1, y, SHARE_WIDTH);
		right.style = place.style;
		lode_cell_grid_write(grid, &right, share);
	}
	lode_cell_grid_write(grid, &place, text);
	if (is_chosen)
		lode_cell_grid_paint(grid, 0, y, width, LODE_CELL_CHOSEN);
}

/* The names of the mappings, each above its own columns. */
static void draw_extents(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	const GArray *extents = self->scene->columns.extents;
	unsigned x = label_width(grid->width) + 1;

	draw_gaps(self, grid, y);
	for (guint i = 0; i < extents->len; i++) {
		const LodeLiveExtent *extent = &g_array_index(extents, LodeLiveExtent, i);
		bool is_last = i + 1 == extents->len;
		unsigned start = extent->first + i;
		unsigned end = is_last ? grid->width - x : start + extent->n;
		LodeCellPlace place = place_at(self, x + start, y, end - start);
		g_autofree char *name = lode_live_mapping_name(extent->mapping);
		place.style = LODE_CELL_BOLD;
		lode_cell_grid_write(grid, &place, name);
	}
}

static void draw_rows(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	const LodeLiveScene *scene = self->scene;
	unsigned last = scene->rows->len > scene->n_visible_rows
	                        ? scene->rows->len - scene->n_visible_rows
	                        : 0;
	unsigned first = MIN(self->state->first_row, last);

	for (unsigned i = 0; i < scene->n_visible_rows; i++) {
		draw_gaps(self, grid, N_HEAD_LINES + i);
		if (first + i >= scene->rows->len)
			continue;
		const LodeLiveRow *row = &g_array_index(scene->rows, LodeLiveRow, first + i);
		draw_columns(self, grid, row, N_HEAD_LINES + i);
		draw_label(self, grid, row, N_HEAD_LINES + i);
	}
}

static char *describe_column(const LodeLiveDrawing *self, const LodeLiveColumn *column)
{
	const LodeLiveScene *scene = self->scene;
	const LodeLiveExtent *extent = &g_array_index(
		scene->columns.extents, LodeLiveExtent, column->extent);
	g_autofree char *name = lode_live_mapping_name(extent->mapping);
	char size[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];
	double measure = 0;

	for (guint i = 0; i < scene->rows->len; i++) {
		const LodeLiveRow *row = &g_array_index(scene->rows, LodeLiveRow, i);
		if (row->thread != UINT32_MAX)
			measure += row->columns[scene->cursor_column];
	}
	lode_live_share(measure, scene->total, share);
	return g_strdup_printf("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %s %s %s",
		column->start, column->end - 1, share,
		lode_live_size(column->end - column->start, size), name);
}

/* The text goes to that side of the mark where there is more room. */
static void draw_cursor(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	const LodeLiveScene *scene = self->scene;

	if (scene->cursor_column < 0)
		return;
	const LodeLiveColumn *column = &g_array_index(
		scene->columns.columns, LodeLiveColumn, scene->cursor_column);
	unsigned x = label_width(grid->width) + 1 + column->place;
	g_autofree char *text = describe_column(self, column);
	unsigned length = (unsigned)g_utf8_strlen(text, -1);
	bool is_left = x > grid->width / 2;
	LodeCellPlace place = place_at(self, is_left ? x - MIN(x, length + 1) : x + 2, y,
		is_left ? MIN(x - 1, length) : grid->width);
	lode_cell_grid_put(grid, x, y, self->terminal.is_ascii ? '^' : 0x25b2, LODE_CELL_BOLD);
	lode_cell_grid_write(grid, &place, text);
}

static void draw_addresses(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	unsigned y = N_HEAD_LINES + self->scene->n_visible_rows;

	draw_extents(self, grid, N_HEAD_LINES - 1);
	draw_rows(self, grid);
	draw_cursor(self, grid, y);
	lode_live_draw_ranges(self, grid, y + 1);
}

static void draw_too_small(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	LodeCellPlace place = place_at(self, 0, 0, grid->width);

	lode_cell_grid_write(grid, &place, "too small: 40x10 at least");
}

void lode_live_draw(const LodeLiveDrawing *drawing, LodeCellGrid *grid)
{
	if (grid->width < LODE_LIVE_MIN_WIDTH || grid->height < LODE_LIVE_MIN_HEIGHT) {
		draw_too_small(drawing, grid);
		return;
	}
	lode_live_draw_bars(drawing, grid);
	if (drawing->state->page == LODE_LIVE_SHOWS_ADDRESSES)
		draw_addresses(drawing, grid);
	else
		lode_live_draw_text(drawing, grid);
}
