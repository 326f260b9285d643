/* SPDX-License-Identifier: MIT */
/* Runs the steps of the join in order; see join.h for the way of the data. */
#include "ingest/join/join.h"

#include "base/arrays/large_array.h"
#include "base/arrays/partition_point.h"
#include "base/error.h"
#include "ingest/join/function_code.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"

/* Functions are sorted by image, then address. */
uint32_t lode_join_find_function(const LodeProfile *profile, uint32_t image, uint64_t address)
{
	const LodeFunction *functions = (const LodeFunction *)profile->code.functions->data;

	if (image == LODE_NONE)
		return LODE_NONE;
	uint32_t n = LODE_PARTITION_POINT(profile->code.functions->len, i,
		functions[i].image < image ||
			(functions[i].image == image && functions[i].address <= address));
	return n > 0 && functions[n - 1].image == image ? n - 1 : LODE_NONE;
}

uint32_t lode_join_find(const LodeProfile *profile, uint32_t image, uint64_t address)
{
	uint32_t function = lode_join_find_function(profile, image, address);

	if (function == LODE_NONE)
		return LODE_NONE;
	const LodeFunction *found = lode_profile_function(profile, function);
	const LodeInstruction *own = lode_profile_instruction(profile, found->first_instruction);
	uint32_t at = LODE_PARTITION_POINT(found->n_instructions, i, own[i].address < address);
	if (at == found->n_instructions || own[at].address != address)
		return LODE_NONE;
	return found->first_instruction + at;
}

static LodeProfile *begin_profile(const LodeRecording *recording, const LodeJoinContext *context)
{
	LodeProfile *profile = lode_profile_new();
	g_autofree char *program = lode_recording_program(recording);

	profile->run.program = lode_profile_intern(
		profile, context->program != NULL ? context->program : program);
	profile->run.user_seconds = recording->programs.user_seconds;
	profile->run.system_seconds = recording->programs.system_seconds;
	profile->run.system_error = recording->programs.system_error;
	profile->run.wall_seconds = recording->programs.wall_seconds;
	profile->run.speed = recording->programs.speed;
	profile->run.cycles_per_ns = recording->programs.cycles_per_ns;
	profile->run.rates = recording->programs.rates;
	profile->run.is_kernel_sampled = recording->is_kernel_sampled;
	profile->run.creator = lode_profile_intern(profile,
		recording->programs.creator != NULL ? recording->programs.creator : "callgrind");
	profile->run.frequency = recording->frequency;
	profile->run.n_samples = recording->n_samples;
	profile->run.n_equal_samples = recording->n_equal_samples;
	return profile;
}

/* Most of what the steps make has one row for each of the recording's. GLib would end the program
 * where there is no memory for them. */
static bool check_memory(const LodeRecording *recording, GError **error)
{
	const size_t row_size = 2 * sizeof(LodeJoinSite) + sizeof(LodeInstruction) +
	                        2 * sizeof(uint32_t) + sizeof(LodeJoinCode) + 2 * sizeof(LodeCost) +
	                        6 * sizeof(double);
	guint n = recording->instructions->len;

	if (lode_large_array_has_room(row_size, n))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"not enough memory for %u instructions of %zu bytes each", n, row_size);
	return false;
}

enum { N_STEPS = 13 };

typedef struct {
	const LodeProgress *progress;
	unsigned n_begun;
} Steps;

