/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/registers/sampled_registers.h"

#include "process/call_chain.h"

enum { MAX_FRAMES = 4 }; /* callers in whose loops time is looked for */

static const uint64_t NO_FUNCTION = UINT64_MAX;

void lode_sampled_registers_init(
	LodeSampledRegisters *self, LodePlaces *places, LodeSamplePairs *pairs)
{
	self->places = places;
	self->pairs = pairs;
	self->outcomes = lode_sampled_outcomes_new(places);
	self->frames = g_array_new(FALSE, FALSE, sizeof(LodeCallerFrame));
}

void lode_sampled_registers_clear(LodeSampledRegisters *self)
{
	lode_sampled_outcomes_free(self->outcomes);
	g_array_unref(self->frames);
}

/* Equal for places of one function; NO_FUNCTION: there is none. */
static uint64_t function_number(const LodeSampledRegisters *self, const LodePlace *place)
{
	const LodeCodeImage *image = lode_code_images_at(
		lode_places_images(self->places), place->image);
	const LodeBinaryFunction *function = lode_code_image_function(image, place->address);

	return function != NULL
	               ? (uint64_t)place->image << 32 | (uint32_t)(function - image->functions)
	               : NO_FUNCTION;
}

/* Adds the callers of a sample's code, by which iterations of the loops around its call are known.
 */
static void add_callers(LodeSampledRegisters *self, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, const LodePairClock *clock)
{
	g_array_set_size(self->frames, 0);
	lode_call_chain_find_frames(self->places, sampled, registers, MAX_FRAMES, self->frames);
	for (guint i = 0; i < self->frames->len; i++) {
		const LodeCallerFrame *frame = &LODE_AT(self->frames, LodeCallerFrame, i);
		LodePairSample caller = {
			.record = sampled->record,
			.registers = &frame->registers,
			.place = frame->code,
			.is_of_caller = true,
			.called = i == 0 ? sampled->place : (LodePlace){.image = LODE_NONE},
		};
		caller.function = function_number(self, &frame->code);
		if (caller.function != NO_FUNCTION)
			lode_sample_pairs_add(self->pairs, &caller, clock);
	}
}

void lode_sampled_registers_add(
	LodeSampledRegisters *self, const LodeSampledCode *sampled, const LodePairClock *clock)
{
	const uint32_t all = (1u << LODE_N_GENERAL_REGISTERS) - 1;
	const LodePerfRecord *record = sampled->record;
	const LodePerfSample *sample = &record->sample;
	LodeUserRegisters registers = {0};

	if (sample->user_registers == NULL ||
		!lode_user_registers_from_perf(&registers, sampled->event->user_registers,
			sample->user_abi, sample->user_registers) ||
		(registers.known & all) != all)
		return;
	if (record->mode == LODE_PERF_MODE_USER) {
		const LodeDataAccessQuestion question = {
			.pc = sampled->place.address,
			.bias = sample->ip - sampled->place.address,
			.registers = &registers,
			.stack = sample->stack,
			.stack_size = sample->stack_size,
		};
		lode_sampled_outcomes_add(self->outcomes, &sampled->place, &question);
	}
	uint64_t function = function_number(self, &sampled->place);
	if (function == NO_FUNCTION)
		return;
	const LodePairSample added = {
		.record = record,
		.registers = &registers,
		.place = sampled->place,
		.function = function,
	};
	lode_sample_pairs_add(self->pairs, &added, clock);
	if (sample->stack_size > 0)
		add_callers(self, sampled, &registers, clock);
}
