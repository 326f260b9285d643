/* SPDX-License-Identifier: MIT */
#include "random_profile.h"

#include "model/findings.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/process.h"
#include "model/waits.h"

#include "model/run/unresolved.h"
#include "random_memory.h"

#include <glib/gstdio.h>
#include <string.h>

static double random_amount(GRand *rand)
{
	switch (g_rand_int_range(rand, 0, 4)) {
	case 0:
		return 0;
	case 1:
		return g_rand_int(rand);
	case 2:
		return g_rand_double(rand) * 1e300;
	default:
		return g_rand_double(rand);
	}
}

/* Text with what SQL and JSON find special, and bytes that are not UTF-8. */
static char *random_text(LodeProfile *profile, GRand *rand)
{
	static const char *const parts[] = {
		"a", "'", "\"", "\\", "⟨", "\xff", " ", "%s", "\x01", "]"};
	char text[64] = "t";

	for (int i = g_rand_int_range(rand, 0, 8); i > 0; i--)
		g_strlcat(
			text, parts[g_rand_int_range(rand, 0, G_N_ELEMENTS(parts))], sizeof(text));
	return lode_profile_intern(profile, text);
}

static char *random_optional_text(LodeProfile *profile, GRand *rand)
{
	return g_rand_boolean(rand) ? random_text(profile, rand) : NULL;
}

static void add_events(LodeProfile *profile, GRand *rand)
{
	lode_profile_add_event(profile, "executions", "how often", LODE_EVENT_COUNT, NULL, 0);
	for (int i = 0; i < 3; i++) {
		uint32_t id = lode_profile_add_event(profile, random_text(profile, rand),
			random_optional_text(profile, rand), LODE_EVENT_RECORDED, NULL, 0);
		lode_profile_event(profile, id)->is_attribute = g_rand_boolean(rand);
		lode_profile_event(profile, id)->total = random_amount(rand);
	}
	LodeEventTerm terms[] = {{0, 1}, {2, 10.5}, {3, 100}};
	profile->code.weight_event = lode_profile_add_event(
		profile, "cycles", NULL, LODE_EVENT_DERIVED, terms, G_N_ELEMENTS(terms));
	lode_profile_add_event(profile, "nothing", NULL, LODE_EVENT_DERIVED, NULL, 0);
}

static void add_names(LodeProfile *profile, GRand *rand)
{
	for (int i = 0; i < 3; i++) {
		LodeImage image = {.path = random_text(profile, rand),
			.build_id = random_optional_text(profile, rand),
			.kind = (LodeImageKind)i};
		LodeUnresolved unresolved = {.reason = random_text(profile, rand),
			.example = random_optional_text(profile, rand),
			.count = random_amount(rand),
			.weight = random_amount(rand),
			.places = g_rand_int(rand)};
		g_array_append_val(profile->code.images, image);
		g_array_append_val(profile->unresolved, unresolved);
		const LodeThreadTime time = {
			.name = (i == 1 ? random_text : random_optional_text)(profile, rand),
			.pid = g_rand_int(rand) / 2,
			.tid = g_rand_int(rand) / 2,
			.begin_ns = g_rand_int(rand),
			.end_ns = UINT64_MAX - g_rand_int(rand),
			.running_ns = random_amount(rand),
			.preempted_ns = random_amount(rand),
			.switches = random_amount(rand)};
		g_array_append_val(profile->thread_times, time);
	}
	for (int i = 0; i < 10; i++) {
		g_autofree char *name = g_strdup_printf("op:%d", i);
		lode_profile_attribute(profile, name);
		lode_profile_attribute(profile, random_text(profile, rand));
	}
	lode_profile_attribute_set(profile, NULL, 0);
	for (int i = 0; i < 20; i++) {
		uint32_t members[4];
		for (int k = 0; k < 4; k++)
			members[k] = (uint32_t)g_rand_int_range(
				rand, 0, (gint32)profile->code.attributes->len);
		lode_profile_attribute_set(profile, members, (size_t)g_rand_int_range(rand, 1, 5));
	}
	for (int i = 0; i < 20; i++)
		lode_profile_location(profile, random_optional_text(profile, rand),
			g_rand_int(rand), random_optional_text(profile, rand));
}

