/* SPDX-License-Identifier: MIT */
/* Threads × addresses and addresses × time, on one sheet. */
#include "views/pictures/memory_plot.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/run/program_run.h"
#include "views/memory/memory_coverage.h"
#include "views/memory/memory_names.h"
#include "views/pictures/address_axis.h"
#include "views/pictures/memory_grid.h"
#include "views/plot/cairo_library.h"
#include "views/plot/plot_axis.h"
#include "views/plot/plot_colour.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
	LABEL_WIDTH = LODE_ADDRESS_LABEL_WIDTH,
	PANEL_GAP = 36,
	THREADS_WIDTH = 240, /* at least */
	LEAST_KIND_WIDTH = 2,
	TIME_WIDTH = LODE_GRID_STEPS * 4,
	LEFT = 16,
	RIGHT = 28,
	TOP = 74, /* without lines on what is lost */
	LOSS_STEP = 14,
	BOTTOM = 128,
	LEGEND_OFFSET = 50,
	LEGEND_STEP = 15,
	BAR_WIDTH = 176,
	MAX_TOOLTIPS = 8000, /* of boxes, the heaviest: a file of some megabytes */
	EMPTY_HEIGHT = 240,
};

typedef struct {
	const LodeProfile *profile;
	const LodeMemoryGrid *grid;
	const LodeMemoryNotes *notes;
	const GPtrArray *losses; /* lines above the picture */
	double top;              /* of the picture */
	uint64_t granularity;
	bool colours_threads;
	cairo_t *cairo;
	unsigned n_kinds; /* that threads have columns for */
	double kind_width, thread_width, time_x, width, height;
} Plot;

static const LodePlotHue kind_hues[] = {LODE_PLOT_BLUE, LODE_PLOT_ORANGE, LODE_PLOT_GREY};

/* A thread's columns are wide enough to be seen, and all of them for the legend below. */
static void lay_out(Plot *self)
{
	double n = MAX(self->grid->n_columns, 1);

	self->n_kinds = self->grid->has_unknown ? 3 : 2;
	self->kind_width = MAX(THREADS_WIDTH / n / self->n_kinds, LEAST_KIND_WIDTH);
	self->thread_width = self->kind_width * self->n_kinds * n;
	self->time_x = LEFT + LABEL_WIDTH + self->thread_width + PANEL_GAP;
	self->width = self->time_x + TIME_WIDTH + RIGHT;
	self->top = TOP + LOSS_STEP * self->losses->len;
	self->height = self->top + BOTTOM +
	               (self->grid->n_samples > 0 ? self->grid->axis->height : EMPTY_HEIGHT);
}

typedef struct {
	double low, high; /* the smallest and largest weight of a box; 0: there is none */
	LodePlotScale scale;
} Weights;

/* Where all are equal, they are drawn dark. */
static Weights weights_of(const double *weights, size_t n)
{
	double low = DBL_MAX, high = 0;

	for (size_t i = 0; i < n; i++) {
		if (weights[i] <= 0)
			continue;
		low = MIN(low, weights[i]);
		high = MAX(high, weights[i]);
	}
	return (Weights){
		.low = high > 0 ? low : 0,
		.high = high,
		.scale = lode_plot_scale(low < high ? low : high / 10, high, true),
	};
}

/* Cells of one size and many colours, filled colour by colour, which keeps files small. */
typedef struct {
	GArray *boxes[LODE_PLOT_N_HUES][LODE_PLOT_LEVELS]; /* LodePlotBox */
} PlotCells;

static PlotCells *plot_cells_new(void)
{
	PlotCells *self = g_new0(PlotCells, 1);

	for (int hue = 0; hue < LODE_PLOT_N_HUES; hue++)
		for (int level = 0; level < LODE_PLOT_LEVELS; level++)
			self->boxes[hue][level] = g_array_new(FALSE, FALSE, sizeof(LodePlotBox));
	return self;
}

