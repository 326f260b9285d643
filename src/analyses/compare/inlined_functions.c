/* SPDX-License-Identifier: MIT */
#include "analyses/compare/moved_code.h"

#include "analyses/compare/untyped_name.h"
#include "model/code.h"

/* Functions of the other profile without a partner, by their names without types: index + 1; 0:
 * several have that name. */
static GHashTable *index_lone_functions(
	const LodeProfile *profile, const LodeFunctionPairs *pairs, int side)
{
	GHashTable *out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < pairs->pairs->len; i++) {
		const uint32_t *both = g_array_index(pairs->pairs, LodeFunctionPair, i).functions;
		bool has_types;
		if (both[side] != LODE_NONE)
			continue;
		uint32_t lone = both[1 - side];
		char *name = lode_untyped_name(
			lode_profile_function(profile, lone)->name, &has_types);
		if (name == NULL)
			continue;
		bool is_known = g_hash_table_contains(out, name);
		g_hash_table_insert(out, name, GUINT_TO_POINTER(is_known ? 0 : lone + 1));
	}
	return out;
}

static uint32_t find_by_location(
	const LodeProfile *profile, GHashTable *lone, GHashTable *known, uint32_t location)
{
	const char *name =
		location != LODE_NONE
			? LODE_AT(lode_code_of(profile)->locations, LodeLocation, location).inlined
			: NULL;
	void *found;
	bool has_types;

	if (name == NULL)
		return LODE_NONE;
	/* Names are interned: each is cut once. */
	if (!g_hash_table_lookup_extended(known, name, NULL, &found)) {
		g_autofree char *untyped = lode_untyped_name(name, &has_types);
		found = untyped != NULL ? g_hash_table_lookup(lone, untyped) : NULL;
		g_hash_table_insert(known, (void *)name, found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

uint32_t *lode_inlined_functions_find(
	const LodeProfile *const profiles[2], const LodeFunctionPairs *pairs, int side)
{
	const LodeProfile *profile = profiles[side];
	uint32_t n = lode_code_of(profile)->instructions->len,
		 n_inlinings = lode_code_of(profile)->inlinings->len;
	g_autoptr(GHashTable) lone = index_lone_functions(profiles[1 - side], pairs, side);
	g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
	g_autofree uint32_t *of_inlining = g_new(uint32_t, n_inlinings + 1);
	uint32_t *out = g_new(uint32_t, n + 1);

	/* The outer ones come first. */
	for (uint32_t i = 0; i < n_inlinings; i++) {
		const LodeInlining *one = &LODE_AT(
			lode_code_of(profile)->inlinings, LodeInlining, i);
		of_inlining[i] = find_by_location(profile, lone, known, one->location);
		if (of_inlining[i] == LODE_NONE && one->outer < i)
			of_inlining[i] = of_inlining[one->outer];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t inlining = lode_profile_inlining_of(profile, i);
		out[i] = find_by_location(
			profile, lone, known, lode_profile_instruction(profile, i)->location);
		if (out[i] == LODE_NONE && inlining < n_inlinings)
			out[i] = of_inlining[inlining];
	}
	return out;
}