static void add_costs(LodeProfile *profile, GRand *rand)
{
	for (uint32_t event = 1; event <= 3; event++) {
		LodeCost cost = {event, random_amount(rand)};
		if (g_rand_boolean(rand))
			g_array_append_val(profile->code.costs, cost);
	}
	g_array_append_val(profile->code.cost_starts, profile->code.costs->len);
}

static void add_instructions(LodeProfile *profile, GRand *rand, LodeFunction *function)
{
	function->first_instruction = profile->code.instructions->len;
	function->n_instructions = (uint32_t)g_rand_int_range(rand, 0, 12);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		bool has_block = function->n_blocks > 0 && g_rand_boolean(rand);
		bool has_next = i + 1 < function->n_instructions && g_rand_boolean(rand);
		LodeInstruction instruction = {
			.address = function->address + i,
			.count = random_amount(rand),
			.next_count = has_next ? random_amount(rand) : -1,
			.function = profile->code.functions->len,
			.block = has_block ? function->first_block : LODE_NONE,
			.attribute_set = (uint32_t)g_rand_int_range(
				rand, 0, (gint32)profile->code.attribute_sets->len),
			.location = g_rand_boolean(rand)
		                            ? (uint32_t)g_rand_int_range(
						      rand, 0, (gint32)profile->code.locations->len)
		                            : LODE_NONE,
			.size = (uint32_t)g_rand_int_range(rand, 0, 16),
			.name = random_optional_text(profile, rand),
		};
		g_array_append_val(profile->code.instructions, instruction);
		add_costs(profile, rand);
	}
}

static void add_blocks(LodeProfile *profile, GRand *rand, LodeFunction *function)
{
	function->first_block = profile->code.blocks->len;
	function->n_blocks = (uint32_t)g_rand_int_range(rand, 0, 4);
	for (uint32_t i = 0; i < function->n_blocks; i++) {
		LodeBlock block = {
			.function = profile->code.functions->len,
			.address = function->address + i * 4,
			.end = function->address + i * 4 + 4,
			.count = random_amount(rand),
			.loop_depth = (uint8_t)g_rand_int_range(rand, 0, 256),
			.is_loop_head = g_rand_boolean(rand),
		};
		g_array_append_val(profile->code.blocks, block);
	}
}

static void add_function(LodeProfile *profile, GRand *rand, uint32_t index)
{
	LodeFunction function = {
		.image = (uint32_t)g_rand_int_range(rand, 0, 3),
		.source = (LodeFunctionSource)g_rand_int_range(rand, 0, 4),
		.name = random_text(profile, rand),
		.symbol = random_optional_text(profile, rand),
		/* Some are in the upper half of the address space. */
		.address = ((uint64_t)(index % 2) << 63) + index * UINT64_C(100),
		.size = 64,
		.calls = random_amount(rand),
	};

	/* An empty code is not the same as none. */
	if (g_rand_boolean(rand))
		function.code = g_bytes_new("\0\1\2\xff code", (gsize)g_rand_int_range(rand, 0, 9));
	add_blocks(profile, rand, &function);
	add_instructions(profile, rand, &function);
	g_array_append_val(profile->code.functions, function);
}

static void add_edges(LodeProfile *profile, GRand *rand)
{
	gint32 n = (gint32)profile->code.instructions->len;

	for (gint32 source = 0; source < n; source++) {
		gint32 target = g_rand_int_range(rand, 0, n);
		for (int kind = 0; kind <= LODE_EDGE_GIVEN; kind++) {
			LodeEdge edge = {(uint32_t)source, (uint32_t)target, (LodeEdgeKind)kind,
				random_amount(rand)};
			if (g_rand_int_range(rand, 0, 5) == 0)
				g_array_append_val(profile->code.edges, edge);
		}
	}
}

