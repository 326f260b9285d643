/* SPDX-License-Identifier: MIT */
/* Diagnoses of code by rules of the test's own: time against a naive computation, scopes, and the
 * figures of the evidence. */
#include "analyses/diagnoses/code_diagnoses.h"
#include "analyses/diagnoses/diagnosis_evidence.h"
#include "model/findings.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include "code_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

#define TEXTS "explanation = e\nremedy = r\nsource = s\ntitle = t\n"

static const char rules_text[] =
	"[slow]\nfocus = kind:div\ncause = division\n" TEXTS
	"[call]\nfocus = kind:syscall\ncause = system-call\n" TEXTS
	"[random]\nfocus = op:rdseed\ncause = service-random\n" TEXTS
	"[chain]\nfocus = kind:load\nbefore = kind:store\ncause = "
	"forwarding\nleast = 0.5\nmost = 1.2\n" TEXTS
	"[told]\nfocus = kind:mul\nexplanation = e\nremedy = r\nsource = s\n";

static LodeDiagnoses *diagnose(const LodeProfile *profile, double user)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_parse(rules_text, &error);
	g_auto(CodeContext) context;
	LodeDiagnoses *out = lode_diagnoses_new();

	g_assert_no_error(error);
	code_context_init(&context, profile);
	context.context.user = user;
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	lode_place_diagnoses_add(out, code, rules);
	return out;
}

/* --- time --- */

static bool has(const LodeProfile *profile, uint32_t at, const char *name)
{
	const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets, LodeAttributeSet,
		lode_profile_instruction(profile, at)->attribute_set);

	for (uint32_t i = 0; i < set->n; i++)
		if (strcmp(g_ptr_array_index(profile->code.attributes,
				   LODE_AT(profile->code.set_members, uint32_t, set->first + i)),
			    name) == 0)
			return true;
	return false;
}

/* "division", "forwarding" or NULL; in the random profiles each instruction follows the one before,
 * within a function. */
static const char *cause_at(const LodeProfile *profile, uint32_t at)
{
	if (has(profile, at, "kind:div"))
		return "division";
	if (at > 0 && lode_profile_instruction(profile, at - 1)->next_count >= 0 &&
		has(profile, at, "kind:load") && has(profile, at - 1, "kind:store"))
		return "forwarding";
	return NULL;
}

static double weight_at(const LodeProfile *profile, uint32_t at)
{
	return lode_profile_event_value(profile, profile->code.weight_event, at);
}

/* The mean weight of the instructions of the same block that have no cause; where those that have
 * one are more, no more than that of the function's others, which are executed as often in all. */
static double around(const LodeProfile *profile, uint32_t at)
{
	const LodeInstruction *own = lode_profile_instruction(profile, at);
	double sum = 0, n = 0, causes = 0, all = 0, executions = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		bool has_cause = cause_at(profile, i) != NULL;
		if (one->function == own->function && !has_cause) {
			all += weight_at(profile, i);
			executions += one->count;
		}
		if (one->block != own->block)
			continue;
		causes += has_cause;
		n += !has_cause;
		sum += has_cause ? 0 : weight_at(profile, i);
	}
	double usual = LODE_AT(profile->code.blocks, LodeBlock, own->block).count * all /
	               MAX(executions, 1);
	if (n == 0)
		return 0;
	return n < causes && executions > 0 ? MIN(sum / n, usual) : sum / n;
}

enum { MAX_FUNCTIONS = 12 };

typedef struct {
	double weight, base;
	double whole; /* weight of the functions, none of which has a loop */
	uint32_t places, functions;
} Part;

static double weight_of_function(const LodeProfile *profile, uint32_t function)
{
	double weight = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (lode_profile_instruction(profile, i)->function == function)
			weight += weight_at(profile, i);
	return weight;
}

static Part part_of(const LodeProfile *profile, const char *cause, uint32_t function)
{
	Part part = {0};
	uint32_t last = LODE_NONE;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t of = lode_profile_instruction(profile, i)->function;
		if ((function != LODE_NONE && of != function) ||
			g_strcmp0(cause_at(profile, i), cause) != 0)
			continue;
		part.weight += weight_at(profile, i);
		part.base += around(profile, i);
		part.places += weight_at(profile, i) > 0;
		if (weight_at(profile, i) > 0 && of != last) {
			part.functions++;
			part.whole += weight_of_function(profile, of);
			last = of;
		}
	}
	return part;
}

