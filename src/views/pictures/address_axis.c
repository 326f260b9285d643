/* SPDX-License-Identifier: MIT */
/* Which stretches of the address space an axis shows, and where. */
#include "views/pictures/address_axis.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "base/text/number_format.h"
#include "model/index.h"
#include "model/memory.h"
#include "views/figures/profile_figures.h"
#include "views/plot/cairo_library.h"
#include "views/plot/plot_axis.h"
#include "views/plot/plot_canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAXIMUM_SEGMENTS = 80,
	MINIMUM_GAP = 16, /* cells; and a part of the stretch that it is in */
	GAP_PART = 4,
	MINIMUM_HEIGHT = 15,
	CUT_HEIGHT = 7,
	JOINT_HEIGHT = 1,
	ROW_HEIGHT = 3,
	LEAST_HEIGHT = 520, /* of the axis */
	STACKS_APART = 12,
	TWO_LINES = 28, /* heights that have room for so many */
	LINE_HEIGHT = 12,
	MAXIMUM_OBJECTS = 12, /* that have a name */
	ADDRESS_WIDTH = 96,
	NAME_WIDTH = LODE_ADDRESS_LABEL_WIDTH - ADDRESS_WIDTH,
};

static const double drawn_share = 0.001; /* of all weight: what has less is summed up */
static const double named_share = 0.05; /* of a segment's: what has less does not tell what it is */

/* A place between two cells where a segment may end. */
typedef struct {
	size_t cell; /* the first of the next segment */
	uint64_t gap;
} Break;

typedef struct {
	const LodeProfile *profile;
	const LodeHistogramCell *cells;
	size_t n_cells;
	const char **names; /* of the mapping of each cell */
	const LodeCellContents *contents;
	uint64_t granularity;
	double weight; /* of all cells */
} Finder;

static uint64_t gap_before(const Finder *self, size_t cell)
{
	return (self->cells[cell].address - self->cells[cell - 1].address) / self->granularity - 1;
}

LODE_ORDER(widest_first, Break, LODE_DESCENDING(gap), LODE_ASCENDING(cell))

LODE_ORDER(by_cell, Break, LODE_ASCENDING(cell))

/* The cell after the widest gap of a stretch of cells, where that is a good part of it; else 0. */
static size_t find_cut(const Finder *self, size_t start, size_t end)
{
	uint64_t span = (self->cells[end - 1].address - self->cells[start].address) /
	                self->granularity;
	uint64_t widest = MAX(MINIMUM_GAP, span / GAP_PART);
	size_t found = 0;

	for (size_t i = start + 1; i < end; i++) {
		uint64_t gap = gap_before(self, i);
		if (gap > widest) {
			widest = gap;
			found = i;
		}
	}
	return found;
}

/* Cuts a stretch, and its parts: each is shorter by a quarter, so that this ends soon. */
static void cut_stretch(const Finder *self, size_t start, size_t end, GArray *breaks)
{
	size_t cut = find_cut(self, start, end);

	if (cut == 0)
		return;
	Break found = {cut, gap_before(self, cut)};
	cut_stretch(self, start, cut, breaks);
	g_array_append_val(breaks, found);
	cut_stretch(self, cut, end, breaks);
}

/* Where segments begin: at new mappings, and at gaps that are most of what lies around them; the
 * widest when there are too many. */
static GArray *find_breaks(const Finder *self)
{
	GArray *breaks = g_array_new(FALSE, FALSE, sizeof(Break));

	for (size_t start = 0, end; start < self->n_cells; start = end) {
		for (end = start + 1;
			end < self->n_cells && strcmp(self->names[end], self->names[start]) == 0;)
			end++;
		cut_stretch(self, start, end, breaks);
		Break next = {end, end < self->n_cells ? gap_before(self, end) : 0};
		if (end < self->n_cells)
			g_array_append_val(breaks, next);
	}
	if (breaks->len >= MAXIMUM_SEGMENTS) {
		g_array_sort(breaks, widest_first);
		g_array_set_size(breaks, MAXIMUM_SEGMENTS - 1);
		g_array_sort(breaks, by_cell);
	}
	return breaks;
}

