/* SPDX-License-Identifier: MIT */
#include "images/branch_targets.h"

#include <Zydis/Zydis.h>

#include <stdlib.h>

void lode_branch_targets_init(LodeBranchTargets *self)
{
	self->targets = g_array_new(FALSE, FALSE, sizeof(LodeBranchTarget));
	self->indirect_jumps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void lode_branch_targets_clear(LodeBranchTargets *self)
{
	g_clear_pointer(&self->targets, g_array_unref);
	g_clear_pointer(&self->indirect_jumps, g_array_unref);
}

static int compare_targets(const void *a, const void *b)
{
	const LodeBranchTarget *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return (x->source > y->source) - (x->source < y->source);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool is_jump(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       instruction->meta.category == ZYDIS_CATEGORY_CALL;
}

static bool takes_address(const ZydisDecodedInstruction *instruction)
{
	return instruction->mnemonic == ZYDIS_MNEMONIC_LEA && instruction->raw.modrm.mod == 0 &&
	       instruction->raw.modrm.rm == 5;
}

static void add_instruction(
	LodeBranchTargets *self, const ZydisDecodedInstruction *instruction, uint64_t address)
{
	LodeBranchTarget named = {address + instruction->length, address};

	if (takes_address(instruction))
		named.target += (uint64_t)instruction->raw.disp.value;
	else if (is_jump(instruction) && instruction->raw.imm[0].is_relative)
		named.target += (uint64_t)instruction->raw.imm[0].value.s;
	else if (instruction->mnemonic == ZYDIS_MNEMONIC_JMP) {
		g_array_append_val(self->indirect_jumps, address);
		return;
	} else {
		return;
	}
	g_array_append_val(self->targets, named);
}

void lode_branch_targets_add(
	LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size;) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
			    &decoder, NULL, code + at, size - at, &instruction))) {
			at++;
			continue;
		}
		add_instruction(self, &instruction, address + at);
		at += instruction.length;
	}
	if (self->targets->len > 0)
		qsort(self->targets->data, self->targets->len, sizeof(LodeBranchTarget),
			compare_targets);
	if (self->indirect_jumps->len > 0)
		qsort(self->indirect_jumps->data, self->indirect_jumps->len, sizeof(uint64_t),
			compare_addresses);
}

guint lode_branch_targets_above(const LodeBranchTargets *self, uint64_t address)
{
	guint low = 0, high = self->targets->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(self->targets, LodeBranchTarget, middle).target <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lode_branch_targets_has_indirect_jump(
	const LodeBranchTargets *self, uint64_t begin, uint64_t end)
{
	guint low = 0, high = self->indirect_jumps->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(self->indirect_jumps, uint64_t, middle) < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->indirect_jumps->len &&
	       g_array_index(self->indirect_jumps, uint64_t, low) < end;
}
