/* SPDX-License-Identifier: MIT */
/* Bounds of loops in words, in JSON, and in all. */
#include "model/observed/windows.h"
#include "model/profile.h"
#include "views/observed/loop_facts.h"

#include <math.h>

static LodeProfile *make_profile(void)
{
	LodeProfile *profile = lode_profile_new();

	profile->run.core = lode_profile_intern(profile, "Zen 3");
	profile->code.weight_event = lode_profile_add_event(
		profile, "cycles", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_event(profile, profile->code.weight_event)->total = 200;
	return profile;
}

static LodeLoop loop_of(uint32_t head)
{
	return (LodeLoop){
		.head = head,
		.iterations = 1000,
		.instructions = 6,
		.weight = 50,
		.is_innermost = true,
		.recurrence = (char *)"fp",
		.recurrence_cycles = 12,
		.other_recurrence = (char *)"alu",
		.other_cycles = 1,
		.cycles = {[LODE_UNIT_LOAD] = 1 / 3.0,
			[LODE_UNIT_BRANCH] = 1,
			[LODE_UNIT_FLOAT] = 2,
			[LODE_UNIT_PORTS] = 2,
			[LODE_UNIT_WIDTH] = 0.835},
		.iteration_ns = -1,
		.iteration_error_ns = -1,
		.load_bytes = -1,
		.store_bytes = -1,
	};
}

static void assert_text(LodeProfile *profile, const LodeLoop *loop, const char *expected)
{
	g_autoptr(GString) text = g_string_new(NULL);

	lode_loop_facts_append(profile, loop, text);
	g_assert_cmpstr(text->str, ==, expected);
}

static void test_text(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	LodeLoop loop = loop_of(0);

	assert_text(profile, &loop,
		"loop, cycles on Zen 3: recurrence fp 12, next alu 1; load 0.33, branch 1, float "
		"2, "
		"width 0.83");
	loop.other_recurrence = NULL;
	loop.other_cycles = 0;
	loop.cycles[LODE_UNIT_PORTS] = 2.5;
	loop.unmodelled = 1;
	loop.calls = 0.25;
	assert_text(profile, &loop,
		"loop, cycles on Zen 3: recurrence fp 12; load 0.33, branch 1, float 2, ports 2.5, "
		"width 0.83; not known of 1; calls 0.25");
	loop = loop_of(0);
	loop.recurrence = loop.other_recurrence = NULL;
	loop.recurrence_cycles = loop.other_cycles = 0;
	loop.cycles[LODE_UNIT_LOAD] = 123.4;
	loop.iteration_ns = 5.312;
	assert_text(profile, &loop,
		"loop, cycles on Zen 3: no recurrence; load 123, branch 1, float 2, width 0.83; "
		"measured 5.312 ns");
	profile->run.cycles_per_ns = 4;
	loop.iteration_error_ns = 0.0512;
	loop.load_bytes = 16;
	loop.store_bytes = 8;
	loop.iteration_source = (char *)"native";
	/* a bound above the time does not show */
	assert_text(profile, &loop,
		"loop, cycles on Zen 3: no recurrence; branch 1, float 2, width 0.83; "
		"measured 5.312 ns (error 0.051), 21.25 cycles, loads 3.01 bytes/ns, stores 1.51 "
		"bytes/ns");
	loop.recurrence = (char *)"store";
	loop.recurrence_cycles = 23;
	loop.load_bytes = loop.store_bytes = 0;
	assert_text(profile, &loop,
		"loop, cycles on Zen 3: recurrence not known; branch 1, float 2, width 0.83; "
		"measured 5.312 ns (error 0.051), 21.25 cycles");
	loop.recurrence_cycles = 22.9;
	assert_text(profile, &loop,
		"loop, cycles on Zen 3: recurrence store 22.9; branch 1, float 2, width 0.83; "
		"measured 5.312 ns (error 0.051), 21.25 cycles");
	const LodeLoop unbounded = {
		.recurrence_cycles = -1,
		.iteration_ns = 940,
		.iteration_error_ns = -1,
		.iteration_source = (char *)"counted",
		.load_bytes = -1,
		.store_bytes = -1,
	};
	assert_text(profile, &unbounded, "outer loop: by counts 940 ns, 3760 cycles");
	LodeLoop slow = unbounded;
	slow.iteration_ns = 380123.4;
	slow.iteration_error_ns = 152.3;
	assert_text(profile, &slow, "outer loop: by counts 380123 ns (error 152), 1520494 cycles");
	slow.iteration_source = (char *)"carried";
	slow.iteration_ns = 18.5;
	slow.iteration_error_ns = 2;
	assert_text(profile, &slow, "outer loop: by the loop around 18.5 ns (error 2), 74 cycles");
	const LodeObservedInstruction seen = {.loop_rounds = 900, .loop_exits = 9};
	profile->windows = lode_windows_new();
	g_array_append_val(profile->windows->instructions, seen);
	assert_text(profile, &slow,
		"outer loop: by the loop around 18.5 ns (error 2), 74 cycles; iterations each time "
		"100 (error 33)");
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 0).loop_exits = 0;
	assert_text(profile, &slow,
		"outer loop: by the loop around 18.5 ns (error 2), 74 cycles; iterations each time "
		"300 or more");
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 0).loop_rounds = 29;
	assert_text(profile, &slow, "outer loop: by the loop around 18.5 ns (error 2), 74 cycles");
	profile->run.cycles_per_ns = 0;
	loop.recurrence_cycles = -1;
	loop.cycles[LODE_UNIT_LOAD] = 99.96;
	loop.iteration_ns = -1;
	assert_text(profile, &loop,
		"loop, cycles on Zen 3: no usual way; load 100, branch 1, float 2, width 0.83");
	loop.is_innermost = false;
	profile->run.core = NULL;
	assert_text(
		profile, &loop, "outer loop, cycles on ?: load 100, branch 1, float 2, width 0.83");
}

