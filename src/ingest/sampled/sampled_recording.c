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
#include "ingest/sampled/kernel_entries.h"
#include "ingest/sampled/processor_time.h"
#include "ingest/sampled/registers/sampled_registers.h"
#include "ingest/sampled/row_search.h"
#include "ingest/sampled/sampled_columns.h"
#include "ingest/sampled/sampled_counts.h"
#include "ingest/sampled/sampled_kernel.h"
#include "ingest/sampled/sampled_programs.h"
#include "ingest/sampled/sampled_threads.h"
#include "ingest/sampled/sampled_totals.h"
#include "ingest/sampled/scripts/sampled_scripts.h"
#include "ingest/sampled/waits/process_commands.h"
#include "ingest/sampled/waits/sampled_waits.h"
#include "ingest/windows/window_reading.h"
#include "model/process.h"
#include "model/profile.h"
#include "sources/perf_data/script_look.h"

#include <string.h>
#include <time.h>

typedef struct {
	const char *path;
	LodePerfData *data;
	uint32_t *columns; /* of each event */
	double *periods;   /* likewise: of a sample that does not say its own; 0: it does */
	size_t n_events;
	LodeSampledCounts counts;
	uint64_t n_samples; /* also those that were not chosen */
	bool has_data;      /* samples have registers or data addresses */
	bool knows_times, has_times;
	uint64_t kernel_text;          /* where the kernel's code began; 0: unknown */
	uint64_t sequence;             /* stands for the time where none is recorded */
	LodeSampledPrograms *programs; /* NULL: all are wanted */
	LodeSampledThreads *threads;   /* NULL: no context switches, and no looks at waits */
	bool has_switches;             /* context switches were recorded */
	bool has_gaps;                 /* in which these were not recorded */
	size_t waiting;                /* the event of looks at threads that wait; n_events: none */
	size_t script;                 /* likewise, of looks at the frames of interpreters */
	uint32_t number;               /* of the recording */
	uint64_t n_bad_scripts;        /* samples of it whose raw data is damaged */
	uint64_t n_looks, n_bad_looks; /* samples of it; those whose raw data is damaged */
	LodeWindowTimes windows;
} Input;

typedef struct {
	const LodeSampledRecordingOptions *options;
	LodeRecording *recording;
	LodePlaces *places;
	LodeMemoryReading *memory;
	const LodeProgress *progress;
	GArray *inputs; /* Input */
	LodeSampledKernel kernel;
	LodeSampledRows rows;
	LodeRowSearch search;
	LodeSampledTotals totals;
	LodeSampledScripts *scripts;
	LodeSampledRegisters registers;
	double n_lost, n_lost_samples, n_throttled;
	uint64_t n_left_out;    /* samples of programs that were not chosen */
	double n_in_gaps;       /* samples for which others stand by the clock */
	LodeTimerSamples timer; /* those of the weight, outside of windows… */
	double n_timed;         /* …and their number */
	/* The event that is weighed by the clock, and its column then; LODE_NONE: that is not known
	 */
	uint32_t clocked_column, latency_column;
	uint32_t timed_column; /* of the event that weighs time, or else the first one */
	/* Of looks at threads that wait, and time by the clock; LODE_NONE: there are none */
	uint32_t waiting_column, clock_column;
	double clock_scale; /* from the weight of the clocked event to ns */
	double timed_sum;   /* of it, in the first pass */
	bool has_branches;
	uint64_t n_records;
	GPtrArray *kernel_functions; /* const char *, of the sample at hand */
} Reading;

static void input_clear(void *data)
{
	Input *self = data;

	lode_perf_data_close(self->data);
	lode_sampled_programs_free(self->programs);
	lode_sampled_threads_free(self->threads);
	lode_sampled_counts_clear(&self->counts);
	lode_window_times_clear(&self->windows);
	g_free(self->columns);
	g_free(self->periods);
}

static bool has_switches(const Input *input)
{
	size_t n;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].has_switches)
			return true;
	return false;
}

/* The event of lode's looks that has that name; the number of events: there is none. */
static size_t find_looks(const Input *input, const char *name)
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

static bool has_looks(const Input *input)
{
	size_t n;

	lode_perf_data_events(input->data, &n);
	return input->waiting < n;
}

static bool has_scripts(const Input *input)
{
	size_t n;

	lode_perf_data_events(input->data, &n);
	return input->script < n;
}

static bool is_look(const Input *input, const LodePerfRecord *record)
{
	return record->kind == LODE_PERF_SAMPLE && record->event == input->waiting;
}

static bool is_script(const Input *input, const LodePerfRecord *record)
{
	return record->kind == LODE_PERF_SAMPLE && record->event == input->script;
}

/* Called once for each record. In pipe mode, events come just before the first. */
static uint64_t time_of(Input *input, const LodePerfRecord *record)
{
	if (!input->knows_times) {
		input->has_times = lode_perf_data_has_times(input->data);
		input->has_switches = input->has_times && has_switches(input);
		input->waiting = find_looks(input, LODE_WAITING_EVENT);
		input->script = find_looks(input, LODE_SCRIPT_EVENT);
		if (input->has_switches || (input->has_times && has_looks(input)))
			input->threads = lode_sampled_threads_new(0);
		if (input->threads != NULL && has_looks(input))
			lode_sampled_threads_expect_looks(input->threads, input->has_switches);
		/* Without times, samples count as time; with switches, they say who ran. */
		lode_perf_data_skip_samples(input->data,
			input->has_times && input->threads == NULL && !has_scripts(input));
	}
	input->knows_times = true;
	return input->has_times ? record->time_ns : ++input->sequence;
}

