/* SPDX-License-Identifier: MIT */
/*
 * The caches of a hierarchy as the plugin that counts in QEMU simulates them: a split first level
 * and a last level for all, LRU. Levels between them are left out, as in callgrind.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "caches/sets/lru_cache.h"

typedef struct {
	LodeLruShape first_instructions, first_data, last;
} LodeCountedCaches;

/* Errors: _UNSUPPORTED: one of these caches is missing, or is not LRU, or prefetches, or does not
 * allocate; the message names the cache. */
bool lode_counted_caches_init(
	LodeCountedCaches *self, const LodeHierarchy *hierarchy, GError **error);

/* Parses the text after "caches=" in the plugin's argument. False: it is malformed. */
bool lode_counted_caches_parse(LodeCountedCaches *self, const char *text);

/* As a description, "i1=32K:8:64,d1=48K:12:64,l2=104M:26:64"; the caller owns it. */
char *lode_counted_caches_to_text(const LodeCountedCaches *self);

/* The plugin's argument, "caches=64:8:64+64:12:64+65536:26:64"; the caller owns it. */
char *lode_counted_caches_argument(const LodeCountedCaches *self);
