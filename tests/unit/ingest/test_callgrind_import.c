/* SPDX-License-Identifier: MIT */
/*
 * Real programs run under callgrind and imported: flow conservation, known counts, order and sums.
 * Skipped where there is no valgrind.
 */
#include "analyses/flow_graph/flow_graph.h"
#include "ingest/import.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct {
	char *directory, *recording, *map;
} Recorded;

/* What was recorded, by program and options: some tests look at the same. */
static GHashTable *recordings;

static void recorded_free(Recorded *self)
{
	g_unlink(self->recording);
	g_unlink(self->map);
	g_rmdir(self->directory);
	g_free(self->recording);
	g_free(self->map);
	g_free(self->directory);
	g_free(self);
}

static Recorded *run_callgrind(
	const char *valgrind, const char *program, const char *argument, bool is_fast)
{
	Recorded *self = g_new0(Recorded, 1);
	g_autoptr(GError) error = NULL;
	int status;

	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->recording = g_build_filename(self->directory, "callgrind.out", NULL);
	self->map = g_build_filename(self->directory, "log", NULL);
	g_autofree char *out = g_strconcat("--callgrind-out-file=", self->recording, NULL);
	g_autofree char *log = g_strconcat("--log-file=", self->map, NULL);
	const char *arguments[] = {valgrind, "-v", "-v", "-v", "--tool=callgrind",
		"--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
		is_fast ? "--cache-sim=no" : "--cache-sim=yes",
		is_fast ? "--branch-sim=no" : "--branch-sim=yes", out, log, program, argument,
		NULL};
	g_assert_true(g_spawn_sync(NULL, (char **)arguments, NULL,
		G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
		&status, &error));
	g_assert_no_error(error);
	g_assert_cmpint(status, ==, 0);
	return self;
}

/* False when there is no valgrind; then the test is marked as skipped. */
static bool record(Recorded *self, const char *program, const char *argument, bool is_fast)
{
	g_autofree char *valgrind = g_find_program_in_path("valgrind");
	g_autofree char *name = g_strdup_printf(
		"%s %s %d", program, argument != NULL ? argument : "", is_fast);
	Recorded *known = g_hash_table_lookup(recordings, name);

	if (valgrind == NULL) {
		g_test_skip("no valgrind");
		return false;
	}
	if (known == NULL) {
		known = run_callgrind(valgrind, program, argument, is_fast);
		g_hash_table_insert(recordings, g_steal_pointer(&name), known);
	}
	*self = *known;
	return true;
}

static LodeProfile *import_with(
	const Recorded *recorded, unsigned threads, const char *const *attribute_files, size_t n)
{
	const char *paths[] = {recorded->recording}, *maps[] = {recorded->map};
	LodeImportOptions options = {.paths = paths,
		.n_paths = 1,
		.maps = maps,
		.n_maps = 1,
		.attribute_files = attribute_files,
		.n_attribute_files = n,
		.threads = threads};
	g_autoptr(GError) error = NULL;
	LodeProfile *profile = lode_import(&options, NULL, &error);

	g_assert_no_error(error);
	return profile;
}

static LodeProfile *import(const Recorded *recorded)
{
	return import_with(recorded, 2, NULL, 0);
}

static LodeInstruction *instruction_at(const LodeProfile *profile, uint32_t index)
{
	return lode_profile_instruction(profile, index);
}

static void check_order(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		g_assert_cmpuint(function->n_instructions, >, 0);
		if (i > 0 && function[-1].image == function->image)
			g_assert_cmpuint(
				function[-1].address + function[-1].size, <=, function->address);
		else if (i > 0)
			g_assert_cmpuint(function[-1].image, <, function->image);
	}
	for (guint i = 1; i < profile->code.instructions->len; i++) {
		const LodeInstruction *row = instruction_at(profile, i);
		g_assert_true(
			row[-1].function < row->function ||
			(row[-1].function == row->function && row[-1].address < row->address));
	}
	for (guint i = 1; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		g_assert_true(edge[-1].source < edge->source ||
			      (edge[-1].source == edge->source &&
				      (edge[-1].target < edge->target ||
					      (edge[-1].target == edge->target &&
						      edge[-1].kind < edge->kind))));
	}
}