static void add_observed_instruction(LodeWindows *windows, GRand *rand, uint32_t instruction)
{
	LodeObservedInstruction facts;

	memset(&facts, 0, sizeof(facts)); /* rows are compared whole, with their padding */
	facts.instruction = instruction;
	facts.steps = UINT32_MAX;
	facts.outcomes = UINT32_MAX / 2 + g_rand_int(rand) / 2;
	facts.unforetold = g_rand_int(rand) / 2;
	facts.denormals = g_rand_int(rand);
	facts.accesses = UINT32_MAX / 2 + g_rand_int(rand) / 2;
	facts.repeated = g_rand_int(rand) / 2;
	facts.strided = g_rand_int(rand) / 2;
	facts.stride = (int64_t)((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand));
	facts.lines = g_rand_int(rand);
	facts.pages = g_rand_int(rand);
	facts.line_bytes = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
	facts.split = g_rand_int(rand) / 2;
	facts.loads.stored = g_rand_int(rand) / 4;
	facts.loads.part_stored = g_rand_int(rand) / 4;
	facts.loads.store_steps = g_rand_int(rand);
	facts.loads.conflicting = g_rand_int(rand) / 2;
	facts.underflows = g_rand_int(rand);
	facts.split_pages = facts.split / 2;
	facts.calls.compared = (uint32_t)g_rand_int_range(rand, 0, 3);
	facts.calls.same_arguments = facts.calls.compared;
	facts.calls.compared_results = facts.calls.compared;
	facts.calls.same_results = facts.calls.compared / 2;
	facts.page_changes = facts.accesses / 2;
	facts.line_visits = facts.accesses / 1024;
	facts.line_used_bytes = 60 * facts.line_visits;

	g_array_append_val(windows->instructions, facts);
}

static double maybe_amount(GRand *rand)
{
	return g_rand_boolean(rand) ? random_amount(rand) : -1;
}

static void add_loops(LodeProfile *profile, GRand *rand)
{
	profile->run.cycles_per_ns = g_rand_double(rand);
	profile->run.wall_seconds = g_rand_double(rand);
	profile->run.system_error = g_rand_double(rand);
	profile->run.n_equal_samples = g_rand_double(rand);
	profile->run.speed = (LodeMachineSpeed){g_rand_int_range(rand, 0, 9), g_rand_double(rand),
		g_rand_double(rand), g_rand_double(rand), g_rand_double(rand), g_rand_double(rand),
		g_rand_double(rand)};
	for (unsigned i = 0; i < LODE_N_RATES; i++) {
		profile->run.rates.read[i] = g_rand_double(rand);
		profile->run.rates.write[i] = g_rand_double(rand);
	}
	profile->run.n_core_figures = g_rand_int_range(rand, 0, 50);
	profile->run.mispredict_cycles = g_rand_double(rand);
	profile->run.core = g_rand_boolean(rand) ? lode_profile_intern(profile, "Zen 3") : NULL;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		LodeLoop loop = {
			.head = i,
			.iterations = random_amount(rand),
			.instructions = random_amount(rand),
			.weight = maybe_amount(rand),
			.calls = random_amount(rand),
			.is_innermost = g_rand_boolean(rand),
			.unmodelled = random_amount(rand),
			.recurrence = random_optional_text(profile, rand),
			.other_recurrence = random_optional_text(profile, rand),
			.recurrence_cycles = maybe_amount(rand),
			.other_cycles = maybe_amount(rand),
			.iteration_ns = maybe_amount(rand),
			.iteration_error_ns = maybe_amount(rand),
			.iteration_source = random_optional_text(profile, rand),
			.load_bytes = maybe_amount(rand),
			.store_bytes = maybe_amount(rand),
		};
		for (unsigned k = 0; k < LODE_N_UNITS; k++)
			loop.cycles[k] = random_amount(rand);
		if (g_rand_int_range(rand, 0, 4) == 0)
			g_array_append_val(profile->loops, loop);
	}
}

