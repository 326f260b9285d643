/* SPDX-License-Identifier: MIT */
/* All diagnoses of a profile: their order and names, findings, and profiles that hold anything. */
#include "analyses/diagnoses/diagnose.h"
#include "base/arrays/sort_order.h"
#include "images/variants/script_image.h"
#include "model/findings.h"
#include "model/memory.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/stacks.h"

#include "../../store/random_profile.h"
#include "../calls/called_profile.h"
#include "code_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* --- order, names, shares --- */

/* A function with divisions of `first` and another one with `second` of 1000 samples. */
static LodeProfile *divisions_new(double first, double second)
{
	LodeProfile *profile = code_profile_new();
	const double weights[] = {first, second, 1000 - first - second};

	for (size_t i = 0; i < G_N_ELEMENTS(weights); i++) {
		const char *const names[] = {"hash", "scale", "main"};
		code_profile_function(profile, names[i]);
		code_profile_block(profile, 0, false);
		uint32_t at = code_profile_add(
			profile, i < 2 ? "op:idiv kind:div needs:div" : "op:nop", weights[i]);
		lode_profile_instruction(profile, at)->location = lode_profile_location(
			profile, "/home/me/code.c", (uint32_t)i + 1, NULL);
		code_profile_add(profile, "op:nop", 0);
	}
	code_profile_finish(profile);
	return profile;
}

static void add_finding(LodeFindings *findings, uint32_t n, const LodeFindingPlace *places)
{
	const LodeFinding finding = {.first_place = findings->places->len, .n_places = n};

	g_array_append_vals(findings->places, places, n);
	g_array_append_val(findings->findings, finding);
}

static void test_order(void)
{
	g_autoptr(LodeProfile) profile = divisions_new(130, 370);
	g_autoptr(LodeFindings) findings = lode_findings_new();

	add_finding(findings, 2, (const LodeFindingPlace[]){{2, 0.2}, {4, 0.1}});
	add_finding(findings, 2, (const LodeFindingPlace[]){{4, 0.2}, {0, 0.1}});
	add_finding(findings, 2, (const LodeFindingPlace[]){{4, 0.2}, {0, 0.2}});
	add_finding(findings, 0, NULL);
	profile->run.user_seconds = 8;
	profile->run.system_seconds = 0.2;
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, findings, 0, NULL);
	g_assert_cmpfloat_with_epsilon(all->seconds, 8.2, 1e-9);
	g_assert_cmpfloat_with_epsilon(all->user, 8 / 8.2, 1e-9);
	g_assert_cmpuint(all->diagnoses->len, ==, 2);
	const LodeDiagnosis *scale = lode_diagnoses_at(all, 0), *hash = lode_diagnoses_at(all, 1);
	g_assert_cmpstr(scale->name, ==, "division@scale");
	g_assert_cmpstr(hash->name, ==, "division@hash");
	g_assert_cmpfloat_with_epsilon(scale->time, 0.37 * 8 / 8.2, 1e-9);
	g_assert_cmpfloat_with_epsilon(hash->time, 0.13 * 8 / 8.2, 1e-9);
	g_assert_cmpfloat_with_epsilon(all->covered, 0.5 * 8 / 8.2, 1e-9);
	g_assert_cmpuint(scale->site.instruction, ==, 2);
	g_assert_cmpstr(scale->site.file, ==, "/home/me/code.c");
	g_assert_cmpuint(scale->site.line, ==, 2);
	/* Findings that have half of their time there. */
	g_assert_cmpuint(scale->findings->len, ==, 1);
	g_assert_cmpuint(g_array_index(scale->findings, uint32_t, 0), ==, 0);
	g_assert_cmpuint(hash->findings->len, ==, 1);
	g_assert_cmpuint(g_array_index(hash->findings, uint32_t, 0), ==, 2);
}

/* Those of less than 4 %, or that may have less by chance, are set aside; joined, they follow the
 * others. */
/* Whose remedy it is, by where the code is from. */
static void test_authors(void)
{
	static const struct {
		const char *path, *authors;
	} cases[] = {
		{"/home/me/program", NULL},
		{"/usr/local/bin/program", NULL},
		{"/usr/src/kernel/program", NULL},
		{"/usr/bin/xz", "xz"},
		{"/lib/x86_64-linux-gnu/libz.so.1", "libz.so.1"},
		{"/opt/python/lib/libpython3.11.so.1.0", "libpython3.11.so.1.0"},
		{"/home/me/python_bindings.so", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = divisions_new(130, 370);
		((LodeImage *)lode_profile_image(profile, 0))->path = lode_profile_intern(
			profile, cases[i].path);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 2);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->authors, ==, cases[i].authors);
	}
}

