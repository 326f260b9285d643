/* SPDX-License-Identifier: MIT */
/* Places with their code, and the facts of a profile, from a profile made by hand. */
#include "analyses/mine/instruction_miner.h"
#include "base/error.h"
#include "model/findings.h"
#include "model/profile.h"
#include "sample_profile.h"
#include "store/profile_store.h"
#include "views/code/annotate.h"
#include "views/code/code_lines.h"
#include "views/form/function_name.h"
#include "views/profile/info.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

static char *write_annotate(const LodeProfile *profile, const LodeAnnotateOptions *options)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_annotate_write(profile, run, options, NULL, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

static LodeAnnotateOptions options_of(uint64_t id, LodeViewFormat format)
{
	LodeAnnotateOptions options;

	lode_annotate_options_init(&options);
	options.id = id;
	options.format = format;
	return options;
}

static void test_code_lines(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeCodeLines) code = lode_code_lines_new(profile, 1);
	static const char *const starts[] = {"mov", "add", "nop", "ret"};

	g_assert_cmpuint(code->lines->len, ==, 4);
	for (guint i = 0; i < 4; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		lode_code_lines_text(code, i, text);
		g_assert_true(g_str_has_prefix(text->str, starts[i]));
	}
	g_assert_cmpuint(LODE_AT(code->lines, LodeCodeLine, 2).instruction, ==, LODE_NONE);
	g_assert_cmpuint(LODE_AT(code->lines, LodeCodeLine, 3).instruction, ==, 5);
	g_assert_cmpuint(code->line_of[2], ==, 3);
}

/* Instructions that the bytes do not explain are there all the same, each once. */
static void test_odd_code(void)
{
	static const uint8_t bytes[] = {0x83, 0xc0, 0x01};
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeFunction *function = lode_profile_function(profile, 0);

	g_bytes_unref(function->code);
	function->code = g_bytes_new_static(bytes, sizeof(bytes));
	lode_profile_instruction(profile, 0)->address = 0xf00;
	lode_profile_instruction(profile, 1)->address = 0x1001;
	lode_profile_instruction(profile, 2)->address = 0x1001;
	g_autoptr(LodeCodeLines) code = lode_code_lines_new(profile, 0);
	unsigned seen = 0;
	for (guint i = 0; i < code->lines->len; i++) {
		const LodeCodeLine *line = &LODE_AT(code->lines, LodeCodeLine, i);
		g_autoptr(GString) text = g_string_new(NULL);
		lode_code_lines_text(code, i, text);
		g_assert_cmpuint(text->len, >, 0);
		seen += line->instruction != LODE_NONE;
	}
	g_assert_cmpuint(seen, ==, 3);
}

static void test_text(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = options_of(4, LODE_VIEW_TEXT);
	g_autofree char *text = write_annotate(profile, &options);

	g_assert_nonnull(strstr(text, "1. hot  /bin/sample  /nowhere/sample.c:1"));
	g_assert_null(strstr(text, "cold"));
	g_assert_nonnull(strstr(text, "▶ 1         100     500        40     1000  mov"));
	g_assert_nonnull(strstr(text, "▶ 2         100     100               1002  add"));
	g_assert_nonnull(strstr(text, "sample.c:3"));
	g_assert_nonnull(strstr(text, "no image file"));
}

static void test_context_and_limit(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = options_of(3, LODE_VIEW_TEXT);

	options.limit = 1;
	options.context = 0;
	options.profile_path = "x.lode";
	g_autofree char *text = write_annotate(profile, &options);
	g_assert_nonnull(strstr(text, "1. hot"));
	g_assert_null(strstr(text, "ret"));
	g_assert_nonnull(strstr(text, "lode annotate x.lode 3 --limit 2"));
}

