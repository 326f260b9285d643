/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/registers/sampled_registers.h"

#include "images/data/branches_ahead.h"
#include "model/index.h"
#include "process/call_chain.h"

enum {
	MAX_FRAMES = 4, /* callers in whose loops time is looked for */
	MAX_WAYS = 1 << 20,
};

static const uint64_t NO_FUNCTION = UINT64_MAX;

typedef struct {
	uint64_t source, target;
	uint32_t image, n;
} Way;

void lode_sampled_registers_init(
	LodeSampledRegisters *self, LodePlaces *places, LodeSamplePairs *pairs)
{
	self->places = places;
	self->pairs = pairs;
	self->ways = g_array_new(FALSE, FALSE, sizeof(Way));
	lode_id_cache_init(&self->numbers);
	self->frames = g_array_new(FALSE, FALSE, sizeof(LodeCallerFrame));
}

void lode_sampled_registers_clear(LodeSampledRegisters *self)
{
	g_array_unref(self->ways);
	lode_id_cache_clear(&self->numbers);
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

static const uint8_t *code_bytes(void *image, uint64_t address, size_t *out_size)
{
	return lode_code_image_bytes(image, address, out_size);
}

/* A sample of user code at a place: which ways the next branches go. */
static void add_outcomes(
	LodeSampledRegisters *self, const LodePlace *place, const LodeDataAccessQuestion *question)
{
	const LodeDataAccessContext context = {.bytes = code_bytes,
		.data = lode_code_images_at(lode_places_images(self->places), place->image)};
	LodeBranchAhead branches[LODE_BRANCHES_AHEAD];
	unsigned n = lode_branches_ahead(&context, question, branches);

	for (unsigned i = 0; i < n; i++) {
		const LodeIdKey key = {{branches[i].source, branches[i].target, place->image}};
		const Way added = {branches[i].source, branches[i].target, place->image, 0};
		bool is_new;
		LodeIdSlot *slot = lode_id_cache_find_limited(
			&self->numbers, &key, MAX_WAYS, &is_new);
		if (slot == NULL)
			return;
		if (is_new) {
			slot->id = self->ways->len;
			g_array_append_val(self->ways, added);
		}
		LODE_AT(self->ways, Way, slot->id).n++;
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
		add_outcomes(self, &sampled->place, &question);
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

void lode_sampled_registers_finish(const LodeSampledRegisters *self, LodeRecording *recording)
{
	const LodeCodeImages *images = lode_places_images(self->places);

	for (guint i = 0; i < self->ways->len; i++) {
		const Way *way = &LODE_AT(self->ways, Way, i);
		uint32_t object = lode_code_images_object_of(images, recording, way->image);
		const LodeRecordedStep step = {
			.source = way->source,
			.target = way->target,
			.object = object,
			.target_object = object,
			.steps = way->n,
			.hits = way->n,
		};
		g_array_append_val(recording->steps, step);
	}
}
