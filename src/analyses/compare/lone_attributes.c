/* SPDX-License-Identifier: MIT */
#include "analyses/compare/lone_attributes.h"

#include "base/error.h"
#include "model/profile.h"

#include <string.h>

static bool has_namespace(const LodeProfile *profile, const char *name, size_t length)
{
	for (guint i = 0; i < profile->code.attributes->len; i++)
		if (strncmp(g_ptr_array_index(profile->code.attributes, i), name, length) == 0)
			return true;
	return false;
}

static bool has_common_attribute(const LodeProfile *const profiles[2])
{
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < profiles[0]->code.attributes->len; i++)
		g_hash_table_add(names, g_ptr_array_index(profiles[0]->code.attributes, i));
	for (guint i = 0; i < profiles[1]->code.attributes->len; i++)
		if (g_hash_table_contains(
			    names, g_ptr_array_index(profiles[1]->code.attributes, i)))
			return true;
	return false;
}

/* Takes the glob. */
static void add_once(GPtrArray *all, char *glob)
{
	for (guint i = 0; i < all->len; i++)
		if (strcmp(g_ptr_array_index(all, i), glob) == 0) {
			g_free(glob);
			return;
		}
	g_ptr_array_add(all, glob);
}

bool lode_lone_attributes_find(
	const LodeProfile *const profiles[2], GPtrArray *globs, GError **error)
{
	for (int side = 0; side < 2; side++) {
		const LodeProfile *here = profiles[side], *there = profiles[1 - side];
		if (here->code.attributes->len == 0 || here->run.frequency == LODE_FREQUENCY_GIVEN)
			continue;
		for (guint i = 0; i < here->code.attributes->len; i++) {
			const char *name = g_ptr_array_index(here->code.attributes, i);
			const char *end = strchr(name, ':');
			size_t length = end != NULL ? (size_t)(end - name) + 1 : strlen(name);
			if (strncmp(name, "ev:", 3) == 0) {
				g_autofree char *event = g_strndup(
					name + 3, strcspn(name + 3, ":"));
				if (lode_profile_find_event(there, event) == LODE_NONE)
					add_once(globs, g_strdup_printf("ev:%s*", event));
			} else if (!has_namespace(there, name, length)) {
				add_once(globs, g_strdup_printf("%.*s*", (int)length, name));
			}
		}
	}
	if (profiles[0]->code.attributes->len == 0 || profiles[1]->code.attributes->len == 0 ||
		has_common_attribute(profiles))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"the profiles have no attribute in common: they are of different architectures, "
		"or made with different attributes");
	return false;
}
