/* SPDX-License-Identifier: MIT */
#include "cli/chosen_origins.h"

#include "analyses/merge/origin_choice.h"
#include "cli/mining_options.h"
#include "store/profile_store.h"

#include <math.h>

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

LodeMiningRun *lode_chosen_origins_mine(const LodeProfile *profile, const LodeMiningRun *like,
	const char *origins, bool has_sequences, const LodeProgress *progress, GError **error)
{
	LodeMiningParameters parameters = like->parameters;

	parameters.origins = origins;
	parameters.only_findings = !has_sequences && !parameters.is_instruction_mode;
	/* A part has fewer samples. */
	parameters.min_support = fmax(
		parameters.min_support, lode_mining_default_support(profile, parameters.weight));
	return lode_mining_options_mine_as(profile, &parameters, like->name, progress, error);
}
