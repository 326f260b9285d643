/* SPDX-License-Identifier: MIT */
/* Diagnoses of services, on profiles made by hand. */
#include "analyses/diagnoses/service_diagnoses.h"
#include "model/findings.h"
#include "model/observed/windows.h"
#include "model/stacks.h"

#include "../calls/called_profile.h"
#include "code_profile.h"

#include <math.h>
#include <string.h>

#define OWN "/home/me/program"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

#define SQLITE "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6"
#define NODE "/usr/bin/node"
#define JVM "/usr/lib/jvm/java-17/lib/server/libjvm.so"

enum {
	MAIN,
	WORK,
	STRLEN,
	STRCMP,
	MALLOC,
	FREE,
	QSORT,
	MEMSET,
	KERNEL,
	SPLIT,
	PARSE,
	WRITE,
	STEP,
	NEXT,
	NUMBER,
	TRACE,
	COLLECT,
	ALLOCATE,
	N_FUNCTIONS
};

static const CalledFunction known[N_FUNCTIONS] = {
	[MAIN] = {"main", OWN, "main.c", 40},
	[WORK] = {"work(int)", OWN, "work.c", 12},
	[STRLEN] = {"__strlen_avx2", LIBC, NULL, 0},
	[STRCMP] = {"__strcmp_avx2", LIBC, NULL, 0},
	[MALLOC] = {"malloc", LIBC, NULL, 0},
	[FREE] = {"free", LIBC, NULL, 0},
	[QSORT] = {"qsort", LIBC, NULL, 0},
	[MEMSET] = {"__memset_avx2_unaligned", LIBC, NULL, 0},
	[KERNEL] = {"do_user_addr_fault", "[kernel]", NULL, 0},
	[SPLIT] = {"PhaseChaitin::Split(unsigned int)", JVM, NULL, 0},
	[STEP] = {"sqlite3_step", SQLITE, NULL, 0},
	[NEXT] = {"sqlite3BtreeNext", SQLITE, NULL, 0},
	[NUMBER] = {"jdk.internal.math.FloatingDecimal.parseDouble(java.lang.String)",
		"/tmp/jit-7.dump", NULL, 0},
	[TRACE] = {"java_lang_Throwable::fill_in_stack_trace(Handle)", JVM, NULL, 0},
	[COLLECT] = {"GangWorker::run()", JVM, NULL, 0},
	[ALLOCATE] = {"OptoRuntime::new_instance_C(Klass*, JavaThread*)", JVM, NULL, 0},
	[PARSE] = {"v8::internal::Builtin_JsonParse(int)", NODE, NULL, 0},
	[WRITE] = {"v8::internal::Builtin_JsonStringify(int)", NODE, NULL, 0},
};

/* The instruction of work has the attributes. */
static LodeProfile *profile_new(const char *const *attributes, size_t n_attributes)
{
	LodeProfile *profile = called_profile_new(known, N_FUNCTIONS);
	uint32_t ids[8];

	profile->stacks = lode_stacks_new();
	profile->stacks->has_chains = true;
	for (size_t i = 0; i < n_attributes; i++)
		ids[i] = lode_profile_attribute(profile, attributes[i]);
	lode_profile_instruction(profile, WORK)->attribute_set = lode_profile_attribute_set(
		profile, ids, n_attributes);
	return profile;
}

static LodeDiagnoses *diagnose(
	const LodeProfile *profile, const LodeFindings *findings, double user)
{
	g_auto(CodeContext) context;
	LodeDiagnoses *out = lode_diagnoses_new();

	code_context_init(&context, profile);
	context.context.findings = findings;
	context.context.user = user;
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	lode_service_diagnoses_add(out, code);
	return out;
}

