/* SPDX-License-Identifier: MIT */
/*
 * The picture of data addresses: the SVG is XML with a box for each cell of the grid, the PNG
 * decodes, equal input gives equal bytes, and extreme input gives a picture too. With
 * LODE_PLOT_DIRECTORY set the pictures are kept there, to be looked at.
 */
#include "../../analyses/memory/sample_profile.h"
#include "../sample_profile.h"
#include "analyses/memory/cells/address_histogram.h"
#include "base/error.h"
#include "model/memory.h"
#include "seeds.h"
#include "views/pictures/address_axis.h"
#include "views/pictures/memory_grid.h"
#include "views/pictures/memory_plot.h"
#include "views/plot/plot_colour.h"

#include <cairo.h>
#include <math.h>
#include <string.h>

typedef struct {
	LodeProfile *profile;
	GArray *samples;
	uint64_t granularity;
} Picture;

static Picture picture_of(LodeProfile *profile)
{
	Picture picture = {profile, g_array_new(FALSE, FALSE, sizeof(uint32_t)), LODE_PAGE_BYTES};

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(picture.samples, i);
	return picture;
}

static void picture_clear(Picture *self)
{
	g_array_unref(self->samples);
	lode_profile_free(self->profile);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

static LodeMemoryGrid *grid_of(const Picture *self)
{
	return lode_memory_grid_new(self->profile, (const uint32_t *)(void *)self->samples->data,
		self->samples->len, self->granularity, NULL);
}

static GBytes *draw(const Picture *self, LodePlotFormat format)
{
	g_autoptr(GError) error = NULL;
	LodeMemoryPlotOptions options = {format, self->granularity};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bool done = lode_memory_plot_write(self->profile,
		(const uint32_t *)(void *)self->samples->data, self->samples->len, &options, out,
		&error);
	g_assert_no_error(error);
	g_assert_true(done);
	fclose(out);
	GBytes *bytes = g_bytes_new(text, size);
	free(text);
	return bytes;
}

static void keep(GBytes *bytes, const char *name)
{
	const char *directory = g_getenv("LODE_PLOT_DIRECTORY");
	g_autoptr(GError) error = NULL;

	if (directory == NULL)
		return;
	g_autofree char *path = g_build_filename(directory, name, NULL);
	g_file_set_contents(
		path, g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes), &error);
	g_assert_no_error(error);
}

/* Sub-paths and rectangles filled with a colour of the scales, and all elements. */
typedef struct {
	GHashTable *colours;
	uint64_t n_boxes, n_elements;
} Svg;

/* cairo writes "rgb(12.5%, 3%, 0%)", of 8 bits or of 16: compared as "#rrggbb". */
static char *normal_colour(const char *value)
{
	double red, green, blue;
	char text[8];

	if (sscanf(value, "rgb(%lf%%, %lf%%, %lf%%)", &red, &green, &blue) != 3 &&
		sscanf(value, "rgb(%lf%%,%lf%%,%lf%%)", &red, &green, &blue) != 3)
		return g_strdup(value);
	lode_plot_colour_text((LodePlotColour){red / 100, green / 100, blue / 100}, text);
	return g_strdup(text);
}

static bool has_scale_colour(const Svg *self, const char **names, const char **values)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		const char *found = strcmp(names[i], "fill") == 0 ? values[i] : NULL;
		if (strcmp(names[i], "style") == 0 && strstr(values[i], "fill:rgb") != NULL)
			found = strstr(values[i], "fill:") + strlen("fill:");
		g_autofree char *colour = found != NULL ? normal_colour(found) : NULL;
		if (colour != NULL && g_hash_table_contains(self->colours, colour))
			return true;
	}
	return false;
}

static void count_element(GMarkupParseContext *context, const char *element, const char **names,
	const char **values, void *user_data, GError **error)
{
	Svg *self = user_data;

	(void)context;
	(void)error;
	self->n_elements++;
	if (!has_scale_colour(self, names, values))
		return;
	if (strcmp(element, "rect") == 0)
		self->n_boxes++;
	for (size_t i = 0; names[i] != NULL; i++)
		for (const char *at = values[i]; strcmp(names[i], "d") == 0 && *at != '\0'; at++)
			self->n_boxes += *at == 'Z';
}