static void test_sums(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	const LodeLoop first = loop_of(3), second = loop_of(5), outer = loop_of(8);

	g_array_append_val(profile->loops, first);
	g_array_append_val(profile->loops, second);
	g_array_append_val(profile->loops, outer);
	LODE_AT(profile->loops, LodeLoop, 1).recurrence_cycles = 1.5;
	LODE_AT(profile->loops, LodeLoop, 2).is_innermost = false;
	LodeLoopSums sums = lode_loop_facts_sum(profile);
	g_assert_cmpuint(sums.n_innermost, ==, 2);
	g_assert_cmpuint(sums.n_outer, ==, 1);
	g_assert_cmpuint(sums.n_carried, ==, 1);
	g_assert_cmpfloat(sums.weight_share, ==, 0.5);
	g_assert_cmpuint(sums.n_timed, ==, 0);
	LODE_AT(profile->loops, LodeLoop, 1).iteration_ns = 3;
	LODE_AT(profile->loops, LodeLoop, 2).iteration_ns = 30;
	sums = lode_loop_facts_sum(profile);
	g_assert_cmpuint(sums.n_timed, ==, 2);
	g_assert_cmpfloat(sums.timed_share, ==, 0.5);
	LODE_AT(profile->loops, LodeLoop, 1).weight = -1; /* of a part */
	g_assert_true(isnan(lode_loop_facts_sum(profile).weight_share));
	g_assert_nonnull(lode_loops_find(profile, 5));
	g_assert_null(lode_loops_find(profile, 4));
	g_assert_null(lode_loops_find(profile, UINT32_MAX));
}

/* The heaviest first, with each bound that is left out. */
static void test_above(void)
{
	g_autoptr(LodeProfile) profile = make_profile();
	const LodeFunction function = {.name = (char *)"int sum(int)", .n_instructions = 3};
	g_autofree char *none = lode_loop_facts_above(profile);

	g_assert_cmpstr(none, ==, "");
	g_array_append_val(profile->code.functions, function);
	for (uint32_t i = 0; i < 3; i++) {
		const LodeInstruction instruction = {.address = 0x1136 + i};
		LodeLoop loop = loop_of(i);
		loop.weight = 50 + i;
		loop.iteration_ns = 2;
		loop.iteration_error_ns = 0.1;
		g_array_append_val(profile->code.instructions, instruction);
		g_array_append_val(profile->loops, loop);
	}
	LODE_AT(profile->loops, LodeLoop, 0).iteration_ns = 3;
	LODE_AT(profile->loops, LodeLoop, 2).cycles[LODE_UNIT_LOAD] = 9.4;
	profile->run.cycles_per_ns = 4;
	g_autofree char *text = lode_loop_facts_above(profile);
	g_assert_cmpstr(text, ==,
		"sum(int) (0x1138) recurrence fp 12 load 9.4, measured 8; sum(int) (0x1137) "
		"recurrence "
		"fp 12, measured 8");
	g_assert_cmpuint(lode_loop_facts_sum(profile).n_above, ==, 2);
	g_assert_cmpuint(lode_loop_facts_sum(profile).n_carried, ==, 1);
	g_assert_cmpuint(
		lode_loop_wrong_bounds(profile, &LODE_AT(profile->loops, LodeLoop, 0)), ==, 0);
	profile->run.cycles_per_ns = 0;
	g_assert_cmpuint(lode_loop_facts_sum(profile).n_above, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/loop_facts/text", test_text);
	g_test_add_func("/loop_facts/sums", test_sums);
	g_test_add_func("/loop_facts/above", test_above);
	return g_test_run();
}