static double error_of(const LodeProfile *profile, const Part *part)
{
	return sqrt(
		2 * part->weight * lode_profile_event(profile, 0)->total / profile->run.n_samples);
}

static bool is_enough(const LodeProfile *profile, const Part *part, double user)
{
	double time = part->weight - part->base;

	return part->weight > 0 && time * user >= 0.02 * lode_profile_event(profile, 0)->total &&
	       time >= 3 * error_of(profile, part) && part->weight >= 2 * part->base;
}

static void check_part(
	const LodeProfile *profile, const LodeDiagnosis *one, const Part *part, double user)
{
	double scale = user / lode_profile_event(profile, 0)->total;

	g_assert_cmpfloat_with_epsilon(one->time, (part->weight - part->base) * scale, 1e-9);
	g_assert_cmpfloat_with_epsilon(one->time_error, error_of(profile, part) * scale, 1e-9);
	g_assert_cmpuint(one->places, ==, part->places);
	g_assert_cmpuint(one->functions, ==, part->functions);
	g_assert_cmpuint(one->at->len, ==, part->places);
	for (guint i = 0; i < one->at->len; i++) {
		const LodeFindingPlace *place = &g_array_index(one->at, LodeFindingPlace, i);
		g_assert_cmpfloat_with_epsilon(
			place->time, weight_at(profile, place->instruction) * scale, 1e-9);
		g_assert_true(i == 0 || place->time <= place[-1].time);
	}
	bool is_chain = strcmp(one->cause, "forwarding") == 0;
	double most = MIN(part->whole * scale, most_time(one) * (is_chain ? 1.2 : 1.5));
	g_assert_cmpfloat_with_epsilon(one->high, most, 1e-9);
	g_assert_cmpfloat_with_epsilon(
		one->low, MIN(least_time(one) * (is_chain ? 0.5 : 0.6), most), 1e-9);
}

/* All diagnoses of a cause, and no others. Gives how many there are. */
static guint check_cause(const LodeProfile *profile, const LodeDiagnoses *all, const char *cause,
	uint32_t n_functions, double user)
{
	double sum = 0, squares = 0;
	guint n = 0;

	for (uint32_t f = 0; f < n_functions; f++) {
		Part part = part_of(profile, cause, f);
		double time = MAX(part.weight - part.base, 0);
		sum += time;
		squares += time * time;
	}
	bool is_spread = squares > 0 && sum * sum / squares >= 1.8;
	for (uint32_t f = 0; f < (is_spread ? 1 : n_functions); f++) {
		Part part = part_of(profile, cause, is_spread ? LODE_NONE : f);
		const LodeDiagnosis *found = NULL;
		for (guint i = 0; i < all->diagnoses->len; i++) {
			const LodeDiagnosis *one = lode_diagnoses_at(all, i);
			uint32_t at = g_array_index(one->at, LodeFindingPlace, 0).instruction;
			if (strcmp(one->cause, cause) == 0 &&
				(is_spread || lode_profile_instruction(profile, at)->function == f))
				found = one;
		}
		g_assert_true((found != NULL) == is_enough(profile, &part, user));
		if (found == NULL)
			continue;
		g_assert_cmpint(
			found->scope, ==, is_spread ? LODE_SCOPE_FUNCTIONS : LODE_SCOPE_FUNCTION);
		check_part(profile, found, &part, user);
		n++;
	}
	return n;
}

static void test_random(void)
{
	static const char *const kinds[] = {
		"op:nop", "kind:div", "kind:load", "kind:store", "kind:mul"};
	guint n_spread = 0, n_single = 0;

	for (unsigned round = 0; round < random_rounds(200, 5000); round++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(round));
		g_autoptr(LodeProfile) profile = code_profile_new();
		uint32_t n_functions = (uint32_t)g_rand_int_range(rand, 1, MAX_FUNCTIONS);
		double user = g_rand_double_range(rand, 0.3, 1);
		for (uint32_t f = 0; f < n_functions; f++) {
			int times = round % 2 == 0 ? 30 : g_rand_int_range(rand, 1, 40);
			code_profile_function(profile, "f");
			for (int i = g_rand_int_range(rand, 1, 30), k = 0; i > 0; i--, k++) {
				const char *kind = kinds[g_rand_int_range(rand, 0, 5)];
				bool is_slow = strcmp(kind, "kind:div") == 0 ||
				               strcmp(kind, "kind:load") == 0;
				if (k % 6 == 0)
					code_profile_block(profile, 0, false);
				uint32_t at = code_profile_add(profile, kind,
					g_rand_int_range(rand, 0, is_slow ? times * 10 : 10));
				if (i > 1)
					made_fall(profile, at, 10);
			}
		}
		code_profile_finish(profile);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, user);
		guint n = check_cause(profile, all, "division", n_functions, user) +
		          check_cause(profile, all, "forwarding", n_functions, user);
		g_assert_cmpuint(all->diagnoses->len, ==, n);
		for (guint i = 0; i < n; i++)
			if (lode_diagnoses_at(all, i)->scope == LODE_SCOPE_FUNCTIONS)
				n_spread++;
			else
				n_single++;
	}
	g_assert_cmpuint(n_spread, >, 10);
	g_assert_cmpuint(n_single, >, 10);
}

