/* SPDX-License-Identifier: MIT */
/*
 * All samples with their threads and times, the call stacks that the recording has of them (perf
 * record -g), and their form in the profile:
 *
 *   sample ─▶ kernel function ◀ kernel function … ◀ user code ◀ caller …    a way through the
 *                                                      │                      call tree
 *                                                      │ inlined functions, lines
 *                                                      ▼
 *                                                   frames, stacks
 *
 * Where the top of the thread's stack was recorded in place of calls, a sample has the callers that
 * this shows. A sample without calls is at its code alone. Many such samples are kept as fewer
 * rows: those of one thread, event and place in one slice of time are one row, and the slices
 * become longer until the rows are few.
 *
 * Private to ingest/.
 */
#pragma once

#include "process/call_tree.h"
#include "process/threads.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;
typedef struct LodeSampledAccess LodeSampledAccess;
typedef struct LodeSampledStacks LodeSampledStacks;
typedef struct LodeStacks LodeStacks;

/* Borrows both. */
LodeSampledStacks *lode_sampled_stacks_new(LodePlaces *places, LodeThreads *threads);
void lode_sampled_stacks_free(LodeSampledStacks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledStacks, lode_sampled_stacks_free)

/* Begins a recording, whose clock need not be that of those before. */
void lode_sampled_stacks_begin(LodeSampledStacks *self);

/*
 * Adds a sample. `charged` is the place that has its weight, whose number is `row`; LODE_NONE and
 * NULL: none has. `kernel_functions` (const char *), needed if its event has call chains, are where
 * it was in the kernel and what called that there, the innermost first; none: it was not in the
 * kernel. Returns the caller of the sampled user code in the call tree; LODE_NONE: not known.
 */
uint32_t lode_sampled_stacks_add(LodeSampledStacks *self, const LodeSampledAccess *sample,
	uint32_t row, const LodePlace *charged, const GPtrArray *kernel_functions);

/* The sample that was added last weighs this by another event, too. */
void lode_sampled_stacks_add_weight(LodeSampledStacks *self, const char *event_name, double weight);

/* Where a sample of user code, whose place has the number `row`, was by its stack as far as that is
 * recorded, as a number for the functions below. It is not added. */
uint32_t lode_sampled_stacks_find(
	LodeSampledStacks *self, const LodeSampledAccess *sample, uint32_t row);

/* Where it was with the frames of its script, which stand for the interpreter's loop and what is
 * outside of it. `where` is without them. */
uint32_t lode_sampled_stacks_find_script(
	LodeSampledStacks *self, const LodeSampledAccess *sample, uint32_t where);

/* Where the sample was that was added last, likewise; LODE_NONE: not known. */
uint32_t lode_sampled_stacks_last(const LodeSampledStacks *self);

/* Adds a sample where an earlier one was. */
void lode_sampled_stacks_add_at(
	LodeSampledStacks *self, const LodeSampledAccess *sample, uint32_t where);

/* Appends the callers there (LodePlace), the innermost first. */
void lode_sampled_stacks_find_callers(
	const LodeSampledStacks *self, uint32_t where, GArray *out_callers);

/* The stack of LodeStacks there, once they are named; LODE_NONE: none. */
uint32_t lode_sampled_stacks_stack(const LodeSampledStacks *self, uint32_t where);

/* NULL: no sample had a call chain. */
const LodeCallTree *lode_sampled_stacks_tree(const LodeSampledStacks *self);

/* The instruction of the profile at a place; LODE_NONE: none. */
typedef struct {
	uint32_t (*find)(const void *data, const LodePlace *place);
	const void *data;
} LodeInstructionFinder;

/* The samples and their stacks, with names; a sample's event is an index of the names. NULL: there
 * are none. Strings are copied to `profile`; the caller frees the rest. */
LodeStacks *lode_sampled_stacks_name(
	LodeSampledStacks *self, LodeProfile *profile, const LodeInstructionFinder *finder);
const GPtrArray *lode_sampled_stacks_event_names(const LodeSampledStacks *self); /* char * */

/* Adds the stacks that could not be found to the recording as unresolved. */
void lode_sampled_stacks_account(const LodeSampledStacks *self, LodeRecording *recording);
