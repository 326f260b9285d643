/* SPDX-License-Identifier: MIT */
/*
 * Where the images of a process lay in memory: run-time address → (image, address in its file).
 * Callgrind writes run-time addresses for images that have no symbols.
 *
 * Two text forms are read: /proc/PID/maps (needs the ELF program headers of each image to turn file
 * offsets into virtual addresses) and the log of `valgrind -v -v -v`, whose lines
 *   Reading syms from /usr/bin/gzip
 *      svma 0x00000034f0, avma 0x000010b4f0
 * give the bias (avma − svma) of each image.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t start, end; /* run-time addresses [start, end) */
	uint64_t bias;       /* run-time address − virtual address in the file */
	char *path;          /* owned by the map */
} LodeLoadMapEntry;

typedef struct {
	GArray *entries; /* LodeLoadMapEntry, sorted by start, not overlapping */
	GStringChunk *strings;
} LodeLoadMap;

LodeLoadMap *lode_load_map_new(void);
void lode_load_map_free(LodeLoadMap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLoadMap, lode_load_map_free)

/* Adds the entries of a file in either form. Errors name file and line. */
bool lode_load_map_read(LodeLoadMap *self, const char *path, GError **error);

/* The entry that holds a run-time address, or NULL. */
const LodeLoadMapEntry *lode_load_map_find(const LodeLoadMap *self, uint64_t address);
