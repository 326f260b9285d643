/* SPDX-License-Identifier: MIT */
/*
 * What is mapped now in each process of a running program. Unlike LodeAddressSpaces it knows no
 * time: what happens is told in the order in which it happens, and only the present is asked for.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeLiveMappings LodeLiveMappings;

typedef struct {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* of `start` in the file */
	uint32_t protection; /* PROT_… */
	const char *name;    /* a path, "[heap]", "[stack]", "[anon]", "[stack of thread 3]"; found
	                        ones live as long as the mappings, one pointer for equal ones */
} LodeLiveMapping;

LodeLiveMappings *lode_live_mappings_new(void);
void lode_live_mappings_free(LodeLiveMappings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveMappings, lode_live_mappings_free)

/* What happened. Empty mappings are ignored; what perf calls "//anon" becomes "[anon]". */
void lode_live_mappings_map(LodeLiveMappings *self, uint32_t pid, const LodeLiveMapping *mapping);
void lode_live_mappings_exec(LodeLiveMappings *self, uint32_t pid);
void lode_live_mappings_fork(LodeLiveMappings *self, uint32_t pid, uint32_t parent_pid);
void lode_live_mappings_exit(LodeLiveMappings *self, uint32_t pid);

/* What lies at an address now; false: nothing. */
bool lode_live_mappings_find(
	const LodeLiveMappings *self, uint32_t pid, uint64_t address, LodeLiveMapping *out_mapping);

/* Calls the anonymous mapping that holds a stack pointer the stack of that thread. */
void lode_live_mappings_set_stack(
	LodeLiveMappings *self, uint32_t pid, uint64_t pointer, uint32_t ordinal);

/* How often anything changed: what was found before is stale when this is different. */
uint64_t lode_live_mappings_generation(const LodeLiveMappings *self);
