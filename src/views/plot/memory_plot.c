/* SPDX-License-Identifier: MIT */
/* Threads × addresses and addresses × time, on one sheet. */
#include "views/plot/memory_plot.h"

#include "base/number_format.h"
#include "views/memory_names.h"
#include "views/memory_notes.h"
#include "views/plot/memory_grid.h"
#include "views/plot/plot_axis.h"

#include <float.h>
#include <string.h>

enum {
	LABEL_WIDTH = LODE_ADDRESS_LABEL_WIDTH,
	PANEL_GAP = 36,
	THREADS_WIDTH = 240, /* at least */
	LEAST_KIND_WIDTH = 2,
	TIME_WIDTH = LODE_GRID_STEPS * 4,
	LEFT = 16,
	RIGHT = 28,
	TOP = 74,
	BOTTOM = 128,
	LEGEND_OFFSET = 50,
	LEGEND_STEP = 15,
	BAR_WIDTH = 96,
	EMPTY_HEIGHT = 240,
};

typedef struct {
	const LodeProfile *profile;
	const LodeMemoryGrid *grid;
	const LodeMemoryNotes *notes;
	uint64_t granularity;
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
	self->height = TOP + BOTTOM +
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

static void draw_thread_cells(const Plot *self, const LodePlotScale *scale)
{
	const LodeMemoryGrid *grid = self->grid;
	g_autoptr(LodePlotCells) cells = lode_plot_cells_new();
	double top, height;

	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		lode_address_axis_place(grid->axis, row, &top, &height);
		for (uint32_t column = 0; column < grid->n_columns * self->n_kinds; column++) {
			LodeGridKind kind = (LodeGridKind)(column % self->n_kinds);
			double weight = lode_memory_grid_by_thread(
				grid, kind, column / self->n_kinds, row);
			LodePlotBox box = {LEFT + LABEL_WIDTH + column * self->kind_width,
				TOP + top, self->kind_width, height};
			if (weight > 0)
				lode_plot_cells_add(cells, kind_hues[kind],
					lode_plot_level(scale, weight), &box);
		}
	}
	lode_plot_cells_fill(cells, self->cairo);
}

static LodePlotHue hue_of(uint8_t kinds)
{
	if (kinds == 1 << LODE_GRID_LOAD)
		return LODE_PLOT_BLUE;
	return kinds == 1 << LODE_GRID_STORE ? LODE_PLOT_ORANGE : LODE_PLOT_GREY;
}

static void draw_time_cells(const Plot *self, const LodePlotScale *scale)
{
	const LodeMemoryGrid *grid = self->grid;
	g_autoptr(LodePlotCells) cells = lode_plot_cells_new();
	const double width = (double)TIME_WIDTH / LODE_GRID_STEPS;
	double top, height;

	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		lode_address_axis_place(grid->axis, row, &top, &height);
		for (uint32_t step = 0; step < LODE_GRID_STEPS; step++) {
			size_t index = (size_t)row * LODE_GRID_STEPS + step;
			LodePlotBox box = {self->time_x + step * width, TOP + top, width, height};
			if (grid->by_time[index] > 0)
				lode_plot_cells_add(cells, hue_of(grid->kinds[index]),
					lode_plot_level(scale, grid->by_time[index]), &box);
		}
	}
	lode_plot_cells_fill(cells, self->cairo);
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
	const double y = TOP + self->grid->axis->height;
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
	cairo_set_source_rgb(self->cairo, 0.85, 0.85, 0.85);
	cairo_set_line_width(self->cairo, 0.6);
	for (uint32_t i = 1; i < self->grid->n_columns; i++) {
		cairo_move_to(self->cairo, LEFT + LABEL_WIDTH + i * column_width, TOP);
		cairo_rel_line_to(self->cairo, 0, self->grid->axis->height);
	}
	cairo_stroke(self->cairo);
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
						 .at = TOP + grid->axis->height,
					 });
}

typedef struct {
	double x;
	const Weights *weights;
	const char *const *names; /* of the hues */
	unsigned n_hues;
} Legend;

/* A bar for each hue, and what its ends mean. */
static void draw_legend(const Plot *self, const Legend *legend)
{
	double y = TOP + self->grid->axis->height + LEGEND_OFFSET;
	char low[LODE_NUMBER_SIZE], high[LODE_NUMBER_SIZE];
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.2};

	for (unsigned i = 0; i < legend->n_hues; i++) {
		LodePlotBox bar = {legend->x, y + i * LEGEND_STEP - 5, BAR_WIDTH, 10};
		lode_plot_colour_bar(self->cairo, kind_hues[i], &bar);
		lode_plot_text(self->cairo, legend->x + BAR_WIDTH + 8, y + i * LEGEND_STEP, &style,
			legend->names[i]);
	}
	lode_number_format_share(legend->weights->low / self->notes->weight, low);
	lode_number_format_share(legend->weights->high / self->notes->weight, high);
	bool is_range = strcmp(low, high) != 0;
	g_autofree char *ends = g_strdup_printf(
		"%s%s%s of weight", low, is_range ? " … " : "", is_range ? high : "");
	style.grey = 0.35;
	lode_plot_text(self->cairo, legend->x, y + legend->n_hues * LEGEND_STEP, &style, ends);
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
		grid->axis, self->cairo, LEFT + LABEL_WIDTH, TOP, self->thread_width);
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

	lode_address_axis_draw_frame(grid->axis, self->cairo, self->time_x, TOP, TIME_WIDTH);
	if (grid->begin_ns > grid->end_ns) {
		lode_plot_text(self->cairo, self->time_x + TIME_WIDTH / 2.0,
			TOP + grid->axis->height / 2, &style, "times were not recorded");
		return;
	}
	draw_time_cells(self, &weights.scale);
	/* Again, since the cells cover its lines. */
	lode_address_axis_draw_frame(grid->axis, self->cairo, self->time_x, TOP, TIME_WIDTH);
	draw_time_axis(self);
	draw_legend(self, &legend);
}

