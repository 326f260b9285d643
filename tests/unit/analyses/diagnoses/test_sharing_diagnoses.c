/* SPDX-License-Identifier: MIT */
/* Diagnoses of lines that threads share, on samples made by hand. */
#include "analyses/diagnoses/thread_diagnoses.h"
#include "model/findings.h"
#include "model/memory.h"
#include "model/profile.h"

#include "code_profile.h"

#include <string.h>

enum { N_THREADS = 2, N_SAMPLES = 400, LINE = 0x1000 };

/* Two lines of source with an instruction each, of which the second has more weight, and one that
 * shares nothing. */
static LodeProfile *profile_new(void)
{
	LodeProfile *profile = code_profile_new();

	profile->memory = lode_memory_new();
	profile->memory->is_stall_weighted = true;
	for (uint32_t i = 0; i < N_THREADS; i++) {
		const LodeThread thread = {.pid = 10, .tid = 10 + i, .ordinal = i};
		g_array_append_val(profile->memory->threads, thread);
	}
	code_profile_function(profile, "count");
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t at = code_profile_add(profile, "kind:store", i == 1 ? 300 : 100);
		lode_profile_instruction(profile, at)->location = lode_profile_location(
			profile, "/home/me/count.c", 10 + i, NULL);
	}
	const LodeDataObject object = {.name = lode_profile_intern(profile, "struct counters")};
	g_array_append_val(profile->memory->objects, object);
	code_profile_finish(profile);
	return profile;
}

static void add(LodeProfile *profile, uint32_t thread, uint64_t address, uint64_t time_ns)
{
	uint32_t instruction = thread % 2;
	const LodeMemorySample sample = {
		.weight = 1,
		.time_ns = time_ns,
		.pc = 0x1000 + 4 * instruction,
		.access_pc = 0x1000 + 4 * instruction,
		.address = address,
		.thread = thread,
		.instruction = instruction,
		.access_instruction = instruction,
		.access_function = 0,
		.access_location = lode_profile_instruction(profile, instruction)->location,
		.object = 0,
		.mapping = LODE_NONE,
		.allocation = LODE_NONE,
		.node = UINT32_MAX,
		.size = 8,
		.rule = LODE_RULE_AT_PC,
		.access = LODE_ACCESS_STORE,
	};

	g_array_append_val(profile->memory->samples, sample);
}

/* A sample in `every` is of the line, by both threads in turns of `turn` samples; the bytes of the
 * second thread are so far from those of the first. */
static LodeDiagnoses *diagnose(
	LodeProfile *profile, uint32_t distance, uint32_t turn, uint32_t every, double user)
{
	LodeDiagnoses *out = lode_diagnoses_new();
	g_auto(CodeContext) context;

	g_array_set_size(profile->memory->samples, 0);
	for (uint32_t i = 0, n = 0; i < N_SAMPLES; i++) {
		bool is_shared = i % every == 0;
		uint32_t thread = (is_shared ? n / turn : i) % N_THREADS;
		n += is_shared;
		add(profile, thread, is_shared ? LINE + thread * distance : 0x100000 + 64 * i,
			100 * (uint64_t)i);
	}
	code_context_init(&context, profile);
	context.context.user = user;
	lode_sharing_diagnoses_add(out, &context.context);
	return out;
}

static void check(const LodeDiagnoses *all, bool is_false, double time)
{
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "shared-line");
	g_assert_cmpint(one->scope, ==, LODE_SCOPE_OBJECT);
	g_assert_true((strstr(one->explanation, "false sharing") != NULL) == is_false);
	g_assert_cmpstr(one->object, ==, "struct counters");
	g_assert_cmpstr(one->site.function, ==, "count");
	g_assert_cmpstr(one->site.file, ==, "/home/me/count.c");
	g_assert_cmpfloat(one->time, <=, time + 1e-9);
	g_assert_cmpfloat(one->time, >=, 0.9 * time);
	g_assert_cmpfloat(one->high, ==, one->time);
	/* The instructions of both lines, the one with most time first. */
	g_assert_cmpuint(one->places, ==, 2);
	g_assert_cmpuint(one->functions, ==, 1);
	g_assert_cmpuint(g_array_index(one->at, LodeFindingPlace, 0).instruction, ==, 1);
	g_assert_cmpuint(g_array_index(one->at, LodeFindingPlace, 1).instruction, ==, 0);
	g_assert_cmpfloat(
		g_array_index(one->evidence, LodeEvidence, 1).value, ==, is_false ? 100 : 0);
}

static void test_kinds(void)
{
	g_autoptr(LodeProfile) profile = profile_new();

	g_autoptr(LodeDiagnoses) other_bytes = diagnose(profile, 8, 1, 1, 1);
	check(other_bytes, true, 1);
	g_autoptr(LodeDiagnoses) same_bytes = diagnose(profile, 0, 1, 1, 1);
	check(same_bytes, false, 1);
	/* of the processor time, of which some is the kernel's */
	g_autoptr(LodeDiagnoses) part = diagnose(profile, 8, 1, 4, 0.8);
	check(part, true, 0.2);
}

static void test_none(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	static const struct {
		uint32_t distance, turn, every;
	} cases[] = {
		{64, 1, 1},  /* different lines */
		{8, 1, 64},  /* less than 2 % */
		{8, 40, 1},  /* a task that moves between threads ten times */
		{8, 400, 1}, /* one thread alone */
		{8, 200, 1}, /* one after the other */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeDiagnoses) all = diagnose(
			profile, cases[i].distance, cases[i].turn, cases[i].every, 1);
		g_assert_cmpuint(all->diagnoses->len, ==, 0);
	}
	profile->memory->is_stall_weighted = false;
	g_autoptr(LodeDiagnoses) counted = diagnose(profile, 8, 1, 1, 1);
	g_assert_cmpuint(counted->diagnoses->len, ==, 0);
}

/* A task that moves between threads, none of which does anything else, uses the line twice on each:
 * as often as in a random order. */
static void test_moved_task(void)
{
	g_autoptr(LodeProfile) profile = profile_new();
	g_autoptr(LodeDiagnoses) all = lode_diagnoses_new();
	g_auto(CodeContext) context;

	for (uint32_t i = 0; i < N_SAMPLES; i++)
		add(profile, i / 20 % N_THREADS, i % 10 == 0 ? LINE : 0x100000 + 64 * i,
			100 * (uint64_t)i);
	code_context_init(&context, profile);
	lode_sharing_diagnoses_add(all, &context.context);
	g_assert_cmpuint(all->diagnoses->len, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sharing_diagnoses/kinds", test_kinds);
	g_test_add_func("/sharing_diagnoses/none", test_none);
	g_test_add_func("/sharing_diagnoses/moved_task", test_moved_task);
	return g_test_run();
}
