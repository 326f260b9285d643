/* SPDX-License-Identifier: MIT */
#include "images/instructions/register_use.h"

#include "base/arrays/hash.h"
#include "images/instructions/code_key.h"
#include "images/instructions/full_instruction.h"
#include "images/instructions/instruction_effect.h"
#include "images/instructions/instruction_kinds.h"
#include "images/instructions/memory_operands.h"
#include "images/instructions/work_of_instruction.h"

#include <string.h>

enum {
	N_VECTORS = 32,
	N_OPMASKS = 8,
	/* A register that is written to this width holds nothing older. */
	WHOLE_GENERAL_BITS = 32,
	WHOLE_VECTOR_BITS = 128,
	LARGEST_MOVE = 64, /* bytes: above are fxsave and the like */
};

/* rax, rcx, rdx, rsi, rdi, r8 to r11, the flags, all of x87, vector and mask registers. */
static LodeRegisterMask caller_saved(void)
{
	const LodeRegisterMask general = 0x0fc7, all = lode_register_bit(LODE_N_REGISTER_BITS) - 1;

	return general | (all & ~(lode_register_bit(LODE_BIT_FLAGS) - 1));
}

/* −1: not followed. */
static int register_number(ZydisRegister name)
{
	int number = lode_general_register(name);

	if (number >= 0)
		return number;
	switch (ZydisRegisterGetClass(name)) {
	case ZYDIS_REGCLASS_FLAGS:
		return LODE_BIT_FLAGS;
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
		return LODE_BIT_X87;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		number = ZydisRegisterGetId(name);
		return number >= 0 && number < N_VECTORS ? LODE_BIT_VECTOR + number : -1;
	case ZYDIS_REGCLASS_MASK:
		number = ZydisRegisterGetId(name);
		return number >= 0 && number < N_OPMASKS ? LODE_BIT_OPMASK + number : -1;
	default:
		return -1;
	}
}

static LodeRegisterMask register_mask(ZydisRegister name)
{
	int number = name != ZYDIS_REGISTER_NONE ? register_number(name) : -1;

	return number >= 0 ? lode_register_bit((unsigned)number) : 0;
}

static bool is_whole_write(const ZydisDecodedOperand *operand, int number)
{
	if ((operand->actions & ZYDIS_OPERAND_ACTION_WRITE) == 0)
		return number == LODE_BIT_FLAGS;
	if (number < LODE_BIT_FLAGS)
		return operand->size >= WHOLE_GENERAL_BITS;
	if (number >= LODE_BIT_VECTOR && number < LODE_BIT_OPMASK)
		return operand->size >= WHOLE_VECTOR_BITS;
	return true;
}

static void add_register(LodeRegisterUse *self, const ZydisDecodedOperand *operand)
{
	int number = register_number(operand->reg.value);
	LodeRegisterMask bit = number >= 0 ? lode_register_bit((unsigned)number) : 0;

	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) {
		self->reads |= bit;
		self->merges &= ~bit;
	}
	if (!lode_operand_is_written(operand))
		return;
	self->writes |= bit;
	if (is_whole_write(operand, number))
		return;
	if ((operand->actions & ZYDIS_OPERAND_ACTION_WRITE) != 0)
		self->merges |= bit & ~self->reads;
	self->reads |= bit;
}

static bool is_nop(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_NOP ||
	       instruction->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

/* Whether the result is 0, or all ones, when both sources are the same register. */
static bool ignores_equal_sources(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VPXORD:
	case ZYDIS_MNEMONIC_VPXORQ:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PSUBB:
	case ZYDIS_MNEMONIC_PSUBW:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_VPSUBB:
	case ZYDIS_MNEMONIC_VPSUBW:
	case ZYDIS_MNEMONIC_VPSUBD:
	case ZYDIS_MNEMONIC_VPSUBQ:
	case ZYDIS_MNEMONIC_PCMPEQB:
	case ZYDIS_MNEMONIC_PCMPEQW:
	case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_VPCMPEQB:
	case ZYDIS_MNEMONIC_VPCMPEQW:
	case ZYDIS_MNEMONIC_VPCMPEQD:
	case ZYDIS_MNEMONIC_PCMPGTB:
	case ZYDIS_MNEMONIC_PCMPGTW:
	case ZYDIS_MNEMONIC_PCMPGTD:
	case ZYDIS_MNEMONIC_VPCMPGTB:
	case ZYDIS_MNEMONIC_VPCMPGTW:
	case ZYDIS_MNEMONIC_VPCMPGTD:
		return true;
	default:
		return false;
	}
}