/* The name with most weight, and how many others there are. */
static char *name_segment(const Finder *self, size_t start, size_t end)
{
	g_autoptr(GHashTable)
		weights = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	const char *best = self->names[start];
	double most = 0;

	for (size_t i = start; i < end; i++) {
		double *weight = lode_sum_at(weights, self->names[i]);
		*weight += self->cells[i].weight;
		if (*weight > most) {
			most = *weight;
			best = self->names[i];
		}
	}
	const char *slash = strrchr(best, '/');
	const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : best;
	guint others = g_hash_table_size(weights) - 1;
	return others > 0 ? g_strdup_printf("%s and %u more", name, others) : g_strdup(name);
}

/* The heaviest objects with their shares. Objects named after their mapping add nothing to the
 * segment's name. */
static GPtrArray *name_objects(const Finder *self, const LodeAddressSegment *segment)
{
	g_autoptr(GArray) contents = lode_cell_contents_between(
		self->contents, LODE_NONE, segment->first, segment->last - (self->granularity - 1));
	const GArray *objects = lode_memory_of(self->profile)->objects;
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	guint n_more = 0;

	for (guint i = 0; i < contents->len; i++) {
		const LodeContent *content = &LODE_AT(contents, LodeContent, i);
		if (content->object >= objects->len)
			continue;
		const LodeDataObject *object = &LODE_AT(objects, LodeDataObject, content->object);
		if (object->layer == LODE_LAYER_MAPPING)
			continue;
		if (names->len == MAXIMUM_OBJECTS ||
			content->weight < named_share * segment->weight) {
			n_more++;
			continue;
		}
		g_ptr_array_add(names,
			g_strdup_printf("%s %s", object->name,
				LODE_SHARE_TEXT(lode_share_of(content->weight, segment->weight))));
	}
	if (n_more > 0 && names->len > 0)
		g_ptr_array_add(
			names, g_strdup_printf("%u more object%s", n_more, n_more == 1 ? "" : "s"));
	return names;
}

static double sum_weights(const LodeHistogramCell *cells, size_t start, size_t end)
{
	double weight = 0;

	for (size_t i = start; i < end; i++)
		weight += cells[i].weight;
	return weight;
}

/* A segment that a single sample made would be as high as a hot one. */
static void add_segment(LodeAddressAxis *self, const Finder *finder, size_t start, size_t end)
{
	double weight = sum_weights(finder->cells, start, end);

	if (weight < drawn_share * finder->weight) {
		self->n_left_out++;
		self->left_out_weight += weight;
		return;
	}
	LodeAddressSegment segment = {
		.first = finder->cells[start].address,
		.last = finder->cells[end - 1].address + (self->granularity - 1),
		.weight = weight,
		.name = name_segment(finder, start, end),
	};
	guint n = self->segments->len;

	segment.is_joined = n > 0 && LODE_AT(self->segments, LodeAddressSegment, n - 1).last + 1 ==
	                                     segment.first;
	segment.objects = name_objects(finder, &segment);
	g_array_append_val(self->segments, segment);
}

static void clear_segment(void *segment)
{
	g_ptr_array_unref(((LodeAddressSegment *)segment)->objects);
	g_free(((LodeAddressSegment *)segment)->name);
}

/* By size itself a stack could not be seen beside a large heap. */
static double root_of_size(const LodeAddressAxis *self, const LodeAddressSegment *segment)
{
	return sqrt((double)((segment->last - segment->first) / self->granularity) + 1);
}

static double space_above(const LodeAddressAxis *self, guint index)
{
	if (index + 1 == self->segments->len)
		return 0;
	return LODE_AT(self->segments, LodeAddressSegment, index + 1).is_joined ? JOINT_HEIGHT
	                                                                        : CUT_HEIGHT;
}

