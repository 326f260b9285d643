/* SPDX-License-Identifier: MIT */
/* The caches that an option names. */
#pragma once

#include "caches/hierarchy/hierarchy.h"

/* Reads what was given for `option` ("--simulate"). Errors: those of lode_hierarchy_parse(). */
LodeHierarchy *lode_simulated_caches_read(const char *option, const char *text, GError **error);

/* This machine's own; of one that does not tell them, those of another, and `out_note`, which the
 * caller owns, says so; else it is NULL. */
LodeHierarchy *lode_simulated_caches_default(const char *option, char **out_note, GError **error);