static void test_smaller(void)
{
	static const struct {
		double first, second; /* of 1,000 samples; two errors are √(8 × samples) */
		guint n, n_smaller;
	} cases[] = {{370, 130, 2, 0}, {370, 80, 2, 0}, {370, 60, 1, 1}, {60, 5, 0, 1}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = divisions_new(cases[i].first, cases[i].second);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		double covered = 0;
		g_assert_cmpuint(all->diagnoses->len, ==, cases[i].n);
		g_assert_cmpuint(all->smaller->len, ==, cases[i].n_smaller);
		for (guint k = 0; k < all->diagnoses->len; k++)
			covered += lode_diagnoses_at(all, k)->time;
		g_assert_cmpfloat_with_epsilon(all->covered, covered, 1e-9);
		lode_diagnoses_join(all);
		g_assert_cmpuint(all->smaller->len, ==, 0);
		g_assert_cmpuint(all->diagnoses->len, ==, cases[i].n + cases[i].n_smaller);
		for (guint k = 0; k < all->diagnoses->len; k++)
			g_assert_cmpint(lode_diagnoses_at(all, k)->is_smaller, ==, k >= cases[i].n);
	}
}

/* Functions of one name: told apart by their files, or where they have none, by numbers. */
static void test_same_names(void)
{
	static const char *const files[][2] = {{"/home/a.c", "/home/b.c"}, {NULL, NULL}};
	static const char *const expected[][2] = {{"division@hash (b.c)", "division@hash (a.c)"},
		{"division@hash", "division@hash (2)"}};

	for (size_t k = 0; k < G_N_ELEMENTS(files); k++) {
		g_autoptr(LodeProfile) profile = divisions_new(130, 370);
		lode_profile_function(profile, 1)->name = lode_profile_function(profile, 0)->name;
		for (uint32_t i = 0; i < 2; i++)
			lode_profile_instruction(profile, 2 * i)->location = lode_profile_location(
				profile, files[k][i], i + 1, NULL);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 2);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->name, ==, expected[k][0]);
		g_assert_cmpstr(lode_diagnoses_at(all, 1)->name, ==, expected[k][1]);
	}
}

/* Two loops call one small function, and its whole time is of the cause; if it computes and does
 * not look anything up, somebody wants it apart. */
static void check_small_calls(const char *work, guint n)
{
	g_autoptr(LodeProfile) profile = code_profile_new();

	for (uint32_t i = 0; i < 2; i++) {
		const LodeLoop loop = {.head = 2 * i, .iteration_ns = (double)NAN};
		code_profile_function(profile, i == 0 ? "first" : "second");
		code_profile_block(profile, 1, true);
		code_profile_add(profile, "kind:call", 5);
		code_profile_add(profile, "kind:branch", 95);
		made_fall(profile, 2 * i, 9);
		made_edge(profile, 2 * i, 4, LODE_EDGE_CALL, 9);
		made_edge(profile, 2 * i + 1, 2 * i, LODE_EDGE_TAKEN, 8);
		g_array_append_val(profile->loops, loop);
	}
	code_profile_function(profile, "getter");
	code_profile_add(profile, work, 500);
	code_profile_add(profile, "kind:ret", 100);
	code_profile_function(profile, "main");
	code_profile_add(profile, "op:nop", 200);
	code_profile_finish(profile);
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
	g_assert_cmpuint(all->diagnoses->len, ==, n);
	if (n == 0)
		return;
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "call-overhead");
	g_assert_cmpfloat_with_epsilon(one->time, 0.6, 1e-9);
	g_assert_cmpfloat_with_epsilon(one->low, 0.1 * least_time(one), 1e-9);
	g_assert_cmpfloat_with_epsilon(one->high, 0.6, 1e-9);
	g_assert_cmpstr(g_array_index(one->evidence, LodeEvidence, 1).text, ==,
		"2 calls of functions of at most 8 bytes, in loops of 2 functions");
}

static void test_small_calls(void)
{
	check_small_calls("kind:load mem:pointer", 1);
	check_small_calls("kind:load mem:stack", 0);
	check_small_calls("op:add needs:mul", 0);
}

