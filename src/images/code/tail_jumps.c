/* SPDX-License-Identifier: MIT */
#include "images/code/tail_jumps.h"

#include "images/instructions/full_instruction.h"

#include <string.h>

uint64_t lode_called_address(const uint8_t code[LODE_DIRECT_CALL_SIZE], uint64_t return_address)
{
	enum { CALL = 0xe8 };
	int32_t distance;

	if (code[0] != CALL)
		return 0;
	memcpy(&distance, code + 1, sizeof(distance));
	return return_address + (uint64_t)(int64_t)distance;
}

static bool find_target(const LodeFullInstruction *full, uint64_t *out_target)
{
	const ZydisDecodedOperand *to = &full->operands[0];

	*out_target = 0;
	/* a jump through a register or an index uses a jump table of this function */
	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return to->mem.base == ZYDIS_REGISTER_RIP && to->mem.index == ZYDIS_REGISTER_NONE;
	return to->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       ZYAN_SUCCESS(
		       ZydisCalcAbsoluteAddress(&full->instruction, to, full->address, out_target));
}

size_t lode_tail_jumps_find(
	const uint8_t *code, size_t size, uint64_t address, LodeTailJump *out_jumps, size_t max)
{
	LodeFullInstruction full = {0};
	size_t n = 0, length;

	for (size_t offset = 0; offset < size && n < max; offset += length) {
		LodeTailJump jump = {.address = address + offset};
		length = 1;
		if (!lode_full_instruction_decode(
			    &full, code + offset, size - offset, jump.address))
			continue;
		length = full.instruction.length;
		if (full.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
			find_target(&full, &jump.target) &&
			(jump.target == 0 || jump.target - address >= size))
			out_jumps[n++] = jump;
	}
	return n;
}