/* malloc and free are one; strcmp that qsort calls back is no part of qsort; the kernel none. */
static void test_example(void)
{
	LodeProfile *profile = profile_new(NULL, 0);
	uint32_t in_main = add_stack(profile, MAIN, 40, LODE_NONE);
	uint32_t other = add_stack(profile, MAIN, 41, LODE_NONE);
	uint32_t in_work = add_stack(profile, WORK, 12, in_main);
	uint32_t sort = add_stack(profile, QSORT, 0, other);
	uint32_t compare = add_stack(profile, WORK, 8, sort);
	uint32_t taken = add_stack(profile, MALLOC, 0, in_work);

	add_samples(profile, taken, 200);
	add_samples(profile, add_stack(profile, FREE, 0, other), 100);
	add_samples(profile, add_stack(profile, KERNEL, 0, taken), 100);
	add_samples(profile, sort, 50);
	add_samples(profile, add_stack(profile, STRCMP, 0, compare), 150);
	add_samples(profile, compare, 200);
	add_samples(profile, add_stack(profile, MEMSET, 0, in_work), 10);
	add_samples(profile, in_main, 190);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
	g_assert_cmpuint(all->diagnoses->len, ==, 3);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "service-allocator");
	g_assert_cmpstr(one->title, ==, "memory allocation: malloc and free");
	g_assert_cmpstr(one->name, ==, "service-allocator@allocator");
	g_assert_cmpstr(one->service, ==, "allocator");
	g_assert_cmpint(one->scope, ==, LODE_SCOPE_SERVICE);
	g_assert_cmpstr(one->site.file, ==, "work.c");
	g_assert_cmpuint(one->site.line, ==, 12);
	g_assert_cmpstr(one->site.function, ==, "work(int)");
	g_assert_cmpfloat_with_epsilon(one->time, 0.3, 1e-9);
	g_assert_cmpfloat_with_epsilon(one->time_error, sqrt(.3 * .7 / 1000), 1e-9);
	/* in 8 of 10 pairs 0.75 to 2.4 times what the rule says */
	g_assert_cmpfloat_with_epsilon(one->low, 0.75 * 0.95 * least_time(one), 1e-9);
	g_assert_cmpfloat_with_epsilon(one->high, 2.4 * 0.95 * most_time(one), 1e-9);
	g_assert_cmpuint(one->places, ==, 2);
	g_assert_cmpuint(one->functions, ==, 2);
	g_assert_cmpstr(evidence_at(one, 0), ==, "30.0 % of the time with all that they call");
	g_assert_cmpstr(evidence_at(one, 1), ==,
		"67 % of it is called from work.c:12 in work; 2 functions call");
	g_assert_null(evidence_at(one, 2));
	one = lode_diagnoses_at(all, 1);
	g_assert_cmpstr(one->cause, ==, "service-string");
	g_assert_cmpstr(one->service, ==, "strcmp");
	g_assert_cmpstr(one->name, ==, "service-string@comparing");
	g_assert_cmpfloat_with_epsilon(one->time, 0.15, 1e-9);
	one = lode_diagnoses_at(all, 2);
	g_assert_cmpstr(one->cause, ==, "service-sort");
	g_assert_cmpfloat_with_epsilon(one->time, 0.05, 1e-9);
	lode_profile_free(profile);
}

static LodeProfile *strlen_profile(const char *const *attributes, size_t n)
{
	LodeProfile *profile = profile_new(attributes, n);
	uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);

	add_samples(profile, add_stack(profile, STRLEN, 0, in_work), 60);
	add_samples(profile, in_work, 40);
	return profile;
}