static void test_json(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(GError) error = NULL;
	LodeAnnotateOptions options = options_of(3, LODE_VIEW_JSON);
	g_autofree char *text = write_annotate(profile, &options);
	g_autoptr(JsonNode) node = json_from_string(text, &error);

	g_assert_no_error(error);
	JsonArray *places = json_object_get_array_member(json_node_get_object(node), "places");
	g_assert_cmpuint(json_array_get_length(places), ==, 2);
	JsonObject *first = json_array_get_object_element(places, 0);
	g_assert_cmpstr(json_object_get_string_member(first, "function"), ==, "hot");
	g_assert_cmpstr(json_object_get_string_member(first, "address"), ==, "0x1000");
	g_assert_cmpint(json_object_get_int_member(first, "line"), ==, 1);
	g_assert_cmpfloat_with_epsilon(
		json_object_get_double_member(first, "share"), 600.0 / 730, 0.03);
	JsonObject *add = json_array_get_object_element(
		json_object_get_array_member(first, "instructions"), 1);
	g_assert_cmpint(
		json_array_get_int_element(json_object_get_array_member(add, "elements"), 0), ==,
		2);
	JsonObject *events = json_object_get_object_member(add, "events");
	g_assert_cmpint(json_object_get_int_member(events, "cycles"), ==, 100);
}

static void test_csv(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = options_of(3, LODE_VIEW_CSV);
	g_autofree char *text = write_annotate(profile, &options);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);

	g_assert_cmpuint(rows->len, ==, 1 + 3 + 4);
	g_assert_cmpstr(sample_cell(rows, 1, "elements"), ==, "1");
	g_assert_cmpstr(sample_cell(rows, 1, "event:l1d-miss"), ==, "40");
	g_assert_cmpstr(sample_cell(rows, 6, "address"), ==, "0x2005");
	g_assert_cmpstr(sample_cell(rows, 6, "executions"), ==, "0");
}

static void test_graph_profile(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = options_of(3, LODE_VIEW_TEXT);

	lode_profile_image(profile, 0)->kind = LODE_IMAGE_GRAPHS;
	for (guint i = 0; i < profile->code.functions->len; i++)
		g_clear_pointer(&lode_profile_function(profile, i)->code, g_bytes_unref);
	lode_profile_instruction(profile, 0)->name = lode_profile_intern(profile, "v\x1b"
										  "1");
	g_autofree char *text = write_annotate(profile, &options);
	g_assert_nonnull(strstr(text, "v\\x1b1 op:mov kind:load"));
	g_assert_null(strchr(text, 0x1b));
}

static void test_not_found(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeAnnotateOptions options = options_of(6, LODE_VIEW_TEXT);
	g_autoptr(GError) error = NULL, missing = NULL;
	FILE *file = sample_open();

	g_assert_false(lode_annotate_write(profile, run, &options, NULL, file, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	sample_add_sequence(run, "user:gone", 0.1, 0.1, 1);
	g_assert_false(lode_annotate_write(profile, run, &options, NULL, file, &missing));
	g_assert_error(missing, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	fclose(file);
}

/* --- findings, functions, lines --- */

/* The text, or the message of the error. */
static char *annotate_with_findings(
	const LodeProfile *profile, const LodeAnnotateOptions *options, int code)
{
	g_autoptr(LodeMiningRun) run = sample_run_with_findings();
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();
	bool is_done = lode_annotate_write(profile, run, options, NULL, file, &error);
	char *text = sample_close(file);

	if (code < 0) {
		g_assert_no_error(error);
		g_assert_true(is_done);
		return text;
	}
	g_free(text);
	g_assert_error(error, LODE_ERROR, code);
	return g_strdup(error->message);
}

static LodeAnnotateOptions subject_of(
	LodeAnnotateSubject subject, const char *name, uint32_t number, LodeViewFormat format)
{
	LodeAnnotateOptions options = options_of(number, format);

	options.subject = subject;
	options.name = name;
	options.line = number;
	return options;
}

static void test_finding(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FINDING, NULL, 1, LODE_VIEW_TEXT);
	LodeAnnotateOptions second = subject_of(LODE_ANNOTATE_FINDING, NULL, 2, LODE_VIEW_TEXT);
	g_autofree char *text = annotate_with_findings(profile, &options, -1);
	g_autofree char *place = annotate_with_findings(profile, &second, -1);

	g_assert_nonnull(strstr(text, "Finding F1 of run 'default': ⟨load⟩ → ⟪add⟫ → ⟨·⟩"));
	g_assert_nonnull(strstr(text, "40.0 % ±1.0 of cycles, +2.00 cycles each, 30.0 % of exec"));
	g_assert_nonnull(strstr(text, "1. hot  /bin/sample  /nowhere/sample.c:3"));
	g_assert_nonnull(strstr(text, "F1 explains 30.0 % of cycles, of the 13.7 % here, 100 ex"));
	g_assert_nonnull(strstr(text, "2. cold"));
	g_assert_nonnull(strstr(text, "\n  1         100     500        40     1000  mov"));
	g_assert_nonnull(strstr(text, "\n▶ 2         100     100               1002  add"));
	g_assert_nonnull(strstr(text, "\n  3         100     100               1005  ret"));
	/* One element needs no number. */
	g_assert_nonnull(strstr(place, "\n▶         100     500        40     1000  mov"));
	g_assert_null(strstr(place, "cold"));
}

static void test_finding_json(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FINDING, NULL, 1, LODE_VIEW_JSON);
	options.limit = 1;
	g_autofree char *text = annotate_with_findings(profile, &options, -1);
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonNode) node = json_from_string(text, &error);

	g_assert_no_error(error);
	JsonObject *whole = json_node_get_object(node);
	g_assert_cmpstr(json_object_get_string_member(whole, "id"), ==, "F1");
	g_assert_cmpint(json_object_get_int_member(whole, "focus"), ==, 2);
	JsonArray *places = json_object_get_array_member(whole, "places");
	g_assert_cmpuint(json_array_get_length(places), ==, 1);
	JsonObject *first = json_array_get_object_element(places, 0);
	g_assert_cmpfloat(json_object_get_double_member(first, "time"), ==, 0.3);
	JsonArray *rows = json_object_get_array_member(first, "instructions");
	JsonObject *load = json_array_get_object_element(rows, 0);
	JsonArray *marks = json_object_get_array_member(load, "findings");
	g_assert_cmpuint(json_array_get_length(marks), ==, 1);
	g_assert_cmpstr(
		json_object_get_string_member(json_array_get_object_element(marks, 0), "id"), ==,
		"F2");
	g_assert_true(json_object_get_null_member(load, "matched"));
}

