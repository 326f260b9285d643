/* SPDX-License-Identifier: MIT */
/* Diagnoses of the time in the kernel, on profiles made by hand. */
#include "analyses/diagnoses/diagnosis_context.h"
#include "model/stacks.h"

#include "../calls/called_profile.h"
#include "code_profile.h"

#include <math.h>
#include <string.h>

#define OWN "/home/me/program"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

enum { MAIN, WRITE, FFLUSH, VFS_WRITE, FAULT, READ, COPY, OPEN, CLOSE, N_FUNCTIONS };

static const CalledFunction known[N_FUNCTIONS] = {
	[MAIN] = {"main", OWN, "main.c", 7},
	[WRITE] = {"__write", LIBC, "../sysdeps/unix/write.c", 7},
	[FFLUSH] = {"fflush", LIBC, NULL, 0},
	[VFS_WRITE] = {"vfs_write", "[kernel]", NULL, 0},
	[FAULT] = {"handle_mm_fault", "[kernel]", NULL, 0},
	[READ] = {"read", LIBC, "../sysdeps/unix/read.c", 7},
	[OPEN] = {"__open64_nocancel", LIBC, NULL, 0},
	[CLOSE] = {"close", LIBC, NULL, 0},
	[COPY] = {"jlong_disjoint_arraycopy", "jit-7.dump", NULL, 0},
};

/* The weight of each function's one instruction by an event. */
typedef struct {
	const char *event;
	double weights[N_FUNCTIONS];
} Column;

static LodeProfile *profile_new(const Column *columns, guint n_columns)
{
	LodeProfile *profile = called_profile_new(known, N_FUNCTIONS);
	uint32_t syscall = lode_profile_attribute(profile, "kind:syscall");

	for (guint c = 1; c < n_columns; c++)
		lode_profile_add_event(
			profile, columns[c].event, NULL, LODE_EVENT_SAMPLED, NULL, 0);
	profile->stacks = lode_stacks_new();
	static const guint calls[] = {WRITE, READ, OPEN, CLOSE};
	for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
		lode_profile_instruction(profile, calls[i])->attribute_set =
			lode_profile_attribute_set(profile, &syscall, 1);
	for (guint i = 0; i < N_FUNCTIONS; i++) {
		for (guint c = 0; c < n_columns; c++) {
			const LodeCost cost = {c, columns[c].weights[i]};
			lode_profile_event(profile, c)->total += cost.value;
			if (cost.value > 0)
				g_array_append_val(profile->code.costs, cost);
		}
		LODE_AT(profile->code.cost_starts, uint32_t, i + 1) = profile->code.costs->len;
	}
	profile->run.n_samples = lode_profile_event(profile, 0)->total;
	return profile;
}

/* With a weight of 1 each, which the columns have. */
static void add_weighed(LodeProfile *profile, uint32_t stack, guint n)
{
	const LodeStackSample sample = {.weight = n, .stack = stack, .n_more = n - 1};

	g_array_append_val(profile->stacks->samples, sample);
}

static LodeDiagnoses *diagnose(const LodeProfile *profile, LodeDiagnosis *other)
{
	double all = profile->run.user_seconds + profile->run.system_seconds;
	g_auto(CodeContext) context;
	LodeDiagnoses *out = lode_diagnoses_new();

	code_context_init(&context, profile);
	context.context.user = profile->run.is_kernel_sampled ? 1 : profile->run.user_seconds / all;
	if (other != NULL)
		g_ptr_array_add(out->diagnoses, other);
	lode_kernel_diagnoses_add(out, &context.context);
	return out;
}

