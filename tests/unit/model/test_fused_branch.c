/* SPDX-License-Identifier: MIT */
/* Which compares and branches share their events. */
#include "model/observed/fused_branch.h"

#include "model/profile.h"

static const struct {
	const char *op;
	bool is_branch;
	uint32_t function;
	uint32_t gap; /* bytes before it that never ran */
	int other;    /* that it is fused with; −1: none */
} code[] = {
	{"op:cmp", false, 0, 0, 1},
	{"op:jnz", true, 0, 0, 0},
	{"op:test", false, 0, 0, 3},
	{"op:jz", true, 0, 0, 2},
	{"op:add", false, 0, 0, -1},
	{"op:jnz", true, 0, 0, -1},
	{"op:cmp", false, 0, 0, -1},
	{"op:mov", false, 0, 0, -1},
	{"op:jnz", true, 0, 0, -1},
	{"op:cmp", false, 0, 0, -1},
	{"op:jnz", true, 0, 2, -1},
	{"op:cmp", false, 0, 0, -1},
	{"op:jnz", true, 1, 0, -1},
	{"op:cmp", false, 1, 0, -1},
	{"op:cmp", false, 1, 0, 15},
	{"op:jnz", true, 1, 0, 14},
	{"op:cmp", false, 1, 0, -1},
};

static LodeProfile *make_profile(void)
{
	LodeProfile *profile = lode_profile_new();
	uint32_t event = lode_profile_add_event(
		profile, "branch-miss", NULL, LODE_EVENT_RECORDED, NULL, 0);
	uint64_t address = 0x1000;

	g_array_set_size(profile->code.cost_starts, 0);
	for (uint32_t i = 0; i < G_N_ELEMENTS(code); i++) {
		uint32_t ids[2] = {lode_profile_attribute(profile, code[i].op)}, n = 1;
		const LodeCost cost = {event, 1 << i};
		if (code[i].is_branch)
			ids[n++] = lode_profile_attribute(profile, "kind:branch");
		address += code[i].gap;
		const LodeInstruction instruction = {.address = address,
			.function = code[i].function,
			.size = 2,
			.attribute_set = lode_profile_attribute_set(profile, ids, n)};
		address += 2;
		g_array_append_val(profile->code.instructions, instruction);
		g_array_append_val(profile->code.cost_starts, i);
		g_array_append_val(profile->code.costs, cost);
	}
	const uint32_t end = profile->code.costs->len;
	g_array_append_val(profile->code.cost_starts, end);
	return profile;
}

static void test_pairs(void)
{
	g_autoptr(LodeProfile) profile = make_profile();

	for (uint32_t i = 0; i < G_N_ELEMENTS(code); i++) {
		uint32_t other = lode_fused_with(profile, i);
		double value = 1 << i;
		g_test_message("%u: %s", i, code[i].op);
		g_assert_cmpint(other == LODE_NONE ? -1 : (int)other, ==, code[i].other);
		if (code[i].other >= 0)
			value += 1 << code[i].other;
		g_assert_cmpfloat(lode_fused_event_value(profile, 0, i), ==, value);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fused_branch/pairs", test_pairs);
	return g_test_run();
}
