/* SPDX-License-Identifier: MIT */
/*
 * The pictures of curves: the SVG is XML, the PNG decodes, equal input gives equal bytes, and
 * extreme input gives a picture too. With LODE_PLOT_DIRECTORY set the pictures are kept there.
 */
#include "model/profile.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"
#include "views/pictures/cache_plots.h"
#include "views/plot/plot_axis.h"

#include <cairo.h>
#include <string.h>

typedef bool (*WriteFunc)(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);

typedef struct {
	LodeTraceReplay replay;
	LodeCacheResults results;
} Picture;

static void add_curve(Picture *self, uint32_t line_bytes, uint8_t holds, unsigned n)
{
	const LodeStackDistancesOptions options = {
		.line_bytes = line_bytes, .holds = holds, .by_thread = true};
	g_autoptr(LodeStackDistances) distances = lode_stack_distances_new(&options);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(1));

	for (unsigned i = 0; i < n; i++) {
		LodeReference load = {64 * (uint64_t)(g_rand_int(random) %
						      (1 << g_rand_int_range(random, 1, 15))),
			8, 0, i % 2 == 0 ? LODE_REFERENCE_LOAD : LODE_REFERENCE_FETCH};
		lode_block_splitter_add(splitter, &load, 1);
	}
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	if (frame != NULL)
		g_assert_true(lode_stack_distances_replay(distances, frame, NULL));
	g_ptr_array_add(self->replay.curves, lode_miss_curve_new(distances));
	for (unsigned i = 0; i < lode_stack_distances_n_threads(distances); i++)
		g_ptr_array_add(
			self->replay.thread_curves, lode_miss_curve_new_thread(distances, i));
	self->replay.n_references = n;
	self->replay.n_instructions = n / 2;
}

static void picture_init(Picture *self)
{
	*self = (Picture){.results = {.path = "x.rps", .command = "program\x1b <&> argument"}};
	self->replay.curves = g_ptr_array_new_with_free_func((GDestroyNotify)lode_miss_curve_free);
	self->replay.thread_curves = g_ptr_array_new_with_free_func(
		(GDestroyNotify)lode_miss_curve_free);
	self->results.replay = &self->replay;
}

static void picture_clear(Picture *self)
{
	g_ptr_array_unref(self->replay.curves);
	g_ptr_array_unref(self->replay.thread_curves);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

static void keep(GBytes *bytes, const char *name)
{
	const char *directory = g_getenv("LODE_PLOT_DIRECTORY");

	if (directory == NULL)
		return;
	g_autofree char *path = g_build_filename(directory, name, NULL);
	g_assert_true(g_file_set_contents(
		path, g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes), NULL));
}

static GBytes *draw(const Picture *self, WriteFunc write, LodePlotFormat format)
{
	g_autoptr(GError) error = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bool done = write(&self->results, format, out, &error);
	g_assert_no_error(error);
	g_assert_true(done);
	fclose(out);
	GBytes *bytes = g_bytes_new(text, size);
	free(text);
	return bytes;
}

static void count_element(GMarkupParseContext *context, const char *element, const char **names,
	const char **values, void *user_data, GError **error)
{
	(void)context;
	(void)element;
	(void)names;
	(void)values;
	(void)error;
	++*(unsigned *)user_data;
}

static unsigned count_elements(GBytes *svg)
{
	static const GMarkupParser parser = {.start_element = count_element};
	g_autoptr(GError) error = NULL;
	unsigned n = 0;
	g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, &n, NULL);

	g_markup_parse_context_parse(
		context, g_bytes_get_data(svg, NULL), (gssize)g_bytes_get_size(svg), &error);
	g_markup_parse_context_end_parse(context, error == NULL ? &error : NULL);
	g_assert_no_error(error);
	return n;
}

static cairo_status_t read_bytes(void *closure, unsigned char *data, unsigned length)
{
	GByteArray *left = closure;

	if (length > left->len)
		return CAIRO_STATUS_READ_ERROR;
	memcpy(data, left->data, length);
	g_byte_array_remove_range(left, 0, length);
	return CAIRO_STATUS_SUCCESS;
}

static void check_png(GBytes *png)
{
	g_autoptr(GByteArray) left = g_byte_array_new();

	g_byte_array_append(left, g_bytes_get_data(png, NULL), (guint)g_bytes_get_size(png));
	cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(read_bytes, left);
	g_assert_cmpint(cairo_surface_status(surface), ==, CAIRO_STATUS_SUCCESS);
	g_assert_cmpint(cairo_image_surface_get_width(surface), >, 1000);
	cairo_surface_destroy(surface);
}