static void test_no_finding(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FINDING, NULL, 9, LODE_VIEW_TEXT);
	g_autofree char *unknown = annotate_with_findings(profile, &options, LODE_ERROR_NOT_FOUND);
	g_autoptr(GError) older = NULL, counted = NULL;
	FILE *file = sample_open();

	g_assert_cmpstr(unknown, ==, "F9: the run has 2 findings");
	options.id = 1;
	g_assert_false(lode_annotate_write(profile, run, &options, NULL, file, &older));
	g_assert_nonnull(strstr(older->message, "mine again"));
	run->parameters.is_instruction_mode = true;
	g_assert_false(lode_annotate_write(profile, run, &options, NULL, file, &counted));
	g_assert_nonnull(strstr(counted->message, "--instructions"));
	fclose(file);
}

static void test_function(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FUNCTION, "cold", 0, LODE_VIEW_TEXT);
	g_autofree char *cold = annotate_with_findings(profile, &options, -1);
	options.name = "ho"; /* of one name only */
	g_autofree char *hot = annotate_with_findings(profile, &options, -1);

	g_assert_nonnull(strstr(cold, "  F1  10.0 %  ⟨load⟩ → ⟪add⟫ → ⟨·⟩"));
	g_assert_null(strstr(cold, "  F2 "));
	g_assert_nonnull(strstr(cold, "\nF1          10      10     2002  add"));
	g_assert_nonnull(strstr(cold, "             0             2005  nop"));
	g_assert_nonnull(strstr(cold, "ret"));
	g_assert_null(strstr(cold, "▶"));
	g_assert_nonnull(strstr(hot, "\nF2         100     500"));
	g_assert_nonnull(strstr(hot, "\nF1         100     100"));
}