static Svg parse_svg(GBytes *bytes)
{
	static const GMarkupParser parser = {.start_element = count_element};
	g_autoptr(GError) error = NULL;
	Svg svg = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), 0, 0};
	char text[8];

	for (unsigned hue = 0; hue < LODE_PLOT_N_HUES; hue++) {
		for (unsigned level = 0; level < LODE_PLOT_LEVELS; level++) {
			lode_plot_colour_text(lode_plot_colour((LodePlotHue)hue, level), text);
			g_hash_table_add(svg.colours, g_strdup(text));
		}
	}
	GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &svg, NULL);
	bool done = g_markup_parse_context_parse(context, g_bytes_get_data(bytes, NULL),
			    (gssize)g_bytes_get_size(bytes), &error) &&
	            g_markup_parse_context_end_parse(context, &error);
	g_assert_no_error(error);
	g_assert_true(done);
	g_markup_parse_context_free(context);
	g_hash_table_unref(svg.colours);
	return svg;
}

/* The boxes that the grid asks for, and those of the legends. */
static uint64_t expected_boxes(const LodeMemoryGrid *grid)
{
	uint64_t n = 0;
	unsigned n_kinds = grid->has_unknown ? 3 : 2;
	unsigned n_hues = grid->begin_ns <= grid->end_ns ? LODE_PLOT_N_HUES : 0;

	for (unsigned kind = 0; kind < LODE_GRID_N_KINDS; kind++)
		for (uint32_t column = 0; column < grid->n_columns; column++)
			for (uint32_t row = 0; row < grid->axis->n_rows; row++)
				n += lode_memory_grid_by_thread(
					     grid, (LodeGridKind)kind, column, row) > 0;
	for (size_t i = 0; i < (size_t)grid->axis->n_rows * LODE_GRID_STEPS; i++)
		n += grid->by_time[i] > 0;
	return n + (n_kinds + n_hues) * (uint64_t)LODE_PLOT_LEVELS;
}

typedef struct {
	GBytes *bytes;
	size_t at;
} Reader;

static cairo_status_t read_bytes(void *closure, unsigned char *data, unsigned n)
{
	Reader *reader = closure;
	size_t size;
	const uint8_t *bytes = g_bytes_get_data(reader->bytes, &size);

	if (size - reader->at < n)
		return CAIRO_STATUS_READ_ERROR;
	memcpy(data, bytes + reader->at, n);
	reader->at += n;
	return CAIRO_STATUS_SUCCESS;
}

/* The PNG decodes, and has more than white. */
static void assert_png(GBytes *bytes)
{
	Reader reader = {bytes, 0};
	cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(read_bytes, &reader);

	g_assert_cmpint(cairo_surface_status(surface), ==, CAIRO_STATUS_SUCCESS);
	int width = cairo_image_surface_get_width(surface);
	int height = cairo_image_surface_get_height(surface);
	int stride = cairo_image_surface_get_stride(surface);
	const uint8_t *pixels = cairo_image_surface_get_data(surface);
	uint64_t n_dark = 0;
	g_assert_cmpint(width, >, 400);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width * 4; x += 4)
			n_dark += pixels[y * stride + x] < 200;
	g_assert_cmpuint(n_dark, >, 50);
	cairo_surface_destroy(surface);
}

static void check_picture(const Picture *picture, const char *name)
{
	g_autoptr(LodeMemoryGrid) grid = grid_of(picture);
	g_autoptr(GBytes) svg = draw(picture, LODE_PLOT_SVG);
	g_autoptr(GBytes) again = draw(picture, LODE_PLOT_SVG);
	g_autoptr(GBytes) png = draw(picture, LODE_PLOT_PNG);
	g_autofree char *svg_name = g_strdup_printf("%s.svg", name);
	g_autofree char *png_name = g_strdup_printf("%s.png", name);

	keep(svg, svg_name);
	keep(png, png_name);
	g_assert_true(g_bytes_equal(svg, again));
	Svg parsed = parse_svg(svg);
	g_assert_cmpuint(parsed.n_elements, >, 3);
	if (grid->n_samples > 0)
		g_assert_cmpuint(parsed.n_boxes, ==, expected_boxes(grid));
	else
		g_assert_cmpuint(parsed.n_boxes, ==, 0);
	assert_png(png);
}

static void check_random(const SampleProfileOptions *options, const char *name)
{
	g_auto(Picture) picture = picture_of(sample_profile_random(options));

	check_picture(&picture, name);
}

static void test_pictures(void)
{
	check_random(&(SampleProfileOptions){.seed = 1,
			     .n_threads = 4,
			     .n_samples = 4000,
			     .anon_bytes = 0x400000,
			     .unresolved = 0.05,
			     .faults = 0.05},
		"four");
	check_random(
		&(SampleProfileOptions){
			.seed = 2, .n_threads = 1, .n_samples = 300, .anon_bytes = 0x10000},
		"one_thread");
	check_random(&(SampleProfileOptions){.seed = 3,
			     .n_threads = 200,
			     .n_samples = 20000,
			     .anon_bytes = UINT64_C(1) << 32},
		"many_threads");
}