/* Nothing weighs. */
static void test_no_event(void)
{
	g_autoptr(LodeProfile) profile = divisions_new(200, 300);

	profile->run.user_seconds = 1;
	profile->run.system_seconds = 1;
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, LODE_NONE, NULL);
	g_assert_cmpuint(all->diagnoses->len, ==, 0);
	g_assert_cmpfloat(all->user, ==, 0.5);
	profile->run.is_kernel_sampled = true;
	g_autoptr(LodeDiagnoses) sampled = lode_diagnose(profile, NULL, LODE_NONE, NULL);
	g_assert_cmpuint(sampled->diagnoses->len, ==, 0);
	g_assert_cmpfloat(sampled->user, ==, 1);
}

/* Code that has weight and, by its counts, never ran is diagnosed as if it had. */
static void test_no_executions(void)
{
	g_autoptr(LodeProfile) profile = divisions_new(130, 370);

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		lode_profile_instruction(profile, i)->count = 0;
		lode_profile_instruction(profile, i)->next_count = i % 2 == 0 ? 0 : -1;
	}
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
	g_assert_cmpuint(all->diagnoses->len, ==, 2);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->name, ==, "division@scale");
	g_assert_cmpfloat_with_epsilon(lode_diagnoses_at(all, 0)->time, 0.37, 1e-9);
	g_assert_true(isfinite(lode_diagnoses_at(all, 0)->high));
}

/* No samples, no instructions, the kernel alone. */
static void test_little(void)
{
	for (int i = 0; i < 4; i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		if (i > 0)
			code_profile_function(profile, "f");
		for (int k = 0; k < 2 && i > 0; k++)
			code_profile_add(profile, "kind:div kind:syscall", i == 2 && k == 0);
		if (i == 3)
			lode_profile_image(profile, 0)->kind = LODE_IMAGE_KERNEL;
		code_profile_finish(profile);
		profile->run.is_kernel_sampled = i == 3;
		profile->run.user_seconds = i == 2 ? 1 : 0;
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 0);
	}
}

/* --- diagnoses that explain others --- */

/* The causes, sorted, with blanks between; the caller frees it. */
static char *causes_of(const LodeDiagnoses *self)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (guint i = 0; i < self->diagnoses->len; i++)
		g_ptr_array_add(words, lode_diagnoses_at(self, i)->cause);
	g_ptr_array_sort(words, lode_compare_texts);
	g_ptr_array_add(words, NULL);
	return g_strjoinv(" ", (char **)words->pdata);
}

/* Two threads count by atomic operations in different bytes of a line, at a line of source each
 * with 300 samples; those at a third line have a line to themselves. */
static LodeProfile *counting_new(double elsewhere)
{
	LodeProfile *profile = code_profile_new();
	const LodeDataObject object = {.name = lode_profile_intern(profile, "struct counters")};

	code_profile_function(profile, "count");
	code_profile_block(profile, 0, false);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t at = code_profile_add(profile, "kind:atomic", i < 2 ? 300 : elsewhere);
		lode_profile_instruction(profile, at)->location = lode_profile_location(
			profile, "/home/me/count.c", 10 + i, NULL);
	}
	code_profile_add(profile, "op:nop", 10);
	code_profile_finish(profile);
	profile->memory = lode_memory_new();
	profile->memory->is_stall_weighted = true;
	g_array_append_val(profile->memory->objects, object);
	for (uint32_t i = 0; i < 2; i++) {
		const LodeThread thread = {.pid = 10, .tid = 10 + i, .ordinal = i};
		g_array_append_val(profile->memory->threads, thread);
	}
	for (uint32_t i = 0; i < 400; i++) {
		const LodeMemorySample sample = {.weight = 1,
			.time_ns = 100 * (uint64_t)i,
			.address = 0x1000 + 8 * (i % 2),
			.thread = i % 2,
			.instruction = i % 2,
			.access_instruction = i % 2,
			.access_location = lode_profile_instruction(profile, i % 2)->location,
			.mapping = LODE_NONE,
			.allocation = LODE_NONE,
			.node = UINT32_MAX,
			.size = 8,
			.rule = LODE_RULE_AT_PC,
			.access = LODE_ACCESS_STORE};
		g_array_append_val(profile->memory->samples, sample);
	}
	return profile;
}

