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
 * A sample that is further away than MOST_NS has none. That is an estimate: what a line leads to in
 * native code is by chance that of its neighbours in time, and right on the whole.
 *
 * Private to ingest/sampled/.
 */
#pragma once

#include "process/places.h"
#include "sources/perf_data/perf_data.h"

typedef struct LodeSampledScripts LodeSampledScripts;

/* The images are borrowed: those of scripts are added. */
LodeSampledScripts *lode_sampled_scripts_new(LodeCodeImages *images);
void lode_sampled_scripts_free(LodeSampledScripts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledScripts, lode_sampled_scripts_free)

/* Adds a look of a recording, by its number; false: its raw data is damaged. */
bool lode_sampled_scripts_note(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns);

/* Once all looks of all recordings are there. */
void lode_sampled_scripts_freeze(LodeSampledScripts *self);

/* Looks whose frames changed while they were read. */
uint64_t lode_sampled_scripts_n_torn(const LodeSampledScripts *self);

/* All places (LodePlace) that were seen; borrowed. */
const GArray *lode_sampled_scripts_places(const LodeSampledScripts *self);

/* The frames of a sample, the innermost first; NULL: not known. Borrowed. */
const LodePlace *lode_sampled_scripts_find(const LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns, guint *out_n);

/* Whether native code is the interpreter's loop over the instructions of a script, for which the
 * script's frames stand. */
bool lode_sampled_scripts_is_loop(const LodeSampledScripts *self, const LodePlace *place);
