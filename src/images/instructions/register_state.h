/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: general registers and flags of a thread at one point of its code, each with a
 * mark whether it is known. Registers are known whole or not at all; flags one by one.
 */
#pragma once

#include "images/instructions/full_instruction.h"
#include "images/instructions/user_registers.h"

typedef struct {
	uint64_t values[LODE_N_GENERAL_REGISTERS];
	uint32_t known;              /* 1 << register */
	uint64_t flags, known_flags; /* ZYDIS_CPUFLAG_… */
	uint64_t fs_base, gs_base;
	bool has_fs_base, has_gs_base;
} LodeRegisterState;

void lode_register_state_init(LodeRegisterState *self, const LodeUserRegisters *registers);

/* The value of a general register or a part of one, zero-extended; false: not known, or none. */
bool lode_register_state_read(
	const LodeRegisterState *self, ZydisRegister name, uint64_t *out_value);

/* As the processor writes: 32 bits clear the upper half, 8 and 16 leave the rest as it is. */
void lode_register_state_write(LodeRegisterState *self, ZydisRegister name, uint64_t value);

/* Forgets all that an instruction writes: registers, flags. */
void lode_register_state_forget_written(LodeRegisterState *self, const LodeFullInstruction *full);

/* The condition of jcc, cmovcc and setcc, the low four bits of their opcode. False: some flag that
 * it takes is not known. */
bool lode_register_state_condition(const LodeRegisterState *self, unsigned code, bool *out_holds);
