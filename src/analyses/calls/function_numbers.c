/* SPDX-License-Identifier: MIT */
#include "analyses/calls/function_numbers.h"

#include "model/code.h"
#include "model/index.h"

/* Strings of a profile are equal where their addresses are. */
static LodeIdSlot *find_slot(
	LodeFunctionNumbers *self, const char *name, const char *image, bool *out_is_new)
{
	const LodeIdKey key = {{(uint64_t)(uintptr_t)name, (uint64_t)(uintptr_t)image}};

	return lode_id_cache_find(&self->known, &key, out_is_new);
}

void lode_function_numbers_init(LodeFunctionNumbers *self, const LodeProfile *profile)
{
	lode_id_cache_init(&self->known);
	for (uint32_t i = 0; i < lode_code_of(profile)->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		bool is_new;
		LodeIdSlot *slot = find_slot(self, function->name,
			lode_profile_image(profile, function->image)->path, &is_new);
		if (is_new)
			slot->id = i;
	}
}

void lode_function_numbers_clear(LodeFunctionNumbers *self)
{
	lode_id_cache_clear(&self->known);
}

uint32_t lode_function_numbers_find(LodeFunctionNumbers *self, const char *name, const char *image)
{
	bool is_new;

	if (name == NULL)
		return LODE_NONE;
	LodeIdSlot *slot = find_slot(self, name, image, &is_new);
	if (is_new)
		slot->id = LODE_NONE;
	return slot->id;
}
