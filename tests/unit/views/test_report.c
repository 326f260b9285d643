/* SPDX-License-Identifier: MIT */
/* The report of a run made by hand: what is chosen, in which order, in which form. */
#include "base/error.h"
#include "model/findings.h"
#include "model/profile.h"
#include "sample_profile.h"
#include "views/findings/report.h"
#include "views/form/display_text.h"
#include "views/profile/profile_lines.h"

#include <json-glib/json-glib.h>
#include <string.h>

static char *write_report_of(
	const LodeProfile *profile, const LodeMiningRun *run, const LodeReportOptions *options)
{
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_report_write(profile, run, options, NULL, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

static char *write_report(const LodeMiningRun *run, const LodeReportOptions *options)
{
	g_autoptr(LodeProfile) profile = sample_profile();

	return write_report_of(profile, run, options);
}

/* The ids of a CSV report, "3 1 2". */
static void assert_ids(const LodeReportOptions *options, const char *expected)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions csv = *options;
	g_autoptr(GString) ids = g_string_new(NULL);

	csv.format = LODE_VIEW_CSV;
	g_autofree char *text = write_report(run, &csv);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);
	for (guint i = 1; i < rows->len; i++)
		g_string_append_printf(ids, "%s%s", i > 1 ? " " : "", sample_cell(rows, i, "id"));
	g_assert_cmpstr(ids->str, ==, expected);
}

static LodeReportOptions all_options(void)
{
	LodeReportOptions options;

	lode_report_options_init(&options);
	options.show_all = true;
	return options;
}

static void test_sorts(void)
{
	static const struct {
		const char *sort, *expected;
	} cases[] = {
		{NULL, "1 4 2 3 5"},
		{"excess", "1 4 2 3 5"},
		{"weight", "3 1 4 2 5"},
		{"frequency", "3 1 5 4 2"},
		{"maximal", "3 1 4 2 5"},
		{"differential", "1 4 2 3 5"},
		{"places", "3 1 5 4 2"},
		{"functions", "3 1 5 4 2"},
		{"executions", "3 1 5 4 2"},
		{"event:l1d-miss", "3 1 4 2 5"},
		{"sequence", "2 4 1 3 5"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeReportOptions options = all_options();
		options.sort = cases[i].sort;
		assert_ids(&options, cases[i].expected);
	}
	LodeReportOptions reversed = all_options();
	reversed.sort = "weight";
	reversed.is_reversed = true;
	assert_ids(&reversed, "5 2 4 1 3");
}

static void test_filters(void)
{
	const char *const load[] = {"load", NULL}, *const both[] = {"ev:*", "add", NULL};
	const char *const none[] = {"zzz", NULL};
	LodeReportOptions options = all_options();

	options.filter.with = load;
	assert_ids(&options, "1 4 2 3");
	options.filter.with = both;
	assert_ids(&options, "4");
	options.filter.with = none;
	assert_ids(&options, "");
	options.filter.with = NULL;
	options.filter.without = both;
	assert_ids(&options, "1");
	options = all_options();
	options.filter.size[0] = 2;
	options.filter.size[1] = 2;
	assert_ids(&options, "2 3");
	options.filter.size[1] = 0;
	assert_ids(&options, "4 2 3");
	options = all_options();
	options.filter.weight.min = 0.65;
	assert_ids(&options, "1 3");
	options.filter.frequency.max = 0.5;
	assert_ids(&options, "1");
	options = all_options();
	options.filter.maximal.max = 0.6;
	assert_ids(&options, "4 2 5");
	options = all_options();
	options.filter.differential.min = 0.36;
	assert_ids(&options, "1");
	options = all_options();
	options.filter.percent_limit = 31;
	assert_ids(&options, "1 4 2");
	options = all_options();
	options.limit = 2;
	assert_ids(&options, "1 4");
}

static void test_only_closed(void)
{
	LodeReportOptions options;

	lode_report_options_init(&options);
	options.sort = "weight";
	assert_ids(&options, "3 1 4 5");
}

static void assert_refused(const LodeReportOptions *options, int code)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run();
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_false(lode_report_write(profile, run, options, NULL, file, &error));
	g_assert_error(error, LODE_ERROR, code);
	g_autofree char *text = sample_close(file);
	g_assert_cmpstr(text, ==, "");
}