/* perf and lode write the address of the first symbol in place of an offset. */
static void note_kernel(Input *input, const LodePerfMapping *mapping)
{
	if (g_str_has_prefix(mapping->path, "[kernel.kallsyms]"))
		input->kernel_text = mapping->offset;
}

/* A fixed period need not be in the samples; of a frequency nothing is known without it. */
static double fixed_period(const LodePerfEvent *event)
{
	if (event->has_period)
		return 0;
	return event->is_frequency ? 1 : (double)MAX(event->period_or_frequency, 1);
}

static bool is_in_asked_time(const Reading *self, uint64_t time_ns)
{
	return self->options->end_ns == 0 ||
	       (time_ns >= self->options->begin_ns && time_ns < self->options->end_ns);
}

static void note_look(Input *input, const LodePerfRecord *record, uint64_t time_ns)
{
	LodeWaitLook look;

	input->n_looks++;
	if (!lode_wait_look_read(&look, record->sample.raw, record->sample.raw_size)) {
		input->n_bad_looks++;
		return;
	}
	if ((look.flags & LODE_LOOK_OF_HOLDER) == 0 && input->threads != NULL)
		lode_sampled_threads_note_look(input->threads, record, time_ns, look.interval_ns);
}

/* The value of a sample that has no counts. */
static double period_of(const LodePerfEvent *event, const LodePerfRecord *record)
{
	double fixed = fixed_period(event);

	return fixed > 0 ? fixed : (double)record->sample.period;
}

/* What samples of a timer weigh must be known before they are read, where the waiting for a
 * processor is shared among them. */
static void note_timed(Reading *self, Input *input, const LodePerfRecord *record)
{
	size_t n;
	const LodePerfEvent *event = &lode_perf_data_events(input->data, &n)[record->event];

	if (input->threads == NULL || !has_looks(input) ||
		!is_in_asked_time(self, record->time_ns) ||
		!lode_perf_event_is_time(event->type, event->config))
		return;
	lode_sampled_threads_note_timed(input->threads, record, period_of(event, record));
	self->timed_sum += period_of(event, record);
}

static void note_command(
	Reading *self, const Input *input, const LodePerfRecord *record, uint64_t time_ns)
{
	LodeScriptLook look;

	if (self->options->waits != NULL &&
		lode_script_look_read(&look, record->sample.raw, record->sample.raw_size) &&
		look.kind == LODE_SCRIPT_COMMAND)
		lode_process_commands_note_look(lode_sampled_waits_commands(self->options->waits),
			input->number, record->pid, time_ns, &look.command);
}

/* The first pass: everything but samples. */
static void note_record(Reading *self, Input *input, const LodePerfRecord *record)
{
	uint64_t time_ns = time_of(input, record);

	if (is_look(input, record)) {
		note_look(input, record, time_ns);
		return;
	}
	if (is_script(input, record)) {
		input->n_looks++;
		note_command(self, input, record, time_ns);
		if (!self->options->is_native)
			input->n_bad_scripts += !lode_sampled_scripts_note(
				self->scripts, input->number, record, time_ns);
		return;
	}
	if (record->kind == LODE_PERF_SAMPLE)
		note_timed(self, input, record);
	if (record->kind == LODE_PERF_SAMPLE && has_scripts(input) && !self->options->is_native)
		lode_sampled_scripts_note_sample(self->scripts, input->number, record, time_ns);
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

static bool is_stopped(const Reading *self, GError **error)
{
	if (!lode_progress_is_cancelled(self->progress))
		return false;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return true;
}

static bool go_on(Reading *self, const Input *input, const char *stage, GError **error)
{
	enum { RECORDS_BETWEEN = 1 << 12 };

	if (self->n_records++ % RECORDS_BETWEEN != 0)
		return true;
	lode_progress_report(self->progress, stage, (double)lode_perf_data_position(input->data),
		(double)lode_perf_data_size(input->data), input->path);
	return !is_stopped(self, error);
}

typedef void (*RecordFunc)(Reading *self, Input *input, const LodePerfRecord *record);

static bool for_each_record(
	Reading *self, Input *input, RecordFunc func, const char *stage, GError **error)
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

static bool add_events(Reading *self, Input *input, GError **error)
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
		input->periods[i] = fixed_period(&events[i]);
		self->recording->has_faults_aside |= !is_for_data && has_address &&
		                                     events[i].type == PERF_TYPE_SOFTWARE &&
		                                     events[i].config == PERF_COUNT_SW_PAGE_FAULTS;
		/* Those of looks say where a thread waits, not what it accesses. */
		input->has_data |= i != input->waiting &&
		                   (events[i].user_registers != 0 || has_address);
	}
	return true;
}

