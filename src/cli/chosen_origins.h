/* SPDX-License-Identifier: MIT */
/* The option --origin: a merged profile is looked at as if some of its origins alone were merged.
 */
#pragma once

#include "base/progress.h"
#include "model/profile.h"

#define LODE_ORIGIN_HELP                                                                           \
	"of a merged profile, only what the origins gave whose name or host matches, or that "     \
	"have this number in 'lode info'; may be repeated"

/* The option's words as LodeMiningParameters.origins; NULL where it was not given. The caller frees
 * it. */
char *lode_chosen_origins_join(const char *const *words);

/* The profile, of these origins; NULL: whole, `read` says how. Errors: those of reading, and of
 * lode_origin_choice_apply(). */
LodeProfile *lode_chosen_origins_read(const char *path, const char *origins,
	LodeProfile *(*read)(const char *, const LodeProgress *, GError **),
	const LodeProgress *progress, GError **error);
