/* SPDX-License-Identifier: MIT */
/* The attribute kernel: of the instructions at which the program entered the kernel, by the events
 * of the time there and by page faults that were sampled. */
#include "ingest/join/join.h"
#include "model/code.h"
#include "model/memory.h"

/* The attribute of the instructions that have an event; LODE_NONE: none. */
static uint32_t attribute_of(LodeProfile *profile, uint32_t event)
{
	const char *name = lode_profile_event(profile, event)->name;

	if (lode_is_page_fault_event(name))
		name = LODE_KERNEL_EVENTS "page-fault";
	return g_str_has_prefix(name, LODE_KERNEL_EVENTS) ? lode_profile_attribute(profile, name)
	                                                  : LODE_NONE;
}

void lode_join_kernel_entries(LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	g_autofree uint32_t *attributes = g_new(uint32_t, MAX(code->events->len, 1));
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool has_any = false;

	for (uint32_t i = 0; i < code->events->len; i++) {
		bool has_costs = lode_event_kind_has_costs(lode_profile_event(profile, i)->kind);
		attributes[i] = has_costs ? attribute_of(profile, i) : LODE_NONE;
		has_any |= attributes[i] != LODE_NONE;
	}
	for (uint32_t i = 0; has_any && i < code->instructions->len; i++) {
		LodeInstruction *instruction = lode_profile_instruction(profile, i);
		uint32_t n;
		const uint32_t *members = lode_profile_set_members(
			profile, instruction->attribute_set, &n);
		g_array_set_size(ids, 0);
		for (uint32_t k = LODE_AT(code->cost_starts, uint32_t, i);
			k < LODE_AT(code->cost_starts, uint32_t, i + 1); k++) {
			uint32_t event = LODE_AT(code->costs, LodeCost, k).event;
			if (attributes[event] != LODE_NONE)
				g_array_append_val(ids, attributes[event]);
		}
		if (ids->len == 0)
			continue;
		g_array_append_vals(ids, members, n);
		instruction->attribute_set = lode_profile_attribute_set(
			profile, (const uint32_t *)ids->data, ids->len);
	}
}