/* Atomic operations are no diagnosis where half of their time or more is at the shared line. */
static void test_shared(void)
{
	static const struct {
		double elsewhere;
		const char *causes;
	} cases[] = {
		{0, "shared-line"},
		{600, "shared-line"},
		{610, "atomic shared-line"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = counting_new(cases[i].elsewhere);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_autofree char *causes = causes_of(all);
		g_assert_cmpstr(causes, ==, cases[i].causes);
	}
}

/* Code that waits for strlen, which it calls; code beside the call that has a cause of its own. */
static void test_called(void)
{
	static const CalledFunction functions[] = {
		{"work", "/home/me/program", "work.c", 12},
		{"strlen", "/usr/lib/x86_64-linux-gnu/libc.so.6", NULL, 0},
	};
	static const struct {
		const char *attributes[2], *causes;
	} cases[] = {
		{{"kind:div", "kind:call"}, "service-string"},
		{{"kind:div", "kind:branch"}, "division service-string"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile)
			profile = called_profile_new(functions, G_N_ELEMENTS(functions));
		const LodeCost cost = {0, 2000};
		uint32_t ids[2];
		for (size_t k = 0; k < 2; k++)
			ids[k] = lode_profile_attribute(profile, cases[i].attributes[k]);
		lode_profile_instruction(profile, 0)->attribute_set = lode_profile_attribute_set(
			profile, ids, 2);
		g_array_append_val(profile->code.costs, cost);
		for (guint k = 1; k <= 2; k++)
			LODE_AT(profile->code.cost_starts, uint32_t, k) = 1;
		profile->stacks = lode_stacks_new();
		profile->stacks->has_chains = true;
		uint32_t in_work = add_stack(profile, 0, 12, LODE_NONE);
		add_samples(profile, in_work, 200);
		add_samples(profile, add_stack(profile, 1, 0, in_work), 300);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_autofree char *causes = causes_of(all);
		g_assert_cmpstr(causes, ==, cases[i].causes);
	}
}

/* A program that calls fputs or fflush in line 7, which enters the kernel by write, or calls write
 * itself in another line; the kernel has 1 s of 2.5. Lines may be unknown. */
static LodeProfile *writing_new(const char *called, bool is_within, bool has_lines)
{
	enum { MAIN, FPUTS, WRITE, N_FUNCTIONS };
	const CalledFunction functions[N_FUNCTIONS] = {
		[MAIN] = {"main", "/home/me/program", has_lines ? "main.c" : NULL,
			has_lines ? 7 : 0},
		[FPUTS] = {called, "/usr/lib/x86_64-linux-gnu/libc.so.6", NULL, 0},
		[WRITE] = {"__write", "/usr/lib/x86_64-linux-gnu/libc.so.6", NULL, 0},
	};
	const LodeCost costs[N_FUNCTIONS] = {{0, 6000}, {0, 3500}, {0, 500}};
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	uint32_t syscall = lode_profile_attribute(profile, "kind:syscall");

	lode_profile_instruction(profile, WRITE)->attribute_set = lode_profile_attribute_set(
		profile, &syscall, 1);
	g_array_append_vals(profile->code.costs, costs, N_FUNCTIONS);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		LODE_AT(profile->code.cost_starts, uint32_t, i + 1) = i + 1;
	profile->run.user_seconds = 1.5;
	profile->run.system_seconds = 1;
	profile->stacks = lode_stacks_new();
	profile->stacks->has_chains = true;
	uint32_t in_main = add_stack(profile, MAIN, has_lines ? 7 : 0, LODE_NONE);
	uint32_t put = add_stack(profile, FPUTS, 0, in_main);
	add_samples(profile, in_main, 600);
	add_samples(profile, put, 350);
	uint32_t around = is_within ? put : add_stack(profile, MAIN, 9, LODE_NONE);
	add_samples(profile, add_stack(profile, WRITE, 0, around), 50);
	return profile;
}

/* Where a line calls a service and enters the kernel, what takes more saves up to both together;
 * likewise a function, where lines are not known. */
static void test_service_in_kernel(void)
{
	static const struct {
		bool is_within, has_lines;
		uint32_t line;
	} cases[] = {{false, true, 9}, {true, true, 7}, {true, false, 0}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		bool is_within = cases[i].is_within;
		g_autoptr(LodeProfile)
			profile = writing_new("fputs", is_within, cases[i].has_lines);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		const LodeDiagnosis *kernel = NULL, *service = NULL;
		for (guint k = 0; k < all->diagnoses->len; k++) {
			const LodeDiagnosis *one = lode_diagnoses_at(all, k);
			*(one->scope == LODE_SCOPE_KERNEL ? &kernel : &service) = one;
		}
		g_assert_cmpuint(all->diagnoses->len, ==, 2);
		g_assert_cmpstr(kernel->name, ==, "system-call@write");
		g_assert_cmpstr(service->name, ==, "service-stdio@stdio");
		g_assert_cmpuint(kernel->site.line, ==, cases[i].line);
		g_assert_cmpuint(service->site.line, ==, cases[i].has_lines ? 7 : 0);
		const LodeEvidence *said = &g_array_index(
			kernel->evidence, LodeEvidence, kernel->evidence->len - 1);
		g_assert_cmpfloat(service->time, <, kernel->time);
		g_assert_cmpint(
			g_str_has_prefix(said->text, "with the time of stdio, called in the same "
						     "line: up to "),
			==, is_within);
		if (is_within) {
			g_assert_cmpfloat_with_epsilon(said->value, 100 * kernel->high, 1e-9);
			g_assert_cmpfloat(kernel->high, >, service->high);
		}
	}
}

/* The system calls that a flush makes are its time; those of another line are not. */
static void test_service_that_enters(void)
{
	for (int is_within = 0; is_within < 2; is_within++) {
		g_autoptr(LodeProfile) profile = writing_new("fflush", is_within != 0, true);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		const LodeDiagnosis *first = lode_diagnoses_at(all, 0);
		g_assert_cmpuint(all->diagnoses->len, ==, is_within != 0 ? 1 : 2);
		g_assert_cmpstr(first->name, ==,
			is_within != 0 ? "service-stdio@flushing" : "system-call@write");
		g_assert_cmpuint(first->site.line, ==, is_within != 0 ? 7 : 9);
		if (is_within == 0)
			continue;
		g_assert_cmpfloat(first->time, >, 0.6);
		g_assert_nonnull(strstr(evidence_at(first, 0), "in the kernel by write"));
	}
}

/* Page faults take the kernel's time, which goes with a service that makes objects: with malloc,
 * and with most of what a program calls whose objects are collected. */
static void test_service_and_pages(void)
{
	enum { MAIN, SERVICE, OTHER, N_FUNCTIONS };
	static const struct {
		const char *service, *cause, *other;
		bool is_joined;
	} cases[] = {
		{"malloc", "service-allocator", "helper", true},
		{"fputs", "service-stdio", "helper", false},
		{"fputs", "service-stdio", "runtime.mallocgc", true},
	};
	static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const CalledFunction functions[N_FUNCTIONS] = {
			[MAIN] = {"main", "/home/me/program", "main.c", 7},
			[SERVICE] = {cases[i].service, libc, NULL, 0},
			[OTHER] = {cases[i].other, "/home/me/program", NULL, 0},
		};
		g_autoptr(LodeProfile) profile = called_profile_new(functions, N_FUNCTIONS);
		const LodeCost costs[] = {{0, 6000}, {0, 3500}, {0, 500}, {1, 600000}};
		lode_profile_add_event(profile, "page-faults", NULL, LODE_EVENT_SAMPLED, NULL, 0);
		lode_profile_event(profile, 1)->total = 600000;
		g_array_append_vals(profile->code.costs, costs, G_N_ELEMENTS(costs));
		for (uint32_t k = 0; k < N_FUNCTIONS; k++)
			LODE_AT(profile->code.cost_starts, uint32_t, k + 1) = k + 1 + (k == OTHER);
		profile->run.user_seconds = 1.5;
		profile->run.system_seconds = 1;
		profile->stacks = lode_stacks_new();
		profile->stacks->has_chains = true;
		uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE);
		add_samples(profile, in_main, 600);
		uint32_t at_call = add_stack(profile, MAIN, 9, LODE_NONE);
		add_samples(profile, add_stack(profile, SERVICE, 0, at_call), 350);
		add_samples(profile, add_stack(profile, OTHER, 0, in_main), 50);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		const LodeDiagnosis *kernel = NULL, *service = NULL;
		for (guint k = 0; k < all->diagnoses->len; k++) {
			const LodeDiagnosis *one = lode_diagnoses_at(all, k);
			if (strcmp(one->cause, "page-fault") == 0)
				kernel = one;
			else if (strcmp(one->cause, cases[i].cause) == 0)
				service = one;
		}
		g_assert_nonnull(kernel);
		g_assert_nonnull(service);
		double own = MIN(2.4 * most_time(service), 0.99);
		g_assert_cmpfloat(kernel->high, <, 0.6);
		if (cases[i].is_joined)
			g_assert_cmpfloat(service->high, >, own);
		else
			g_assert_cmpfloat(service->high, <=, own);
	}
}

