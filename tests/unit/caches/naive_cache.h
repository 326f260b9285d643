/* SPDX-License-Identifier: MIT */
/* One cache of the naive simulator: its lines and when they were used, searched from end to end. */
#pragma once

#include "caches/cache_simulation.h"

typedef struct {
	uint64_t number;
	uint64_t used, filled; /* when */
	unsigned prediction;   /* of SRRIP */
	bool is_there, is_dirty, is_prefetched;
} NaiveLine;

typedef struct {
	bool is_used;
	uint64_t key, last, distance;
} NaiveStride;

/* Of a byte, the last store since the line was lost. */
typedef struct {
	uint64_t when; /* the same instruction and thread stored to the line last; 0: no store */
	uint64_t instruction;
	uint16_t thread;
} NaiveByte;

typedef struct {
	LodeCacheStore taken_by;
	bool is_crowded; /* the last stores were once of more instructions than are kept apart */
	NaiveByte bytes[];
} NaiveLost;

typedef struct {
	const LodeCache *description;
	NaiveLine *lines; /* set by set */
	bool *goes_right; /* of PLRU: n_ways nodes a set */
	uint64_t clock, random;
	NaiveStride strides[1024];
	GHashTable *seen;    /* uint64_t */
	GHashTable *lost;    /* uint64_t → NaiveLost */
	GArray *associative; /* uint64_t: the fully associative LRU cache, newest last */
} NaiveCache;

NaiveCache *naive_cache_new(const LodeCache *description, unsigned core);
void naive_cache_free(NaiveCache *self);

NaiveLine *naive_cache_find(NaiveCache *self, uint64_t number);
void naive_cache_use(NaiveCache *self, NaiveLine *line);

/* Whether the line's set is not full. */
bool naive_cache_has_room(const NaiveCache *self, uint64_t number);

/* Brings a line in; gives what went, which need not be there. */
NaiveLine naive_cache_fill(NaiveCache *self, uint64_t number);
void naive_cache_remove(NaiveCache *self, NaiveLine *line);

/* Whether the fully associative cache holds the line; then it does. */
bool naive_cache_use_associative(NaiveCache *self, uint64_t number, bool brings_in);
