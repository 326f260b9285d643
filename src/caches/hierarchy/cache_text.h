/* SPDX-License-Identifier: MIT */
/*
 * One cache or TLB as text, `d1=32K:8:64:plru`; see hierarchy_text.h for the grammar.
 * Private to caches/.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"

/*
 * Reads the text after the `=`. `part` is the whole, for messages. If the name does not say which
 * kinds of reference the cache holds, lode_hierarchy_read_text() decides. Errors: _USAGE, _LIMIT.
 */
bool lode_cache_read_text(LodeCache *out_cache, const char *name, const char *value,
	const char *part, GError **error);

/* A number with K, M, G or nothing after it; false: not a number, or too large for 64 bits. */
bool lode_cache_read_number(const char *text, uint64_t *out_number);

/* Appends the text that reads as this cache. */
void lode_cache_append_text(const LodeCache *cache, GString *out);
