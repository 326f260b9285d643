/* SPDX-License-Identifier: MIT */
/*
 * Waits as markers of the Firefox Profiler: a row of its marker chart for each reason.
 *
 *   lock    ▐ ledger_lock ▌      ▐ ledger_lock ▌
 *   sync            ▐ fsync note.log ▌
 *
 * Private to views/export/.
 */
#pragma once

#include "base/arrays/name_table.h"
#include "base/text/json_stream.h"
#include "model/waits.h"

typedef struct LodeProfile LodeProfile;

/* The waits of a profile, by thread. */
typedef struct {
	const LodeProfile *profile; /* borrowed */
	GHashTable *slices;         /* pid << 32 | tid → GArray of const LodeWaitSlice * */
	char **places;              /* of each of the waits' rows: "post (ledger.c:31)"; NULL */
} LodeFirefoxMarkers;

void lode_firefox_markers_init(LodeFirefoxMarkers *self, const LodeProfile *profile);
void lode_firefox_markers_clear(LodeFirefoxMarkers *self);

/* Whether a thread has any. */
bool lode_firefox_markers_have(const LodeFirefoxMarkers *self, uint32_t pid, uint32_t tid);

/* Those that have, and are not among these threads (LodeStackThread), in the order of their
 * numbers; the caller unrefs them. */
GArray *lode_firefox_markers_others(const LodeFirefoxMarkers *self, const GArray *threads);

/* The member "markers" of a thread: its table, with times in ms since `begin_ns`. Their names are
 * added to the strings. */
void lode_firefox_markers_put(const LodeFirefoxMarkers *self, uint32_t pid, uint32_t tid,
	double begin_ns, LodeNameTable *strings, LodeJsonStream *json);

/* The member "markerSchema" of the profile: what markers have, and where they are shown. */
void lode_firefox_markers_put_schema(LodeJsonStream *json);
