/* SPDX-License-Identifier: MIT */
/*
 * Many hierarchies in one text: sizes from … to, in powers of two. All combinations, the last range
 * fastest.
 *
 *   d1=8K..32K:8:64   ─▶   d1=8K:8:64   d1=16K:8:64   d1=32K:8:64
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"

enum { LODE_SWEEP_MAX_HIERARCHIES = 1024 };

/* Texts for lode_hierarchy_parse(), which is the one to find most mistakes; the text itself when it
 * has no range. The caller frees it with g_strfreev(). Errors: _USAGE, _LIMIT. */
char **lode_hierarchy_sweep_expand(const char *text, GError **error);
