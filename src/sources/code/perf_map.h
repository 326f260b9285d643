/* SPDX-License-Identifier: MIT */
/*
 * A perf map (/tmp/perf-PID.map): names of code made at run time, without bytes and times, one
 * `START SIZE NAME` a line, in hex. If lines overlap, the last one counts, and the uncovered parts
 * of the others stay. Code of no bytes is left out; a last line that is cut short ends the map.
 *
 * Format: tools/perf/Documentation/jit-interface.txt of Linux.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t address, size; /* run-time; size never 0 */
	const char *name;       /* valid UTF-8; borrowed */
} LodePerfMapEntry;

typedef struct {
	uint32_t pid;    /* from the file's name; 0: it has another name */
	GArray *entries; /* LodePerfMapEntry, by address, disjoint */
	GStringChunk *strings;
} LodePerfMap;

/* From a directory where anyone may write, only a regular file of root or of the caller is read.
 * Errors name file and line: _IO, _CORRUPT, _LIMIT. */
LodePerfMap *lode_perf_map_read(const char *path, GError **error);
void lode_perf_map_free(LodePerfMap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfMap, lode_perf_map_free)

/* By the file's name, perf-PID.map, also perf-PID.map.gz…: the text itself has no mark. */
bool lode_perf_map_is_name(const char *path);

/* The entry that holds a run-time address, or NULL. */
const LodePerfMapEntry *lode_perf_map_find(const LodePerfMap *self, uint64_t address);