static void check_sums(const LodeProfile *profile)
{
	for (guint event = 0; event < profile->code.events->len; event++) {
		const LodeEvent *row = lode_profile_event(profile, event);
		double sum = 0;
		for (guint i = 0; i < profile->code.instructions->len; i++)
			sum += lode_profile_event_value(profile, event, i);
		g_assert_cmpfloat(sum, ==, row->total);
	}
	g_assert_cmpfloat(profile->run.total_count, ==, lode_profile_event(profile, 0)->total);
}

/* Inflow once more, from what the profile itself holds. What the system starts (the process,
 * threads, signal handlers) has no edge. */
static double conserved(const LodeProfile *profile)
{
	g_autofree double *in = g_new0(double, profile->code.instructions->len);
	double equal = 0;

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		g_assert_cmpfloat(edge->count, >, 0);
		if (edge->kind != LODE_EDGE_RETURN)
			in[edge->target] += edge->count;
	}
	for (guint i = 0; i + 1 < profile->code.instructions->len; i++)
		in[i + 1] += MAX(instruction_at(profile, i)->next_count, 0);
	for (guint i = 0; i < profile->code.instructions->len; i++)
		if (in[i] == instruction_at(profile, i)->count)
			equal += in[i];
	return equal / profile->run.total_count;
}

/* Every execution is explained, save `share` of them in the edges alone. */
static void check_profile(const LodeProfile *profile, double share)
{
	check_order(profile);
	check_sums(profile);
	g_assert_cmpfloat(profile->run.inflow_checked, ==, profile->run.total_count);
	g_assert_cmpfloat(profile->run.inflow_equal, ==, profile->run.inflow_checked);
	g_assert_cmpfloat(conserved(profile), >=, 1 - share);
}

static uint32_t find_function(const LodeProfile *profile, const char *name)
{
	for (guint i = 0; i < profile->code.functions->len; i++)
		if (strcmp(lode_profile_function(profile, i)->name, name) == 0)
			return i;
	g_error("no function '%s'", name);
}

static bool has_attribute(const LodeProfile *profile, uint32_t instruction, const char *name)
{
	const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets, LodeAttributeSet,
		instruction_at(profile, instruction)->attribute_set);

	for (uint32_t i = set->first; i < set->first + set->n; i++)
		if (strcmp(profile->code.attributes
				    ->pdata[LODE_AT(profile->code.set_members, uint32_t, i)],
			    name) == 0)
			return true;
	return false;
}

/* The first instruction of a function with an attribute. */
static uint32_t find_attribute(const LodeProfile *profile, const char *function, const char *name)
{
	const LodeFunction *row = lode_profile_function(profile, find_function(profile, function));

	for (uint32_t i = 0; i < row->n_instructions; i++)
		if (has_attribute(profile, row->first_instruction + i, name))
			return row->first_instruction + i;
	g_error("no %s in '%s'", name, function);
}

static double edge_sum(const LodeProfile *profile, uint32_t source, LodeEdgeKind kind)
{
	double sum = 0;

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->source == source && edge->kind == kind)
			sum += edge->count;
	}
	return sum;
}

/* A function with one return goes back as often as it was called. */
static void check_returns(const LodeProfile *profile, const char *name, double calls)
{
	uint32_t source = find_attribute(profile, name, "kind:ret");

	g_assert_cmpfloat(fabs(edge_sum(profile, source, LODE_EDGE_RETURN) - calls), <, 1e-6);
}

static void check_repeat(const LodeProfile *profile)
{
	uint32_t repeat = find_attribute(profile, "copy_bytes", "op:rep_movsb");
	double repeats = edge_sum(profile, repeat, LODE_EDGE_REPEAT);

	g_assert_cmpfloat(repeats, ==, 300 * 50 - (0 + 1 + 2 + 3 + 4));
	g_assert_cmpfloat(instruction_at(profile, repeat)->count, ==, repeats + 100);
	g_assert_cmpfloat(instruction_at(profile, repeat)->next_count, ==, 100);
}

