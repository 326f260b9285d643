/* SPDX-License-Identifier: MIT */
/* Private to images/: the classes of a decoded instruction. */
#pragma once

#include "images/cores/instruction_class.h"
#include "images/instructions/full_instruction.h"

/* `is_constant`: its result does not depend on its operands (xor eax, eax). */
LodeInstructionWork lode_work_of_instruction(const LodeFullInstruction *full, bool is_constant);