static void plot_cells_free(PlotCells *self)
{
	if (self == NULL)
		return;
	for (int hue = 0; hue < LODE_PLOT_N_HUES; hue++)
		for (int level = 0; level < LODE_PLOT_LEVELS; level++)
			g_array_unref(self->boxes[hue][level]);
	g_free(self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlotCells, plot_cells_free)

static void plot_cells_add(PlotCells *self, LodePlotHue hue, unsigned level, const LodePlotBox *box)
{
	g_array_append_vals(self->boxes[hue][level], box, 1);
}

static void fill_boxes(const GArray *boxes, cairo_t *cairo)
{
	for (guint i = 0; i < boxes->len; i++) {
		const LodePlotBox *box = &g_array_index(boxes, LodePlotBox, i);
		lode_cairo.rectangle(cairo, box->x, box->y, box->width, box->height);
	}
	lode_cairo.fill(cairo);
}

static void plot_cells_fill(const PlotCells *self, cairo_t *cairo)
{
	for (unsigned hue = 0; hue < LODE_PLOT_N_HUES; hue++) {
		for (unsigned level = 0; level < LODE_PLOT_LEVELS; level++) {
			const GArray *boxes = self->boxes[hue][level];
			LodePlotColour colour = lode_plot_colour((LodePlotHue)hue, level);
			if (boxes->len == 0)
				continue;
			lode_cairo.set_source_rgb(cairo, colour.red, colour.green, colour.blue);
			fill_boxes(boxes, cairo);
		}
	}
}

/* The step for a value on a scale, its ends included. */
static unsigned level_of(const LodePlotScale *scale, double value)
{
	double fraction = lode_plot_scale_fraction(scale, value);

	return (unsigned)(CLAMP(fraction, 0, 1) * (LODE_PLOT_LEVELS - 1) + 0.5);
}

static void draw_thread_cells(const Plot *self, const LodePlotScale *scale)
{
	const LodeMemoryGrid *grid = self->grid;
	g_autoptr(PlotCells) cells = plot_cells_new();
	double top, height;

	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		lode_address_axis_place(grid->axis, row, &top, &height);
		for (uint32_t column = 0; column < grid->n_columns * self->n_kinds; column++) {
			LodeGridKind kind = (LodeGridKind)(column % self->n_kinds);
			double weight = lode_memory_grid_by_thread(
				grid, kind, column / self->n_kinds, row);
			LodePlotBox box = {LEFT + LABEL_WIDTH + column * self->kind_width,
				self->top + top, self->kind_width, height};
			if (weight > 0)
				plot_cells_add(
					cells, kind_hues[kind], level_of(scale, weight), &box);
		}
	}
	plot_cells_fill(cells, self->cairo);
}

static LodePlotHue hue_of(uint8_t kinds)
{
	if (kinds == 1 << LODE_GRID_LOAD)
		return LODE_PLOT_BLUE;
	return kinds == 1 << LODE_GRID_STORE ? LODE_PLOT_ORANGE : LODE_PLOT_GREY;
}

static void draw_time_threads(const Plot *self, const LodePlotScale *scale)
{
	const LodeMemoryGrid *grid = self->grid;
	const double width = (double)TIME_WIDTH / LODE_GRID_STEPS;
	double top, height;

	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		lode_address_axis_place(grid->axis, row, &top, &height);
		for (uint32_t step = 0; step < LODE_GRID_STEPS; step++) {
			size_t index = (size_t)row * LODE_GRID_STEPS + step;
			if (grid->by_time[index] <= 0)
				continue;
			LodePlotColour colour = lode_plot_category_colour(
				MIN(grid->time_columns[index], LODE_PLOT_CATEGORIES - 1),
				level_of(scale, grid->by_time[index]));
			lode_cairo.set_source_rgb(
				self->cairo, colour.red, colour.green, colour.blue);
			lode_cairo.rectangle(self->cairo, self->time_x + step * width,
				self->top + top, width, height);
			lode_cairo.fill(self->cairo);
		}
	}
}

static void draw_time_cells(const Plot *self, const LodePlotScale *scale)
{
	const LodeMemoryGrid *grid = self->grid;
	g_autoptr(PlotCells) cells = plot_cells_new();
	const double width = (double)TIME_WIDTH / LODE_GRID_STEPS;
	double top, height;

	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		lode_address_axis_place(grid->axis, row, &top, &height);
		for (uint32_t step = 0; step < LODE_GRID_STEPS; step++) {
			size_t index = (size_t)row * LODE_GRID_STEPS + step;
			LodePlotBox box = {
				self->time_x + step * width, self->top + top, width, height};
			if (grid->by_time[index] > 0)
				plot_cells_add(cells, hue_of(grid->kinds[index]),
					level_of(scale, grid->by_time[index]), &box);
		}
	}
	plot_cells_fill(cells, self->cairo);
}

