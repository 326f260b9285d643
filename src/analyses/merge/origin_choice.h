/* SPDX-License-Identifier: MIT */
/*
 * A merged profile as if only some of its origins had been merged. Functions, instructions and
 * attributes keep their numbers, so that what refers to them holds in the whole profile, too.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

/*
 * Leaves of executions, edges and costs of the profile, which was read with its origin_parts, what
 * the chosen origins gave. `origins`: their names or hosts, as patterns of a shell, or their
 * numbers from 1 on in the order of lode info, separated by commas. A part has no stacks. Errors:
 * _UNSUPPORTED: the profile was not merged; _NOT_FOUND: a word chooses none; the profile is then as
 * it was.
 */
bool lode_origin_choice_apply(LodeProfile *profile, const char *origins, GError **error);