/* Gives the number of elements. */
static unsigned check_picture(const Picture *self, WriteFunc write, const char *name)
{
	g_autofree char *file = g_strconcat(name, ".png", NULL);
	g_autoptr(GBytes) svg = draw(self, write, LODE_PLOT_SVG);
	g_autoptr(GBytes) again = draw(self, write, LODE_PLOT_SVG);
	g_autoptr(GBytes) png = draw(self, write, LODE_PLOT_PNG);

	g_assert_true(g_bytes_equal(svg, again));
	check_png(png);
	keep(png, file);
	return count_elements(svg);
}

static void test_curves(void)
{
	g_auto(Picture) picture = {0};
	unsigned before = 0;

	picture_init(&picture);
	for (unsigned n = 1; n <= 4; n++) {
		g_autofree char *name = g_strdup_printf("curves-%u", n);
		add_curve(&picture, 32u << n,
			n % 2 == 0 ? LODE_CACHE_DATA : LODE_CACHE_INSTRUCTIONS, 40000);
		unsigned elements = check_picture(&picture, lode_miss_ratio_plot_write, name);
		g_assert_cmpuint(elements, >, before);
		before = elements;
	}
}

static void test_reuses(void)
{
	g_auto(Picture) picture = {0};

	picture_init(&picture);
	add_curve(&picture, 64, LODE_CACHE_DATA, 40000);
	unsigned one = check_picture(&picture, lode_reuse_plot_write, "reuse-1");
	add_curve(&picture, 64, LODE_CACHE_INSTRUCTIONS, 40000);
	g_assert_cmpuint(check_picture(&picture, lode_reuse_plot_write, "reuse-2"), >, one);
}

/* A walk, then the same line again and again; with caches or without. */
static void test_times(void)
{
	const LodeStackDistancesOptions distances = {.line_bytes = 64, .holds = LODE_CACHE_DATA};
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse("d1=4K:2:64,l2=64K:8:64", NULL);
	const LodeHierarchy *const hierarchies[] = {hierarchy};

	for (unsigned way = 0; way < 2; way++) {
		const LodeTraceReplayOptions options = {.hierarchies = hierarchies,
			.n_hierarchies = way,
			.distances = &distances,
			.n_distances = 1,
			.threads = 1,
			.n_times = 10};
		const LodeTraceRange range = {.count = 20000};
		g_autoptr(LodeTraceReplay) replay = lode_trace_replay_new(&options, &range, NULL);
		g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
		g_assert_nonnull(replay);
		for (unsigned i = 0; i < range.count; i++) {
			const LodeReference load = {
				64 * MIN(i, UINT64_C(10000)), 8, 0, LODE_REFERENCE_LOAD};
			lode_block_splitter_add(splitter, &load, 1);
		}
		g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
		g_assert_true(lode_trace_replay_take(replay, frame, NULL, NULL));
		lode_trace_replay_finish(replay);
		const Picture picture = {.results = {.path = "x.rps",
						 .replay = replay,
						 .hierarchies = hierarchies,
						 .n_hierarchies = way}};
		unsigned elements = check_picture(
			&picture, lode_times_plot_write, way > 0 ? "times-2" : "times-1");
		g_assert_cmpuint(elements, >, 20);
	}
}

/* No reference at all, one, and two of one line. */
static void test_extremes(void)
{
	for (unsigned n = 0; n < 3; n++) {
		g_auto(Picture) picture = {0};

		picture_init(&picture);
		add_curve(&picture, 1 << 20, LODE_CACHE_DATA | LODE_CACHE_INSTRUCTIONS, n);
		check_picture(&picture, lode_miss_ratio_plot_write, "extreme-curve");
		check_picture(&picture, lode_reuse_plot_write, "extreme-reuse");
	}
}