/* The pages of texts that a script puts together go with these, whatever takes more; in compiled
 * code, whose line may touch others, they do not. */
static void test_pages_of_texts(void)
{
	enum { MAIN, SERVICE, N_FUNCTIONS };

	for (int is_script = 0; is_script < 2; is_script++) {
		const CalledFunction functions[N_FUNCTIONS] = {
			[MAIN] = {"render", "/home/me/page", "page", 7},
			[SERVICE] = {"PyUnicode_Concat", "/usr/bin/python3.11", NULL, 0},
		};
		g_autoptr(LodeProfile) profile = called_profile_new(functions, N_FUNCTIONS);
		const LodeCost costs[] = {{0, 7000}, {0, 3000}, {1, 800000}};
		uint32_t image = lode_profile_function(profile, MAIN)->image;
		LODE_AT(profile->code.images, LodeImage, image).kind = is_script != 0
		                                                               ? LODE_IMAGE_PYTHON
		                                                               : LODE_IMAGE_FILE;
		lode_profile_function(profile, MAIN)->address = UINT64_C(7)
		                                                << LODE_SCRIPT_LINE_SHIFT;
		lode_profile_add_event(profile, "page-faults", NULL, LODE_EVENT_SAMPLED, NULL, 0);
		lode_profile_event(profile, 1)->total = 800000;
		g_array_append_vals(profile->code.costs, costs, G_N_ELEMENTS(costs));
		LODE_AT(profile->code.cost_starts, uint32_t, 1) = 1;
		LODE_AT(profile->code.cost_starts, uint32_t, 2) = 3;
		profile->run.user_seconds = 1;
		profile->run.system_seconds = 2;
		profile->stacks = lode_stacks_new();
		profile->stacks->has_chains = true;
		uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE);
		uint32_t at_call = add_stack(profile, MAIN, 9, LODE_NONE);
		uint32_t in_service = add_stack(profile, SERVICE, 0, at_call);
		const LodeStackSample fault = {.event = 1, .weight = 800000, .stack = in_service};
		add_samples(profile, in_main, 700);
		add_samples(profile, in_service, 300);
		g_array_append_val(profile->stacks->samples, fault);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		const LodeDiagnosis *first = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(first->cause, ==, is_script != 0 ? "service-string" : "page-fault");
		g_assert_cmpuint(first->site.line, ==, 9);
		g_assert_cmpfloat(first->high, >, 0.9);
	}
}