/* The event that weighs time, or else the first one, of the first recording. */
static uint32_t column_to_clock(const Reading *self)
{
	const Input *input = &g_array_index(self->inputs, Input, 0);
	size_t n;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n);

	for (size_t i = 0; i < n; i++)
		if (lode_perf_event_is_time(events[i].type, events[i].config))
			return input->columns[i];
	return n > 0 ? input->columns[0] : LODE_NONE;
}

/* The last column, where it is known of all recordings, and differs from the event itself. */
static void add_latency(Reading *self)
{
	LodeRecording *recording = self->recording;
	uint32_t clocked = column_to_clock(self);
	bool is_parallel = false;

	self->clocked_column = self->latency_column = LODE_NONE;
	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
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
static void add_clock(Reading *self)
{
	LodeRecording *recording = self->recording;
	const Input *first = &g_array_index(self->inputs, Input, 0);
	double running_ns = 0;
	bool is_timer = true;
	size_t n;

	self->waiting_column = self->clock_column = LODE_NONE;
	self->clock_scale = 1;
	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
		if (input->threads == NULL || !has_looks(input))
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

static bool read_mappings(Reading *self, const char *path, GError **error)
{
	Input input = {.path = path,
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
	Input *kept = &g_array_index(self->inputs, Input, self->inputs->len - 1);
	if (!for_each_record(self, kept, note_record, "reading mappings", error))
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
	return !is_stopped(self, error);
}

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

/* A sample of the program's own work and one of its values, as consumers see them. */
typedef struct {
	const Input *input;
	const LodePerfRecord *record;
	const LodePerfEvent *event; /* that was sampled */
	uint64_t time_ns;
	LodePlaceOutcome outcome;
	const LodePlace *script; /* frames, as in LodeSampledAccess; with their number */
	guint n_script;
	uint32_t row;      /* that has its weight; LODE_NONE: there is none */
	uint32_t user_row; /* of user code, likewise */
	uint32_t column;   /* of the value */
	double value;
	uint32_t caller; /* of the user code in the tree of calls, for consumers after these */
} PlacedSample;

static const LodePlace *place_of(const Reading *self, uint32_t row)
{
	return row != LODE_NONE ? &g_array_index(self->rows.places, LodePlace, row) : NULL;
}

static void add_value(Reading *self, const PlacedSample *sample, uint32_t column, double value)
{
	g_array_index(self->recording->totals, double, column) += value;
	if (sample->outcome == LODE_PLACE_FOUND)
		lode_sampled_rows_add(&self->rows, sample->row, column, value);
	else
		self->totals.weights[sample->outcome][column] += value;
}

static void add_to_row(Reading *self, PlacedSample *sample)
{
	lode_sampled_totals_add(&self->totals, sample->column, sample->value);
	add_value(self, sample, sample->column, sample->value);
	if (sample->outcome != LODE_PLACE_FOUND)
		lode_sampled_totals_add_unplaced(&self->totals, sample->outcome, sample->record);
}

/* Its column is added when it is seen first; LODE_NONE: there are too many. */
static uint32_t column_of_entry(LodeRecording *recording, const char *name, uint32_t sampled)
{
	uint32_t known = lode_sampled_columns_find(recording, name);

	if (known != LODE_NONE || recording->events->len > LODE_SAMPLED_MAX_COLUMNS)
		return known;
	g_autofree char *description = g_strdup_printf(
		"%s in the kernel, at the instruction that entered it",
		(const char *)recording->events->pdata[sampled]);
	return lode_sampled_columns_append(recording, name, description);
}

/* Charges a sample in the kernel to the user instruction that entered it, too. */
static void add_kernel_entry(Reading *self, PlacedSample *sample)
{
	const LodePerfRecord *record = sample->record;
	LodeKernelEntry entry;
	uint32_t row;

	/* Events that do not weigh have no part in the time there. */
	if (record->mode != LODE_PERF_MODE_KERNEL ||
		!lode_perf_event_is_time(sample->event->type, sample->event->config) ||
		!lode_kernel_entry_find(self->places, record, sample->event, sample->time_ns,
			self->kernel_functions, &entry))
		return;
	uint32_t column = column_of_entry(self->recording, entry.event, sample->column);
	if (column == LODE_NONE)
		return;
	LodePlaceOutcome outcome = lode_row_search_find(
		&self->search, record->pid, sample->time_ns, entry.address, &row);
	g_array_index(self->recording->totals, double, column) += sample->value;
	if (outcome == LODE_PLACE_FOUND && row != LODE_ROW_OF_RECORDER)
		lode_sampled_rows_add(&self->rows, row, column, sample->value);
}

static LodeSampledAccess access_of(const Reading *self, const PlacedSample *sample)
{
	const LodePlace *user = place_of(self, sample->user_row);

	return (LodeSampledAccess){
		.record = sample->record,
		.event = sample->event,
		.event_name = self->recording->events->pdata[sample->column],
		.time_ns = sample->time_ns,
		.weight = sample->value,
		.place = user != NULL ? *user : (LodePlace){LODE_NONE, sample->record->sample.ip},
		.caller = sample->caller,
		.script = sample->script,
		.n_script = sample->n_script,
		.scripts = self->scripts,
	};
}

static void begin_stacks(Reading *self, const Input *input)
{
	(void)input;
	lode_sampled_stacks_begin(self->options->stacks);
}

static void add_stack(Reading *self, PlacedSample *sample)
{
	const LodeSampledAccess access = access_of(self, sample);

	sample->caller = lode_sampled_stacks_add(self->options->stacks, &access, sample->row,
		place_of(self, sample->row), self->kernel_functions);
}

static void begin_data(Reading *self, const Input *input)
{
	lode_memory_reading_expect(
		self->memory, lode_perf_data_n_samples(input->data) - input->n_looks);
}

static void add_data(Reading *self, PlacedSample *sample)
{
	const LodeSampledAccess access = access_of(self, sample);

	if (sample->input->has_data)
		lode_memory_reading_add(self->memory, &access);
}

static void begin_registers(Reading *self, const Input *input)
{
	(void)input;
	lode_sample_pairs_begin(self->options->pairs);
}

static void add_registers(Reading *self, PlacedSample *sample)
{
	enum {
		UNKNOWN_COST_NS = 10000
	}; /* may a sample take: in virtual machines, where it takes
	      most */
	const Input *input = sample->input;
	const LodePerfInfo *info = lode_perf_data_info(input->data);

	/* From one stop of a tracer to the next it is not known how long the thread ran. */
	if (sample->user_row == LODE_NONE || sample->column != self->timed_column ||
		input->columns[sample->record->event] != self->timed_column || info->is_by_ptrace ||
		!input->has_times)
		return;
	const LodeSampledCode sampled = {
		sample->record, sample->event, sample->time_ns, *place_of(self, sample->user_row)};
	const LodePairClock clock = {
		.threads = input->has_switches ? input->threads : NULL,
		.windows = &input->windows,
		.period_ns = lode_sampled_timer_period(sample->event),
		.cost_ns = info->sample_ns > 0 ? (double)info->sample_ns : 0,
		.cost_error_ns = info->sample_ns > 0 ? (double)info->sample_error_ns
	                                             : UNKNOWN_COST_NS,
	};
	lode_sampled_registers_add(&self->registers, &sampled, &clock);
}

static void add_by_clock(Reading *self, PlacedSample *sample)
{
	if (sample->column != self->clocked_column)
		return;
	double latency = sample->value * lode_sampled_threads_share(
						 sample->input->threads, sample->record->time_ns);
	add_value(self, sample, self->latency_column, latency);
	lode_sampled_stacks_add_weight(self->options->stacks,
		self->recording->events->pdata[self->latency_column], latency);
}

/* Adds to a column what has no sample of its own. */
static void add_besides(Reading *self, const PlacedSample *sample, uint32_t column, double value)
{
	if (column == LODE_NONE || value <= 0)
		return;
	add_value(self, sample, column, value);
	lode_sampled_stacks_add_weight(
		self->options->stacks, self->recording->events->pdata[column], value);
}

/* Where a thread ran, it also waited for a processor. */
static void add_clock_time(Reading *self, PlacedSample *sample)
{
	const Input *input = sample->input;
	const LodePerfEvent *event = sample->event;

	if (self->waiting_column == LODE_NONE || sample->column != self->timed_column ||
		!lode_perf_event_is_time(event->type, event->config) ||
		input->columns[sample->record->event] != sample->column)
		return;
	double ready_ns = 0;
	if (input->threads != NULL && has_looks(input)) {
		const LodeSampledAccess access = access_of(self, sample);
		ready_ns = sample->value *
		           lode_sampled_threads_ready(input->threads, sample->record);
		lode_sampled_waits_add_timed(self->options->waits, &access, ready_ns);
	}
	add_besides(self, sample, self->waiting_column, ready_ns);
	add_besides(self, sample, self->clock_column, sample->value * self->clock_scale + ready_ns);
}

/* A stack is newest first: what ran between two branches is from the older one's target to the
 * newer one's source. */
static void add_branches(Reading *self, PlacedSample *placed)
{
	const LodePerfSample *sample = &placed->record->sample;
	uint32_t pid = placed->record->pid;
	LodePlace newer_source, source, target;
	bool has_newer = false;

	for (size_t i = 0; i < sample->n_branches; i++) {
		const LodePerfBranch *branch = &sample->branches[i];
		bool has_source = lode_places_find(self->places, pid, placed->time_ns,
					  branch->source, &source) == LODE_PLACE_FOUND;
		bool has_target = lode_places_find(self->places, pid, placed->time_ns,
					  branch->target, &target) == LODE_PLACE_FOUND;
		if (has_source && has_target)
			lode_sampled_rows_add_branch(&self->rows, &source, &target);
		if (i > 0)
			lode_sampled_rows_add_range(&self->rows, has_target ? &target : NULL,
				has_newer ? &newer_source : NULL);
		else if (has_target)
			lode_sampled_rows_add_newest(&self->rows, &target);
		has_newer = has_source;
		newer_source = source;
	}
	self->has_branches |= sample->n_branches > 0;
}

static void add_to_timer(Reading *self, PlacedSample *sample)
{
	const LodePerfRecord *record = sample->record;
	double period = lode_sampled_timer_period(sample->event);

	/* A tracer's samples in page faults count as the program's: they do not divide its time. */
	if (!(period > 0) || lode_perf_data_info(sample->input->data)->is_by_ptrace ||
		sample->input->columns[record->event] !=
			lode_recording_weight_column(self->recording))
		return;
	self->n_timed++;
	/* A sample may stand for more than its event's period. */
	*(record->mode == LODE_PERF_MODE_KERNEL ? &self->timer.kernel_ns : &self->timer.user_ns) +=
		MAX(period, (double)record->sample.period);
}

/* What samples are for, in this order. */
static const struct {
	void (*begin)(Reading *self, const Input *input);        /* a recording; may be NULL */
	void (*add_value)(Reading *self, PlacedSample *sample);  /* each of a sample's; or NULL */
	void (*add_sample)(Reading *self, PlacedSample *sample); /* then it, once; or NULL */
} consumers[] = {
	{NULL, add_to_row, NULL},
	{NULL, add_kernel_entry, NULL},
	{begin_stacks, add_stack, NULL},
	{begin_data, add_data, NULL},
	{begin_registers, add_registers, NULL},
	{NULL, add_by_clock, NULL},
	{NULL, add_clock_time, NULL},
	{NULL, NULL, add_branches},
	{NULL, NULL, add_to_timer},
};

static void consume_value(Reading *self, PlacedSample *sample)
{
	for (size_t i = 0; i < G_N_ELEMENTS(consumers); i++)
		if (consumers[i].add_value != NULL)
			consumers[i].add_value(self, sample);
}

static void consume_sample(Reading *self, PlacedSample *sample)
{
	for (size_t i = 0; i < G_N_ELEMENTS(consumers); i++)
		if (consumers[i].add_sample != NULL)
			consumers[i].add_sample(self, sample);
}

static bool is_asked_for(
	Reading *self, const Input *input, const LodePerfRecord *record, uint64_t time_ns)
{
	if (!is_in_asked_time(self, record->time_ns))
		return false;
	if (input->programs == NULL ||
		lode_sampled_programs_are_wanted(input->programs, record->pid, time_ns))
		return true;
	self->n_left_out++;
	return false;
}

/* Whether the thread was stepped then: without windows there would be no such sample. */
static bool is_stepped(const Input *input, const LodePerfRecord *record)
{
	return lode_perf_data_info(input->data)->window_logs->len > 0 &&
	       lode_window_times_has(&input->windows, record->tid, record->time_ns);
}

/* Finds the row of a sample; false: it is of the recorder's own work. */
static bool place(Reading *self, PlacedSample *sample)
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
static void find_script(Reading *self, PlacedSample *sample)
{
	const LodePlace *code = place_of(self, sample->user_row);

	sample->script = lode_sampled_scripts_find(self->scripts, sample->input->number,
		sample->record, sample->time_ns, code, &sample->n_script);
	if (sample->script != NULL && code != NULL && sample->row == sample->user_row &&
		lode_sampled_scripts_is_loop(self->scripts, code))
		sample->row = lode_sampled_rows_find(&self->rows, sample->script);
}

/* The next of a sample's values: its counts, or its period. */
static void take_value(PlacedSample *sample, const GArray *counts, guint i)
{
	const Input *input = sample->input;
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
	const Reading *self, PlacedSample *sample, const LodeThreadLook *known)
{
	enum { BETWEEN_NS = 1000000 };
	const GArray *gaps = lode_sampled_threads_waits(sample->input->threads)->gaps;
	uint64_t end_ns = known != NULL && known->gap < gaps->len
	                          ? LODE_AT(gaps, LodeThreadGap, known->gap).end_ns
	                          : sample->time_ns + BETWEEN_NS;

	sample->script = lode_sampled_scripts_find_waiting(self->scripts, sample->input->number,
		sample->record, sample->time_ns, end_ns, &sample->n_script);
}

/* A look stands for waiting at its place, and is no sample of what the program did. */
static void add_look(Reading *self, Input *input, const LodePerfRecord *record, uint64_t time_ns)
{
	LodeSampledWaits *waits = self->options->waits;
	LodeWaitLook look;
	size_t n;

	if (input->threads == NULL || !is_in_asked_time(self, record->time_ns) ||
		(input->programs != NULL &&
			!lode_sampled_programs_are_wanted(input->programs, record->pid, time_ns)) ||
		!lode_wait_look_read(&look, record->sample.raw, record->sample.raw_size))
		return;
	bool is_of_holder = (look.flags & LODE_LOOK_OF_HOLDER) != 0;
	const LodeThreadLook *known = is_of_holder ? NULL
	                                           : lode_sampled_threads_take_look(
							     input->threads, record, time_ns);
	PlacedSample sample = {
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
	LodeSampledAccess access = access_of(self, &sample);
	uint32_t where = lode_sampled_waits_add(waits, &access, &look, known, sample.row);
	if (sample.value <= 0)
		return;
	add_value(self, &sample, self->waiting_column, sample.value);
	lode_sampled_stacks_add_at(self->options->stacks, &access, where);
	add_besides(self, &sample, self->clock_column, sample.value);
}

/* The way of a record of the second pass: a sample that is asked for goes to all consumers. */
static void add_sample(Reading *self, Input *input, const LodePerfRecord *record)
{
	uint64_t time_ns = time_of(input, record);

	if (record->kind != LODE_PERF_SAMPLE)
		return;
	if (is_look(input, record)) {
		add_look(self, input, record, time_ns);
		return;
	}
	if (is_script(input, record))
		return;
	input->n_samples++;
	size_t n_events;
	PlacedSample sample = {
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
	if (self->recording->pid == 0)
		self->recording->pid = record->pid;
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
			consume_value(self, &sample);
	}
	if (left_out == NULL)
		consume_sample(self, &sample);
}

typedef struct {
	const Reading *reading;
	const Input *input;
} OfWindows;

static bool is_window_asked_for(const void *data, uint32_t pid, uint64_t time_ns)
{
	const OfWindows *self = data;

	return is_in_asked_time(self->reading, time_ns) &&
	       (self->input->programs == NULL ||
		       lode_sampled_programs_are_wanted(self->input->programs, pid, time_ns));
}

/* Before the samples, of which those in windows are left out; after the mappings of all
 * recordings, as images are opened. */
static bool read_windows(Reading *self, GError **error)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		Input *input = &g_array_index(self->inputs, Input, i);
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
	return true;
}

static void freeze_threads(const Reading *self)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		Input *input = &g_array_index(self->inputs, Input, i);
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

/* Waiting that nobody looked at has no place. */
static void end_samples(Reading *self, const Input *input)
{
	if (input->threads == NULL || !has_looks(input))
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
	return info->n_processors > 0 ? (uint32_t)MIN(info->n_processors, info->n_cpus_online)
	                              : info->n_cpus_online;
}

static void begin_samples(Reading *self, Input *input, guint number)
{
	lode_memory_reading_select(self->memory, number);
	for (size_t k = 0; k < G_N_ELEMENTS(consumers); k++)
		if (consumers[k].begin != NULL)
			consumers[k].begin(self, input);
	lode_perf_data_rewind(input->data);
	lode_perf_data_skip_samples(input->data, false);
	input->sequence = 0;
	if (input->threads != NULL && has_looks(input))
		lode_sampled_waits_begin(self->options->waits, input->threads,
			usable_processors(lode_perf_data_info(input->data)));
	lode_row_search_begin(&self->search);
	lode_sampled_kernel_begin(
		&self->kernel, lode_perf_data_info(input->data), input->kernel_text);
}

static bool read_samples(Reading *self, GError **error)
{
	LodeRecording *recording = self->recording;

	lode_sampled_rows_init(&self->rows, recording, lode_places_images(self->places));
	lode_sampled_totals_init(&self->totals, recording->events->len);
	for (guint i = 0; i < self->inputs->len; i++) {
		Input *input = &g_array_index(self->inputs, Input, i);
		begin_samples(self, input, i);
		if (!for_each_record(self, input, add_sample, "reading samples", error))
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
static void account_skipped(Reading *self, const Input *input, const LodePerfInfo *info)
{
	for (guint i = 0; i < info->skipped->len; i++) {
		const LodePerfSkipped *skipped = &g_array_index(info->skipped, LodePerfSkipped, i);
		const char *name = lode_perf_data_record_name(skipped->type);
		g_autofree char *reason =
			name != NULL ? g_strdup_printf("records %s, which lode does not read", name)
			: skipped->type == LODE_PERF_FURTHER_TYPES
				? g_strdup("records of further unknown types")
				: g_strdup_printf("records of the unknown type %u", skipped->type);
		lode_recording_add_unresolved(
			self->recording, reason, input->path, (double)skipped->n, 0);
	}
	if (info->n_missing_chains > 0)
		lode_recording_add_unresolved(self->recording,
			"samples whose callers were to come later, but are not in the recording",
			input->path, (double)info->n_missing_chains, 0);
	if (info->n_unused_chains > 0)
		lode_recording_add_unresolved(self->recording,
			"callers that came later, but whose sample is not in the recording",
			input->path, (double)info->n_unused_chains, 0);
}

static void account_looks(Reading *self, const Input *input)
{
	if (input->n_bad_scripts > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at scripts, which are damaged or of a newer lode", input->path,
			(double)input->n_bad_scripts, 0);
	if (input->n_bad_looks > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at threads that wait, which are damaged or of a newer lode",
			input->path, (double)input->n_bad_looks, 0);
	if (input->threads == NULL || !has_looks(input))
		return;
	uint64_t n_stray = lode_sampled_threads_waits(input->threads)->n_stray;
	if (n_stray > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at threads that did not wait then, by their context switches",
			input->path, (double)n_stray, 0);
}

/* Accounts for skipped and missing parts of the files. */
static void account_files(Reading *self)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
		const LodePerfInfo *info = lode_perf_data_info(input->data);
		account_skipped(self, input, info);
		account_looks(self, input);
		if (info->n_unknown_ids > 0)
			lode_recording_add_unresolved(self->recording,
				"sample of an event that the recording does not describe",
				input->path, (double)info->n_unknown_ids, 0);
		if (info->aux_trace != NULL) {
			g_autofree char *reason = g_strconcat(
				strchr(info->aux_trace, ' ') + 1, " that is not decoded", NULL);
			lode_recording_add_unresolved(self->recording, reason, input->path, 1, 0);
		}
		if (input->counts.n_left_out > 0)
			lode_recording_add_unresolved(self->recording,
				"count of an event that the recording does not describe",
				input->path, (double)input->counts.n_left_out, 0);
		if (input->counts.n_untracked > 0)
			lode_recording_add_unresolved(self->recording,
				"count of more counters than are kept", input->path,
				(double)input->counts.n_untracked, 0);
		if (info->is_truncated)
			lode_recording_add_unresolved(
				self->recording, LODE_CUT_SHORT, input->path, 1, 0);
		else if (info->n_damaged_features > 0)
			lode_recording_add_unresolved(self->recording, LODE_CUT_DESCRIPTION,
				input->path, (double)info->n_damaged_features, 0);
	}
}

static void account(Reading *self)
{
	static const char *const losses[] = {"records lost by the kernel while sampling",
		"samples lost by the kernel", "times that the kernel throttled the sampling"};
	const double counts[] = {self->n_lost, self->n_lost_samples, self->n_throttled};

	lode_sampled_totals_account(&self->totals, self->recording);
	for (size_t i = 0; i < G_N_ELEMENTS(losses); i++)
		if (counts[i] > 0)
			lode_recording_add_unresolved(
				self->recording, losses[i], NULL, counts[i], 0);
	if (lode_sampled_scripts_n_torn(self->scripts) > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at scripts whose frames changed meanwhile", NULL,
			(double)lode_sampled_scripts_n_torn(self->scripts), 0);
	if (self->memory->n_left_out > 0)
		lode_recording_add_unresolved(self->recording,
			"samples whose data is not looked at, for which others stand", NULL,
			(double)self->memory->n_left_out, 0);
	if (self->totals.own.n > 0)
		lode_recording_add_unresolved(self->recording,
			"samples of lode's own libraries in the program: left out of all shares",
			NULL, self->totals.own.n, 0);
}

static void describe_program(LodeRecording *recording, const Input *input)
{
	const LodePerfInfo *info = lode_perf_data_info(input->data);
	uint32_t weight = lode_recording_weight_column(recording);
	const char *program = info->program != NULL ? info->program : info->command;
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n_events);

	if (program != NULL)
		lode_recording_add_command(recording, program, strlen(program));
	recording->user_seconds += (double)info->user_ns / 1e9;
	recording->system_seconds += (double)info->system_ns / 1e9;
	for (size_t i = 0; i < n_events; i++)
		recording->is_kernel_sampled |= events[i].has_kernel && input->columns[i] == weight;
}

/* Samples of page faults stand for those up to them; the kernel has counted all. */
static void complete_page_faults(Reading *self)
{
	uint32_t column = lode_sampled_columns_find(self->recording, "page-faults");
	double counted = 0;

	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
		if (input->programs == NULL && self->options->end_ns == 0)
			counted += (double)lode_perf_data_info(input->data)->n_page_faults;
	}
	if (column == LODE_NONE)
		return;
	double *total = &g_array_index(self->recording->totals, double, column);
	*total = MAX(*total, counted);
}

/* From one of the timer's samples to the next; 0: there are none. */
static double mean_period(const Reading *self)
{
	return self->n_timed > 0 ? (self->timer.user_ns + self->timer.kernel_ns) / self->n_timed
	                         : 0;
}

static void describe_machine(const Reading *self, const LodePerfInfo *info)
{
	LodeRecording *recording = self->recording;
	double period_ns = mean_period(self);

	recording->wall_seconds = (double)info->wall_ns / 1e9;
	recording->speed = info->speed;
	recording->cycles_per_ns = (double)info->clock_khz / 1e6;
	recording->rates = info->rates;
	if (period_ns <= 0 || (double)info->sample_ns > period_ns / 2)
		return;
	recording->sampling_share = (double)info->sample_ns / period_ns;
	recording->sampling_error = (double)info->sample_error_ns / period_ns;
}

static void describe(Reading *self)
{
	LodeRecording *recording = self->recording;
	const LodePerfInfo *info = lode_perf_data_info(g_array_index(self->inputs, Input, 0).data);
	const char *version = info->version != NULL ? info->version : "";
	bool is_number = version[0] == '\0' || g_ascii_isdigit(version[0]);
	g_autofree char *creator = g_strchomp(
		g_strconcat("perf.data of ", is_number ? "perf " : "", version, NULL));

	recording->creator = g_string_chunk_insert(recording->strings, creator);
	if (self->inputs->len == 1)
		describe_machine(self, info);
	if (info->host != NULL)
		recording->host = g_string_chunk_insert(recording->strings, info->host);
	if (info->cpu_id != NULL)
		recording->processor = g_string_chunk_insert(recording->strings, info->cpu_id);
	for (guint i = 0; i < self->inputs->len; i++)
		describe_program(recording, &g_array_index(self->inputs, Input, i));
	uint32_t weight = lode_recording_weight_column(recording);
	if (g_str_has_suffix(recording->events->pdata[weight], "-clock"))
		recording->user_seconds = MAX(
			recording->user_seconds - self->totals.own.weights[weight] / 1e9, 0);
	recording->frequency = self->has_branches ? LODE_FREQUENCY_SAMPLED
	                                          : LODE_FREQUENCY_INFERRED;
}

/* Whether the timer ran all the time: in slices of it, what is in none of them is not the kernel's.
 */
static bool is_sampled_throughout(const Reading *self)
{
	for (guint i = 0; i < self->inputs->len; i++)
		if (lode_perf_data_info(g_array_index(self->inputs, Input, i).data)->sampling !=
			NULL)
			return false;
	return true;
}

/* Once the time of windows is taken off. */
static void divide_time(Reading *self)
{
	LodeRecording *recording = self->recording;
	const LodeWindowReading *windows = self->options->windows;
	LodeProcessorTime time = {recording->user_seconds, recording->system_seconds, 0};

	if (self->n_lost == 0 && self->n_lost_samples == 0 && self->n_throttled == 0 &&
		self->n_left_out == 0 && self->options->end_ns == 0 && is_sampled_throughout(self))
		self->timer.period_ns = mean_period(self);
	self->timer.has_kernel = recording->is_kernel_sampled;
	self->timer.n_threads = recording->thread_times->len;
	self->timer.steal = recording->speed.runs > 0 ? recording->speed.steal : 0;
	self->timer.windows_seconds = (double)(windows->user_ns + windows->system_ns) / 1e9;
	lode_processor_time_divide(&time, &self->timer);
	recording->user_seconds = time.user_seconds;
	recording->system_seconds = time.system_seconds;
	recording->system_error = time.system_error;
}

/* A trace that the processor made is no recording that lode reads, and without it there must be
 * samples. */
static bool is_more_than_trace(const Input *input, GError **error)
{
	const LodePerfInfo *info = lode_perf_data_info(input->data);

	if (input->n_samples > 0 || info->aux_trace == NULL)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"%s: it holds no samples, but %s (%" G_GUINT64_FORMAT
		" bytes), which lode does not decode; 'perf inject --itrace=i1000i -i %s -o FILE' "
		"makes samples of it",
		input->path, info->aux_trace, info->aux_bytes, input->path);
	return false;
}