static void test_refused(void)
{
	const char *const empty[] = {"", NULL};
	LodeReportOptions options = all_options();

	options.sort = "size";
	assert_refused(&options, LODE_ERROR_USAGE);
	options.sort = "count";
	assert_refused(&options, LODE_ERROR_USAGE);
	options.sort = "event:nothing";
	assert_refused(&options, LODE_ERROR_USAGE);
	options.sort = "places";
	options.filter.percent_limit = 1;
	assert_refused(&options, LODE_ERROR_USAGE);
	options = all_options();
	options.filter.with = empty;
	assert_refused(&options, LODE_ERROR_USAGE);
	options = all_options();
	options.baseline = 6;
	assert_refused(&options, LODE_ERROR_NOT_FOUND);
}

static JsonObject *report_json(
	const LodeMiningRun *run, LodeReportOptions options, JsonNode **out_node)
{
	g_autoptr(GError) error = NULL;

	options.format = LODE_VIEW_JSON;
	g_autofree char *text = write_report(run, &options);
	*out_node = json_from_string(text, &error);
	g_assert_no_error(error);
	return json_node_get_object(*out_node);
}

static void test_json(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	g_autoptr(JsonNode) node = NULL;
	JsonObject *document = report_json(run, all_options(), &node);
	JsonArray *sequences = json_object_get_array_member(document, "sequences");
	JsonObject *row = json_array_get_object_element(sequences, 1);
	JsonArray *elements = json_object_get_array_member(row, "sequence");
	static const char *const fields[] = {"id", "sequence", "weight", "frequency", "maximal",
		"differential", "places", "functions", "executions", "events"};

	g_assert_cmpuint(json_array_get_length(sequences), ==, 5);
	g_assert_cmpint(json_object_get_int_member(row, "id"), ==, 4);
	g_assert_cmpuint(json_object_get_size(row), ==, G_N_ELEMENTS(fields));
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		g_assert_true(json_object_has_member(row, fields[i]));
	g_assert_cmpuint(json_array_get_length(elements), ==, 2);
	g_assert_cmpstr(json_array_get_string_element(json_array_get_array_element(elements, 0), 1),
		==, "kind:load");
	g_assert_cmpfloat(json_object_get_double_member(row, "weight"), ==, 0.60);
	g_assert_cmpfloat(json_object_get_double_member(row, "frequency"), ==, 100.0 / 350);
	JsonObject *events = json_object_get_object_member(row, "events");
	g_assert_cmpfloat(json_object_get_double_member(events, "l1d-miss"), ==, 0.60);
	JsonObject *unresolved = json_array_get_object_element(
		json_object_get_array_member(document, "unresolved"), 0);
	g_assert_cmpstr(json_object_get_string_member(unresolved, "reason"), ==, "no image file");
	JsonObject *profile = json_object_get_object_member(document, "profile");
	g_assert_cmpstr(json_object_get_string_member(profile, "frequency"), ==, "exact");
}

static void test_csv(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options = all_options();

	options.format = LODE_VIEW_CSV;
	g_autofree char *text = write_report(run, &options);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);
	g_assert_true(
		g_str_has_prefix(text, "id,sequence,weight,frequency,maximal,differential,"
				       "places,functions,executions,event:l1d-miss,counts\r\n"));
	g_assert_cmpstr(sample_cell(rows, 2, "sequence"), ==,
		"[[\"ev:l1d-miss\",\"kind:load\"],[\"op:add\"]]");
	g_assert_cmpstr(sample_cell(rows, 2, "executions"), ==, "10");
	g_assert_cmpstr(sample_cell(rows, 2, "event:l1d-miss"), ==, "0.6");
}

