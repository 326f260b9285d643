/* SPDX-License-Identifier: MIT */
/*
 * Where the images of a process lay in memory: run-time address → (image, address in its file).
 * Callgrind writes run-time addresses for images that have no symbols.
 *
 * Two text forms are read:
 *  - /proc/PID/maps; the program headers of each image turn its file offsets into addresses;
 *  - the log of `valgrind -v -v -v`, whose lines
 *      --PID-- Reading syms from /usr/bin/gzip
 *      --PID--    svma 0x00000034f0, avma 0x000010b4f0
 *    give the bias (avma − svma) of each image, and its program headers the extent.
 *
 * Valgrind loads every program at the same addresses, so that a map is of one process: make one
 * per file and let LodeLoadMapSet choose between them by PID.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t start, end; /* run-time addresses [start, end) */
	uint64_t bias;       /* run-time address − virtual address in the file; wraps */
	char *path;          /* owned by the map */
} LodeLoadMapEntry;

typedef struct {
	GArray *entries; /* LodeLoadMapEntry, sorted by start, not overlapping; executable only */
	GArray *pids;    /* uint32_t: processes that wrote the logs, as they come first */
	GPtrArray *skipped;  /* char *: "PATH: why it has no entry", no two equal */
	uint32_t parent_pid; /* of the (first) log's process; 0: unknown */
	const char *command; /* its program and arguments, as valgrind quotes them; NULL: unknown */
	/* The log begins with the program's start. A process that was forked without exec has a log
	 * of its own that lacks what its parent had loaded. */
	bool has_start;
	GStringChunk *strings;
} LodeLoadMap;

LodeLoadMap *lode_load_map_new(void);
void lode_load_map_free(LodeLoadMap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLoadMap, lode_load_map_free)

/*
 * Adds the entries of a file in either form. If entries overlap, only the last one stays: earlier
 * ones were unmapped, or replaced by an exec in the same process. An image that cannot be read any
 * more (deleted, not an ELF file) is not an error, but is listed in `skipped`. Errors name file and
 * line: _IO, _CORRUPT (neither form), _LIMIT.
 */
bool lode_load_map_read(LodeLoadMap *self, const char *path, GError **error);

/* The entry that holds a run-time address, or NULL. Valid until more is read. */
const LodeLoadMapEntry *lode_load_map_find(const LodeLoadMap *self, uint64_t address);

/* Whether a log in the map has lines of this process. /proc/PID/maps does not say whose it is. */
bool lode_load_map_has_pid(const LodeLoadMap *self, uint32_t pid);

/* The process that the (first) log is of; 0 when the map was read from /proc/PID/maps. */
uint32_t lode_load_map_pid(const LodeLoadMap *self);

/*
 * The load maps of all processes of a recording, one a file. A run-time address means something
 * only together with the process: valgrind loads every program at the same place.
 */

typedef struct LodeLoadMapSet {
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