static void test_few_samples(void)
{
	for (int n = 0; n < 4; n++) {
		g_autofree char *name = g_strdup_printf("samples_%d", n);
		LodeProfile *profile = sample_profile_new(2, 0x1000);
		const uint64_t addresses[] = {SAMPLE_ANON, 0, UINT64_MAX};
		for (int i = 0; i < n; i++)
			sample_profile_access(
				profile, (uint32_t)i % 2, addresses[i], (uint8_t)(i + 1) % 3, 0);
		g_auto(Picture) picture = picture_of(profile);
		check_picture(&picture, name);
		if (n < 3)
			continue;
		picture.granularity = 1;
		check_picture(&picture, name);
		picture.granularity = UINT64_C(1) << 40;
		check_picture(&picture, name);
	}
}

static char *draw_svg(const Picture *picture, bool colours_threads)
{
	g_autoptr(GError) error = NULL;
	LodeMemoryPlotOptions options = {LODE_PLOT_SVG, picture->granularity, colours_threads};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	g_assert_true(lode_memory_plot_write(picture->profile,
		(const uint32_t *)(void *)picture->samples->data, picture->samples->len, &options,
		out, &error));
	g_assert_no_error(error);
	fclose(out);
	char *copy = g_strdup(text);
	free(text);
	return copy;
}

/* The text of an SVG can be searched, and its boxes say what they are. */
static void test_texts(void)
{
	LodeProfile *profile = sample_profile_new(2, 0x10000);

	sample_profile_access(profile, 1, SAMPLE_ANON, LODE_ACCESS_STORE, 0);
	g_auto(Picture) picture = picture_of(profile);
	g_autofree char *svg = draw_svg(&picture, false);
	g_assert_nonnull(strstr(svg, ">1 sample with a data address · 1 thread · "));
	g_assert_nonnull(strstr(svg, ">by thread</text>"));
	g_assert_nonnull(strstr(svg, ": 100.0 % of weight, stores by thread 1</title>"));
	g_assert_nonnull(strstr(svg, ": 100.0 % of weight, most by thread 1</title>"));
}

/* Over time, a box has the colour of the thread with most weight there. */
static void test_thread_colours(void)
{
	LodeProfile *profile = sample_profile_new(2, 0x10000);

	for (int i = 0; i < 5; i++)
		sample_profile_access(profile, i == 0 ? 0 : 1, SAMPLE_ANON, LODE_ACCESS_LOAD, 0)
			->time_ns = 7;
	g_auto(Picture) picture = picture_of(profile);
	g_autoptr(LodeMemoryGrid) grid = grid_of(&picture);
	g_assert_cmpuint(grid->time_columns[0], ==, 1);
	g_assert_cmpuint(grid->time_columns[1], ==, LODE_NONE);
	g_autofree char *svg = draw_svg(&picture, true);
	g_assert_nonnull(strstr(svg, ">thread 0</text>"));
	g_assert_nonnull(strstr(svg, "the thread with most of a box"));
	g_assert_null(strstr(svg, ">loads only</text>"));
}

/* Many pages, in the soak a million, each with one access by one of 8 threads that stream over
 * their parts. */
static void test_many_pages(void)
{
	enum { N_THREADS = 8 };
	const uint32_t n_pages = random_rounds(150000, 1000000);
	LodeProfile *profile = sample_profile_new(N_THREADS, (uint64_t)n_pages * 4096);

	for (uint32_t i = 0; i < n_pages; i++)
		sample_profile_access(profile, i % N_THREADS,
			SAMPLE_ANON + ((uint64_t)(i % N_THREADS) * (n_pages / N_THREADS) +
					      i / N_THREADS) *
					      4096,
			i % 3 == 0 ? LODE_ACCESS_STORE : LODE_ACCESS_LOAD, 0);
	g_auto(Picture) picture = picture_of(profile);
	check_picture(&picture, "many_pages");
}

/* Pages far from each other, more stretches than can be told apart. */
static void test_sparse_pages(void)
{
	LodeProfile *profile = sample_profile_new(2, UINT64_C(1) << 40);

	for (uint32_t i = 0; i < 3000; i++)
		sample_profile_access(profile, i % 2,
			SAMPLE_ANON + (uint64_t)i * i * 4096 * 100 % (UINT64_C(1) << 40),
			LODE_ACCESS_LOAD, 0)
			->time_ns = 0;
	g_auto(Picture) picture = picture_of(profile);
	check_picture(&picture, "sparse_pages");
}