/* Weights as of a program in which no instruction waits: no diagnosis, whatever its code. */
static void test_uniform(void)
{
	g_autoptr(LodeProfile) profile = code_profile_new();

	for (uint32_t f = 0; f < 10; f++) {
		code_profile_function(profile, "f");
		code_profile_block(profile, 0, false);
		for (uint32_t i = 0; i < 20; i++)
			code_profile_add(profile, i % 3 == 0 ? "kind:div" : "op:nop", 100);
	}
	code_profile_finish(profile);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, 1);
	g_assert_cmpuint(all->diagnoses->len, ==, 0);
}

/* The one other instruction of a block waits for those with a cause, as a poll after a loop's
 * branch does: the function's others say what is usual. */
static void test_few_others(void)
{
	g_autoptr(LodeProfile) profile = code_profile_new();

	code_profile_function(profile, "f");
	code_profile_block(profile, 0, false);
	for (uint32_t i = 0; i < 20; i++)
		code_profile_add(profile, "op:nop", 10);
	code_profile_block(profile, 0, false);
	for (uint32_t i = 0; i < 5; i++)
		code_profile_add(profile, "kind:div", 100);
	code_profile_add(profile, "op:nop", 220);
	code_profile_finish(profile);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, 1);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	g_assert_cmpfloat_with_epsilon(
		lode_diagnoses_at(all, 0)->time, (500 - 5 * 20) / 920.0, 1e-9);
}

/* Code of libraries and run-times has no causes but its system calls and random numbers of the
 * processor; that of families, and of the kernel, none. */
static void test_left_out(void)
{
	static const struct {
		const char *path, *function, *causes;
		LodeImageKind kind;
	} cases[] = {
		{"/home/me/program", "f", "division system-call service-random", LODE_IMAGE_FILE},
		{"/lib/x86_64-linux-gnu/libc.so.6", "f", "system-call service-random",
			LODE_IMAGE_FILE},
		{"[vdso]", "f", "system-call service-random", LODE_IMAGE_FILE},
		{"/lib/x86_64-linux-gnu/libm.so.6", "f", "", LODE_IMAGE_FILE},
		{"/home/me/program", "runtime.other", "system-call service-random",
			LODE_IMAGE_FILE},
		{"/home/me/program", "malloc", "", LODE_IMAGE_FILE},
		{"[kernel]", "f", "", LODE_IMAGE_KERNEL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		g_autoptr(GString) causes = g_string_new(NULL);
		lode_profile_image(profile, 0)->path = lode_profile_intern(profile, cases[i].path);
		lode_profile_image(profile, 0)->kind = cases[i].kind;
		code_profile_function(profile, cases[i].function);
		code_profile_add(profile, "kind:div", 1000);
		code_profile_add(profile, "kind:syscall", 500);
		code_profile_add(profile, "op:rdseed", 400);
		code_profile_add(profile, "op:nop", 10);
		code_profile_finish(profile);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, 1);
		for (guint k = 0; k < all->diagnoses->len; k++)
			g_string_append_printf(
				causes, "%s%s", k > 0 ? " " : "", lode_diagnoses_at(all, k)->cause);
		g_assert_cmpstr(causes->str, ==, cases[i].causes);
	}
}

/* --- evidence --- */