/* Called in a loop; with arguments that the loop does not change. */
static void test_loops(void)
{
	static const char *const call[] = {"kind:call", "loop:1", "repeats:unchanged"};
	LodeProfile *profile = strlen_profile(call, 1);

	g_autoptr(LodeDiagnoses) outside = diagnose(profile, NULL, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(outside, 0);
	g_assert_cmpstr(one->title, ==, "strlen");
	g_assert_cmpuint(one->site.instruction, ==, WORK);
	g_assert_cmpuint(one->at->len, ==, 1);
	lode_profile_free(profile);

	profile = strlen_profile(call, 2);
	g_autoptr(LodeDiagnoses) inside = diagnose(profile, NULL, 1);
	one = lode_diagnoses_at(inside, 0);
	g_assert_cmpstr(one->cause, ==, "service-string");
	g_assert_cmpstr(one->title, ==, "strlen, called in a loop");
	g_assert_cmpstr(evidence_at(one, 2), ==, "100 % of it is called in loops");
	lode_profile_free(profile);

	profile = strlen_profile(call, 3);
	g_autoptr(LodeDiagnoses) unchanged = diagnose(profile, NULL, 0.5);
	one = lode_diagnoses_at(unchanged, 0);
	g_assert_cmpstr(one->cause, ==, "repeated-work");
	g_assert_cmpstr(one->name, ==, "repeated-work@strlen");
	g_assert_cmpstr(evidence_at(one, 2), ==,
		"100 % of it is called in loops that do not change the arguments");
	g_assert_cmpfloat_with_epsilon(one->time, 0.3, 1e-9);
	g_assert_cmpfloat_with_epsilon(one->high, 2.4 * most_time(one), 1e-9);
	lode_profile_free(profile);

	/* The call at the line is of another function. */
	profile = strlen_profile(call, 3);
	const LodeEdge edge = {WORK, MALLOC, LODE_EDGE_CALL, 1};
	g_array_append_val(profile->code.edges, edge);
	g_autoptr(LodeDiagnoses) other = diagnose(profile, NULL, 1);
	one = lode_diagnoses_at(other, 0);
	g_assert_cmpstr(one->title, ==, "strlen");
	g_assert_cmpuint(one->site.instruction, ==, LODE_NONE);
	lode_profile_free(profile);
}

/* What helps depends on which of a diagnosis's functions run: one of two, or both. */
static void test_alone(void)
{
	static const struct {
		uint32_t parsed, written;
		const char *remedy; /* its beginning */
	} cases[] = {
		{70, 10, "Parse once"}, {10, 70, "Write it only"}, {40, 40, "In place of a copy"}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = profile_new(NULL, 0);
		uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
		add_samples(profile, add_stack(profile, PARSE, 0, in_work), cases[i].parsed);
		add_samples(profile, add_stack(profile, WRITE, 0, in_work), cases[i].written);
		add_samples(profile, in_work, 20);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->name, ==, "service-builtin@JSON");
		g_assert_true(g_str_has_prefix(one->remedy, cases[i].remedy));
		lode_profile_free(profile);
	}
}

/* A service that calls nothing is not said to. */
static void test_leaf(void)
{
	static const struct {
		double self;
		const char *text;
	} cases[] = {
		{600, "60.0 % of the time"}, {300, "60.0 % of the time with all that it calls"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = strlen_profile(NULL, 0);
		const LodeCost cost = {0, cases[i].self};
		for (guint k = STRLEN + 1; k < profile->code.cost_starts->len; k++)
			LODE_AT(profile->code.cost_starts, uint32_t, k) = 1;
		g_array_append_val(profile->code.costs, cost);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		g_assert_cmpstr(evidence_at(lode_diagnoses_at(all, 0), 0), ==, cases[i].text);
		lode_profile_free(profile);
	}
}

/* What a library does decides whether it is what its rule says. */
static void test_where(void)
{
	static const uint32_t nexts[] = {1, 10};

	for (guint i = 0; i < G_N_ELEMENTS(nexts); i++) {
		LodeProfile *profile = profile_new(NULL, 0);
		const LodeCost cost = {0, 10 * nexts[i]};
		for (guint k = NEXT + 1; k < profile->code.cost_starts->len; k++)
			LODE_AT(profile->code.cost_starts, uint32_t, k) = 1;
		g_array_append_val(profile->code.costs, cost);
		uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
		uint32_t step = add_stack(profile, STEP, 0, in_work);
		add_samples(profile, step, 80);
		add_samples(profile, add_stack(profile, NEXT, 0, step), nexts[i]);
		add_samples(profile, in_work, 20);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		g_assert_cmpuint(all->diagnoses->len, ==, i);
		if (i > 0)
			g_assert_cmpstr(
				lode_diagnoses_at(all, 0)->name, ==, "linear-search@SQLite");
		lode_profile_free(profile);
	}
}

/* What a library's function throws is the cause where that takes much of its time. */
static void test_inside(void)
{
	static const struct {
		uint32_t thrown;
		const char *cause;
	} cases[] = {{2, "service-stdio"}, {30, "service-exception"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = profile_new(NULL, 0);
		const LodeCost cost = {0, 10 * cases[i].thrown};
		for (guint k = TRACE + 1; k < profile->code.cost_starts->len; k++)
			LODE_AT(profile->code.cost_starts, uint32_t, k) = 1;
		g_array_append_val(profile->code.costs, cost);
		uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
		uint32_t number = add_stack(profile, NUMBER, 0, in_work);
		add_samples(profile, number, 80 - cases[i].thrown);
		add_samples(profile, add_stack(profile, TRACE, 0, number), cases[i].thrown);
		add_samples(profile, in_work, 20);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, cases[i].cause);
		lode_profile_free(profile);
	}
}

/* What is collected was made elsewhere: the line that asks for most new space is the place. */
static void test_makers(void)
{
	LodeProfile *profile = profile_new(NULL, 0);
	uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE),
		 other = add_stack(profile, WORK, 17, LODE_NONE);

	add_samples(profile, add_stack(profile, COLLECT, 0, LODE_NONE), 40);
	add_samples(profile, add_stack(profile, ALLOCATE, 0, other), 1);
	add_samples(profile, add_stack(profile, ALLOCATE, 0, in_work), 3);
	add_samples(profile, in_work, 56);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
	bool is_found = false;
	for (guint i = 0; i < all->diagnoses->len; i++) {
		const LodeDiagnosis *one = lode_diagnoses_at(all, i);
		if (strcmp(one->cause, "service-gc") != 0)
			continue;
		is_found = true;
		g_assert_cmpuint(one->site.line, ==, 12);
		g_assert_nonnull(one->site.function);
	}
	g_assert_true(is_found);
	lode_profile_free(profile);
}

