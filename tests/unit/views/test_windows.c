/* SPDX-License-Identifier: MIT */
/*
 * Views of a profile with windows. Its program has a loop that looks for something, whose branch
 * goes both ways, and a call through a pointer.
 *
 *   0x1000  cmp [rdi],esi     5,000 steps, stride 4
 *   0x1002  jz 0x100b         taken 37 of 100 times; a tenth is not foretold
 *   0x1004  add rdi,4
 *   0x1008  jnz 0x1000        10 steps: taken 90 % by inference
 *   0x100a  ret
 *   0x100b  call [rax]        to two functions
 *   0x100d  ret
 */
#include "golden_text.h"
#include "made_profile.h"
#include "model/observed/windows.h"
#include "sample_profile.h"
#include "views/code/annotate.h"
#include "views/code/function_graph.h"
#include "views/observed/observed_summary.h"
#include "views/profile/import_summary.h"
#include "views/profile/info.h"

#include <json-glib/json-glib.h>
#include <string.h>

static const struct {
	uint64_t address;
	uint32_t size;
	double count, next_count;
	const char *kind;
	uint32_t block;
} rows[] = {
	{0x1000, 2, 100, 100, "kind:load", 0},
	{0x1002, 2, 100, 50, "kind:branch", 0},
	{0x1004, 4, 50, 50, "kind:alu", 1},
	{0x1008, 2, 50, 5, "kind:branch", 1},
	{0x100a, 1, 5, -1, "kind:ret", 2},
	{0x100b, 2, 50, 50, "kind:call", 3},
	{0x100d, 1, 50, -1, "kind:ret", 3},
};

static const uint8_t code[] = {
	0x39, 0x37, 0x74, 0x07, 0x48, 0x83, 0xc7, 0x04, 0x75, 0xf6, 0xc3, 0xff, 0x10, 0xc3};

/* Where the blocks of the function begin and end. */
static const LodeBlock blocks[] = {
	{0, 0x1000, 0x1004, 100, 1, true},
	{0, 0x1004, 0x100a, 50, 1, false},
	{0, 0x100a, 0x100b, 5, 0, false},
	{0, 0x100b, 0x100e, 50, 0, false},
};

static void add_callee(LodeProfile *profile, uint64_t address)
{
	g_autofree char *name = g_strdup_printf("callee%x", (unsigned)address);

	made_function(profile, (LodeFunction){.name = name, .address = address, .size = 1});
	made_instruction(
		profile, (LodeInstruction){.address = address, .count = 25, .size = 1}, NULL, 1e6);
}

static void add_windows(LodeProfile *profile)
{
	static const LodeObservedEdge edges[] = {{0, 1, 5000, 120}, {1, 2, 3150, 118},
		{1, 5, 1850, 110}, {2, 3, 3150, 118}, {3, 0, 9, 4}, {3, 4, 1, 1}, {5, 7, 1200, 90},
		{5, 8, 600, 80}};
	static const LodeObservedInstruction facts[] = {
		{.instruction = 0,
			.steps = 5100,
			.accesses = 5000,
			.strided = 4600,
			.stride = 4,
			.lines = 320,
			.pages = 6,
			.line_bytes = UINT64_MAX,
			.split = 350,
			.split_pages = 70,
			.loads.stored = 40,
			.loads.part_stored = 100,
			.loads.store_steps = 3,
			.loads.conflicting = 20,
			.page_changes = 30,
			.line_visits = 300,
			.line_used_bytes = 2400},
		{.instruction = 1, .steps = 5100, .outcomes = 5000, .unforetold = 500},
		{.instruction = 2, .steps = 3200, .denormals = 64, .underflows = 96},
		{.instruction = 3, .steps = 10, .outcomes = 10, .unforetold = 9},
		{.instruction = 5,
			.steps = 1850,
			.outcomes = 1800,
			.unforetold = 12,
			.accesses = 1800,
			.repeated = 1700,
			.lines = 1,
			.pages = 1,
			.line_bytes = 255,
			.calls.compared = 900,
			.calls.same_arguments = 873,
			.calls.compared_results = 600,
			.calls.same_results = 450},
	};
	const LodeSteppedProcess processes[] = {
		{4709, lode_profile_intern(profile, "cc1"), NULL, 2, 140},
		{4710, lode_profile_intern(profile, "cc1"), NULL, 3, 260},
		{4711, lode_profile_intern(profile, "search"), NULL, 120, 8630},
		{4712, lode_profile_intern(profile, "java"),
			lode_profile_intern(profile, lode_window_obstacle_text(5)), 0, 0},
		{4713, NULL, lode_profile_intern(profile, lode_window_obstacle_text(1)), 3, 150},
		{4714, lode_profile_intern(profile, "busybox"),
			lode_profile_intern(profile, lode_window_obstacle_text(8)), 0, 0},
	};
	LodeWindows *windows = profile->windows = lode_windows_new();

	windows->n_windows = 1240;
	windows->n_steps = 86300;
	windows->n_unresolved = 3538;
	windows->n_dropped = 312;
	windows->dropped_weight = 1e6;
	windows->user_seconds = 0.15;
	windows->system_seconds = 0.06;
	g_array_append_vals(windows->edges, edges, G_N_ELEMENTS(edges));
	g_array_append_vals(windows->instructions, facts, G_N_ELEMENTS(facts));
	g_array_append_vals(windows->processes, processes, G_N_ELEMENTS(processes));
}

