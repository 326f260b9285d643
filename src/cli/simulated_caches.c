/* SPDX-License-Identifier: MIT */
#include "cli/simulated_caches.h"

static const char own[] = "host", fallback[] = "skylake-server";

LodeHierarchy *lode_simulated_caches_read(const char *option, const char *text, GError **error)
{
	LodeHierarchy *hierarchy = lode_hierarchy_parse(text, error);

	if (hierarchy == NULL)
		g_prefix_error(error, "%s: ", option);
	return hierarchy;
}

/* Machines without sysfs's caches, as some virtual ones, have to do with another one's. */
LodeHierarchy *lode_simulated_caches_default(const char *option, char **out_note, GError **error)
{
	g_autoptr(GError) why = NULL;
	LodeHierarchy *hierarchy = lode_hierarchy_parse(own, &why);

	*out_note = NULL;
	if (hierarchy != NULL)
		return hierarchy;
	hierarchy = lode_simulated_caches_read(option, fallback, error);
	if (hierarchy != NULL)
		*out_note = g_strdup_printf("%s; simulating '%s' instead, %s says which",
			why->message, fallback, option);
	return hierarchy;
}