/* A service that is inlined has its code in the caller. */
static void test_inlined(void)
{
	static const char function[] = "std::_Hashtable<int, int>::find(int const&)";
	static const char file[] = "/usr/include/c++/12/bits/hashtable.h";
	LodeProfile *profile = profile_new(NULL, 0);
	LodeInstruction *work = lode_profile_instruction(profile, WORK);
	const LodeCost cost = {0, 600};
	uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
	uint32_t inside = add_stack(profile, WORK, 7, in_work);

	lode_profile_set_inlining(
		profile, WORK, lode_profile_inlining(profile, work->location, LODE_NONE));
	work->location = lode_profile_location(profile, file, 7, function);
	for (guint i = WORK + 1; i < profile->code.cost_starts->len; i++)
		LODE_AT(profile->code.cost_starts, uint32_t, i) = 1;
	g_array_append_val(profile->code.costs, cost);
	LodeFrame *frame = &LODE_AT(profile->stacks->frames, LodeFrame, inside);
	frame->function = lode_profile_intern(profile, function);
	frame->file = lode_profile_intern(profile, file);
	frame->is_inlined = true;
	add_samples(profile, inside, 60);
	add_samples(profile, in_work, 40);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->name, ==, "service-hash@hashing");
	g_assert_cmpstr(one->title, ==, "hash tables: std::_Hashtable::find");
	g_assert_true(one->is_inlined);
	g_assert_cmpfloat_with_epsilon(one->time, 0.6, 1e-9);
	g_assert_cmpuint(one->site.instruction, ==, WORK);
	g_assert_cmpuint(one->at->len, ==, 1);
	g_assert_cmpfloat_with_epsilon(g_array_index(one->at, LodeFindingPlace, 0).time, 0.6, 1e-9);
	lode_profile_free(profile);
}

static LodeFrame *frame_of(LodeProfile *profile, uint32_t stack)
{
	const LodeStack *one = &LODE_AT(profile->stacks->stacks, LodeStack, stack);

	return &LODE_AT(profile->stacks->frames, LodeFrame, one->frame);
}

/* The function that calls is inlined in another: its line is there. */
static void test_inlined_caller(void)
{
	static const char *const call[] = {"kind:call"};
	LodeProfile *profile = profile_new(call, 1);
	uint32_t in_main = add_stack(profile, MAIN, 40, LODE_NONE);
	uint32_t inside = add_stack(profile, WORK, 12, in_main);

	frame_of(profile, inside)->function = lode_profile_intern(profile, "number");
	frame_of(profile, inside)->is_inlined = true;
	add_samples(profile, add_stack(profile, STRLEN, 0, inside), 60);
	add_samples(profile, in_main, 40);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->site.function, ==, "number");
	g_assert_cmpuint(one->site.line, ==, 12);
	g_assert_cmpuint(one->at->len, ==, 1);
	g_assert_cmpuint(g_array_index(one->at, LodeFindingPlace, 0).instruction, ==, WORK);
	lode_profile_free(profile);
}