static LodeProfile *make_profile(void)
{
	LodeProfile *profile = made_profile("cpu-clock:u", LODE_EVENT_SAMPLED, "/bin/search");
	const LodeEdge edges[] = {{1, 5, LODE_EDGE_TAKEN, 50}, {3, 0, LODE_EDGE_TAKEN, 45},
		{5, 7, LODE_EDGE_CALL, 25}, {5, 8, LODE_EDGE_CALL, 25}};

	lode_profile_image(profile, 0)->build_id = lode_profile_intern(profile, "abcd");
	profile->run.program = lode_profile_intern(profile, "./search --fast");
	profile->run.creator = lode_profile_intern(profile, "perf.data of lode");
	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	profile->run.n_samples = 90;
	profile->run.total_count = 455;
	profile->run.user_seconds = 6;
	profile->run.system_seconds = 1;
	lode_profile_event(profile, 0)->total = 9e6;
	made_function(profile, (LodeFunction){.name = "search",
				       .address = 0x1000,
				       .size = sizeof(code),
				       .calls = 5,
				       .code = g_bytes_new_static(code, sizeof(code))});
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (i == 0 || rows[i].block != rows[i - 1].block)
			made_block(profile, blocks[rows[i].block]);
		made_instruction(profile,
			(LodeInstruction){.address = rows[i].address,
				.count = rows[i].count,
				.size = rows[i].size},
			rows[i].kind, 1e6);
		made_fall(profile, i, rows[i].next_count);
	}
	add_callee(profile, 0x2000);
	add_callee(profile, 0x3000);
	g_array_append_vals(profile->code.edges, edges, G_N_ELEMENTS(edges));
	add_windows(profile);
	return profile;
}

