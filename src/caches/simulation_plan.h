/* SPDX-License-Identifier: MIT */
/*
 * The parts of several hierarchies that are simulated once. Caches that never get each other's
 * references are separate (an i1 and a d1 without a common level after them, TLBs), each level is
 * separate from later ones, which get its misses, and equal parts are one:
 *
 *   i1=A,d1=X    i1=A,d1=Y    i1=B,d1=Y,l2=P    i1=B,d1=Y,l2=Q
 *
 *   references ─┬─▶ i1=A
 *               ├─▶ d1=X
 *               ├─▶ d1=Y
 *               └─▶ i1=B,d1=Y ─┬─▶ l2=P
 *                              └─▶ l2=Q
 *
 * Last ones that differ in their ways alone are one too, see set_stacks.h. Levels of several cores,
 * or with a prefetcher, act on each other in more ways and stay together. Private to caches/.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"

#include <stddef.h>

enum { LODE_PLAN_REFERENCES = UINT32_MAX };

/* Caches that are simulated together. */
typedef struct {
	LodeHierarchy *hierarchy; /* of them alone; as stacks, the one of most ways */
	uint32_t before;          /* whose misses they get; LODE_PLAN_REFERENCES: all references */
	bool is_last;             /* no others get their misses */
	bool is_stacks;
	uint32_t stacks; /* another one, whose stacks stand for it; its own number: none */
} LodePlannedCaches;

/* Where a cache of a hierarchy is found. */
typedef struct {
	uint32_t planned, cache; /* `cache` of its hierarchy */
	uint32_t n_ways;
} LodePlannedPlace;

typedef struct {
	GArray *planned; /* LodePlannedCaches, each after the one before it */
	GArray *places;  /* LodePlannedPlace, LODE_HIERARCHY_MAX_CACHES for each hierarchy */
} LodeSimulationPlan;

typedef struct {
	bool is_whole; /* nothing is shared: misses are reported in the order of each hierarchy */
	bool classifies;
} LodeSimulationPlanOptions;

void lode_simulation_plan_init(LodeSimulationPlan *self, const LodeHierarchy *const *hierarchies,
	size_t n, const LodeSimulationPlanOptions *options);
void lode_simulation_plan_clear(LodeSimulationPlan *self);
