/* SPDX-License-Identifier: MIT */
/*
 * Address traces become profiles: of a program that callgrind counts too, instruction by
 * instruction and edge by edge; through caches, against the simulation alone; and of made-up
 * references, what has no file, no fetch or no predecessor.
 */
#include "base/error.h"
#include "caches/cache_simulation.h"
#include "images/elf/binary_image.h"
#include "ingest/traced_import.h"
#include "model/memory.h"
#include "profile_sums.h"
#include "seeds.h"
#include "traced_program.h"
#include "traces/trace_reader.h"

#include <string.h>

static LodeProfile *import_file(const char *path, const LodeHierarchy *hierarchy, GError **error)
{
	const LodeImportOptions options = {
		.paths = &path, .n_paths = 1, .replay.hierarchy = hierarchy, .threads = 2};

	return lode_import(&options, NULL, error);
}

static LodeProfile *import(const char *path, const LodeHierarchy *hierarchy)
{
	g_autoptr(GError) error = NULL;
	LodeProfile *profile = import_file(path, hierarchy, &error);

	g_assert_no_error(error);
	return profile;
}

static LodeInstruction *instruction_at(const LodeProfile *profile, uint32_t index)
{
	return lode_profile_instruction(profile, index);
}

static bool is_in_start(const LodeProfile *profile, uint32_t instruction)
{
	uint32_t function = instruction_at(profile, instruction)->function;

	return strcmp(lode_profile_function(profile, function)->name, "_start") == 0;
}

static void check_same_functions(const LodeProfile *traced, const LodeProfile *counted)
{
	g_assert_cmpuint(traced->code.functions->len, ==, counted->code.functions->len);
	for (guint i = 0; i < traced->code.functions->len; i++) {
		const LodeFunction *left = &LODE_AT(traced->code.functions, LodeFunction, i);
		const LodeFunction *right = &LODE_AT(counted->code.functions, LodeFunction, i);
		g_assert_cmpstr(left->name, ==, right->name);
		if (strcmp(left->name, "_start") == 0)
			continue;
		g_assert_cmpfloat(left->calls, ==, right->calls);
		g_assert_cmpuint(left->n_blocks, ==, right->n_blocks);
		g_assert_cmpuint(left->n_instructions, ==, right->n_instructions);
	}
}

/* Callgrind does not count what comes before the program's end: three instructions of _start. */
static void check_same_counts(const LodeProfile *traced, const LodeProfile *counted)
{
	guint j = 0;

	g_assert_cmpfloat(traced->run.total_count, ==, counted->run.total_count + 3);
	for (guint i = 0; i < traced->code.instructions->len; i++) {
		const LodeInstruction *left = instruction_at(traced, i);
		if (is_in_start(traced, i))
			continue;
		while (is_in_start(counted, j))
			j++;
		const LodeInstruction *right = instruction_at(counted, j++);
		g_assert_cmphex(left->address, ==, right->address);
		g_assert_cmpfloat(left->count, ==, right->count);
		g_assert_cmpfloat(left->next_count, ==, right->next_count);
		g_assert_cmpuint(left->block == LODE_NONE, ==, right->block == LODE_NONE);
	}
}

/* Callgrind does not write returns: where a function has several, those are shares. */
static void check_same_edges(const LodeProfile *traced, const LodeProfile *counted)
{
	uint32_t n_kinds[LODE_EDGE_GIVEN] = {0};
	guint j = 0;

	for (guint i = 0; i < traced->code.edges->len; i++) {
		const LodeEdge *left = &LODE_AT(traced->code.edges, LodeEdge, i);
		n_kinds[left->kind]++;
		if (left->kind == LODE_EDGE_RETURN)
			continue;
		while (LODE_AT(counted->code.edges, LodeEdge, j).kind == LODE_EDGE_RETURN)
			j++;
		const LodeEdge *right = &LODE_AT(counted->code.edges, LodeEdge, j++);
		g_assert_cmphex(instruction_at(traced, left->source)->address, ==,
			instruction_at(counted, right->source)->address);
		g_assert_cmphex(instruction_at(traced, left->target)->address, ==,
			instruction_at(counted, right->target)->address);
		g_assert_cmpint(left->kind, ==, right->kind);
		g_assert_cmpfloat(left->count, ==, right->count);
	}
	g_assert_cmpuint(n_kinds[LODE_EDGE_TAKEN], >, 0);
	g_assert_cmpuint(n_kinds[LODE_EDGE_JUMP], >, 0);
	g_assert_cmpuint(n_kinds[LODE_EDGE_CALL], >, 0);
	g_assert_cmpuint(n_kinds[LODE_EDGE_RETURN], >, 0);
	g_assert_cmpuint(n_kinds[LODE_EDGE_REPEAT], ==, 1);
}

