/* SPDX-License-Identifier: MIT */
/* Diagnoses of the time in the kernel, on profiles made by hand. */
#include "analyses/diagnoses/kernel_diagnoses.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

#define OWN "/home/me/program"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

enum { MAIN, WRITE, FFLUSH, VFS_WRITE, FAULT, N_FUNCTIONS };

static const struct {
	const char *name, *image, *file;
} known[N_FUNCTIONS] = {
	[MAIN] = {"main", OWN, "main.c"},
	[WRITE] = {"__write", LIBC, "../sysdeps/unix/write.c"},
	[FFLUSH] = {"fflush", LIBC, NULL},
	[VFS_WRITE] = {"vfs_write", "[kernel]", NULL},
	[FAULT] = {"handle_mm_fault", "[kernel]", NULL},
};

/* The weight of each function's one instruction by an event. */
typedef struct {
	const char *event;
	double weights[N_FUNCTIONS];
} Column;

static LodeProfile *profile_new(const Column *columns, guint n_columns)
{
	LodeProfile *profile = lode_profile_new();
	uint32_t syscall = lode_profile_attribute(profile, "kind:syscall");

	for (guint c = 0; c < n_columns; c++)
		lode_profile_add_event(
			profile, columns[c].event, NULL, LODE_EVENT_SAMPLED, NULL, 0);
	profile->stacks = lode_stacks_new();
	g_array_set_size(profile->cost_starts, 0);
	for (guint i = 0; i < N_FUNCTIONS; i++) {
		const LodeImage image = {.path = lode_profile_intern(profile, known[i].image)};
		const LodeFunction function = {.name = lode_profile_intern(profile, known[i].name),
			.image = i,
			.address = 16,
			.size = 16,
			.first_instruction = i,
			.n_instructions = 1};
		const LodeInstruction instruction = {.address = 16,
			.next_count = -1,
			.function = i,
			.block = LODE_NONE,
			.attribute_set = lode_profile_attribute_set(
				profile, &syscall, i == WRITE ? 1 : 0),
			.location = known[i].file != NULL
		                            ? lode_profile_location(profile, known[i].file, 7, NULL)
		                            : LODE_NONE};
		uint32_t start = profile->costs->len;
		g_array_append_val(profile->images, image);
		g_array_append_val(profile->functions, function);
		g_array_append_val(profile->instructions, instruction);
		g_array_append_val(profile->cost_starts, start);
		for (guint c = 0; c < n_columns; c++) {
			const LodeCost cost = {c, columns[c].weights[i]};
			lode_profile_event(profile, c)->total += cost.value;
			if (cost.value > 0)
				g_array_append_val(profile->costs, cost);
		}
	}
	uint32_t end = profile->costs->len;
	g_array_append_val(profile->cost_starts, end);
	profile->n_samples = lode_profile_event(profile, 0)->total;
	return profile;
}

static uint32_t add_stack(LodeProfile *profile, uint32_t function, uint32_t line, uint32_t outer)
{
	const LodeFrame frame = {.function = lode_profile_function(profile, function)->name,
		.image = lode_profile_image(profile, function)->path,
		.file = lode_profile_intern(profile, known[function].file),
		.line = known[function].file != NULL ? line : 0};
	const LodeStack stack = {profile->stacks->frames->len, outer};

	g_array_append_val(profile->stacks->frames, frame);
	g_array_append_val(profile->stacks->stacks, stack);
	return profile->stacks->stacks->len - 1;
}

static void add_samples(LodeProfile *profile, uint32_t event, uint32_t stack, guint n)
{
	const LodeStackSample sample = {
		.event = event, .weight = n, .stack = stack, .n_more = n - 1};

	g_array_append_val(profile->stacks->samples, sample);
}

