/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/reading/sampled_reading.h"

#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/waits/sampled_waits.h"
#include "ingest/windows/window_reading.h"
#include "model/process.h"

static LodePlaceOutcome outcome_of_mode(LodePerfMode mode)
{
	switch (mode) {
	case LODE_PERF_MODE_KERNEL:
		return LODE_PLACE_KERNEL;
	case LODE_PERF_MODE_HYPERVISOR:
		return LODE_PLACE_HYPERVISOR;
	case LODE_PERF_MODE_GUEST_KERNEL:
	case LODE_PERF_MODE_GUEST_USER:
		return LODE_PLACE_GUEST;
	default:
		return LODE_PLACE_FOUND;
	}
}

static bool is_asked_for(LodeSampledReading *self, const LodeSampledInput *input,
	const LodePerfRecord *record, uint64_t time_ns)
{
	if (!lode_sampled_reading_wants_time(self, record->time_ns))
		return false;
	if (input->programs == NULL ||
		lode_sampled_programs_are_wanted(input->programs, record->pid, time_ns))
		return true;
	self->n_left_out++;
	return false;
}

/* Whether the thread was stepped then: without windows there would be no such sample. */
static bool is_stepped(const LodeSampledInput *input, const LodePerfRecord *record)
{
	return lode_perf_data_info(input->data)->window_logs->len > 0 &&
	       lode_window_times_has(&input->windows, record->tid, record->time_ns);
}

/* Finds the row of a sample; false: it is of the recorder's own work. */
static bool place(LodeSampledReading *self, LodePlacedSample *sample)
{
	const LodePerfRecord *record = sample->record;
	uint64_t ip = record->sample.ip;
	LodePlace kernel;

	g_ptr_array_set_size(self->kernel_functions, 0);
	sample->row = sample->user_row = LODE_NONE;
	sample->outcome = outcome_of_mode(record->mode);
	if (sample->outcome == LODE_PLACE_FOUND) {
		sample->outcome = lode_row_search_find(
			&self->search, record->pid, sample->time_ns, ip, &sample->user_row);
		sample->row = sample->user_row;
		return !lode_row_search_is_of_recorder(
			&self->search, sample->row, record, sample->event, sample->time_ns);
	}
	if (sample->outcome != LODE_PLACE_KERNEL)
		return true;
	lode_sampled_kernel_functions(&self->kernel, &record->sample, self->kernel_functions);
	sample->outcome = lode_sampled_kernel_place(&self->kernel, ip, &kernel);
	if (sample->outcome == LODE_PLACE_FOUND)
		sample->row = lode_sampled_rows_find(&self->rows, &kernel);
	return true;
}

/* Finds the frames of the script that the sample's thread ran. In the interpreter's loop the line
 * of the innermost has its weight. */
static void find_script(LodeSampledReading *self, LodePlacedSample *sample)
{
	const LodePlace *code = lode_sampled_place_of(self, sample->user_row);

	sample->script = lode_sampled_scripts_find(self->scripts, sample->input->number,
		sample->record, sample->time_ns, code, &sample->n_script);
	if (sample->script != NULL && code != NULL && sample->row == sample->user_row &&
		lode_sampled_scripts_is_loop(self->scripts, code))
		sample->row = lode_sampled_rows_find(&self->rows, sample->script);
}

/* The next of a sample's values: its counts, or its period. */
static void take_value(LodePlacedSample *sample, const GArray *counts, guint i)
{
	const LodeSampledInput *input = sample->input;
	double fixed = input->periods[sample->record->event];

	if (counts != NULL) {
		const LodePerfCount *count = &g_array_index(counts, LodePerfCount, i);
		sample->column = input->columns[count->event];
		sample->value = (double)count->value;
		return;
	}
	sample->column = input->columns[sample->record->event];
	sample->value = fixed > 0 ? fixed : (double)sample->record->sample.period;
}

/* Finds the frames of the script whose thread waited at a look: it is looked at once more, for
 * these. Without switches it may have run between the two. */
