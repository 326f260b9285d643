/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: which operands of an instruction are accesses to memory, and their addresses.
 *
 * Counted as accesses are explicit operands and those of string instructions, xlat, maskmov and
 * movdir64b; not the stack of push, pop, call, ret, enter and leave, nor what lea, nop, prefetches
 * and the like only name.
 */
#pragma once

#include "images/instructions/data_operand.h"
#include "images/instructions/register_state.h"
#include "model/address_rule.h"

/* The memory operands that are accesses; at most LODE_MAX_DATA_OPERANDS. */
unsigned lode_full_instruction_accesses(
	const LodeFullInstruction *self, uint8_t out_operands[LODE_MAX_DATA_OPERANDS]);

/* How often an instruction with a rep prefix runs: from rcx, or ecx; without: once. False: not
 * known. */
bool lode_full_instruction_repetitions(
	const LodeFullInstruction *self, const LodeRegisterState *state, uint64_t *out_n);

/* base + index × scale + displacement, as lea gives it: without segment, of the size of addresses
 * (32 bits: with prefix 67). False: a register is not known. */
bool lode_full_instruction_effective_address(const LodeFullInstruction *self,
	const LodeRegisterState *state, uint8_t operand, uint64_t *out_address);

/* The description of an operand in memory, without its address. */
LodeDataOperand lode_full_instruction_operand(const LodeFullInstruction *self, uint8_t operand);

/* Where an access goes, with `state` as before the instruction: REASON_NONE, or TLS, VECTOR_INDEX,
 * CLOBBERED. */
LodeAddressReason lode_full_instruction_locate(const LodeFullInstruction *self,
	const LodeRegisterState *state, uint8_t operand, LodeDataOperand *out_operand);

/*
 * The part of an operand's address that is known to lie in the object it is an element of, where
 * the whole is not known: a base beside a lost index, or the displacement that is a symbol. False:
 * none, or registers among which the base is unknown.
 */
bool lode_full_instruction_locate_base(const LodeFullInstruction *self,
	const LodeRegisterState *state, uint8_t operand, uint64_t *out_base);