static void test_baseline(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options = all_options();

	sample_add_sequence(run, "op:ret", 0, 0.1, 1);
	options.baseline = 2;
	options.format = LODE_VIEW_CSV;
	g_autofree char *text = write_report(run, &options);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);
	g_assert_cmpstr(sample_cell(rows, 2, "weight"), ==, "0");
	g_assert_cmpfloat_with_epsilon(
		g_ascii_strtod(sample_cell(rows, 4, "weight"), NULL), 0.82 - 0.60, 1e-12);
	g_assert_cmpstr(sample_cell(rows, 1, "baseline"), ==, "2");
	options.format = LODE_VIEW_TEXT;
	g_autofree char *shown = write_report(run, &options);
	g_assert_nonnull(strstr(shown, "+22.0 pt"));
	g_assert_nonnull(strstr(shown, "-60.0 pt"));
}

/* Executions that samples stand for are no number of times. */
static void test_inferred(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options = all_options();

	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	g_autofree char *text = write_report_of(profile, run, &options);
	g_assert_null(strstr(text, "350 executions"));
	g_assert_nonnull(strstr(text, "750 cycles · 6 instructions, 2 functions"));
	g_assert_nonnull(strstr(text, "to no known scale"));
}

/* The address of a function without a symbol says nothing without its library. */
static void test_hottest_in_a_library(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options = all_options();
	LodeFunction *hot = lode_profile_function(profile, 0);

	lode_profile_image(profile, hot->image)->path = lode_profile_intern(
		profile, "/lib/libgcc_s.so.1");
	hot->name = lode_profile_intern(profile, "fn_1000");
	hot->source = LODE_FUNCTION_UNWIND;
	g_autofree char *text = write_report_of(profile, run, &options);
	g_assert_nonnull(strstr(text, "hottest function 93.3 % (fn_1000 in libgcc_s.so.1)"));
}

static void test_list(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options;

	lode_report_options_init(&options);
	options.profile_path = "my profile.lode";
	run->is_complete = false;
	g_autofree char *text = write_report(run, &options);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_assert_cmpstr(lines[0], ==, "./sample --fast · hand · exact counts");
	g_assert_cmpstr(lines[1], ==,
		"750 cycles in 350 executions · 6 instructions, 2 functions · hottest function "
		"93.3 % (hot)");
	g_assert_nonnull(strstr(text, "⟨load l1d-miss⟩ → ⟨add⟩"));
	g_assert_nonnull(strstr(text, "2.7 % of cycles: no image file"));
	g_assert_nonnull(strstr(text, "Incomplete:"));
	g_assert_nonnull(strstr(text, "lode annotate 'my profile.lode' "));
	g_assert_null(strchr(text, 0x1b));
}

/* Two patterns and a place, the second pattern in one function only. */
static LodeMiningRun *run_with_findings(void)
{
	LodeMiningRun *run = sample_run();
	LodeFindings *findings = lode_findings_new();
	static const char *const names[] = {"kind:load", "ev:l1d-miss:10", "op:add"};
	static const LodeFinding kinds[] = {
		{.kind = LODE_FINDING_PATTERN,
			.n_elements = 2,
			.focus = 1,
			.time = 0.4,
			.time_error = 0.01,
			.each = 9.7,
			.executed = 0.125,
			.places = 120,
			.functions = 60,
			.spread = 50},
		{.kind = LODE_FINDING_PATTERN,
			.n_elements = 2,
			.focus = 1,
			.time = 0.3,
			.executed = 0.2,
			.places = 7,
			.first_place = 1,
			.n_places = 1,
			.spread = 1},
		{.kind = LODE_FINDING_PLACE,
			.n_elements = 2,
			.focus = 0,
			.time = 0.2,
			.executed = 0.3,
			.places = 1,
			.n_places = 1,
			.spread = 1},
	};

	for (uint32_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_ptr_array_add(findings->attributes, g_strdup(names[i]));
		g_array_append_val(findings->items, i);
	}
	for (uint32_t i = 0; i < 2; i++) {
		LodeFindingElement element = {2 * (1 - i), 1 + i};
		g_array_append_val(findings->elements, element);
	}
	for (uint32_t i = 0; i < 2; i++) {
		LodeFindingPlace place = {i, 0.3 - 0.1 * i};
		g_array_append_val(findings->places, place);
	}
	g_array_append_vals(findings->findings, kinds, G_N_ELEMENTS(kinds));
	lode_findings_at(findings, 0)->n_places = 2;
	lode_findings_at(findings, 1)->n_places = 1;
	lode_findings_at(findings, 2)->n_places = 1;
	findings->is_counted = true;
	findings->base = 0.5;
	findings->explained = 0.9;
	findings->samples = 750;
	run->findings = findings;
	return run;
}

