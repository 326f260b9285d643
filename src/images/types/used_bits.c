/* SPDX-License-Identifier: MIT */
/*
 * Followed is the loaded register, as long as each instruction that names it replaces it by a part
 * of itself: whatever comes then uses at most the bits that are left.
 *
 * A register that is masked, combined with others and stored back to the same operand is a change
 * of the bits that the mask cleared.
 */
#include "images/types/used_bits.h"

#include "base/bits.h"
#include "images/types/register_types.h"

enum { WORD_BITS = 64, MAX_AHEAD = 32 };

/* A loaded register: which of the memory's bits are in it, and which of them is its lowest bit. */
typedef struct {
	uint64_t bits;
	int shift;
} Loaded;

/* A run of instructions of one block. */
typedef struct {
	const LodeElfImage *image;
	const LodeControlFlow *flow;
	uint32_t first, end;
} Block;

static uint64_t ones(int n)
{
	return lode_low_bits((unsigned)n);
}

static uint64_t to_memory(uint64_t bits, int shift)
{
	return shift >= 0 ? bits << shift : bits >> -shift;
}

static ZydisRegister whole_register(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static bool names_register(const LodeFullInstruction *full, ZydisRegister whole)
{
	for (uint8_t i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			whole_register(operand->reg.value) == whole)
			return true;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			(whole_register(operand->mem.base) == whole ||
				whole_register(operand->mem.index) == whole))
			return true;
	}
	return false;
}

/* Whether the instruction leaves a part of the loaded register in it, and nothing else. An
 * instruction of one operand (not) does no such thing, and has nothing decoded in the second. */
static bool narrow(Loaded *self, const LodeFullInstruction *full, ZydisRegister whole)
{
	if (full->instruction.operand_count < 2)
		return false;
	const ZydisDecodedOperand *target = &full->operands[0], *source = &full->operands[1];
	const bool is_constant = source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	const int size = target->size;
	const uint64_t by = is_constant ? source->imm.value.u : 0;
	uint64_t bits = self->bits;
	int shift = self->shift;

	if (target->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		whole_register(target->reg.value) != whole ||
		(size < 32 && (to_memory(bits, -shift) & ~ones(size)) != 0))
		return false;
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_AND:
		bits &= to_memory(by & ones(size), shift);
		break;
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		if (by < 1 || by >= (uint64_t)size)
			return false;
		bits &= to_memory(ones(size) & ~ones((int)by), shift);
		shift += (int)by;
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (by < 1 || by >= (uint64_t)size)
			return false;
		bits &= to_memory(ones(size - (int)by), shift);
		shift -= (int)by;
		break;
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		if (source->type != ZYDIS_OPERAND_TYPE_REGISTER ||
			whole_register(source->reg.value) != whole ||
			lode_operand_register(source) < 0 ||
			(source->reg.value >= ZYDIS_REGISTER_AH &&
				source->reg.value <= ZYDIS_REGISTER_BH))
			return false;
		*self = (Loaded){bits & to_memory(ones(source->size), shift), shift};
		return true;
	default:
		return false;
	}
	if (!is_constant || shift <= -WORD_BITS || shift >= WORD_BITS)
		return false;
	*self = (Loaded){bits, shift};
	return true;
}

static bool decode(const Block *block, uint32_t i, LodeFullInstruction *out_full)
{
	return lode_register_types_decode(out_full, block->image,
		g_array_index(block->flow->instructions, LodeStaticInstruction, i).address);
}

static bool is_same_memory(const LodeMemoryOperand *a, const LodeMemoryOperand *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->displacement == b->displacement && a->is_segmented == b->is_segmented;
}

/* Whether a later instruction of the block only writes to the memory. */
static bool is_stored_later(const Block *block, uint32_t i, const LodeMemoryOperand *memory)
{
	for (; i < block->end; i++) {
		LodeFullInstruction full;
		LodeMemoryOperand other;

		if (decode(block, i, &full) && full.instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
			lode_register_types_memory(&full, 0, &other) &&
			is_same_memory(&other, memory))
			return true;
	}
	return false;
}

