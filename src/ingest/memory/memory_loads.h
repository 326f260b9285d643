/* SPDX-License-Identifier: MIT */
/*
 * Where images lay in the memory of each process: from a run-time address, of code or of data, also
 * of data that is in no file (.bss), to an address in an image. Private to ingest/.
 */
#pragma once

#include "process/places.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeMemoryLoads LodeMemoryLoads;

/* Of all mappings of code that the places, which are borrowed, have. */
LodeMemoryLoads *lode_memory_loads_new(LodePlaces *places);
void lode_memory_loads_free(LodeMemoryLoads *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryLoads, lode_memory_loads_free)

typedef struct {
	uint32_t recording, pid;
	uint64_t time_ns, address;
} LodeLoadedAddress;

/* The image that has an address which lies in this mapping of the places; false: none. */
bool lode_memory_loads_find(LodeMemoryLoads *self, uint32_t mapping, uint64_t address,
	uint32_t *out_image, uint64_t *out_image_address);

/* Likewise by the process that had the address at that time: also where only code's mappings were
 * recorded, and in a process that has them from its parent. */
bool lode_memory_loads_find_at(LodeMemoryLoads *self, const LodeLoadedAddress *wanted,
	uint32_t *out_image, uint64_t *out_image_address);
