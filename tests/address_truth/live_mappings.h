/* SPDX-License-Identifier: MIT */
/* What is mapped in a running program now, by /proc/PID/maps, and its memory. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* of start, in the file */
	int protection;      /* PROT_… */
	char *path;          /* "" for memory of no file */
} LiveMapping;

typedef struct {
	pid_t pid;
	int memory;       /* /proc/PID/mem */
	GArray *mappings; /* LiveMapping, by address */
	bool is_stale;    /* to be read again before it is used */
} LiveMappings;

bool live_mappings_open(LiveMappings *self, pid_t pid);
void live_mappings_close(LiveMappings *self);

/* The mapping that holds an address; NULL: none. */
const LiveMapping *live_mappings_find(LiveMappings *self, uint64_t address);

/* Whether all of [address, address + size) may be accessed so. Mappings that a page fault has
 * enlarged (stacks) count as they are now. */
bool live_mappings_are_valid(LiveMappings *self, uint64_t address, uint32_t size, uint8_t access);

/* How many bytes could be read. */
size_t live_mappings_read(const LiveMappings *self, uint64_t address, void *buffer, size_t size);
