/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/code/loop_footprints.h"

#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "model/memory.h"
#include "model/profile.h"

enum { BLOCK_SHIFT = 16, NEAR_BLOCKS = (2 << 20) >> BLOCK_SHIFT, LEAST_SAMPLES = 40 };

typedef struct {
	uint32_t loop;
	uint64_t block;
} Touched;

LODE_ORDER(compare_touched, Touched, LODE_ASCENDING(loop), LODE_ASCENDING(block))

/* Touched, of each access in a loop whose address is known. The caller unrefs it. */
static GArray *find_touched(const LodeCostedCode *code)
{
	const LodeMemory *memory = code->context->profile->memory;
	GArray *touched = g_array_new(FALSE, FALSE, sizeof(Touched));

	for (guint i = 0; memory != NULL && i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->address == 0 || sample->access_instruction == LODE_NONE ||
			code->loops[sample->access_instruction] == LODE_NONE)
			continue;
		const Touched one = {
			code->loops[sample->access_instruction], sample->address >> BLOCK_SHIFT};
		g_array_append_val(touched, one);
	}
	g_array_sort(touched, compare_touched);
	return touched;
}

/* Whether so many accesses lie in so few blocks. */
static bool are_near(uint32_t n, uint32_t n_blocks)
{
	return n >= LEAST_SAMPLES && n_blocks < NEAR_BLOCKS;
}

/* The same for all loops together: the work of a program may be spread over many. */
static bool are_all_near(const GArray *touched)
{
	g_autoptr(GHashTable) blocks = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < touched->len; i++)
		g_hash_table_add(
			blocks, GSIZE_TO_POINTER(g_array_index(touched, Touched, i).block));
	return are_near(touched->len, g_hash_table_size(blocks));
}

void lode_loop_footprints_apply(LodeCostedCode *self)
{
	const uint64_t limits = LODE_BIT(LODE_CODE_LIMIT_READING) |
	                        LODE_BIT(LODE_CODE_LIMIT_WRITING);
	const LodeProfile *profile = self->context->profile;
	g_autofree bool *is_near = g_new0(bool, MAX(profile->loops->len, 1));
	g_autoptr(GArray) touched = find_touched(self);
	bool is_all_near = are_all_near(touched);

	for (guint i = 0, end; i < touched->len; i = end) {
		uint32_t loop = g_array_index(touched, Touched, i).loop, n_blocks = 0;
		for (end = i;
			end < touched->len && g_array_index(touched, Touched, end).loop == loop;
			end++)
			n_blocks += end == i ||
			            g_array_index(touched, Touched, end).block !=
			                    g_array_index(touched, Touched, end - 1).block;
		is_near[loop] = are_near(end - i, n_blocks);
	}
	for (uint32_t i = 0; i < profile->instructions->len; i++)
		if (self->loops[i] != LODE_NONE && (is_all_near || is_near[self->loops[i]]))
			self->facts[i] &= ~limits;
}