/* An event of two names has one column, and on a narrow terminal the code has the room. */
static void test_columns(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FUNCTION, "hot", 0, LODE_VIEW_TEXT);
	uint32_t misses = lode_profile_find_event(profile, "l1d-miss");
	LodeEventTerm same = {misses, 1}, twice = {misses, 2};

	for (int i = 0; i < 2; i++) {
		uint32_t added = lode_profile_add_event(profile, i == 0 ? "D1mr" : "twice", NULL,
			LODE_EVENT_DERIVED, i == 0 ? &same : &twice, 1);
		lode_profile_event(profile, added)->is_attribute = true;
	}
	LODE_AT(profile->code.locations, LodeLocation, 0).file = lode_profile_intern(
		profile, "/nowhere/a_long_name_of_a_source_file_that_needs_all_of_the_room.c");
	g_autofree char *whole = annotate_with_findings(profile, &options, -1);
	options.terminal.width = 80;
	g_autofree char *narrow = annotate_with_findings(profile, &options, -1);

	g_assert_nonnull(strstr(whole, "    executions  cycles  l1d-miss  twice  address  code\n"));
	g_assert_nonnull(strstr(narrow, "    cycles  address  code\n"));
	g_assert_nonnull(strstr(narrow, "shows also: executions, l1d-miss, twice)"));
}

/* Gives two functions the names, and annotates `wanted`: the first function has to be shown. */
static void check_names(const char *first, const char *second, const char *wanted)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FUNCTION, wanted, 0, LODE_VIEW_TEXT);

	lode_profile_function(profile, 0)->name = lode_profile_intern(profile, first);
	lode_profile_function(profile, 1)->name = lode_profile_intern(profile, second);
	g_autofree char *text = annotate_with_findings(profile, &options, -1);
	g_autofree char *brief = lode_function_name_short(first);
	g_autofree char *heading = g_strdup_printf("\n1. %s ", brief);
	g_assert_nonnull(strstr(text, heading));
	options.terminal.has_full_names = true;
	g_autofree char *whole = annotate_with_findings(profile, &options, -1);
	g_autofree char *full_heading = g_strdup_printf("\n1. %s ", first);
	g_assert_nonnull(strstr(whole, full_heading));
}

/* What a user of another language than C would type. */
static void test_names_of_languages(void)
{
	check_names("work::step(int)", "work::step_back(int)", "step");
	check_names("Means.mean3(int[], int)", "Means.mean30(int[], int)", "Means.mean3");
	check_names("__grids_MOD_walk3", "__grids_MOD_walk30", "walk3");
	check_names("means__mean_1.1.constprop.0", "means__mean_10.10.constprop.0", "mean_1");
	check_names("P$MEANS_$$_MEAN1$LONGINT", "P$MEANS_$$_MEAN10$LONGINT", "Mean1");
	check_names("std::_Rb_tree<int, long, std::less<int> >::find(int const&) const",
		"std::_Rb_tree<int, long, std::less<int> >::find(int const&)",
		"std::_Rb_tree<int, long>::find(…) const");
}

static void test_function_names(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FUNCTION, "o", 0, LODE_VIEW_TEXT);
	g_autofree char *several = annotate_with_findings(profile, &options, LODE_ERROR_USAGE);
	options.name = "cols";
	g_autofree char *unknown = annotate_with_findings(profile, &options, LODE_ERROR_NOT_FOUND);

	g_assert_cmpstr(
		several, ==, "2 functions have 'o' in their names; type one of 'hot', 'cold'");
	g_assert_cmpstr(unknown, ==, "no function 'cols' in the profile; did you mean 'cold'?");
	options.name = "HOT";
	g_free(annotate_with_findings(profile, &options, -1));
	lode_profile_function(profile, 1)->name = lode_profile_function(profile, 0)->name;
	options.name = "hot";
	g_autofree char *same = annotate_with_findings(profile, &options, LODE_ERROR_USAGE);
	g_assert_cmpstr(same, ==,
		"2 functions have the name 'hot'; type one of 'hot@0x1000', 'hot@0x2000'");
	options.name = "hot@0x2000";
	g_autofree char *second = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(second, "2005  nop"));
	options.name = "hot@0x3000";
	g_free(annotate_with_findings(profile, &options, LODE_ERROR_NOT_FOUND));
}