/* "3", or "12–15" of a column of several. */
static char *column_label(const Plot *self, uint32_t column)
{
	const GArray *threads = self->grid->threads;
	guint first = column * self->grid->threads_per_column;
	guint last = MIN(first + self->grid->threads_per_column, threads->len) - 1;
	g_autofree char *low = lode_memory_thread_label(
		self->profile, g_array_index(threads, uint32_t, first));
	g_autofree char *high = lode_memory_thread_label(
		self->profile, g_array_index(threads, uint32_t, last));

	return first == last ? g_strdup(low) : g_strdup_printf("%s–%s", low, high);
}

/* As many labels as there is room for. */
static void draw_thread_labels(const Plot *self)
{
	const double column_width = self->kind_width * self->n_kinds;
	const double y = self->top + self->grid->axis->height;
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.25, .anchor = LODE_PLOT_MIDDLE};
	g_autofree char *widest = column_label(self, self->grid->n_columns - 1);
	double needed = lode_plot_text_width(self->cairo, &style, widest) + 6;
	uint32_t step = 1;

	while (step * column_width < needed)
		step++;
	for (uint32_t i = 0; i < self->grid->n_columns; i += step) {
		g_autofree char *label = column_label(self, i);
		lode_plot_text(self->cairo, LEFT + LABEL_WIDTH + (i + 0.5) * column_width, y + 12,
			&style, label);
	}
	style = (LodePlotTextStyle){.size = 10.5, .grey = 0.1, .anchor = LODE_PLOT_MIDDLE};
	lode_plot_text(
		self->cairo, LEFT + LABEL_WIDTH + self->thread_width / 2, y + 28, &style, "thread");
}

static void draw_thread_lines(const Plot *self)
{
	const double column_width = self->kind_width * self->n_kinds;

	if (column_width < 12)
		return;
	lode_cairo.set_source_rgb(self->cairo, 0.85, 0.85, 0.85);
	lode_cairo.set_line_width(self->cairo, 0.6);
	for (uint32_t i = 1; i < self->grid->n_columns; i++) {
		lode_cairo.move_to(self->cairo, LEFT + LABEL_WIDTH + i * column_width, self->top);
		lode_cairo.rel_line_to(self->cairo, 0, self->grid->axis->height);
	}
	lode_cairo.stroke(self->cairo);
}

static void draw_time_axis(const Plot *self)
{
	const LodeMemoryGrid *grid = self->grid;
	double span = (double)(grid->end_ns - grid->begin_ns) + 1;
	LodeGridTimeUnit unit = lode_memory_grid_time_unit(grid);
	LodePlotScale scale = lode_plot_scale(0, span, false);
	scale.from = self->time_x;
	scale.to = self->time_x + TIME_WIDTH;
	lode_plot_axis_draw(self->cairo, &(LodePlotAxis){
						 .scale = &scale,
						 .title = unit.title,
						 .n_ticks = 8,
						 .factor = unit.factor,
						 .at = self->top + grid->axis->height,
					 });
}

typedef struct {
	double x;
	const Weights *weights;
	const char *const *names; /* of the hues */
	unsigned n_hues;
} Legend;

/* The weights that the lightest, the middle and the darkest shade stand for. */
static void draw_values(const Plot *self, const Weights *weights, double x, double y)
{
	const LodePlotAnchor anchors[] = {LODE_PLOT_START, LODE_PLOT_MIDDLE, LODE_PLOT_END};
	LodePlotTextStyle style = {.size = 9, .grey = 0.35};
	LodePlotTextStyle unit = {.size = 9, .grey = 0.35};
	char text[LODE_NUMBER_SIZE], last[LODE_NUMBER_SIZE] = "";

	for (int i = 0; i < 3; i++) {
		double value = weights->low * pow(weights->high / weights->low, i / 2.0);
		style.anchor = anchors[i];
		lode_number_format_share(value / self->notes->weight, text);
		if (weights->low <= 0 || strcmp(text, last) == 0)
			continue;
		lode_plot_text(self->cairo, x + BAR_WIDTH * i / 2.0, y, &style, text);
		memcpy(last, text, sizeof(last));
	}
	lode_plot_text(self->cairo, x + BAR_WIDTH + 8, y, &unit, "of weight a box");
}