/* What an extension module does for a line of a script is no step of the interpreter. */
static void test_steps(void)
{
	enum { MAIN, WORK, N_FUNCTIONS };
	static const struct {
		const char *image;
		bool has_steps;
	} cases[] = {{"/usr/bin/python3.11", true},
		{"/usr/lib/python3.11/lib-dynload/_own.cpython-311-x86_64-linux-gnu.so", true},
		{"/usr/lib/python3/dist-packages/a.cpython-311-x86_64-linux-gnu.so", false},
		{"/home/me/b.abi3.so", false}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const CalledFunction functions[N_FUNCTIONS] = {
			[MAIN] = {"render", "/home/me/page", "page", 7},
			[WORK] = {"work", cases[i].image, NULL, 0},
		};
		g_autoptr(LodeProfile) profile = called_profile_new(functions, N_FUNCTIONS);
		const LodeCost costs[] = {{0, 1000}, {0, 9000}};
		uint32_t image = lode_profile_function(profile, MAIN)->image;
		LODE_AT(profile->code.images, LodeImage, image).kind = LODE_IMAGE_PYTHON;
		lode_profile_function(profile, MAIN)->address = UINT64_C(7)
		                                                << LODE_SCRIPT_LINE_SHIFT;
		g_array_append_vals(profile->code.costs, costs, G_N_ELEMENTS(costs));
		LODE_AT(profile->code.cost_starts, uint32_t, 1) = 1;
		LODE_AT(profile->code.cost_starts, uint32_t, 2) = 2;
		profile->stacks = lode_stacks_new();
		profile->stacks->has_chains = true;
		uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE);
		uint32_t in_work = add_stack(profile, WORK, 0, in_main);
		add_samples(profile, in_main, 100);
		add_samples(profile, in_work, 900);
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		bool has_steps = false;
		for (guint k = 0; k < all->diagnoses->len; k++)
			has_steps |= strcmp(lode_diagnoses_at(all, k)->cause,
					     "service-interpreter") == 0;
		g_assert_cmpint(has_steps, ==, cases[i].has_steps);
	}
}

/* A function of a script that opens a file whenever it is called, and others that call it in
 * between; neighbours: one that is called once and reads several files, and one that has little of
 * the time. */