/* A program without lines, but for those of the library of its language. */
static void test_without_lines(void)
{
	static const char *const call[] = {"kind:call"};
	static const char library[] = "/rustc/0123456789abcdef/library/std/src/rt.rs";
	LodeProfile *profile = profile_new(call, 1);
	uint32_t start = add_stack(profile, MAIN, 40, LODE_NONE);
	uint32_t in_work = add_stack(profile, WORK, 12, start);

	frame_of(profile, start)->file = lode_profile_intern(profile, library);
	frame_of(profile, in_work)->file = NULL;
	lode_profile_instruction(profile, WORK)->location = LODE_NONE;
	add_samples(profile, add_stack(profile, STRLEN, 0, in_work), 60);
	add_samples(profile, start, 40);
	g_autoptr(LodeDiagnoses) unknown = diagnose(profile, NULL, 1);
	g_assert_cmpstr(lode_diagnoses_at(unknown, 0)->site.function, ==, "work(int)");
	g_assert_cmpuint(lode_diagnoses_at(unknown, 0)->at->len, ==, 0);

	const LodeEdge edge = {WORK, STRLEN, LODE_EDGE_CALL, 1};
	g_array_append_val(profile->code.edges, edge);
	g_autoptr(LodeDiagnoses) known_call = diagnose(profile, NULL, 1);
	g_assert_cmpuint(lode_diagnoses_at(known_call, 0)->at->len, ==, 1);
	lode_profile_free(profile);
}

/* Names are without parameters and template arguments, each once. */
static void test_names(void)
{
	static const struct {
		const char *functions[2], *title;
	} cases[] = {
		{{"operator new(unsigned long)", "operator new(unsigned long, std::align_val_t)"},
			"memory allocation: operator new"},
		{{"hashbrown::rustc_entry::<impl hashbrown::map::HashMap<K,V>>::rustc_entry",
			 "hashbrown::rustc_entry::<impl "
			 "hashbrown::map::HashMap<A,B>>::rustc_entry"},
			"hash tables: rustc_entry::rustc_entry"},
		{{"java.util.stream.AbstractPipeline.<init>(Object)",
			 "java.util.stream.AbstractPipeline.<init>(int)"},
			"streams of Java: java.util.stream.AbstractPipeline.<init>"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = profile_new(NULL, 0);
		uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
		for (guint k = 0; k < 2; k++) {
			uint32_t stack = add_stack(profile, k == 0 ? MALLOC : FREE, 0, in_work);
			frame_of(profile, stack)->function = lode_profile_intern(
				profile, cases[i].functions[k]);
			add_samples(profile, stack, 30);
		}
		add_samples(profile, in_work, 40);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==, cases[i].title);
		lode_profile_free(profile);
	}
}

/* What the interpreter allocates for a script's line is of its steps: nobody can move it out of the
 * script's loop. */
static void test_in_script(void)
{
	for (unsigned is_script = 0; is_script < 2; is_script++) {
		LodeProfile *profile = profile_new(NULL, 0);
		uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
		for (guint i = 0; is_script && i < profile->code.images->len; i++)
			if (strcmp(lode_profile_image(profile, i)->path, LIBC) != 0)
				lode_profile_image(profile, i)->kind = LODE_IMAGE_PERL;
		add_samples(profile, add_stack(profile, MALLOC, 0, in_work), 60);
		add_samples(profile, in_work, 40);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		g_assert_cmpuint(all->diagnoses->len, ==, is_script ? 0 : 1);
		if (!is_script)
			g_assert_cmpstr(
				lode_diagnoses_at(all, 0)->title, ==, "memory allocation: malloc");
		lode_profile_free(profile);
	}
}

/* Who calls a twentieth of it says nothing of the rest in code that Java has compiled. */
static void test_unknown(void)
{
	for (unsigned is_compiled = 0; is_compiled < 2; is_compiled++) {
		LodeProfile *profile = profile_new(NULL, 0);
		uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);
		if (is_compiled) /* the image of the service */
			for (guint i = 0; i < profile->code.images->len; i++)
				if (strcmp(lode_profile_image(profile, i)->path, LIBC) == 0)
					lode_profile_image(profile, i)->kind = LODE_IMAGE_JIT;
		add_samples(profile, add_stack(profile, STRLEN, 0, in_work), 20);
		add_samples(profile, add_stack(profile, STRLEN, 0, LODE_NONE), 380);
		add_samples(profile, in_work, 400);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpfloat_with_epsilon(one->time, 0.5, 1e-9);
		g_assert_cmpstr(one->site.function, ==, is_compiled ? NULL : "work(int)");
		g_assert_cmpuint(one->site.line, ==, is_compiled ? 0 : 12);
		g_assert_cmpstr(evidence_at(one, 1), ==, "the callers are not known");
		lode_profile_free(profile);
	}
}

