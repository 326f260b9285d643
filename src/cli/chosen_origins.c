/* SPDX-License-Identifier: MIT */
#include "cli/chosen_origins.h"

#include "analyses/merge/origin_choice.h"
#include "store/profile_store.h"

char *lode_chosen_origins_join(const char *const *words)
{
	return words != NULL ? g_strjoinv(",", (char **)words) : NULL;
}

LodeProfile *lode_chosen_origins_read(const char *path, const char *origins,
	LodeProfile *(*read)(const char *, const LodeProgress *, GError **),
	const LodeProgress *progress, GError **error)
{
	if (origins == NULL)
		return read(path, progress, error);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_origins(path, progress, error);
	if (profile == NULL)
		return NULL;
	if (lode_origin_choice_apply(profile, origins, error))
		return g_steal_pointer(&profile);
	g_prefix_error(error, "%s: ", path);
	return NULL;
}