static double measure_height(const LodeAddressAxis *self)
{
	double height = 0;

	for (guint i = 0; i < self->segments->len; i++)
		height += MINIMUM_HEIGHT + space_above(self, i);
	/* Some height is always left to be shared by size. */
	return MAX(LEAST_HEIGHT, height + LEAST_HEIGHT / 4.0);
}

/* As many rows as fit, each of the same whole number of cells. */
static void cut_rows(LodeAddressAxis *self, LodeAddressSegment *segment)
{
	uint64_t span = (segment->last - segment->first) / self->granularity + 1;
	uint64_t most = MAX((uint64_t)((segment->bottom - segment->top) / ROW_HEIGHT), 1);

	segment->cells_per_row = (span - 1) / most + 1;
	segment->first_row = self->n_rows;
	segment->n_rows = (uint32_t)((span - 1) / segment->cells_per_row + 1);
	self->n_rows += segment->n_rows;
}

/* From the bottom up: the least height for each, and the rest by the roots of their sizes. */
static void place_segments(LodeAddressAxis *self)
{
	double roots = 0, rest = 0;

	self->height = measure_height(self);
	rest = self->height;
	for (guint i = 0; i < self->segments->len; i++) {
		roots += root_of_size(self, &LODE_AT(self->segments, LodeAddressSegment, i));
		rest -= MINIMUM_HEIGHT + space_above(self, i);
	}
	double y = self->height;
	for (guint i = 0; i < self->segments->len; i++) {
		LodeAddressSegment *segment = &LODE_AT(self->segments, LodeAddressSegment, i);
		segment->bottom = y;
		y -= MINIMUM_HEIGHT + rest * root_of_size(self, segment) / roots;
		segment->top = y;
		y -= space_above(self, i);
		cut_rows(self, segment);
	}
}

static bool is_stack(const char *name)
{
	return g_str_has_prefix(name, "[stack of thread ");
}

/* A program of many threads has a stack for each: one name for all, so that they are one stretch.
 */
static void join_stacks(Finder *self)
{
	size_t n_stacks = 0;

	for (size_t i = 0; i < self->n_cells; i++)
		n_stacks += is_stack(self->names[i]) &&
		            (i == 0 || strcmp(self->names[i], self->names[i - 1]) != 0);
	if (n_stacks <= STACKS_APART)
		return;
	for (size_t i = 0; i < self->n_cells; i++)
		if (is_stack(self->names[i]))
			self->names[i] = "[stacks of threads]";
}

static void find_names(Finder *self, const LodeHistogramCell *cells)
{
	for (size_t i = 0; i < self->n_cells; i++) {
		LodeContent content = lode_cell_contents_main(
			self->contents, cells[i].thread, cells[i].address);
		self->names[i] = lode_content_mapping_name(self->profile, &content);
	}
	join_stacks(self);
}

LodeAddressAxis *lode_address_axis_new(const LodeProfile *profile, const LodeHistogramCell *cells,
	size_t n_cells, const LodeCellContents *contents, uint64_t granularity)
{
	LodeAddressAxis *self = g_new0(LodeAddressAxis, 1);
	g_autofree const char **names = g_new0(const char *, n_cells + 1);
	Finder finder = {profile, cells, n_cells, names, contents, granularity,
		sum_weights(cells, 0, n_cells)};
	size_t start = 0;

	self->granularity = granularity;
	self->segments = g_array_new(FALSE, FALSE, sizeof(LodeAddressSegment));
	g_array_set_clear_func(self->segments, clear_segment);
	find_names(&finder, cells);
	g_autoptr(GArray) breaks = find_breaks(&finder);
	for (guint i = 0; i < breaks->len; i++) {
		size_t end = g_array_index(breaks, Break, i).cell;
		add_segment(self, &finder, start, end);
		start = end;
	}
	if (n_cells > 0)
		add_segment(self, &finder, start, n_cells);
	place_segments(self);
	return self;
}

