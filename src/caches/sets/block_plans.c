/* SPDX-License-Identifier: MIT */
#include "caches/sets/block_plans.h"

#include "caches/sets/cache_access.h"

/* No instruction of a processor has more; after one without a size the address of the next is
 * unknown. */
enum { MAX_INSTRUCTION_BYTES = 256 };

void lode_block_plans_init(LodeBlockPlans *self)
{
	*self = (LodeBlockPlans){
		.plans = g_array_new(FALSE, FALSE, sizeof(LodeBlockPlan)),
		/* with room: its data are never NULL, to which not even 0 may be added */
		.slots = g_array_sized_new(FALSE, FALSE, sizeof(LodePlanSlot), 1),
	};
}

void lode_block_plans_clear(LodeBlockPlans *self)
{
	g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
	g_clear_pointer(&self->plans, g_array_unref);
	g_clear_pointer(&self->slots, g_array_unref);
}

uint16_t lode_access_extent(uint32_t size)
{
	return (uint16_t)(CLAMP(size, 1, LODE_ACCESS_MAX_BYTES) - 1);
}

static void measure_instructions(LodeBlockPlan *plan, const LodeTraceBlock *block)
{
	uint64_t n_bytes = 0;

	for (unsigned i = 0; i < block->n_instructions; i++) {
		uint32_t size = block->instruction_sizes[i];

		plan->is_odd |= size == 0 || size > MAX_INSTRUCTION_BYTES;
		n_bytes += size;
	}
	plan->first = block->address;
	plan->last = block->address + n_bytes - 1;
	plan->is_odd |= n_bytes > 0 && plan->last < plan->first;
}

static void add_plan(LodeBlockPlans *self, const LodeTraceBlock *block)
{
	LodeBlockPlan plan = {
		.first_slot = self->slots->len,
		.n_instructions = block->n_instructions,
		.n_slots = block->n_slots,
	};

	measure_instructions(&plan, block);
	for (unsigned i = 0; i < block->n_slots; i++) {
		const LodeTraceSlot *slot = &block->slots[i];
		LodePlanSlot copy = {lode_access_extent(slot->size), slot->instruction, slot->kind};

		g_array_append_val(self->slots, copy);
		plan.n_stores = (uint8_t)(plan.n_stores + (slot->kind == LODE_REFERENCE_STORE));
		plan.n_modifies = (uint8_t)(plan.n_modifies +
					    (slot->kind == LODE_REFERENCE_MODIFY));
	}
	g_array_append_val(self->plans, plan);
}

void lode_block_plans_add(LodeBlockPlans *self, const LodeTraceFrame *frame)
{
	if (self->dictionary != frame->dictionary) {
		g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
		self->dictionary = lode_block_dictionary_ref(frame->dictionary);
		g_array_set_size(self->plans, 0);
		g_array_set_size(self->slots, 0);
	}
	for (guint id = self->plans->len; id < frame->n_blocks; id++)
		add_plan(self, lode_block_dictionary_at(frame->dictionary, id));
}