static void test_rest_of_loop(void)
{
	static const struct {
		double ns, recurrence, other;
		const char *cause;
		double rest;
	} cases[] = {
		{2.5, 5, 6, "recurrence-fp", 0.5 * 6 / 10},
		{2.5, 5, 2, "pointer-chase", 0.5 * 4 / 10},
		{2.5, 5, 6, "division", 0.5 * 3 / 10},
		{2.5, 5, 6, "cache-miss", 0.5 * 4 / 10},
		{2.5, 10.5, 8, "recurrence-fp", 0.5 * 8 / 10.5},
		{2.5, 50, 40, "recurrence-fp", 0.5 * 4 / 10}, /* above the time */
		{-1, 12, 6, "false-dependence", 0.5 * 6 / 12},
		{-1, 12, 6, "cache-miss", 0},
		{-1, -1, -1, "recurrence-fp", 0},
	};
	g_autoptr(LodeProfile) profile = code_profile_new();
	g_auto(CodeContext) context;

	profile->run.cycles_per_ns = 4;
	code_profile_finish(profile);
	code_context_init(&context, profile);
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeLoop loop = {.recurrence_cycles = cases[i].recurrence,
			.other_cycles = cases[i].other,
			.iteration_ns = cases[i].ns,
			.cycles = {[LODE_UNIT_DIVIDER] = 4,
				[LODE_UNIT_LOAD] = 2,
				[LODE_UNIT_WIDTH] = 3}};
		g_assert_cmpfloat_with_epsilon(
			lode_rest_of_loop(code, &loop, cases[i].cause), cases[i].rest, 1e-12);
	}
}

/* A loop of two instructions, the second of which windows have seen so; one more follows. */
static LodeProfile *loop_new(const LodeObservedInstruction *seen)
{
	LodeProfile *profile = code_profile_new();

	code_profile_function(profile, "f");
	code_profile_block(profile, 1, true);
	code_profile_add(profile, "op:nop", 40);
	code_profile_add(profile, "op:nop", 20);
	code_profile_add(profile, "op:nop", 40);
	made_fall(profile, 0, 10);
	made_edge(profile, 1, 0, LODE_EDGE_TAKEN, 9);
	code_profile_finish(profile);
	profile->run.cycles_per_ns = 4;
	profile->run.rates.read[LODE_RATE_MEMORY] = 10;
	profile->run.rates.write[LODE_RATE_MEMORY] = 5;
	profile->windows = lode_windows_new();
	g_array_append_vals(profile->windows->instructions, seen, 1);
	LodeLoop *loop = lode_loops_add(profile, 0);
	loop->recurrence_cycles = 7;
	loop->cycles[LODE_UNIT_ALU] = 3;
	loop->load_bytes = 16;
	loop->store_bytes = 8;
	return profile;
}

/* The lines, one after the other, of a diagnosis of instructions 0 and 1 of a loop, and those of
 * what is ruled out. */
static char *evidence(const LodeProfile *profile, const char *cause, double weight, double base)
{
	g_auto(CodeContext) context;
	GString *out = g_string_new(NULL);

	code_context_init(&context, profile);
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	g_autoptr(LodeDiagnosis) one = lode_diagnosis_new(cause, LODE_SCOPE_FUNCTION);
	for (uint32_t i = 0; i < 2; i++) {
		const LodeFindingPlace place = {i, weight_at(profile, i)};
		g_array_append_val(one->at, place);
	}
	one->places = 2;
	lode_place_evidence_add(one, code, weight, base);
	for (guint i = 0; i < one->evidence->len; i++)
		g_string_append_printf(
			out, "%s\n", g_array_index(one->evidence, LodeEvidence, i).text);
	for (guint i = 0; i < one->ruled_out->len; i++)
		g_string_append_printf(out, "no %s\n", (const char *)one->ruled_out->pdata[i]);
	return g_string_free(out, FALSE);
}

