/* SPDX-License-Identifier: MIT */
/* TLBs by what CPUID answers, as recorded or as the manuals have it. */
#include "machine/machine_tlbs.h"

#include <glib.h>
#include <string.h>

typedef struct {
	uint32_t leaf, subleaf, words[4];
} Answer;

typedef struct {
	const Answer *answers;
	size_t n;
} Answers;

static void answer(uint32_t leaf, uint32_t subleaf, uint32_t out[4], void *data)
{
	const Answers *self = data;

	for (size_t i = 0; i < self->n; i++)
		if (self->answers[i].leaf == leaf && self->answers[i].subleaf == subleaf)
			memcpy(out, self->answers[i].words, sizeof(self->answers[i].words));
}

/* "first/ways second/ways"; "" where nothing is known. */
static void check(const Answer *answers, size_t n, const char *expected)
{
	Answers all = {answers, n};
	LodeMachineTlbs tlbs;
	g_autofree char *text = NULL;

	if (lode_machine_tlbs_of(&tlbs, answer, &all))
		text = g_strdup_printf("%u/%u %u/%u", (unsigned)tlbs.first.n_entries,
			(unsigned)tlbs.first.n_ways, (unsigned)tlbs.second.n_entries,
			(unsigned)tlbs.second.n_ways);
	g_assert_cmpstr(text, ==, expected);
}

#define AMD 0x68747541, 0x444d4163, 0x69746e65
#define INTEL 0x756e6547, 0x6c65746e, 0x49656e69

static void test_amd(void)
{
	/* EPYC 9005, a virtual machine; numbers of the second level in units of 32 */
	static const Answer zen5[] = {{0, 0, {0x1c, AMD}}, {1, 0, {0xb00f21, 0, 0, 0}},
		{0x80000005, 0, {0xff60ff40, 0xff60ff40, 0, 0}},
		{0x80000006, 0, {0x40802040, 0x60804040, 0, 0}},
		{0x80000021, 0, {1 << 14, 0, 0, 0}}};
	/* the unit is hidden: the family */
	static const Answer unit[] = {{0, 0, {0x1c, AMD}}, {1, 0, {0xb00f21, 0, 0, 0}},
		{0x80000005, 0, {0xff60ff40, 0xff60ff40, 0, 0}},
		{0x80000006, 0, {0x40802040, 0x60804040, 0, 0}}};
	/* all are hidden */
	static const Answer hidden[] = {{0, 0, {0x10, AMD}}, {1, 0, {0xa00f11, 0, 0, 0}}};
	static const Answer zen2[] = {{0, 0, {0x10, AMD}}, {1, 0, {0x830f10, 0, 0, 0}},
		{0x80000005, 0, {0, 0xff40ff40, 0, 0}}, {0x80000006, 0, {0, 0x68006400, 0, 0}}};

	check(zen5, G_N_ELEMENTS(zen5), "96/96 4096/8");
	check(unit, G_N_ELEMENTS(unit), "96/96 4096/16");
	check(hidden, G_N_ELEMENTS(hidden), "64/64 2048/16");
	check(zen2, G_N_ELEMENTS(zen2), "64/64 2048/8");
}

static void test_intel(void)
{
	static const Answer skylake[] = {{0, 0, {0x16, INTEL}}, {1, 0, {0x506e3, 0, 0, 0}},
		{2, 0, {0x76036301, 0x00f0b5ff, 0, 0x00c30000}}};
	static const Answer ice_lake[] = {{0, 0, {0x1b, INTEL}}, {0x18, 0, {3, 0, 0, 0}},
		{0x18, 1, {0, 0x00080007, 16, 0x22}},   /* code */
		{0x18, 2, {0, 0x00040001, 16, 0x21}},   /* data, 4 KiB */
		{0x18, 3, {0, 0x00100003, 128, 0x43}}}; /* all, second level */
	static const Answer hidden[] = {{0, 0, {0x16, INTEL}}, {1, 0, {0x50657, 0, 0, 0}}};

	check(skylake, G_N_ELEMENTS(skylake), "64/4 1536/6");
	check(ice_lake, G_N_ELEMENTS(ice_lake), "64/4 2048/16");
	check(hidden, G_N_ELEMENTS(hidden), "64/4 1536/12");
}

static void test_unknown(void)
{
	static const Answer other[] = {{0, 0, {1, 0x20202020, 0x20202020, 0x20202020}}};
	/* as many sets as are no power of two; more ways than entries; an endless leaf */
	static const Answer odd[] = {{0, 0, {0x1b, INTEL}}, {1, 0, {0, 0, 0, 0}},
		{0x18, 0, {UINT32_MAX, 0x00040001, 15, 0x21}}};
	static const Answer wrong[] = {{0, 0, {0x1c, AMD}}, {0x80000005, 0, {0, 0x20100000, 0, 0}}};

	check(NULL, 0, NULL);
	check(other, G_N_ELEMENTS(other), NULL);
	check(odd, G_N_ELEMENTS(odd), NULL);
	check(wrong, G_N_ELEMENTS(wrong), NULL);
}

static void test_this(void)
{
	LodeMachineTlbs tlbs;

	if (!lode_machine_tlbs_init(&tlbs))
		return;
	g_assert_cmpuint(tlbs.first.n_ways, >, 0);
	g_assert_cmpuint(tlbs.first.n_entries % tlbs.first.n_ways, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/machine_tlbs/amd", test_amd);
	g_test_add_func("/machine_tlbs/intel", test_intel);
	g_test_add_func("/machine_tlbs/unknown", test_unknown);
	g_test_add_func("/machine_tlbs/this", test_this);
	return g_test_run();
}
