/* SPDX-License-Identifier: MIT */
/*
 * The objects of garbage-collected heaps that accesses are to, by the logs of the heaps: class and
 * allocation site. Private to ingest/.
 */
#pragma once

#include "ingest/memory/memory_objects.h"
#include "ingest/memory/memory_sites.h"

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