/* The limit has 1.5 times the other bounds, and 85 % of the time where that is known. */
static void test_limit_of_loop(void)
{
	static const struct {
		double ns, recurrence, other, divider, width;
		const char *other_kind, *cause;
		bool is_limit;
	} cases[] = {
		{-1, 6, 0, 0, 4, NULL, "recurrence-fp", true},
		{-1, 5.9, 0, 0, 4, NULL, "recurrence-fp", false},
		{-1, 6, 4.1, 0, 1, "load", "recurrence-fp", false},
		{-1, 6, 6, 0, 1, "fp", "recurrence-fp", true},
		{1, 3.5, 0, 0, 1, NULL, "pointer-chase", true},
		{1, 3.3, 0, 0, 1, NULL, "pointer-chase", false},
		{-1, 6, 0, 0, 1, NULL, "cache-miss", false},
		{-1, 9, 9, 6, 4, NULL, "division", true},
		{-1, 9, 9, 5.9, 4, NULL, "square-root", false},
		{2, 9, 9, 6.7, 4, NULL, "division", false},
		{-1, 9, 0, 0, 0, NULL, "division", false},
	};
	g_autoptr(LodeProfile) profile = code_profile_new();
	g_auto(CodeContext) context;

	profile->run.cycles_per_ns = 4;
	code_profile_finish(profile);
	code_context_init(&context, profile);
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeLoop loop = {.recurrence = (char *)"fp",
			.recurrence_cycles = cases[i].recurrence,
			.other_recurrence = (char *)cases[i].other_kind,
			.other_cycles = cases[i].other,
			.iteration_ns = cases[i].ns,
			.cycles = {[LODE_UNIT_DIVIDER] = cases[i].divider,
				[LODE_UNIT_WIDTH] = cases[i].width}};
		g_assert_true(
			lode_is_limit_of_loop(code, &loop, cases[i].cause) == cases[i].is_limit);
	}
}

static void test_evidence(void)
{
#define AROUND "60.0 % of the time at 2 such instructions, 3 × those around\n"
	static const struct {
		const char *cause;
		double base, ns;
		const char *text;
	} cases[] = {
		{"division", 20, 2, AROUND},
		{"division", 0.3, 2,
			"60.0 % of the time at 2 such instructions, next to none at those "
			"around\n"},
		{"division", 0, 2,
			"60.0 % of the time at 2 such instructions, next to none at those "
			"around\n"},
		{"recurrence-fp", 20, 2,
			"an iteration takes 8 cycles, waits 7 for the one before; else 3\n" AROUND},
		{"recurrence-fp", 20, -1,
			"an iteration waits 7 cycles or more for the one before; else it needs "
			"3\n" AROUND},
		{"store-bound", 20, 2,
			"it stores 4 bytes per ns; memory takes one thread 5 as measured\n" AROUND},
		{"memory-bandwidth", 20, 2,
			"it moves 12 bytes per ns; memory gives one thread 10 or more, as "
			"measured\n" AROUND},
		{"memory-bandwidth", 20, -1, AROUND},
		{"branch-mispredict", 20, 2,
			"12 % ± 2 of 200 outcomes are not foretold by those before "
			"(windows)\n" AROUND},
		{"denormal", 20, 2,
			"25 % ± 2 of 400 operations have a denormal operand or result "
			"(windows)\n" AROUND},
	};
	const LodeObservedInstruction seen = {.instruction = 1,
		.outcomes = 200,
		.unforetold = 24,
		.steps = 400,
		.denormals = 100,
		.underflows = 3};
	g_autoptr(LodeProfile) profile = loop_new(&seen);
	LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, 0);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		loop->iteration_ns = cases[i].ns;
		g_autofree char *text = evidence(profile, cases[i].cause, 60, cases[i].base);
		g_assert_cmpstr(text, ==, cases[i].text);
	}
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 0).outcomes = 99;
	g_autofree char *few = evidence(profile, "branch-mispredict", 60, 20);
	g_assert_cmpstr(few, ==, AROUND);
	loop->recurrence_cycles = 3; /* as long as its work */
	g_autofree char *none = evidence(profile, "recurrence-fp", 60, 20);
	g_assert_cmpstr(none, ==, AROUND);
}

/* Where few outcomes were judged, how often two of a branch differ. */
static void test_differing_outcomes(void)
{
	const LodeObservedInstruction seen = {.instruction = 1, .steps = 100, .outcomes = 99};
	const LodeObservedEdge ways[] = {{1, 0, 60, 1}, {1, 2, 40, 1}};
	g_autoptr(LodeProfile) profile = loop_new(&seen);

	g_array_append_vals(profile->windows->edges, ways, G_N_ELEMENTS(ways));
	g_autofree char *text = evidence(profile, "branch-mispredict", 60, 20);
	g_assert_cmpstr(text, ==,
		"of two outcomes drawn at random, 48 % ± 5 differ (windows, of 100)\n" AROUND);
	LODE_AT(profile->windows->edges, LodeObservedEdge, 0).steps = 59;
	g_autofree char *few = evidence(profile, "branch-mispredict", 60, 20);
	g_assert_cmpstr(few, ==, AROUND);
}