/* Reports the next step; an error if the user has cancelled. */
static bool begin(Steps *self, const char *stage, GError **error)
{
	lode_progress_report(self->progress, stage, self->n_begun++, N_STEPS, NULL);
	if (!lode_progress_is_cancelled(self->progress))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

typedef struct {
	const LodeProfile *profile;
	const LodeJoinImages *images;
} Found;

/* Where code is not decoded, as that of other machines, one instruction stands for a function. */
static uint32_t find_instruction(const void *data, const LodePlace *place)
{
	const Found *self = data;
	uint32_t image = lode_join_image_of(self->images, place->image);
	uint32_t found = lode_join_find(self->profile, image, place->address);
	uint32_t function = lode_join_find_function(self->profile, image, place->address);

	if (found != LODE_NONE || function == LODE_NONE)
		return found;
	const LodeFunction *around = lode_profile_function(self->profile, function);
	bool is_whole = around->n_instructions == 1 &&
	                lode_profile_instruction(self->profile, around->first_instruction)->size ==
	                        0;
	return is_whole && place->address - around->address < around->size
	               ? around->first_instruction
	               : LODE_NONE;
}

/* Names the stacks of the samples. */
static void name_stacks(LodeProfile *profile, LodeSampledStacks *sampled,
	const LodeRecording *recording, const LodeJoinEvents *events, const LodeJoinImages *images)
{
	const GPtrArray *names = lode_sampled_stacks_event_names(sampled);
	const Found found = {profile, images};
	const LodeInstructionFinder finder = {find_instruction, &found};
	g_autofree uint32_t *numbers = g_new(uint32_t, MAX(names->len, 1));

	for (guint i = 0; i < names->len; i++)
		numbers[i] = lode_join_find_event(
			profile, recording, events, g_ptr_array_index(names, i));
	profile->stacks = lode_sampled_stacks_name(sampled, profile, &finder);
	for (guint i = 0; profile->stacks != NULL && i < profile->stacks->samples->len; i++) {
		LodeStackSample *sample = &g_array_index(
			profile->stacks->samples, LodeStackSample, i);
		sample->event = numbers[sample->event];
	}
}

static void add_thread_times(LodeProfile *profile, const LodeRecording *recording)
{
	for (guint i = 0; i < recording->thread_times->len; i++) {
		LodeThreadTime time = LODE_AT(recording->thread_times, LodeThreadTime, i);
		time.name = lode_profile_intern(profile, time.name);
		g_array_append_val(profile->thread_times, time);
	}
}

LodeProfile *lode_join_recording(const LodeRecording *recorded, const LodeJoinContext *context,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeProfile) profile = begin_profile(recorded, context);
	g_auto(LodeJoinEvents) events = {0};
	g_auto(LodeJoinImages) images = {0};
	g_auto(LodeJoinRows) rows = {0};
	g_auto(LodeJoinObjects) objects = {0};
	g_autoptr(LodeRecording) inferred = NULL;
	g_autoptr(GArray) sites = NULL;
	g_autoptr(GArray) transfers = NULL;
	g_autoptr(GArray) known = g_array_new(FALSE, TRUE, sizeof(LodeJoinFunctionCode));
	g_autofree LodeJoinCode *codes = NULL;
	const LodeRecording *recording = recorded;
	Steps steps = {.progress = progress};

	g_array_set_clear_func(known, (GDestroyNotify)lode_join_function_code_clear);
	if (!check_memory(recorded, error) || !begin(&steps, "naming events", error) ||
		!lode_join_events(profile, recorded, &events, error))
		return NULL;

	if (!begin(&steps, "opening images", error))
		return NULL;
	sites = lode_join_images(profile, recorded, context, progress, &images);

	if (!begin(&steps, "working out executions", error))
		return NULL;
	if (recorded->frequency != LODE_FREQUENCY_EXACT) {
		g_autoptr(GArray) sampled = g_steal_pointer(&sites);
		const LodeJoinPlaced samples = {recorded, sampled};
		inferred = lode_join_infer(profile, &images, &samples, known, &sites, error);
		if (inferred == NULL)
			return NULL;
		recording = inferred;
	}

	if (!begin(&steps, "finding functions", error))
		return NULL;
	const LodeJoinPlaced placed = {recording, sites};
	lode_join_functions(profile, &images, &placed, events.count_column, &rows);
	g_clear_pointer(&sites, g_array_unref); /* as large as the recording */

	if (!begin(&steps, "joining jumps and calls", error))
		return NULL;
	transfers = lode_join_transfers(profile, &images, recording);

	if (!begin(&steps, "decoding", error))
		return NULL;
	codes = lode_join_decode(profile, &images, transfers, known);
	lode_join_callees(profile, &images, codes);

	if (!begin(&steps, "computing the flow", error))
		return NULL;
	lode_join_flow(profile, recording, transfers, codes);

	if (!begin(&steps, "summing costs", error))
		return NULL;
	lode_join_costs(profile, &rows, &events);
	if (context->windows != NULL)
		lode_join_windows(profile, &images, context->windows);
	lode_join_causes(profile, codes, &events);

	if (!begin(&steps, "following registers", error))
		return NULL;
	lode_join_dependences(profile, &images, codes);
	lode_join_facts(profile, codes);
	lode_join_counted_times(profile, recorded);
	lode_join_measured_times(profile, &images, codes, recorded->programs.sampling_share);

	if (!begin(&steps, "naming data objects", error))
		return NULL;
	lode_join_objects(profile, context->memory_reading, &images, codes, &objects);

	if (!begin(&steps, "naming attributes", error))
		return NULL;
	lode_join_attributes(profile, &images, &rows, codes, &objects);
	lode_join_kernel_entries(profile);
	lode_join_account(profile, recorded, &images, codes);

	const LodeJoinAccesses accesses = {
		context->memory_reading, recording, &events, &images, &objects, progress};
	if (!begin(&steps, "joining data addresses", error) ||
		!lode_join_memory(profile, &accesses, error))
		return NULL;
	lode_join_addresses(profile, codes, &objects, context);

	if (!begin(&steps, "naming call stacks", error))
		return NULL;
	if (context->stacks != NULL)
		name_stacks(profile, context->stacks, recording, &events, &images);
	if (context->waits != NULL)
		profile->waits = lode_sampled_waits_name(context->waits, profile);
	add_thread_times(profile, recorded);
	return g_steal_pointer(&profile);
}
