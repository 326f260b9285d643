/* SPDX-License-Identifier: MIT */
/* The targets of this very program, which knows some of its labels. */
#include "images/targets/branch_targets.h"

#include "base/error.h"

#include <glib/gstdio.h>
#include <link.h>
#include <string.h>

enum { N_CASES = 8, N_LABELS = 5 };

static uintptr_t called_from[N_CASES];
static volatile unsigned result_of_all; /* so that no case ends in a jump to note_case */

static __attribute__((noinline)) void note_case(unsigned i)
{
	called_from[i] = (uintptr_t)__builtin_return_address(0);
}

/* Too unlike to become anything but a table of distances. */
static __attribute__((noinline)) unsigned switch_on(unsigned value, unsigned result)
{
	switch (value) {
	case 0:
		note_case(0);
		return result * 3;
	case 1:
		note_case(1);
		return result ^ 77;
	case 2:
		note_case(2);
		result += 5; /* falls through */
	case 3:
		note_case(3);
		return result << 3;
	case 4:
		note_case(4);
		return result - 9;
	case 5:
		note_case(5);
		return result / 7;
	case 6:
		note_case(6);
		result |= 64; /* falls through */
	case 7:
		note_case(7);
		return result % 11;
	default:
		return 1;
	}
}

/* Goes to label `program[0]`, and on, and says where the labels are. */
static __attribute__((noinline)) int go_to(const uint8_t *program, uintptr_t *out_labels)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
	static const int DISTANCES[] = {
		&&first - &&first, &&second - &&first, &&third - &&first, &&fourth - &&first};
#pragma GCC diagnostic pop
	static void *const POINTERS[] = {&&first, &&fifth};
	int result = 0;

	out_labels[0] = (uintptr_t)(&&first + DISTANCES[0]);
	for (unsigned i = 1; i < 4; i++)
		out_labels[i] = (uintptr_t)(&&first + DISTANCES[i]);
	out_labels[4] = (uintptr_t)POINTERS[1];
	goto *(&&first + DISTANCES[*program++]);
first:
	result += 3;
	goto *(&&first + DISTANCES[*program++]);
second:
	result *= 5;
third:
	result -= *program;
	goto *(&&first + DISTANCES[*program++]);
fourth:
	result ^= 9;
	goto *POINTERS[*program++];
fifth:
	return result;
}

static int take_bias(struct dl_phdr_info *info, size_t size, void *out_bias)
{
	(void)size;
	*(uintptr_t *)out_bias = info->dlpi_addr; /* the program itself comes first */
	return 1;
}

/* Whether data leads to an address in (above, upto]. */
static bool has_from_data(const LodeBranchTargets *targets, uint64_t above, uint64_t upto)
{
	guint end = lode_branch_targets_above(targets, upto);

	for (guint i = lode_branch_targets_above(targets, above); i < end; i++) {
		if (g_array_index(targets->targets, LodeBranchTarget, i).source == 0)
			return true;
	}
	return false;
}

static void test_tables(void)
{
	static const uint8_t PROGRAM[] = {0, 1, 2, 3, 1};
	g_auto(LodeBranchTargets) targets = {0};
	g_autoptr(GError) error = NULL;
	uintptr_t labels[N_LABELS], bias = 0;

	dl_iterate_phdr(take_bias, &bias);
	lode_branch_targets_init(&targets);
	g_assert_true(lode_branch_targets_read(&targets, "/proc/self/exe", &error));
	g_assert_no_error(error);
	g_assert_true(targets.has_tables);
	for (unsigned i = 0; i < N_CASES; i++) {
		uint64_t after;

		result_of_all += switch_on(i, i + result_of_all);
		after = called_from[i] - bias;
		/* a case begins a few instructions before its call returns */
		g_assert_true(has_from_data(&targets, after - 64, after - 1));
	}
	g_assert_cmpint(go_to(PROGRAM, labels), !=, 0);
	for (unsigned i = 0; i < N_LABELS; i++)
		g_assert_true(has_from_data(&targets, labels[i] - bias - 1, labels[i] - bias));
	g_assert_true(lode_branch_targets_has_indirect_jump(
		&targets, (uintptr_t)go_to - bias, (uintptr_t)go_to - bias + 1024));
}

