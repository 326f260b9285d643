/* SPDX-License-Identifier: MIT */
#include "sources/recording.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/process.h"
#include "model/run/unresolved.h"
#include "model/waits.h"

#include <string.h>
#include <sys/mman.h>

LodeRecording *lode_recording_new(void)
{
	LodeRecording *self = g_new0(LodeRecording, 1);

	self->first_sample_row = LODE_NONE;
	self->strings = g_string_chunk_new(1 << 16);
	self->events = g_ptr_array_new();
	self->totals = g_array_new(FALSE, TRUE, sizeof(double));
	self->objects = g_array_new(FALSE, TRUE, sizeof(LodeRecordedObject));
	self->image_objects = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->pids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->names = g_ptr_array_new();
	self->programs.commands = g_ptr_array_new();
	self->programs.known_commands = g_hash_table_new(g_str_hash, g_str_equal);
	self->descriptions = g_ptr_array_new();
	self->sums = g_array_new(FALSE, TRUE, sizeof(LodeRecordedSum));
	self->late_columns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodeRecordedRange));
	self->steps = g_array_new(FALSE, FALSE, sizeof(LodeRecordedStep));
	self->unresolved = g_array_new(FALSE, FALSE, sizeof(LodeUnresolved));
	self->thread_times = g_array_new(FALSE, FALSE, sizeof(LodeThreadTime));
	return self;
}

/* Callgrind's rows are mapped as they grow; room 0: they were packed anew, on the heap. */
static void free_values(LodeRecording *self)
{
	if (self->values_room == 0)
		g_free(self->values);
	else if (self->values != NULL)
		munmap(self->values, self->values_room);
}

void lode_recording_free(LodeRecording *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->events, g_ptr_array_unref);
	g_clear_pointer(&self->totals, g_array_unref);
	g_clear_pointer(&self->objects, g_array_unref);
	g_clear_pointer(&self->image_objects, g_array_unref);
	g_clear_pointer(&self->pids, g_array_unref);
	g_clear_pointer(&self->names, g_ptr_array_unref);
	g_clear_pointer(&self->programs.commands, g_ptr_array_unref);
	g_clear_pointer(&self->programs.known_commands, g_hash_table_unref);
	free_values(self);
	g_clear_pointer(&self->instructions, g_array_unref);
	g_clear_pointer(&self->jumps, g_array_unref);
	g_clear_pointer(&self->calls, g_array_unref);
	g_clear_pointer(&self->descriptions, g_ptr_array_unref);
	g_clear_pointer(&self->sums, g_array_unref);
	g_clear_pointer(&self->late_columns, g_array_unref);
	g_clear_pointer(&self->ranges, g_array_unref);
	g_clear_pointer(&self->steps, g_array_unref);
	g_clear_pointer(&self->unresolved, g_array_unref);
	g_clear_pointer(&self->thread_times, g_array_unref);
	g_clear_pointer(&self->strings, g_string_chunk_free);
	g_free(self);
}

void lode_recording_add_command(LodeRecording *self, const char *command, size_t size)
{
	g_autofree char *text = g_strndup(command, size);

	if (*text == '\0' || g_hash_table_contains(self->programs.known_commands, text))
		return;
	char *kept = g_string_chunk_insert(self->strings, text);
	g_hash_table_add(self->programs.known_commands, kept);
	g_ptr_array_add(self->programs.commands, kept);
}

/* As many as a person may want to read. */
enum { MAX_COMMANDS = 32 };

char *lode_recording_program(const LodeRecording *self)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < MIN(self->programs.commands->len, MAX_COMMANDS); i++)
		g_string_append_printf(
			text, "%s%s", i > 0 ? ", " : "", (char *)self->programs.commands->pdata[i]);
	if (self->programs.commands->len > MAX_COMMANDS)
		g_string_append_printf(
			text, " and %u more", self->programs.commands->len - MAX_COMMANDS);
	return g_string_free(text, self->programs.commands->len == 0);
}

bool lode_recording_is_late(const LodeRecording *self, uint32_t column)
{
	for (guint i = 0; i < self->late_columns->len; i++)
		if (g_array_index(self->late_columns, uint32_t, i) == column)
			return true;
	return false;
}

void lode_recording_add_unresolved(
	LodeRecording *self, const char *reason, const char *example, double samples, double weight)
{
	LodeUnresolved row = {.samples = samples, .weight = weight};

	for (guint i = 0; i < self->unresolved->len; i++) {
		LodeUnresolved *known = &g_array_index(self->unresolved, LodeUnresolved, i);
		if (strcmp(known->reason, reason) != 0)
			continue;
		known->samples += samples;
		known->weight += weight;
		return;
	}
	row.reason = g_string_chunk_insert(self->strings, reason);
	if (example != NULL)
		row.example = g_string_chunk_insert(self->strings, example);
	g_array_append_val(self->unresolved, row);
}