/* What was compiled twice while the program ran is one function. */
static void test_versions(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FUNCTION, "hot", 0, LODE_VIEW_TEXT);

	lode_profile_function(profile, 1)->name = lode_profile_function(profile, 0)->name;
	lode_profile_image(profile, 0)->kind = LODE_IMAGE_JIT;
	g_autofree char *text = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(text, "1. hot, version 1 of 2  /bin/sample"));
	g_assert_nonnull(strstr(text, "2. hot, version 2 of 2  /bin/sample"));
	lode_profile_function(profile, 0)->name = lode_profile_intern(profile, "hot [tier 3]");
	lode_profile_function(profile, 1)->name = lode_profile_intern(profile, "hot [tier 4, OSR]");
	g_autofree char *tiers = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(tiers, "1. hot, version 1 of 2  /bin/sample"));
	g_assert_nonnull(strstr(tiers, "2. hot, version 2 of 2  /bin/sample"));
	/* And what has no line says so. */
	lode_profile_instruction(profile, 1)->location = LODE_NONE;
	g_autofree char *unknown = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(unknown, "(line not known)"));
}

static void test_line(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	LodeAnnotateOptions options = subject_of(
		LODE_ANNOTATE_LINE, "nowhere/sample.c", 3, LODE_VIEW_TEXT);
	options.context = 1;
	options.limit = 1;
	g_autofree char *text = annotate_with_findings(profile, &options, -1);

	g_assert_nonnull(strstr(text, "Line 3 of nowhere/sample.c; functions: 2"));
	/* Of both functions, although one is shown. */
	g_assert_nonnull(strstr(text, "  F1  40.0 %"));
	g_assert_nonnull(strstr(text, "1. hot"));
	g_assert_null(strstr(text, "2. cold"));
	g_assert_nonnull(strstr(text, "\n▶ F1         100     100"));
	g_assert_nonnull(strstr(text, "\nF2           100     500"));
	g_assert_nonnull(
		strstr(text, "lode annotate PROFILE.lode line nowhere/sample.c:3 --limit 2"));
}

#define FIND "Cache::find(std::vector<int> const&) const"

static void inline_at(LodeProfile *profile, uint32_t instruction, uint32_t location, uint32_t call,
	uint32_t outer_call)
{
	uint32_t outer = outer_call != LODE_NONE
	                         ? lode_profile_inlining(profile, outer_call, LODE_NONE)
	                         : LODE_NONE;

	lode_profile_instruction(profile, instruction)->location = location;
	lode_profile_set_inlining(
		profile, instruction, lode_profile_inlining(profile, call, outer));
}

/*
 *   hot   main.cpp:19 → find order.hpp:23 → operator== basic_string.h:3587   instruction 0
 *         main.cpp:19 → find order.hpp:24                                    1
 *   cold  main.cpp:40 → find order.hpp:23                                    4
 */
static LodeProfile *inlined_profile(void)
{
	LodeProfile *profile = sample_profile();
	uint32_t hot_call = lode_profile_location(profile, "/home/me/main.cpp", 19, NULL);
	uint32_t cold_call = lode_profile_location(profile, "/home/me/main.cpp", 40, NULL);
	uint32_t in_find = lode_profile_location(profile, "/home/me/order.hpp", 23, FIND);

	inline_at(profile, 0,
		lode_profile_location(profile, "/usr/include/c++/12/bits/basic_string.h", 3587,
			"bool std::operator==<char>(std::string const&, char const*)"),
		in_find, hot_call);
	inline_at(profile, 1, lode_profile_location(profile, "/home/me/order.hpp", 24, FIND),
		hot_call, LODE_NONE);
	inline_at(profile, 4, in_find, cold_call, LODE_NONE);
	return profile;
}

static double share_of(const LodeProfile *profile, const uint32_t *instructions, size_t n)
{
	double sum = 0, all = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		all += lode_profile_event_value(profile, profile->code.weight_event, i);
	for (size_t i = 0; i < n; i++)
		sum += lode_profile_event_value(
			profile, profile->code.weight_event, instructions[i]);
	return sum / all;
}

/* The sum of the shares of all places. */
static double annotated_share(const LodeProfile *profile, const LodeAnnotateOptions *options)
{
	g_autofree char *text = annotate_with_findings(profile, options, -1);
	g_autoptr(JsonNode) node = json_from_string(text, NULL);
	JsonArray *places = json_object_get_array_member(json_node_get_object(node), "places");
	double sum = 0;

	for (guint i = 0; i < json_array_get_length(places); i++)
		sum += json_object_get_double_member(
			json_array_get_object_element(places, i), "share");
	return sum;
}