/* Nothing is lost between samples and boxes. */
static void test_grid_sums(void)
{
	SampleProfileOptions options = {.seed = 8,
		.n_threads = 150,
		.n_samples = 5000,
		.anon_bytes = UINT64_C(1) << 24,
		.unresolved = 0.2,
		.faults = 0.1};
	g_auto(Picture) picture = picture_of(sample_profile_random(&options));
	g_autoptr(LodeMemoryGrid) grid = grid_of(&picture);
	double expected[LODE_GRID_N_KINDS] = {0}, all = 0, by_time = 0;

	for (guint i = 0; i < picture.samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			picture.profile->memory->samples, LodeMemorySample, i);
		if (!lode_address_histogram_counts(picture.profile, sample))
			continue;
		all += sample->weight;
		expected[LODE_GRID_LOAD] += sample->access & 1 ? sample->weight : 0;
		expected[LODE_GRID_STORE] += sample->access & 2 ? sample->weight : 0;
	}
	for (unsigned kind = 0; kind < LODE_GRID_N_KINDS; kind++) {
		double sum = 0;
		for (uint32_t column = 0; column < grid->n_columns; column++)
			for (uint32_t row = 0; row < grid->axis->n_rows; row++)
				sum += lode_memory_grid_by_thread(
					grid, (LodeGridKind)kind, column, row);
		g_assert_cmpfloat(sum, ==, expected[kind]);
	}
	for (size_t i = 0; i < (size_t)grid->axis->n_rows * LODE_GRID_STEPS; i++)
		by_time += grid->by_time[i];
	g_assert_cmpfloat(by_time, ==, all);
	g_assert_cmpuint(grid->axis->n_left_out, ==, 0);
	g_assert_cmpuint(grid->threads_per_column, ==, 2);
	g_assert_cmpuint(grid->n_columns, ==, 75);
}

static void check_unit(uint64_t last_ns, LodeAddressRule rule, const char *end, double factor)
{
	LodeProfile *profile = sample_profile_new(1, 0x1000);

	for (unsigned i = 0; i < 2; i++) {
		LodeMemorySample *sample = sample_profile_access(
			profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
		sample->rule = (uint8_t)rule;
		sample->time_ns = i == 0 ? 1 : last_ns;
	}
	g_auto(Picture) picture = picture_of(profile);
	g_autoptr(LodeMemoryGrid) grid = grid_of(&picture);
	LodeGridTimeUnit unit = lode_memory_grid_time_unit(grid);
	g_assert_true(g_str_has_suffix(unit.title, end));
	g_assert_cmpint(strstr(unit.title, "references") != NULL, ==, rule == LODE_RULE_TRACED);
	g_assert_cmpfloat(unit.factor, ==, factor);
	if (factor == 1)
		check_picture(&picture, "units");
}

/* Times of an address trace are numbers of references. */
static void test_time_units(void)
{
	check_unit(1000, LODE_RULE_AT_PC, ", ns", 1);
	check_unit(25000000, LODE_RULE_AT_PC, ", ms", 1e-6);
	check_unit(UINT64_C(25000000000), LODE_RULE_AT_PC, ", s", 1e-9);
	check_unit(1000, LODE_RULE_TRACED, " shown", 1);
	check_unit(25000000, LODE_RULE_TRACED, ", millions", 1e-6);
	check_unit(UINT64_C(25000000000), LODE_RULE_TRACED, ", millions", 1e-6);
}

/* Three samples of 4003 are no rows, but are summed up; a label has the heaviest object. */
static void test_left_out(void)
{
	LodeProfile *profile = sample_profile_new(2, 0x1000);

	for (int i = 0; i < 4000; i++)
		sample_profile_access(profile, 0, i % 4 == 0 ? SAMPLE_NODES : SAMPLE_NODES + 8,
			LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 0, SAMPLE_MAIN_STACK, LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 1, SAMPLE_DATA, LODE_ACCESS_LOAD, 4);
	g_auto(Picture) picture = picture_of(profile);
	g_autoptr(LodeMemoryGrid) grid = grid_of(&picture);

	g_assert_cmpuint(grid->axis->segments->len, ==, 1);
	g_assert_cmpuint(grid->axis->n_left_out, ==, 3);
	g_assert_cmpfloat(grid->axis->left_out_weight, ==, 3);
	g_assert_cmpuint(grid->n_samples, ==, 4003);
	const LodeAddressSegment *segment = &LODE_AT(grid->axis->segments, LodeAddressSegment, 0);
	g_assert_cmpstr(segment->name, ==, "[heap]");
	g_assert_cmpstr(segment->objects->pdata[0], ==, "struct node.key 75.0 %");
	check_picture(&picture, "left_out");
}

/* Each page has a row of its own or shares one with its neighbours, in the order of addresses. */
static void test_axis_order(void)
{
	SampleProfileOptions options = {
		.seed = 4, .n_threads = 3, .n_samples = 3000, .anon_bytes = 0x2000000};
	g_auto(Picture) picture = picture_of(sample_profile_random(&options));
	g_autoptr(LodeMemoryGrid) grid = grid_of(&picture);
	double last_top = grid->axis->height + 1;
	uint32_t last = 0;

	for (uint64_t at = SAMPLE_ANON; at < SAMPLE_ANON + options.anon_bytes; at += 4096) {
		uint32_t row = lode_address_axis_row(grid->axis, at);
		if (row == LODE_NONE)
			continue;
		g_assert_cmpuint(row, >=, last);
		last = row;
	}
	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		double top, height;
		lode_address_axis_place(grid->axis, row, &top, &height);
		g_assert_cmpfloat(height, >=, 2.9);
		g_assert_cmpfloat(top, >=, -1e-6);
		g_assert_cmpfloat(top + height, <=, last_top + 1e-6);
		last_top = top;
	}
	g_assert_cmpuint(lode_address_axis_row(grid->axis, 0x5000), ==, LODE_NONE);
	g_assert_cmpuint(lode_address_axis_row(grid->axis, UINT64_MAX), ==, LODE_NONE);
}

