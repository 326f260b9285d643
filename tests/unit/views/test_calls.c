/* SPDX-License-Identifier: MIT */
/* Callers and callees, the list of functions with what they call, and the functions of the first
 * screen, from a profile with stacks made by hand. */
#include "base/error.h"
#include "made_profile.h"
#include "sample_profile.h"
#include "views/calls/call_lines.h"
#include "views/calls/function_calls.h"
#include "views/code/function_list.h"
#include "views/findings/top_functions.h"
#include "views/form/display_text.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static uint32_t add_stack(LodeProfile *profile, const char *name, uint64_t address, bool is_inlined,
	uint32_t outer, double weight)
{
	const LodeFrame frame = {.function = (char *)name,
		.image = lode_profile_image(profile, 0)->path,
		.address = address,
		.is_inlined = is_inlined};
	uint32_t stack = made_stack(profile, frame, outer);

	if (weight > 0)
		made_sample(profile, stack, weight);
	return stack;
}

/* main ▶ cold, 30 of its own ▶ hot, 450 in what is inlined there; main ▶ hot, 270. */
static LodeProfile *profile_with_stacks(void)
{
	LodeProfile *profile = sample_profile();

	profile->stacks = lode_stacks_new();
	uint32_t top = add_stack(profile, "main(int)", 0x9000, false, LODE_NONE, 0);
	uint32_t cold = add_stack(profile, "cold", 0x2002, false, top, 30);
	uint32_t hot = add_stack(profile, "hot", 0x1002, false, cold, 0);
	add_stack(profile, "copy", 0x1002, true, hot, 450);
	add_stack(profile, "hot", 0x1005, false, top, 270);
	return profile;
}

static char *write_calls(const LodeFunctionCallsOptions *options, GError **error)
{
	g_autoptr(LodeProfile) profile = profile_with_stacks();
	FILE *file = sample_open();
	bool is_written = lode_function_calls_write(
		profile, profile->code.weight_event, options, file, error);
	char *text = sample_close(file);

	if (!is_written)
		g_clear_pointer(&text, g_free);
	return text;
}

/* "main(int) null 0.36 1, cold 1 0.6 1": name, number, weight, samples. */
static char *rows_text(JsonObject *object, const char *member)
{
	JsonArray *rows = json_object_get_array_member(object, member);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < json_array_get_length(rows); i++) {
		JsonObject *row = json_array_get_object_element(rows, i);
		bool has_number = !json_object_get_null_member(row, "number");
		g_autofree char *number = has_number ? g_strdup_printf("%" G_GINT64_FORMAT,
							       json_object_get_int_member(
								       row, "number"))
		                                     : g_strdup("null");
		g_string_append_printf(text, "%s%s %s %.4g %" G_GINT64_FORMAT, i > 0 ? ", " : "",
			json_object_get_string_member(row, "name"), number,
			json_object_get_double_member(row, "weight"),
			json_object_get_int_member(row, "samples"));
	}
	return g_string_free(text, FALSE);
}

static void check_calls(const char *name, const char *callers, const char *callees)
{
	const LodeFunctionCallsOptions options = {.format = LODE_VIEW_JSON, .name = name};
	g_autoptr(GError) error = NULL;
	g_autofree char *text = write_calls(&options, &error);

	g_assert_no_error(error);
	g_autoptr(JsonNode) node = json_from_string(text, &error);
	g_assert_no_error(error);
	JsonObject *object = json_node_get_object(node);
	g_autofree char *found_callers = rows_text(object, "callers");
	g_autofree char *found_callees = rows_text(object, "callees");
	g_assert_cmpstr(json_object_get_string_member(object, "from"), ==, "stacks");
	g_assert_cmpstr(found_callers, ==, callers);
	g_assert_cmpstr(found_callees, ==, callees);
}

static void test_calls(void)
{
	check_calls("hot", "cold 1 0.6 1, main(int) null 0.36 1", "copy null 0.6 1");
	check_calls("0", "cold 1 0.6 1, main(int) null 0.36 1", "copy null 0.6 1");
	check_calls("hot@0x1000", "cold 1 0.6 1, main(int) null 0.36 1", "copy null 0.6 1");
	check_calls("copy", "hot 0 0.6 1", "");
	check_calls("main", "", "cold 1 0.64 2, hot 0 0.36 1");
}