static LodeDiagnoses *diagnose(const LodeProfile *profile, LodeDiagnosis *other)
{
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	g_autofree uint32_t *family_of = NULL;

	g_array_unref(lode_families_costs(families, costs, &family_of));
	g_autoptr(LodeServices) services = lode_services_new(costs, families, family_of, NULL);
	double all = profile->user_seconds + profile->system_seconds;
	const LodeDiagnosisContext context = {.profile = profile,
		.total = lode_profile_event(profile, 0)->total,
		.user = profile->is_kernel_sampled ? 1 : profile->user_seconds / all,
		.own = own,
		.costs = costs,
		.families = families,
		.family_of = family_of,
		.services = services};
	LodeDiagnoses *out = lode_diagnoses_new();

	if (other != NULL)
		g_ptr_array_add(out->diagnoses, other);
	lode_kernel_diagnoses_add(out, &context);
	return out;
}

static const char *evidence_at(const LodeDiagnosis *diagnosis, guint i)
{
	return i < diagnosis->evidence->len
	               ? g_array_index(diagnosis->evidence, LodeEvidence, i).text
	               : NULL;
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

	profile->is_kernel_sampled = true;
	profile->stacks->has_chains = true;
	uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE),
		 in_write = add_stack(profile, WRITE, 7, in_main),
		 flush = add_stack(profile, FFLUSH, 0, add_stack(profile, MAIN, 9, LODE_NONE)),
		 within = add_stack(profile, WRITE, 7, flush);
	add_samples(profile, 0, in_main, 400);
	add_samples(profile, 0, in_write, 60);
	add_samples(profile, 0, within, 40);
	add_samples(profile, 0, add_stack(profile, VFS_WRITE, 0, in_write), 100);
	add_samples(profile, 0, add_stack(profile, VFS_WRITE, 0, within), 200);
	add_samples(profile, 0, add_stack(profile, FAULT, 0, in_main), 200);
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
	g_assert_cmpfloat_with_epsilon(calls->high, 0.95 * 0.395, 1e-9);
	g_assert_cmpstr(calls->file, ==, "main.c");
	g_assert_cmpuint(calls->line, ==, 9);
	g_assert_cmpstr(evidence_at(calls, 1), ==, "67 % of it from main.c:9");
	g_assert_cmpstr(faults->cause, ==, "page-fault");
	g_assert_cmpfloat_with_epsilon(faults->time, 0.2, 1e-9);
	g_assert_cmpuint(faults->line, ==, 7);
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

	profile->user_seconds = 1.5;
	profile->system_seconds = 1;
	uint32_t in_main = add_stack(profile, MAIN, 7, LODE_NONE);
	add_samples(profile, 0, in_main, (guint)(1000 - at_calls));
	if (at_calls > 0)
		add_samples(profile, 0, add_stack(profile, WRITE, 7, in_main), (guint)at_calls);
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
		{5, 150000, "kernel-time"},
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
			g_assert_cmpstr(one->file, ==, "main.c");
			g_assert_cmpuint(one->instruction, ==, WRITE);
		}
		lode_profile_free(profile);
	}
}

static void test_none(void)
{
	LodeProfile *profile = accounted(50, 100);

	profile->system_seconds = 0.05;
	g_autoptr(LodeDiagnoses) little = diagnose(profile, NULL);
	g_assert_cmpuint(little->diagnoses->len, ==, 0);
	profile->user_seconds = 0.006;
	profile->system_seconds = 0.004;
	g_autoptr(LodeDiagnoses) uncertain = diagnose(profile, NULL);
	g_assert_cmpuint(uncertain->diagnoses->len, ==, 0);
	profile->user_seconds = profile->system_seconds = 0;
	g_autoptr(LodeDiagnoses) unknown = diagnose(profile, NULL);
	g_assert_cmpuint(unknown->diagnoses->len, ==, 0);
	lode_profile_free(profile);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/kernel_diagnoses/sampled", test_sampled);
	g_test_add_func("/kernel_diagnoses/accounted", test_accounted);
	g_test_add_func("/kernel_diagnoses/none", test_none);
	return g_test_run();
}
