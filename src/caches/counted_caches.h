/* SPDX-License-Identifier: MIT */
/*
 * The caches of a hierarchy as the plugin that counts in QEMU simulates them, LRU: a split first
 * level, a last level for all that gets its misses, as in callgrind; beside it a second level for
 * all, where there are three or more, and TLBs for data of one or two levels.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "caches/sets/lru_cache.h"

typedef struct {
	LodeLruShape first_instructions, first_data, last;
	LodeLruShape second, pages, second_pages; /* of no sets: there is none */
} LodeCountedCaches;

/* Errors: _UNSUPPORTED: one of the first three is missing, or one of all is not LRU, or prefetches,
 * or does not allocate; the message names the cache. */
bool lode_counted_caches_init(
	LodeCountedCaches *self, const LodeHierarchy *hierarchy, GError **error);

/* Parses the text after "caches=" in the plugin's argument. False: it is malformed. */
bool lode_counted_caches_parse(LodeCountedCaches *self, const char *text);

/* As a description, "i1=32K:8:64,d1=48K:12:64,l2=104M:26:64"; with a second level the last one is
 * l3. The caller owns it. */
char *lode_counted_caches_to_text(const LodeCountedCaches *self);

/* The plugin's argument, "caches=64:8:64+64:12:64+65536:26:64", and after it for example
 * "+1024:16:64+1:64:4096+0:0:0" where there are any of the last three. The caller owns it. */
char *lode_counted_caches_argument(const LodeCountedCaches *self);