static void draw_titles(const Plot *self)
{
	LodePlotTextStyle style = {.size = 15, .is_bold = true, .width = self->width - 2 * LEFT};
	char samples[LODE_NUMBER_SIZE], size[LODE_ADDRESS_TEXT_SIZE], threads[LODE_NUMBER_SIZE];
	const char *program = self->profile->program;
	g_autofree char *facts = g_strdup_printf(
		"%s samples with a data address · %s threads · by %s of %s · weight: %s%s",
		lode_number_format_count((double)self->grid->n_samples, samples),
		lode_number_format_count(self->grid->threads->len, threads),
		lode_address_granularity_name(self->granularity),
		lode_memory_size_text(self->granularity, size),
		self->notes->n_events > 0 ? self->notes->event_names : "none",
		self->notes->is_stall_weighted ? ", which is time, not accesses made" : "");

	lode_plot_text(self->cairo, LEFT, 22, &style, program != NULL ? program : "?");
	style = (LodePlotTextStyle){.size = 10.5, .grey = 0.3, .width = self->width - 2 * LEFT};
	lode_plot_text(self->cairo, LEFT, 42, &style, facts);
}

static void draw_panel_titles(const Plot *self)
{
	LodePlotTextStyle style = {.size = 11.5, .is_bold = true};

	lode_plot_text(self->cairo, LEFT, TOP - 12, &style, "mapping and addresses");
	lode_plot_text(self->cairo, LEFT + LABEL_WIDTH, TOP - 12, &style, "by thread");
	lode_plot_text(self->cairo, self->time_x, TOP - 12, &style, "over time");
}

/* "12 more ranges, 0.3 %". */
static char *left_out_text(const Plot *self)
{
	const LodeAddressAxis *axis = self->grid->axis;
	char number[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];

	return g_strdup_printf("%s more range%s, %s",
		lode_number_format_count(axis->n_left_out, number),
		axis->n_left_out == 1 ? "" : "s",
		lode_number_format_share(axis->left_out_weight / self->notes->weight, share));
}

/* What the picture does not show. */
static void draw_notes(const Plot *self)
{
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.35, .width = LABEL_WIDTH - 10};
	double y = TOP + self->grid->axis->height + LEGEND_OFFSET;
	char number[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];

	if (self->notes->unresolved_weight > 0) {
		g_autofree char *text = g_strdup_printf("without a data address: %s of weight",
			lode_number_format_share(
				self->notes->unresolved_weight / self->notes->weight, share));
		lode_plot_text(self->cairo, LEFT, y, &style, text);
		y += LEGEND_STEP;
	}
	if (self->grid->n_without_time > 0) {
		g_autofree char *text = g_strdup_printf("without a time: %s samples",
			lode_number_format_count((double)self->grid->n_without_time, number));
		lode_plot_text(self->cairo, LEFT, y, &style, text);
		y += LEGEND_STEP;
	}
	if (self->grid->axis->n_left_out > 0) {
		g_autofree char *text = left_out_text(self);
		lode_plot_text(self->cairo, LEFT, y, &style, text);
		y += LEGEND_STEP;
	}
	lode_plot_text(self->cairo, LEFT, y + LEGEND_STEP, &style,
		"darker is more weight a box, in logarithmic steps");
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
	lode_address_axis_draw_labels(self->grid->axis, self->cairo, LEFT + LABEL_WIDTH, TOP);
	draw_thread_panel(self);
	draw_time_panel(self);
	draw_notes(self);
}

bool lode_memory_plot_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeMemoryPlotOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeMemoryGrid)
		grid = lode_memory_grid_new(profile, samples, n_samples, options->granularity);
	g_auto(LodeMemoryNotes) notes = {0};
	Plot plot = {
		.profile = profile,
		.grid = grid,
		.notes = &notes,
		.granularity = options->granularity,
	};

	lode_memory_notes_init(&notes, profile, samples, n_samples);
	lay_out(&plot);
	g_autoptr(LodePlotCanvas)
		canvas = lode_plot_canvas_new(options->format, plot.width, plot.height, out);
	plot.cairo = lode_plot_canvas_cairo(canvas);
	draw(&plot);
	return lode_plot_canvas_finish(canvas, error);
}