/* As many returns arrive after a call as it made calls. */
static void check_returns(const LodeProfile *profile)
{
	double calls = 0, returns = 0;

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		bool is_tail = edge->kind == LODE_EDGE_CALL &&
		               instruction_at(profile, edge->source)->next_count < 0;
		calls += edge->kind == LODE_EDGE_CALL && !is_tail ? edge->count : 0;
		returns += edge->kind == LODE_EDGE_RETURN ? edge->count : 0;
	}
	g_assert_cmpfloat(calls, >, 0);
	g_assert_cmpfloat(returns, ==, calls);
}

static void test_callgrind(void)
{
	g_auto(TracedProgram) program = {0};

	if (!traced_program_record(&program, PROGRAM_FIXED))
		return;
	g_autoptr(LodeProfile) traced = import(program.trace, NULL);
	g_autoptr(LodeProfile) counted = import(program.callgrind, NULL);
	g_assert_cmpint(traced->run.frequency, ==, LODE_FREQUENCY_EXACT);
	g_assert_cmpfloat(traced->run.total_count, >, 0);
	g_assert_cmpfloat(traced->run.inflow_checked, ==, traced->run.total_count);
	g_assert_cmpfloat(traced->run.inflow_equal, ==, traced->run.total_count);
	g_assert_cmpuint(traced->unresolved->len, ==, 0);
	check_same_functions(traced, counted);
	check_same_counts(traced, counted);
	check_same_edges(traced, counted);
	check_returns(traced);
}

static double event_total(const LodeProfile *profile, const char *name)
{
	uint32_t event = lode_profile_find_event(profile, name);

	g_assert_cmpuint(event, !=, LODE_NONE);
	g_assert_cmpfloat(
		sum_of_event(profile, event), ==, lode_profile_event(profile, event)->total);
	return lode_profile_event(profile, event)->total;
}

static double memory_weight(const LodeProfile *profile, const char *event)
{
	uint32_t id = lode_profile_find_event(profile, event);
	double weight = 0;

	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		weight += sample->event == id ? sample->weight : 0;
	}
	return weight;
}

/* Every access, since there are few: with its instruction, and what lies there. */
static void test_accesses(void)
{
	g_auto(TracedProgram) program = {0};
	double cells = 0, stack = 0;

	if (!traced_program_record(&program, PROGRAM_FIXED))
		return;
	g_autoptr(LodeProfile) profile = import(program.trace, NULL);
	double total = event_total(profile, "loads") + event_total(profile, "stores") +
	               event_total(profile, "modifies");
	g_assert_cmpfloat(event_total(profile, "modifies"), >=, 1000);
	g_assert_cmpfloat(memory_weight(profile, "accesses"), ==, total);
	const GArray *samples = profile->memory->samples;
	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		g_assert_cmpint(sample->rule, ==, LODE_RULE_TRACED);
		g_assert_cmpuint(sample->access_instruction, !=, LODE_NONE);
		g_assert_cmpuint(sample->object, !=, LODE_NONE);
		g_assert_cmphex(instruction_at(profile, sample->access_instruction)->address, ==,
			sample->access_pc);
		if (i > 0)
			g_assert_cmpuint(sample->time_ns, >, sample[-1].time_ns);
		const LodeDataObject *object = &LODE_AT(
			profile->memory->objects, LodeDataObject, sample->object);
		cells += g_strcmp0(object->variable, "cells") == 0;
		stack += g_strcmp0(object->mapping, "[stack]") == 0;
	}
	/* Filled by a repeat prefix, walked over twice, and added to. */
	g_assert_cmpfloat(cells, ==, 4096 + 2 * 512 + 1000);
	g_assert_cmpfloat(stack, >, 500);
}