static char *write_info(const LodeProfile *profile, LodeViewFormat format)
{
	const LodeInfoOptions options = {.format = format, .profile_path = "x.lode"};
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_info_write(profile, NULL, &options, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

static void test_info(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	g_autofree char *text = write_info(profile, LODE_VIEW_TEXT);
	g_autofree char *json = write_info(profile, LODE_VIEW_JSON);
	g_autofree char *csv = write_info(profile, LODE_VIEW_CSV);
	g_autoptr(JsonNode) node = json_from_string(json, NULL);

	g_assert_nonnull(node);
	golden_assert("windows_info.txt", text);
	golden_assert("windows_info.json", json);
	golden_assert("windows_info.csv", csv);
}

/* Not stepped at all: executions are inferred as ever, and why is said. */
static void test_none(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	FILE *file = sample_open();

	lode_windows_free(profile->windows);
	profile->windows = lode_windows_new();
	const LodeSteppedProcess process = {
		4714, NULL, lode_profile_intern(profile, lode_window_obstacle_text(8)), 0, 0};
	g_array_append_val(profile->windows->processes, process);
	g_autofree char *info = write_info(profile, LODE_VIEW_TEXT);
	g_assert_nonnull(strstr(info, "inferred from the samples, to no known scale"));
	g_assert_nonnull(strstr(info, "no windows: static, set-user-ID, of 32 bits"));
	lode_import_summary_write(profile, "x.lode", file);
	g_autofree char *summary = sample_close(file);
	g_assert_nonnull(strstr(summary, "(perf.data of lode, inferred frequencies)"));
}

/* A build: thousands of processes, of many programs. */
static void test_many_processes(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	GArray *processes = profile->windows->processes;

	g_array_set_size(processes, 0);
	for (uint32_t i = 0; i < 30000; i++) {
		g_autofree char *name = g_strdup_printf("p%02u", i % 30);
		const LodeSteppedProcess process = {
			i + 1, lode_profile_intern(profile, name), NULL, i % 30, 100};
		g_array_append_val(processes, process);
	}
	g_autofree char *text = write_info(profile, LODE_VIEW_TEXT);
	const char *first = strstr(text, "Processes, by their windows\n  p29 (1,000 processes) ");
	g_assert_nonnull(first);
	g_assert_nonnull(strstr(first, "\n  p10 (1,000 processes) "));
	g_assert_null(strstr(first, "  p09 "));
	/* 0 + 1 + … + 9 thousand windows */
	const char *others = strstr(first, "\n  others (10,000 processes)  45,000 ");
	g_assert_nonnull(others);
	g_assert_nonnull(strstr(others, " 1,000,000 steps\n"));
	g_autofree char *json = write_info(profile, LODE_VIEW_JSON);
	g_assert_nonnull(strstr(json, "{\"processes\":1000,\"pid\":1,\"name\":\"p00\","));
}

static char *annotate(const LodeProfile *profile, LodeViewFormat format, unsigned width)
{
	LodeMiningParameters parameters;
	LodeAnnotateOptions options;
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	lode_mining_parameters_init(&parameters);
	g_autoptr(LodeMiningRun) run = lode_mining_run_new("main", &parameters);
	lode_annotate_options_init(&options);
	options.format = format;
	options.subject = LODE_ANNOTATE_FUNCTION;
	options.name = "search";
	options.has_no_run = true;
	options.terminal.width = width;
	g_assert_true(lode_annotate_write(profile, run, &options, NULL, file, &error));
	g_assert_no_error(error);
	return sample_close(file);
}

/* Few outcomes have no decimals. One that is not judged may be mispredicted, one that is foretold
 * is not; a branch that always goes one way is not either. */
static void test_not_judged(void)
{
	static const struct {
		uint32_t taken, fallen, outcomes, unforetold;
		const char *text;
	} cases[] = {
		{271, 30, 99, 0, "taken 90 % (observed, 301), not judged "},
		{271, 30, 100, 0, "taken 90 % (observed, 301) "},
		{271, 30, 150, 20, "taken 90 % (observed, 301), not foretold in 13 % "},
		{301, 0, 0, 0, "taken 100 % (observed, 301) "},
		{999, 1, 50, 0, "taken 99.9 % (observed, 1,000), not judged "},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = make_profile();
		LodeWindows *windows = profile->windows;
		g_array_index(windows->edges, LodeObservedEdge, 4).steps = cases[i].taken;
		g_array_index(windows->edges, LodeObservedEdge, 5).steps = cases[i].fallen;
		if (cases[i].fallen == 0)
			g_array_remove_index(windows->edges, 5);
		LodeObservedInstruction *facts = &g_array_index(
			windows->instructions, LodeObservedInstruction, 3);
		facts->outcomes = cases[i].outcomes;
		facts->unforetold = cases[i].unforetold;
		g_autofree char *text = annotate(profile, LODE_VIEW_TEXT, 0);
		g_assert_nonnull(strstr(text, cases[i].text));
	}
}

static void test_annotate(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	g_autofree char *text = annotate(profile, LODE_VIEW_TEXT, 0);
	g_autofree char *narrow = annotate(profile, LODE_VIEW_TEXT, 80);
	g_autofree char *json = annotate(profile, LODE_VIEW_JSON, 0);
	g_autofree char *csv = annotate(profile, LODE_VIEW_CSV, 0);
	g_autoptr(JsonNode) node = json_from_string(json, NULL);
	g_autoptr(GPtrArray) cells = sample_parse_csv(csv);

	g_assert_nonnull(node);
	g_assert_cmpstr(sample_cell(cells, 2, "taken"), ==, "0.37");
	g_assert_cmpstr(sample_cell(cells, 2, "followed"), ==, "5000");
	golden_assert("windows_annotate.txt", text);
	golden_assert("windows_annotate_narrow.txt", narrow);
	golden_assert("windows_annotate.json", json);
	golden_assert("windows_annotate.csv", csv);
}

static void test_graph(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	const LodeFunctionGraphOptions options = {.weight_event = 0};
	g_autoptr(GError) error = NULL;
	FILE *file = sample_open();

	g_assert_true(lode_function_graph_write(profile, &options, file, &error));
	g_autofree char *json = sample_close(file);
	g_autoptr(JsonNode) node = json_from_string(json, NULL);
	g_assert_nonnull(node);
	golden_assert("windows_graph.json", json);
}

static void test_import_summary(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	FILE *file = sample_open();

	lode_import_summary_write(profile, "x.lode", file);
	g_autofree char *text = sample_close(file);
	g_assert_nonnull(strstr(text, "(perf.data of lode, inferred frequencies, 1,240 windows)"));
}

/* More is asked for where few steps were taken of a program that ran long enough. */
static void test_hint(void)
{
	static const struct {
		uint64_t n_steps, n_samples;
		bool is_hinted;
	} cases[] = {{1200, 4000, true}, {13000, 4000, false}, {1200, 100, false}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = make_profile();
		profile->windows->n_steps = cases[i].n_steps;
		profile->run.n_samples = (double)cases[i].n_samples;
		g_assert_true((lode_observed_hint(profile) != NULL) == cases[i].is_hinted);
	}
	g_autoptr(LodeProfile) without = make_profile();
	g_clear_pointer(&without->windows, lode_windows_free);
	g_assert_null(lode_observed_hint(without));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/windows/info", test_info);
	g_test_add_func("/views/windows/none", test_none);
	g_test_add_func("/views/windows/hint", test_hint);
	g_test_add_func("/views/windows/many_processes", test_many_processes);
	g_test_add_func("/views/windows/annotate", test_annotate);
	g_test_add_func("/views/windows/not-judged", test_not_judged);
	g_test_add_func("/views/windows/graph", test_graph);
	g_test_add_func("/views/windows/import_summary", test_import_summary);
	return g_test_run();
}
