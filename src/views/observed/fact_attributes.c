/* SPDX-License-Identifier: MIT */
#include "views/observed/fact_attributes.h"

#include "analyses/flow_graph/attribute_namespaces.h"
#include "model/profile.h"

#include <string.h>

bool lode_fact_attribute(const char *attribute)
{
	return (strchr(attribute, ':') != NULL &&
		       lode_namespaces_have(LODE_NAMESPACES_OF_FACTS, attribute)) ||
	       strcmp(attribute, "address:early") == 0 ||
	       strcmp(attribute, "address:invariant") == 0;
}

static const LodeAttributeSet *set_of(const LodeProfile *profile, uint32_t instruction)
{
	return &LODE_AT(profile->code.attribute_sets, LodeAttributeSet,
		lode_profile_instruction(profile, instruction)->attribute_set);
}

static const char *name_at(const LodeProfile *profile, uint32_t member)
{
	return g_ptr_array_index(
		profile->code.attributes, LODE_AT(profile->code.set_members, uint32_t, member));
}

void lode_fact_attributes_append(
	const LodeProfile *profile, uint32_t instruction, const char *begin, GString *out)
{
	const LodeAttributeSet *set = set_of(profile, instruction);

	for (uint32_t i = set->first; i < set->first + set->n; i++) {
		const char *name = name_at(profile, i);
		if (!lode_fact_attribute(name))
			continue;
		g_string_append_printf(out, "%s%s", begin, name);
		begin = " ";
	}
}

static int compare_shares(const void *a, const void *b)
{
	const LodeFactShare *first = a, *second = b;

	if (first->weight != second->weight)
		return first->weight > second->weight ? -1 : 1;
	return strcmp(first->name, second->name);
}

GArray *lode_fact_attributes_shares(const LodeProfile *profile)
{
	GArray *shares = g_array_new(FALSE, TRUE, sizeof(LodeFactShare));
	g_autofree uint32_t *places = g_new(uint32_t, MAX(profile->code.attributes->len, 1));

	for (guint i = 0; i < profile->code.attributes->len; i++) {
		LodeFactShare share = {.name = g_ptr_array_index(profile->code.attributes, i)};
		places[i] = LODE_NONE;
		if (!lode_fact_attribute(share.name))
			continue;
		places[i] = shares->len;
		g_array_append_val(shares, share);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len && shares->len > 0; i++) {
		const LodeAttributeSet *set = set_of(profile, i);
		for (uint32_t k = set->first; k < set->first + set->n; k++) {
			uint32_t place = places[LODE_AT(profile->code.set_members, uint32_t, k)];
			if (place == LODE_NONE)
				continue;
			LodeFactShare *share = &g_array_index(shares, LodeFactShare, place);
			share->weight += lode_profile_event_value(
				profile, profile->code.weight_event, i);
			share->executions += lode_profile_instruction(profile, i)->count;
			share->n_instructions++;
		}
	}
	for (guint i = shares->len; i > 0; i--)
		if (g_array_index(shares, LodeFactShare, i - 1).n_instructions == 0)
			g_array_remove_index(shares, i - 1);
	g_array_sort(shares, compare_shares);
	return shares;
}