static bool has_attribute(const LodeProfile *profile, uint32_t instruction, const char *event)
{
	uint32_t id = lode_profile_find_event(profile, event);

	return lode_profile_event(profile, id)->is_attribute &&
	       lode_profile_event_value(profile, id, instruction) > 0;
}

/* The same frames, simulated by themselves. */
static LodeCacheSimulation *simulate(const char *trace, const LodeHierarchy *hierarchy)
{
	const LodeCacheSimulationOptions options = {.threads = 1};
	g_autoptr(GError) error = NULL;
	LodeCacheSimulation *simulation = lode_cache_simulation_new(
		(const LodeHierarchy *const *)&hierarchy, 1, &options, &error);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(trace, NULL, &error);
	const LodeTraceFrame *frame;

	g_assert_no_error(error);
	while (lode_trace_reader_next(reader, &frame, &error) > 0)
		g_assert_true(lode_cache_simulation_replay(simulation, frame, &error));
	g_assert_no_error(error);
	return simulation;
}

static void check_against_simulation(
	const LodeProfile *profile, const char *trace, const LodeHierarchy *hierarchy)
{
	g_autoptr(LodeCacheSimulation) simulation = simulate(trace, hierarchy);
	const LodeCacheCounts *counts = lode_cache_simulation_counts(simulation, 0);

	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		const uint64_t *misses = counts[i].misses;
		g_autofree char *fetch = g_strdup_printf("sim-%s-fetch-miss", cache->name);
		g_autofree char *load = g_strdup_printf("sim-%s-load-miss", cache->name);
		g_autofree char *store = g_strdup_printf("sim-%s-store-miss", cache->name);
		if ((cache->holds & LODE_CACHE_INSTRUCTIONS) != 0)
			g_assert_cmpfloat(event_total(profile, fetch), ==,
				(double)misses[LODE_REFERENCE_FETCH]);
		if ((cache->holds & LODE_CACHE_DATA) == 0)
			continue;
		g_assert_cmpfloat(event_total(profile, load), ==,
			(double)(misses[LODE_REFERENCE_LOAD] + misses[LODE_REFERENCE_MODIFY]));
		g_assert_cmpfloat(
			event_total(profile, store), ==, (double)misses[LODE_REFERENCE_STORE]);
	}
}

static void test_misses(void)
{
	g_auto(TracedProgram) program = {0};
	g_autoptr(GError) error = NULL;

	if (!traced_program_record(&program, PROGRAM_FIXED))
		return;
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(
		"i1=1K:2:64,d1=4K:4:64,l2=16K:8:64,l3=64K:16:64,dtlb=4:4:4K", &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfile) profile = import(program.trace, hierarchy);
	check_against_simulation(profile, program.trace, hierarchy);
	/* 32 KiB of cells: each of the two walks misses each line in 4 KiB and in 16 KiB. */
	const LodeFunction *stride = find_profile_function(profile, "stride");
	double l1d = 0, l2 = 0;
	for (uint32_t i = 0; i < stride->n_instructions; i++) {
		uint32_t at = stride->first_instruction + i;
		l1d += has_attribute(profile, at, "l1d-miss")
		               ? lode_profile_event_value(
					 profile, lode_profile_find_event(profile, "l1d-miss"), at)
		               : 0;
		l2 += has_attribute(profile, at, "l2-miss")
		              ? lode_profile_event_value(profile,
					lode_profile_find_event(profile, "sim-l2-load-miss"), at)
		              : 0;
	}
	g_assert_cmpfloat(l1d, >=, 1024);
	g_assert_cmpfloat(l1d, <=, 1024 + 16);
	g_assert_cmpfloat(l2, >=, 1024);
	g_assert_cmpfloat(memory_weight(profile, "l1d-miss"), ==, event_total(profile, "l1d-miss"));
	g_assert_cmpfloat(
		memory_weight(profile, "dtlb-miss"), ==, event_total(profile, "dtlb-miss"));
	g_assert_cmpfloat(event_total(profile, "ll-miss"), ==,
		event_total(profile, "sim-l3-fetch-miss") +
			event_total(profile, "sim-l3-load-miss") +
			event_total(profile, "sim-l3-store-miss"));
	g_assert_cmpfloat(event_total(profile, "cycles"), ==,
		profile->run.total_count +
			10 * (event_total(profile, "l1i-miss") + event_total(profile, "l1d-miss") +
				     event_total(profile, "l2-miss") +
				     event_total(profile, "dtlb-miss")) +
			100 * event_total(profile, "ll-miss"));
}