/* write called by main and, within fflush, by main at another line; page faults in main. */
static void test_sampled(void)
{
	static const Column columns[] = {
		{"clock", {[MAIN] = 400, [WRITE] = 100, [VFS_WRITE] = 300, [FAULT] = 200}},
		{"kernel:syscall:write", {[WRITE] = 295}},
		{"kernel:syscall:openat", {[WRITE] = 5}},
		{"kernel:page-fault", {[MAIN] = 200}},
		{"page-faults", {[MAIN] = 5000}},
	};
	LodeProfile *profile = profile_new(columns, G_N_ELEMENTS(columns));
	LodeDiagnosis *code = lode_diagnosis_new("system-call", LODE_SCOPE_FUNCTION);

	profile->run.is_kernel_sampled = true;
	profile->stacks->has_chains = true;
	uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE),
		 in_write = add_stack(profile, WRITE, 7, in_main),
		 flush = add_stack(profile, FFLUSH, 0, add_stack(profile, MAIN, 9, LODE_NONE)),
		 within = add_stack(profile, WRITE, 7, flush);
	add_weighed(profile, in_main, 400);
	add_weighed(profile, in_write, 60);
	add_weighed(profile, within, 40);
	add_weighed(profile, add_stack(profile, VFS_WRITE, 0, in_write), 100);
	add_weighed(profile, add_stack(profile, VFS_WRITE, 0, within), 200);
	add_weighed(profile, add_stack(profile, FAULT, 0, in_main), 200);
	g_autoptr(LodeDiagnoses) all = diagnose(profile, code);
	g_assert_cmpuint(all->diagnoses->len, ==, 2);
	const LodeDiagnosis *faults = lode_diagnoses_at(all, 0), *calls = lode_diagnoses_at(all, 1);
	if (strcmp(faults->cause, "page-fault") != 0) {
		faults = calls;
		calls = lode_diagnoses_at(all, 0);
	}
	g_assert_cmpstr(calls->cause, ==, "system-call");
	g_assert_cmpstr(calls->name, ==, "system-call@write");
	g_assert_cmpstr(calls->service, ==, "write");
	g_assert_cmpint(calls->scope, ==, LODE_SCOPE_KERNEL);
	/* The user's side of write is called by main directly, too: all of it. */
	g_assert_cmpfloat_with_epsilon(calls->time, 0.395, 1e-9);
	g_assert_cmpfloat_with_epsilon(calls->high, 2.2 * 0.95 * most_time(calls), 1e-9);
	g_assert_cmpstr(calls->site.file, ==, "main.c");
	g_assert_cmpuint(calls->site.line, ==, 9);
	g_assert_cmpstr(evidence_at(calls, 1), ==, "67 % of it from main.c:9");
	g_assert_cmpstr(faults->cause, ==, "page-fault");
	g_assert_cmpfloat_with_epsilon(faults->time, 0.2, 1e-9);
	g_assert_cmpuint(faults->site.line, ==, 7);
	g_assert_cmpstr(evidence_at(faults, 2), ==, "5000 page faults");
	lode_profile_free(profile);
}

/* The kernel has 1 s of 2.5; samples at system calls, and page faults. */
static LodeProfile *accounted(double at_calls, double faults)
{
	const Column columns[] = {
		{"clock", {[MAIN] = 1000 - at_calls, [WRITE] = at_calls}},
		{"page-faults", {[MAIN] = faults}},
	};
	LodeProfile *profile = profile_new(columns, faults > 0 ? 2 : 1);

	profile->run.user_seconds = 1.5;
	profile->run.system_seconds = 1;
	uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE);
	add_weighed(profile, in_main, (guint)(1000 - at_calls));
	if (at_calls > 0)
		add_weighed(profile, add_stack(profile, WRITE, 7, in_main), (guint)at_calls);
	profile->stacks->has_chains = true;
	return profile;
}

static void test_accounted(void)
{
	static const struct {
		double at_calls, faults;
		const char *cause;
	} cases[] = {
		{50, 100, "system-call"},
		{50, 0, "system-call"},
		{0, 100, "kernel-time"}, /* huge pages, or calls that take long */
		{0, 0, "kernel-time"},
		{0, 400000, "page-fault"},
		{50, 400000,
			"system-call"}, /* 0.5 s of 1 s, as faults mostly take: less than half */
		{50, 450000, "page-fault"},
		{50, 2000000, "page-fault"},
		{5, 100, "system-call"}, /* half a percent, and page faults take next to nothing */
		{5, 150000, "page-fault"},
		{0, 120000, "kernel-time"},
		{2, 100, "kernel-time"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = accounted(cases[i].at_calls, cases[i].faults);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		bool is_call = strcmp(cases[i].cause, "system-call") == 0;
		g_assert_cmpstr(one->cause, ==, cases[i].cause);
		g_assert_cmpfloat_with_epsilon(
			one->time, 0.4 + (is_call ? 0.6 * cases[i].at_calls / 1000 : 0), 1e-9);
		g_assert_cmpfloat_with_epsilon(one->time_error, sqrt(.4 * .6 / 625), 1e-9);
		if (is_call) {
			g_assert_cmpstr(one->service, ==, "write");
			g_assert_cmpstr(one->site.file, ==, "main.c");
			g_assert_cmpuint(one->site.instruction, ==, WRITE);
		}
		lode_profile_free(profile);
	}
}

/* Pages are touched in a stub of the virtual machine, whose callers are known from the stack, or
 * from samples by time alone. */
static void test_faults_in_stub(void)
{
	const Column columns[] = {
		{"clock", {[MAIN] = 900, [COPY] = 100}}, {"page-faults", {[COPY] = 400000}}};

	for (int has_stack = 0; has_stack < 2; has_stack++) {
		LodeProfile *profile = profile_new(columns, G_N_ELEMENTS(columns));
		uint32_t in_main = add_stack(profile, MAIN, 9, LODE_NONE);
		uint32_t copy = add_stack(profile, COPY, 0, in_main);
		const LodeStackSample fault = {.event = 1,
			.weight = 400000,
			.stack = has_stack != 0 ? copy : add_stack(profile, COPY, 0, LODE_NONE)};
		profile->run.user_seconds = 1.5;
		profile->run.system_seconds = 1;
		profile->stacks->has_chains = true;
		add_weighed(profile, in_main, 900);
		add_weighed(profile, copy, 100);
		g_array_append_val(profile->stacks->samples, fault);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->cause, ==, "page-fault");
		g_assert_cmpstr(one->site.function, ==, "main");
		g_assert_cmpuint(one->site.line, ==, 9);
		lode_profile_free(profile);
	}
}

