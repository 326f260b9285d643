/* SPDX-License-Identifier: MIT */
/*
 * perf.data is read twice, because perf writes the buffers of CPUs one after another: a mapping may
 * come after the samples that lie in it, with an earlier time.
 *
 *   first pass    mappings, forks, execs ─▶ places over time; events ─▶ columns
 *   second pass   sample ─▶ place at its time ─▶ row ─▶ each consumer, with each of its values
 *
 * A sample without a row is counted by its outcome, with its weight: totals include all samples.
 */
#include "ingest/sampled/sampled_recording.h"

#include "base/error.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/reading/sampled_reading.h"

static bool read_all(
	LodeSampledReading *self, const char *const *paths, size_t n_paths, GError **error)
{
	for (size_t i = 0; i < n_paths; i++)
		if (!lode_sampled_reading_mappings(self, paths[i], error))
			return false;
	if (self->recording->events->len == 1) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: no event was recorded",
			paths[0]);
		return false;
	}
	lode_sampled_scripts_freeze(self->scripts);
	if (!lode_sampled_reading_windows(self, error))
		return false;
	lode_sampled_reading_freeze_threads(self);
	lode_sampled_reading_add_time_columns(self);
	if (!lode_sampled_reading_samples(self, error) ||
		!lode_sampled_reading_has_wanted(self, error))
		return false;
	lode_sampled_reading_account(self);
	lode_sampled_registers_finish(&self->registers, self->recording);
	lode_window_reading_finish(self->options->windows, self->recording);
	lode_sampled_reading_divide_time(self);
	return true;
}

LodeRecording *lode_sampled_recording_read(
	const LodeSampledRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	static const char count_column[] = "Ir";
	LodeSampledReading reading = {.options = options,
		.recording = lode_recording_new(),
		.places = options->memory->options.places,
		.memory = options->memory,
		.progress = progress};
	LodeRecording *recording = reading.recording;
	double zero = 0;

	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, count_column));
	g_array_append_val(recording->totals, zero);
	reading.kernel_functions = g_ptr_array_new();
	reading.inputs = g_array_new(FALSE, FALSE, sizeof(LodeSampledInput));
	g_array_set_clear_func(reading.inputs, lode_sampled_input_clear);
	lode_row_search_init(&reading.search, reading.places, &reading.rows);
	lode_sampled_registers_init(&reading.registers, reading.places, options->pairs);
	lode_sampled_kernel_init(&reading.kernel, recording, lode_places_images(reading.places));
	reading.scripts = lode_sampled_scripts_new(reading.places);
	bool is_read = read_all(&reading, options->paths, options->n_paths, error);
	lode_sampled_rows_clear(&reading.rows);
	lode_sampled_totals_clear(&reading.totals);
	lode_row_search_clear(&reading.search);
	lode_sampled_registers_clear(&reading.registers);
	lode_sampled_kernel_clear(&reading.kernel);
	lode_sampled_scripts_free(reading.scripts);
	g_array_unref(reading.inputs);
	g_ptr_array_unref(reading.kernel_functions);
	if (!is_read)
		lode_recording_free(recording);
	return is_read ? recording : NULL;
}