static void test_determinism(void)
{
	g_auto(TracedProgram) program = {0};
	g_autoptr(GError) error = NULL;

	if (!traced_program_record(&program, PROGRAM_FIXED))
		return;
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse("d1=1K:2:64", &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfile) first = import(program.trace, hierarchy);
	g_autoptr(LodeProfile) second = import(program.trace, hierarchy);
	g_assert_cmpuint(first->code.costs->len, ==, second->code.costs->len);
	for (guint i = 0; i < first->code.costs->len; i++) {
		const LodeCost *a = &LODE_AT(first->code.costs, LodeCost, i);
		const LodeCost *b = &LODE_AT(second->code.costs, LodeCost, i);

		g_assert_cmpuint(a->event, ==, b->event);
		g_assert_cmpfloat(a->value, ==, b->value);
	}
	g_assert_cmpuint(first->memory->samples->len, ==, second->memory->samples->len);
}

#define FETCH(at, bytes, by)                                                                       \
	{                                                                                          \
		.address = (at), .size = (bytes), .thread = (by)                                   \
	}
#define DATA(what, at, by)                                                                         \
	{                                                                                          \
		.address = (at), .size = 8, .thread = (by), .kind = LODE_REFERENCE_##what          \
	}

/* No mappings at all: nothing is lost, and all is under a reason. */
static void test_no_mappings(void)
{
	g_auto(TracedProgram) program = {0};
	const LodeReference references[] = {DATA(LOAD, 0x10, 0), FETCH(0x400, 4, 0),
		DATA(LOAD, 0x9000, 0), FETCH(0x404, 4, 0), FETCH(0x400, 4, 0),
		DATA(LOAD, 0x9008, 0), FETCH(0x404, 4, 0)};
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();

	traced_program_init(&program);
	traced_program_write(&program, references, G_N_ELEMENTS(references), description);
	g_autoptr(LodeProfile) profile = import(program.trace, NULL);
	g_assert_cmpfloat(profile->run.total_count, ==, 4);
	g_assert_cmpuint(profile->code.instructions->len, ==, 2);
	g_assert_cmpint(lode_profile_image(profile, 0)->kind, ==, LODE_IMAGE_UNRESOLVED);
	g_assert_cmpfloat(
		find_unresolved(profile, "address outside any known image")->count, ==, 4);
	g_assert_cmpfloat(
		find_unresolved(profile, "data references before any instruction")->samples, ==, 1);
	uint32_t loads = lode_profile_find_event(profile, "loads");
	g_assert_cmpfloat(lode_profile_event(profile, loads)->total, ==, 3);
	g_assert_cmpfloat(sum_of_event(profile, loads), ==, 2);
	g_assert_cmpuint(profile->memory->samples->len, ==, 3);
}

static void test_empty(void)
{
	g_auto(TracedProgram) program = {0};
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();

	traced_program_init(&program);
	traced_program_write(&program, NULL, 0, description);
	g_autoptr(LodeProfile) profile = import(program.trace, NULL);
	g_assert_cmpfloat(profile->run.total_count, ==, 0);
	g_assert_cmpuint(profile->code.instructions->len, ==, 0);
}

/* The first instructions of _start: xor, call; then of work. */
static uint64_t entry_of(const char *path, const char *name)
{
	g_autoptr(GError) error = NULL;
	const LodeBinaryImageOptions options = {.allow_debuginfod = false};
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, &options, &error);
	size_t n;

	g_assert_no_error(error);
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].address;
	g_error("no function '%s'", name);
}

/* Two threads that take turns inside a block, one of which is interrupted by a signal; and an
 * access that another thread came in between of. */