/* What is waited for where the front end is what waits is spread over more than one instruction. */
static void test_least(void)
{
	static const struct {
		const char *attribute, *shown;
	} cases[] = {
		{"op:add", " +9.70 "},
		{"at:entry", " ≥ 9.70 "},
		{"kind:branch", " ≥ 9.70 "},
		{"ev:branch-miss:10", " ≥ 9.70 "},
		{"ev:l1d-miss", " +9.70 "},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = sample_profile();
		g_autoptr(LodeMiningRun) run = run_with_findings();
		LodeReportOptions options;
		lode_profile_add_event(profile, "cycles:cause", NULL, LODE_EVENT_SAMPLED, NULL, 0);
		lode_report_options_init(&options);
		/* Of the element before the focus. */
		char **name = (char **)&g_ptr_array_index(run->findings->attributes, 2);
		g_free(*name);
		*name = g_strdup(cases[i].attribute);
		g_autofree char *text = write_report_of(profile, run, &options);
		g_assert_nonnull(strstr(text, cases[i].shown));
	}
}

static void test_findings(void)
{
	const char *const load[] = {"*load*", NULL};
	g_autoptr(LodeMiningRun) run = run_with_findings();
	LodeReportOptions options;

	lode_report_options_init(&options);
	options.profile_path = "x.lode";
	g_autofree char *text = write_report(run, &options);
	g_assert_nonnull(strstr(text, "explains 90.0 % of the cycles"));
	g_assert_nonnull(strstr(text, "⟨add⟩ → ⟪load, l1d-miss ≥ 10 %⟫"));
	g_assert_nonnull(strstr(text, "40.0 % ±1.0"));
	g_assert_nonnull(strstr(text, "+9.70 cycles"));
	/* What is in one function is a place, whatever it was found as. */
	const char *places = strstr(text, "id  hot place");
	g_assert_nonnull(places);
	g_assert_true(strstr(text, "id  pattern") < places);
	g_assert_nonnull(strstr(places, "F2"));
	g_assert_nonnull(strstr(places, "F3"));
	g_assert_null(strstr(places, "40.0 %"));
	/* Of several instructions the one that is named has only its own share. */
	const char *several = strstr(places, " 20.0 % and 6 others  ");
	g_assert_nonnull(several);
	g_assert_null(strstr(strchr(several, '\n'), " other"));
	g_assert_nonnull(strstr(text, "lode annotate x.lode F1"));
	options.limit = 1;
	g_autofree char *one = write_report(run, &options);
	g_assert_null(strstr(one, "id  hot place"));
	g_assert_nonnull(strstr(one, "below explains 40.0 % of the cycles, all 3 findings 90.0 %"));
	g_assert_nonnull(strstr(one, "all 3 findings"));
	/* Filters and orders ask for sequences. */
	options.limit = 0;
	options.filter.with = load;
	g_autofree char *filtered = write_report(run, &options);
	g_assert_null(strstr(filtered, "id  pattern"));
	g_assert_nonnull(strstr(filtered, "sequences"));
}