/* What clears new arrays of Java is called by the virtual machine's allocation. */
static void test_new_arrays(void)
{
	static const CalledFunction functions[] = {{"main", OWN, "main.c", 40},
		{"ObjArrayAllocator::initialize(HeapWordImpl**) const", JVM, NULL, 0},
		{"__memset_avx2_unaligned", LIBC, NULL, 0}};
	LodeProfile *profile = called_profile_new(functions, G_N_ELEMENTS(functions));

	profile->stacks = lode_stacks_new();
	profile->stacks->has_tops = true;
	uint32_t make = add_stack(profile, 1, 0, LODE_NONE);
	add_samples(profile, add_stack(profile, 2, 0, make), 300);
	add_samples(profile, add_stack(profile, 2, 0, LODE_NONE), 20);
	add_samples(profile, add_stack(profile, 0, 40, LODE_NONE), 300);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, "service-allocator");
	g_assert_cmpfloat_with_epsilon(lode_diagnoses_at(all, 0)->time, 300.0 / 620, 1e-9);
	g_assert_cmpstr(lode_diagnoses_at(all, 1)->name, ==, "service-string@filling");
	lode_profile_free(profile);
}

/* What has no remedy promises nothing. */
static void test_compiler(void)
{
	LodeProfile *profile = profile_new(NULL, 0);

	add_samples(profile, add_stack(profile, SPLIT, 0, LODE_NONE), 60);
	add_samples(profile, add_stack(profile, MAIN, 40, LODE_NONE), 40);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "service-compiler");
	g_assert_cmpfloat_with_epsilon(one->time, 0.6, 1e-9);
	g_assert_false(lode_diagnosis_saves(one));
	g_assert_cmpfloat(one->low, ==, 0);
	lode_profile_free(profile);
}

#define FINDS                                                                                      \
	"std::_Hashtable<int, std::equal_to<int> >::_M_find_before_node(unsigned long, int "       \
	"const&) const"

/* Half of the time is in a loop that had so many rounds, of which so many were the last. */
static LodeDiagnoses *diagnose_look_ups(
	const char *name, uint32_t rounds, uint32_t exits, bool is_innermost)
{
	const CalledFunction functions[] = {{"work(int)", OWN, "work.c", 12}, {name, OWN, NULL, 0}};
	LodeProfile *profile = called_profile_new(functions, G_N_ELEMENTS(functions));
	LodeInstruction *head = lode_profile_instruction(profile, 1);
	const LodeObservedInstruction seen = {
		.instruction = 1, .loop_rounds = rounds, .loop_exits = exits};
	const LodeBlock block = {
		.function = 1, .address = head->address, .loop_depth = 1, .is_loop_head = true};

	g_array_append_val(profile->code.blocks, block);
	head->block = 0;
	lode_loops_add(profile, 1)->is_innermost = is_innermost;
	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	profile->windows = lode_windows_new();
	g_array_append_val(profile->windows->instructions, seen);
	profile->stacks = lode_stacks_new();
	profile->stacks->has_chains = true;
	uint32_t in_work = add_stack(profile, 0, 12, LODE_NONE);
	add_samples(profile, add_stack(profile, 1, 0, in_work), 60);
	add_samples(profile, in_work, 40);
	made_cost(profile, profile->code.weight_event, 600);
	LodeDiagnoses *all = diagnose(profile, NULL, 1);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	lode_profile_free(profile);
	return all;
}

/* Keys that share a bucket, by the rounds of the loop that goes over its nodes. */
static void test_chains(void)
{
	g_autoptr(LodeDiagnoses) many = diagnose_look_ups(FINDS, 100, 10, true);
	g_autoptr(LodeDiagnoses) endless = diagnose_look_ups(FINDS, 60, 0, true);
	g_autoptr(LodeDiagnoses) few = diagnose_look_ups(FINDS, 100, 60, true);
	g_autoptr(LodeDiagnoses) unknown = diagnose_look_ups(FINDS, 12, 0, true);
	g_autoptr(LodeDiagnoses) outer = diagnose_look_ups(FINDS, 100, 10, false);
	g_autoptr(LodeDiagnoses)
		other = diagnose_look_ups("std::_Hashtable<int>::clear()", 1000, 10, true);
	const LodeDiagnosis *one = lode_diagnoses_at(many, 0);

	g_assert_cmpstr(one->cause, ==, "colliding-keys");
	g_assert_cmpstr(one->name, ==, "colliding-keys@hashing");
	g_assert_true(g_str_has_prefix(one->remedy, "Mix all bits of the key"));
	g_assert_cmpstr(evidence_at(one, 0), ==,
		"a look-up goes over 10 keys of its bucket on average (windows); with a good "
		"hash, "
		"over two at most");
	g_assert_true(g_str_has_prefix(evidence_at(lode_diagnoses_at(endless, 0), 0),
		"a look-up goes over 20 or more keys"));
	/* The comparison of keys has a loop. */
	g_assert_true(g_str_has_prefix(evidence_at(lode_diagnoses_at(outer, 0), 0),
		"a look-up goes over 10 or more keys"));
	g_assert_cmpstr(lode_diagnoses_at(few, 0)->cause, ==, "service-hash");
	g_assert_cmpstr(lode_diagnoses_at(unknown, 0)->cause, ==, "service-hash");
	g_assert_cmpstr(lode_diagnoses_at(other, 0)->cause, ==, "service-hash");
}