static void test_threads(void)
{
	g_auto(TracedProgram) program = {0};

	if (*PROGRAM_FIXED == '\0') {
		g_test_skip("not built for this machine");
		return;
	}
	uint64_t start = entry_of(PROGRAM_FIXED, "_start"),
		 third = entry_of(PROGRAM_FIXED, "third");
	const LodeReference references[] = {
		FETCH(start, 2, 0),
		FETCH(start, 2, 1),
		FETCH(start + 2, 5, 0),
		FETCH(third, 4, 1), /* not by a jump: a signal's handler */
		DATA(STORE, 0x7000, 0),
	};
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	const LodeTraceThread threads[] = {{100, NULL}, {101, NULL}};

	traced_program_init(&program);
	traced_program_describe(description, PROGRAM_FIXED);
	g_array_append_vals(description->threads, threads, 2);
	traced_program_write(&program, references, G_N_ELEMENTS(references), description);
	g_autoptr(LodeProfile) profile = import(program.trace, NULL);
	g_assert_cmpfloat(profile->run.total_count, ==, 4);
	g_assert_cmpfloat(profile->run.inflow_equal, ==, 4);
	g_assert_cmpuint(profile->code.edges->len, ==, 0);
	uint32_t first = find_instruction(profile, "_start", start);
	g_assert_cmpfloat(instruction_at(profile, first)->count, ==, 2);
	g_assert_cmpfloat(instruction_at(profile, first)->next_count, ==, 1);
	g_assert_cmpfloat(find_profile_function(profile, "_start")->calls, ==, 2);
	g_assert_cmpfloat(find_profile_function(profile, "third")->calls, ==, 1);
	uint32_t stores = lode_profile_find_event(profile, "stores");
	g_assert_cmpfloat(lode_profile_event_value(profile, stores, first + 1), ==, 1);
	g_assert_cmpuint(profile->memory->threads->len, ==, 2);
	g_assert_cmpuint(LODE_AT(profile->memory->threads, LodeThread, 1).tid, ==, 101);
	const LodeMemorySample *sample = &LODE_AT(profile->memory->samples, LodeMemorySample, 0);
	g_assert_cmpuint(sample->access_instruction, ==, first + 1);
}

/* A library goes, and another one comes to where it was: the same addresses are other code. */
static void test_remapping(void)
{
	g_auto(TracedProgram) program = {0};
	const uint64_t at = 0x7f0000001000;
	LodeReference references[60];
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	LodeTraceMapping mapping = {
		.start = at, .end = at + 0x1000, .offset = 0x1000, .protection = 5};

	for (size_t i = 0; i < G_N_ELEMENTS(references); i++)
		references[i] = (LodeReference)FETCH(at + 4 * (i % 3), 4, 0);
	mapping.path = lode_trace_description_intern(description, "/nonexistent/first.so");
	g_array_append_val(description->mappings, mapping);
	mapping.path = lode_trace_description_intern(description, "/nonexistent/second.so");
	mapping.first_reference = 41;
	g_array_append_val(description->mappings, mapping);
	traced_program_init(&program);
	traced_program_write(&program, references, G_N_ELEMENTS(references), description);
	g_autoptr(LodeProfile) profile = import(program.trace, NULL);
	double counts[2] = {0, 0};
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *row = instruction_at(profile, i);
		uint32_t image = lode_profile_function(profile, row->function)->image;
		counts[g_str_has_suffix(lode_profile_image(profile, image)->path, "second.so")] +=
			row->count;
	}
	/* A block is not cut where the mapping changes in its middle. */
	g_assert_cmpfloat(counts[0], ==, 42);
	g_assert_cmpfloat(counts[1], ==, 18);
}

/* Many mappings that change where there is much other code: time grows with the trace; with the
 * product of both the test would run into its limit. */
