/* SPDX-License-Identifier: MIT */
/* From the registers that are written for a branch, ChampSim's rule derives of what kind it is. */
#include "process/champsim_instructions.h"

#include <string.h>

typedef struct {
	const char *code;
	size_t size;
	const char *kind; /* by ChampSim's rule */
	uint64_t target;
} Case;

enum { ADDRESS = 0x401000 };

static const Case cases[] = {
	{"\xeb\x10", 2, "direct jump", 0x401012},
	{"\xe9\x00\x01\x00\x00", 5, "direct jump", 0x401105},
	{"\xff\xe0", 2, "indirect", 0},                     /* jmp rax */
	{"\xff\x25\x10\x00\x00\x00", 6, "indirect", 0},     /* jmp [rip + 16], as of the PLT */
	{"\xff\x64\x24\x08", 4, "indirect", 0},             /* jmp [rsp + 8] */
	{"\xff\x24\xc5\x00\x00\x40\x00", 7, "indirect", 0}, /* jmp [rax * 8 + …] */
	{"\x74\xfe", 2, "conditional", 0x401000},
	{"\x0f\x85\x10\x00\x00\x00", 6, "conditional", 0x401016},
	{"\xe3\x04", 2, "conditional", 0x401006}, /* jrcxz */
	{"\xe2\x04", 2, "conditional", 0x401006}, /* loop */
	{"\xe8\x10\x00\x00\x00", 5, "direct call", 0x401015},
	{"\xff\xd3", 2, "indirect call", 0},                 /* call rbx */
	{"\xff\x15\x10\x00\x00\x00", 6, "indirect call", 0}, /* call [rip + 16] */
	{"\xff\x54\x24\x08", 4, "indirect call", 0},         /* call [rsp + 8] */
	{"\xc3", 1, "return", 0}, {"\xc2\x08\x00", 3, "return", 0},
	{"\x48\x01\xd8", 3, NULL, 0}, /* add rax, rbx */
	{"\x39\xd8", 2, NULL, 0},     /* cmp eax, ebx */
	{"\x50", 1, NULL, 0},         /* push rax */
	{"\x0f\x05", 2, NULL, 0},     /* syscall */
	{"\x0f\x0b", 2, NULL, 0},     /* ud2 */
	{"\xf3\xa4", 2, NULL, 0},     /* rep movsb */
	{"\x0f\x58\xc1", 3, NULL, 0}, /* addps xmm0, xmm1 */
};

static bool has(const uint8_t *registers, size_t n, uint8_t number)
{
	return memchr(registers, number, n) != NULL;
}

/* The constructor of ooo_model_instr in ChampSim's inc/instruction.h. */
static const char *kind_of(const LodeReferenceInstruction *it)
{
	bool writes_sp = has(it->written, 2, 6), writes_ip = has(it->written, 2, 26);
	bool reads_sp = has(it->read, 4, 6), reads_flags = has(it->read, 4, 25);
	bool reads_ip = has(it->read, 4, 26), reads_other = false;

	for (unsigned i = 0; i < 4; i++)
		reads_other |= it->read[i] != 0 && it->read[i] != 6 && it->read[i] != 25 &&
		               it->read[i] != 26;
	if (!reads_sp && !reads_flags && writes_ip && !reads_other)
		return "direct jump";
	if (!reads_sp && !reads_ip && !reads_flags && writes_ip && reads_other)
		return "indirect";
	if (!reads_sp && reads_ip && !writes_sp && writes_ip && (reads_flags || reads_other))
		return "conditional";
	if (reads_sp && reads_ip && writes_sp && writes_ip && !reads_flags && !reads_other)
		return "direct call";
	if (reads_sp && reads_ip && writes_sp && writes_ip && !reads_flags && reads_other)
		return "indirect call";
	if (reads_sp && !reads_ip && writes_sp && writes_ip)
		return "return";
	return writes_ip ? "other" : NULL;
}

static void test_kinds(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const Case *now = &cases[i];
		LodeReferenceInstruction found;

		g_test_message("case %zu", i);
		g_assert_true(lode_champsim_instruction_decode(
			&found, (const uint8_t *)now->code, now->size, ADDRESS));
		g_assert_cmpstr(kind_of(&found), ==, now->kind);
		g_assert_cmpint(found.is_branch, ==, now->kind != NULL);
		g_assert_cmpint(found.is_conditional, ==,
			now->kind != NULL && strcmp(now->kind, "conditional") == 0);
		g_assert_cmphex(found.target, ==, now->target);
	}
}

/* What one writes the other reads. */
static void test_registers(void)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8}, push[] = {0x50}, half[] = {0x0f};
	LodeReferenceInstruction found;

	g_assert_true(lode_champsim_instruction_decode(&found, add, sizeof(add), ADDRESS));
	g_assert_cmpuint(found.written[0], ==, 10);
	g_assert_cmpuint(found.written[1], ==, LODE_CHAMPSIM_FLAGS);
	g_assert_true(has(found.read, 4, 10) && has(found.read, 4, 7));
	g_assert_true(lode_champsim_instruction_decode(&found, push, sizeof(push), ADDRESS));
	g_assert_cmpuint(found.written[0], ==, LODE_CHAMPSIM_STACK_POINTER);
	g_assert_true(has(found.read, 4, 10) && has(found.read, 4, LODE_CHAMPSIM_STACK_POINTER));
	g_assert_false(lode_champsim_instruction_decode(&found, half, sizeof(half), ADDRESS));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/champsim_instructions/kinds", test_kinds);
	g_test_add_func("/champsim_instructions/registers", test_registers);
	return g_test_run();
}
