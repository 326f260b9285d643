/* SPDX-License-Identifier: MIT */
/* A frame of an address trace in pieces, in the middle of which no mapping of code changes.
 * Private to ingest/traced/. */
#pragma once

#include "ingest/traced/traced_places.h"
#include "traces/trace_frame.h"

typedef struct {
	const LodeTraceFrame *frame;
	const LodeTracedPlaces *places;
	LodeTraceFrame slice;
	GArray *switches; /* LodeTraceSwitch, of the slice */
	size_t invocation, address, next_switch;
	uint64_t reference, instruction;
	uint16_t thread;
} LodeTracedSlices;

/* Borrows both. */
void lode_traced_slices_init(
	LodeTracedSlices *self, const LodeTraceFrame *frame, const LodeTracedPlaces *places);
void lode_traced_slices_clear(LodeTracedSlices *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTracedSlices, lode_traced_slices_clear)

/* The next one, which is the frame itself where nothing changes; NULL: there is none. Valid until
 * the next call. */
const LodeTraceFrame *lode_traced_slices_next(LodeTracedSlices *self);