static void test_many_remappings(void)
{
	const uint64_t n_blocks = random_rounds(250000, 250000);
	const uint64_t n_changes = random_rounds(30000, 30000);
	const uint64_t at = 0x7f0000001000;
	g_auto(TracedProgram) program = {0};
	g_autofree LodeReference *references = g_new0(LodeReference, n_blocks + n_changes);
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	char *path = lode_trace_description_intern(description, "/nonexistent/first.so");

	for (uint64_t i = 0; i < n_blocks; i++)
		references[i] = (LodeReference)FETCH(0x400000 + 16 * i, 4, 0);
	for (uint64_t i = 0; i < n_changes; i++) {
		const LodeTraceMapping mapping = {.start = at,
			.end = at + 0x1000,
			.offset = i % 2 * 0x1000,
			.protection = 5,
			.path = path,
			.first_reference = n_blocks + i};
		references[n_blocks + i] = (LodeReference)FETCH(at, 4, 0);
		g_array_append_val(description->mappings, mapping);
	}
	traced_program_init(&program);
	traced_program_write(&program, references, n_blocks + n_changes, description);
	g_autoptr(LodeProfile) profile = import(program.trace, NULL);
	g_assert_cmpfloat(profile->run.total_count, ==, n_blocks + n_changes);
}

/* Wherever the file ends, it is an error or a shorter trace, which is said. */
static void test_cut(void)
{
	g_auto(TracedProgram) program = {0};
	g_autofree LodeReference *references = g_new0(LodeReference, 3000);
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autofree char *whole = NULL;
	gsize size;
	unsigned n_shorter = 0;

	for (size_t i = 0; i < 3000; i++)
		references[i] = (LodeReference)FETCH(
			0x1000 + 16 * (i * i % 61), 4, (uint16_t)(i % 3));
	traced_program_init(&program);
	traced_program_write(&program, references, 3000, description);
	g_assert_true(g_file_get_contents(program.trace, &whole, &size, NULL));
	for (gsize length = 0; length < size; length++) {
		g_autoptr(GError) error = NULL;
		g_assert_true(g_file_set_contents(program.trace, whole, (gssize)length, NULL));
		g_autoptr(LodeProfile) profile = import_file(program.trace, NULL, &error);
		g_assert_true((profile == NULL) == (error != NULL));
		if (profile == NULL)
			continue;
		g_assert_nonnull(find_unresolved(profile, "the trace is not whole"));
		n_shorter++;
	}
	g_assert_cmpuint(n_shorter, >, 0);
}

/* A frame that is damaged ends the trace; those before it stay. */
static void test_damage(void)
{
	enum { N = 1 << 17 };
	g_auto(TracedProgram) program = {0};
	g_autofree LodeReference *references = g_new0(LodeReference, N);
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(5));
	g_autofree char *bytes = NULL;
	gsize size;
	double last = N + 1;

	for (uint64_t i = 0; i < N; i += 2) {
		references[i] = (LodeReference)FETCH(0x1000, 4, 0);
		references[i + 1] = (LodeReference)FETCH(g_rand_int(random), 8, 0);
		references[i + 1].kind = LODE_REFERENCE_LOAD;
	}
	traced_program_init(&program);
	traced_program_write_frames(&program, references, N, N / 4, description);
	g_assert_true(g_file_get_contents(program.trace, &bytes, &size, NULL));
	for (int place = 9; place > 0; place -= 4) {
		g_autoptr(GError) error = NULL;
		bytes[size / 10 * (gsize)place] ^= 4;
		g_assert_true(g_file_set_contents(program.trace, bytes, (gssize)size, NULL));
		bytes[size / 10 * (gsize)place] ^= 4;
		g_autoptr(LodeProfile) profile = import_file(program.trace, NULL, &error);
		if (profile == NULL) {
			g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
			g_assert_cmpint(place, ==, 1);
			continue;
		}
		g_assert_nonnull(find_unresolved(profile, "the trace is not whole"));
		g_assert_cmpfloat(profile->run.total_count, <, last);
		last = profile->run.total_count;
	}
	g_assert_cmpfloat(last, <, N);
}