static void add_windows(LodeProfile *profile, GRand *rand)
{
	LodeWindows *windows = profile->windows = lode_windows_new();

	windows->n_windows = g_rand_int(rand);
	windows->n_steps = (uint64_t)g_rand_int(rand) << 30;
	windows->n_unresolved = g_rand_int(rand);
	windows->n_dropped = g_rand_int(rand);
	windows->dropped_weight = random_amount(rand);
	windows->user_seconds = random_amount(rand);
	windows->system_seconds = random_amount(rand);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		if (g_rand_boolean(rand))
			add_observed_instruction(windows, rand, i);
		for (uint32_t target = 0; target < profile->code.instructions->len; target++) {
			const LodeObservedEdge edge = {i, target,
				UINT32_MAX / 2 + g_rand_int(rand) / 2, g_rand_int(rand) / 2};
			if (g_rand_int_range(rand, 0, 20) == 0)
				g_array_append_val(windows->edges, edge);
		}
	}
	for (int i = 0; i < 3; i++) {
		const LodeSteppedProcess process = {.pid = g_rand_int(rand),
			.name = random_optional_text(profile, rand),
			.obstacle = random_optional_text(profile, rand),
			.n_windows = g_rand_int(rand),
			.n_steps = g_rand_int(rand)};
		g_array_append_val(windows->processes, process);
	}
}

static uint32_t maybe_index(GRand *rand, uint32_t n)
{
	return n > 0 && g_rand_boolean(rand) ? (uint32_t)g_rand_int_range(rand, 0, (gint32)n)
	                                     : LODE_NONE;
}

void random_waits_add(LodeProfile *profile, guint32 seed, uint32_t n_stacks)
{
	LodeWaits *waits = lode_waits_new();
	GRand *rand = g_rand_new_with_seed(seed);

	lode_waits_free(profile->waits);
	profile->waits = waits;
	waits->clock_ns = random_amount(rand);
	waits->running_ns = random_amount(rand);
	waits->waiting_ns = random_amount(rand);
	waits->seen_ns = random_amount(rand);
	waits->refused_ns = random_amount(rand);
	waits->has_path = g_rand_boolean(rand);
	waits->path_running_ns = random_amount(rand);
	waits->path_sure = g_rand_double(rand);
	waits->path_threads = random_amount(rand);
	for (int i = g_rand_int_range(rand, 0, 4); i > 0; i--) {
		const LodeWaitCause cause = {random_amount(rand), random_amount(rand)};
		g_array_append_val(waits->causes, cause);
	}
	for (int i = g_rand_int_range(rand, 1, 20); i > 0; i--) {
		const LodeWait row = {
			.reason = (LodeWaitReason)g_rand_int_range(rand, 0, LODE_N_WAIT_REASONS),
			.call = random_optional_text(profile, rand),
			.object = random_optional_text(profile, rand),
			.thread_name = random_optional_text(profile, rand),
			.pid = g_rand_int(rand) / 2,
			.tid = g_rand_int(rand) / 2,
			.stack = maybe_index(rand, n_stacks),
			.holder_stack = maybe_index(rand, n_stacks),
			.holder_call = random_optional_text(profile, rand),
			.holder_share = g_rand_double(rand),
			.cause = maybe_index(rand, waits->causes->len),
			.waiting_ns = random_amount(rand),
			.path_ns = random_amount(rand),
			.count = random_amount(rand),
			.longest_ns = random_amount(rand),
			.looks = random_amount(rand),
			.is_idle = g_rand_boolean(rand),
		};
		g_array_append_val(waits->rows, row);
	}
	for (int i = g_rand_int_range(rand, 0, 20); i > 0; i--) {
		const LodeWaitSlice slice = {
			.pid = g_rand_int(rand) / 2,
			.tid = g_rand_int(rand) / 2,
			.begin_ns = g_rand_int(rand),
			.end_ns = UINT64_C(1) << 32 | g_rand_int(rand),
			.kind = (uint8_t)g_rand_int_range(rand, 0, LODE_N_SLICE_KINDS),
			.wait = maybe_index(rand, waits->rows->len),
			.time_ns = random_amount(rand),
			.path_ns = random_amount(rand),
		};
		g_array_append_val(waits->slices, slice);
	}
	for (int i = g_rand_int_range(rand, 0, 4); i > 0; i--) {
		const LodeWaitProgram program = {
			.name = random_optional_text(profile, rand),
			.processes = random_amount(rand),
			.running_ns = random_amount(rand),
			.lives_ns = random_amount(rand),
			.lived_ns = random_amount(rand),
			.path_ns = random_amount(rand),
			.alone_ns = random_amount(rand),
		};
		g_array_append_val(waits->programs, program);
	}
	g_rand_free(rand);
}