/* Causes that windows would have seen: each only with enough cases, next to no hits, and where it
 * is not the diagnosis itself. */
static void test_ruled_out(void)
{
#define FORETOLD "no mispredictions: 99.5 % of 1000 outcomes foretold (windows)\n"
#define NO_CONFLICT "no conflicts in the first level: none of 500 (windows)\n"
#define NO_SPLIT "no accesses across a border of lines: 0.4 % of 500 (windows)\n"
	static const struct {
		const char *cause, *text;
	} cases[] = {
		{"working-set", AROUND FORETOLD NO_CONFLICT NO_SPLIT},
		{"branch-mispredict", AROUND NO_CONFLICT NO_SPLIT},
		{"conflict-miss", AROUND FORETOLD NO_SPLIT},
		{"split-access", AROUND FORETOLD NO_CONFLICT},
		{"square-root", AROUND
			"no denormals: none in 500 operations (windows)\n" FORETOLD NO_CONFLICT
				NO_SPLIT},
	};
	const LodeObservedInstruction seen = {.instruction = 1,
		.steps = 500,
		.outcomes = 1000,
		.unforetold = 5,
		.accesses = 500,
		.split = 2,
		.loads.stored = 500,
		.loads.part_stored = 10}; /* 2 %, and as likely more */
	g_autoptr(LodeProfile) profile = loop_new(&seen);
	LodeObservedInstruction *one = &LODE_AT(
		profile->windows->instructions, LodeObservedInstruction, 0);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = evidence(profile, cases[i].cause, 60, 20);
		g_assert_cmpstr(text, ==, cases[i].text);
	}
	one->accesses = 99;
	one->denormals = 1;
	g_autofree char *few = evidence(profile, "square-root", 60, 20);
	g_assert_cmpstr(few, ==, AROUND FORETOLD);
	/* As many outcomes again were not judged, and may be mispredicted. */
	const LodeObservedEdge ways[] = {{1, 0, 1500, 1}, {1, 2, 500, 1}};
	g_array_append_vals(profile->windows->edges, ways, G_N_ELEMENTS(ways));
	g_autofree char *unjudged = evidence(profile, "square-root", 60, 20);
	g_assert_cmpstr(unjudged, ==, AROUND);
}

/* In a loop: its scope, and no more saved than its other bounds leave. */
static void test_loop(void)
{
	g_autoptr(LodeProfile) profile = code_profile_new();

	code_profile_function(profile, "f");
	code_profile_block(profile, 1, true);
	code_profile_add(profile, "kind:div", 700);
	code_profile_add(profile, "op:nop", 50);
	made_fall(profile, 0, 10);
	made_edge(profile, 1, 0, LODE_EDGE_TAKEN, 9);
	code_profile_block(profile, 0, false);
	code_profile_add(profile, "op:nop", 250);
	code_profile_finish(profile);
	profile->run.cycles_per_ns = 4;
	LodeLoop *loop = lode_loops_add(profile, 0);
	loop->iteration_ns = 2.5;
	loop->cycles[LODE_UNIT_WIDTH] = 8;
	g_autoptr(LodeDiagnoses) all = diagnose(profile, 1);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpint(one->scope, ==, LODE_SCOPE_LOOP);
	g_assert_cmpfloat_with_epsilon(one->time, 0.65, 1e-9);
	g_assert_cmpfloat_with_epsilon(one->high, 0.75 * (1 - 0.5 * 8 / 10), 1e-9);
	g_assert_cmpfloat_with_epsilon(one->low, 0.6 * least_time(one), 1e-9);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/place_diagnoses/random", test_random);
	g_test_add_func("/place_diagnoses/uniform", test_uniform);
	g_test_add_func("/place_diagnoses/few_others", test_few_others);
	g_test_add_func("/place_diagnoses/left_out", test_left_out);
	g_test_add_func("/place_diagnoses/rest_of_loop", test_rest_of_loop);
	g_test_add_func("/place_diagnoses/limit_of_loop", test_limit_of_loop);
	g_test_add_func("/place_diagnoses/evidence", test_evidence);
	g_test_add_func("/place_diagnoses/differing_outcomes", test_differing_outcomes);
	g_test_add_func("/place_diagnoses/ruled_out", test_ruled_out);
	g_test_add_func("/place_diagnoses/loop", test_loop);
	return g_test_run();
}
