/* SPDX-License-Identifier: MIT */
#include "process/call_chain.h"

#include <linux/perf_event.h>

bool lode_call_chain_is_recorded(const LodePerfEvent *event)
{
	return (event->sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
}

/* Return addresses by the unwind tables; whether they reach the thread's first function. */
static bool unwind(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *sampled_registers, GArray *out_returns)
{
	const LodePerfSample *sample = &sampled->record->sample;
	LodeUserRegisters registers = *sampled_registers;
	const LodeStackDump dump = {
		sample->stack, sample->stack_size, registers.values[LODE_REGISTER_RSP]};
	LodePlace at = sampled->place;

	while (at.image != LODE_NONE && out_returns->len < LODE_MAX_CALLERS) {
		LodeStackFrames *frames = lode_code_image_frames(
			lode_code_images_at(lode_places_images(places), at.image));
		uint64_t back;
		LodeFrameStep step = frames != NULL ? lode_stack_frames_step(frames, at.address,
							      &dump, &registers, &back)
		                                    : LODE_FRAME_LOST;
		if (step != LODE_FRAME_CALLED)
			return step == LODE_FRAME_OUTERMOST;
		if (lode_places_find(places, sampled->record->pid, sampled->time_ns, back - 1,
			    &at) == LODE_PLACE_UNMAPPED)
			return false;
		g_array_append_val(out_returns, back);
	}
	return false;
}

void lode_call_chain_find_returns(
	const LodePerfSample *sample, uint64_t context, GArray *out_returns)
{
	bool is_wanted = false, is_first = true;

	for (size_t i = 0; i < sample->n_callchain && out_returns->len < LODE_MAX_CALLERS; i++) {
		uint64_t address = sample->callchain[i];
		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			is_wanted = address == context;
			is_first = true;
			continue;
		}
		if (is_wanted && !is_first)
			g_array_append_val(out_returns, address);
		is_first = false;
	}
}

static uint64_t return_at(const GArray *returns, guint i)
{
	return g_array_index(returns, uint64_t, i);
}

/* How many of `inner` before `end` are those of `outer` up to `at`. */
static guint common_run(const GArray *inner, guint end, const GArray *outer, guint at)
{
	guint run = 0;

	while (run < end && run <= at &&
		return_at(inner, end - 1 - run) == return_at(outer, at - run))
		run++;
	return run;
}

/*
 * The index from which `outer` continues `inner`, which is exact: after the longest run that ends
 * `inner`. A chain that shares only inner parts of `inner` stops before its end, and has nothing to
 * add; one that shares nothing comes further out, as in a library without frame pointers.
 */
static guint find_rest(const GArray *inner, const GArray *outer)
{
	guint best = 0, best_run = 0;

	for (guint i = 0; i < outer->len; i++) {
		guint run = common_run(inner, inner->len, outer, i);
		if (run > best_run) {
			best_run = run;
			best = i + 1;
		}
	}
	for (guint end = inner->len; best_run == 0 && end > 0; end--)
		for (guint i = 0; i < outer->len; i++)
			if (return_at(inner, end - 1) == return_at(outer, i))
				return outer->len;
	return best;
}

void lode_call_chain_find(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers)
{
	g_autoptr(GArray) returns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GArray) recorded = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	bool has_stack = sampled->record->sample.stack_size > 0 &&
	                 (registers->known >> LODE_REGISTER_RSP & 1) != 0;
	bool is_whole = has_stack && unwind(places, sampled, registers, returns);

	if (!is_whole) {
		/* The kernel's word, by frame pointers. */
		lode_call_chain_find_returns(
			&sampled->record->sample, (uint64_t)PERF_CONTEXT_USER, recorded);
		for (guint i = find_rest(returns, recorded); i < recorded->len; i++)
			g_array_append_val(returns, g_array_index(recorded, uint64_t, i));
	}
	for (guint i = 0; i < MIN(returns->len, LODE_MAX_CALLERS); i++) {
		LodePlace caller;
		if (lode_places_find(places, sampled->record->pid, sampled->time_ns,
			    return_at(returns, i) - 1, &caller) == LODE_PLACE_UNMAPPED)
			return;
		g_array_append_val(out_callers, caller);
	}
}
