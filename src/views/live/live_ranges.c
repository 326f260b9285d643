/* SPDX-License-Identifier: MIT */
/* The table of the hottest ranges. */
#include "views/live/live_parts.h"

#include <string.h>

/* What comes after them takes what is left. */
enum {
	ADDRESS_WIDTH = 12,
	SHARE_WIDTH = 6,
	COUNT_WIDTH = 7,
	THREADS_WIDTH = 8,
	MAPPING_WIDTH = 16,
};

typedef struct {
	const char *words[7];
} Line;

static void write_line(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y,
	LodeCellStyle style, const Line *line)
{
	static const unsigned widths[] = {ADDRESS_WIDTH, SHARE_WIDTH, COUNT_WIDTH, COUNT_WIDTH,
		THREADS_WIDTH, MAPPING_WIDTH, G_MAXINT};
	enum { FIRST_TEXT = 4 };
	unsigned x = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(widths) && x < grid->width; i++) {
		unsigned width = MIN(widths[i], grid->width - x);
		unsigned length = (unsigned)g_utf8_strlen(line->words[i], -1);
		/* Half a column says nothing. */
		if (width < widths[i] && i < G_N_ELEMENTS(widths) - 1)
			break;
		const LodeCellPlace place = {
			.x = x + (i < FIRST_TEXT && length < width ? width - length : 0),
			.y = y,
			.width = width,
			.style = style,
			.is_ascii = self->terminal.is_ascii,
		};
		lode_cell_grid_write(grid, &place, line->words[i]);
		x += width + 1;
	}
}

static char *thread_list(const LodeLiveDrawing *self, const LodeHotRange *range)
{
	GString *text = g_string_new(NULL);
	guint n_kept = MIN(range->n_threads, LODE_LIVE_THREADS_OF_RANGE);

	for (guint i = 0; i < n_kept; i++) {
		const LodeLiveThread *thread = &g_array_index(
			self->scene->known_threads, LodeLiveThread, range->threads[i]);
		g_string_append_printf(text, "%s%s", i > 0 ? "," : "", thread->label);
	}
	if (range->n_threads > n_kept)
		g_string_append(text, ",+");
	return g_string_free(text, FALSE);
}

static bool is_under_cursor(const LodeLiveScene *scene, uint64_t address)
{
	if (scene->cursor_column < 0)
		return false;
	const LodeLiveColumn *column = &g_array_index(
		scene->columns.columns, LodeLiveColumn, scene->cursor_column);
	return column->start <= address && address < column->end;
}

static void draw_range(
	const LodeLiveDrawing *self, LodeCellGrid *grid, const LodeHotRange *range, unsigned y)
{
	char address[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];
	char loads[LODE_NUMBER_SIZE], stores[LODE_NUMBER_SIZE];
	g_autofree char *threads = thread_list(self, range);
	g_autofree char *object = lode_live_mapping_name(range->object);
	const Line line = {{
		address,
		lode_live_share(range->measure, self->scene->total, share),
		lode_live_count(range->n_loads, loads),
		lode_live_count(range->n_stores, stores),
		threads,
		object,
		range->function != NULL ? range->function : "?",
	}};

	g_snprintf(address, sizeof(address), "%" G_GINT64_MODIFIER "x", range->address);
	write_line(self, grid, y,
		is_under_cursor(self->scene, range->address) ? LODE_CELL_BOLD : LODE_CELL_PLAIN,
		&line);
}

void lode_live_draw_ranges(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	static const Line titles = {
		{"address", "share", "loads", "stores", "threads", "object", "function"}};
	const GArray *ranges = self->scene->ranges;
	unsigned first = self->state->first_range < ranges->len ? self->state->first_range : 0;

	write_line(self, grid, y, LODE_CELL_DIM, &titles);
	for (unsigned i = 0; i < self->scene->n_visible_ranges && first + i < ranges->len; i++)
		draw_range(self, grid, &g_array_index(ranges, LodeHotRange, first + i), y + 1 + i);
}
