/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: carries registers over one instruction, backward: their values before it,
 * from their values after it. Registers that it writes are lost, except where their old value can
 * be computed back (add, sub, inc, dec, neg, not, xor, lea, products with an odd number, push, pop,
 * xchg, bswap, rotations, steps of string instructions), and a register that was lost later comes
 * back where this instruction copied it.
 */
#pragma once

#include "images/instructions/memory_operands.h"

void lode_backward_undo(const LodeFullInstruction *full, LodeRegisterState *state);