/* Threads that are started take 36 µs each; page faults may take more. */
static void test_threads(void)
{
	static const struct {
		guint threads;
		double at_calls, faults;
		const char *name;
	} cases[] = {
		{8333, 0, 100, "kernel-time@kernel"},
		{8334, 0, 100, "system-call@clone"},
		{13888, 50, 100, "system-call@write"},
		{13889, 50, 100, "system-call@clone"},
		{13889, 0, 400000, "page-fault@page faults"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = accounted(cases[i].at_calls, cases[i].faults);
		g_array_set_size(profile->thread_times, cases[i].threads);
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->name, ==, cases[i].name);
		lode_profile_free(profile);
	}
}

/* A name is said if it has half of the samples at system calls, as far as so few can tell. */
static void test_names(void)
{
	static const struct {
		double writes, reads;
		const char *service;
	} cases[] = {
		{4, 3, "system calls"},
		{1, 1, "system calls"},
		{7, 2, "write"},
		{2, 0, "write"},
		{2, 7, "read"},
		{60, 40, "write"},
		{51, 49, "system calls"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const Column columns[] = {{"clock",
			{[MAIN] = 100, [WRITE] = cases[i].writes, [READ] = cases[i].reads}}};
		LodeProfile *profile = profile_new(columns, 1);
		profile->run.user_seconds = 1.5;
		profile->run.system_seconds = 1;
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->cause, ==, "system-call");
		g_assert_cmpstr(one->service, ==, cases[i].service);
		if (i == 0)
			g_assert_cmpstr(evidence_at(one, 1), ==,
				"samples at system calls are in write 57 %, read 43 %; --kernel "
				"says how long each takes");
		lode_profile_free(profile);
	}
}

/* Several calls of one kind have its title, if it has half of the samples. */
static void test_kinds(void)
{
	static const struct {
		double opens, closes, reads;
		const char *title;
	} cases[] = {
		{30, 30, 40, "system calls for files"},
		{25, 25, 50, "system calls"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const Column columns[] = {{"clock", {[MAIN] = 100,
							    [OPEN] = cases[i].opens,
							    [CLOSE] = cases[i].closes,
							    [READ] = cases[i].reads}}};
		LodeProfile *profile = profile_new(columns, 1);
		profile->run.user_seconds = 1.5;
		profile->run.system_seconds = 1;
		g_autoptr(LodeDiagnoses) all = diagnose(profile, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==, cases[i].title);
		lode_profile_free(profile);
	}
}

static void test_none(void)
{
	LodeProfile *profile = accounted(50, 100);

	profile->run.system_seconds = 0.05;
	g_autoptr(LodeDiagnoses) little = diagnose(profile, NULL);
	g_assert_cmpuint(little->diagnoses->len, ==, 0);
	profile->run.user_seconds = 0.006;
	profile->run.system_seconds = 0.004;
	g_autoptr(LodeDiagnoses) uncertain = diagnose(profile, NULL);
	g_assert_cmpuint(uncertain->diagnoses->len, ==, 0);
	profile->run.user_seconds = profile->run.system_seconds = 0;
	g_autoptr(LodeDiagnoses) unknown = diagnose(profile, NULL);
	g_assert_cmpuint(unknown->diagnoses->len, ==, 0);
	lode_profile_free(profile);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/kernel_diagnoses/sampled", test_sampled);
	g_test_add_func("/kernel_diagnoses/accounted", test_accounted);
	g_test_add_func("/kernel_diagnoses/faults_in_stub", test_faults_in_stub);
	g_test_add_func("/kernel_diagnoses/threads", test_threads);
	g_test_add_func("/kernel_diagnoses/names", test_names);
	g_test_add_func("/kernel_diagnoses/kinds", test_kinds);
	g_test_add_func("/kernel_diagnoses/none", test_none);
	return g_test_run();
}
