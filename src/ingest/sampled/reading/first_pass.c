/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/reading/sampled_reading.h"

#include "base/error.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/sampled_columns.h"
#include "ingest/sampled/waits/process_commands.h"
#include "ingest/sampled/waits/sampled_waits.h"
#include "model/process.h"
#include "sources/perf_data/script_look.h"

/* perf and lode write the address of the first symbol in place of an offset. */
static void note_kernel(LodeSampledInput *input, const LodePerfMapping *mapping)
{
	if (g_str_has_prefix(mapping->path, "[kernel.kallsyms]"))
		input->kernel_text = mapping->offset;
}

static void note_look(LodeSampledInput *input, const LodePerfRecord *record, uint64_t time_ns)
{
	LodeWaitLook look;

	input->n_looks++;
	if (!lode_wait_look_read(&look, record->sample.raw, record->sample.raw_size)) {
		input->n_bad_looks++;
		return;
	}
	if (input->switch_looks != NULL)
		lode_switch_looks_note(input->switch_looks, record, &look, time_ns);
	if (input->threads == NULL || (look.flags & LODE_LOOK_OF_HOLDER) != 0)
		return;
	if (look.state == LODE_LOOK_STATE_RUNS)
		lode_sampled_threads_note_run(input->threads, record, time_ns, look.interval_ns);
	else
		lode_sampled_threads_note_look(input->threads, record, time_ns, look.interval_ns);
}

/* Samples of switches and of wake-ups. */
static void note_switch(LodeSampledInput *input, const LodePerfRecord *record, uint64_t time_ns)
{
	LodeWaking waking;

	input->n_looks++;
	if (input->threads == NULL || !lode_sampled_input_has_looks(input))
		return;
	if (lode_sampled_input_is_switch(input, record))
		lode_sampled_threads_note_switch(input->threads, record, time_ns);
	else if (lode_waking_read(&waking, record->sample.raw, record->sample.raw_size))
		lode_sampled_threads_note_waking(input->threads, record, &waking, time_ns);
	else
		input->n_bad_looks++;
}

/* The value of a sample that has no counts. */
static double period_of(const LodePerfEvent *event, const LodePerfRecord *record)
{
	double fixed = lode_sampled_fixed_period(event);

	return fixed > 0 ? fixed : (double)record->sample.period;
}

/* What samples of a timer weigh must be known before they are read, where the waiting for a
 * processor is shared among them. */
static void note_timed(
	LodeSampledReading *self, LodeSampledInput *input, const LodePerfRecord *record)
{
	size_t n;
	const LodePerfEvent *event = &lode_perf_data_events(input->data, &n)[record->event];

	if (input->threads == NULL || !lode_sampled_input_has_looks(input) ||
		!lode_sampled_reading_wants_time(self, record->time_ns) ||
		!lode_perf_event_is_time(event->type, event->config))
		return;
	lode_sampled_threads_note_timed(input->threads, record, period_of(event, record));
	self->timed_sum += period_of(event, record);
}

static void note_command(LodeSampledReading *self, const LodeSampledInput *input,
	const LodePerfRecord *record, uint64_t time_ns)
{
	LodeScriptLook look;

	if (self->options->waits != NULL &&
		lode_script_look_read(&look, record->sample.raw, record->sample.raw_size) &&
		look.kind == LODE_SCRIPT_COMMAND)
		lode_process_commands_note_look(lode_sampled_waits_commands(self->options->waits),
			input->number, record->pid, time_ns, &look.command);
}

static void note_script(LodeSampledInput *input, const LodePerfRecord *record)
{
	LodeScriptLook look;

	if (input->threads != NULL &&
		lode_script_look_read(&look, record->sample.raw, record->sample.raw_size) &&
		look.kind != LODE_SCRIPT_COMMAND)
		lode_sampled_threads_note_script(input->threads, record->pid);
}

/* The first pass: everything but samples. */
static void note_record(
	LodeSampledReading *self, LodeSampledInput *input, const LodePerfRecord *record)
{
	uint64_t time_ns = lode_sampled_input_time(input, record);

	if (lode_sampled_input_is_look(input, record)) {
		note_look(input, record, time_ns);
		return;
	}
	if (lode_sampled_input_is_switch(input, record) ||
		lode_sampled_input_is_waking(input, record)) {
		note_switch(input, record, time_ns);
		return;
	}
	if (lode_sampled_input_is_script(input, record)) {
		input->n_looks++;
		note_command(self, input, record, time_ns);
		note_script(input, record);
		if (!self->options->is_native)
			input->n_bad_scripts += !lode_sampled_scripts_note(
				self->scripts, input->number, record, time_ns);
		return;
	}
	if (record->kind == LODE_PERF_SAMPLE)
		note_timed(self, input, record);
	if (record->kind == LODE_PERF_SAMPLE && lode_sampled_input_has_scripts(input) &&
		!self->options->is_native)
		lode_sampled_scripts_note_sample(self->scripts, input->number, record, time_ns);
	if (record->kind == LODE_PERF_SWITCH && !self->options->is_native)
		lode_sampled_scripts_note_switch(self->scripts, input->number, record, time_ns);
	if (input->threads != NULL)
		lode_sampled_threads_note(input->threads, record, time_ns);
	lode_places_note(self->places, record, time_ns);
	lode_memory_reading_note(self->memory, record, time_ns);
	if (input->programs != NULL)
		lode_sampled_programs_note(input->programs, record, time_ns);
	if (self->options->waits != NULL)
		lode_process_commands_note(lode_sampled_waits_commands(self->options->waits),
			input->number, record, time_ns);
	switch (record->kind) {
	case LODE_PERF_MAPPING:
		if (record->mode == LODE_PERF_MODE_KERNEL)
			note_kernel(input, &record->mapping);
		break;
	case LODE_PERF_LOST:
		self->n_lost += (double)record->value;
		break;
	case LODE_PERF_LOST_SAMPLES:
		self->n_lost_samples += (double)record->value;
		break;
	case LODE_PERF_THROTTLE:
		self->n_throttled++;
		break;
	default:
		break;
	}
}

