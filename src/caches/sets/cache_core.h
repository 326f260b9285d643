/* SPDX-License-Identifier: MIT */
/*
 * The cores of a simulated machine, and the copies of caches that their references go through:
 *
 *   core 0   i1 ─┐                 core 1   i1 ─┐
 *            d1 ─┴▶ l2 ─┐                   d1 ─┴▶ l2 ─┐
 *                       └──────────▶ l3 ◀──────────────┘
 *
 * Private to caches/.
 */
#pragma once

#include "caches/cache_simulation.h"
#include "caches/sets/cache_sets.h"
#include "caches/stacks/set_stacks.h"

typedef struct LodeLineStores LodeLineStores;
typedef struct LodeMissClasses LodeMissClasses;
typedef struct LodeStrideTable LodeStrideTable;

/* One copy of a cache. */
typedef struct {
	const LodeCache *cache;
	LodeCacheCounts *counts; /* of all copies; borrowed */
	LodeCacheSets sets;
	LodeMissClasses *classes;  /* NULL: not asked for */
	LodeStrideTable *strides;  /* NULL: prefetches otherwise */
	uint64_t last_line;        /* the highest number there is */
	uint8_t line_shift, index; /* index: in the hierarchy */
	uint8_t data_level;        /* its place in a core's data path */
	bool is_coherent;          /* other cores have copies too that hold data */
	LodeLineStores *stores;    /* NULL: not requested, or not in the first level of data */
} LodeCacheCopy;

/* The way of a core's references: NULL after the last one. */
typedef LodeCacheCopy *LodeCachePath[LODE_HIERARCHY_MAX_CACHES + 1];

/* The machines that get the misses and the write-backs of a machine's last level. One core each. */
typedef struct {
	GPtrArray *machines; /* borrowed LodeCacheMachine; NULL: none */
	GPtrArray *stacks;   /* borrowed LodeSetStacks; NULL: none */
} LodeCacheFollowers;

typedef struct {
	LodeCacheCopy *copies[LODE_HIERARCHY_MAX_CACHES]; /* by index in the hierarchy */
	LodeCachePath fetches, data, fetch_tlbs, data_tlbs;
	const LodeCacheFollowers *followers;
} LodeCacheCore;

typedef struct {
	const LodeHierarchy *hierarchy;
	uint32_t number; /* of the hierarchy */
	bool classifies;
	bool names_stores;      /* what takes lines away */
	bool has_strides;       /* some cache learns from instructions */
	bool has_coherence;     /* several cores, and private caches that hold data */
	bool writes_at_once;    /* the first level keeps all stores, as it looks them up */
	bool hits_only_touch;   /* nothing but the line in the first level changes by a hit there */
	uint8_t coherent_shift; /* of the lines of private caches that hold data */
	LodeCacheCounts counts[LODE_HIERARCHY_MAX_CACHES];
	LodeCacheCore *cores[LODE_HIERARCHY_MAX_CORES];   /* NULL: nothing ran on it yet */
	LodeCacheCopy *shared[LODE_HIERARCHY_MAX_CACHES]; /* by index; NULL: private, or no core */
	LodeCacheFollowers followers;
	LodeCacheBudget *budget;
	LodeCacheMissFunc on_miss;
	void *user_data;
} LodeCacheMachine;

/* Without any core yet. All is borrowed. */
void lode_cache_machine_init(LodeCacheMachine *self, const LodeHierarchy *hierarchy,
	uint32_t number, const LodeCacheSimulationOptions *options, LodeCacheBudget *budget);
void lode_cache_machine_clear(LodeCacheMachine *self);

/* Removes all cores; counts stay. */
void lode_cache_machine_empty(LodeCacheMachine *self);

/* One of these follows it; the other is NULL. Both are borrowed. */
void lode_cache_machine_add_follower(
	LodeCacheMachine *self, LodeCacheMachine *machine, LodeSetStacks *stacks);

/* The core that a thread runs on, made when there is none yet; NULL where the budget is spent or
 * threads are more than cores may be. */
LodeCacheCore *lode_cache_machine_core(LodeCacheMachine *self, uint16_t thread);