/* A square for each thread that has a colour of its own. */
static void draw_thread_legend(const Plot *self, const Weights *weights)
{
	double y = self->top + self->grid->axis->height + LEGEND_OFFSET, x = self->time_x;
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.2};
	uint32_t n = MIN(self->grid->n_columns, LODE_PLOT_CATEGORIES);
	const double step = TIME_WIDTH / 4.0;
	char low[LODE_NUMBER_SIZE], high[LODE_NUMBER_SIZE];

	for (uint32_t i = 0; i < n; i++) {
		LodePlotColour colour = lode_plot_category_colour(i, LODE_PLOT_LEVELS - 1);
		bool is_rest = i == LODE_PLOT_CATEGORIES - 1 && self->grid->n_columns > n;
		g_autofree char *label = column_label(self, i);
		g_autofree char *name = is_rest ? g_strdup("other threads")
		                                : g_strdup_printf("thread %s", label);
		double left = x + step * (i % 4), line = y + LEGEND_STEP * (i / 4);
		lode_cairo.set_source_rgb(self->cairo, colour.red, colour.green, colour.blue);
		lode_cairo.rectangle(self->cairo, left, line - 5, 10, 10);
		lode_cairo.fill(self->cairo);
		style.width = step - 20;
		lode_plot_text(self->cairo, left + 15, line, &style, name);
	}
	lode_number_format_share(weights->low / self->notes->weight, low);
	lode_number_format_share(weights->high / self->notes->weight, high);
	g_autofree char *text = g_strdup_printf(
		"the thread with most of a box; lightest %s, darkest %s of weight", low, high);
	style.width = TIME_WIDTH;
	style.grey = 0.35;
	lode_plot_text(self->cairo, x, y + LEGEND_STEP * ((n + 3) / 4), &style, text);
}

/* All steps of a hue side by side in a box. */
static void draw_colour_bar(cairo_t *cairo, LodePlotHue hue, const LodePlotBox *box)
{
	double step = box->width / LODE_PLOT_LEVELS;

	for (unsigned level = 0; level < LODE_PLOT_LEVELS; level++) {
		LodePlotColour colour = lode_plot_colour(hue, level);
		lode_cairo.set_source_rgb(cairo, colour.red, colour.green, colour.blue);
		lode_cairo.rectangle(cairo, box->x + level * step, box->y, step, box->height);
		lode_cairo.fill(cairo);
	}
}

/* A bar for each hue, and what its shades mean. */
static void draw_legend(const Plot *self, const Legend *legend)
{
	double y = self->top + self->grid->axis->height + LEGEND_OFFSET;
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.2};

	for (unsigned i = 0; i < legend->n_hues; i++) {
		LodePlotBox bar = {legend->x, y + i * LEGEND_STEP - 5, BAR_WIDTH, 10};
		draw_colour_bar(self->cairo, kind_hues[i], &bar);
		lode_plot_text(self->cairo, legend->x + BAR_WIDTH + 8, y + i * LEGEND_STEP, &style,
			legend->names[i]);
	}
	draw_values(self, legend->weights, legend->x, y + legend->n_hues * LEGEND_STEP);
}

/* --- tooltips --- */

typedef struct {
	double weight;
	uint32_t row, column; /* a column of threads and kinds, or a step of time */
	bool is_time;
} Tip;

LODE_ORDER(heaviest_first, Tip, LODE_DESCENDING(weight), LODE_ASCENDING(is_time),
	LODE_ASCENDING(row), LODE_ASCENDING(column))

static GArray *find_tips(const Plot *self)
{
	const LodeMemoryGrid *grid = self->grid;
	GArray *tips = g_array_new(FALSE, FALSE, sizeof(Tip));

	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		for (uint32_t column = 0; column < grid->n_columns * self->n_kinds; column++) {
			Tip tip = {.row = row, .column = column};
			tip.weight = lode_memory_grid_by_thread(grid,
				(LodeGridKind)(column % self->n_kinds), column / self->n_kinds,
				row);
			if (tip.weight > 0)
				g_array_append_val(tips, tip);
		}
		for (uint32_t step = 0; step < LODE_GRID_STEPS; step++) {
			Tip tip = {.row = row, .column = step, .is_time = true};
			tip.weight = grid->by_time[(size_t)row * LODE_GRID_STEPS + step];
			if (tip.weight > 0)
				g_array_append_val(tips, tip);
		}
	}
	if (tips->len > MAX_TOOLTIPS) {
		g_array_sort(tips, heaviest_first);
		g_array_set_size(tips, MAX_TOOLTIPS);
	}
	return tips;
}

