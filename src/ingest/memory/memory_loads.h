/* SPDX-License-Identifier: MIT */
/*
 * Where images lay in the memory of each process: from a run-time address, of code or of data, also
 * of data that is in no file (.bss), to an address in an image. Private to ingest/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeMemoryReading LodeMemoryReading;

typedef struct LodeMemoryLoads LodeMemoryLoads;

LodeMemoryLoads *lode_memory_loads_new(LodeMemoryReading *reading);
void lode_memory_loads_free(LodeMemoryLoads *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryLoads, lode_memory_loads_free)

/* The image that has an address which lies in this mapping of the reading; false: none. */
bool lode_memory_loads_find(LodeMemoryLoads *self, uint32_t mapping, uint64_t address,
	uint32_t *out_image, uint64_t *out_image_address);