LodeAddressAxis *lode_address_axis_new_part(uint64_t first, uint64_t last, uint32_t n_rows)
{
	LodeAddressAxis *self = g_new0(LodeAddressAxis, 1);
	LodeAddressSegment segment = {.name = g_strdup(""),
		.first = first,
		.last = last,
		.objects = g_ptr_array_new_with_free_func(g_free)};

	self->granularity = 1;
	self->segments = g_array_new(FALSE, FALSE, sizeof(LodeAddressSegment));
	g_array_set_clear_func(self->segments, clear_segment);
	segment.cells_per_row = (last - first) / n_rows + 1;
	segment.n_rows = (uint32_t)((last - first) / segment.cells_per_row + 1);
	self->n_rows = segment.n_rows;
	g_array_append_val(self->segments, segment);
	return self;
}

void lode_address_axis_free(LodeAddressAxis *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->segments);
	g_free(self);
}

/* The last segment that begins at or below an address, or for which its row is not above. */
static const LodeAddressSegment *find_segment(
	const LodeAddressAxis *self, bool by_row, uint64_t wanted)
{
	const LodeAddressSegment *segments =
		(const LodeAddressSegment *)(const void *)self->segments->data;
	guint n = LODE_PARTITION_POINT(self->segments->len, i,
		(by_row ? segments[i].first_row : segments[i].first) <= wanted);

	return n > 0 ? &segments[n - 1] : NULL;
}

uint32_t lode_address_axis_row(const LodeAddressAxis *self, uint64_t address)
{
	const LodeAddressSegment *segment = find_segment(self, false, address);

	if (segment == NULL || address > segment->last)
		return LODE_NONE;
	uint64_t cell = (address - segment->first) / self->granularity;
	return segment->first_row + (uint32_t)(cell / segment->cells_per_row);
}

void lode_address_axis_place(
	const LodeAddressAxis *self, uint32_t row, double *out_top, double *out_height)
{
	const LodeAddressSegment *segment = find_segment(self, true, row);
	double height = (segment->bottom - segment->top) / segment->n_rows;

	*out_height = height;
	*out_top = segment->bottom - height * (row - segment->first_row + 1);
}

const LodeAddressSegment *lode_address_axis_range(
	const LodeAddressAxis *self, uint32_t row, uint64_t *out_first, uint64_t *out_last)
{
	const LodeAddressSegment *segment = find_segment(self, true, row);
	uint64_t bytes = segment->cells_per_row * self->granularity;

	*out_first = segment->first + (row - segment->first_row) * bytes;
	*out_last = MIN(segment->last - *out_first, bytes - 1) + *out_first;
	return segment;
}

static void draw_addresses(const LodeAddressSegment *segment, cairo_t *cairo, double x, double y)
{
	LodePlotTextStyle style = {.size = 9, .grey = 0.3, .anchor = LODE_PLOT_END};

	lode_plot_text(
		cairo, x - 6, y + segment->bottom - 6, &style, LODE_ADDRESS_TEXT(segment->first));
	if (segment->bottom - segment->top >= TWO_LINES)
		lode_plot_text(cairo, x - 6, y + segment->top + 6, &style,
			LODE_ADDRESS_TEXT(segment->last));
}

/* From the first one on. */
static char *join_objects(const LodeAddressSegment *segment, guint first)
{
	GString *text = g_string_new(NULL);

	for (guint i = first; i < segment->objects->len; i++)
		g_string_append_printf(text, "%s%s", i > first ? ", " : "",
			(const char *)segment->objects->pdata[i]);
	return g_string_free(text, FALSE);
}

