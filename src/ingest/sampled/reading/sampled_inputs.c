/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/reading/sampled_reading.h"

#include "base/error.h"
#include "model/waits.h"
#include "sources/perf_data/script_look.h"
#include "sources/perf_data/wait_switch.h"

#include <string.h>

void lode_sampled_input_clear(void *data)
{
	LodeSampledInput *self = data;

	lode_perf_data_close(self->data);
	lode_sampled_programs_free(self->programs);
	lode_sampled_threads_free(self->threads);
	lode_switch_looks_free(self->switch_looks);
	lode_sampled_counts_clear(&self->counts);
	lode_window_times_clear(&self->windows);
	g_free(self->columns);
	g_free(self->periods);
}

static bool has_switches(const LodeSampledInput *input)
{
	size_t n;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].has_switches)
			return true;
	return false;
}

/* The event of lode's looks that has that name; the number of events: there is none. */
static size_t find_looks(const LodeSampledInput *input, const char *name)
{
	size_t n, i = 0;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n);

	while (i < n &&
		(events[i].type != PERF_TYPE_SOFTWARE || events[i].config != PERF_COUNT_SW_DUMMY ||
			(events[i].sample_type & PERF_SAMPLE_RAW) == 0 ||
			strcmp(events[i].name, name) != 0))
		i++;
	return i;
}

/* Likewise that of samples of switches. */
static size_t find_switched(const LodeSampledInput *input)
{
	size_t n, i = 0;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n);

	while (i < n &&
		!(events[i].type == PERF_TYPE_SOFTWARE &&
			events[i].config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
			events[i].has_switches && strcmp(events[i].name, LODE_SWITCHED_EVENT) == 0))
		i++;
	return i;
}

static bool has_switch_samples(const LodeSampledInput *input)
{
	size_t n;

	lode_perf_data_events(input->data, &n);
	return input->switched < n;
}

bool lode_sampled_input_has_looks(const LodeSampledInput *input)
{
	size_t n;

	lode_perf_data_events(input->data, &n);
	return input->waiting < n;
}

bool lode_sampled_input_has_scripts(const LodeSampledInput *input)
{
	size_t n;

	lode_perf_data_events(input->data, &n);
	return input->script < n;
}

bool lode_sampled_input_is_look(const LodeSampledInput *input, const LodePerfRecord *record)
{
	return record->kind == LODE_PERF_SAMPLE && record->event == input->waiting;
}

bool lode_sampled_input_is_script(const LodeSampledInput *input, const LodePerfRecord *record)
{
	return record->kind == LODE_PERF_SAMPLE && record->event == input->script;
}

bool lode_sampled_input_is_switch(const LodeSampledInput *input, const LodePerfRecord *record)
{
	return record->kind == LODE_PERF_SAMPLE && record->event == input->switched;
}

bool lode_sampled_input_is_waking(const LodeSampledInput *input, const LodePerfRecord *record)
{
	return record->kind == LODE_PERF_SAMPLE && record->event == input->waking;
}

uint64_t lode_sampled_input_time(LodeSampledInput *input, const LodePerfRecord *record)
{
	if (!input->knows_times) {
		input->has_times = lode_perf_data_has_times(input->data);
		input->has_switches = input->has_times && has_switches(input);
		input->waiting = find_looks(input, LODE_WAITING_EVENT);
		input->script = find_looks(input, LODE_SCRIPT_EVENT);
		input->waking = find_looks(input, LODE_WAKING_EVENT);
		input->switched = find_switched(input);
		if (has_switch_samples(input))
			input->switch_looks = lode_switch_looks_new();
		if (input->has_switches ||
			(input->has_times && lode_sampled_input_has_looks(input)))
			input->threads = lode_sampled_threads_new(0);
		if (input->threads != NULL && lode_sampled_input_has_looks(input))
			lode_sampled_threads_expect_looks(input->threads, input->has_switches);
		/* Without times, samples count as time; with switches, they say who ran. */
		lode_perf_data_skip_samples(
			input->data, input->has_times && input->threads == NULL &&
					     !lode_sampled_input_has_scripts(input));
	}
	input->knows_times = true;
	return input->has_times ? record->time_ns : ++input->sequence;
}

double lode_sampled_fixed_period(const LodePerfEvent *event)
{
	if (event->has_period)
		return 0;
	return event->is_frequency ? 1 : (double)MAX(event->period_or_frequency, 1);
}

bool lode_sampled_reading_wants_time(const LodeSampledReading *self, uint64_t time_ns)
{
	return self->options->end_ns == 0 ||
	       (time_ns >= self->options->begin_ns && time_ns < self->options->end_ns);
}

bool lode_sampled_reading_is_stopped(const LodeSampledReading *self, GError **error)
{
	if (!lode_progress_is_cancelled(self->progress))
		return false;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return true;
}

static bool go_on(
	LodeSampledReading *self, const LodeSampledInput *input, const char *stage, GError **error)
{
	enum { RECORDS_BETWEEN = 1 << 12 };

	if (self->n_records++ % RECORDS_BETWEEN != 0)
		return true;
	lode_progress_report(self->progress, stage, (double)lode_perf_data_position(input->data),
		(double)lode_perf_data_size(input->data), input->path);
	return !lode_sampled_reading_is_stopped(self, error);
}

bool lode_sampled_reading_each_record(LodeSampledReading *self, LodeSampledInput *input,
	LodeSampledRecordFunc func, const char *stage, GError **error)
{
	LodePerfRecord record;

	for (;;) {
		LodePerfNext next = lode_perf_data_next(input->data, &record, error);
		if (next == LODE_PERF_NEXT_ERROR)
			return false;
		if (next == LODE_PERF_NEXT_END)
			return true;
		func(self, input, &record);
		if (!go_on(self, input, stage, error))
			return false;
	}
}