static void test_code(void)
{
	static const uint8_t CODE[] = {
		0x74, 0x05,                               /* 0 je 7 */
		0xe8, 0x02, 0, 0, 0,                      /* 2 call 9 */
		0xeb, 0xfe,                               /* 7 jmp 7 */
		0x48, 0x8d, 0x05, 0xf0, 0xff, 0xff, 0xff, /* 9 lea rax, [rip-16]: 0 */
		0xff, 0xe0,                               /* 10 jmp rax */
		0xff, 0x25, 0, 0, 0, 0,                   /* 12 jmp [rip]: a GOT's */
	};
	static const LodeBranchTarget EXPECTED[] = {
		{0x1000, 0x1009}, {0x1007, 0x1000}, {0x1007, 0x1007}, {0x1009, 0x1002}};
	g_auto(LodeBranchTargets) targets = {0};

	lode_branch_targets_init(&targets);
	lode_branch_targets_add(&targets, CODE, sizeof CODE, 0x1000);
	lode_branch_targets_sort(&targets);
	g_assert_cmpuint(targets.targets->len, ==, G_N_ELEMENTS(EXPECTED));
	for (guint i = 0; i < G_N_ELEMENTS(EXPECTED); i++) {
		const LodeBranchTarget *is = &g_array_index(targets.targets, LodeBranchTarget, i);

		g_assert_cmphex(is->target, ==, EXPECTED[i].target);
		g_assert_cmphex(is->source, ==, EXPECTED[i].source);
	}
	g_assert_cmpuint(lode_branch_targets_above(&targets, 0xfff), ==, 0);
	g_assert_cmpuint(lode_branch_targets_above(&targets, 0x1007), ==, 3);
	g_assert_cmpuint(lode_branch_targets_above(&targets, UINT64_MAX), ==, 4);
	g_assert_cmpuint(targets.indirect_jumps->len, ==, 1);
	g_assert_true(lode_branch_targets_has_indirect_jump(&targets, 0x1010, 0x1011));
	g_assert_false(lode_branch_targets_has_indirect_jump(&targets, 0x1011, 0x2000));
	g_assert_false(targets.has_tables);
}

static void test_no_file(void)
{
	g_auto(LodeBranchTargets) targets = {0};
	g_autoptr(GError) error = NULL;

	lode_branch_targets_init(&targets);
	g_assert_false(lode_branch_targets_read(&targets, "/nowhere", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_false(targets.has_tables);
}

/* So many calls that they are not sorted by comparing; in two parts, the upper one first. */
static void test_many_calls(void)
{
	enum { N_CALLS = 40000, SIZE = 5 };
	g_autofree uint8_t *code = g_malloc(N_CALLS * SIZE);
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	g_auto(LodeBranchTargets) targets;
	uint64_t sum = 0;

	lode_branch_targets_init(&targets);
	for (int part = 0; part < 2; part++) {
		const uint64_t address = part == 0 ? UINT64_C(0x7f0000000000) : 0x400000;

		for (guint i = 0; i < N_CALLS; i++) {
			const int32_t distance = g_rand_int_range(rand, -300000, 300000);

			code[i * SIZE] = 0xe8;
			memcpy(code + i * SIZE + 1, &distance, sizeof distance);
			sum += address + (i + 1) * SIZE + (uint64_t)(int64_t)distance;
		}
		lode_branch_targets_add(&targets, code, N_CALLS * SIZE, address);
	}
	lode_branch_targets_sort(&targets);
	g_assert_cmpuint(targets.targets->len, ==, 2 * N_CALLS);
	for (guint i = 0; i < targets.targets->len; i++) {
		const LodeBranchTarget *own = &g_array_index(targets.targets, LodeBranchTarget, i);

		sum -= own->target;
		g_assert_true(i == 0 || own[-1].target < own->target ||
			      (own[-1].target == own->target && own[-1].source < own->source));
	}
	g_assert_cmpuint(sum, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/branch_targets/tables", test_tables);
	g_test_add_func("/images/branch_targets/code", test_code);
	g_test_add_func("/images/branch_targets/no_file", test_no_file);
	g_test_add_func("/images/branch_targets/many_calls", test_many_calls);
	return g_test_run();
}
