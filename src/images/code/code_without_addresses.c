/* SPDX-License-Identifier: MIT */
#include "images/code/code_without_addresses.h"

#include "images/instructions/full_instruction.h"

#include <string.h>

/* Where the linkers put programs with fixed addresses, and how far their data may be from their
 * code. */
#define FIXED_BEGIN UINT64_C(0x400000)
#define FIXED_REACH UINT64_C(0x4000000)

/* Registers of segments that hold a thread's variables. */
#define THREAD_SEGMENTS (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS)

typedef struct {
	uint64_t begin;
	size_t size;
} Bounds;

static bool is_inside(const Bounds *self, uint64_t address)
{
	return address - self->begin < self->size;
}

static bool may_be_address(const Bounds *self, uint64_t value, unsigned bits)
{
	uint64_t distance = value > self->begin ? value - self->begin : self->begin - value;

	return bits >= 32 && self->begin >= FIXED_BEGIN && value >= FIXED_BEGIN &&
	       distance < FIXED_REACH;
}

static bool is_placed_displacement(const Bounds *self, const LodeFullInstruction *one)
{
	const ZydisDecodedInstruction *instruction = &one->instruction;
	int64_t value = instruction->raw.disp.value;

	for (unsigned i = 0; i < instruction->operand_count; i++)
		if (one->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			one->operands[i].mem.base == ZYDIS_REGISTER_RIP)
			return !is_inside(
				self, one->address + instruction->length + (uint64_t)value);
	return (instruction->attributes & THREAD_SEGMENTS) != 0 ||
	       may_be_address(self, (uint64_t)value, instruction->raw.disp.size);
}

GBytes *lode_code_without_addresses(const uint8_t *code, size_t size, uint64_t address)
{
	const Bounds bounds = {address, size};
	uint8_t *out = g_memdup2(code, size);
	LodeFullInstruction one;

	for (size_t at = 0; at < size;) {
		if (!lode_full_instruction_decode(&one, code + at, size - at, address + at)) {
			at++;
			continue;
		}
		const ZydisDecodedInstruction *instruction = &one.instruction;
		if (instruction->raw.disp.size > 0 && is_placed_displacement(&bounds, &one))
			memset(out + at + instruction->raw.disp.offset, 0,
				instruction->raw.disp.size / 8);
		for (unsigned i = 0; i < G_N_ELEMENTS(instruction->raw.imm); i++) {
			uint64_t value = instruction->raw.imm[i].value.u;
			unsigned bits = instruction->raw.imm[i].size;
			bool is_placed = instruction->raw.imm[i].is_relative
			                         ? !is_inside(&bounds, one.address +
									       instruction->length +
									       value)
			                         : may_be_address(&bounds, value, bits);
			if (bits > 0 && is_placed)
				memset(out + at + instruction->raw.imm[i].offset, 0, bits / 8);
		}
		at += instruction->length;
	}
	return g_bytes_new_take(out, size);
}
