/* SPDX-License-Identifier: MIT */
/* Where branches lead, beside the conditions as the manual has them. */
#include "images/targets/branch_way.h"

#include <glib.h>
#include <string.h>

enum { CF = 1, PF = 1 << 2, ZF = 1 << 6, SF = 1 << 7, OF = 1 << 11 };

static const uint64_t all_flags[] = {CF, PF, ZF, SF, OF};

static bool read_word(void *data, uint64_t address, uint64_t *out_word)
{
	const uint64_t *known = data;

	*out_word = known[1];
	return address == known[0];
}

/* UINT64_MAX: not known. */
static uint64_t way(
	const char *bytes, size_t size, uint64_t flags, const uint64_t *registers, uint64_t *known)
{
	const LodeBranchState state = {registers, flags, known != NULL ? read_word : NULL, known};
	uint64_t target = 0;

	return lode_branch_way((const uint8_t *)bytes, size, 0x1000, &state, &target) ? target
	                                                                              : UINT64_MAX;
}

static bool holds(unsigned code, uint64_t flags)
{
	bool c = flags & CF, p = flags & PF, z = flags & ZF, s = flags & SF, o = flags & OF;
	const bool pairs[] = {o, c, z, c || z, s, p, s != o, z || s != o};

	return pairs[code / 2] != (code & 1);
}

static void test_conditions(void)
{
	const uint64_t registers[16] = {0};

	for (unsigned code = 0; code < 16; code++)
		for (unsigned set = 0; set < 1u << G_N_ELEMENTS(all_flags); set++) {
			uint64_t flags = 0x202;
			for (unsigned i = 0; i < G_N_ELEMENTS(all_flags); i++)
				flags |= (set >> i & 1) != 0 ? all_flags[i] : 0;
			const char near[] = {(char)(0x70 + code), 0x10};
			const char far[] = {0x0f, (char)(0x80 + code), -6, -1, -1, -1};
			g_assert_cmphex(way(near, 2, flags, registers, NULL), ==,
				holds(code, flags) ? 0x1012 : 0x1002);
			g_assert_cmphex(way(far, 6, flags, registers, NULL), ==,
				holds(code, flags) ? 0x1000 : 0x1006);
		}
}

static void test_counts(void)
{
	uint64_t registers[16] = {0};

	g_assert_cmphex(way("\xe3\x10", 2, 0, registers, NULL), ==, 0x1012); /* jrcxz */
	registers[1] = UINT64_C(1) << 32;
	g_assert_cmphex(way("\xe3\x10", 2, 0, registers, NULL), ==, 0x1002);
	g_assert_cmphex(way("\x67\xe3\x10", 3, 0, registers, NULL), ==, 0x1013); /* jecxz */
	registers[1] = 1;
	g_assert_cmphex(way("\xe2\x10", 2, 0, registers, NULL), ==, 0x1002); /* loop */
	registers[1] = 0;
	g_assert_cmphex(way("\xe2\x10", 2, 0, registers, NULL), ==, 0x1012);
	registers[1] = 2;
	g_assert_cmphex(way("\xe1\x10", 2, ZF, registers, NULL), ==, 0x1012); /* loope */
	g_assert_cmphex(way("\xe1\x10", 2, 0, registers, NULL), ==, 0x1002);
	g_assert_cmphex(way("\xe0\x10", 2, ZF, registers, NULL), ==, 0x1002); /* loopne */
	g_assert_cmphex(way("\xe0\x10", 2, 0, registers, NULL), ==, 0x1012);
}

static void test_targets(void)
{
	uint64_t registers[16] = {0}, known[2] = {0x5018, 0x7777};

	registers[0] = 0x4000;
	registers[3] = 0x5000;
	registers[8] = 3;
	g_assert_cmphex(way("\xeb\x10", 2, 0, registers, NULL), ==, 0x1012);
	g_assert_cmphex(way("\xe8\x10\0\0\0", 5, 0, registers, NULL), ==, 0x1015);
	g_assert_cmphex(way("\xff\xd0", 2, 0, registers, NULL), ==, 0x4000); /* call rax */
	g_assert_cmphex(way("\xff\xe0", 2, 0, registers, NULL), ==, 0x4000); /* jmp rax */
	/* call [rbx + 0x18], jmp [rbx + r8 * 8] */
	g_assert_cmphex(way("\xff\x53\x18", 3, 0, registers, known), ==, 0x7777);
	g_assert_cmphex(way("\x42\xff\x24\xc3", 4, 0, registers, known), ==, 0x7777);
	g_assert_cmphex(way("\xff\x53\x18", 3, 0, registers, NULL), ==, UINT64_MAX);
	g_assert_cmphex(way("\xff\x53\x10", 3, 0, registers, known), ==, UINT64_MAX);
	/* jmp [rip + 0x10]: as the linkage table does */
	known[0] = 0x1016;
	g_assert_cmphex(way("\xff\x25\x10\0\0\0", 6, 0, registers, known), ==, 0x7777);
	/* call [rsp + 8], call fs:[rbx], ret, add, and what is no instruction */
	known[0] = 8;
	g_assert_cmphex(way("\xff\x54\x24\x08", 4, 0, registers, known), ==, UINT64_MAX);
	known[0] = 0x5000;
	g_assert_cmphex(way("\x64\xff\x13", 3, 0, registers, known), ==, UINT64_MAX);
	g_assert_cmphex(way("\xc3", 1, 0, registers, known), ==, UINT64_MAX);
	g_assert_cmphex(way("\x01\xc8", 2, 0, registers, known), ==, UINT64_MAX);
	g_assert_cmphex(way("\x06", 1, 0, registers, known), ==, UINT64_MAX);
	g_assert_cmphex(way("\xff", 1, 0, registers, known), ==, UINT64_MAX);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/branch_way/conditions", test_conditions);
	g_test_add_func("/images/branch_way/counts", test_counts);
	g_test_add_func("/images/branch_way/targets", test_targets);
	return g_test_run();
}
