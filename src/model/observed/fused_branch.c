/* SPDX-License-Identifier: MIT */
#include "model/observed/fused_branch.h"

#include "model/profile.h"

/* Whether the instruction and the next one are. */
static bool is_pair(const LodeProfile *profile, uint32_t first)
{
	const LodeInstruction *own = lode_profile_instruction(profile, first), *next = own + 1;

	return first + 1 < profile->code.instructions->len && next->function == own->function &&
	       own->size > 0 && next->address == own->address + own->size &&
	       (lode_profile_set_has(profile, own->attribute_set, "op:cmp") ||
		       lode_profile_set_has(profile, own->attribute_set, "op:test")) &&
	       lode_profile_set_has(profile, next->attribute_set, "kind:branch");
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
