/* SPDX-License-Identifier: MIT */
#include "images/instructions/memory_operands.h"

#include "images/instructions/instruction_kinds.h"

/* Memory that no explicit operand shows, and which is not the stack. */
static bool has_hidden_access(const ZydisDecodedInstruction *instruction)
{
	return lode_instruction_has_implicit_memory(instruction) ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_MOVDIR64B ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_ENQCMD ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_ENQCMDS;
}

unsigned lode_full_instruction_accesses(
	const LodeFullInstruction *self, uint8_t out_operands[LODE_MAX_DATA_OPERANDS])
{
	bool has_hidden = has_hidden_access(&self->instruction);
	unsigned n = 0;

	if (lode_instruction_touches_no_memory(&self->instruction) ||
		self->instruction.mnemonic == ZYDIS_MNEMONIC_UD1)
		return 0;
	for (uint8_t i = 0; i < self->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &self->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
			(operand->mem.type != ZYDIS_MEMOP_TYPE_MEM &&
				operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB))
			continue;
		if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !has_hidden)
			continue;
		if (n < LODE_MAX_DATA_OPERANDS)
			out_operands[n++] = i;
	}
	return n;
}

bool lode_full_instruction_repetitions(
	const LodeFullInstruction *self, const LodeRegisterState *state, uint64_t *out_n)
{
	ZydisRegister counter = self->instruction.address_width == 32 ? ZYDIS_REGISTER_ECX
	                                                              : ZYDIS_REGISTER_RCX;

	if (!lode_full_instruction_is_repeated(self)) {
		*out_n = 1;
		return true;
	}
	return lode_register_state_read(state, counter, out_n);
}

static bool add_base(const LodeFullInstruction *self, const LodeRegisterState *state,
	ZydisRegister base, uint64_t *sum)
{
	uint64_t value;

	if (base == ZYDIS_REGISTER_NONE)
		return true;
	if (base == ZYDIS_REGISTER_RIP || base == ZYDIS_REGISTER_EIP)
		value = self->address + self->bias + self->instruction.length;
	else if (!lode_register_state_read(state, base, &value))
		return false;
	*sum += value;
	return true;
}

bool lode_full_instruction_effective_address(const LodeFullInstruction *self,
	const LodeRegisterState *state, uint8_t operand, uint64_t *out_address)
{
	const ZydisDecodedOperandMem *memory = &self->operands[operand].mem;
	uint64_t sum = (uint64_t)memory->disp.value, index = 0;

	if (!add_base(self, state, memory->base, &sum))
		return false;
	if (memory->index != ZYDIS_REGISTER_NONE &&
		!lode_register_state_read(state, memory->index, &index))
		return false;
	sum += index * memory->scale;
	*out_address = self->instruction.address_width == 32 ? sum & UINT32_MAX : sum;
	return true;
}

/* A register as bit offset of bt and the like reaches beyond the operand, either way. */
static bool add_bit_offset(
	const LodeFullInstruction *self, const LodeRegisterState *state, uint64_t *address)
{
	const ZydisDecodedOperand *offset = &self->operands[1];
	unsigned bits = offset->size;
	uint64_t value;
	int64_t extended;

	if (offset->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return true;
	if (!lode_register_state_read(state, offset->reg.value, &value))
		return false;
	extended = (int64_t)(value << (64 - bits)) >> (64 - bits);
	/* rounds down, as the processor does */
	*address += (uint64_t)(extended >> (bits == 64 ? 6 : bits == 32 ? 5 : 4)) * (bits / 8);
	return true;
}

/* Adds an instruction's own offset to the address of its operand. */
static bool add_peculiarity(
	const LodeFullInstruction *self, const LodeRegisterState *state, uint64_t *address)
{
	uint64_t al;

	switch (self->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
		return add_bit_offset(self, state, address);
	case ZYDIS_MNEMONIC_XLAT:
		if (!lode_register_state_read(state, ZYDIS_REGISTER_AL, &al))
			return false;
		*address += al;
		return true;
	case ZYDIS_MNEMONIC_POP:
		/* the stack pointer has moved on when the address is computed */
		if (lode_general_register(self->operands[0].mem.base) == LODE_REGISTER_RSP)
			*address += self->operands[0].size / 8;
		return true;
	default:
		return true;
	}
}

static bool is_matrix_tile(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.isa_ext == ZYDIS_ISA_EXT_AMX_TILE;
}

LodeDataOperand lode_full_instruction_operand(const LodeFullInstruction *self, uint8_t operand)
{
	const ZydisDecodedOperand *it = &self->operands[operand];
	LodeDataOperand found = {.size = MAX(it->size / 8, 1), .operand = operand};

	if (it->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		found.access |= LODE_ACCESS_LOAD;
	if (lode_operand_is_written(it))
		found.access |= LODE_ACCESS_STORE;
	return found;
}

LodeAddressReason lode_full_instruction_locate(const LodeFullInstruction *self,
	const LodeRegisterState *state, uint8_t operand, LodeDataOperand *out_operand)
{
	const ZydisDecodedOperand *it = &self->operands[operand];
	uint64_t address, segment = 0;

	if (it->mem.type == ZYDIS_MEMOP_TYPE_VSIB ||
		(is_matrix_tile(&self->instruction) && it->mem.index != ZYDIS_REGISTER_NONE))
		return LODE_REASON_VECTOR_INDEX;
	if (it->mem.segment == ZYDIS_REGISTER_FS || it->mem.segment == ZYDIS_REGISTER_GS) {
		bool is_fs = it->mem.segment == ZYDIS_REGISTER_FS;

		if (!(is_fs ? state->has_fs_base : state->has_gs_base))
			return LODE_REASON_TLS;
		segment = is_fs ? state->fs_base : state->gs_base;
	}
	if (!lode_full_instruction_effective_address(self, state, operand, &address) ||
		!add_peculiarity(self, state, &address))
		return LODE_REASON_CLOBBERED;
	if (self->instruction.address_width == 32)
		address &= UINT32_MAX;
	*out_operand = lode_full_instruction_operand(self, operand);
	out_operand->address = address + segment;
	return LODE_REASON_NONE;
}

bool lode_full_instruction_locate_base(const LodeFullInstruction *self,
	const LodeRegisterState *state, uint8_t operand, uint64_t *out_base)
{
	/* an index is no larger than the memory of a machine, an address of position-independent
	 * code or of the heap is */
	const uint64_t least_address = UINT64_C(1) << 32;
	const ZydisDecodedOperandMem *memory = &self->operands[operand].mem;
	uint64_t value;

	if (memory->index == ZYDIS_REGISTER_NONE || memory->segment == ZYDIS_REGISTER_FS ||
		memory->segment == ZYDIS_REGISTER_GS || self->instruction.address_width != 64)
		return false;
	if (memory->base == ZYDIS_REGISTER_NONE) {
		*out_base = (uint64_t)memory->disp.value;
		return memory->disp.value > 0;
	}
	if (memory->scale > 1 || memory->type == ZYDIS_MEMOP_TYPE_VSIB) {
		/* without the displacement, which may be that of an element before it */
		if (!lode_register_state_read(state, memory->base, &value))
			return false;
		*out_base = value;
		return true;
	}
	if (!lode_register_state_read(state, memory->base, &value) &&
		!lode_register_state_read(state, memory->index, &value))
		return false;
	*out_base = value;
	return value >= least_address;
}