/* As many misses stand as high as the curve, also where references cross lines. */
static void test_dots(void)
{
	const LodeStackDistancesOptions options = {.line_bytes = 64, .holds = LODE_CACHE_DATA};
	g_autoptr(LodeStackDistances) distances = lode_stack_distances_new(&options);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();

	for (unsigned i = 0; i < 10; i++) {
		const LodeReference pair[] = {
			{0x1000, 4, 0, LODE_REFERENCE_FETCH}, {60, 8, 0, LODE_REFERENCE_LOAD}};
		lode_block_splitter_add(splitter, pair, G_N_ELEMENTS(pair));
	}
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	g_assert_true(lode_stack_distances_replay(distances, frame, NULL));
	g_autoptr(LodeMissCurve) curve = lode_miss_curve_new(distances);
	const LodeMissPoint *last = &g_array_index(
		curve->points, LodeMissPoint, curve->points->len - 1);
	LodeCacheCounts counts = {
		.misses = {[LODE_REFERENCE_FETCH] = 7, [LODE_REFERENCE_LOAD] = last->misses}};
	g_assert_cmpuint(curve->n_accesses, ==, 20);
	g_assert_cmpuint(last->misses, ==, 2);
	g_assert_cmpfloat(lode_miss_ratio_plot_dot(curve, &counts), ==,
		lode_miss_curve_ratio(curve, last->misses));
}

static void check_size(double bytes, const char *expected)
{
	char text[LODE_PLOT_SIZE_TEXT];

	g_assert_cmpstr(lode_plot_size_text(bytes, text), ==, expected);
}

static void test_size_text(void)
{
	check_size(1, "1");
	check_size(512, "512");
	check_size(1024, "1K");
	check_size(1536, "1.5K");
	check_size(0x1p30, "1G");
	check_size(0x1p70, "1024E");
}

static void test_binary_ticks(void)
{
	LodePlotScale scale = lode_plot_scale(1000, 40000, true);
	double ticks[LODE_PLOT_MAX_TICKS];

	scale.is_binary = true;
	g_assert_cmpuint(lode_plot_scale_ticks(&scale, 16, ticks), ==, 6);
	g_assert_cmpfloat(ticks[0], ==, 1024);
	g_assert_cmpfloat(ticks[5], ==, 32768);
	g_assert_cmpuint(lode_plot_scale_ticks(&scale, 3, ticks), ==, 3);
	g_assert_cmpfloat(ticks[1], ==, 4096);
}

static bool write_objects(
	const LodeProfile *profile, unsigned n, LodePlotFormat format, FILE *out, GError **error)
{
	LodeEventGroups groups = {.by = LODE_EVENT_BY_OBJECT,
		.groups = g_array_new(FALSE, FALSE, sizeof(LodeEventGroup)),
		.total = 1e6};

	for (unsigned i = 0; i < n; i++) {
		LodeEventGroup group = {
			.name = (char *)(i % 3 == 0 ? "struct "
						      "a_structure_with_a_name_that_is_far_too_"
						      "long.and_a_member"
						    : "int counts[]"),
			.loads = 1e5 / (i + 1),
			.stores = 1e4 * (i % 4)};
		group.value = group.loads + group.stores;
		g_array_append_val(groups.groups, group);
	}
	bool done = lode_misses_by_object_plot_write(profile, &groups, format, out, error);
	g_array_unref(groups.groups);
	return done;
}

static void test_objects(void)
{
	static const unsigned counts[] = {0, 1, 12, 1000};
	g_autoptr(LodeProfile) profile = lode_profile_new();

	lode_profile_add_event(
		profile, "ll-miss", "last-level cache misses", LODE_EVENT_RECORDED, NULL, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autofree char *name = g_strdup_printf("objects-%u.png", counts[i]);
		g_autoptr(GError) error = NULL;
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		g_assert_true(write_objects(profile, counts[i], LODE_PLOT_PNG, out, &error));
		g_assert_no_error(error);
		fclose(out);
		g_autoptr(GBytes) png = g_bytes_new(text, size);
		free(text);
		check_png(png);
		keep(png, name);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/plot/cache_plots/curves", test_curves);
	g_test_add_func("/views/plot/cache_plots/reuses", test_reuses);
	g_test_add_func("/views/plot/cache_plots/times", test_times);
	g_test_add_func("/views/plot/cache_plots/extremes", test_extremes);
	g_test_add_func("/views/plot/cache_plots/dots", test_dots);
	g_test_add_func("/views/plot/cache_plots/size_text", test_size_text);
	g_test_add_func("/views/plot/cache_plots/binary_ticks", test_binary_ticks);
	g_test_add_func("/views/plot/cache_plots/objects", test_objects);
	return g_test_run();
}
