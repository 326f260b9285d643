/* SPDX-License-Identifier: MIT */
/*
 * The load maps of all processes of a recording, one a file. A run-time address means something
 * only together with the process: valgrind loads every program at the same place.
 */
#pragma once

#include "sources/code/load_map.h"

typedef struct {
	GPtrArray *maps; /* LodeLoadMap */
} LodeLoadMapSet;

LodeLoadMapSet *lode_load_map_set_new(void);
void lode_load_map_set_free(LodeLoadMapSet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLoadMapSet, lode_load_map_set_free)

/* Adds a file as a map of its own; see lode_load_map_read(). */
bool lode_load_map_set_read(LodeLoadMapSet *self, const char *path, GError **error);

/*
 * The entry at `address` in process `pid` (the `pid:` line of a callgrind dump), or NULL. A process
 * forked without exec has its parent's entries; if the parent's log is missing, or was begun anew
 * by an exec, those of another process of the same program. If no map is of the process, maps
 * without a PID (/proc/PID/maps) are searched, and the only map, if there is just one.
 */
const LodeLoadMapEntry *lode_load_map_set_find(
	const LodeLoadMapSet *self, uint32_t pid, uint64_t address);