static void test_usage(void)
{
	g_auto(TracedProgram) program = {0};
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autoptr(GError) error = NULL;

	traced_program_init(&program);
	traced_program_write(&program, NULL, 0, description);
	const char *twice[] = {program.trace, program.trace};
	const LodeImportOptions options = {.paths = twice, .n_paths = 2, .threads = 1};
	g_assert_null(lode_import(&options, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
}

/* --- while a program runs --- */

enum { LIVE_TRACES = 2 };

/* What reads a trace as the recorder gives it: frame by frame, mappings with the frames that they
 * come about in. */
typedef struct {
	LodeTraceReader *reader;
	LodeTraceDescription *given;
	void *trace;
	bool has_begun;
} LiveTrace;

/* False at the end. */
static bool give_frame(LiveTrace *self, const LodeTraceTaker *taker)
{
	g_autoptr(GError) error = NULL;
	const LodeTraceDescription *whole = lode_trace_reader_description(self->reader);
	const LodeTraceFrame *frame;
	int found = lode_trace_reader_next(self->reader, &frame, &error);
	LodeTraceFrame *borrowed = (LodeTraceFrame *)frame;

	g_assert_no_error(error);
	if (found == 0)
		return false;
	uint64_t end = frame->first_reference + frame->n_references;
	for (guint i = self->given->mappings->len; i < whole->mappings->len; i++) {
		LodeTraceMapping mapping = g_array_index(whole->mappings, LodeTraceMapping, i);
		if (mapping.first_reference >= end)
			break;
		g_array_append_val(self->given->mappings, mapping);
	}
	if (!self->has_begun) {
		g_array_append_vals(
			self->given->threads, whole->threads->data, whole->threads->len);
		self->trace = taker->begin(self->given, taker->user_data, &error);
	}
	self->has_begun = true;
	g_assert_no_error(error);
	g_assert_true(taker->take(self->trace, &borrowed, &error));
	g_assert_no_error(error);
	return true;
}

/* Two processes that map and run, each with two threads. */
static void write_process(TracedProgram *program, uint32_t pid)
{
	enum { N = 4000 };
	static const char *const paths[] = {
		"/nonexistent/first.so", "/nonexistent/second.so", "[anon]"};
	const uint64_t code = 0x7f0000001000;
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autofree LodeReference *references = g_new0(LodeReference, N);
	const LodeTraceThread threads[] = {{pid, NULL}, {pid + 1, NULL}};
	uint64_t at = code;
	uint16_t thread = 0;

	for (unsigned i = 0; i < N; i++) {
		if (random_int_range(0, 60) == 0)
			thread ^= 1;
		if (random_int_range(0, 8) == 0)
			at = code + 0x1000 * (uint64_t)random_int_range(0, 3) +
			     16 * (uint64_t)random_int_range(0, 20);
		if (random_bit()) {
			references[i] = (LodeReference)DATA(
				LOAD, 0x100000 + 8 * (uint64_t)random_int_range(0, 400), thread);
			continue;
		}
		references[i] = (LodeReference)FETCH(at, 4, thread);
		at += 4;
	}
	g_array_append_vals(description->threads, threads, 2);
	for (uint64_t now = 0; now < N; now += (uint64_t)random_int_range(1, 300)) {
		uint64_t start = code + 0x1000 * (uint64_t)random_int_range(0, 3);
		LodeTraceMapping mapping = {.start = start,
			.end = start + 0x1000 * (uint64_t)random_int_range(1, 3),
			.offset = 0x1000 * (uint64_t)random_int_range(0, 2),
			.protection = random_bit() ? 5 : 3,
			.first_reference = now};
		mapping.path = lode_trace_description_intern(
			description, paths[random_int_range(0, G_N_ELEMENTS(paths))]);
		g_array_append_val(description->mappings, mapping);
	}
	traced_program_init(program);
	traced_program_write_frames(program, references, N, 700, description);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a profile says of code and data, a line for each; images may be in any order. */
static GPtrArray *lines_of(const LodeProfile *profile)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *row = instruction_at(profile, i);
		uint32_t image = lode_profile_function(profile, row->function)->image;
		GString *line = g_string_new(NULL);
		g_string_printf(line, "%s %" G_GINT64_MODIFIER "x %g",
			lode_profile_image(profile, image)->path, row->address, row->count);
		for (guint j = 0; j < profile->code.events->len; j++)
			g_string_append_printf(line, " %s %g", lode_profile_event(profile, j)->name,
				lode_profile_event_value(profile, j, i));
		g_ptr_array_add(lines, g_string_free(line, FALSE));
	}
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		g_ptr_array_add(lines, g_strdup_printf("edge %" G_GINT64_MODIFIER
						       "x %" G_GINT64_MODIFIER "x %d %g",
					       instruction_at(profile, edge->source)->address,
					       instruction_at(profile, edge->target)->address,
					       edge->kind, edge->count));
	}
	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *row = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		g_ptr_array_add(lines,
			g_strdup_printf("%s %" G_GINT64_MODIFIER "x %g thread %u",
				lode_profile_event(profile, row->event)->name, row->address,
				row->weight,
				LODE_AT(profile->memory->threads, LodeThread, row->thread).tid));
	}
	g_ptr_array_sort(lines, compare_lines);
	return lines;
}

