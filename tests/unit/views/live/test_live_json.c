/* SPDX-License-Identifier: MIT */
/* A picture as JSON says what the counts say. */
#include "live_world.h"
#include "model/findings.h"
#include "model/profile.h"
#include "views/live/live_json.h"

#include <json-glib/json-glib.h>

typedef struct {
	LiveWorld world;
	LodeLiveModel model;
	LodeLiveJsonOptions options;
	JsonParser *parser; /* of the last picture */
} Picture;

static void add_function(Picture *self, const char *name, double weight)
{
	g_hash_table_insert(
		self->model.functions, (char *)name, g_memdup2(&weight, sizeof(weight)));
	self->model.weight += weight;
}

static void picture_init(Picture *self, unsigned width, unsigned height)
{
	*self = (Picture){.parser = json_parser_new()};
	live_world_init(&self->world, width, height);
	self->model.counts = self->world.counts;
	self->model.threads = self->world.threads;
	self->model.functions = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->options = (LodeLiveJsonOptions){.width = width,
		.height = height,
		.state = &self->world.state,
		.status = {.program = "a \"program\"\n", .n_samples = 890, .is_sampling = true}};
}

static void picture_clear(Picture *self)
{
	g_object_unref(self->parser);
	g_hash_table_unref(self->model.functions);
	live_world_clear(&self->world);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

/* Borrowed until the next one. */
static JsonObject *draw(Picture *self)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	lode_live_json_put(&json, &self->model, &self->options);
	json_parser_load_from_data(self->parser, text->str, (gssize)text->len, &error);
	g_assert_no_error(error);
	return json_node_get_object(json_parser_get_root(self->parser));
}

static JsonObject *object_at(JsonObject *in, const char *array, guint i)
{
	return json_array_get_object_element(json_object_get_array_member(in, array), i);
}

static guint length_of(JsonObject *in, const char *array)
{
	return json_array_get_length(json_object_get_array_member(in, array));
}

static double sum_of(JsonArray *numbers)
{
	double sum = 0;

	for (guint i = 0; i < json_array_get_length(numbers); i++)
		sum += json_array_get_double_element(numbers, i);
	return sum;
}

static void test_findings(void)
{
	g_auto(Picture) picture;
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(LodeFindings) findings = lode_findings_new();

	picture_init(&picture, 80, 24);
	g_assert_true(json_object_get_null_member(draw(&picture), "findings"));
	findings->samples = 120;
	findings->explained = 0.5;
	for (int i = 0; i < 20; i++) {
		const LodeFinding finding = {.time = 0.1, .time_error = 0.01, .places = 7};
		g_array_append_val(findings->findings, finding);
	}
	g_autoptr(LodeLiveFindings) shown = lode_live_findings_new(profile, findings);
	picture.options.findings = shown;
	JsonObject *root = json_object_get_object_member(draw(&picture), "findings");
	g_assert_cmpint(json_object_get_int_member(root, "samples"), ==, 120);
	/* As many as have room. */
	g_assert_cmpuint(length_of(root, "rows"), ==, 12);
	JsonObject *row = object_at(root, "rows", 11);
	g_assert_cmpfloat(json_object_get_double_member(row, "time"), ==, 0.1);
	g_assert_cmpint(json_object_get_int_member(row, "places"), ==, 7);
	g_assert_true(json_object_get_null_member(row, "function"));
}

static void test_world(void)
{
	g_auto(Picture) picture;
	double of_threads = 0;

	picture_init(&picture, 80, 24);
	JsonObject *root = draw(&picture);
	g_assert_cmpstr(json_object_get_string_member(root, "program"), ==, "a \"program\"\n");
	g_assert_true(json_object_get_boolean_member(root, "is_sampling"));
	g_assert_false(json_object_get_boolean_member(root, "is_over"));
	g_assert_cmpint(json_object_get_int_member(root, "samples"), ==, 890);
	/* 640 + 100 + 80 + 40 + 30 accesses of weight 1. */
	g_assert_cmpfloat(json_object_get_double_member(root, "total"), ==, 890);

	guint n_columns = length_of(root, "columns"), n_extents = length_of(root, "extents");
	g_assert_cmpuint(n_extents, ==, 3);
	JsonArray *columns = json_object_get_array_member(root, "columns");
	for (guint i = 0; i < n_columns; i++) {
		JsonArray *column = json_array_get_array_element(columns, i);
		g_assert_cmpuint(json_array_get_length(column), ==, 3);
		g_assert_true(g_str_has_prefix(json_array_get_string_element(column, 0), "0x"));
		g_assert_cmpint(json_array_get_int_element(column, 2), <, n_extents);
	}
	g_assert_cmpuint(length_of(root, "rows"), ==, 3);
	for (guint i = 0; i < 3; i++) {
		JsonObject *row = object_at(root, "rows", i);
		JsonArray *cells = json_object_get_array_member(row, "columns");
		bool is_all = json_object_get_null_member(row, "thread");
		g_assert_cmpuint(json_array_get_length(cells), ==, n_columns);
		g_assert_cmpfloat(json_object_get_double_member(row, "sum"), ==, sum_of(cells));
		of_threads += is_all ? 0 : sum_of(cells);
		g_assert_true(!is_all || sum_of(cells) == 890);
	}
	g_assert_cmpfloat(of_threads, ==, 890);
	g_assert_cmpuint(length_of(root, "threads"), ==, 2);
	g_assert_cmpint(json_object_get_int_member(object_at(root, "threads", 1), "tid"), ==, 101);
}