static void test_inlined_function(void)
{
	static const uint32_t all[] = {0, 1, 4}, innermost[] = {0};
	g_autoptr(LodeProfile) profile = inlined_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FUNCTION, "find", 0, LODE_VIEW_TEXT);
	g_autofree char *text = annotate_with_findings(profile, &options, -1);

	g_assert_nonnull(strstr(text, "Cache::find(…) const is inlined into 2 functions: "));
	g_assert_nonnull(strstr(text, "1. hot  /bin/sample  /home/me/order.hpp:23\n"));
	g_assert_nonnull(strstr(text, "2. cold  /bin/sample  /home/me/order.hpp:23\n"));
	g_assert_nonnull(strstr(
		text, "order.hpp:23  (inlined Cache::find → std::operator== basic_string.h:3587)"));
	g_assert_nonnull(strstr(text, "order.hpp:24  (inlined Cache::find)"));
	options.format = LODE_VIEW_JSON;
	g_assert_cmpfloat_with_epsilon(
		annotated_share(profile, &options), share_of(profile, all, 3), 1e-9);
	options.name = "operator==";
	g_assert_cmpfloat_with_epsilon(
		annotated_share(profile, &options), share_of(profile, innermost, 1), 1e-9);
	/* A function by its own name, too: all of it, and where it is inlined. */
	lode_profile_function(profile, 1)->name = lode_profile_intern(profile, FIND);
	options.name = FIND;
	options.format = LODE_VIEW_TEXT;
	g_autofree char *both = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(both, "1. hot "));
	g_assert_nonnull(strstr(both, "2. Cache::find(…) const "));
	g_assert_nonnull(strstr(both, "3. Cache::find(…) const "));
	/* What was compiled while the program ran has the tier in its name. */
	lode_profile_function(profile, 1)->name = lode_profile_intern(profile, FIND " [tier 4]");
	lode_profile_image(profile, 0)->kind = LODE_IMAGE_JIT;
	options.name = "Cache::find";
	g_autofree char *compiled = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(compiled, "1. hot "));
	g_assert_nonnull(strstr(compiled, "2. Cache::find(…) const "));
}

static void test_inlined_line(void)
{
	static const uint32_t line_23[] = {0, 4}, call[] = {0, 1}, innermost[] = {0};
	static const char *const globs[] = {"/usr/include/c++/*", NULL};
	g_autoptr(LodeProfile) profile = inlined_profile();
	LodeAnnotateOptions options = subject_of(
		LODE_ANNOTATE_LINE, "order.hpp", 23, LODE_VIEW_JSON);

	g_assert_cmpfloat_with_epsilon(
		annotated_share(profile, &options), share_of(profile, line_23, 2), 1e-9);
	options.name = "main.cpp";
	options.line = 19;
	g_assert_cmpfloat_with_epsilon(
		annotated_share(profile, &options), share_of(profile, call, 2), 1e-9);
	options.name = "basic_string.h";
	options.line = 3587;
	g_assert_cmpfloat_with_epsilon(
		annotated_share(profile, &options), share_of(profile, innermost, 1), 1e-9);
	options.format = LODE_VIEW_TEXT;
	g_autofree char *text = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(strstr(text, "1. hot  /bin/sample  /home/me/order.hpp:23\n"));
	options.own = globs;
	g_autofree char *own = annotate_with_findings(profile, &options, -1);
	g_assert_nonnull(
		strstr(own, "1. hot  /bin/sample  /usr/include/c++/12/bits/basic_string.h"));
}

static void test_inlined_place(void)
{
	g_autoptr(LodeProfile) profile = inlined_profile();
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_FINDING, NULL, 2, LODE_VIEW_TEXT);
	options.id = 2;
	g_autofree char *text = annotate_with_findings(profile, &options, -1);

	g_assert_nonnull(strstr(text, "\n   hot main.cpp:19 → Cache::find order.hpp:23 → "
				      "std::operator== basic_string.h:3587\n"));
}