static void find_waiting_script(
	const LodeSampledReading *self, LodePlacedSample *sample, const LodeThreadLook *known)
{
	enum { BETWEEN_NS = 1000000 };
	const GArray *gaps = lode_sampled_threads_waits(sample->input->threads)->gaps;
	uint64_t end_ns = known != NULL && known->gap < gaps->len
	                          ? LODE_AT(gaps, LodeThreadGap, known->gap).end_ns
	                          : sample->time_ns + BETWEEN_NS;

	sample->script = lode_sampled_scripts_find_waiting(self->scripts, sample->input->number,
		sample->record, sample->time_ns, end_ns, &sample->n_script);
}

/* Reads a look, or a sample of a switch as one; `out_record` is that of its user code. */
static bool read_look(LodeSampledReading *self, const LodeSampledInput *input,
	const LodePerfRecord *record, uint64_t time_ns, LodeWaitLook *out_look,
	LodePerfRecord *out_record)
{
	size_t n;

	*out_record = *record;
	if (lode_sampled_input_is_look(input, record))
		return lode_wait_look_read(out_look, record->sample.raw, record->sample.raw_size) &&
		       out_look->state != LODE_LOOK_STATE_RUNS;
	lode_sampled_kernel_functions(&self->kernel, &record->sample, self->kernel_functions);
	const LodeSwitchSample sample = {
		.record = record,
		.event = &lode_perf_data_events(input->data, &n)[record->event],
		.time_ns = time_ns,
		.functions = self->kernel_functions,
		.places = self->places,
	};
	return lode_switch_looks_find(input->switch_looks, &sample, out_look, out_record);
}

/* A look stands for waiting at its place, and is no sample of what the program did. */
static void add_look(LodeSampledReading *self, LodeSampledInput *input, const LodePerfRecord *read,
	uint64_t time_ns)
{
	LodeSampledWaits *waits = self->options->waits;
	LodePerfRecord user;
	const LodePerfRecord *record = &user;
	LodeWaitLook look;
	size_t n;

	if (input->threads == NULL || !lode_sampled_input_has_looks(input) ||
		!lode_sampled_reading_wants_time(self, read->time_ns) ||
		(input->programs != NULL &&
			!lode_sampled_programs_are_wanted(input->programs, read->pid, time_ns)) ||
		!read_look(self, input, read, time_ns, &look, &user))
		return;
	bool is_of_holder = (look.flags & LODE_LOOK_OF_HOLDER) != 0;
	const LodeThreadLook *known = is_of_holder ? NULL
	                                           : lode_sampled_threads_take_look(
							     input->threads, record, time_ns);
	LodePlacedSample sample = {
		.input = input,
		.record = record,
		.event = &lode_perf_data_events(input->data, &n)[record->event],
		.time_ns = time_ns,
		.caller = LODE_NONE,
		.column = self->waiting_column,
	};
	if (!place(self, &sample))
		return;
	if (sample.row == LODE_NONE && sample.outcome == LODE_PLACE_FOUND)
		sample.outcome = LODE_PLACE_UNMAPPED;
	if (!is_of_holder)
		find_waiting_script(self, &sample, known);
	sample.value = known != NULL ? known->waiting_ns : 0;
	LodeSampledAccess access = lode_sampled_access_of(self, &sample);
	uint32_t where = lode_sampled_waits_add(waits, &access, &look, known, sample.row);
	if (sample.value <= 0)
		return;
	lode_sampled_add_value(self, &sample, self->waiting_column, sample.value);
	lode_sampled_stacks_add_at(self->options->stacks, &access, where);
	lode_sampled_add_besides(self, &sample, self->clock_column, sample.value);
}