/* What a copy that the compiler made allocates is its callers', by how often they call it. */
static void test_copies(void)
{
	static const CalledFunction functions[] = {{"main", OWN, "main.cc", 40},
		{"work(Board)", OWN, "work.cc", 12}, {"Board::Board(Board const&)", OWN, "b.hh", 3},
		{"operator new(unsigned long)", LIBC, NULL, 0},
		{"operator delete(void*)", LIBC, NULL, 0}};
	enum { BY_MAIN, BY_WORK, COPY, MAKE, END };
	const LodeEdge edges[] = {{BY_MAIN, COPY, LODE_EDGE_CALL, 1},
		{BY_WORK, COPY, LODE_EDGE_CALL, 3}, {COPY, MAKE, LODE_EDGE_CALL, 4}};

	for (unsigned is_other = 0; is_other < 2; is_other++) {
		LodeProfile *profile = called_profile_new(functions, G_N_ELEMENTS(functions));
		profile->stacks = lode_stacks_new();
		profile->stacks->has_tops = true;
		g_array_append_vals(profile->code.edges, edges, G_N_ELEMENTS(edges));
		uint32_t copy = add_stack(profile, COPY, 3, LODE_NONE);
		uint32_t by_main = add_stack(profile, BY_MAIN, 40, LODE_NONE);
		add_samples(profile, add_stack(profile, MAKE, 0, copy), 200);
		add_samples(profile, add_stack(profile, END, 0, by_main), 100);
		add_samples(profile, add_stack(profile, MAKE, 0, by_main), is_other ? 300 : 100);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(one->cause, ==, "service-allocator");
		g_assert_cmpstr(one->name, ==,
			is_other ? "service-allocator@allocator"
				 : "service-allocator@copies of objects");
		if (is_other) {
			g_assert_cmpuint(one->site.line, ==, 40);
			g_assert_true(g_str_has_prefix(one->title, "memory allocation: "));
		} else {
			g_assert_cmpuint(one->site.line, ==, 12);
			g_assert_true(
				g_str_has_prefix(one->title, "copies of objects and containers: "));
			g_assert_cmpstr(evidence_at(one, 0), ==,
				"50 % of it makes copies, 25 % frees blocks");
		}
		/* main's 100, 100 or 300, and 50 of 200; work's are the rest */
		g_assert_cmpuint(one->places, ==, 2);
		g_assert_cmpstr(evidence_at(one, is_other ? 1 : 3), ==,
			is_other
				? "75 % of it is called from main.cc:40 in main; 2 functions call"
				: "38 % of it is called from work.cc:12 in work; 2 functions call");
		lode_profile_free(profile);
	}
}

/* Without a known caller a function is called as where it is known: strings in copies of objects,
 * which end in another line, or by themselves. */