static void check_switch(const LodeProfile *profile)
{
	uint32_t jump = find_attribute(profile, "choose", "kind:indirect");

	g_assert_true(has_attribute(profile, jump, "kind:jump"));
	g_assert_cmpfloat(
		edge_sum(profile, jump, LODE_EDGE_JUMP), ==, instruction_at(profile, jump)->count);
}

static void check_calls(const LodeProfile *profile, const char *name, double calls)
{
	const LodeFunction *function = lode_profile_function(profile, find_function(profile, name));

	g_assert_cmpfloat(function->calls, ==, calls);
	g_assert_cmpfloat(instruction_at(profile, function->first_instruction)->count, ==, calls);
	g_assert_true(has_attribute(profile, function->first_instruction, "at:entry"));
	g_assert_cmpint(function->source, ==, LODE_FUNCTION_SYMBOL);
	g_assert_nonnull(function->code);
	g_assert_cmpuint(g_bytes_get_size(function->code), ==, function->size);
}

static void test_plain(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_PLAIN, NULL, false))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	check_profile(profile, 0.001);
	check_repeat(profile);
	check_switch(profile);
	check_calls(profile, "fibonacci", 1973);
	check_calls(profile, "jump_from_depth", 55);
	check_calls(profile, "on_signal", 7);
	check_calls(profile, "choose", 50);
	check_returns(profile, "copy_bytes", 100);
	uint32_t cycles = lode_profile_find_event(profile, "cycles");
	g_assert_cmpuint(profile->code.weight_event, ==, cycles);
	g_assert_true(LODE_AT(
		profile->code.events, LodeEvent, lode_profile_find_event(profile, "l1d-miss"))
			      .is_attribute);
	uint32_t entry = LODE_AT(
		profile->code.functions, LodeFunction, find_function(profile, "fibonacci"))
	                         .first_instruction;
	const LodeLocation *location = &LODE_AT(
		profile->code.locations, LodeLocation, instruction_at(profile, entry)->location);
	g_assert_true(g_str_has_suffix(location->file, "plain.c"));
}

static void test_fast(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_PLAIN, NULL, true))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	check_profile(profile, 0.001);
	check_repeat(profile);
	g_assert_cmpfloat(lode_profile_event(profile, profile->code.weight_event)->total, ==,
		profile->run.total_count);
}

static void test_threads(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_THREADS, NULL, false))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	check_profile(profile, 0.001);
	check_calls(profile, "add", 4);
}

static void test_exceptions(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_EXCEPTIONS, NULL, false))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	check_profile(profile, 0.001);
	check_calls(profile, "Picky::next(int)", 50);
	check_calls(profile, "Plain::next(int)", 50);
}

/* A program of the system, stripped and position-independent. */
static void test_stripped(void)
{
	g_autofree char *program = g_find_program_in_path("gzip");
	Recorded recorded;

	if (program == NULL) {
		g_test_skip("no gzip");
		return;
	}
	if (!record(&recorded, program, "--help", false))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	check_profile(profile, 0.001);
	for (guint i = 0; i < profile->code.images->len; i++)
		g_assert_cmpint(lode_profile_image(profile, i)->kind, ==, LODE_IMAGE_FILE);
}

/* As text, since rows have padding. */
static char *describe(const LodeProfile *profile)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *row = instruction_at(profile, i);
		g_string_append_printf(text, "i %" G_GINT64_MODIFIER "x %g %g %u %u %u %u %u %u\n",
			row->address, row->count, row->next_count, row->function, row->block,
			row->attribute_set, row->location, row->size,
			LODE_AT(profile->code.cost_starts, uint32_t, i));
	}
	for (guint i = 0; i < profile->code.blocks->len; i++) {
		const LodeBlock *row = lode_profile_block(profile, i);
		g_string_append_printf(text,
			"b %u %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %g %d %d\n",
			row->function, row->address, row->end, row->count, row->loop_depth,
			row->is_loop_head);
	}
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *row = &LODE_AT(profile->code.edges, LodeEdge, i);
		g_string_append_printf(text, "e %u %u %s %g\n", row->source, row->target,
			lode_edge_kind_to_text(row->kind), row->count);
	}
	for (guint i = 0; i < profile->code.costs->len; i++) {
		const LodeCost *row = &LODE_AT(profile->code.costs, LodeCost, i);
		g_string_append_printf(text, "c %u %g\n", row->event, row->value);
	}
	for (guint i = 0; i < profile->code.set_members->len; i++)
		g_string_append_printf(
			text, "m %u\n", LODE_AT(profile->code.set_members, uint32_t, i));
	for (guint i = 0; i < profile->code.attributes->len; i++)
		g_string_append_printf(text, "a %s\n", (char *)profile->code.attributes->pdata[i]);
	return g_string_free(text, FALSE);
}