/* To the left its name and below it objects and size, as far as there is room. */
static void draw_name(const LodeAddressSegment *segment, cairo_t *cairo, double x, double y)
{
	const double height = segment->bottom - segment->top;
	const guint n_objects = segment->objects->len;
	guint n_lines = MAX((guint)((height - 4) / LINE_HEIGHT), 1);
	char size[LODE_NUMBER_SIZE];
	LodePlotTextStyle style = {.size = 10.5, .width = NAME_WIDTH};

	if (height < TWO_LINES) {
		g_autofree char *objects = join_objects(segment, 0);
		g_autofree char *text = g_strdup_printf(
			"%s%s%s", segment->name, n_objects > 0 ? ": " : "", objects);
		lode_plot_text(cairo, x, y + (segment->top + segment->bottom) / 2, &style, text);
		return;
	}
	/* the name, the objects, the size; it goes first where there are too few lines */
	guint n_shown = MIN(n_objects, n_lines - 1);
	bool has_size = n_lines > n_shown + 1;
	double line = y + (segment->top + segment->bottom) / 2 -
	              (n_shown + has_size) * LINE_HEIGHT / 2.0;
	lode_plot_text(cairo, x, line, &style, segment->name);
	style.size = 9;
	style.grey = 0.3;
	for (guint i = 0; i < n_shown; i++) {
		bool is_rest = i + 1 == n_shown;
		g_autofree char *text = is_rest ? join_objects(segment, i)
		                                : g_strdup(segment->objects->pdata[i]);
		line += LINE_HEIGHT;
		lode_plot_text(cairo, x, line, &style, text);
	}
	if (has_size)
		lode_plot_text(cairo, x, line + LINE_HEIGHT, &style,
			lode_number_format_bytes(segment->last - segment->first + 1, size));
}

/* All of it, where there is no room. */
static void draw_tooltip(const LodeAddressSegment *segment, cairo_t *cairo, double x, double y)
{
	g_autofree char *objects = join_objects(segment, 0);
	g_autofree char *text = g_strdup_printf("%s, %s: %s-%s%s%s", segment->name,
		LODE_BYTES_TEXT(segment->last - segment->first + 1),
		LODE_ADDRESS_TEXT(segment->first), LODE_ADDRESS_TEXT(segment->last),
		objects[0] != '\0' ? " · " : "", objects);

	lode_plot_tooltip(cairo, x, y + segment->top, LODE_ADDRESS_LABEL_WIDTH,
		segment->bottom - segment->top, text);
}

void lode_address_axis_draw_labels(const LodeAddressAxis *self, cairo_t *cairo, double x, double y)
{
	for (guint i = 0; i < self->segments->len; i++) {
		const LodeAddressSegment *segment = &LODE_AT(self->segments, LodeAddressSegment, i);
		draw_addresses(segment, cairo, x, y);
		draw_name(segment, cairo, x - LODE_ADDRESS_LABEL_WIDTH, y);
		draw_tooltip(segment, cairo, x - LODE_ADDRESS_LABEL_WIDTH, y);
	}
}

/* Two slanting strokes at either side, where addresses are left out. */
static void draw_cut(cairo_t *cairo, double x, double y)
{
	lode_cairo.set_source_rgb(cairo, 0.45, 0.45, 0.45);
	lode_cairo.set_line_width(cairo, 0.8);
	for (int i = 0; i < 2; i++) {
		lode_cairo.move_to(cairo, x - 4, y + 2 + i * 2.5 - CUT_HEIGHT / 2.0 + 2);
		lode_cairo.rel_line_to(cairo, 8, -3);
	}
	lode_cairo.stroke(cairo);
}

void lode_address_axis_draw_frame(
	const LodeAddressAxis *self, cairo_t *cairo, double x, double y, double width)
{
	for (guint i = 0; i < self->segments->len; i++) {
		const LodeAddressSegment *segment = &LODE_AT(self->segments, LodeAddressSegment, i);
		const LodePlotBox box = {
			x, y + segment->top, width, segment->bottom - segment->top};
		lode_plot_frame(cairo, &box);
		if (i > 0 && !segment->is_joined) {
			double middle = y + segment->bottom + CUT_HEIGHT / 2.0;
			draw_cut(cairo, x, middle);
			draw_cut(cairo, x + width, middle);
		}
	}
}