static void test_names(void)
{
	static const struct {
		const char *name, *message;
	} wrong[] = {
		{"hut", "no function 'hut' in the profile; did you mean 'hot'?"},
		{"o", "'o' may mean 3 functions; type the name or the number of one of: 'hot' in "
		      "sample (0), 'cold' in sample (1), 'copy' in sample"},
		{"7", "no function '7' in the profile: 'lode report FILE --functions' lists them"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		const LodeFunctionCallsOptions options = {
			.format = LODE_VIEW_JSON, .name = wrong[i].name};
		g_autoptr(GError) error = NULL;
		g_autofree char *text = write_calls(&options, &error);
		g_assert_null(text);
		g_assert_cmpstr(error->message, ==, wrong[i].message);
	}
}

/* "skim" is the function that a stub leads to; the stub is meant where nothing else is. The first
 * screen names a function of Rust as "List::skip". */
static void test_meant(void)
{
	static const char *const names[] = {"skim", "skim@plt", "List::skip"};
	static const char *const found[] = {
		"__skim_fast in", "skim@plt in", "<List<T> as Skip>::skip in"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const LodeFunctionCallsOptions options = {.name = names[i], .has_callers = true};
		g_autoptr(LodeProfile) profile = profile_with_stacks();
		g_autoptr(GError) error = NULL;
		FILE *file = sample_open();
		add_stack(profile, "skim@plt", 0x9100, false, LODE_NONE, 5);
		add_stack(profile, "__skim_fast", 0x9200, false, LODE_NONE, 5);
		add_stack(profile, "<a::List<T> as a::Skip>::skip", 0x9300, false, LODE_NONE, 5);
		lode_function_calls_write(
			profile, profile->code.weight_event, &options, file, &error);
		g_autofree char *text = sample_close(file);
		g_assert_no_error(error);
		g_assert_true(g_str_has_prefix(text, found[i]));
	}
}

static uint32_t add_line(LodeProfile *profile, const char *name, const char *file, uint32_t line,
	uint32_t outer, double weight)
{
	uint32_t stack = add_stack(profile, name, 0x9000 + line, false, outer, weight);
	const LodeStack *row = &LODE_AT(profile->stacks->stacks, LodeStack, stack);
	LodeFrame *frame = &LODE_AT(profile->stacks->frames, LodeFrame, row->frame);

	frame->file = lode_profile_intern(profile, file);
	frame->line = line;
	return stack;
}

/*
 *   main a.c:3 ▶ find a.c:8 ▶ (header, 5) ▶ alloc     400
 *                           ▶ alloc ▶ alloc            50   recursion: once
 *                           ▶ alloc ▶ find a.c:9 ▶ alloc     20   both lines
 *   main a.c:4 ▶ (header, 5) ▶ alloc                  100
 *   alloc                                              30   no line around
 */
static void test_own_lines(void)
{
	static const char *const own[] = {"/usr/include/*", NULL};
	static const char header[] = "/usr/include/list.h";
	LodeFunctionCallsOptions options = {.name = "alloc", .has_callers = true};
	g_autoptr(LodeProfile) profile = profile_with_stacks();
	uint32_t main_3 = add_line(profile, "main(int)", "/a.c", 3, LODE_NONE, 0);
	uint32_t main_4 = add_line(profile, "main(int)", "/a.c", 4, LODE_NONE, 0);
	uint32_t find = add_line(profile, "find", "/a.c", 8, main_3, 0);
	uint32_t push = add_line(profile, "push", header, 5, find, 0);
	add_line(profile, "alloc", "alloc.c", 0, push, 400);
	uint32_t alloc = add_line(profile, "alloc", "alloc.c", 0, find, 0);
	add_line(profile, "alloc", "alloc.c", 0, alloc, 50);
	uint32_t again = add_line(profile, "find", "/a.c", 9, alloc, 0);
	add_line(profile, "alloc", "alloc.c", 0, again, 20);
	push = add_line(profile, "push", header, 5, main_4, 0);
	add_line(profile, "alloc", "alloc.c", 0, push, 100);
	add_line(profile, "alloc", "alloc.c", 0, LODE_NONE, 30);

	for (int i = 0; i < 2; i++) {
		static const char *const expected[] = {"Own lines  samples  line   function\n"
						       "   62.7 %        3  a.c:8  find\n"
						       "   13.3 %        1  a.c:4  main(int)\n"
						       "    2.7 %        1  a.c:9  find\n",
			"Own lines  samples  line      function\n"
			"   66.7 %        2  list.h:5  push\n"
			"    9.3 %        2  a.c:8     find\n"
			"    2.7 %        1  a.c:9     find\n"};
		g_autoptr(GError) error = NULL;
		FILE *file = sample_open();
		options.own = i == 1 ? own : NULL;
		lode_function_calls_write(
			profile, profile->code.weight_event, &options, file, &error);
		g_assert_no_error(error);
		g_autofree char *text = sample_close(file);
		g_assert_nonnull(strstr(text, "Own lines"));
		g_assert_cmpstr(strstr(text, "Own lines"), ==, expected[i]);
	}
}

static void test_text(void)
{
	const LodeFunctionCallsOptions options = {
		.name = "hot", .has_callers = true, .has_callees = true};
	g_autofree char *text = write_calls(&options, NULL);

	g_assert_cmpstr(text, ==,
		"hot in sample: self 93.3 %, inclusive 96.0 %\n"
		"\n"
		"Callers  samples  image   function\n"
		" 60.0 %        1  sample  cold\n"
		" 36.0 %        1  sample  main(int)\n"
		"\n"
		"Callees  samples  image   function\n"
		" 60.0 %        1  sample  copy (inlined)\n");
}

/* Versions of one compiled method are taken together, and a name of Java or of V8 is found by its
 * last word; other functions of one name are not. */
static void test_versions(void)
{
	static const struct {
		LodeImageKind kind;
		const char *hot, *cold, *name, *found; /* NULL: there are several */
	} cases[] = {
		{LODE_IMAGE_JIT, "A.run(int) [tier 4]", "A.run(int) [tier 3, OSR]", "run",
			"A.run(int) and 1 other version"},
		{LODE_IMAGE_JIT, "JS:*run /srv/a.js:1:2", "JS:~run /srv/a.js:1:2", "run",
			"run a.js:1 and 1 other version"},
		{LODE_IMAGE_JIT, "JS:*run /srv/a.js:1:2", "JS:~run_all /srv/a.js:9:2", "run",
			"run a.js:1"},
		{LODE_IMAGE_JIT, "A.run(int) [tier 4]", "B.run(int) [tier 4]", "run", NULL},
		{LODE_IMAGE_JIT, "A.run(int) [tier 4]", "A.run(long) [tier 4]", "A.run", NULL},
		{LODE_IMAGE_FILE, "A::run(int)", "A::run(int)", "run", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_with_stacks();
		const LodeFunctionCallsOptions options = {
			.name = cases[i].name, .has_callers = true};
		g_autoptr(GError) error = NULL;
		g_autofree char *text = NULL;
		FILE *file = sample_open();

		((LodeImage *)lode_profile_image(profile, 0))->kind = cases[i].kind;
		lode_profile_function(profile, 0)->name = lode_profile_intern(
			profile, cases[i].hot);
		lode_profile_function(profile, 1)->name = lode_profile_intern(
			profile, cases[i].cold);
		bool is_found = lode_function_calls_write(
			profile, profile->code.weight_event, &options, file, &error);
		text = sample_close(file);
		g_test_message("%s%s", text, error != NULL ? error->message : "");
		g_assert_cmpint(is_found, ==, cases[i].found != NULL);
		if (is_found) {
			g_autofree char *start = g_strconcat(cases[i].found, " in ", NULL);
			g_assert_true(g_str_has_prefix(text, start));
		}
		/* And they are one line of the first screen. */
		g_auto(LodeTopFunctions) top = {0};
		g_autoptr(LodeCostedFunctions) functions = lode_costed_functions_new(
			profile, profile->code.weight_event, NULL);
		lode_top_functions_init(&top, functions, profile->code.weight_event, 1);
		bool are_versions = cases[i].found != NULL &&
		                    g_str_has_suffix(cases[i].found, "version");
		g_assert_cmpuint(top.rows->len, ==, are_versions ? 1 : 2);
	}
}

/* What is only on stacks has no number. */
static void test_list(void)
{
	g_autoptr(LodeProfile) profile = profile_with_stacks();
	const LodeFunctionListOptions options = {
		.format = LODE_VIEW_JSON, .order = LODE_FUNCTION_BY_INCLUSIVE};
	FILE *file = sample_open();

	g_assert_true(lode_function_list_write(
		profile, profile->code.weight_event, &options, file, NULL));
	g_autofree char *text = sample_close(file);
	g_autoptr(JsonNode) node = json_from_string(text, NULL);
	JsonObject *object = json_node_get_object(node);
	JsonArray *rows = json_object_get_array_member(object, "functions");
	g_assert_cmpuint(json_array_get_length(rows), ==, 3);
	JsonObject *first = json_array_get_object_element(rows, 0);
	g_assert_cmpstr(json_object_get_string_member(object, "inclusive_from"), ==, "stacks");
	g_assert_cmpstr(json_object_get_string_member(first, "name"), ==, "main(int)");
	g_assert_true(json_object_get_null_member(first, "number"));
	g_assert_cmpfloat(json_object_get_double_member(first, "inclusive"), ==, 750);
}

/* Names of any length and of bytes that a terminal would obey: a line of 80 columns each. */
static void test_first_screen(void)
{
	g_autoptr(LodeProfile) profile = profile_with_stacks();
	g_autofree char *tail = g_strnfill(1 << 20, 'x');
	g_autofree char *name = g_strconcat("hot\x1b[2J", tail, NULL);
	g_auto(LodeTopFunctions) top = {0};
	const LodeTerminal terminals[] = {{.width = 0}, {.width = 80}, {.width = 30}};

	lode_profile_function(profile, 0)->name = lode_profile_intern(profile, name);
	g_autoptr(LodeCostedFunctions)
		functions = lode_costed_functions_new(profile, profile->code.weight_event, NULL);
	lode_top_functions_init(&top, functions, profile->code.weight_event, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(terminals); i++) {
		FILE *file = sample_open();
		lode_top_functions_write(&top, &terminals[i], file);
		g_autofree char *text = sample_close(file);
		g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
		g_assert_nonnull(strstr(text, "93.3 %"));
		g_assert_null(strchr(text, '\x1b'));
		g_assert_true(terminals[i].width == 30 || strstr(text, ", from cold") != NULL);
		for (char **line = lines; *line != NULL; line++)
			g_assert_cmpuint(lode_display_width(*line), <=, 80);
	}
}

/* The first screen of samples in hot() only: so many called by a function of that name, and so many
 * whose stack is one function. */
static char *first_screen(const char *caller, double n_called, double n_alone)
{
	g_autoptr(LodeProfile) profile = profile_with_stacks();
	const LodeTerminal terminal = {.width = 80};
	g_auto(LodeTopFunctions) top = {0};

	g_array_set_size(profile->stacks->samples, 0);
	uint32_t outer = add_stack(profile, caller, 0x9000, false, LODE_NONE, 0);
	add_stack(profile, "hot", 0x1005, false, outer, n_called);
	add_stack(profile, "hot", 0x1005, false, LODE_NONE, n_alone);
	g_autoptr(LodeCostedFunctions)
		functions = lode_costed_functions_new(profile, profile->code.weight_event, NULL);
	lode_top_functions_init(&top, functions, profile->code.weight_event, 1);
	FILE *file = sample_open();
	lode_top_functions_write(&top, &terminal, file);
	return sample_close(file);
}

static void test_first_caller(void)
{
	static const struct {
		const char *caller;
		double n_called, n_alone;
		const char *shown; /* NULL: none */
	} cases[] = {
		{"step(int)", 600, 400, "hot, from step\n"},
		{"step(int)", 300, 700, NULL},
		{"[unknown]", 1000, 0, NULL},
		{"space::Handle<Object<int>> space::Table::look_up_a_key<Object<int>>(int)", 1000,
			0, "hot, from Table::look_up_a_key\n"},
		{"the_space_of_it::Builtins::compile_and_call(long, long)", 1000, 0,
			"hot, from compile_and_call\n"},
		{"JS:*parse /a/long/way/to/the/file/read.js:3:15", 1000, 0,
			"hot, from parse read.js:3\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = first_screen(
			cases[i].caller, cases[i].n_called, cases[i].n_alone);
		g_test_message("%s", text);
		if (cases[i].shown != NULL)
			g_assert_nonnull(strstr(text, cases[i].shown));
		else
			g_assert_null(strstr(text, ", from"));
	}
}

/* Advice on names where a fifth of the cost has none, which code without a file cannot have. */
static void test_unnamed(void)
{
	static const struct {
		LodeImageKind kind;
		uint32_t function; /* hot() has 93 %, cold() less than 7 */
		bool is_shown;
	} cases[] = {
		{LODE_IMAGE_FILE, 0, true},
		{LODE_IMAGE_FILE, 1, false},
		{LODE_IMAGE_JIT, 0, false},
	};
	const LodeTerminal terminal = {.width = 0};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_with_stacks();
		g_auto(LodeTopFunctions) top = {0};
		FILE *file = sample_open();

		((LodeImage *)lode_profile_image(profile, 0))->kind = cases[i].kind;
		lode_profile_function(profile, cases[i].function)->source = LODE_FUNCTION_UNWIND;
		g_autoptr(LodeCostedFunctions) functions = lode_costed_functions_new(
			profile, profile->code.weight_event, NULL);
		lode_top_functions_init(&top, functions, profile->code.weight_event, 1);
		lode_top_functions_write(&top, &terminal, file);
		g_autofree char *text = sample_close(file);
		g_test_message("%s", text);
		g_assert_cmpint(strstr(text, "93.3 % is in functions without symbols, most in "
					     "sample: --debuginfod") != NULL,
			==, cases[i].is_shown);
		g_assert_cmpint(strstr(text, "symbols") != NULL, ==, cases[i].is_shown);
	}
}

/* A result before a name, and parameters after it, do not say which function it is. */
static void test_family(void)
{
	g_autoptr(LodeProfile) profile = profile_with_stacks();
	g_autoptr(GString) brief = g_string_new(NULL), full = g_string_new(NULL);
	const LodeTerminal terminals[] = {{.width = 0}, {.has_full_names = true}};

	lode_profile_function(profile, 0)->name = lode_profile_intern(
		profile, "v8::Local<int> v8::Table::find<int>(v8::Key<int>, long)");
	lode_profile_function(profile, 1)->name = lode_profile_intern(profile, "Builtins_ArrayMap");
	g_autoptr(LodeCostedFunctions)
		functions = lode_costed_functions_new(profile, profile->code.weight_event, NULL);
	const LodeFamilyCost *cost = &g_array_index(functions->family_costs, LodeFamilyCost, 0);
	lode_call_lines_family(
		brief, functions->costs, functions->families, cost, 0, &terminals[0]);
	lode_call_lines_family(full, functions->costs, functions->families, cost, 0, &terminals[1]);
	g_assert_cmpstr(brief->str, ==, "run-time builtins (v8::Table::find, Builtins_ArrayMap)");
	g_assert_cmpstr(full->str, ==,
		"run-time builtins (v8::Local<int> v8::Table::find<int>(v8::Key<int>, long), "
		"Builtins_ArrayMap)");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/calls/calls", test_calls);
	g_test_add_func("/calls/names", test_names);
	g_test_add_func("/calls/meant", test_meant);
	g_test_add_func("/calls/own_lines", test_own_lines);
	g_test_add_func("/calls/text", test_text);
	g_test_add_func("/calls/versions", test_versions);
	g_test_add_func("/calls/list", test_list);
	g_test_add_func("/calls/first_screen", test_first_screen);
	g_test_add_func("/calls/first_caller", test_first_caller);
	g_test_add_func("/calls/family", test_family);
	g_test_add_func("/calls/unnamed", test_unnamed);
	return g_test_run();
}