static void test_deterministic(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_PLAIN, NULL, false))
		return;
	g_autoptr(LodeProfile) one = import_with(&recorded, 1, NULL, 0);
	g_autoptr(LodeProfile) many = import_with(&recorded, 5, NULL, 0);
	g_autofree char *left = describe(one), *right = describe(many);
	g_assert_cmpuint(strlen(left), >, 100000);
	g_assert_true(strcmp(left, right) == 0);
}

static void test_attribute_files(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_PLAIN, NULL, true))
		return;
	g_autofree char *places = g_build_filename(recorded.directory, "places", NULL);
	g_autofree char *name = g_path_get_basename(PROGRAM_PLAIN);
	g_autofree char *text = g_strdup_printf("image,symbol,offset,attribute\n"
						"%s,fibonacci,0,first\n%s,nowhere,0,lost\n",
		name, name);
	g_assert_true(g_file_set_contents(places, text, -1, NULL));
	const char *files[] = {places};
	g_autoptr(LodeProfile) profile = import_with(&recorded, 1, files, 1);
	uint32_t entry = LODE_AT(
		profile->code.functions, LodeFunction, find_function(profile, "fibonacci"))
	                         .first_instruction;
	g_assert_true(has_attribute(profile, entry, "user:first"));
	g_assert_true(has_attribute(profile, entry, "at:entry"));
	g_assert_false(has_attribute(profile, entry + 1, "user:first"));
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;
	lode_mining_parameters_init(&parameters);
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, &parameters, &error);
	g_assert_no_error(error);
	g_assert_true(g_strv_contains((const char *const *)graph->attribute_names, "user:first"));
	const LodeUnresolved *last = &LODE_AT(
		profile->unresolved, LodeUnresolved, profile->unresolved->len - 1);
	g_assert_cmpstr(last->reason, ==, "attribute row about nothing that executed");
	g_assert_cmpuint(last->places, ==, 1);
	g_unlink(places);
}

/* Across calls, what flows into an instruction is what executed: calls bring what runs in a callee,
 * and returns take the place of the way around it. */
static void test_across_calls(void)
{
	Recorded recorded;
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;
	double difference = 0, around = 0;

	if (!record(&recorded, PROGRAM_PLAIN, NULL, true))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	lode_mining_parameters_init(&parameters);
	parameters.across_calls = true;
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, &parameters, &error);
	g_assert_no_error(error);
	g_autofree double *inflow = g_new0(double, graph->n_vertices + 1);
	for (uint32_t i = 0; i < graph->n_edges; i++)
		inflow[graph->edge_targets[i]] += graph->edge_counts[i];
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		bool is_call = has_attribute(profile, graph->vertex_instructions[v], "kind:call");
		difference += fabs(inflow[v] - graph->count[v]);
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++)
			around += is_call && graph->edge_targets[i] == v + 1 ? graph->edge_counts[i]
			                                                     : 0;
	}
	g_assert_cmpfloat(difference, <, 1e-3 * graph->total_count);
	g_assert_cmpfloat(around, <, 1e-3 * graph->total_count);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The attributes of a function's instructions that say what they depend on: "a b; c; …". */
