/* SPDX-License-Identifier: MIT */
/*
 * perf.data is read twice, because perf writes the buffers of CPUs one after another: a mapping may
 * come after the samples that lie in it, with an earlier time.
 *
 *   first pass    mappings, forks, execs ─▶ places over time; events ─▶ columns
 *   second pass   sample ─▶ place at its time ─▶ row; branch stacks likewise
 *
 * A sample without a row is counted by its outcome, with its weight: totals include all samples.
 */
#include "ingest/sampled/sampled_recording.h"

#include "base/error.h"
#include "base/files/own_library.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/kernel_entries.h"
#include "ingest/sampled/processor_time.h"
#include "ingest/sampled/sample_pairs.h"
#include "ingest/sampled/sampled_counts.h"
#include "ingest/sampled/sampled_kernel.h"
#include "ingest/sampled/sampled_outcomes.h"
#include "ingest/sampled/sampled_programs.h"
#include "ingest/sampled/sampled_rows.h"
#include "ingest/sampled/sampled_threads.h"
#include "ingest/windows/window_reading.h"
#include "model/process.h"
#include "model/profile.h"

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
	LodeSampledThreads *threads;   /* NULL: no context switches were recorded */
	bool has_gaps;                 /* in which these were not recorded */
	LodeWindowTimes windows;
} Input;

/* Where samples of a process at an address were found to belong, and in which time that holds. */
typedef struct {
	uint64_t ip;
	LodeMappedPeriod period;
	uint32_t pid, row;
} KnownRow;

enum {
	KNOWN_ROWS = 1 << 14,
	UNKNOWN_COST_NS =
		10000, /* that a sample may take: in virtual machines, where it takes most */
	ROW_OF_RECORDER = LODE_NONE - 1, /* of a library that lode put into the program */
	MAX_FRAMES = 4,                  /* callers in whose loops time is looked for */
};

static const uint64_t NO_FUNCTION = UINT64_MAX;

typedef struct {
	const LodeSampledRecordingOptions *options;
	LodeRecording *recording;
	LodePlaces *places;
	LodeMemoryReading *memory;
	const LodeProgress *progress;
	LodeSampledKernel kernel;
	LodeSampledRows rows;
	LodeSampledOutcomes *outcomes;
	GArray *inputs;  /* Input */
	KnownRow *known; /* KNOWN_ROWS of them, by a hash of the address */
	double counts[LODE_PLACE_N_OUTCOMES];
	double *weights[LODE_PLACE_N_OUTCOMES]; /* of each column */
	char *examples[LODE_PLACE_N_OUTCOMES];
	double n_lost, n_lost_samples, n_throttled;
	double *n_samples;      /* of each column */
	double *sums, *squares; /* likewise: of the weights of these */
	double *dropped;        /* likewise: the weight of samples that windows caused */
	uint64_t n_left_out;    /* samples of programs that were not chosen */
	double n_recorder;      /* samples of lode's own libraries */
	double *recorder;       /* of each column: their weight */
	LodeTimerSamples timer; /* those of the weight, outside of windows… */
	double n_timed;         /* …and their number */
	double n_in_gaps;       /* samples for which others stand by the clock */
	/* The event that is weighed by the clock, and its column then; LODE_NONE: that is not known
	 */
	uint32_t clocked_column, latency_column;
	uint32_t timed_column; /* of the event that weighs time, or else the first one */
	bool has_branches;
	uint64_t n_records;
	GPtrArray *kernel_functions; /* const char *, of the sample at hand */
	GArray *frames;              /* LodeCallerFrame, likewise */
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

/* Without the modifiers that say where it counts: "cycles:u" and "cycles:pp" are one event. */
static char *event_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	bool is_modifier = colon != NULL && colon > name && colon[1] != '\0' &&
	                   strspn(colon + 1, "ukhGHpPSDIeW") == strlen(colon + 1);

	return is_modifier ? g_strndup(name, (size_t)(colon - name)) : g_strdup(name);
}

static char *event_description(
	const LodePerfEvent *event, const LodePerfEvent *leader, const char *name)
{
	const char *unit = g_str_has_suffix(name, "-clock") ? " ns" : "";

	if (leader != event)
		return g_strdup_printf("counted from sample to sample of %s", leader->name);
	if (event->is_frequency)
		return g_strdup_printf("sampled %" G_GUINT64_FORMAT " times a second%s",
			event->period_or_frequency, unit[0] != '\0' ? "; in nanoseconds" : "");
	return g_strdup_printf(
		"sampled every %" G_GUINT64_FORMAT "%s", event->period_or_frequency, unit);
}