/* The bits that are used of a load into a register; 0: unknown. */
static uint64_t follow(const Block *block, uint32_t index, const LodeFullInstruction *load,
	const LodeMemoryOperand *memory, bool *out_is_change)
{
	const uint64_t all = ones((int)memory->shape.size * 8);
	const ZydisRegister whole = whole_register(load->operands[0].reg.value);
	const uint32_t end = MIN(block->end, index + 1 + MAX_AHEAD);
	Loaded loaded = {all, 0};
	bool is_combined = false, is_stored;

	*out_is_change = false;
	for (uint32_t i = index + 1; i < end; i++) {
		LodeFullInstruction full;

		if (!decode(block, i, &full) ||
			full.instruction.meta.category == ZYDIS_CATEGORY_CALL)
			break;
		if (!names_register(&full, whole) || narrow(&loaded, &full, whole))
			continue;
		is_combined = full.instruction.mnemonic == ZYDIS_MNEMONIC_OR;
		break;
	}
	if (loaded.shift != 0 || loaded.bits == all)
		return loaded.bits;
	is_stored = is_stored_later(block, index + 1, memory);
	if (!is_stored && !is_combined)
		return loaded.bits;
	*out_is_change = is_stored && is_combined;
	return *out_is_change ? all & ~loaded.bits : 0;
}

static bool is_load(const LodeFullInstruction *full)
{
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return lode_operand_register(&full->operands[0]) >= 0;
	default:
		return false;
	}
}

/* A store of what an earlier load in the block was changed to. */
static uint64_t changed_bits(const Block *block, uint32_t index, const LodeMemoryOperand *memory)
{
	for (uint32_t i = index; i > block->first && index - i < MAX_AHEAD; i--) {
		LodeFullInstruction full;
		LodeMemoryOperand other;
		bool is_change;

		if (!decode(block, i - 1, &full) || !is_load(&full) ||
			!lode_register_types_memory(&full, 1, &other) ||
			!is_same_memory(&other, memory) || other.shape.size != memory->shape.size)
			continue;
		uint64_t bits = follow(block, i - 1, &full, &other, &is_change);
		return is_change ? bits : 0;
	}
	return 0;
}

/* By a constant in the instruction itself. */
static uint64_t own_bits(const LodeFullInstruction *full, uint64_t all)
{
	const ZydisDecodedOperand *source = &full->operands[1];

	if (full->instruction.operand_count < 2 || source->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_AND:
		return all & ~source->imm.value.u;
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
		return all & source->imm.value.u;
	default:
		return 0;
	}
}

void lode_used_bits_find(const LodeElfImage *image, const LodeControlFlow *flow, uint64_t address,
	uint8_t operand, LodeAccessShape *inout_shape)
{
	const uint32_t index = flow == NULL ? UINT32_MAX : lode_control_flow_find(flow, address);
	const uint64_t all = ones((int)MIN(inout_shape->size, 8) * 8);
	LodeFullInstruction full;
	LodeMemoryOperand memory;
	uint64_t bits = 0;
	bool is_change;

	if (inout_shape->size == 0 || inout_shape->size > 8 || index == UINT32_MAX ||
		!lode_register_types_decode(&full, image, address) ||
		!lode_register_types_memory(&full, operand, &memory))
		return;
	const LodeStaticBlock *found = &g_array_index(flow->blocks, LodeStaticBlock,
		g_array_index(flow->instructions, LodeStaticInstruction, index).block);
	const Block block = {image, flow, found->first, found->first + found->n};
	if (operand == 1 && is_load(&full))
		bits = follow(&block, index, &full, &memory, &is_change);
	else if (operand == 0 && full.instruction.mnemonic == ZYDIS_MNEMONIC_MOV)
		bits = changed_bits(&block, index, &memory);
	else if (operand == 0)
		bits = own_bits(&full, all);
	if (bits == 0 || bits == all)
		return;
	inout_shape->first_bit = (uint8_t)__builtin_ctzll(bits);
	inout_shape->n_bits = (uint8_t)(WORD_BITS - __builtin_clzll(bits) - inout_shape->first_bit);
}
