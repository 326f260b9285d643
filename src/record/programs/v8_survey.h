/* SPDX-License-Identifier: MIT */
/*
 * Finds the objects in V8's heap, in processes of Node.js. A thread reads their memory at intervals
 * and writes DIRECTORY/heap-PID.log (docs/reference/formats/heap-log.md). The processes are not
 * stopped.
 *
 * Each object begins with a pointer to its map, which describes its class. A map is an object, too:
 * its map is the map of maps, which is its own map.
 *
 *   ┌─▶ map of maps ◀── map of Apple ◀── object of class Apple
 *   └────────┘
 *
 * So objects are found without knowing how long each is: an object extends up to the next. Offsets
 * in maps and functions, and names of types, are those that V8 publishes for debuggers: symbols
 * v8dbg_… of the executable (as mdb_v8 and llnode use them).
 *
 * A process runs on while it is read. So one walk is not certain: an object is claimed only where
 * two walks saw the same.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeV8Survey LodeV8Survey;

LodeV8Survey *lode_v8_survey_new(const char *directory);

/* Whether a walk is due: then call lode_v8_survey_run(). */
bool lode_v8_survey_is_due(LodeV8Survey *self);

/* Starts a walk over the heaps of these processes (pid_t), and does not wait for its end. */
void lode_v8_survey_run(LodeV8Survey *self, const GArray *pids);

/* Waits for the end of the walk, if one runs. */
void lode_v8_survey_free(LodeV8Survey *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeV8Survey, lode_v8_survey_free)
