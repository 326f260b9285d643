/* SPDX-License-Identifier: MIT */
/* What stands above and below the picture, and how its figures are written. */
#include "views/live/live_parts.h"

#include <math.h>
#include <string.h>

enum { NARROW = 60, SEGMENT_GAP = 2, PROGRAM_PART = 4 };

char *lode_live_share(double part, double whole, char buffer[LODE_NUMBER_SIZE])
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (whole <= 0)
		g_strlcpy(buffer, "-", LODE_NUMBER_SIZE);
	else if (percent > 0 && percent < 9.95)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.1f %%", percent);
	else
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.0f %%", percent);
	return buffer;
}

/* Three digits at least, and a letter for what was divided away. */
static char *scale(double value, double step, const char *const *units, char *buffer)
{
	size_t unit = 0;

	for (; value >= step && units[unit + 1] != NULL; unit++)
		value /= step;
	g_snprintf(buffer, LODE_NUMBER_SIZE, "%.*f%s",
		value == floor(value) || value >= 100 ? 0 : 1, value, units[unit]);
	return buffer;
}

char *lode_live_size(uint64_t size_bytes, char buffer[LODE_NUMBER_SIZE])
{
	static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " EiB", NULL};

	return scale((double)size_bytes, 1024, units, buffer);
}

char *lode_live_count(uint64_t count, char buffer[LODE_NUMBER_SIZE])
{
	static const char *const units[] = {"k", "M", "G", "T", NULL};

	if (count < 100000)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%" G_GUINT64_FORMAT, count);
	else
		scale((double)count / 1000, 1000, units, buffer);
	return buffer;
}

char *lode_live_mapping_name(const char *mapping)
{
	if (mapping == NULL)
		return g_strdup("?");
	return mapping[0] == '/' && mapping[1] != '/' ? g_path_get_basename(mapping)
	                                              : g_strdup(mapping);
}

typedef struct {
	const char *text; /* NULL: left out */
	LodeCellStyle style;
} Segment;

/* Those that do not fit are left out. */
static void write_segments(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y,
	const Segment *segments, size_t n)
{
	unsigned x = 0;

	for (size_t i = 0; i < n; i++) {
		const char *text = segments[i].text;
		if (text == NULL || *text == '\0' ||
			x + (unsigned)g_utf8_strlen(text, -1) > grid->width)
			continue;
		const LodeCellPlace place = {
			.x = x,
			.y = y,
			.width = grid->width - x,
			.style = segments[i].style,
			.is_ascii = self->terminal.is_ascii,
		};
		x += lode_cell_grid_write(grid, &place, text) + SEGMENT_GAP;
	}
}

static void draw_status(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	const LodeLiveStatus *status = self->status;
	const LodeLiveState *state = self->state;
	char count[LODE_NUMBER_SIZE], number[LODE_NUMBER_SIZE], dropped[LODE_NUMBER_SIZE];
	g_autofree char *name = lode_live_mapping_name(status->program);
	g_autofree char *program = g_strndup(name, grid->width / PROGRAM_PART);
	bool is_narrow = grid->width < NARROW;
	g_autofree char *rate = g_strdup_printf("%s%s/s",
		lode_live_count((uint64_t)llround(status->samples_per_second), count),
		is_narrow ? "" : " samples");
	g_autofree char *unresolved = g_strdup_printf("%s %s", is_narrow ? "unres." : "unresolved",
		lode_live_share((double)status->n_unresolved, (double)status->n_samples, number));
	g_autofree char *why = status->reason != NULL && status->n_unresolved > 0
	                               ? g_strdup_printf("(most: %s)", status->reason)
	                               : NULL;
	g_autofree char *seconds = g_strdup_printf("%.1f s", status->seconds);
	g_autofree char *not_shown = g_strdup_printf(
		"%s records not shown", lode_live_count(status->n_dropped, dropped));
	const Segment segments[] = {
		{status->is_sampling ? NULL : "SAMPLING OFF", LODE_CELL_WARNING},
		{state->is_paused ? "PAUSED" : NULL, LODE_CELL_WARNING},
		{state->is_frozen ? "FROZEN" : NULL, LODE_CELL_WARNING},
		{program, LODE_CELL_BAR},
		{seconds, LODE_CELL_BAR},
		{rate, LODE_CELL_BAR},
		{unresolved, LODE_CELL_BAR},
		{status->n_dropped > 0 ? not_shown : NULL, LODE_CELL_WARNING},
		{why, LODE_CELL_BAR},
	};

	lode_cell_grid_paint(grid, 0, 0, grid->width, LODE_CELL_BAR);
	write_segments(self, grid, 0, segments, G_N_ELEMENTS(segments));
}

static const char *granularity_word(uint64_t granularity)
{
	switch (granularity) {
	case 4096:
		return "page";
	case 64:
		return "line";
	case 8:
		return "word";
	default:
		return NULL;
	}
}

static void draw_choices(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	static const char *const measures[] = {"loads+stores", "loads", "stores"};
	const LodeLiveScene *scene = self->scene;
	const char *word = granularity_word(scene->granularity);
	bool is_all = self->state->zooms->len == 0;
	char size[LODE_NUMBER_SIZE], seen[LODE_NUMBER_SIZE];
	g_autofree char *granularity = g_strdup_printf("%s%s%s%s", word != NULL ? word : "by ",
		word != NULL ? " (" : "", lode_live_size(scene->granularity, size),
		word != NULL ? ")" : "");
	g_autofree char *zoom = g_strdup_printf("zoom %u: %" G_GINT64_MODIFIER
						"x-%" G_GINT64_MODIFIER "x",
		self->state->zooms->len, scene->zoom.start, scene->zoom.end - 1);
	g_autofree char *share = g_strdup_printf(
		"%s in view", lode_live_share(scene->seen, scene->total, seen));
	const Segment segments[] = {
		{granularity},
		{measures[self->state->measure]},
		{is_all ? "all addresses" : zoom, is_all ? LODE_CELL_PLAIN : LODE_CELL_BOLD},
		{self->state->only_tagged ? "tagged threads" : NULL, LODE_CELL_BOLD},
		{is_all && !self->state->only_tagged ? NULL : share},
		{self->status->is_stall_weighted ? "time, not accesses" : NULL, LODE_CELL_DIM},
	};

	write_segments(self, grid, 1, segments, G_N_ELEMENTS(segments));
}

static void draw_keys(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	static const Segment keys[] = {{"h help", LODE_CELL_BAR}, {"q quit", LODE_CELL_BAR},
		{"+- zoom", LODE_CELL_BAR}, {"g granularity", LODE_CELL_BAR},
		{"p pause", LODE_CELL_BAR}, {"s sampling", LODE_CELL_BAR},
		{"l loads/stores", LODE_CELL_BAR}, {"f threads", LODE_CELL_BAR},
		{"r reset", LODE_CELL_BAR}, {"o output", LODE_CELL_BAR}};
	static const Segment page_keys[] = {
		{"any key: back", LODE_CELL_BAR}, {"arrows: scroll", LODE_CELL_BAR}};
	bool is_page = self->state->page != LODE_LIVE_SHOWS_ADDRESSES;
	unsigned y = grid->height - 1;

	lode_cell_grid_paint(grid, 0, y, grid->width, LODE_CELL_BAR);
	write_segments(self, grid, y, is_page ? page_keys : keys,
		is_page ? G_N_ELEMENTS(page_keys) : G_N_ELEMENTS(keys));
}

void lode_live_draw_bars(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	draw_status(self, grid);
	draw_choices(self, grid);
	draw_keys(self, grid);
}