/* The way of a record of the second pass: a sample that is asked for goes to all consumers. */
static void add_sample(
	LodeSampledReading *self, LodeSampledInput *input, const LodePerfRecord *record)
{
	uint64_t time_ns = lode_sampled_input_time(input, record);

	if (record->kind != LODE_PERF_SAMPLE)
		return;
	if (lode_sampled_input_is_look(input, record) ||
		lode_sampled_input_is_switch(input, record)) {
		add_look(self, input, record, time_ns);
		return;
	}
	if (lode_sampled_input_is_script(input, record) ||
		lode_sampled_input_is_waking(input, record))
		return;
	input->n_samples++;
	size_t n_events;
	LodePlacedSample sample = {
		.input = input,
		.record = record,
		.event = &lode_perf_data_events(input->data, &n_events)[record->event],
		.time_ns = time_ns,
		.caller = LODE_NONE,
	};
	/* Counters also go on at samples that were not chosen. */
	const GArray *counts = record->sample.n_read_values > 0
	                               ? lode_sampled_counts_take(
						 &input->counts, input->data, sample.event, record)
	                               : NULL;
	if (!is_asked_for(self, input, record, time_ns))
		return;
	if (self->recording->programs.pid == 0)
		self->recording->programs.pid = record->pid;
	if (input->has_gaps)
		self->n_in_gaps += lode_sampled_threads_share(input->threads, record->time_ns) == 0;
	guint n_values = counts != NULL ? counts->len : 1;
	LodeLeftOutSamples *left_out = is_stepped(input, record) ? &self->totals.stepped
	                               : !place(self, &sample)   ? &self->totals.own
	                                                         : NULL;
	if (left_out != NULL)
		left_out->n++;
	else
		find_script(self, &sample);
	for (guint i = 0; i < n_values; i++) {
		take_value(&sample, counts, i);
		if (left_out != NULL)
			left_out->weights[sample.column] += sample.value;
		else
			lode_sampled_consume_value(self, &sample);
	}
	if (left_out == NULL)
		lode_sampled_consume_sample(self, &sample);
}

/* Waiting that nobody looked at has no place. */
static void end_samples(LodeSampledReading *self, const LodeSampledInput *input)
{
	if (input->threads == NULL || !lode_sampled_input_has_looks(input))
		return;
	double unplaced_ns = lode_sampled_waits_end(self->options->waits);
	const uint32_t columns[] = {self->waiting_column, self->clock_column};
	for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
		if (columns[i] != LODE_NONE)
			g_array_index(self->recording->totals, double, columns[i]) += unplaced_ns;
}

/* Those that the program may use, of those that the machine has. */
static uint32_t usable_processors(const LodePerfInfo *info)
{
	return info->run.n_processors > 0
	               ? (uint32_t)MIN(info->run.n_processors, info->n_cpus_online)
	               : info->n_cpus_online;
}

static void begin_samples(LodeSampledReading *self, LodeSampledInput *input, guint number)
{
	lode_memory_reading_select(self->memory, number);
	lode_sampled_begin_consumers(self, input);
	lode_perf_data_rewind(input->data);
	lode_perf_data_skip_samples(input->data, false);
	input->sequence = 0;
	if (input->threads != NULL && lode_sampled_input_has_looks(input))
		lode_sampled_waits_begin(self->options->waits, input->threads,
			usable_processors(lode_perf_data_info(input->data)));
	lode_row_search_begin(&self->search);
	lode_sampled_kernel_begin(
		&self->kernel, lode_perf_data_info(input->data), input->kernel_text);
}

bool lode_sampled_reading_samples(LodeSampledReading *self, GError **error)
{
	LodeRecording *recording = self->recording;

	lode_sampled_rows_init(&self->rows, recording, lode_places_images(self->places));
	lode_sampled_totals_init(&self->totals, recording->events->len);
	for (guint i = 0; i < self->inputs->len; i++) {
		LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		begin_samples(self, input, i);
		if (!lode_sampled_reading_each_record(
			    self, input, add_sample, "reading samples", error))
			return false;
		end_samples(self, input);
	}
	/* Functions of scripts, and lines that only call, are of the profile without weight, too.
	 */
	const GArray *script = lode_sampled_scripts_places(self->scripts);
	for (guint i = 0; i < script->len; i++)
		if (g_array_index(script, LodePlace, i).image != LODE_NONE)
			lode_sampled_rows_find(&self->rows, &g_array_index(script, LodePlace, i));
	if (!lode_sampled_rows_finish(&self->rows, error))
		return false;
	lode_sampled_totals_finish(&self->totals, recording);
	lode_sampled_kernel_name_rows(&self->kernel);
	const LodeLeftOutSamples *stepped = &self->totals.stepped;
	self->options->windows->n_dropped = (uint64_t)stepped->n;
	self->options->windows->dropped_weight =
		stepped->weights[lode_recording_weight_column(recording)];
	return true;
}

/* By type, as each says something else about the program. */