/* The costliest finding is on top, whatever its kind. */
static void test_hot_first(void)
{
	g_autoptr(LodeMiningRun) run = run_with_findings();
	LodeReportOptions options;

	lode_report_options_init(&options);
	lode_findings_at(run->findings, 0)->spread = 1;
	lode_findings_at(run->findings, 1)->spread = 10;
	g_autofree char *text = write_report(run, &options);
	const char *places = strstr(text, "id  hot place"), *patterns = strstr(text, "id  pattern");
	const char *first = strstr(text, " F1 "), *second = strstr(text, " F2 ");
	g_assert_nonnull(places);
	g_assert_true(places < first && first < patterns && patterns < second);
}

/* Texts stand below their finding, wrapped, and once; the others say where. */
static void test_findings_explained(void)
{
	static const char begin[] = "    The data are not in the first-level cache";
	g_autoptr(LodeMiningRun) run = run_with_findings();
	LodeReportOptions options;

	lode_report_options_init(&options);
	options.profile_path = "x.lode";
	options.is_explained = true;
	options.terminal.width = 60;
	g_autofree char *text = write_report(run, &options);
	const char *told = strstr(text, begin);
	g_assert_nonnull(told);
	g_assert_true(strstr(text, "F1") < told);
	g_assert_true(told < strstr(text, "id  hot place"));
	g_assert_null(strstr(told + 1, begin));
	const char *second = strstr(told, "F2");
	g_assert_nonnull(second);
	g_assert_nonnull(strstr(second, "\n    As F1.\n"));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++)
		if (g_str_has_prefix(*line, "    ") && !g_str_has_prefix(*line, "     "))
			g_assert_cmpuint(lode_display_width(*line), <=, 60);
	/* A list has nothing to explain, nor has a run without findings. */
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = sample_profile();
	FILE *out = sample_open();
	options.show_all = true;
	g_assert_false(lode_report_write(profile, run, &options, NULL, out, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_clear_error(&error);
	g_autoptr(LodeMiningRun) bare = sample_run();
	options.show_all = false;
	g_assert_false(lode_report_write(profile, bare, &options, NULL, out, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_nonnull(strstr(error->message, "made without them"));
	g_free(sample_close(out));
}

static void test_findings_json(void)
{
	g_autoptr(LodeMiningRun) run = run_with_findings();
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;
	LodeReportOptions options;

	lode_report_options_init(&options);
	options.format = LODE_VIEW_JSON;
	g_autofree char *text = write_report(run, &options);
	g_assert_true(json_parser_load_from_data(parser, text, -1, &error));
	g_assert_no_error(error);
	JsonObject *root = json_node_get_object(json_parser_get_root(parser));
	JsonArray *list = json_object_get_array_member(root, "findings");
	g_assert_cmpuint(json_array_get_length(list), ==, 3);
	JsonObject *first = json_array_get_object_element(list, 0);
	g_assert_cmpstr(json_object_get_string_member(first, "kind"), ==, "pattern");
	g_assert_cmpfloat(json_object_get_double_member(first, "time"), ==, 0.4);
	g_assert_cmpuint(
		json_array_get_length(json_object_get_array_member(first, "context")), ==, 1);
	g_assert_cmpuint(
		json_array_get_length(json_object_get_array_member(first, "focus")), ==, 2);
	g_assert_cmpuint(
		json_array_get_length(json_object_get_array_member(first, "following")), ==, 0);
	g_assert_cmpuint(json_array_get_length(json_object_get_array_member(first, "top")), ==, 2);
	/* Cycles are no nanoseconds. */
	g_assert_true(json_object_get_null_member(first, "each_ns"));
	options.format = LODE_VIEW_CSV;
	options.shows_findings = true;
	g_autofree char *csv = write_report(run, &options);
	g_autoptr(GPtrArray) rows = sample_parse_csv(csv);
	g_assert_cmpstr(sample_cell(rows, 1, "id"), ==, "F1");
	g_assert_cmpstr(sample_cell(rows, 3, "kind"), ==, "place");
}

/* A profile in which nothing stands out says so. */
static void test_no_findings(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options;

	run->findings = lode_findings_new();
	run->findings->samples = 12;
	lode_report_options_init(&options);
	g_autofree char *text = write_report(run, &options);
	g_assert_nonnull(strstr(text, "No pattern and no place costs more than the rest"));
	/* Executions are their own weight, where nothing else was simulated. */
	g_autoptr(LodeProfile) profile = sample_profile();
	lode_profile_event(profile, profile->code.weight_event)->total = profile->run.total_count;
	g_autofree char *counted = write_report_of(profile, run, &options);
	g_assert_null(strstr(counted, "No pattern"));
	g_assert_nonnull(strstr(counted, "The weight is the number of executions"));
	run->findings->samples = 0;
	g_autofree char *none = write_report(run, &options);
	g_assert_nonnull(strstr(none, "no weight"));
}

static void test_empty_run(void)
{
	g_autoptr(LodeMiningRun) model = sample_run();
	g_autoptr(LodeMiningRun) run = lode_mining_run_new("empty", &model->parameters);
	g_autoptr(JsonNode) node = NULL;
	LodeReportOptions options;

	lode_report_options_init(&options);
	g_autofree char *text = write_report(run, &options);
	g_assert_nonnull(strstr(text, "found no sequence"));
	g_assert_null(strstr(text, "lode annotate"));
	JsonObject *document = report_json(run, options, &node);
	g_assert_cmpuint(
		json_array_get_length(json_object_get_array_member(document, "sequences")), ==, 0);
	options.format = LODE_VIEW_CSV;
	g_autofree char *csv = write_report(run, &options);
	g_assert_cmpstr(csv, ==,
		"id,sequence,weight,frequency,maximal,differential,places,functions,"
		"executions,counts\r\n");
}

static void test_hostile_names(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	g_autofree char *filler = g_strnfill(5000, 'x');
	g_autofree char *name = g_strconcat("user:\x1b]0;\x07\xff,\"", filler, NULL);
	LodeReportOptions options = all_options();
	g_autoptr(JsonNode) node = NULL;

	sample_add_sequence(run, name, 0.9, 0.01, 1);
	options.terminal.width = 80;
	g_autofree char *text = write_report(run, &options);
	g_assert_null(strchr(text, 0x1b));
	g_assert_null(strchr(text, 0x07));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i] != NULL; i++)
		g_assert_cmpuint(lode_display_width(lines[i]), <=, 80);
	report_json(run, options, &node);
	options.format = LODE_VIEW_CSV;
	g_autofree char *csv = write_report(run, &options);
	g_autoptr(GPtrArray) rows = sample_parse_csv(csv);
	g_assert_cmpuint(strlen(sample_cell(rows, 1, "sequence")), >, 5000);
	g_assert_null(strchr(csv, 0x1b));
}

/* The lines as one, however wide the terminal. */
static char *unwrapped(const char *text)
{
	g_autoptr(GRegex) breaks = g_regex_new("\n +", 0, 0, NULL);

	return g_regex_replace_literal(breaks, text, -1, 0, " ", 0, NULL);
}

/* A pattern is whole on any terminal: it continues on further lines. */
static void test_patterns_are_whole(void)
{
	static const char sequence[] =
		"kind:load mem:pointer ev:l1d-miss needs:load > op:add mem:indexed needs:miss > "
		"kind:branch ev:branch-miss";
	static const char shown[] = "⟨load pointer needs:load l1d-miss⟩ → ⟨add indexed needs:miss⟩ "
				    "→ ⟨branch branch-miss⟩";
	LodeReportOptions options = all_options();

	for (unsigned width = 60; width <= 160; width += 5) {
		g_autoptr(LodeMiningRun) run = run_with_findings();
		sample_add_sequence(run, sequence, 0.9, 0.01, 123456);
		options.terminal.width = width;
		options.show_all = true;
		g_autofree char *list = write_report(run, &options), *whole = unwrapped(list);
		g_assert_nonnull(strstr(whole, shown));
		g_assert_null(strstr(whole, "…"));
		options.show_all = false;
		g_free(g_ptr_array_index(run->findings->attributes, 2));
		run->findings->attributes->pdata[2] = g_strdup("op:very-long-instruction-name");
		g_autofree char *findings = write_report(run, &options), *all = unwrapped(findings);
		g_assert_nonnull(
			strstr(all, "⟨very-long-instruction-name⟩ → ⟪load, l1d-miss ≥ 10 %⟫"));
		g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
		for (guint i = 0; lines[i] != NULL; i++)
			g_assert_cmpuint(lode_display_width(lines[i]), <=, width);
	}
}

/* A program of any length, counted and sampled, where the terminal has room for little. */
static void test_head_fits(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeReportOptions options = all_options();

	profile->run.program = lode_profile_intern(
		profile, "/usr/local/bin/a-program --with=an-option of-some-length and more");
	profile->run.creator = lode_profile_intern(profile,
		"qemu-x86_64, through i1=32K:8:64,d1=48K:12:64,l2=60M:15:64, branches by "
		"callgrind and perf.data of perf 6.1.158");
	profile->run.n_samples = 12345678;
	for (options.terminal.width = 60; options.terminal.width <= 160;
		options.terminal.width += 20) {
		g_autofree char *text = write_report_of(profile, run, &options);
		g_auto(GStrv) lines = g_strsplit(text, "\n", 4);
		for (guint i = 0; i < 3; i++)
			g_assert_cmpuint(lode_display_width(lines[i]), <=, options.terminal.width);
		g_assert_nonnull(strstr(text, "a-program "));
		g_assert_nonnull(strstr(text, "more"));
		g_assert_nonnull(strstr(text, "12,345,678 samples\n"));
		g_assert_null(strstr(text, "d1="));
	}
}

/* What a clock counted is time. */
static void test_head_of_clock(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeTerminal terminal = {0};
	FILE *file = sample_open();

	uint32_t event = lode_profile_add_event(
		profile, "cpu-clock:cause", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_event(profile, event)->total = 2.5e9;
	lode_profile_lines_head(profile, event, &terminal, file);
	g_autofree char *text = sample_close(file);
	g_assert_nonnull(strstr(text, "\n2.50 s of cpu-clock:cause in 350 executions"));
}

/* The time in the kernel, where there is enough to be divided. */
static void test_head_of_kernel(void)
{
	for (int pass = 0; pass < 2; pass++) {
		g_autoptr(LodeProfile) profile = sample_profile();
		LodeTerminal terminal = {0};
		FILE *file = sample_open();
		profile->run.system_seconds = pass == 0 ? 0.004 : 0.4;
		lode_profile_lines_head(profile, profile->code.weight_event, &terminal, file);
		g_autofree char *text = sample_close(file);
		bool has_line = strstr(text, "100.0 % of 0.40 s of processor time") != NULL;
		g_assert_true(has_line == (pass == 1));
		g_assert_true((strstr(text, "in the kernel") != NULL) == (pass == 1));
	}
}

/* A screen is as short on a pipe, unless full names are asked for. */
static void test_head_of_diagnoses(void)
{
	for (int pass = 0; pass < 2; pass++) {
		g_autoptr(LodeProfile) profile = sample_profile();
		g_autofree char *program = g_strnfill(300, 'x');
		LodeTerminal terminal = {.has_full_names = pass == 1};
		FILE *file = sample_open();
		profile->run.program = program;
		profile->run.user_seconds = 0.054321;
		profile->run.system_seconds = 0.012345;
		profile->run.wall_seconds = 12.345;
		lode_profile_lines_head_of_diagnoses(
			profile, profile->code.weight_event, &terminal, file);
		g_autofree char *text = sample_close(file);
		g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
		/* With two signs of more than one byte. */
		g_assert_true((strlen(lines[0]) <= 80 + 3) == (pass == 0));
		g_assert_cmpstr(lines[1], ==,
			"0.067 s of processor time in 12.3 s, 18.5 % in the kernel; --kernel "
			"samples it");
		profile->run.program = NULL;
	}
}

/* A command is cut so that its program keeps its name. */
static void test_long_command(void)
{
	static const struct {
		const char *program, *line;
	} cases[] = {
		{"/home/me/a/long/path/to/many/programs/sort "
		 "/home/me/another/long/path/to/much/data/access.log",
			"sort /home/me/anoth"},
		{"/home/me/a/folder with blanks/of/many/programs/and/others/besides/sort x",
			"folder with blanks"},
		{"java -cp /home/me/a/long/path/to/many/programs/of/mine/and/others Main",
			"java -cp /home/me/a/"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = sample_profile();
		g_autofree char *program = g_strdup(cases[i].program);
		LodeTerminal terminal = {.width = 80};
		FILE *file = sample_open();
		profile->run.program = program;
		profile->run.n_samples = 1234567;
		profile->run.user_seconds = 1;
		lode_profile_lines_head_of_diagnoses(
			profile, profile->code.weight_event, &terminal, file);
		g_autofree char *text = sample_close(file);
		g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
		g_test_message("%s", text);
		g_assert_true(g_str_has_prefix(lines[0], cases[i].line));
		g_assert_cmpuint(lode_display_width(lines[0]), <=, 80);
		profile->run.program = NULL;
	}
}

static void test_instruction_run(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	g_autoptr(JsonNode) node = NULL;
	LodeReportOptions options;

	run->parameters.is_instruction_mode = true;
	for (guint i = 0; i < run->sequences->len; i++)
		g_array_index(run->sequences, LodeSequence, i).count = 10 + i;
	lode_report_options_init(&options);
	JsonObject *document = report_json(run, options, &node);
	JsonObject *row = json_array_get_object_element(
		json_object_get_array_member(document, "sequences"), 0);
	g_assert_cmpuint(json_object_get_size(row), ==, 4);
	g_assert_cmpint(json_object_get_int_member(row, "count"), ==, 14);
	g_assert_cmpint(json_object_get_int_member(row, "id"), ==, 5);
	options.format = LODE_VIEW_TEXT;
	g_autofree char *text = write_report(run, &options);
	g_assert_nonnull(strstr(text, "count  id  sequence"));
	options.sort = "weight";
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();
	g_assert_false(lode_report_write(profile, run, &options, NULL, file, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	fclose(file);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/report/sorts", test_sorts);
	g_test_add_func("/views/report/filters", test_filters);
	g_test_add_func("/views/report/only-closed", test_only_closed);
	g_test_add_func("/views/report/refused", test_refused);
	g_test_add_func("/views/report/json", test_json);
	g_test_add_func("/views/report/csv", test_csv);
	g_test_add_func("/views/report/baseline", test_baseline);
	g_test_add_func("/views/report/inferred", test_inferred);
	g_test_add_func("/views/report/hottest-in-a-library", test_hottest_in_a_library);
	g_test_add_func("/views/report/list", test_list);
	g_test_add_func("/views/report/findings", test_findings);
	g_test_add_func("/views/report/hot-first", test_hot_first);
	g_test_add_func("/views/report/least", test_least);
	g_test_add_func("/views/report/findings-explained", test_findings_explained);
	g_test_add_func("/views/report/findings-json", test_findings_json);
	g_test_add_func("/views/report/head-of-kernel", test_head_of_kernel);
	g_test_add_func("/views/report/head-of-diagnoses", test_head_of_diagnoses);
	g_test_add_func("/views/report/long-command", test_long_command);
	g_test_add_func("/views/report/no-findings", test_no_findings);
	g_test_add_func("/views/report/empty-run", test_empty_run);
	g_test_add_func("/views/report/hostile-names", test_hostile_names);
	g_test_add_func("/views/report/patterns-are-whole", test_patterns_are_whole);
	g_test_add_func("/views/report/head-fits", test_head_fits);
	g_test_add_func("/views/report/head-of-clock", test_head_of_clock);
	g_test_add_func("/views/report/instruction-run", test_instruction_run);
	return g_test_run();
}