static bool has_wanted(const Reading *self, GError **error)
{
	const LodeSampledRecordingOptions *options = self->options;

	for (guint i = 0; i < self->inputs->len; i++)
		if (!is_more_than_trace(&g_array_index(self->inputs, Input, i), error))
			return false;
	if (self->n_left_out == 0 || self->recording->n_samples > 0)
		return true;
	g_autofree char *names = options->only != NULL ? g_strjoinv("', '", (char **)options->only)
	                                               : g_strdup("");
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		options->only != NULL ? "%s: no sample is of a program with a name like '%s'"
				      : "%s: no sample is of the program itself%s",
		options->paths[0], names);
	return false;
}

/* Lists the threads' times, without the time of their windows. */
static void list_threads(Reading *self)
{
	GArray *times = self->recording->thread_times;
	double n_incomplete = 0;

	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
		if (!input->has_switches)
			continue;
		n_incomplete += (double)lode_sampled_threads_n_incomplete(input->threads);
		guint first = times->len;
		lode_sampled_threads_list(input->threads, &self->memory->threads, times);
		for (guint k = first; k < times->len; k++) {
			LodeThreadTime *time = &LODE_AT(times, LodeThreadTime, k);
			time->running_ns -= MIN(
				time->running_ns, lode_window_times_running(&input->windows,
							  time->tid, time->begin_ns, time->end_ns));
		}
	}
	if (n_incomplete > 0)
		lode_recording_add_unresolved(self->recording,
			"context switches without the one before or after them", NULL, n_incomplete,
			0);
	if (self->n_in_gaps > 0)
		lode_recording_add_unresolved(
			self->recording, LODE_UNRESOLVED_SWITCHES, NULL, self->n_in_gaps, 0);
}