/* "[heap] 0x…-0x…: 1.2 % of weight, loads by thread 3" */
static void draw_tip(const Plot *self, const Tip *tip)
{
	static const char *const kinds[] = {"loads", "stores", "accesses of unknown kind"};
	const LodeMemoryGrid *grid = self->grid;
	const double step_width = (double)TIME_WIDTH / LODE_GRID_STEPS;
	uint64_t first, last;
	const LodeAddressSegment *segment = lode_address_axis_range(
		grid->axis, tip->row, &first, &last);
	size_t index = (size_t)tip->row * LODE_GRID_STEPS + tip->column;
	uint32_t column = tip->is_time ? grid->time_columns[index] : tip->column / self->n_kinds;
	g_autofree char *label = column_label(self, column);
	double top, height;

	lode_address_axis_place(grid->axis, tip->row, &top, &height);
	g_autofree char *text = g_strdup_printf("%s %s-%s%s%s: %s of weight, %s by thread %s",
		segment->name, LODE_ADDRESS_TEXT(first), LODE_ADDRESS_TEXT(last),
		segment->objects->len > 0 ? " · " : "",
		segment->objects->len > 0 ? (const char *)segment->objects->pdata[0] : "",
		LODE_SHARE_TEXT(tip->weight / self->notes->weight),
		tip->is_time ? "most" : kinds[tip->column % self->n_kinds], label);
	if (tip->is_time)
		lode_plot_tooltip(self->cairo, self->time_x + tip->column * step_width,
			self->top + top, step_width, height, text);
	else
		lode_plot_tooltip(self->cairo, LEFT + LABEL_WIDTH + tip->column * self->kind_width,
			self->top + top, self->kind_width, height, text);
}

static void draw_tips(const Plot *self)
{
	g_autoptr(GArray) tips = find_tips(self);

	for (guint i = 0; i < tips->len; i++)
		draw_tip(self, &g_array_index(tips, Tip, i));
}

static void draw_thread_panel(const Plot *self)
{
	static const char *const names[] = {"loads", "stores", "kind unknown"};
	const LodeMemoryGrid *grid = self->grid;
	size_t n = (size_t)LODE_GRID_N_KINDS * grid->n_columns * grid->axis->n_rows;
	Weights weights = weights_of(grid->by_thread, n);
	Legend legend = {LEFT + LABEL_WIDTH, &weights, names, self->n_kinds};

	draw_thread_lines(self);
	draw_thread_cells(self, &weights.scale);
	lode_address_axis_draw_frame(
		grid->axis, self->cairo, LEFT + LABEL_WIDTH, self->top, self->thread_width);
	draw_thread_labels(self);
	draw_legend(self, &legend);
}

static void draw_time_panel(const Plot *self)
{
	const char *names[] = {"loads only", "stores only",
		self->grid->has_unknown ? "both, or kind unknown" : "both"};
	const LodeMemoryGrid *grid = self->grid;
	Weights weights = weights_of(grid->by_time, (size_t)LODE_GRID_STEPS * grid->axis->n_rows);
	Legend legend = {self->time_x, &weights, names, LODE_PLOT_N_HUES};
	LodePlotTextStyle style = {.size = 11, .grey = 0.3, .anchor = LODE_PLOT_MIDDLE};

	lode_address_axis_draw_frame(grid->axis, self->cairo, self->time_x, self->top, TIME_WIDTH);
	if (grid->begin_ns > grid->end_ns) {
		lode_plot_text(self->cairo, self->time_x + TIME_WIDTH / 2.0,
			self->top + grid->axis->height / 2, &style, "times were not recorded");
		return;
	}
	if (self->colours_threads)
		draw_time_threads(self, &weights.scale);
	else
		draw_time_cells(self, &weights.scale);
	/* Again, since the cells cover its lines. */
	lode_address_axis_draw_frame(grid->axis, self->cairo, self->time_x, self->top, TIME_WIDTH);
	draw_time_axis(self);
	if (self->colours_threads)
		draw_thread_legend(self, &weights);
	else
		draw_legend(self, &legend);
}

static void draw_titles(const Plot *self)
{
	LodePlotTextStyle style = {.size = 15, .is_bold = true, .width = self->width - 2 * LEFT};
	const char *program = lode_program_run_of(self->profile)->program;
	g_autofree char *facts = g_strdup_printf(
		"%s sample%s with a data address · %s thread%s · by %s of %s · weight: %s%s",
		LODE_COUNT_TEXT(self->grid->n_samples), self->grid->n_samples == 1 ? "" : "s",
		LODE_COUNT_TEXT(self->grid->threads->len), self->grid->threads->len == 1 ? "" : "s",
		lode_address_granularity_name(self->granularity),
		LODE_BYTES_TEXT(self->granularity),
		self->notes->n_events > 0 ? self->notes->event_names : "none",
		self->notes->is_stall_weighted ? ", which is time, not accesses made" : "");

	lode_plot_text(self->cairo, LEFT, 22, &style, program != NULL ? program : "?");
	style = (LodePlotTextStyle){.size = 10.5, .grey = 0.3, .width = self->width - 2 * LEFT};
	lode_plot_text(self->cairo, LEFT, 42, &style, facts);
	for (guint i = 0; i < self->losses->len; i++)
		lode_plot_text(self->cairo, LEFT, 42 + LOSS_STEP * (i + 1), &style,
			self->losses->pdata[i]);
}

