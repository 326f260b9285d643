/* SPDX-License-Identifier: MIT */
/*
 * Selects from the frames of a trace the references of threads inside a function: from its first
 * instruction to the return of the call that led there, with all that it calls. A trace has no
 * registers; calls and returns are recognised by the transfer of control and the accesses of the
 * last instruction:
 *
 *   stores 8 bytes at S, goes elsewhere   a call: S has the address after it, R
 *   loads 8 bytes at S, goes to R         its return; calls whose S is lower are over too
 *
 * As tools/qemu_plugin/function_scope.h does it while a program runs.
 */
#pragma once

#include "traces/frames/trace_frame.h"
#include "traces/trace_description.h"

typedef struct LodeFunctionRegion LodeFunctionRegion;

/* `addresses`: uint64_t, where functions begin. The description is of the trace: a frame that comes
 * out does not span the beginning of a mapping. Both are borrowed for the call. */
LodeFunctionRegion *lode_function_region_new(
	const GArray *addresses, const LodeTraceDescription *description);
void lode_function_region_free(LodeFunctionRegion *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFunctionRegion, lode_function_region_free)

/*
 * Appends the function's references in a frame, as frames. Each begins with the number that its
 * first reference has in the trace; later ones are numbered without the references left out. Frames
 * of a trace are given in their order, without gaps. All resulting frames have one dictionary,
 * until that is full.
 */
void lode_function_region_take(
	LodeFunctionRegion *self, const LodeTraceFrame *frame, GPtrArray *out);

/* How many references came out of those before this one, which a mapping begins with. */
uint64_t lode_function_region_n_before(const LodeFunctionRegion *self, uint64_t reference);
