/* SPDX-License-Identifier: MIT */
/*
 * The objects in the heaps of V8, in processes of Node.js: read from their memory at intervals, by
 * a thread of its own, and written to DIRECTORY/heap-PID.log (docs/formats/heap-log.md). The
 * process does not notice.
 *
 * Each object begins with a pointer to its map, which says what it is; and a map is an object whose
 * map is the map of maps, which is its own:
 *
 *   map of maps ◀─┐          ◀── map of Apple ◀── object of class Apple
 *        └────────┘
 *
 * So objects are found without knowing how long each is: an object extends up to the next. Offsets
 * in maps and functions, and names of types, are those that V8 publishes for debuggers: symbols
 * v8dbg_… of the executable (as mdb_v8 and llnode use them).
 *
 * The process runs on meanwhile: so what one walk saw is not certain, and is only concluded from
 * where two walks saw the same.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeV8Survey LodeV8Survey;

LodeV8Survey *lode_v8_survey_new(const char *directory);

/* Whether it wants to know the processes. */
bool lode_v8_survey_is_due(LodeV8Survey *self);

/* Has the heaps of these processes (pid_t) read now; does not wait for it. */
void lode_v8_survey_run(LodeV8Survey *self, const GArray *pids);

/* Waits for the end of a walk. */
void lode_v8_survey_free(LodeV8Survey *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeV8Survey, lode_v8_survey_free)