static void draw_panel_titles(const Plot *self)
{
	LodePlotTextStyle style = {.size = 11.5, .is_bold = true};

	lode_plot_text(self->cairo, LEFT, self->top - 12, &style, "mapping and addresses");
	lode_plot_text(self->cairo, LEFT + LABEL_WIDTH, self->top - 12, &style, "by thread");
	lode_plot_text(self->cairo, self->time_x, self->top - 12, &style, "over time");
}

/* "12 more ranges, 0.3 %". */
static char *left_out_text(const Plot *self)
{
	const LodeAddressAxis *axis = self->grid->axis;

	return g_strdup_printf("%s more range%s, %s", LODE_COUNT_TEXT(axis->n_left_out),
		axis->n_left_out == 1 ? "" : "s",
		LODE_SHARE_TEXT(axis->left_out_weight / self->notes->weight));
}

/* Draws the notes on the part that the picture does not show. */
static void draw_notes(const Plot *self)
{
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.35, .width = LABEL_WIDTH - 10};
	double y = self->top + self->grid->axis->height + LEGEND_OFFSET;

	if (self->notes->unresolved_weight > 0) {
		g_autofree char *text = g_strdup_printf("without a data address: %s of weight",
			LODE_SHARE_TEXT(self->notes->unresolved_weight / self->notes->weight));
		lode_plot_text(self->cairo, LEFT, y, &style, text);
		y += LEGEND_STEP;
	}
	if (self->grid->n_without_time > 0) {
		g_autofree char *text = g_strdup_printf(
			"without a time: %s samples", LODE_COUNT_TEXT(self->grid->n_without_time));
		lode_plot_text(self->cairo, LEFT, y, &style, text);
		y += LEGEND_STEP;
	}
	if (self->grid->axis->n_left_out > 0) {
		g_autofree char *text = left_out_text(self);
		lode_plot_text(self->cairo, LEFT, y, &style, text);
		y += LEGEND_STEP;
	}
	lode_plot_text(self->cairo, LEFT, y + LEGEND_STEP, &style,
		"darker is more weight, in logarithmic steps");
	lode_plot_text(self->cairo, LEFT, y, &style, "// addresses without a sample, left out");
}

static void draw(const Plot *self)
{
	LodePlotTextStyle style = {.size = 13, .grey = 0.3, .anchor = LODE_PLOT_MIDDLE};

	draw_titles(self);
	if (self->grid->n_samples == 0) {
		lode_plot_text(self->cairo, self->width / 2, self->height / 2, &style,
			"no sample with a data address");
		return;
	}
	draw_panel_titles(self);
	lode_address_axis_draw_labels(self->grid->axis, self->cairo, LEFT + LABEL_WIDTH, self->top);
	draw_thread_panel(self);
	draw_time_panel(self);
	draw_notes(self);
	draw_tips(self);
}

bool lode_memory_plot_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeMemoryPlotOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeMemoryGrid) grid = lode_memory_grid_new(
		profile, samples, n_samples, options->granularity, NULL);
	g_auto(LodeMemoryNotes) notes = {0};
	Plot plot = {
		.profile = profile,
		.grid = grid,
		.notes = &notes,
		.granularity = options->granularity,
		.colours_threads = options->colours_threads,
	};

	lode_memory_notes_init(&notes, profile, samples, n_samples);
	g_autoptr(GPtrArray) losses = lode_memory_loss_lines(profile, &notes.losses, NULL, NULL);
	plot.losses = losses;
	lay_out(&plot);
	g_autoptr(LodePlotCanvas)
		canvas = lode_plot_canvas_new(options->format, plot.width, plot.height, out, error);
	if (canvas == NULL)
		return false;
	plot.cairo = lode_plot_canvas_cairo(canvas);
	draw(&plot);
	return lode_plot_canvas_finish(canvas, error);
}
