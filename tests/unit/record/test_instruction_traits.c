/* SPDX-License-Identifier: MIT */
/* The plugin's idea of an instruction against a whole decoder's, on random bytes. */
#include "seeds.h"
#include "tools/qemu_plugin/instruction_traits.h"

#include <Zydis/Zydis.h>
#include <glib.h>

enum { N_TRIALS = 2 * 1000 * 1000 };

typedef struct {
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
} Oracle;

static bool decode(Oracle *self, const uint8_t *bytes, size_t n)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(
		&self->decoder, bytes, n, &self->instruction, self->operands));
}

static bool writes_memory(const Oracle *self)
{
	for (uint8_t i = 0; i < self->instruction.operand_count; i++)
		if (self->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			(self->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
			return true;
	return false;
}

static bool is_locked(const Oracle *self)
{
	if ((self->instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0)
		return true;
	return self->instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && writes_memory(self);
}

static bool is_repeated(const Oracle *self)
{
	return (self->instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						       ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

/* But those of transactional memory and of another processor, which QEMU does not have. */
static bool is_branch(const Oracle *self)
{
	ZydisInstructionCategory category = self->instruction.meta.category;

	if (self->instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
		self->instruction.meta.isa_set == ZYDIS_ISA_SET_RTM)
		return false;
	return category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR ||
	       category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET;
}

/* Where it goes: of direct ones the displacement, at the end of their bytes. */
static void check_branch(const Oracle *self, const InstructionTraits *traits)
{
	const ZydisDecodedInstruction *instruction = &self->instruction;
	bool is_legacy = instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	bool is_conditional = is_branch(self) &&
	                      instruction->meta.category == ZYDIS_CATEGORY_COND_BR;
	bool is_indirect = is_legacy && instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	                   instruction->opcode == 0xff &&
	                   (instruction->raw.modrm.reg == 2 || instruction->raw.modrm.reg == 4);
	bool is_exchange = instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG ||
	                   instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B ||
	                   instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B;

	g_assert_cmpint(traits->is_conditional, ==, is_conditional);
	g_assert_cmpint(traits->is_indirect, ==, is_indirect);
	g_assert_cmpint(traits->compares_and_exchanges, ==, is_exchange);
	if (is_conditional)
		g_assert_cmpint(traits->displacement, ==, instruction->raw.imm[0].value.s);
}

/* What is said to make one reference does: of one operand, of at most 8 bytes, always. */
static void check_memory(const Oracle *self, const InstructionTraits *traits)
{
	unsigned n = 0, actions = 0, bits = 0;

	if (traits->memory == MEMORY_OTHER)
		return;
	for (uint8_t i = 0; i < self->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &self->operands[i];
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
			operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		n++;
		actions = operand->actions;
		bits = operand->size;
	}
	/* A conditional move reads memory whatever the condition is. */
	bool is_read = (actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	bool is_written = (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmpuint(bits, <=, 64);
	g_assert_cmpint(is_read, ==, traits->memory != MEMORY_STORE);
	g_assert_cmpint(is_written, ==, traits->memory != MEMORY_LOAD);
	g_assert_false(is_locked(self));
}

/* What is said to be quiet has no operand in memory, and is of no kind that fails. */
static void check_quiet(const Oracle *self, const InstructionTraits *traits)
{
	ZydisInstructionCategory category = self->instruction.meta.category;
	ZydisMnemonic mnemonic = self->instruction.mnemonic;

	g_assert_cmpint(traits->is_division, ==,
		mnemonic == ZYDIS_MNEMONIC_DIV || mnemonic == ZYDIS_MNEMONIC_IDIV);
	if (!traits->is_quiet || category == ZYDIS_CATEGORY_NOP ||
		category == ZYDIS_CATEGORY_WIDENOP || category == ZYDIS_CATEGORY_PREFETCH)
		return;
	for (uint8_t i = 0; i < self->instruction.operand_count; i++)
		g_assert_false(self->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			       self->operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM);
	g_assert_false(traits->is_division);
	g_assert_cmpint(category, !=, ZYDIS_CATEGORY_X87_ALU);
	g_assert_cmpint(category, !=, ZYDIS_CATEGORY_SYSTEM);
	g_assert_cmpint(category, !=, ZYDIS_CATEGORY_SYSCALL);
	g_assert_cmpint(category, !=, ZYDIS_CATEGORY_INTERRUPT);
	g_assert_cmpint(category, !=, ZYDIS_CATEGORY_IO);
	g_assert_cmpint(category, !=, ZYDIS_CATEGORY_SEGOP);
}

static void fill_random(GRand *random, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)g_rand_int_range(random, 0, 256);
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(17));
	Oracle oracle;
	uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
	unsigned n_branches = 0, n_locked = 0, n_repeated = 0, n_single = 0;
	unsigned n_quiet = 0;

	ZydisDecoderInit(&oracle.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (int i = 0; i < N_TRIALS; i++) {
		fill_random(random, bytes, sizeof(bytes));
		if (!decode(&oracle, bytes, sizeof(bytes)))
			continue;
		InstructionTraits traits = instruction_traits(bytes, oracle.instruction.length);
		g_assert_cmpint(traits.is_locked, ==, is_locked(&oracle));
		if (is_branch(&oracle) || is_repeated(&oracle))
			g_assert_true(traits.can_follow_itself);
		check_branch(&oracle, &traits);
		check_memory(&oracle, &traits);
		check_quiet(&oracle, &traits);
		if (traits.is_vex_arithmetic)
			g_assert_cmpint(
				oracle.instruction.encoding, ==, ZYDIS_INSTRUCTION_ENCODING_VEX);
		if (oracle.instruction.meta.isa_set == ZYDIS_ISA_SET_FMA)
			g_assert_true(traits.is_vex_arithmetic);
		n_single += traits.memory != MEMORY_OTHER;
		n_quiet += traits.is_quiet;
		g_assert_cmpint(traits.is_repeated, ==, is_repeated(&oracle));
		if (traits.is_call)
			g_assert_cmpint(oracle.instruction.meta.category, ==, ZYDIS_CATEGORY_CALL);
		if (traits.is_return)
			g_assert_cmpint(oracle.instruction.meta.category, ==, ZYDIS_CATEGORY_RET);
		n_branches += is_branch(&oracle);
		n_locked += is_locked(&oracle);
		n_repeated += is_repeated(&oracle);
	}
	g_assert_cmpuint(MIN(MIN(n_branches, n_locked), n_repeated), >, 100);
	g_assert_cmpuint(n_single, >, 10000);
	g_assert_cmpuint(n_quiet, >, 100000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/instruction_traits/random", test_random);
	return g_test_run();
}