static void test_live(void)
{
	g_auto(TracedProgram) first = {0};
	g_auto(TracedProgram) second = {0};
	g_autoptr(GError) error = NULL;
	LiveTrace traces[LIVE_TRACES] = {0};
	bool is_open = true;

	write_process(&first, 100);
	write_process(&second, 200);
	g_autoptr(LodeHierarchy)
		hierarchy = lode_hierarchy_parse("i1=256:2:16,d1=256:2:16,cores=2", &error);
	g_assert_no_error(error);
	const char *paths[LIVE_TRACES] = {first.trace, second.trace};
	LodeImportOptions options = {.paths = paths,
		.n_paths = LIVE_TRACES,
		.threads = 1,
		.replay.hierarchy = random_bit() ? hierarchy : NULL,
		.replay.predicts_branches = true};
	options.replay.classifies = options.replay.hierarchy != NULL;
	g_autoptr(LodeProfile) read = lode_import(&options, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(LodeTracedImport) import = lode_traced_import_new(&options);
	const LodeTraceTaker *taker = lode_traced_import_taker(import);
	for (unsigned i = 0; i < LIVE_TRACES; i++) {
		traces[i].reader = lode_trace_reader_open(paths[i], NULL, &error);
		g_assert_no_error(error);
		traces[i].given = lode_trace_description_new();
	}
	for (unsigned i = 0; is_open; i = (unsigned)random_int_range(0, LIVE_TRACES)) {
		is_open = false;
		for (unsigned j = 0; j < LIVE_TRACES; j++)
			is_open |= traces[j].reader != NULL;
		if (traces[i].reader == NULL || give_frame(&traces[i], taker))
			continue;
		g_assert_true(taker->end(traces[i].trace, traces[i].given, &error));
		g_clear_pointer(&traces[i].reader, lode_trace_reader_close);
		g_clear_pointer(&traces[i].given, lode_trace_description_free);
	}
	g_assert_cmpuint(lode_traced_import_n_traces(import), ==, LIVE_TRACES);
	g_autoptr(LodeProfile) live = lode_traced_import_finish(import, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(GPtrArray) expected = lines_of(read);
	g_autoptr(GPtrArray) lines = lines_of(live);
	g_assert_cmpuint(expected->len, >, 100);
	for (guint i = 0; i < expected->len && i < lines->len; i++)
		g_assert_cmpstr(lines->pdata[i], ==, expected->pdata[i]);
	g_assert_cmpuint(lines->len, ==, expected->len);
	g_assert_cmpuint(live->unresolved->len, ==, read->unresolved->len);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/traced_import/callgrind", test_callgrind);
	g_test_add_func("/traced_import/accesses", test_accesses);
	g_test_add_func("/traced_import/misses", test_misses);
	g_test_add_func("/traced_import/determinism", test_determinism);
	g_test_add_func("/traced_import/no_mappings", test_no_mappings);
	g_test_add_func("/traced_import/empty", test_empty);
	g_test_add_func("/traced_import/threads", test_threads);
	g_test_add_func("/traced_import/remapping", test_remapping);
	g_test_add_func("/traced_import/many_remappings", test_many_remappings);
	g_test_add_func("/traced_import/cut", test_cut);
	g_test_add_func("/traced_import/damage", test_damage);
	g_test_add_func("/traced_import/usage", test_usage);
	add_random_test("/traced_import/live", test_live, "R02S4d3c5be1f90a12c7769d0e5b8123aaf0",
		"R02S00c1f28e7b5a4d369e81f7c2054be613", "R02Sa7e4410d93bb5c28cf6d10e27f98b354",
		"R02S6f2d9b8e015c47a3b2e8d46c719fa05d", NULL);
	return g_test_run();
}