static void test_files_again(void)
{
	enum { MAIN, LOAD, OPEN, OTHER, N_FUNCTIONS, ROUNDS = 20 };
	static const struct {
		guint load, other;
		bool is_once;
		const char *cause; /* of the first diagnosis */
	} cases[] = {
		{8, 1, false, "repeated-work"},
		{8, 1, true, "service-interpreter"},
		{2, 9, false, "service-interpreter"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const CalledFunction functions[N_FUNCTIONS] = {
			[MAIN] = {"invoice", "/home/me/bill.py", "bill.py", 20},
			[LOAD] = {"load_prices", "/home/me/bill.py", "bill.py", 7},
			[OPEN] = {"io.open", "/usr/bin/python3.11", NULL, 0},
			[OTHER] = {"PyLong_Add", "/usr/bin/python3.11", NULL, 0},
		};
		g_autoptr(LodeProfile) profile = called_profile_new(functions, N_FUNCTIONS);
		const guint n[N_FUNCTIONS] = {[LOAD] = ROUNDS * cases[i].load,
			[OPEN] = ROUNDS,
			[OTHER] = ROUNDS * cases[i].other};
		for (uint32_t k = MAIN; k <= LOAD; k++)
			LODE_AT(profile->code.images, LodeImage,
				lode_profile_function(profile, k)->image)
				.kind = LODE_IMAGE_PYTHON;
		for (uint32_t k = 0; k < N_FUNCTIONS; k++) {
			const LodeCost cost = {0, n[k] * 10.};
			g_array_append_val(profile->code.costs, cost);
			LODE_AT(profile->code.cost_starts, uint32_t, k + 1) = k + 1;
		}
		lode_profile_function(profile, MAIN)->address = UINT64_C(20)
		                                                << LODE_SCRIPT_LINE_SHIFT;
		lode_profile_function(profile, LOAD)->address = UINT64_C(7)
		                                                << LODE_SCRIPT_LINE_SHIFT;
		profile->stacks = lode_stacks_new();
		profile->stacks->has_chains = true;
		uint32_t in_main = add_stack(profile, MAIN, 22, LODE_NONE);
		uint32_t in_load = add_stack(profile, LOAD, 9, in_main);
		const uint32_t stacks[] = {
			add_stack(profile, OPEN, 0, add_stack(profile, LOAD, 8, in_main)),
			add_stack(profile, OTHER, 0, in_load),
			add_stack(profile, OTHER, 0, in_main)};
		const guint times[] = {1, cases[i].load, cases[i].other};
		for (guint k = 0; k < ROUNDS * G_N_ELEMENTS(stacks); k++) {
			guint kind = cases[i].is_once ? k / ROUNDS : k % G_N_ELEMENTS(stacks);
			add_samples(profile, stacks[kind], times[kind]);
		}
		for (guint k = 0; k < profile->stacks->samples->len; k++)
			LODE_AT(profile->stacks->samples, LodeStackSample, k).time_ns = k;
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_assert_cmpuint(all->diagnoses->len, >, 0);
		const LodeDiagnosis *first = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(first->cause, ==, cases[i].cause);
		if (i > 0)
			continue;
		g_assert_cmpstr(first->site.function, ==, "load_prices");
		g_assert_cmpuint(first->site.line, ==, 8);
		g_assert_cmpfloat(first->high, >, 0.85);
	}
}

/* --- large code --- */

/* The processor time for a loop of so many instructions, each with samples, in blocks of two, and
 * as many that have none; in seconds. */
static double time_of_loop(uint32_t n)
{
	g_autoptr(LodeProfile) profile = code_profile_new();
	uint32_t first = code_profile_function(profile, "f");

	for (uint32_t i = 0; i < n; i++) {
		if (i % 2 == 0)
			code_profile_block(profile, 1, i == 0);
		code_profile_add(profile, i % 10 == 0 ? "kind:div" : "op:nop", i % 10 == 0 ? 9 : 1);
		if (i > 0)
			made_fall(profile, i - 1, 10);
		if (i > 0 && i % 2 == 1 && i + 1 < n)
			made_edge(profile, i, 0, LODE_EDGE_TAKEN, 1);
	}
	made_edge(profile, n - 1, first, LODE_EDGE_TAKEN, 9);
	code_profile_function(profile, "never");
	for (uint32_t i = 0; i < n; i++)
		code_profile_add(profile, "kind:div", 0);
	code_profile_finish(profile);
	lode_loops_add(profile, 0);
	clock_t begin = clock();
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
	double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	g_autofree char *causes = causes_of(all);
	g_assert_cmpstr(causes, ==, "division");
	g_assert_cmpuint(lode_diagnoses_at(all, 0)->places, ==, n / 10);
	g_assert_cmpint(lode_diagnoses_at(all, 0)->scope, ==, LODE_SCOPE_LOOP);
	return seconds;
}

/* In proportion to the code: 64 times as much would take 4,096 times as long by pairs. */
static void test_large(void)
{
	double small = time_of_loop(1000), large = time_of_loop(64000);

	g_test_message("%g s, %g s", small, large);
	g_assert_cmpfloat(large, <=, 640 * MAX(small, 0.0005));
}

/* --- anything --- */

/* Gives attributes that rules ask for to a random profile, which has samples of its own. */
static void make_like_code(LodeProfile *profile, GRand *rand)
{
	static const char *const names[] = {"kind:div", "kind:load", "kind:store", "kind:branch",
		"kind:indirect", "kind:call", "kind:syscall", "after:fork", "at:entry",
		"mem:pointer", "carried:load", "needs:part-store", "loop:1"};
	uint32_t ids[G_N_ELEMENTS(names)];

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		ids[i] = lode_profile_attribute(profile, names[i]);
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		uint32_t chosen[3];
		for (int k = 0; k < 3; k++)
			chosen[k] = ids[g_rand_int_range(rand, 0, G_N_ELEMENTS(names))];
		lode_profile_instruction(profile, i)->attribute_set = lode_profile_attribute_set(
			profile, chosen, 3);
	}
	for (guint i = 0; i < profile->code.blocks->len; i++) {
		lode_profile_block(profile, i)->loop_depth = (uint8_t)g_rand_int(rand);
		lode_profile_block(profile, i)->is_loop_head = g_rand_boolean(rand);
	}
	for (guint i = 0; i < profile->code.functions->len; i++) {
		static const char *const known[] = {"malloc", "strlen", "write", "f"};
		if (g_rand_boolean(rand))
			lode_profile_function(profile, i)->name = lode_profile_intern(
				profile, known[g_rand_int_range(rand, 0, 4)]);
	}
	profile->run.user_seconds = g_rand_double(rand);
	profile->run.system_seconds = g_rand_double(rand);
	profile->run.is_kernel_sampled = g_rand_boolean(rand);
	profile->run.cycles_per_ns = 4;
}

