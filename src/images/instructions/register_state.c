/* SPDX-License-Identifier: MIT */
/* Zydis numbers registers of one size in the order of their encoding; of eight bits there are two
 * rows of four that stand for the low registers: the low byte, then the high byte. */
#include "images/instructions/register_state.h"

#include "base/bits.h"

#include <string.h>

#define ALL_FLAGS UINT64_MAX

typedef struct {
	int number; /* of the general register; −1: none */
	unsigned shift, bits;
} Part;

void lode_register_state_init(LodeRegisterState *self, const LodeUserRegisters *registers)
{
	memset(self, 0, sizeof *self);
	if (registers == NULL)
		return;
	memcpy(self->values, registers->values, sizeof self->values);
	self->known = registers->known & ((1U << LODE_N_GENERAL_REGISTERS) - 1);
	self->flags = registers->values[LODE_REGISTER_FLAGS];
	self->known_flags = registers->known >> LODE_REGISTER_FLAGS & 1 ? ALL_FLAGS : 0;
	self->fs_base = registers->fs_base;
	self->gs_base = registers->gs_base;
	self->has_fs_base = registers->has_fs_base;
	self->has_gs_base = registers->has_gs_base;
}

static Part part_of(ZydisRegister name)
{
	if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15)
		return (Part){(int)(name - ZYDIS_REGISTER_RAX), 0, 64};
	if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D)
		return (Part){(int)(name - ZYDIS_REGISTER_EAX), 0, 32};
	if (name >= ZYDIS_REGISTER_AX && name <= ZYDIS_REGISTER_R15W)
		return (Part){(int)(name - ZYDIS_REGISTER_AX), 0, 16};
	if (name >= ZYDIS_REGISTER_AL && name <= ZYDIS_REGISTER_BL)
		return (Part){(int)(name - ZYDIS_REGISTER_AL), 0, 8};
	if (name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH)
		return (Part){(int)(name - ZYDIS_REGISTER_AH), 8, 8};
	if (name >= ZYDIS_REGISTER_SPL && name <= ZYDIS_REGISTER_R15B)
		return (Part){(int)(name - ZYDIS_REGISTER_SPL) + LODE_REGISTER_RSP, 0, 8};
	return (Part){-1, 0, 0};
}

bool lode_register_state_read(
	const LodeRegisterState *self, ZydisRegister name, uint64_t *out_value)
{
	Part part = part_of(name);

	if (part.number < 0 || !(self->known >> part.number & 1))
		return false;
	*out_value = self->values[part.number] >> part.shift & lode_low_bits(part.bits);
	return true;
}

void lode_register_state_write(LodeRegisterState *self, ZydisRegister name, uint64_t value)
{
	Part part = part_of(name);
	uint64_t mask;

	if (part.number < 0)
		return;
	mask = lode_low_bits(part.bits) << part.shift;
	value = value << part.shift & mask;
	if (part.bits >= 32)
		self->known |= 1U << part.number;
	else
		value |= self->values[part.number] & ~mask;
	self->values[part.number] = value;
}

void lode_register_state_forget_written(LodeRegisterState *self, const LodeFullInstruction *full)
{
	const ZydisAccessedFlags *flags = full->instruction.cpu_flags;

	for (uint8_t i = 0; i < full->instruction.operand_count; i++) {
		int number = lode_operand_register(&full->operands[i]);

		if (number >= 0 && lode_operand_is_written(&full->operands[i]))
			self->known &= ~(1U << number);
	}
	if (flags != NULL)
		self->known_flags &= ~(
			uint64_t)(flags->modified | flags->undefined | flags->set_0 | flags->set_1);
}

/* Bits of the flags that a pair of conditions, code and code ^ 1, is about. */
static const uint64_t CONDITION_FLAGS[8] = {
	ZYDIS_CPUFLAG_OF,
	ZYDIS_CPUFLAG_CF,
	ZYDIS_CPUFLAG_ZF,
	ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF,
	ZYDIS_CPUFLAG_SF,
	ZYDIS_CPUFLAG_PF,
	ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF,
	ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_ZF,
};

bool lode_register_state_condition(const LodeRegisterState *self, unsigned code, bool *out_holds)
{
	uint64_t about = CONDITION_FLAGS[code >> 1 & 7];
	bool holds;

	if ((self->known_flags & about) != about)
		return false;
	if (about & ZYDIS_CPUFLAG_OF && about & ZYDIS_CPUFLAG_SF) {
		bool is_less = !(self->flags & ZYDIS_CPUFLAG_SF) !=
		               !(self->flags & ZYDIS_CPUFLAG_OF);

		holds = is_less || self->flags & about & ZYDIS_CPUFLAG_ZF;
	} else {
		holds = (self->flags & about) != 0;
	}
	*out_holds = holds != (code & 1);
	return true;
}