static void test_unknown_line(void)
{
	static const struct {
		const char *file;
		uint32_t line;
		const char *message;
	} cases[] = {
		{"sample.c", 2,
			"no code of line 2 of 'sample.c' executed; the nearest lines that did are "
			"1 "
			"and 3"},
		{"sample.c", 99,
			"no code of line 99 of 'sample.c' executed; the nearest line that did is "
			"7"},
		{"ample.c", 1, "no code of 'ample.c' in the profile; did you mean 'sample.c'?"},
		{"else/sample.c", 1,
			"no code of 'else/sample.c' in the profile, but of another 'sample.c'"},
		{"unlike.h", 1, "no code of 'unlike.h' in the profile"},
	};
	g_autoptr(LodeProfile) profile = sample_profile();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeAnnotateOptions options = subject_of(
			LODE_ANNOTATE_LINE, cases[i].file, cases[i].line, LODE_VIEW_TEXT);
		g_autofree char *message = annotate_with_findings(
			profile, &options, LODE_ERROR_NOT_FOUND);
		g_assert_cmpstr(message, ==, cases[i].message);
	}
	for (guint i = 0; i < profile->code.instructions->len; i++)
		lode_profile_instruction(profile, i)->location = LODE_NONE;
	g_array_set_size(profile->code.locations, 0);
	LodeAnnotateOptions options = subject_of(LODE_ANNOTATE_LINE, "sample.c", 1, LODE_VIEW_TEXT);
	g_autofree char *message = annotate_with_findings(profile, &options, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(message, "no source lines"));
}

/* Each form of each subject is written for a profile without weight, code or edges. */
static void test_bare_profile(void)
{
	static const LodeViewFormat formats[] = {LODE_VIEW_TEXT, LODE_VIEW_JSON, LODE_VIEW_CSV};
	g_autoptr(LodeProfile) profile = sample_profile();

	for (guint i = 0; i < profile->code.costs->len; i++)
		LODE_AT(profile->code.costs, LodeCost, i).value = 0;
	for (guint i = 0; i < profile->code.functions->len; i++)
		g_clear_pointer(&lode_profile_function(profile, i)->code, g_bytes_unref);
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		lode_profile_instruction(profile, i)->next_count = -1;
		lode_profile_instruction(profile, i)->count = 0;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
		LodeAnnotateOptions finding = subject_of(
			LODE_ANNOTATE_FINDING, NULL, 1, formats[i]);
		LodeAnnotateOptions function = subject_of(
			LODE_ANNOTATE_FUNCTION, "hot", 0, formats[i]);
		LodeAnnotateOptions line = subject_of(
			LODE_ANNOTATE_LINE, "sample.c", 1, formats[i]);
		g_autofree char *text = annotate_with_findings(profile, &finding, -1);
		g_assert_null(strstr(text, "nan"));
		/* Nothing is known of what comes before. */
		g_assert_null(strstr(text, "\n  1 "));
		g_free(annotate_with_findings(profile, &function, -1));
		g_free(annotate_with_findings(profile, &line, -1));
	}
}