static void test_unknown_copies(void)
{
	static const CalledFunction functions[] = {{"main", OWN, "main.cc", 40},
		{"Board::Board(Board const&)", OWN, "b.hh", 3},
		{"void std::__cxx11::basic_string<char>::_M_construct<char*>(char*, char*)", OWN,
			NULL, 0},
		{"operator delete(void*)", LIBC, NULL, 0}};
	enum { MAKER, COPY, STRING, END };

	for (unsigned is_built = 0; is_built < 2; is_built++) {
		LodeProfile *profile = called_profile_new(functions, G_N_ELEMENTS(functions));
		profile->stacks = lode_stacks_new();
		profile->stacks->has_tops = true;
		uint32_t makes = add_stack(profile, MAKER, 40, LODE_NONE),
			 copy = add_stack(profile, COPY, 3, makes),
			 ends = add_stack(profile, MAKER, 50, LODE_NONE);
		add_samples(profile, add_stack(profile, STRING, 0, is_built ? makes : copy), 100);
		add_samples(profile, add_stack(profile, STRING, 0, LODE_NONE), 300);
		add_samples(profile, add_stack(profile, END, 0, ends), 150);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpuint(all->diagnoses->len, ==, is_built ? 2 : 1);
		g_assert_cmpuint(one->site.line, ==, 40);
		g_assert_cmpstr(one->name, ==,
			is_built ? "service-string@std::string"
				 : "service-allocator@copies of objects");
		if (!is_built)
			g_assert_cmpstr(evidence_at(one, 0), ==,
				"73 % of it makes copies, 27 % frees blocks");
		lode_profile_free(profile);
	}
}

/* Findings that lie in the service. */
static void test_findings(void)
{
	static const LodeFindingPlace places[] = {{STRLEN, 0.5}, {WORK, 0.1}, {WORK, 0.2}};
	const LodeFinding in = {.time = 0.6, .n_places = 2},
			  out = {.time = 0.2, .first_place = 2, .n_places = 1};
	LodeProfile *profile = strlen_profile(NULL, 0);
	g_autoptr(LodeFindings) findings = lode_findings_new();

	g_array_append_vals(findings->places, places, G_N_ELEMENTS(places));
	g_array_append_val(findings->findings, out);
	g_array_append_val(findings->findings, in);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, findings, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpuint(one->findings->len, ==, 1);
	g_assert_cmpuint(g_array_index(one->findings, uint32_t, 0), ==, 1);
	lode_profile_free(profile);
}

/* Too little, too few samples, no stacks, nothing at all. */
static void test_none(void)
{
	LodeProfile *profile = profile_new(NULL, 0);
	uint32_t in_work = add_stack(profile, WORK, 12, LODE_NONE);

	g_autoptr(LodeDiagnoses) nothing = diagnose(profile, NULL, 1);
	g_assert_cmpuint(nothing->diagnoses->len, ==, 0);
	add_samples(profile, add_stack(profile, MALLOC, 0, in_work), 3);
	add_samples(profile, in_work, 57);
	g_autoptr(LodeDiagnoses) uncertain = diagnose(profile, NULL, 1);
	g_assert_cmpuint(uncertain->diagnoses->len, ==, 0);
	add_samples(profile, in_work, 10000);
	g_autoptr(LodeDiagnoses) little = diagnose(profile, NULL, 1);
	g_assert_cmpuint(little->diagnoses->len, ==, 0);
	lode_profile_free(profile);

	profile = profile_new(NULL, 0);
	lode_stacks_free(profile->stacks);
	profile->stacks = NULL;
	g_autoptr(LodeDiagnoses) unknown = diagnose(profile, NULL, 1);
	g_assert_cmpuint(unknown->diagnoses->len, ==, 0);
	lode_profile_free(profile);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/service_diagnoses/example", test_example);
	g_test_add_func("/service_diagnoses/loops", test_loops);
	g_test_add_func("/service_diagnoses/alone", test_alone);
	g_test_add_func("/service_diagnoses/leaf", test_leaf);
	g_test_add_func("/service_diagnoses/where", test_where);
	g_test_add_func("/service_diagnoses/inside", test_inside);
	g_test_add_func("/service_diagnoses/makers", test_makers);
	g_test_add_func("/service_diagnoses/inlined", test_inlined);
	g_test_add_func("/service_diagnoses/inlined-caller", test_inlined_caller);
	g_test_add_func("/service_diagnoses/without-lines", test_without_lines);
	g_test_add_func("/service_diagnoses/names", test_names);
	g_test_add_func("/service_diagnoses/unknown", test_unknown);
	g_test_add_func("/service_diagnoses/in_script", test_in_script);
	g_test_add_func("/service_diagnoses/new-arrays", test_new_arrays);
	g_test_add_func("/service_diagnoses/compiler", test_compiler);
	g_test_add_func("/service_diagnoses/chains", test_chains);
	g_test_add_func("/service_diagnoses/copies", test_copies);
	g_test_add_func("/service_diagnoses/unknown-copies", test_unknown_copies);
	g_test_add_func("/service_diagnoses/findings", test_findings);
	g_test_add_func("/service_diagnoses/none", test_none);
	return g_test_run();
}