/* A column of the name; LODE_NONE: there is none. */
static uint32_t find_column(const LodeRecording *recording, const char *name)
{
	/* The first column is that of executions, whatever an event is called. */
	for (guint i = 1; i < recording->events->len; i++)
		if (strcmp(recording->events->pdata[i], name) == 0)
			return i;
	return LODE_NONE;
}

/* Exact and late addresses are not added up: the second kind of an event keeps its modifiers in its
 * name. An event that is counted at the samples of another event, `leader`, has their addresses. */
static uint32_t add_column(
	LodeRecording *recording, const LodePerfEvent *event, const LodePerfEvent *leader)
{
	bool is_late = lode_perf_event_is_late(leader);
	g_autofree char *name = event_name(event->name);
	uint32_t known = find_column(recording, name);

	if (known != LODE_NONE && lode_recording_is_late(recording, known) != is_late) {
		char *other = g_strconcat(name, is_late ? "-late" : "-precise", NULL);
		g_free(name);
		name = other;
		known = find_column(recording, name);
	}
	if (known != LODE_NONE)
		return known;
	g_autofree char *description = event_description(event, leader, name);
	double zero = 0;
	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, name));
	g_ptr_array_set_size(recording->descriptions, (gint)recording->events->len);
	recording->descriptions->pdata[recording->events->len - 1] = g_string_chunk_insert(
		recording->strings, description);
	g_array_append_val(recording->totals, zero);
	recording->n_sampled++;
	uint32_t column = recording->events->len - 1;
	if (is_late)
		g_array_append_val(recording->late_columns, column);
	return column;
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

