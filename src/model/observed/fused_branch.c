/* SPDX-License-Identifier: MIT */
#include "model/observed/fused_branch.h"

#include "model/profile.h"

#include <string.h>

static bool has_attribute(
	const LodeProfile *profile, const LodeInstruction *instruction, const char *name)
{
	const LodeAttributeSet *set = &LODE_AT(
		profile->attribute_sets, LodeAttributeSet, instruction->attribute_set);

	for (uint32_t i = set->first; i < set->first + set->n; i++)
		if (strcmp(profile->attributes->pdata[LODE_AT(profile->set_members, uint32_t, i)],
			    name) == 0)
			return true;
	return false;
}

/* Whether the instruction and the next one are. */
static bool is_pair(const LodeProfile *profile, uint32_t first)
{
	const LodeInstruction *own = lode_profile_instruction(profile, first), *next = own + 1;

	return first + 1 < profile->instructions->len && next->function == own->function &&
	       own->size > 0 && next->address == own->address + own->size &&
	       (has_attribute(profile, own, "op:cmp") || has_attribute(profile, own, "op:test")) &&
	       has_attribute(profile, next, "kind:branch");
}

uint32_t lode_fused_with(const LodeProfile *profile, uint32_t instruction)
{
	if (is_pair(profile, instruction))
		return instruction + 1;
	return instruction > 0 && is_pair(profile, instruction - 1) ? instruction - 1 : LODE_NONE;
}

double lode_fused_event_value(const LodeProfile *profile, uint32_t event, uint32_t instruction)
{
	uint32_t other = lode_fused_with(profile, instruction);
	double value = lode_profile_event_value(profile, event, instruction);

	return other == LODE_NONE ? value : value + lode_profile_event_value(profile, event, other);
}
