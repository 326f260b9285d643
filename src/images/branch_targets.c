/* SPDX-License-Identifier: MIT */
#include "images/branch_targets.h"

#include "base/partition_point.h"
#include "images/jump_tables.h"

#include <Zydis/Zydis.h>

#include <stdlib.h>

void lode_branch_targets_init(LodeBranchTargets *self)
{
	self->targets = g_array_new(FALSE, FALSE, sizeof(LodeBranchTarget));
	self->indirect_jumps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->named = g_array_new(FALSE, FALSE, sizeof(LodeBranchTarget));
	self->has_tables = false;
}

void lode_branch_targets_clear(LodeBranchTargets *self)
{
	g_clear_pointer(&self->targets, g_array_unref);
	g_clear_pointer(&self->indirect_jumps, g_array_unref);
	g_clear_pointer(&self->named, g_array_unref);
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

/* Relative to rip, which has this form in 64-bit code only. */
static bool is_near_memory(const ZydisDecodedInstruction *instruction)
{
	return instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
	       instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5;
}

static void add_instruction(
	LodeBranchTargets *self, const ZydisDecodedInstruction *instruction, uint64_t address)
{
	LodeBranchTarget named = {address + instruction->length, address};

	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA && is_near_memory(instruction)) {
		named.target += (uint64_t)instruction->raw.disp.value;
		g_array_append_val(self->named, named);
		g_array_append_val(self->targets, named);
	} else if (is_jump(instruction) && instruction->raw.imm[0].is_relative) {
		named.target += (uint64_t)instruction->raw.imm[0].value.s;
		g_array_append_val(self->targets, named);
	} else if (instruction->mnemonic == ZYDIS_MNEMONIC_JMP && !is_near_memory(instruction)) {
		/* jmp [rip + x] takes one word, mostly of the GOT, and not one of a table */
		g_array_append_val(self->indirect_jumps, address);
	}
}

static void sweep(LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address)
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
}

static void sort(GArray *array, size_t size, int (*compare)(const void *, const void *))
{
	if (array->len > 1)
		qsort(array->data, array->len, size, compare);
}

static void sort_all(LodeBranchTargets *self)
{
	sort(self->targets, sizeof(LodeBranchTarget), compare_targets);
	sort(self->named, sizeof(LodeBranchTarget), compare_targets);
	sort(self->indirect_jumps, sizeof(uint64_t), compare_addresses);
}

/* Many pointers lead to one function. */
static void remove_repeated(GArray *targets)
{
	guint n = 0;

	for (guint i = 0; i < targets->len; i++) {
		LodeBranchTarget target = g_array_index(targets, LodeBranchTarget, i);

		if (n > 0 && compare_targets(&g_array_index(targets, LodeBranchTarget, n - 1),
				     &target) == 0)
			continue;
		g_array_index(targets, LodeBranchTarget, n++) = target;
	}
	g_array_set_size(targets, n);
}

void lode_branch_targets_add(
	LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address)
{
	sweep(self, code, size, address);
	sort_all(self);
}

bool lode_branch_targets_read(LodeBranchTargets *self, const char *path, GError **error)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, error);

	if (file == NULL)
		return false;
	for (guint i = 0; i < file->executable->len; i++) {
		const LodeElfRange *range = &g_array_index(file->executable, LodeElfRange, i);

		if (range->bytes != NULL)
			sweep(self, range->bytes, (size_t)range->size, range->address);
	}
	sort_all(self);
	lode_jump_tables_add(self, file);
	self->has_tables = true;
	sort_all(self);
	remove_repeated(self->targets);
	return true;
}

guint lode_branch_targets_above(const LodeBranchTargets *self, uint64_t address)
{
	guint low = LODE_PARTITION_POINT(self->targets->len, i,
		g_array_index(self->targets, LodeBranchTarget, i).target <= address);
	return low;
}

bool lode_branch_targets_has_indirect_jump(
	const LodeBranchTargets *self, uint64_t begin, uint64_t end)
{
	guint low = LODE_PARTITION_POINT(self->indirect_jumps->len, i,
		g_array_index(self->indirect_jumps, uint64_t, i) < begin);
	return low < self->indirect_jumps->len &&
	       g_array_index(self->indirect_jumps, uint64_t, low) < end;
}