/* Called once for each record. In pipe mode, events come just before the first. */
static uint64_t time_of(Input *input, const LodePerfRecord *record)
{
	if (!input->knows_times) {
		input->has_times = lode_perf_data_has_times(input->data);
		if (input->has_times && has_switches(input))
			input->threads = lode_sampled_threads_new(0);
		/* Without times, samples count as time; with switches, they say who ran. */
		lode_perf_data_skip_samples(
			input->data, input->has_times && input->threads == NULL);
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

/* The first pass: everything but samples. */
static void note_record(Reading *self, Input *input, const LodePerfRecord *record)
{
	uint64_t time_ns = time_of(input, record);

	if (input->threads != NULL)
		lode_sampled_threads_note(input->threads, record, time_ns);
	lode_places_note(self->places, record, time_ns);
	lode_memory_reading_note(self->memory, record, time_ns);
	if (input->programs != NULL)
		lode_sampled_programs_note(input->programs, record, time_ns);
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

/* The period of a timer; 0: a different event, or not known. */
static double timer_period(const LodePerfEvent *event)
{
	bool is_timer = event->type == PERF_TYPE_SOFTWARE &&
	                (event->config == PERF_COUNT_SW_CPU_CLOCK ||
				event->config == PERF_COUNT_SW_TASK_CLOCK);
	double value = (double)MAX(event->period_or_frequency, 1);

	if (!is_timer)
		return 0;
	return event->is_frequency ? 1e9 / value : value;
}

/* A fixed period need not be in the samples; of a frequency nothing is known without it. */
static double fixed_period(const LodePerfEvent *event)
{
	if (event->has_period)
		return 0;
	return event->is_frequency ? 1 : (double)MAX(event->period_or_frequency, 1);
}

/* Each is a column of the profile's store. */
enum { MAX_EVENTS = 1000 };

/* A timer that lode samples by more often at first is two events, one after the other. */
static void describe_first(LodeRecording *recording, uint32_t column, const LodePerfEvent *later,
	const LodePerfEvent *first)
{
	g_autofree char *text = g_strdup_printf("sampled %" G_GUINT64_FORMAT
						" times a second, %" G_GUINT64_FORMAT
						" at first; in nanoseconds",
		later->period_or_frequency, first->period_or_frequency);

	recording->descriptions->pdata[column] = g_string_chunk_insert(recording->strings, text);
}

/* Where perf events were refused, sampled in slices, or took much, the column says so, as it is a
 * matter of all that is seen of it. */
static void describe_sampling(LodeRecording *recording, uint32_t column, const LodePerfInfo *info)
{
	g_autofree char *text = g_strconcat(info->sampling, LODE_SAMPLING_END, NULL);

	recording->descriptions->pdata[column] = g_string_chunk_insert(recording->strings, text);
}

static bool add_events(Reading *self, Input *input, GError **error)
{
	const LodePerfEvent *events = lode_perf_data_events(input->data, &input->n_events);
	const LodePerfInfo *info = lode_perf_data_info(input->data);

	input->columns = g_new(uint32_t, MAX(input->n_events, 1));
	input->periods = g_new(double, MAX(input->n_events, 1));
	bool is_for_data = input->n_events > 0 && (events[0].sample_type & PERF_SAMPLE_ADDR) != 0;
	self->memory->names_operands |= is_for_data;
	for (size_t i = 0; i < input->n_events; i++) {
		input->columns[i] = add_column(self->recording, &events[i],
			&events[lode_sampled_counts_leader(events, i)]);
		input->periods[i] = fixed_period(&events[i]);
		if (i == 1 && input->columns[0] == input->columns[1] && events[0].is_frequency &&
			events[1].is_frequency && timer_period(&events[1]) > 0 &&
			timer_period(&events[1]) < timer_period(&events[0]))
			describe_first(self->recording, input->columns[0], &events[0], &events[1]);
		if (info->sampling != NULL && timer_period(&events[i]) > 0)
			describe_sampling(self->recording, input->columns[i], info);
		self->recording->has_faults_aside |= !is_for_data &&
		                                     (events[i].sample_type & PERF_SAMPLE_ADDR) !=
		                                             0 &&
		                                     events[i].type == PERF_TYPE_SOFTWARE &&
		                                     events[i].config == PERF_COUNT_SW_PAGE_FAULTS;
		input->has_data |= events[i].user_registers != 0 ||
		                   (events[i].sample_type & PERF_SAMPLE_ADDR) != 0;
		if (self->recording->n_sampled <= MAX_EVENTS)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "%s: more than %d events",
			input->path, MAX_EVENTS);
		return false;
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
	double zero = 0;

	self->clocked_column = self->latency_column = LODE_NONE;
	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
		if (input->threads == NULL)
			return;
		is_parallel |= lode_sampled_threads_are_parallel(input->threads);
	}
	if (!is_parallel || clocked == LODE_NONE ||
		find_column(recording, LODE_LATENCY_EVENT) != LODE_NONE)
		return;
	g_autofree char *description = g_strdup_printf(
		"%s ÷ the threads that ran at the time: cost by the clock",
		(const char *)recording->events->pdata[clocked]);
	self->clocked_column = clocked;
	self->latency_column = recording->events->len;
	g_ptr_array_add(
		recording->events, g_string_chunk_insert(recording->strings, LODE_LATENCY_EVENT));
	g_ptr_array_add(
		recording->descriptions, g_string_chunk_insert(recording->strings, description));
	g_array_append_val(recording->totals, zero);
	recording->n_sampled++;
	if (lode_recording_is_late(recording, clocked))
		g_array_append_val(recording->late_columns, self->latency_column);
}

static bool read_mappings(Reading *self, const char *path, GError **error)
{
	Input input = {.path = path, .data = lode_perf_data_open(path, error)};

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
	if (kept->threads != NULL) {
		lode_sampled_threads_freeze(kept->threads, kept->programs);
		kept->has_gaps = lode_sampled_threads_recorded(kept->threads) < 1;
	}
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

static uint64_t sample_time(const Input *input, const LodePerfRecord *record)
{
	return input->has_times ? record->time_ns : input->sequence;
}

static LodePlaceOutcome place_address(Reading *self, Input *input, const LodePerfRecord *record,
	uint64_t address, LodePlace *out_place)
{
	return lode_places_find(
		self->places, record->pid, sample_time(input, record), address, out_place);
}

static const char *path_of(const Reading *self, const LodePlace *place)
{
	return lode_code_images_peek(lode_places_images(self->places), place->image)->path;
}

/* Most samples repeat an address, so that the search is skipped as long as its mapping lasts. Code
 * made at run time comes and goes without the mapping changing: it is searched each time. */
static LodePlaceOutcome find_row(
	Reading *self, Input *input, const LodePerfRecord *record, uint64_t ip, uint32_t *out_row)
{
	uint64_t time_ns = sample_time(input, record);
	KnownRow *known = &self->known[(ip ^ ip >> 14 ^ record->pid) % KNOWN_ROWS];
	LodePlace place;

	if (known->ip == ip && known->pid == record->pid && time_ns >= known->period.begin_ns &&
		time_ns < known->period.end_ns) {
		*out_row = known->row;
		return LODE_PLACE_FOUND;
	}
	LodePlaceOutcome outcome = place_address(self, input, record, ip, &place);
	if (outcome != LODE_PLACE_FOUND)
		return outcome;
	*out_row = lode_is_own_library(path_of(self, &place))
	                   ? ROW_OF_RECORDER
	                   : lode_sampled_rows_find(&self->rows, &place);
	*known = (KnownRow){ip, lode_places_period(self->places), record->pid, *out_row};
	return LODE_PLACE_FOUND;
}

/* A stack is newest first: what ran between two branches is from the older one's target to the
 * newer one's source. */
static void add_branches(Reading *self, Input *input, const LodePerfRecord *record)
{
	const LodePerfSample *sample = &record->sample;
	LodePlace newer_source, source, target;
	bool has_newer = false;

	for (size_t i = 0; i < sample->n_branches; i++) {
		const LodePerfBranch *branch = &sample->branches[i];
		bool has_source = place_address(self, input, record, branch->source, &source) ==
		                  LODE_PLACE_FOUND;
		bool has_target = place_address(self, input, record, branch->target, &target) ==
		                  LODE_PLACE_FOUND;
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

/* The value of a sample for one event. */
typedef struct {
	uint32_t column;
	double value;
} Weight;

/* Equal for places of one function; NO_FUNCTION: there is none. */
static uint64_t function_number(Reading *self, const LodePlace *place)
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
static void add_callers(Reading *self, Input *input, const LodePairSample *sample,
	const LodePerfEvent *event, const LodePairClock *clock)
{
	const LodeSampledCode from = {
		sample->record, event, sample_time(input, sample->record), sample->place};

	g_array_set_size(self->frames, 0);
	lode_call_chain_find_frames(
		self->places, &from, sample->registers, MAX_FRAMES, self->frames);
	for (guint i = 0; i < self->frames->len; i++) {
		const LodeCallerFrame *frame = &LODE_AT(self->frames, LodeCallerFrame, i);
		LodePairSample caller = {
			.record = sample->record,
			.registers = &frame->registers,
			.place = frame->code,
			.is_of_caller = true,
			.called = i == 0 ? sample->place : (LodePlace){.image = LODE_NONE},
		};
		caller.function = function_number(self, &frame->code);
		if (caller.function != NO_FUNCTION)
			lode_sample_pairs_add(self->options->pairs, &caller, clock);
	}
}

/* Adds a sample with all registers, by which iterations between samples are known, and the outcomes
 * of the next branches. */
static void add_to_pairs(Reading *self, Input *input, const LodePerfRecord *record,
	const LodePerfEvent *event, uint32_t row)
{
	const uint32_t all = (1u << LODE_N_GENERAL_REGISTERS) - 1;
	const LodePlace *place = &g_array_index(self->rows.places, LodePlace, row);
	LodeUserRegisters registers = {0};

	/* From one stop of a tracer to the next it is not known how long the thread ran. */
	if (lode_perf_data_info(input->data)->is_by_ptrace)
		return;
	if (record->sample.user_registers == NULL || !input->has_times ||
		!lode_user_registers_from_perf(&registers, event->user_registers,
			record->sample.user_abi, record->sample.user_registers) ||
		(registers.known & all) != all)
		return;
	if (record->mode == LODE_PERF_MODE_USER) {
		const LodeDataAccessQuestion question = {
			.pc = place->address,
			.bias = record->sample.ip - place->address,
			.registers = &registers,
			.stack = record->sample.stack,
			.stack_size = record->sample.stack_size,
		};
		lode_sampled_outcomes_add(self->outcomes, place, &question);
	}
	uint64_t function = function_number(self, place);
	if (function == NO_FUNCTION)
		return;
	const LodePairSample sample = {
		.record = record,
		.registers = &registers,
		.place = *place,
		.function = function,
	};
	const LodePerfInfo *info = lode_perf_data_info(input->data);
	const LodePairClock clock = {
		.threads = input->threads,
		.windows = &input->windows,
		.period_ns = timer_period(event),
		.cost_ns = info->sample_ns > 0 ? (double)info->sample_ns : 0,
		.cost_error_ns = info->sample_ns > 0 ? (double)info->sample_error_ns
	                                             : UNKNOWN_COST_NS,
	};
	lode_sample_pairs_add(self->options->pairs, &sample, &clock);
	if (record->sample.stack_size > 0)
		add_callers(self, input, &sample, event, &clock);
}

/* Adds a sample with its thread and time, the calls that led there, and the data it accessed.
 * `row` has its weight, `user_row` is of user code; LODE_NONE: there is none. */
static void add_context(Reading *self, Input *input, const LodePerfRecord *record,
	const Weight *weight, uint32_t row, uint32_t user_row)
{
	size_t n_events;
	const LodePerfEvent *event = &lode_perf_data_events(input->data, &n_events)[record->event];
	const LodePlace *charged = row != LODE_NONE
	                                   ? &g_array_index(self->rows.places, LodePlace, row)
	                                   : NULL;
	LodeSampledAccess access = {
		.record = record,
		.event = event,
		.event_name = self->recording->events->pdata[weight->column],
		.time_ns = sample_time(input, record),
		.weight = weight->value,
		.place = {LODE_NONE, record->sample.ip},
		.caller = LODE_NONE,
	};

	if (user_row != LODE_NONE)
		access.place = g_array_index(self->rows.places, LodePlace, user_row);
	g_ptr_array_set_size(self->kernel_functions, 0);
	if (record->mode == LODE_PERF_MODE_KERNEL && lode_call_chain_is_recorded(event))
		lode_sampled_kernel_functions(
			&self->kernel, &record->sample, self->kernel_functions);
	access.caller = lode_sampled_stacks_add(
		self->options->stacks, &access, row, charged, self->kernel_functions);
	if (input->has_data)
		lode_memory_reading_add(self->memory, &access);
	if (user_row != LODE_NONE && weight->column == self->timed_column &&
		input->columns[record->event] == self->timed_column)
		add_to_pairs(self, input, record, event, user_row);
}

static LodePlaceOutcome find_kernel_row(Reading *self, uint64_t ip, uint32_t *out_row)
{
	LodePlace place;
	LodePlaceOutcome outcome = lode_sampled_kernel_place(&self->kernel, ip, &place);

	if (outcome == LODE_PLACE_FOUND)
		*out_row = lode_sampled_rows_find(&self->rows, &place);
	return outcome;
}

static void add_value(Reading *self, LodePlaceOutcome outcome, uint32_t row, const Weight *weight)
{
	g_array_index(self->recording->totals, double, weight->column) += weight->value;
	if (outcome == LODE_PLACE_FOUND)
		lode_sampled_rows_add(&self->rows, row, weight->column, weight->value);
	else
		self->weights[outcome][weight->column] += weight->value;
}

/* The column of an event that is seen the first time while samples are read; LODE_NONE: there are
 * too many. */
static uint32_t find_later_column(Reading *self, const char *name, uint32_t sampled)
{
	LodeRecording *recording = self->recording;
	uint32_t known = find_column(recording, name);
	double zero = 0;

	if (known != LODE_NONE || recording->events->len > MAX_EVENTS)
		return known;
	g_autofree char *description = g_strdup_printf(
		"%s in the kernel, at the instruction that entered it",
		(const char *)recording->events->pdata[sampled]);
	g_ptr_array_set_size(recording->descriptions, (gint)recording->events->len);
	g_ptr_array_add(
		recording->descriptions, g_string_chunk_insert(recording->strings, description));
	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, name));
	g_array_append_val(recording->totals, zero);
	recording->n_sampled++;
	return recording->events->len - 1;
}

/* Charges a sample in the kernel to the user instruction that entered it, too. */
static void add_entry(
	Reading *self, Input *input, const LodePerfRecord *record, const Weight *weight)
{
	size_t n_events;
	const LodePerfEvent *event = &lode_perf_data_events(input->data, &n_events)[record->event];
	LodeKernelEntry entry;
	uint32_t row;

	/* Events that do not weigh have no part in the time there. */
	if (!lode_perf_event_is_time(event->type, event->config))
		return;
	lode_sampled_kernel_functions(&self->kernel, &record->sample, self->kernel_functions);
	if (!lode_kernel_entry_find(self->places, record, event, sample_time(input, record),
		    self->kernel_functions, &entry))
		return;
	uint32_t column = find_later_column(self, entry.event, weight->column);
	if (column == LODE_NONE)
		return;
	LodePlaceOutcome outcome = find_row(self, input, record, entry.address, &row);
	g_array_index(self->recording->totals, double, column) += weight->value;
	if (outcome == LODE_PLACE_FOUND && row != ROW_OF_RECORDER)
		lode_sampled_rows_add(&self->rows, row, column, weight->value);
}

static void add_weight(
	Reading *self, Input *input, const LodePerfRecord *record, const Weight *weight)
{
	uint32_t row = LODE_NONE, user_row = LODE_NONE;
	LodePlaceOutcome outcome = outcome_of_mode(record->mode);

	if (outcome == LODE_PLACE_FOUND) {
		outcome = find_row(self, input, record, record->sample.ip, &user_row);
		row = user_row;
	} else if (outcome == LODE_PLACE_KERNEL) {
		outcome = find_kernel_row(self, record->sample.ip, &row);
	}
	self->n_samples[weight->column]++;
	self->sums[weight->column] += weight->value;
	self->squares[weight->column] += weight->value * weight->value;
	add_value(self, outcome, row, weight);
	if (record->mode == LODE_PERF_MODE_KERNEL)
		add_entry(self, input, record, weight);
	if (outcome != LODE_PLACE_FOUND) {
		self->counts[outcome]++;
		if (self->examples[outcome] == NULL)
			self->examples[outcome] = g_strdup_printf("0x%" G_GINT64_MODIFIER
								  "x in process %" G_GUINT32_FORMAT,
				record->sample.ip, record->pid);
	}
	add_context(self, input, record, weight, row, user_row);
	if (weight->column == self->clocked_column) {
		const Weight latency = {self->latency_column,
			weight->value *
				lode_sampled_threads_share(input->threads, record->time_ns)};
		add_value(self, outcome, row, &latency);
		lode_sampled_stacks_add_weight(self->options->stacks,
			self->recording->events->pdata[self->latency_column], latency.value);
	}
}

static bool is_in_asked_time(const Reading *self, uint64_t time_ns)
{
	return self->options->end_ns == 0 ||
	       (time_ns >= self->options->begin_ns && time_ns < self->options->end_ns);
}

static bool is_asked_for(Reading *self, Input *input, const LodePerfRecord *record)
{
	if (!is_in_asked_time(self, record->time_ns))
		return false;
	if (input->programs == NULL || lode_sampled_programs_are_wanted(input->programs,
					       record->pid, sample_time(input, record)))
		return true;
	self->n_left_out++;
	return false;
}

/* Whether a library that lode put into the program called the code of the sample. */
static bool is_recorder_caller(
	Reading *self, Input *input, const LodePerfRecord *record, const LodePlace *place)
{
	size_t n_events;
	const LodePerfEvent *event = &lode_perf_data_events(input->data, &n_events)[record->event];
	const LodeSampledCode from = {record, event, sample_time(input, record), *place};
	g_autoptr(GArray) callers = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	LodeUserRegisters registers = {0};

	if (record->sample.user_registers != NULL)
		lode_user_registers_from_perf(&registers, event->user_registers,
			record->sample.user_abi, record->sample.user_registers);
	lode_call_chain_find(self->places, &from, &registers, callers);
	/* The C library's function may be in between. */
	for (guint i = 0; i < MIN(callers->len, 2); i++)
		if (lode_is_own_library(path_of(self, &g_array_index(callers, LodePlace, i))))
			return true;
	return false;
}

/* Whether the sample is of the recorder's work in the program: its libraries, or the clock that
 * they read. */
static bool is_of_recorder(Reading *self, Input *input, const LodePerfRecord *record)
{
	uint32_t row;

	if (outcome_of_mode(record->mode) != LODE_PLACE_FOUND ||
		find_row(self, input, record, record->sample.ip, &row) != LODE_PLACE_FOUND)
		return false;
	if (row == ROW_OF_RECORDER)
		return true;
	const LodePlace *place = &g_array_index(self->rows.places, LodePlace, row);
	return strcmp(path_of(self, place), "[vdso]") == 0 &&
	       is_recorder_caller(self, input, record, place);
}

/* Whether the thread was stepped then: without windows there would be no such sample. */
static bool is_stepped(const Input *input, const LodePerfRecord *record)
{
	return lode_perf_data_info(input->data)->window_logs->len > 0 &&
	       lode_window_times_has(&input->windows, record->tid, record->time_ns);
}

static void add_timer_sample(
	Reading *self, const Input *input, const LodePerfEvent *event, const LodePerfRecord *record)
{
	/* A sample may stand for more than its event's period. */
	double period = MAX(timer_period(event), (double)record->sample.period);

	/* A tracer's samples in page faults count as the program's: they do not divide its time. */
	if (!(timer_period(event) > 0) || lode_perf_data_info(input->data)->is_by_ptrace ||
		input->columns[record->event] != lode_recording_weight_column(self->recording))
		return;
	self->n_timed++;
	*(record->mode == LODE_PERF_MODE_KERNEL ? &self->timer.kernel_ns
						: &self->timer.user_ns) += period;
}

static void add_sample(Reading *self, Input *input, const LodePerfRecord *record)
{
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n_events);

	time_of(input, record);
	if (record->kind != LODE_PERF_SAMPLE)
		return;
	input->n_samples++;
	/* Counters also go on at samples that were not chosen. */
	const GArray *counts = record->sample.n_read_values > 0
	                               ? lode_sampled_counts_take(&input->counts, input->data,
						 &events[record->event], record)
	                               : NULL;
	if (!is_asked_for(self, input, record))
		return;
	if (self->recording->pid == 0)
		self->recording->pid = record->pid;
	if (input->has_gaps)
		self->n_in_gaps += lode_sampled_threads_share(input->threads, record->time_ns) == 0;
	bool is_in_window = is_stepped(input, record);
	bool is_of_ours = !is_in_window && is_of_recorder(self, input, record);
	self->options->windows->n_dropped += is_in_window;
	self->n_recorder += is_of_ours;
	guint n_weights = counts != NULL ? counts->len : 1;
	for (guint i = 0; i < n_weights; i++) {
		double fixed = input->periods[record->event];
		Weight weight = {input->columns[record->event],
			fixed > 0 ? fixed : (double)record->sample.period};
		if (counts != NULL) {
			const LodePerfCount *count = &g_array_index(counts, LodePerfCount, i);
			weight = (Weight){input->columns[count->event], (double)count->value};
		}
		if (is_in_window)
			self->dropped[weight.column] += weight.value;
		else if (is_of_ours)
			self->recorder[weight.column] += weight.value;
		else
			add_weight(self, input, record, &weight);
	}
	if (!is_in_window && !is_of_ours) {
		add_branches(self, input, record);
		add_timer_sample(self, input, &events[record->event], record);
	}
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

static bool read_samples(Reading *self, GError **error)
{
	lode_sampled_rows_init(&self->rows, self->recording, lode_places_images(self->places));
	for (int i = 0; i < LODE_PLACE_N_OUTCOMES; i++)
		self->weights[i] = g_new0(double, self->recording->events->len);
	self->n_samples = g_new0(double, self->recording->events->len);
	self->sums = g_new0(double, self->recording->events->len);
	self->squares = g_new0(double, self->recording->events->len);
	self->dropped = g_new0(double, self->recording->events->len);
	self->recorder = g_new0(double, self->recording->events->len);
	for (guint i = 0; i < self->inputs->len; i++) {
		Input *input = &g_array_index(self->inputs, Input, i);
		lode_memory_reading_select(self->memory, i);
		lode_sampled_stacks_begin(self->options->stacks);
		lode_memory_reading_expect(self->memory, lode_perf_data_n_samples(input->data));
		lode_sample_pairs_begin(self->options->pairs);
		lode_perf_data_rewind(input->data);
		lode_perf_data_skip_samples(input->data, false);
		memset(self->known, 0, KNOWN_ROWS * sizeof(KnownRow));
		input->sequence = 0;
		lode_sampled_kernel_begin(
			&self->kernel, lode_perf_data_info(input->data), input->kernel_text);
		if (!for_each_record(self, input, add_sample, "reading samples", error))
			return false;
	}
	if (!lode_sampled_rows_finish(&self->rows, error))
		return false;
	uint32_t weight_column = lode_recording_weight_column(self->recording);
	self->recording->n_samples = self->n_samples[weight_column];
	if (self->squares[weight_column] > 0)
		self->recording->n_equal_samples = self->sums[weight_column] *
		                                   self->sums[weight_column] /
		                                   self->squares[weight_column];
	self->options->windows->dropped_weight = self->dropped[weight_column];
	lode_sampled_kernel_name_rows(&self->kernel);
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

/* Accounts for skipped and missing parts of the files. */
static void account_files(Reading *self)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		const Input *input = &g_array_index(self->inputs, Input, i);
		const LodePerfInfo *info = lode_perf_data_info(input->data);
		account_skipped(self, input, info);
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
				self->recording, "recording that is cut short", input->path, 1, 0);
		else if (info->n_damaged_features > 0)
			lode_recording_add_unresolved(self->recording,
				"part of the recording's description that is missing or damaged",
				input->path, (double)info->n_damaged_features, 0);
	}
}

static void account(Reading *self)
{
	static const char *const losses[] = {"records lost by the kernel while sampling",
		"samples lost by the kernel", "times that the kernel throttled the sampling"};
	const double counts[] = {self->n_lost, self->n_lost_samples, self->n_throttled};
	uint32_t column = lode_recording_weight_column(self->recording);

	for (int i = 1; i < LODE_PLACE_N_OUTCOMES; i++)
		if (self->counts[i] > 0)
			lode_recording_add_unresolved(self->recording,
				lode_place_outcome_reason((LodePlaceOutcome)i), self->examples[i],
				self->counts[i], self->weights[i][column]);
	for (size_t i = 0; i < G_N_ELEMENTS(losses); i++)
		if (counts[i] > 0)
			lode_recording_add_unresolved(
				self->recording, losses[i], NULL, counts[i], 0);
	if (self->memory->n_left_out > 0)
		lode_recording_add_unresolved(self->recording,
			"samples whose data is not looked at, for which others stand", NULL,
			(double)self->memory->n_left_out, 0);
	if (self->n_recorder > 0)
		lode_recording_add_unresolved(self->recording,
			"samples of lode's own libraries in the program: left out of all shares",
			NULL, self->n_recorder, 0);
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
	uint32_t column = find_column(self->recording, "page-faults");
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
			recording->user_seconds - self->recorder[weight] / 1e9, 0);
	recording->frequency = self->has_branches ? LODE_FREQUENCY_SAMPLED
	                                          : LODE_FREQUENCY_INFERRED;
}

