/* SPDX-License-Identifier: MIT */
/*
 * The objects of garbage-collected heaps that accesses are to, by the logs of the heaps: class and
 * allocation site. Private to ingest/.
 */
#pragma once

#include "ingest/memory/memory_objects.h"
#include "ingest/memory/memory_sites.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeManagedObjects LodeManagedObjects;

/* Borrows all; classes go to `known`, sites to `sites`. */
LodeManagedObjects *lode_managed_objects_new(
	LodeMemoryReading *reading, LodeMemoryObjects *known, LodeMemorySites *sites);
void lode_managed_objects_free(LodeManagedObjects *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeManagedObjects, lode_managed_objects_free)

typedef struct {
	uint32_t object; /* the class, of `known`; 0: not known */
	uint32_t site;   /* of the memory; LODE_NONE: not known */
} LodeManagedObject;

/* The object that an access of the reading, by its number, is to. */
LodeManagedObject lode_managed_objects_at(const LodeManagedObjects *self, guint access);

/*
 * Allocation sites of accessed objects, where the allocation of few objects was sampled: the other
 * accesses are charged in the proportion of those to sampled objects.
 *
 * An object of s bytes is sampled with the probability p = 1 − exp(−s / interval), wherever it was
 * allocated. So for each access to a sampled object (1 − p) / p others are to be expected that are
 * alike but for the sample (Horvitz and Thompson, A Generalization of Sampling Without Replacement
 * from a Finite Universe, 1952).
 *
 *   accesses of class Node at one instruction
 *     sampled     ● site 6   ● site 6   ● site 9                known
 *     others      ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○                 two thirds 6, one third 9
 *
 * Shares are right only over many objects. So nothing is charged where the sampled accesses are as
 * uncertain as those of fewer than 30 objects, or to an object that alone has more than a thirtieth
 * of the accesses. Instructions with too few sampled objects are taken together.
 */

enum { LODE_SAMPLED_SITES_OBJECTS = 30 };

typedef struct {
	uint32_t class, event; /* only accesses with the same of both are alike; 0: no class */
	uint64_t code;         /* the accessing instruction; changed here */
	uint64_t object;       /* its address */
	double weight;         /* of the access, 0 or more */
	double n_others;       /* (1 − p) / p of a sampled object */
	uint32_t site;         /* any number; LODE_NONE: not sampled */
	bool is_estimated;     /* set here: the site is of the proportion */
	uint32_t number;       /* the caller's */
} LodeSampledAccessSite;

/* Sets the site of accesses without one, as far as it can be estimated; changes the order of the
 * LodeSampledAccessSite. */
void lode_sampled_sites_estimate(GArray *accesses);
