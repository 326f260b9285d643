/* SPDX-License-Identifier: MIT */
/* Runs the steps of the join in order; see join.h for the way of the data. */
#include "ingest/join/join.h"

#include "base/error.h"
#include "base/worker_pool.h"

uint32_t lode_join_find_function(const LodeJoin *self, uint32_t image, uint64_t address)
{
	if (image == LODE_NONE)
		return LODE_NONE;
	uint32_t low = g_array_index(self->image_functions, uint32_t, image);
	uint32_t high = g_array_index(self->image_functions, uint32_t, image + 1);
	uint32_t first = low;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (lode_profile_function(self->profile, middle)->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? low - 1 : LODE_NONE;
}

int lode_join_compare_sites(const void *a, const void *b)
{
	const LodeJoinSite *left = a, *right = b;

	if (left->image != right->image)
		return left->image < right->image ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

uint32_t lode_join_find(const LodeJoin *self, uint32_t image, uint64_t address)
{
	uint32_t function = lode_join_find_function(self, image, address);

	if (function == LODE_NONE)
		return LODE_NONE;
	const LodeFunction *found = lode_profile_function(self->profile, function);
	uint32_t low = found->first_instruction, end = low + found->n_instructions, high = end;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (lode_profile_instruction(self->profile, middle)->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == end || lode_profile_instruction(self->profile, low)->address != address)
		return LODE_NONE;
	return low;
}

static void free_segments(void *data)
{
	g_clear_pointer((GArray **)&data, g_array_unref);
}

static void join_init(LodeJoin *self)
{
	self->profile = lode_profile_new();
	self->object_images = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->object_segments = g_ptr_array_new_with_free_func(free_segments);
	self->image_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->unknown_images = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->sites = g_array_new(FALSE, FALSE, sizeof(LodeJoinSite));
	self->first_rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->image_functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->transfers = g_array_new(FALSE, FALSE, sizeof(LodeJoinTransfer));
	self->column_events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->objects = g_array_new(FALSE, TRUE, sizeof(LodeJoinObjects));
}

static void join_clear(LodeJoin *self)
{
	for (size_t i = 0; i < self->n_binaries; i++) {
		lode_binary_image_close(self->binaries[i]);
		g_free(self->open_errors[i]);
	}
	g_free(self->binaries);
	g_free(self->open_errors);
	g_array_unref(self->object_images);
	g_array_unref(self->unknown_images);
	g_ptr_array_unref(self->object_segments);
	g_hash_table_unref(self->image_ids);
	g_clear_pointer(&self->sites, g_array_unref);
	g_array_unref(self->first_rows);
	g_array_unref(self->rows);
	g_array_unref(self->image_functions);
	g_array_unref(self->transfers);
	g_array_unref(self->column_events);
	g_array_unref(self->objects);
	lode_memory_objects_free(self->memory_objects);
	g_free(self->codes);
	lode_recording_free(self->inferred);
	lode_profile_free(self->profile);
}

typedef struct {
	const char *stage;
	bool (*run)(LodeJoin *self, GError **error);
} Step;

static const Step steps[] = {
	{"naming events", lode_join_events},
	{"opening images", lode_join_images},
	{"working out executions", lode_join_infer},
	{"finding functions", lode_join_functions},
	{"joining jumps and calls", lode_join_transfers},
	{"decoding", lode_join_decode},
	{"computing the flow", lode_join_flow},
	{"summing costs", lode_join_costs},
	{"naming data objects", lode_join_objects},
	{"naming attributes", lode_join_attributes},
	{"joining data addresses", lode_join_memory},
};

static bool run_steps(LodeJoin *self, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		lode_progress_report(self->progress, steps[i].stage, (double)i,
			(double)G_N_ELEMENTS(steps), NULL);
		if (lode_progress_is_cancelled(self->progress)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		if (!steps[i].run(self, error))
			return false;
	}
	return true;
}

LodeProfile *lode_join_recording(const LodeRecording *recording, const LodeJoinContext *context,
	const LodeProgress *progress, GError **error)
{
	LodeJoin self = {
		.context = context,
		.progress = progress,
		.n_workers = context->threads != 0 ? context->threads
	                                           : lode_worker_pool_default_size(),
		.recording = recording,
		.recorded = recording,
		.load_maps = context->load_maps,
		.jit = context->jit,
		.memory_reading = context->memory_reading,
	};
	LodeProfile *profile = NULL;

	join_init(&self);
	self.profile->program = lode_profile_intern(
		self.profile, context->program != NULL ? context->program : recording->command);
	self.profile->creator = lode_profile_intern(
		self.profile, recording->creator != NULL ? recording->creator : "callgrind");
	self.profile->frequency = recording->frequency;
	self.profile->n_samples = recording->n_samples;
	if (run_steps(&self, error))
		profile = g_steal_pointer(&self.profile);
	join_clear(&self);
	return profile;
}
