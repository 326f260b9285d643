/* SPDX-License-Identifier: MIT */
/*
 * Caches and TLBs to be simulated, as a user describes them:
 *
 *   i1=32K:8:64,d1=32K:8:64:plru,l2=1M:16:64,l3=32M:16:64:shared,dtlb=64:4:4K
 *
 * or a preset by its name, or a file with one such part a line. docs/reference/caches.md has the
 * grammar.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_REPLACEMENT_LRU,
	LODE_REPLACEMENT_PLRU, /* a binary tree over the ways */
	LODE_REPLACEMENT_FIFO,
	LODE_REPLACEMENT_RANDOM, /* xorshift from the seed */
	LODE_REPLACEMENT_SRRIP,  /* two bits a line; Jaleel et al., ISCA 2010 */
	LODE_N_REPLACEMENTS,
} LodeReplacement;

typedef enum {
	LODE_PREFETCH_NONE,
	LODE_PREFETCH_NEXT_LINE, /* on a miss, the next one too */
	LODE_PREFETCH_STRIDE,    /* by the instruction: after two equal strides */
	LODE_N_PREFETCHES,
} LodePrefetch;

enum {
	LODE_CACHE_INSTRUCTIONS = 1,
	LODE_CACHE_DATA = 2,
}; /* bits; both: unified */

enum {
	LODE_HIERARCHY_MAX_LEVELS = 6, /* of caches; an i1 and a d1 are one */
	LODE_HIERARCHY_MAX_CACHES = 16,
	LODE_HIERARCHY_MAX_CORES = 64,
	LODE_HIERARCHY_MAX_TEXT = 1 << 16, /* bytes of a description */
	LODE_CACHE_MAX_WAYS = 1 << 16,
	LODE_CACHE_MAX_LINES = 1 << 26,
	LODE_CACHE_MIN_LINE = 16, /* bytes */
	LODE_CACHE_MAX_LINE = 4096,
	LODE_TLB_MIN_PAGE = 256,
	LODE_TLB_MAX_PAGE = 1 << 30,
};

typedef struct {
	char name[16];         /* "d1", "l2", "dtlb" */
	uint8_t level;         /* from 1; of TLBs by themselves */
	uint8_t holds;         /* LODE_CACHE_… bits */
	bool is_tlb;           /* lines are pages */
	bool is_shared;        /* one for all cores, else one for each */
	bool is_write_through; /* else write-back */
	bool is_no_allocate;   /* stores that miss bring no line in */
	LodeReplacement replacement;
	LodePrefetch prefetch;
	uint64_t size_bytes;         /* = sets × ways × line; of a TLB, what it reaches */
	uint32_t n_ways, line_bytes; /* powers of two: line_bytes and the number of sets */
	uint64_t n_sets;
	uint64_t seed; /* of random replacement */
} LodeCache;

typedef struct {
	char *name;       /* as the user wrote it, or the preset's */
	GArray *caches;   /* LodeCache: by level, instructions before data, TLBs last */
	uint32_t n_cores; /* threads are dealt to cores in turn; 0: a core for each thread */
} LodeHierarchy;

/*
 * Reads a description: a preset's name, also followed by parts ("host,cores=4"), a path (with a '/'
 * or an existing file), or the text itself. Errors: _USAGE (with the wrong part and the expected
 * form), _IO, _LIMIT.
 */
LodeHierarchy *lode_hierarchy_parse(const char *text, GError **error);

/* Likewise without file names: a preset, also followed by parts, or the text. */
LodeHierarchy *lode_hierarchy_parse_words(const char *text, GError **error);
void lode_hierarchy_free(LodeHierarchy *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeHierarchy, lode_hierarchy_free)
