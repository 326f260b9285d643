/* SPDX-License-Identifier: MIT */
/*
 * Where the run-time addresses of an address trace lie, by its mappings. Time is the number of the
 * reference. Private to ingest/traced/.
 */
#pragma once

#include "ingest/traced/traced_rows.h"
#include "process/places.h"

typedef struct LodeTracedPlaces LodeTracedPlaces;

/* The process that a trace is of; 1 where it does not know. */
uint32_t lode_traced_places_find_pid(const LodeTraceDescription *description);

/* All borrowed. */
typedef struct {
	LodeRecording *recording; /* of all processes: objects are added to it */
	LodeCodeImages *images;
	LodeJitCodeSet *jit;
} LodeTracedPlacesOptions;

LodeTracedPlaces *lode_traced_places_new_process(const LodeTraceDescription *description,
	uint32_t pid, const LodeTracedPlacesOptions *options);

/* For a process that still runs: its description gets mappings as they are seen. Code made at run
 * time is not searched. References are looked up in ascending order. */
LodeTracedPlaces *lode_traced_places_new_live(const LodeTraceDescription *description, uint32_t pid,
	const LodeTracedPlacesOptions *options);

/* Takes what the description has got meanwhile: of a live one, before each frame. */
void lode_traced_places_update(LodeTracedPlaces *self);
void lode_traced_places_free(LodeTracedPlaces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedPlaces, lode_traced_places_free)

uint32_t lode_traced_places_pid(const LodeTracedPlaces *self);

/* An address in no file is in the object "???", by the address itself. */
LodeTracedInstruction lode_traced_places_find(
	LodeTracedPlaces *self, uint64_t address, uint64_t reference);

/* Likewise, where it is known what time it was, for code made at run time. */
LodeTracedInstruction lode_traced_places_find_at(
	LodeTracedPlaces *self, uint64_t address, uint64_t reference, uint64_t time_ns);

/* The first reference after this one at which code may be replaced by other code, so that earlier
 * results for the same addresses are invalid; UINT64_MAX: there is none. */
uint64_t lode_traced_places_next_change(const LodeTracedPlaces *self, uint64_t reference);
