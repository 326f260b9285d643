/* SPDX-License-Identifier: MIT */
#include "questions/parts/simulated_caches.h"

#include "base/error.h"

#include <string.h>

static const char own[] = "host", fallback[] = "skylake-server";

/* A path may contain two dots, too. */
static bool is_range(const char *text)
{
	return strchr(text, '/') == NULL && strstr(text, "..") != NULL && strchr(text, '=') != NULL;
}

LodeHierarchy *lode_simulated_caches_read(const char *option, const char *text, GError **error)
{
	LodeHierarchy *hierarchy;

	if (is_range(text)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: '%s' has a range, and a profile is of one hierarchy; ranges are for "
			"'lode trace simulate --cache'",
			option, text);
		return NULL;
	}
	hierarchy = lode_hierarchy_parse(text, error);
	if (hierarchy == NULL)
		g_prefix_error(error, "%s: ", option);
	return hierarchy;
}

/* Machines without caches in sysfs, such as some virtual ones, use the fallback. */
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