LodeProfile *random_profile_new(guint32 seed, uint32_t size)
{
	LodeProfile *profile = lode_profile_new();
	GRand *rand = g_rand_new_with_seed(seed);

	profile->run.program = random_optional_text(profile, rand);
	profile->run.creator = random_text(profile, rand);
	profile->run.frequency = (LodeFrequency)g_rand_int_range(rand, 0, 4);
	profile->run.total_count = random_amount(rand);
	profile->run.inflow_checked = random_amount(rand);
	profile->run.inflow_equal = random_amount(rand);
	add_events(profile, rand);
	add_names(profile, rand);
	for (uint32_t i = 0; i < size; i++)
		add_function(profile, rand, i);
	add_edges(profile, rand);
	if (seed % 2 == 1)
		random_memory_add(profile, rand);
	if (seed % 4 != 0 && size <= 100)
		add_windows(profile, rand);
	add_loops(profile, rand);
	if (seed % 3 != 0)
		random_waits_add(profile, seed, 0);
	g_rand_free(rand);
	return profile;
}

static void randomize(LodeMiningParameters *parameters, GRand *rand)
{
	lode_mining_parameters_init(parameters);
	parameters->weight = g_rand_boolean(rand) ? "cycles" : NULL;
	parameters->exclude = g_rand_boolean(rand) ? "op:\"\\*\n" : NULL;
	parameters->images = g_rand_boolean(rand) ? "^/usr/\xc3\xbc" : NULL;
	parameters->functions = g_rand_boolean(rand) ? "" : NULL;
	parameters->event_rate = g_rand_double(rand);
	parameters->min_support = g_rand_double(rand) * 1e-5;
	parameters->min_functions = g_rand_int(rand);
	parameters->gap = g_rand_int(rand);
	parameters->window = g_rand_int(rand);
	parameters->flow = (LodeFlowModel)g_rand_int_range(rand, 0, 3);
	parameters->granularity = (LodeGranularity)g_rand_int_range(rand, 0, 3);
	parameters->only_closed = g_rand_boolean(rand);
	parameters->only_maximal = g_rand_boolean(rand);
	parameters->top = g_rand_int(rand);
	parameters->max_sequences = UINT64_MAX;
	parameters->is_instruction_mode = g_rand_boolean(rand);
	parameters->across_calls = g_rand_boolean(rand);
	parameters->min_count = random_amount(rand);
}

static void add_sequence(LodeMiningRun *run, GRand *rand)
{
	LodeSequence sequence = {
		.first_item = run->items->len,
		.n_items = (uint32_t)g_rand_int_range(rand, 1, 6),
		.places = g_rand_int(rand),
		.functions = g_rand_int(rand),
		.weight = g_rand_double(rand),
		.frequency = g_rand_double(rand),
		.executions = random_amount(rand),
		.count = random_amount(rand),
	};

	for (uint32_t i = 0; i < sequence.n_items; i++) {
		uint32_t item = (uint32_t)g_rand_int_range(rand, 0, (gint32)run->attributes->len);
		if (i == 0 || g_rand_boolean(rand))
			item |= LODE_ITEM_START;
		g_array_append_val(run->items, item);
	}
	for (guint i = 0; i < run->events->len; i++) {
		double support = run->parameters.is_instruction_mode ? random_amount(rand)
		                                                     : g_rand_double(rand);
		g_array_append_val(run->event_supports, support);
	}
	g_array_append_val(run->sequences, sequence);
}