static bool add_events(LodeSampledReading *self, LodeSampledInput *input, GError **error)
{
	const LodePerfEvent *events = lode_perf_data_events(input->data, &input->n_events);

	input->columns = g_new(uint32_t, MAX(input->n_events, 1));
	input->periods = g_new(double, MAX(input->n_events, 1));
	if (!lode_sampled_columns_add(self->recording, input->data, input->columns)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "%s: more than %d events",
			input->path, LODE_SAMPLED_MAX_COLUMNS);
		return false;
	}
	bool is_for_data = input->n_events > 0 && (events[0].sample_type & PERF_SAMPLE_ADDR) != 0;
	self->memory->names_operands |= is_for_data;
	for (size_t i = 0; i < input->n_events; i++) {
		bool has_address = (events[i].sample_type & PERF_SAMPLE_ADDR) != 0;
		input->periods[i] = lode_sampled_fixed_period(&events[i]);
		self->recording->has_faults_aside |= !is_for_data && has_address &&
		                                     events[i].type == PERF_TYPE_SOFTWARE &&
		                                     events[i].config == PERF_COUNT_SW_PAGE_FAULTS;
		/* Those of looks say where a thread waits, not what it accesses. */
		input->has_data |= i != input->waiting && i != input->switched &&
		                   (events[i].user_registers != 0 || has_address);
	}
	return true;
}

bool lode_sampled_reading_mappings(LodeSampledReading *self, const char *path, GError **error)
{
	LodeSampledInput input = {.path = path,
		.data = lode_perf_data_open(path, error),
		.number = self->inputs->len};

	if (input.data == NULL)
		return false;
	lode_sampled_counts_init(&input.counts);
	lode_window_times_init(&input.windows);
	if (self->options->only != NULL || self->options->is_alone)
		input.programs = lode_sampled_programs_new(
			self->options->only, self->options->is_alone);
	g_array_append_val(self->inputs, input);
	lode_memory_reading_select(self->memory, lode_places_begin(self->places));
	LodeSampledInput *kept = &g_array_index(
		self->inputs, LodeSampledInput, self->inputs->len - 1);
	if (!lode_sampled_reading_each_record(self, kept, note_record, "reading mappings", error))
		return false;
	if (!add_events(self, kept, error) ||
		!lode_image_files_add_copies(
			lode_code_images_files(lode_places_images(self->places)), kept->data,
			error))
		return false;
	if (kept->programs != NULL)
		lode_sampled_programs_freeze(kept->programs);
	const LodePerfInfo *info = lode_perf_data_info(kept->data);
	lode_places_freeze(self->places, kept->data, path, self->progress);
	lode_memory_reading_freeze(self->memory, info);
	return !lode_sampled_reading_is_stopped(self, error);
}

typedef struct {
	const LodeSampledReading *reading;
	const LodeSampledInput *input;
} OfWindows;

static bool is_window_asked_for(const void *data, uint32_t pid, uint64_t time_ns)
{
	const OfWindows *self = data;

	return lode_sampled_reading_wants_time(self->reading, time_ns) &&
	       (self->input->programs == NULL ||
		       lode_sampled_programs_are_wanted(self->input->programs, pid, time_ns));
}

bool lode_sampled_reading_windows(LodeSampledReading *self, GError **error)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		const OfWindows of_windows = {self, input};
		const LodeWindowLogOptions options = {
			.recording = self->recording,
			.threads = &self->memory->threads,
			.times = &input->windows,
			.is_wanted = is_window_asked_for,
			.data = &of_windows,
		};
		lode_places_select(self->places, i);
		if (!lode_window_reading_add_all(
			    self->options->windows, input->data, &options, self->progress, error))
			return false;
	}
	lode_window_periods_freeze(self->options->windows->periods);
	return true;
}

void lode_sampled_reading_freeze_threads(const LodeSampledReading *self)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		if (input->threads == NULL)
			continue;
		if (self->options->end_ns != 0)
			lode_sampled_threads_want(
				input->threads, self->options->begin_ns, self->options->end_ns);
		lode_sampled_threads_leave_out(input->threads, &input->windows);
		lode_sampled_threads_freeze(input->threads, input->programs);
		input->has_gaps = lode_sampled_threads_recorded(input->threads) < 1;
	}
}
