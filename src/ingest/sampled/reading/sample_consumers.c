/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/reading/sampled_reading.h"

#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/kernel_entries.h"
#include "ingest/sampled/sampled_columns.h"
#include "ingest/sampled/waits/sampled_waits.h"
#include "model/process.h"

const LodePlace *lode_sampled_place_of(const LodeSampledReading *self, uint32_t row)
{
	return row != LODE_NONE ? &g_array_index(self->rows.places, LodePlace, row) : NULL;
}

void lode_sampled_add_value(
	LodeSampledReading *self, const LodePlacedSample *sample, uint32_t column, double value)
{
	g_array_index(self->recording->totals, double, column) += value;
	if (sample->outcome == LODE_PLACE_FOUND)
		lode_sampled_rows_add(&self->rows, sample->row, column, value);
	else
		self->totals.weights[sample->outcome][column] += value;
}

static void add_to_row(LodeSampledReading *self, LodePlacedSample *sample)
{
	lode_sampled_totals_add(&self->totals, sample->column, sample->value);
	lode_sampled_add_value(self, sample, sample->column, sample->value);
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
static void add_kernel_entry(LodeSampledReading *self, LodePlacedSample *sample)
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

LodeSampledAccess lode_sampled_access_of(
	const LodeSampledReading *self, const LodePlacedSample *sample)
{
	const LodePlace *user = lode_sampled_place_of(self, sample->user_row);

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

static void begin_stacks(LodeSampledReading *self, const LodeSampledInput *input)
{
	(void)input;
	lode_sampled_stacks_begin(self->options->stacks);
}

static void add_stack(LodeSampledReading *self, LodePlacedSample *sample)
{
	const LodeSampledAccess access = lode_sampled_access_of(self, sample);

	sample->caller = lode_sampled_stacks_add(self->options->stacks, &access, sample->row,
		lode_sampled_place_of(self, sample->row), self->kernel_functions);
}

static void begin_data(LodeSampledReading *self, const LodeSampledInput *input)
{
	lode_memory_reading_expect(
		self->memory, lode_perf_data_n_samples(input->data) - input->n_looks);
}

static void add_data(LodeSampledReading *self, LodePlacedSample *sample)
{
	const LodeSampledAccess access = lode_sampled_access_of(self, sample);

	if (sample->input->has_data)
		lode_memory_reading_add(self->memory, &access);
}

static void begin_registers(LodeSampledReading *self, const LodeSampledInput *input)
{
	(void)input;
	lode_sample_pairs_begin(self->options->pairs);
}

static void add_registers(LodeSampledReading *self, LodePlacedSample *sample)
{
	enum {
		UNKNOWN_COST_NS = 10000
	}; /* may a sample take: in virtual machines, where it takes
	      most */
	const LodeSampledInput *input = sample->input;
	const LodePerfInfo *info = lode_perf_data_info(input->data);

	/* From one stop of a tracer to the next it is not known how long the thread ran. */
	if (sample->user_row == LODE_NONE || sample->column != self->timed_column ||
		input->columns[sample->record->event] != self->timed_column ||
		info->run.is_by_ptrace || !input->has_times)
		return;
	const LodeSampledCode sampled = {sample->record, sample->event, sample->time_ns,
		*lode_sampled_place_of(self, sample->user_row)};
	const LodePairClock clock = {
		.threads = input->has_switches ? input->threads : NULL,
		.windows = &input->windows,
		.period_ns = lode_sampled_timer_period(sample->event),
		.cost_ns = info->run.sample_ns > 0 ? (double)info->run.sample_ns : 0,
		.cost_error_ns = info->run.sample_ns > 0 ? (double)info->run.sample_error_ns
	                                                 : UNKNOWN_COST_NS,
	};
	lode_sampled_registers_add(&self->registers, &sampled, &clock);
}

static void add_to_periods(LodeSampledReading *self, LodePlacedSample *sample)
{
	if (sample->user_row == LODE_NONE || sample->column != self->timed_column ||
		self->options->windows == NULL)
		return;
	lode_window_periods_add_sample(self->options->windows->periods, sample->record->tid,
		sample->time_ns, lode_sampled_place_of(self, sample->user_row), sample->value);
}

static void add_by_clock(LodeSampledReading *self, LodePlacedSample *sample)
{
	if (sample->column != self->clocked_column)
		return;
	double latency = sample->value * lode_sampled_threads_share(
						 sample->input->threads, sample->record->time_ns);
	lode_sampled_add_value(self, sample, self->latency_column, latency);
	lode_sampled_stacks_add_weight(self->options->stacks,
		self->recording->events->pdata[self->latency_column], latency);
}

void lode_sampled_add_besides(
	LodeSampledReading *self, const LodePlacedSample *sample, uint32_t column, double value)
{
	if (column == LODE_NONE || value <= 0)
		return;
	lode_sampled_add_value(self, sample, column, value);
	lode_sampled_stacks_add_weight(
		self->options->stacks, self->recording->events->pdata[column], value);
}

/* Where a thread ran, it also waited for a processor. */
static void add_clock_time(LodeSampledReading *self, LodePlacedSample *sample)
{
	const LodeSampledInput *input = sample->input;
	const LodePerfEvent *event = sample->event;

	if (self->waiting_column == LODE_NONE || sample->column != self->timed_column ||
		!lode_perf_event_is_time(event->type, event->config) ||
		input->columns[sample->record->event] != sample->column)
		return;
	double ready_ns = 0;
	if (input->threads != NULL && lode_sampled_input_has_looks(input)) {
		const LodeSampledAccess access = lode_sampled_access_of(self, sample);
		ready_ns = sample->value *
		           lode_sampled_threads_ready(input->threads, sample->record);
		lode_sampled_waits_add_timed(self->options->waits, &access, ready_ns);
	}
	lode_sampled_add_besides(self, sample, self->waiting_column, ready_ns);
	lode_sampled_add_besides(
		self, sample, self->clock_column, sample->value * self->clock_scale + ready_ns);
}

/* A stack is newest first: what ran between two branches is from the older one's target to the
 * newer one's source. */
static void add_branches(LodeSampledReading *self, LodePlacedSample *placed)
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

static void add_to_timer(LodeSampledReading *self, LodePlacedSample *sample)
{
	const LodePerfRecord *record = sample->record;
	double period = lode_sampled_timer_period(sample->event);

	/* A tracer's samples in page faults count as the program's: they do not divide its time. */
	if (!(period > 0) || lode_perf_data_info(sample->input->data)->run.is_by_ptrace ||
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
	void (*begin)(LodeSampledReading *self,
		const LodeSampledInput *input); /* a recording; may be NULL */
	void (*add_value)(LodeSampledReading *self,
		LodePlacedSample *sample); /* each of a sample's; or NULL */
	void (*add_sample)(
		LodeSampledReading *self, LodePlacedSample *sample); /* then it, once; or NULL */
} consumers[] = {
	{NULL, add_to_row, NULL},
	{NULL, add_kernel_entry, NULL},
	{begin_stacks, add_stack, NULL},
	{begin_data, add_data, NULL},
	{begin_registers, add_registers, NULL},
	{NULL, add_to_periods, NULL},
	{NULL, add_by_clock, NULL},
	{NULL, add_clock_time, NULL},
	{NULL, NULL, add_branches},
	{NULL, NULL, add_to_timer},
};

void lode_sampled_begin_consumers(LodeSampledReading *self, const LodeSampledInput *input)
{
	for (size_t i = 0; i < G_N_ELEMENTS(consumers); i++)
		if (consumers[i].begin != NULL)
			consumers[i].begin(self, input);
}

void lode_sampled_consume_value(LodeSampledReading *self, LodePlacedSample *sample)
{
	for (size_t i = 0; i < G_N_ELEMENTS(consumers); i++)
		if (consumers[i].add_value != NULL)
			consumers[i].add_value(self, sample);
}

void lode_sampled_consume_sample(LodeSampledReading *self, LodePlacedSample *sample)
{
	for (size_t i = 0; i < G_N_ELEMENTS(consumers); i++)
		if (consumers[i].add_sample != NULL)
			consumers[i].add_sample(self, sample);
}
