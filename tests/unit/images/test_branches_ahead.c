/* SPDX-License-Identifier: MIT */
/* The branches that a sampled thread comes to next. */
#include "images/data/branches_ahead.h"

#include <glib.h>
#include <string.h>

enum { START = 0x1000, RDI = 7, RSI = 6, RAX = 0, ZF = 1 << 6 };

static const uint8_t code[] = {
	0x85, 0xff,       /* 1000 test edi, edi */
	0x74, 0x0a,       /* 1002 je   100e */
	0x83, 0xfe, 0x05, /* 1004 cmp  esi, 5 */
	0x72, 0xf7,       /* 1007 jb   1000 */
	0x8b, 0x06,       /* 1009 mov  eax, [rsi] */
	0x83, 0xf8, 0x05, /* 100b cmp  eax, 5 */
	0x72, 0xf0,       /* 100e jb   1000 */
	0xff, 0xe0,       /* 1010 jmp  rax */
};

static const uint8_t *bytes(void *data, uint64_t address, size_t *out_size)
{
	(void)data;
	if (address < START || address >= START + sizeof(code))
		return NULL;
	*out_size = START + sizeof(code) - (size_t)address;
	return code + (address - START);
}

static unsigned ahead(uint64_t pc, const LodeUserRegisters *registers, LodeBranchAhead *out)
{
	const LodeDataAccessContext context = {.bytes = bytes};
	const LodeDataAccessQuestion question = {
		.pc = pc, .bias = 0x550000, .registers = registers};

	return lode_branches_ahead(&context, &question, out);
}

static void check(LodeBranchAhead found, uint64_t source, uint64_t target)
{
	g_assert_cmphex(found.source, ==, source);
	g_assert_cmphex(found.target, ==, target);
}

/* Up to what depends on a loaded value, and not twice around. */
static void test_ways(void)
{
	LodeUserRegisters registers = {.known = (1u << LODE_N_REGISTERS) - 1};
	LodeBranchAhead out[LODE_BRANCHES_AHEAD];

	registers.values[RDI] = 1;
	registers.values[RSI] = 7;
	g_assert_cmpuint(ahead(0x1000, &registers, out), ==, 2);
	check(out[0], 0x1002, 0x1004);
	check(out[1], 0x1007, 0x1009);
	registers.values[RSI] = 4;
	g_assert_cmpuint(ahead(0x1000, &registers, out), ==, 2);
	check(out[1], 0x1007, 0x1000);
	/* carry is that of test, 0: not taken; then a jump out of the image */
	registers.values[RDI] = 0;
	g_assert_cmpuint(ahead(0x1000, &registers, out), ==, 2);
	check(out[0], 0x1002, 0x100e);
	check(out[1], 0x100e, 0x1010);
	registers.values[RAX] = 0x551004;
	registers.values[RSI] = 9;
	g_assert_cmpuint(ahead(0x1010, &registers, out), ==, 2);
	check(out[0], 0x1010, 0x1004);
	check(out[1], 0x1007, 0x1009);
	/* after the load its value is known */
	registers.values[RAX] = 4;
	g_assert_cmpuint(ahead(0x100b, &registers, out), ==, 3);
	check(out[0], 0x100e, 0x1000);
}

/* Sampled flags decide a branch that is sampled itself. */
static void test_flags(void)
{
	LodeUserRegisters registers = {.known = (1u << LODE_N_REGISTERS) - 1};
	LodeBranchAhead out[LODE_BRANCHES_AHEAD];

	registers.values[RSI] = 9;
	registers.values[LODE_REGISTER_FLAGS] = ZF;
	g_assert_cmpuint(ahead(0x1002, &registers, out), >=, 1);
	check(out[0], 0x1002, 0x100e);
	registers.values[LODE_REGISTER_FLAGS] = 0;
	g_assert_cmpuint(ahead(0x1002, &registers, out), >=, 1);
	check(out[0], 0x1002, 0x1004);
	registers.known &= ~(1u << LODE_REGISTER_FLAGS);
	g_assert_cmpuint(ahead(0x1002, &registers, out), ==, 0);
	g_assert_cmpuint(ahead(0x2000, &registers, out), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/branches_ahead/ways", test_ways);
	g_test_add_func("/images/branches_ahead/flags", test_flags);
	return g_test_run();
}