/* By its last two visible operands: xor eax, eax; vpxor xmm1, xmm0, xmm0. Not where a part of the
 * register stays, as in xor al, al. */
static bool has_constant_result(const LodeFullInstruction *full)
{
	unsigned n = full->instruction.operand_count_visible;
	const ZydisDecodedOperand *last = n >= 2 ? &full->operands[n - 1] : NULL;

	return last != NULL && ignores_equal_sources(full->instruction.mnemonic) &&
	       last[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       last[-1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       last[0].reg.value == last[-1].reg.value && last[0].size >= WHOLE_GENERAL_BITS;
}

/* The registers between the brackets, of an access or (lea, prefetch) of none. */
static LodeRegisterMask memory_registers(const ZydisDecodedOperand *operand)
{
	return register_mask(operand->mem.base) | register_mask(operand->mem.index);
}

static void set_memory(
	LodeMemoryUse *self, const LodeFullInstruction *full, const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperandMem *memory = &operand->mem;
	bool is_relative = memory->base == ZYDIS_REGISTER_RIP;
	int base = is_relative ? -1 : register_number(memory->base);
	int index = register_number(memory->index);
	bool is_fs = memory->segment == ZYDIS_REGISTER_FS;
	bool is_gs = memory->segment == ZYDIS_REGISTER_GS;

	if (memory->type != ZYDIS_MEMOP_TYPE_MEM || operand->size / 8 > LARGEST_MOVE ||
		full->instruction.address_width != 64)
		return;
	self->displacement = memory->disp.value;
	if (is_relative)
		self->displacement += (int64_t)full->address + full->instruction.length;
	self->registers = (base >= 0 ? lode_register_bit((unsigned)base) : 0) |
	                  (index >= 0 ? lode_register_bit((unsigned)index) : 0);
	self->base = base >= 0 ? (uint8_t)base : LODE_NO_BIT;
	self->index = index >= 0 ? (uint8_t)index : LODE_NO_BIT;
	self->scale = memory->scale;
	self->size = operand->size / 8;
	self->is_relative = is_relative;
	self->form = (uint16_t)((unsigned)(base + 1) | (unsigned)(index + 1) << 5 |
				(index >= 0 ? (unsigned)memory->scale << 10 : 0) |
				(is_fs ? 1u << 14 : 0) | (is_gs ? 1u << 15 : 0));
	self->is_load = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	self->is_store = lode_operand_is_written(operand);
}

static void add_memory(LodeRegisterUse *self, const LodeFullInstruction *full)
{
	uint8_t accesses[LODE_MAX_DATA_OPERANDS];
	unsigned n = lode_full_instruction_accesses(full, accesses);

	for (unsigned i = 0; i < n; i++) {
		const ZydisDecodedOperand *operand = &full->operands[accesses[i]];
		self->address |= memory_registers(operand);
		if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			set_memory(&self->memory, full, operand);
	}
	for (unsigned i = 0;
		i < full->instruction.operand_count_visible && !is_nop(&full->instruction); i++)
		if (full->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			self->reads |= memory_registers(&full->operands[i]);
			if (full->operands[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
				self->memory.displacement = full->operands[i].mem.disp.value;
		}
	self->reads |= self->address;
	self->merges &= ~self->address;
}

static bool is_linear(const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *source = &full->operands[1];

	switch (lode_instruction_operation(&full->instruction)) {
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_ADDRESS:
	case LODE_OPERATION_MOVE:
	case LODE_OPERATION_SUBTRACT:
		return true;
	case LODE_OPERATION_EXTEND_SIGN:
		return source->size == 32;
	case LODE_OPERATION_SHIFT_LEFT:
		return source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case LODE_OPERATION_MULTIPLY:
		return full->instruction.operand_count_visible == 3;
	default:
		return false;
	}
}

bool lode_register_use_decode(
	LodeRegisterUse *self, const uint8_t *code, size_t size, uint64_t address)
{
	const LodeRegisterMask rsp = lode_register_bit(LODE_REGISTER_RSP);
	const LodeRegisterMask flags = lode_register_bit(LODE_BIT_FLAGS);
	const LodeRegisterMask x87 = lode_register_bit(LODE_BIT_X87);
	LodeFullInstruction full = {0};
	const ZydisDecodedInstruction *instruction = &full.instruction;

	*self = (LodeRegisterUse){0};
	if (!lode_full_instruction_decode(&full, code, size, address))
		return false;
	for (unsigned i = 0; i < instruction->operand_count; i++) {
		const ZydisDecodedOperand *operand = &full.operands[i];
		bool is_hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		if (is_hidden && lode_full_instruction_moves_stack(&full) &&
			operand->reg.value == ZYDIS_REGISTER_RSP)
			self->changes |= rsp;
		else
			add_register(self, operand);
	}
	/* Zydis has the destination read, as the upper half stays. */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_CVTSI2SD ||
		instruction->mnemonic == ZYDIS_MNEMONIC_CVTSI2SS)
		self->merges |= register_mask(full.operands[0].reg.value);
	if (has_constant_result(&full) || is_nop(instruction))
		self->reads = self->merges = 0;
	self->work = lode_work_of_instruction(&full, has_constant_result(&full));
	self->is_linear = is_linear(&full);
	if (lode_instruction_is_string(instruction)) /* the direction */
		self->reads &= ~flags;
	add_memory(self, &full);
	/* not all of the pointers are among the operands */
	if (lode_instruction_is_string(instruction))
		self->writes |= self->address;
	self->kills = self->results = self->writes;
	/* A load to the x87 stack keeps its old values. */
	if ((self->reads & x87) == 0)
		self->kills &= ~x87;
	if (lode_instruction_is_string(instruction))
		self->results &= lode_register_bit(0) | flags;
	if (instruction->meta.category == ZYDIS_CATEGORY_SYSCALL)
		self->writes = self->kills = self->writes | lode_register_bit(0);
	self->changes |= self->writes;
	if (instruction->meta.category == ZYDIS_CATEGORY_CALL) {
		self->writes = self->results = lode_register_bit(0) |
		                               lode_register_bit(LODE_BIT_VECTOR);
		self->kills = caller_saved();
		self->changes |= self->kills;
	}
	return true;
}

typedef struct {
	LodeCodeKey key; /* all 0: empty */
	LodeRegisterUse use;
	bool is_known;
} CodeSlot;

enum { SLOT_BITS = 12 }; /* half a MiB */

struct LodeRegisterUseCache {
	CodeSlot slots[1 << SLOT_BITS];
};

LodeRegisterUseCache *lode_register_use_cache_new(void)
{
	return g_new0(LodeRegisterUseCache, 1);
}

void lode_register_use_cache_free(LodeRegisterUseCache *self)
{
	g_free(self);
}

bool lode_register_use_cache_decode(LodeRegisterUseCache *self, LodeRegisterUse *out,
	const uint8_t *code, size_t length, uint64_t address)
{
	if (length == 0 || length > LODE_CODE_KEY_LONGEST)
		return lode_register_use_decode(out, code, length, address);
	LodeCodeKey key = lode_code_key(code, length, length);
	CodeSlot *slot = &self->slots[lode_hash_slot(
		lode_hash_append(key.words[0], key.words[1]), SLOT_BITS)];
	if (slot->key.words[0] != key.words[0] || slot->key.words[1] != key.words[1]) {
		slot->key = key;
		slot->is_known = lode_register_use_decode(&slot->use, code, length, 0);
	}
	*out = slot->use;
	if (out->memory.is_relative)
		out->memory.displacement += (int64_t)address;
	return slot->is_known;
}