/* Once the time of windows is taken off. */
static void divide_time(Reading *self)
{
	LodeRecording *recording = self->recording;
	const LodeWindowReading *windows = self->options->windows;
	LodeProcessorTime time = {recording->user_seconds, recording->system_seconds, 0};

	if (self->n_lost == 0 && self->n_lost_samples == 0 && self->n_throttled == 0 &&
		self->n_left_out == 0 && self->options->end_ns == 0)
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
		if (input->threads == NULL)
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
		lode_recording_add_unresolved(self->recording,
			"samples while context switches were too many to be recorded: for latency "
			"and the times of threads, others stand for them",
			NULL, self->n_in_gaps, 0);
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
	self->timed_column = column_to_clock(self);
	add_latency(self);
	if (!read_windows(self, error) || !read_samples(self, error) || !has_wanted(self, error))
		return false;
	list_threads(self);
	account(self);
	account_files(self);
	complete_page_faults(self);
	describe(self);
	lode_sampled_outcomes_finish(self->outcomes, self->recording);
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
	reading.known = g_new(KnownRow, KNOWN_ROWS);
	reading.kernel_functions = g_ptr_array_new();
	reading.frames = g_array_new(FALSE, FALSE, sizeof(LodeCallerFrame));
	reading.outcomes = lode_sampled_outcomes_new(reading.places);
	reading.inputs = g_array_new(FALSE, FALSE, sizeof(Input));
	g_array_set_clear_func(reading.inputs, input_clear);
	lode_sampled_kernel_init(&reading.kernel, recording, lode_places_images(reading.places));
	bool is_read = read_all(&reading, options->paths, options->n_paths, error);
	lode_sampled_rows_clear(&reading.rows);
	lode_sampled_outcomes_free(reading.outcomes);
	lode_sampled_kernel_clear(&reading.kernel);
	g_array_unref(reading.inputs);
	g_ptr_array_unref(reading.kernel_functions);
	g_array_unref(reading.frames);
	g_free(reading.known);
	g_free(reading.n_samples);
	g_free(reading.sums);
	g_free(reading.squares);
	g_free(reading.dropped);
	g_free(reading.recorder);
	for (int i = 0; i < LODE_PLACE_N_OUTCOMES; i++) {
		g_free(reading.examples[i]);
		g_free(reading.weights[i]);
	}
	if (!is_read)
		lode_recording_free(recording);
	return is_read ? recording : NULL;
}
