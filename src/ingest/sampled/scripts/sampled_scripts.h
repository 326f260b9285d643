/* SPDX-License-Identifier: MIT */
/*
 * The frames of interpreters that a recording has looks at (sources/perf_data/script_look.h), as
 * places in images of scripts; and which of them a sample of the interpreter's thread has: those of
 * the look that is nearest in time.
 *
 *   looks of a thread     │        │      │           │
 *   samples              • •  •  • • •  •  •   •  •  •  •
 *                        └─┬──┘  └──┬──┘ └─┬──┘  └────┬──┘
 *
 * A sample takes the nearest look beside which its thread was in the same native function (by the
 * sample nearest to that look); if there is none in MOST_NS, the nearest look of all; if there is
 * none of these either, no frames. So a line has the native code that it leads to, and its share
 * the precision of the many samples there.
 *
 *   look     find:15    find:15      count:30      look of find:15 beside memcmp
 *   sample  •memcmp    • loop       • loop
 *
 * Both are estimates. A look at a thread that waits is one at its frames, too. Samples are of
 * running alone, and a thread loses the processor mostly at system calls: looks while it had none,
 * by the recorded switches, are beside no native function, and are taken only where there is no
 * other in MOST_NS, if there are ENOUGH_LOOKS others in all, and these saw other lines than chance
 * makes them see.
 *
 * Private to ingest/sampled/.
 */
#pragma once

#include "process/places.h"
#include "sources/perf_data/perf_data.h"

typedef struct LodeSampledScripts LodeSampledScripts;

/* The places are borrowed; images of scripts are added to theirs. */
LodeSampledScripts *lode_sampled_scripts_new(LodePlaces *places);
void lode_sampled_scripts_free(LodeSampledScripts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledScripts, lode_sampled_scripts_free)

/* Adds a look of a recording, by its number; false: its raw data is damaged. */
bool lode_sampled_scripts_note(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns);

/* Adds where a thread was at a sample. */
void lode_sampled_scripts_note_sample(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns);

/* Adds when a thread begins or ends to run on a processor, or switches are no more recorded. */
void lode_sampled_scripts_note_switch(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns);

/* Once all looks and samples of all recordings are there, and the places are frozen. */
void lode_sampled_scripts_freeze(LodeSampledScripts *self);

/* Looks whose frames changed while they were read. */
uint64_t lode_sampled_scripts_n_torn(const LodeSampledScripts *self);

/* All places (LodePlace) that were seen; borrowed. */
const GArray *lode_sampled_scripts_places(const LodeSampledScripts *self);

/* The frames of a sample in native code, which is NULL in the kernel and where it is not known; the
 * innermost first; NULL: not known. Borrowed. */
const LodePlace *lode_sampled_scripts_find(const LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns, const LodePlace *code, guint *out_n);

/* The frames of a thread that waited from one time to the other, by the first look of that time;
 * likewise. */
const LodePlace *lode_sampled_scripts_find_waiting(const LodeSampledScripts *self,
	uint32_t recording, const LodePerfRecord *record, uint64_t begin_ns, uint64_t end_ns,
	guint *out_n);

/* Whether native code is the interpreter's loop over the instructions of a script, for which the
 * script's frames stand. */
bool lode_sampled_scripts_is_loop(const LodeSampledScripts *self, const LodePlace *place);
