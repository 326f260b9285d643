/* SPDX-License-Identifier: MIT */
#include "views/observed/address_words.h"

/* Attributes that begin so, and their words in a row of code; NULL: the facts of windows say it
 * there. */
static const struct {
	const char *prefix, *words;
} kinds[] = {
	{"address:early", "early address"},
	{"stride:", NULL},
	{"lines:partly-used", "lines partly used"},
	{"lines:", NULL},
	{"spread:tlb", "pages beyond the TLB"},
	{"conflict:", NULL},
};

enum { N_KINDS = G_N_ELEMENTS(kinds) };

/* N_KINDS: none. */
static unsigned kind_of(const char *attribute)
{
	unsigned i = 0;

	while (i < N_KINDS && !g_str_has_prefix(attribute, kinds[i].prefix))
		i++;
	return i;
}

static const LodeAttributeSet *set_of(const LodeProfile *profile, uint32_t instruction)
{
	return &LODE_AT(profile->attribute_sets, LodeAttributeSet,
		lode_profile_instruction(profile, instruction)->attribute_set);
}

static const char *attribute_at(const LodeProfile *profile, const LodeAttributeSet *set, uint32_t i)
{
	return profile->attributes->pdata[LODE_AT(profile->set_members, uint32_t, set->first + i)];
}

void lode_address_words_append(const LodeProfile *profile, uint32_t instruction, GString *out)
{
	const LodeAttributeSet *set = set_of(profile, instruction);

	for (uint32_t i = 0; i < set->n; i++) {
		unsigned kind = kind_of(attribute_at(profile, set, i));
		if (kind < N_KINDS && kinds[kind].words != NULL)
			g_string_append_printf(
				out, "%s%s", out->len > 0 ? ", " : "", kinds[kind].words);
	}
}

void lode_address_words_json(const LodeProfile *profile, uint32_t instruction, LodeJsonStream *json)
{
	const LodeAttributeSet *set = set_of(profile, instruction);

	lode_json_key(json, "address_facts");
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < set->n; i++)
		if (kind_of(attribute_at(profile, set, i)) < N_KINDS)
			lode_json_string(json, attribute_at(profile, set, i));
	lode_json_end(json, ']');
}
