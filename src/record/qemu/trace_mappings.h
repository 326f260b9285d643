/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a traced program, collected for the trace's description while the program runs.
 */
#pragma once

#include "record/qemu/trace_ring_format.h"
#include "traces/trace_description.h"

typedef struct LodeTraceMappings LodeTraceMappings;

/* Called for each mapping of code from a file; borrows the mapping. */
typedef void (*LodeTraceCodeFunc)(const LodeTraceMapping *mapping, void *user_data);

/* Adds to the description, which must outlive it. `code` may be NULL. */
LodeTraceMappings *lode_trace_mappings_new(
	LodeTraceDescription *description, LodeTraceCodeFunc code, void *user_data);
void lode_trace_mappings_free(LodeTraceMappings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceMappings, lode_trace_mappings_free)

/*
 * All loaded parts of an ELF file; `bias`: run-time address − virtual address in the file, wraps.
 * False, and nothing is added, when it is none.
 */
bool lode_trace_mappings_add_image(
	LodeTraceMappings *self, const char *path, uint64_t bias, uint64_t first_reference);

/* Takes an event of the ring about a mapping; other events are ignored. */
void lode_trace_mappings_note(LodeTraceMappings *self, TraceEventKind kind, const TraceEvent *event,
	uint64_t first_reference);

/* Copies the mappings of the parent of a forked process. */
void lode_trace_mappings_inherit(LodeTraceMappings *self, const LodeTraceMappings *parent);

/* Mappings that were dropped: the table holds 65,536. */
uint64_t lode_trace_mappings_n_lost(const LodeTraceMappings *self);