/* None, no finding, or ten of every form; places are among the first three instructions. */
static void add_findings(LodeMiningRun *run, GRand *rand, guint32 seed)
{
	uint32_t n = seed % 3 == 2 ? 10 : 0;

	if (seed % 3 == 0)
		return;
	run->findings = lode_findings_new();
	run->findings->is_counted = g_rand_boolean(rand);
	run->findings->base = random_amount(rand);
	run->findings->explained = g_rand_double(rand);
	run->findings->single = g_rand_double(rand);
	run->findings->samples = random_amount(rand);
	for (guint i = 0; i < run->attributes->len; i++)
		g_ptr_array_add(
			run->findings->attributes, g_strdup(g_ptr_array_index(run->attributes, i)));
	for (uint32_t i = 0; i < n; i++) {
		LodeFinding finding = {
			.kind = i % 2 == 0 ? LODE_FINDING_PATTERN : LODE_FINDING_PLACE,
			.first_element = run->findings->elements->len,
			.n_elements = 1 + i % 4,
			.focus = i % 4,
			.time = g_rand_double(rand),
			.time_error = g_rand_double(rand),
			.each = random_amount(rand),
			.each_error = random_amount(rand),
			.executed = i % 3 == 0 ? -1 : g_rand_double(rand),
			.places = g_rand_int(rand) / 2,
			.functions = g_rand_int(rand) / 2,
			.spread = random_amount(rand),
			.first_place = run->findings->places->len,
			.n_places = i,
		};
		for (uint32_t e = 0; e < finding.n_elements; e++) {
			LodeFindingElement element = {run->findings->items->len, (i + e) % 3};
			for (uint32_t k = 0; k < element.n_items; k++) {
				uint32_t item = (uint32_t)g_rand_int_range(
					rand, 0, (gint32)run->attributes->len);
				g_array_append_val(run->findings->items, item);
			}
			g_array_append_val(run->findings->elements, element);
		}
		for (uint32_t k = 0; k < i; k++) {
			LodeFindingPlace place = {
				(uint32_t)g_rand_int_range(rand, 0, 3), g_rand_double(rand)};
			g_array_append_val(run->findings->places, place);
		}
		g_array_append_val(run->findings->findings, finding);
	}
}

LodeMiningRun *random_run_new(guint32 seed, const char *name, uint32_t n)
{
	static const char *const attributes[] = {"at:entry", "ev:l1d-miss", "inl:f(\"x\\y\")",
		"kind:load", "op:add", "user:\x02\xff", "user:⟨ä⟩"};
	GRand *rand = g_rand_new_with_seed(seed);
	LodeMiningParameters parameters;

	randomize(&parameters, rand);
	LodeMiningRun *run = lode_mining_run_new(name, &parameters);
	run->is_complete = g_rand_boolean(rand);
	run->seconds = g_rand_double(rand);
	for (size_t i = 0; i < G_N_ELEMENTS(attributes); i++)
		g_ptr_array_add(run->attributes, g_strdup(attributes[i]));
	for (int i = g_rand_int_range(rand, 0, 12); i > 0; i--)
		g_ptr_array_add(run->events, g_strdup_printf("event-%d", i));
	for (uint32_t i = 0; i < n; i++)
		add_sequence(run, rand);
	add_findings(run, rand, seed);
	lode_mining_run_round(run);
	g_rand_free(rand);
	return run;
}

char *make_folder(void)
{
	g_autoptr(GError) error = NULL;
	char *folder = g_dir_make_tmp("lode-store-XXXXXX", &error);

	g_assert_no_error(error);
	return folder;
}

void remove_folder(char *folder)
{
	g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
	const char *name;

	while (entries != NULL && (name = g_dir_read_name(entries)) != NULL) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		g_remove(path);
	}
	g_rmdir(folder);
	g_free(folder);
}

guint count_files(const char *folder)
{
	g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
	guint n = 0;

	while (entries != NULL && g_dir_read_name(entries) != NULL)
		n++;
	return n;
}