static size_t count_values(const LodeRecording *self)
{
	size_t n = 0;

	for (guint i = 0; i < self->instructions->len; i++)
		n += g_array_index(self->instructions, LodeRecordedInstruction, i).n_values;
	return n;
}

/* Rows may share nothing and leave gaps: they are packed anew, with room for more. */
static void repack_values(LodeRecording *self, size_t n_more)
{
	double *packed = g_new0(double, MAX(count_values(self) + n_more, 1));
	size_t at = 0;

	for (guint i = 0; i < self->instructions->len; i++) {
		LodeRecordedInstruction *row = &g_array_index(
			self->instructions, LodeRecordedInstruction, i);
		if (row->n_values > 0)
			memcpy(packed + at, self->values + row->first_value,
				row->n_values * sizeof(double));
		row->first_value = (uint32_t)at;
		at += row->n_values;
	}
	free_values(self);
	self->values = packed;
	self->values_room = 0;
}

/* Samples have no counts: their column 0 is skipped. */
static void add_sample_rows(
	LodeRecording *self, const LodeRecording *samples, uint32_t first_object)
{
	uint32_t n_counted = self->events->len - samples->n_sampled, n = self->events->len;
	size_t at = count_values(self);

	repack_values(self, (size_t)samples->instructions->len * n);
	self->first_sample_row = self->instructions->len;
	for (guint i = 0; i < samples->instructions->len; i++) {
		LodeRecordedInstruction row = g_array_index(
			samples->instructions, LodeRecordedInstruction, i);
		memcpy(self->values + at + n_counted, samples->values + row.first_value + 1,
			samples->n_sampled * sizeof(double));
		row.object += first_object;
		row.first_value = (uint32_t)at;
		row.n_values = n;
		at += n;
		g_array_append_val(self->instructions, row);
	}
}

void lode_recording_add_samples(LodeRecording *self, const LodeRecording *samples)
{
	uint32_t first_object = self->objects->len;

	g_ptr_array_set_size(self->descriptions, (gint)self->events->len);
	for (guint i = 1; i < samples->events->len; i++) {
		uint32_t column = self->events->len;
		if (lode_recording_is_late(samples, i))
			g_array_append_val(self->late_columns, column);
		g_ptr_array_add(self->events, samples->events->pdata[i]);
		g_ptr_array_add(self->descriptions, samples->descriptions->pdata[i]);
		g_array_append_vals(self->totals, &g_array_index(samples->totals, double, i), 1);
	}
	g_autofree char *creator = g_strconcat(
		self->programs.creator != NULL ? self->programs.creator : "callgrind", " and ",
		samples->programs.creator, NULL);
	self->programs.creator = g_string_chunk_insert(self->strings, creator);
	self->n_sampled = samples->n_sampled;
	self->n_samples = samples->n_samples;
	self->n_equal_samples = samples->n_equal_samples;
	self->programs.user_seconds = samples->programs.user_seconds;
	self->programs.system_seconds = samples->programs.system_seconds;
	self->programs.system_error = samples->programs.system_error;
	self->programs.wall_seconds = samples->programs.wall_seconds;
	self->programs.speed = samples->programs.speed;
	self->programs.cycles_per_ns = samples->programs.cycles_per_ns;
	self->programs.sampling_share = samples->programs.sampling_share;
	self->programs.sampling_error = samples->programs.sampling_error;
	self->programs.rates = samples->programs.rates;
	self->programs.core_figures = samples->programs.core_figures;
	self->is_kernel_sampled = samples->is_kernel_sampled;
	self->has_faults_aside = samples->has_faults_aside;
	if (self->programs.commands->len == 0)
		for (guint i = 0; i < samples->programs.commands->len; i++) {
			const char *command = samples->programs.commands->pdata[i];
			lode_recording_add_command(self, command, strlen(command));
		}
	g_array_append_vals(self->objects, samples->objects->data, samples->objects->len);
	g_array_append_vals(self->unresolved, samples->unresolved->data, samples->unresolved->len);
	g_array_append_vals(
		self->thread_times, samples->thread_times->data, samples->thread_times->len);
	add_sample_rows(self, samples, first_object);
}

/* Time that is not only the processor's is weighed where it is asked for. */
static bool is_of_waits(const char *event)
{
	return strcmp(event, LODE_WAITING_EVENT) == 0 || strcmp(event, LODE_CLOCK_EVENT) == 0;
}

uint32_t lode_recording_weight_column(const LodeRecording *self)
{
	uint32_t first = self->events->len - self->n_sampled;

	for (uint32_t i = first; i < self->events->len; i++)
		if (g_array_index(self->totals, double, i) > 0 &&
			!is_of_waits(self->events->pdata[i]))
			return i;
	return first < self->events->len ? first : 0;
}

int lode_recorded_jump_compare(const void *a, const void *b)
{
	const LodeRecordedJump *left = a, *right = b;

	return LODE_FIRST_DIFFERENCE(LODE_ASCENDING(object), LODE_ASCENDING(source),
		LODE_ASCENDING(target_object), LODE_ASCENDING(target));
}
