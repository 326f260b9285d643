/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/reading/sampled_reading.h"

#include "ingest/sampled/sampled_columns.h"
#include "model/code.h"
#include "model/waits.h"

/* The event that weighs time, or else the first one, of the first recording. */
static uint32_t timed_column(const LodeSampledReading *self)
{
	const LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, 0);
	size_t n;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n);

	for (size_t i = 0; i < n; i++)
		if (lode_perf_event_is_time(events[i].type, events[i].config))
			return input->columns[i];
	return n > 0 ? input->columns[0] : LODE_NONE;
}

/* The last column, where it is known of all recordings, and differs from the event itself. */
static void add_latency(LodeSampledReading *self)
{
	LodeRecording *recording = self->recording;
	uint32_t clocked = self->timed_column;
	bool is_parallel = false;

	self->clocked_column = self->latency_column = LODE_NONE;
	for (guint i = 0; i < self->inputs->len; i++) {
		const LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		if (!input->has_switches)
			return;
		is_parallel |= lode_sampled_threads_are_parallel(input->threads);
	}
	if (!is_parallel || clocked == LODE_NONE ||
		lode_sampled_columns_find(recording, LODE_LATENCY_EVENT) != LODE_NONE)
		return;
	g_autofree char *description = g_strdup_printf(
		"%s ÷ the threads that ran at the time: cost by the clock",
		(const char *)recording->events->pdata[clocked]);
	self->clocked_column = clocked;
	self->latency_column = lode_sampled_columns_append(
		recording, LODE_LATENCY_EVENT, description);
	if (lode_recording_is_late(recording, clocked))
		g_array_append_val(recording->late_columns, self->latency_column);
}

/* What was looked at, and with it the time by the clock, where the event that weighs is one of
 * time. */
static void add_clock(LodeSampledReading *self)
{
	LodeRecording *recording = self->recording;
	const LodeSampledInput *first = &g_array_index(self->inputs, LodeSampledInput, 0);
	double running_ns = 0;
	bool is_timer = true;
	size_t n;

	self->waiting_column = self->clock_column = LODE_NONE;
	self->clock_scale = 1;
	for (guint i = 0; i < self->inputs->len; i++) {
		const LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		if (input->threads == NULL || !lode_sampled_input_has_looks(input))
			continue;
		self->waiting_column = input->columns[input->waiting];
		const GArray *lives = lode_sampled_threads_waits(input->threads)->lives;
		for (guint k = 0; k < lives->len; k++)
			running_ns += g_array_index(lives, LodeThreadLife, k).running_ns;
	}
	const LodePerfEvent *events = lode_perf_data_events(first->data, &n);
	uint32_t timed = LODE_NONE;
	for (size_t i = 0; i < n && timed == LODE_NONE; i++)
		if (lode_perf_event_is_time(events[i].type, events[i].config)) {
			timed = first->columns[i];
			is_timer = lode_sampled_timer_period(&events[i]) > 0;
		}
	if (self->waiting_column == LODE_NONE || timed == LODE_NONE ||
		recording->n_sampled >= LODE_SAMPLED_MAX_COLUMNS ||
		lode_sampled_columns_find(recording, LODE_CLOCK_EVENT) != LODE_NONE)
		return;
	if (!is_timer)
		self->clock_scale = self->timed_sum > 0 ? running_ns / self->timed_sum : 0;
	g_autofree char *description = g_strdup_printf(
		"running (%s) and waiting, of all threads; in nanoseconds",
		(const char *)recording->events->pdata[timed]);
	self->clock_column = lode_sampled_columns_append(recording, LODE_CLOCK_EVENT, description);
	if (lode_recording_is_late(recording, timed))
		g_array_append_val(recording->late_columns, self->clock_column);
}

void lode_sampled_reading_add_time_columns(LodeSampledReading *self)
{
	self->timed_column = timed_column(self);
	add_latency(self);
	add_clock(self);
}