static void test_full_disk(void)
{
	g_auto(Picture) picture = picture_of(sample_profile_new(1, 0x1000));

	for (int format = LODE_PLOT_SVG; format <= LODE_PLOT_PNG; format++) {
		g_autoptr(GError) error = NULL;
		LodeMemoryPlotOptions options = {(LodePlotFormat)format, 4096};
		FILE *full = fopen("/dev/full", "w");
		if (full == NULL) {
			g_test_skip("no /dev/full");
			return;
		}
		g_assert_false(
			lode_memory_plot_write(picture.profile, NULL, 0, &options, full, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
		fclose(full);
	}
}

static void test_format_names(void)
{
	LodePlotFormat format = LODE_PLOT_SVG;
	g_autoptr(GError) error = NULL;

	g_assert_true(lode_plot_format_from_path("a/b.PNG", &format, NULL));
	g_assert_cmpint(format, ==, LODE_PLOT_PNG);
	g_assert_true(lode_plot_format_from_path("x.svg", &format, NULL));
	g_assert_cmpint(format, ==, LODE_PLOT_SVG);
	g_assert_false(lode_plot_format_from_path("x.pdf", &format, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
}

/* A stranger's program name breaks neither the XML nor the drawing. */
static void test_hostile_names(void)
{
	LodeProfile *profile = sample_profile_new(1, 0x1000);
	g_autofree char *endless = g_strnfill(100000, 'x');

	profile->run.program = lode_profile_intern(profile, "\xff<svg>\x1b[31m & \"</text>");
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	LODE_AT(profile->memory->mappings, LodeMemoryMapping, 3).name = lode_profile_intern(
		profile, endless);
	g_auto(Picture) picture = picture_of(profile);
	check_picture(&picture, "hostile");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/memory_plot/pictures", test_pictures);
	g_test_add_func("/memory_plot/few_samples", test_few_samples);
	g_test_add_func("/memory_plot/texts", test_texts);
	g_test_add_func("/memory_plot/thread-colours", test_thread_colours);
	g_test_add_func("/memory_plot/left_out", test_left_out);
	g_test_add_func("/memory_plot/many_pages", test_many_pages);
	g_test_add_func("/memory_plot/sparse_pages", test_sparse_pages);
	g_test_add_func("/memory_plot/grid_sums", test_grid_sums);
	g_test_add_func("/memory_plot/axis_order", test_axis_order);
	g_test_add_func("/memory_plot/full_disk", test_full_disk);
	g_test_add_func("/memory_plot/format_names", test_format_names);
	g_test_add_func("/memory_plot/hostile_names", test_hostile_names);
	g_test_add_func("/memory_plot/time_units", test_time_units);
	return g_test_run();
}