static void test_ranges(void)
{
	g_auto(Picture) picture;
	double last = 1, sum = 0;

	picture_init(&picture, 160, 40);
	JsonObject *root = draw(&picture);
	g_assert_cmpuint(length_of(root, "ranges"), >, 2);
	for (guint i = 0; i < length_of(root, "ranges"); i++) {
		JsonObject *range = object_at(root, "ranges", i);
		double share = json_object_get_double_member(range, "share");
		g_assert_cmpfloat(share, <=, last);
		last = share;
		sum += share;
		g_assert_cmpuint(length_of(range, "threads"), ==, 1);
		g_assert_false(json_object_get_boolean_member(range, "has_more_threads"));
	}
	g_assert_cmpfloat(sum, <=, 1 + 1e-9);
}

/* One thread alone, by stores. */
static void test_look(void)
{
	g_auto(Picture) picture;

	picture_init(&picture, 80, 24);
	picture.world.state.measure = LODE_LIVE_STORES;
	picture.world.state.only_tagged = true;
	g_hash_table_add(picture.world.state.tagged, GINT_TO_POINTER(1));
	JsonObject *root = draw(&picture);
	/* 80 of thread 1, 40 of it that load too, and 30 of thread 0. */
	g_assert_cmpfloat(json_object_get_double_member(root, "total"), ==, 150);
	for (guint i = 0; i < length_of(root, "rows"); i++) {
		JsonObject *row = object_at(root, "rows", i);
		if (!json_object_get_null_member(row, "thread"))
			g_assert_cmpstr(json_object_get_string_member(row, "thread"), ==, "1");
		g_assert_cmpfloat(json_object_get_double_member(row, "sum"), ==, 120);
	}
}

static void test_functions(void)
{
	g_auto(Picture) picture;
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	double sum = 0, last = 1;

	picture_init(&picture, 80, 24);
	for (int i = 0; i < 30; i++)
		g_ptr_array_add(names, g_strdup_printf("function <%d>", i));
	for (guint i = 0; i < names->len; i++)
		add_function(&picture, names->pdata[i], i + 1);
	add_function(&picture, NULL, 500);
	JsonObject *root = draw(&picture);
	guint n = length_of(root, "functions");
	g_assert_cmpuint(n, ==, 20);
	g_assert_true(json_object_get_null_member(object_at(root, "functions", 0), "name"));
	g_assert_cmpstr(json_object_get_string_member(object_at(root, "functions", 1), "name"), ==,
		"function <29>");
	for (guint i = 0; i < n; i++) {
		double share = json_object_get_double_member(
			object_at(root, "functions", i), "share");
		g_assert_cmpfloat(share, <=, last);
		last = share;
		sum += share;
	}
	g_assert_cmpfloat(sum, <, 1);
}

/* Before the first sample there are no shares of nothing. */
static void test_nothing(void)
{
	g_auto(Picture) picture;

	picture_init(&picture, 80, 24);
	lode_live_counts_free(picture.world.counts);
	picture.world.counts = lode_live_counts_new(0);
	picture.model.counts = picture.world.counts;
	picture.options.is_over = true;
	add_function(&picture, "nothing", 0);
	JsonObject *root = draw(&picture);
	g_assert_true(json_object_get_boolean_member(root, "is_over"));
	g_assert_cmpfloat(json_object_get_double_member(root, "total"), ==, 0);
	g_assert_cmpuint(length_of(root, "columns"), ==, 0);
	g_assert_cmpuint(length_of(root, "ranges"), ==, 0);
	g_assert_cmpfloat(
		json_object_get_double_member(object_at(root, "functions", 0), "share"), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_json/world", test_world);
	g_test_add_func("/live_json/findings", test_findings);
	g_test_add_func("/live_json/ranges", test_ranges);
	g_test_add_func("/live_json/look", test_look);
	g_test_add_func("/live_json/functions", test_functions);
	g_test_add_func("/live_json/nothing", test_nothing);
	return g_test_run();
}