static void assert_dependences(
	const LodeProfile *profile, const char *function, const char *expected)
{
	const LodeFunction *row = lode_profile_function(profile, find_function(profile, function));
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t i = 0; i < row->n_instructions; i++) {
		const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets,
			LodeAttributeSet,
			instruction_at(profile, row->first_instruction + i)->attribute_set);
		g_autoptr(GPtrArray) names = g_ptr_array_new();
		for (uint32_t j = set->first; j < set->first + set->n; j++) {
			char *name = profile->code.attributes->pdata[LODE_AT(
				profile->code.set_members, uint32_t, j)];
			static const char *const prefixes[] = {
				"needs:", "address:", "behind:", "chain:", "carried:"};
			for (size_t k = 0; k < G_N_ELEMENTS(prefixes); k++)
				if (g_str_has_prefix(name, prefixes[k]))
					g_ptr_array_add(names, name);
		}
		g_ptr_array_sort(names, compare_names);
		g_ptr_array_add(names, NULL);
		g_autofree char *joined = g_strjoinv(" ", (char **)names->pdata);
		g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", joined);
	}
	g_assert_cmpstr(text->str, ==, expected);
}

/* As they were worked out by hand in programs/dependences.c. */
static void test_dependences(void)
{
	Recorded recorded;

	if (!record(&recorded, PROGRAM_DEPENDENCES, NULL, true))
		return;
	g_autoptr(LodeProfile) profile = import(&recorded);
	assert_dependences(profile, "list_sum",
		"; ; address:load address:load-pointer carried:alu needs:load needs:load-pointer; "
		"address:load address:load-pointer carried:load needs:load needs:load-pointer; "
		"chain:2 needs:load needs:load-pointer; behind:load chain:2; ");
	assert_dependences(profile, "digit_sum",
		"; ; ; ; carried:div chain:2 needs:div; behind:div carried:alu chain:2 needs:div; "
		"chain:2 needs:div; behind:div chain:4; behind:div; ");
	assert_dependences(profile, "halves", "; ; needs:part-store; needs:store; needs:store; ; ");
	assert_dependences(profile, "scale",
		"; ; ; chain:2; chain:2 needs:convert needs:fp; address:early chain:4 needs:fp "
		"needs:mul; "
		"address:early chain:4 needs:fp needs:load needs:load-indexed; carried:alu; "
		"chain:2; chain:2; ");
	assert_dependences(profile, "twice", "; ; ; needs:call; ; ");
}

/* Lines are missing then, and the profile says why. */
static void test_broken_lines(void)
{
	Recorded recorded;
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *program = g_build_filename(directory, "program", NULL);
	g_autofree char *lines = g_build_filename(directory, "lines", NULL);
	const char *arguments[] = {
		"objcopy", "--update-section", NULL, PROGRAM_PLAIN, program, NULL};
	g_autofree char *update = g_strconcat(".debug_line=", lines, NULL);
	int status = -1;

	arguments[2] = update;
	g_assert_true(g_file_set_contents(lines, "\xff\xff\xff\x7f", 4, NULL));
	g_spawn_sync(NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
		&status, NULL);
	if (status != 0) {
		g_test_skip("no objcopy");
	} else if (record(&recorded, program, NULL, true)) {
		g_autoptr(LodeProfile) profile = import(&recorded);
		const LodeUnresolved *last = &LODE_AT(
			profile->unresolved, LodeUnresolved, profile->unresolved->len - 1);
		g_assert_cmpstr(last->reason, ==, "broken debug information");
		g_assert_true(g_str_has_prefix(last->example, program));
		g_assert_cmpuint(last->places, ==, 1);
		g_assert_cmpfloat(last->count, ==, 0);
	}
	g_unlink(program);
	g_unlink(lines);
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/import/plain", test_plain);
	g_test_add_func("/import/fast", test_fast);
	g_test_add_func("/import/threads", test_threads);
	if (strlen(PROGRAM_EXCEPTIONS) > 0)
		g_test_add_func("/import/exceptions", test_exceptions);
	g_test_add_func("/import/stripped", test_stripped);
	g_test_add_func("/import/deterministic", test_deterministic);
	g_test_add_func("/import/attribute-files", test_attribute_files);
	if (strlen(PROGRAM_DEPENDENCES) > 0)
		g_test_add_func("/import/dependences", test_dependences);
	g_test_add_func("/import/across-calls", test_across_calls);
	g_test_add_func("/import/broken-lines", test_broken_lines);
	recordings = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, (GDestroyNotify)recorded_free);
	int status = g_test_run();
	g_hash_table_unref(recordings);
	return status;
}
