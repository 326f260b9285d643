/* SPDX-License-Identifier: MIT */
/* The caches that an option names. */
#pragma once

#include "caches/hierarchy/hierarchy.h"

/* Reads the argument of `option` ("--simulate"). Errors: those of lode_hierarchy_parse(). */
LodeHierarchy *lode_simulated_caches_read(const char *option, const char *text, GError **error);

/* This machine's caches; if they are unknown, a preset, with a note in *out_note, which the caller
 * owns; otherwise *out_note is NULL. */
LodeHierarchy *lode_simulated_caches_default(const char *option, char **out_note, GError **error);