static char *write_info(const LodeProfile *profile, LodeViewFormat format)
{
	LodeRunSummary summary = {.name = (char *)"default",
		.parameters = (char *)"{\"gap\":0}",
		.n_sequences = 7,
		.is_complete = true};
	g_autoptr(GPtrArray) runs = g_ptr_array_new();
	LodeInfoOptions options = {.format = format, .profile_path = "x.lode"};
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_ptr_array_add(runs, &summary);
	g_assert_true(lode_info_write(profile, runs, &options, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

static void test_info_text(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autofree char *text = write_info(profile, LODE_VIEW_TEXT);

	g_assert_nonnull(strstr(text, "./sample --fast"));
	g_assert_nonnull(strstr(text, "50.0 %  inflow equals executions"));
	g_assert_nonnull(strstr(text, "97.3 %  file, build id abcd"));
	g_assert_nonnull(strstr(text, "2.7 %  20 executions, 1 place, such as 0x7f00"));
	g_assert_nonnull(strstr(text, "with the default options"));
	g_assert_null(strstr(text, " \n"));
}

static void test_info_rows(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autofree char *json = write_info(profile, LODE_VIEW_JSON);
	g_autofree char *csv = write_info(profile, LODE_VIEW_CSV);
	g_autoptr(GPtrArray) rows = sample_parse_csv(csv);
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonNode) node = json_from_string(json, &error);

	g_assert_no_error(error);
	JsonObject *flow = json_object_get_object_member(
		json_node_get_object(node), "flow_conservation");
	g_assert_cmpfloat(json_object_get_double_member(flow, "share"), ==, 0.5);
	g_assert_cmpstr(sample_cell(rows, 1, "value"), ==, "./sample --fast");
	g_assert_cmpstr(sample_cell(rows, rows->len - 1, "section"), ==, "run");
	g_assert_cmpstr(sample_cell(rows, rows->len - 1, "value"), ==, "7");
}

static void test_info_empty(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	for (int format = LODE_VIEW_TEXT; format <= LODE_VIEW_CSV; format++) {
		g_autofree char *text = write_info(profile, (LodeViewFormat)format);
		g_assert_cmpuint(strlen(text), >, 0);
	}
}

static LodeMiningRun *store_instruction_run(LodeProfile *profile, const char *path)
{
	LodeMiningParameters parameters;
	g_autoptr(GError) error = NULL;

	lode_mining_parameters_init(&parameters);
	parameters.is_instruction_mode = true;
	parameters.min_count = 0;
	g_autoptr(LodeMiningRun)
		mined = lode_instruction_miner_run(profile, &parameters, "main", NULL, &error);
	g_assert_no_error(error);
	g_assert_true(lode_profile_store_write(path, profile, NULL, NULL));
	g_assert_true(lode_profile_store_add_run(path, profile, mined, NULL, NULL));
	LodeMiningRun *stored = lode_profile_store_read_run(path, "main", &error);
	g_assert_no_error(error);
	return stored;
}

/* Instruction sequences are mined in all code: also in what never executed, which has no places. */
static void test_every_instruction_sequence(void)
{
	g_autofree char *folder = g_dir_make_tmp("lode-annotate-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = store_instruction_run(profile, path);
	static const LodeViewFormat formats[] = {LODE_VIEW_TEXT, LODE_VIEW_JSON, LODE_VIEW_CSV};
	guint n_unexecuted = 0;

	for (guint i = 0; i < run->sequences->len * G_N_ELEMENTS(formats); i++) {
		LodeAnnotateOptions options = options_of(i / 3 + 1, formats[i % 3]);
		g_autoptr(GError) error = NULL;
		FILE *file = sample_open();
		lode_annotate_write(profile, run, &options, NULL, file, &error);
		g_assert_no_error(error);
		g_autofree char *text = sample_close(file);
		n_unexecuted += strstr(text, ": 0 places") != NULL;
	}
	g_assert_cmpuint(n_unexecuted, >, 0);
	g_unlink(path);
	g_rmdir(folder);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/annotate/code-lines", test_code_lines);
	g_test_add_func("/views/annotate/odd-code", test_odd_code);
	g_test_add_func("/views/annotate/text", test_text);
	g_test_add_func("/views/annotate/context-and-limit", test_context_and_limit);
	g_test_add_func("/views/annotate/json", test_json);
	g_test_add_func("/views/annotate/csv", test_csv);
	g_test_add_func("/views/annotate/graph-profile", test_graph_profile);
	g_test_add_func("/views/annotate/not-found", test_not_found);
	g_test_add_func(
		"/views/annotate/every-instruction-sequence", test_every_instruction_sequence);
	g_test_add_func("/views/annotate/finding", test_finding);
	g_test_add_func("/views/annotate/finding-json", test_finding_json);
	g_test_add_func("/views/annotate/no-finding", test_no_finding);
	g_test_add_func("/views/annotate/function", test_function);
	g_test_add_func("/views/annotate/columns", test_columns);
	g_test_add_func("/views/annotate/function-names", test_function_names);
	g_test_add_func("/views/annotate/names-of-languages", test_names_of_languages);
	g_test_add_func("/views/annotate/versions", test_versions);
	g_test_add_func("/views/annotate/line", test_line);
	g_test_add_func("/views/annotate/inlined-function", test_inlined_function);
	g_test_add_func("/views/annotate/inlined-line", test_inlined_line);
	g_test_add_func("/views/annotate/inlined-place", test_inlined_place);
	g_test_add_func("/views/annotate/unknown-line", test_unknown_line);
	g_test_add_func("/views/annotate/bare-profile", test_bare_profile);
	g_test_add_func("/views/info/text", test_info_text);
	g_test_add_func("/views/info/rows", test_info_rows);
	g_test_add_func("/views/info/empty", test_info_empty);
	return g_test_run();
}
