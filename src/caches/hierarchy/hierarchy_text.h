/* SPDX-License-Identifier: MIT */
/*
 * The text of a hierarchy: parts between commas or newlines, `#` begins a comment.
 *
 *   part   = name "=" size ":" ways ":" line { ":" option }     a cache
 *          | name "=" entries ":" ways ":" page { ":" option }  a TLB
 *          | "cores=" number
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"

/* Empty, with that name. */
LodeHierarchy *lode_hierarchy_new(const char *name);

/* Adds the parts of a text and checks the whole. Errors: _USAGE, _LIMIT. */
bool lode_hierarchy_read_text(LodeHierarchy *self, const char *text, GError **error);

/* The whole description as text that parses to the same again; the caller owns it. */
char *lode_hierarchy_to_text(const LodeHierarchy *self);

/* The name of a policy, as an option has it. */
const char *lode_replacement_name(LodeReplacement replacement);
