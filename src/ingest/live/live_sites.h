/* SPDX-License-Identifier: MIT */
/*
 * The allocation sites of the memory that a running program accesses. Its allocation logs grow
 * meanwhile: they are read again from time to time, as an import reads them, with the mappings
 * until then. Blocks allocated since then have no site yet. Private to ingest/live/.
 */
#pragma once

#include "ingest/live/live_addresses.h"
#include "ingest/memory/memory_sites.h"
#include "process/allocations.h"
#include "process/images/code_images.h"

typedef struct LodeAllocation LodeAllocation;
typedef struct LodeLiveSites LodeLiveSites;

/* Borrows both. The logs are those in the options' directory, which may come to be there later.
 * They are read again so seldom that it takes little of the time. */
LodeLiveSites *lode_live_sites_new(const LodeLiveAddressesOptions *options, LodeCodeImages *images);
void lode_live_sites_free(LodeLiveSites *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveSites, lode_live_sites_free)

/* A mapping, a fork, an exec or an exit; others are ignored. */
void lode_live_sites_note(LodeLiveSites *self, const LodePerfRecord *record);

/* Reads the logs again if it is time to. Earlier results are no longer valid. */
void lode_live_sites_refresh(LodeLiveSites *self);

/* As they were read last; NULL: not yet. */
LodeAllocations *lode_live_sites_logs(LodeLiveSites *self);

typedef struct {
	const char *name;                 /* equal ones are one pointer, of these sites */
	const LodeAllocation *allocation; /* valid until the next call, as the following */
	const LodeAllocatingCall *call;   /* NULL: not known */
} LodeLiveSite;

/* The allocation that an address of a process was in then. False: none that is known. */
bool lode_live_sites_find(LodeLiveSites *self, uint32_t pid, uint64_t time_ns, uint64_t address,
	LodeLiveSite *out_site);
