/* SPDX-License-Identifier: MIT */
/* An event by data object. */
#include "views/pictures/cache_plots.h"

#include "base/text/number_format.h"
#include "model/code.h"
#include "model/run/program_run.h"
#include "views/plot/cairo_library.h"
#include "views/plot/plot_axis.h"
#include "views/plot/plot_legend.h"

enum {
	WIDTH = 960,
	LEFT = 290,
	RIGHT = 90, /* room for the share after the longest bar */
	MARGIN = 24,
	TOP = LODE_PLOT_TITLES_HEIGHT + 30,
	BOTTOM = 56,
	PANEL_WIDTH = WIDTH - LEFT - RIGHT,
	BAR_STEP = 24,
	BAR_HEIGHT = 16,
	LABEL_GAP = 8,
	MIN_BARS = 5, /* as far as there are so many */
	MAX_BARS = 24,
	EMPTY_HEIGHT = 120,
};

static const double visible_part = 0.002; /* of the longest bar */

typedef struct {
	const LodeProfile *profile;
	const LodeEventGroups *groups;
	cairo_t *cairo;
	LodePlotScale x;
	guint n_bars;
	double bottom; /* of the panel */
} Plot;

static const LodeEventGroup *group_at(const Plot *self, guint index)
{
	return &g_array_index(self->groups->groups, LodeEventGroup, index);
}

static const char *event_name(const Plot *self)
{
	return lode_profile_event(self->profile, self->groups->event)->name;
}

/* The unit that keeps the numbers short. */
static void draw_axis(const Plot *self)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = {{"", 1}, {", thousands", 1e-3}, {", millions", 1e-6}, {", billions", 1e-9}};
	size_t unit = 0;

	while (unit + 1 < G_N_ELEMENTS(units) && self->x.high * units[unit].factor > 9000)
		unit++;
	g_autofree char *title = g_strconcat(event_name(self), units[unit].suffix, NULL);
	const LodePlotAxis axis = {
		.scale = &self->x,
		.title = title,
		.n_ticks = 8,
		.factor = units[unit].factor,
		.at = self->bottom,
		.grid = self->bottom - TOP,
	};
	lode_plot_axis_draw(self->cairo, &axis);
}

/* A part of a bar; gives where it ends. */
static double draw_part(const Plot *self, const LodePlotBox *start, double value, unsigned series)
{
	double width = lode_plot_scale_at(&self->x, value) - LEFT;
	LodePlotColour colour = lode_plot_series_colour(series);

	lode_cairo.set_source_rgb(self->cairo, colour.red, colour.green, colour.blue);
	lode_cairo.rectangle(self->cairo, start->x, start->y, width, start->height);
	lode_cairo.fill(self->cairo);
	return start->x + width;
}

static void draw_bar(const Plot *self, guint index)
{
	const LodeEventGroup *group = group_at(self, index);
	LodePlotBox bar = {.x = LEFT,
		.y = TOP + index * BAR_STEP + (BAR_STEP - BAR_HEIGHT) / 2.0,
		.height = BAR_HEIGHT};
	double middle = bar.y + BAR_HEIGHT / 2.0;
	LodePlotTextStyle style = {.size = 10.5,
		.grey = 0.1,
		.anchor = LODE_PLOT_END,
		.width = LEFT - MARGIN - LABEL_GAP};
	char share[LODE_NUMBER_SIZE];

	lode_plot_text(self->cairo, LEFT - LABEL_GAP, middle, &style, group->name);
	bar.x = draw_part(self, &bar, group->loads, 0);
	bar.x = draw_part(self, &bar, group->stores, 1);
	style = (LodePlotTextStyle){.size = 9.5, .grey = 0.3};
	lode_number_format_share(group->value / MAX(self->groups->total, group->value), share);
	lode_plot_text(self->cairo, bar.x + LABEL_GAP, middle, &style, share);
}

static void draw_titles(const Plot *self)
{
	const LodeProgramRun *run = lode_program_run_of(self->profile);
	const LodePlotBox legend = {LEFT, LODE_PLOT_TITLES_HEIGHT + 6, PANEL_WIDTH, 0};
	const LodePlotBox sheet = {MARGIN, 0, WIDTH - 2 * MARGIN, TOP};
	static const char *const names[] = {"loads", "stores"};
	guint n_more = self->groups->groups->len - self->n_bars;
	g_autofree char *rest = n_more == 0 ? g_strdup("")
	                                    : g_strdup_printf(" · %s more objects have less",
						      LODE_COUNT_TEXT(n_more));
	g_autofree char *facts = g_strdup_printf("%s by data object · %s in all%s",
		event_name(self), LODE_COUNT_TEXT(self->groups->total), rest);

	lode_plot_titles(self->cairo, &sheet, run->program != NULL ? run->program : "?", facts);
	lode_plot_legend(self->cairo, &legend, names, G_N_ELEMENTS(names));
}

static void draw(const Plot *self)
{
	const LodePlotBox panel = {LEFT, TOP, PANEL_WIDTH, self->bottom - TOP};
	LodePlotTextStyle style = {.size = 13, .grey = 0.3, .anchor = LODE_PLOT_MIDDLE};

	draw_titles(self);
	if (self->n_bars == 0) {
		lode_plot_text(self->cairo, WIDTH / 2.0, TOP + EMPTY_HEIGHT / 2.0, &style,
			"no data object has any");
		return;
	}
	draw_axis(self);
	for (guint i = 0; i < self->n_bars; i++)
		draw_bar(self, i);
	lode_plot_frame(self->cairo, &panel);
}

/* Bars that would be too short to be seen are left out. */
static guint count_bars(const LodeEventGroups *groups)
{
	const GArray *all = groups->groups;
	guint n = 0;

	while (n < MIN(all->len, MAX_BARS) &&
		(n < MIN_BARS ||
			g_array_index(all, LodeEventGroup, n).value >=
				visible_part * g_array_index(all, LodeEventGroup, 0).value))
		n++;
	return n;
}

bool lode_misses_by_object_plot_write(const LodeProfile *profile, const LodeEventGroups *groups,
	LodePlotFormat format, FILE *out, GError **error)
{
	Plot plot = {.profile = profile, .groups = groups, .n_bars = count_bars(groups)};

	plot.bottom = TOP + (plot.n_bars > 0 ? plot.n_bars * BAR_STEP : EMPTY_HEIGHT);
	plot.x = lode_plot_scale(0, plot.n_bars > 0 ? group_at(&plot, 0)->value : 1, false);
	plot.x.from = LEFT;
	plot.x.to = LEFT + PANEL_WIDTH;
	g_autoptr(LodePlotCanvas)
		canvas = lode_plot_canvas_new(format, WIDTH, plot.bottom + BOTTOM, out, error);
	if (canvas == NULL)
		return false;
	plot.cairo = lode_plot_canvas_cairo(canvas);
	draw(&plot);
	return lode_plot_canvas_finish(canvas, error);
}