static bool read_all(Reading *self, const char *const *paths, size_t n_paths, GError **error)
{
	for (size_t i = 0; i < n_paths; i++)
		if (!read_mappings(self, paths[i], error))
			return false;
	if (self->recording->events->len == 1) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: no event was recorded",
			paths[0]);
		return false;
	}
	lode_sampled_scripts_freeze(self->scripts);
	if (!read_windows(self, error))
		return false;
	freeze_threads(self);
	self->timed_column = column_to_clock(self);
	add_latency(self);
	add_clock(self);
	if (!read_samples(self, error) || !has_wanted(self, error))
		return false;
	list_threads(self);
	account(self);
	account_files(self);
	complete_page_faults(self);
	describe(self);
	lode_sampled_registers_finish(&self->registers, self->recording);
	lode_window_reading_finish(self->options->windows, self->recording);
	divide_time(self);
	return true;
}

LodeRecording *lode_sampled_recording_read(
	const LodeSampledRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	static const char count_column[] = "Ir";
	Reading reading = {.options = options,
		.recording = lode_recording_new(),
		.places = options->memory->options.places,
		.memory = options->memory,
		.progress = progress};
	LodeRecording *recording = reading.recording;
	double zero = 0;

	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, count_column));
	g_array_append_val(recording->totals, zero);
	reading.kernel_functions = g_ptr_array_new();
	reading.inputs = g_array_new(FALSE, FALSE, sizeof(Input));
	g_array_set_clear_func(reading.inputs, input_clear);
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
