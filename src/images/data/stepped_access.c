/* SPDX-License-Identifier: MIT */
#include "images/data/stepped_access.h"

#include "images/instructions/memory_operands.h"

#include <string.h>

void lode_user_registers_of_step(
	LodeUserRegisters *out_registers, const uint64_t *values, uint64_t thread_pointer)
{
	*out_registers = (LodeUserRegisters){
		.known = (1U << LODE_N_GENERAL_REGISTERS) - 1,
		.fs_base = thread_pointer,
		.has_fs_base = thread_pointer != 0,
	};
	memcpy(out_registers->values, values, LODE_N_GENERAL_REGISTERS * sizeof(*values));
}

/* The operand that no operand shows; false: there is none. */
static bool find_stack_operand(const LodeFullInstruction *full, const LodeUserRegisters *registers,
	LodeDataOperand *out_operand)
{
	const uint64_t *values = registers->values;
	uint64_t bytes = lode_full_instruction_stack_bytes(full);

	*out_operand = (LodeDataOperand){.size = (uint32_t)bytes};
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_ENTER:
		out_operand->access = LODE_ACCESS_STORE;
		out_operand->address = values[LODE_REGISTER_RSP] - bytes;
		return bytes > 0;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_RET:
		out_operand->access = LODE_ACCESS_LOAD;
		out_operand->address = values[LODE_REGISTER_RSP];
		return bytes > 0;
	case ZYDIS_MNEMONIC_LEAVE:
		out_operand->access = LODE_ACCESS_LOAD;
		out_operand->address = values[LODE_REGISTER_RBP];
		return bytes > 0;
	default:
		return false;
	}
}

bool lode_stepped_access_read(LodeSteppedAccess *out_access, const uint8_t *code, size_t size,
	uint64_t address, uint64_t bias, const LodeUserRegisters *registers)
{
	LodeFullInstruction full = {.bias = bias};
	uint8_t numbers[LODE_MAX_DATA_OPERANDS];
	LodeRegisterState state;
	uint64_t rounds;

	*out_access = (LodeSteppedAccess){0};
	if (!lode_full_instruction_decode(&full, code, size, address))
		return false;
	lode_register_state_init(&state, registers);
	unsigned n = lode_full_instruction_accesses(&full, numbers);
	if (!lode_full_instruction_repetitions(&full, &state, &rounds) || rounds == 0)
		n = 0;
	for (unsigned i = 0; i < n; i++) {
		LodeAddressReason reason = lode_full_instruction_locate(
			&full, &state, numbers[i], &out_access->operands[out_access->n_operands]);
		if (reason == LODE_REASON_NONE) {
			out_access->n_operands++;
			continue;
		}
		out_access->reason = reason;
		out_access->unknown = lode_full_instruction_operand(&full, numbers[i]);
	}
	if (find_stack_operand(&full, registers, &out_access->operands[out_access->n_operands])) {
		out_access->is_stack = true;
		out_access->n_operands++;
	}
	return true;
}