static void check_texts(const LodeDiagnosis *one)
{
	const char *const texts[] = {
		one->cause, one->title, one->name, one->explanation, one->remedy, one->source};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_assert_nonnull(texts[i]);
	g_assert_cmpuint(one->evidence->len, >, 0);
}

/* What they are in the order of. */
static double saves(const LodeDiagnoses *all, guint i)
{
	const LodeDiagnosis *one = lode_diagnoses_at(all, i);

	return all->is_by_clock ? one->clock_high : one->high;
}

static void test_anything(void)
{
	guint n = 0;

	for (unsigned round = 0; round < random_rounds(30, 5000); round++) {
		guint32 seed = soak_seed(round);
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		g_autoptr(LodeProfile) profile = random_profile_new(seed, 30);
		if (round % 4 != 0)
			make_like_code(profile, rand);
		for (uint32_t event = 0; event <= profile->code.events->len; event++) {
			g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL,
				event < profile->code.events->len ? event : LODE_NONE, NULL);
			for (guint i = 0; i < all->diagnoses->len; i++, n++) {
				const LodeDiagnosis *one = lode_diagnoses_at(all, i);
				check_texts(one);
				double before = i > 0 ? saves(all, i - 1) : 1;
				g_assert_true(before >= saves(all, i));
			}
		}
	}
	g_assert_cmpuint(n, >, 100);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/diagnose/order", test_order);
	g_test_add_func("/diagnose/authors", test_authors);
	g_test_add_func("/diagnose/smaller", test_smaller);
	g_test_add_func("/diagnose/same_names", test_same_names);
	g_test_add_func("/diagnose/small_calls", test_small_calls);
	g_test_add_func("/diagnose/no_event", test_no_event);
	g_test_add_func("/diagnose/no_executions", test_no_executions);
	g_test_add_func("/diagnose/little", test_little);
	g_test_add_func("/diagnose/shared", test_shared);
	g_test_add_func("/diagnose/called", test_called);
	g_test_add_func("/diagnose/service_in_kernel", test_service_in_kernel);
	g_test_add_func("/diagnose/service_that_enters", test_service_that_enters);
	g_test_add_func("/diagnose/service_and_pages", test_service_and_pages);
	g_test_add_func("/diagnose/pages_of_texts", test_pages_of_texts);
	g_test_add_func("/diagnose/steps", test_steps);
	g_test_add_func("/diagnose/files_again", test_files_again);
	g_test_add_func("/diagnose/large", test_large);
	g_test_add_func("/diagnose/anything", test_anything);
	return g_test_run();
}
