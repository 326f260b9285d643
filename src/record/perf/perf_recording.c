/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_recording.h"

#include "base/monotonic_clock.h"
#include "machine/figures/core_figures.h"
#include "machine/figures/memory_rates.h"
#include "machine/machine_speed.h"
#include "record/events/perf_existing.h"
#include "record/perf/perf_records.h"
#include "record/perf/perf_sources.h"
#include "record/perf/perf_writer.h"
#include "record/programs/v8_survey.h"
#include "sources/perf_data/perf_data_format.h"

/* The header counts the written records at least this often: so much can be lost if lode crashes.
 */
enum { SEAL_US = G_USEC_PER_SEC };

enum { RECORD_FINISHED_ROUND = 68 }; /* perf's number; perf sorts by time what lies between two */

static bool is_observed(const LodePerfRecording *self)
{
	return self->observer != NULL && self->observer->record != NULL;
}

static void show_records(const LodePerfRecording *self, const void *records, size_t size)
{
	const char *at = records, *end = size > 0 ? at + size : at;

	while (is_observed(self) && at < end) {
		const struct perf_event_header *header = (const void *)at;
		self->observer->record(at, header->size, self->observer->user_data);
		at += header->size;
	}
}

static void write_records(LodePerfRecording *self, const void *records, size_t size)
{
	show_records(self, records, size);
	if (self->write_error == NULL)
		lode_perf_writer_add(self->writer, records, size, &self->write_error);
}

/* Samples, and what makes the known code of a process void: its end, or another program in it. */
static void show_probes(LodePerfRecording *self, const struct perf_event_header *record)
{
	const LodePerfSampleStart *sample = (const void *)record;
	const LodePerfThreadRecord *ended = (const void *)record;
	const LodePerfNameRecord *named = (const void *)record;

	if (record->type == PERF_RECORD_SAMPLE && record->size >= sizeof(*sample)) {
		if (!g_hash_table_contains(self->tally.aside, &sample->identifier))
			lode_probe_recorder_take_sample(
				self->probes, (pid_t)sample->pid, (pid_t)sample->tid, sample->ip);
	} else if (record->type == PERF_RECORD_EXIT && record->size >= sizeof(*ended)) {
		if (ended->pid == ended->tid)
			lode_probe_recorder_forget(self->probes, (pid_t)ended->pid);
	} else if (record->type == PERF_RECORD_COMM &&
		   record->size >= offsetof(LodePerfNameRecord, name)) {
		if ((record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
			lode_probe_recorder_forget(self->probes, (pid_t)named->pid);
	}
}

static bool is_switch_sample(
	const LodePerfRecording *self, const struct perf_event_header *record, size_t size)
{
	const LodePerfSampleStart *sample = (const void *)record;

	return record->type == PERF_RECORD_SAMPLE && size >= sizeof(*sample) &&
	       g_hash_table_contains(self->tally.switching, &sample->identifier);
}

/* Samples are many, and say nothing of mappings. Those of switches are, as looks, none of the
 * program's work, which observers are for. */
static void take_record(LodePerfRecording *self, const struct perf_event_header *record)
{
	if (is_switch_sample(self, record, record->size))
		return;
	show_records(self, record, record->size);
	if (self->probes != NULL)
		show_probes(self, record);
	if (self->mappings != NULL && record->type != PERF_RECORD_SAMPLE)
		lode_perf_mappings_note_record(self->mappings, record);
}

static void take_ring(LodePerfRecording *self, const LodePerfRing *ring)
{
	const struct perf_event_header *header;
	size_t size;

	for (uint64_t at = ring->tail; at < ring->head; at += header->size) {
		header = lode_perf_ring_at(ring, at, &size);
		if (header->size < sizeof(*header))
			break;
		if (header->size > size) {
			g_byte_array_set_size(self->unwrapped, header->size);
			lode_perf_ring_copy(ring, at, self->unwrapped->data, header->size);
			take_record(self, (const struct perf_event_header *)self->unwrapped->data);
		} else {
			take_record(self, header);
		}
	}
}

/* Where its period lies in a sample (perf_event_open(2)). */
static size_t period_offset(const LodePerfRecording *self)
{
	const LodePerfChoice *first = self->choices->pdata[0];
	const uint64_t before = PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
	                        PERF_SAMPLE_CPU;

	return sizeof(LodePerfSampleStart) +
	       sizeof(uint64_t) * (size_t)__builtin_popcountll(first->attr.sample_type & before);
}

/* A sample of a slice stands for those that were not taken between slices. */
static void scale_sample(const LodePerfRecording *self, uint8_t *record, size_t size)
{
	const LodePerfSampleStart *sample = (const void *)record;
	const size_t offset = period_offset(self);
	uint64_t period;

	if (sample->header.type != PERF_RECORD_SAMPLE || size < offset + sizeof(period) ||
		!g_hash_table_contains(self->slice_ids, &sample->identifier))
		return;
	memcpy(&period, record + offset, sizeof(period));
	period = (uint64_t)((double)period / self->slices.part);
	memcpy(record + offset, &period, sizeof(period));
}

/* Leaves out the doubles of samples, which are then not counted either. The records are copied
 * first, as the kernel's ring cannot be changed. */
static void write_ring_changed(LodePerfRecording *self, const LodePerfRing *ring)
{
	const struct perf_event_header *header;
	size_t size;

	for (uint64_t at = ring->tail; at < ring->head; at += header->size) {
		header = lode_perf_ring_at(ring, at, &size);
		size_t whole = header->size;
		if (whole < sizeof(*header))
			break;
		g_byte_array_set_size(self->unwrapped, (guint)whole);
		lode_perf_ring_copy(ring, at, self->unwrapped->data, whole);
		scale_sample(self, self->unwrapped->data, whole);
		if (self->switch_samples.stacks != NULL &&
			is_switch_sample(self, (const void *)self->unwrapped->data, whole))
			whole = lode_switch_stacks_cut(
				self->switch_samples.stacks, self->unwrapped->data, whole);
		if (self->sources != NULL &&
			lode_perf_sources_is_double(self->sources,
				(const struct perf_event_header *)self->unwrapped->data))
			self->tally.n_samples -= header->type == PERF_RECORD_SAMPLE;
		else if (self->write_error == NULL)
			lode_perf_writer_add(
				self->writer, self->unwrapped->data, whole, &self->write_error);
	}
}

bool lode_perf_recording_is_sliced(const LodePerfRecording *self)
{
	return (self->switches.are_dense || self->has_few_events) &&
	       g_hash_table_size(self->slice_ids) > 0;
}

bool lode_perf_recording_bound_events(LodePerfRecording *self)
{
	size_t n_optional = lode_perf_event_set_count_optional(self->events);

	if (n_optional == 0 || !lode_task_budget_is_over(&self->tasks, self->tally.n_tasks,
				       n_optional, g_get_monotonic_time()))
		return false;
	lode_perf_event_set_close_optional(self->events);
	self->has_few_events = true;
	return true;
}

bool lode_perf_recording_update_slices(LodePerfRecording *self, double sample_ns, double budget)
{
	const LodeSliceCosts costs = {LODE_PERF_SLICE_FREQUENCY, sample_ns, budget};

	return lode_sample_slices_update(
		&self->slices, &costs, self->switches.rate / 2, g_get_monotonic_time());
}

static bool drain_ring(LodePerfRecording *self, LodePerfRing *ring)
{
	if (!lode_perf_ring_update(ring))
		return false;
	lode_perf_tally_add(&self->tally, ring);
	if (is_observed(self) || self->mappings != NULL || self->probes != NULL)
		take_ring(self, ring);
	if (self->sources != NULL || self->slices.part < 1 || self->switch_samples.stacks != NULL)
		write_ring_changed(self, ring);
	else if (self->write_error == NULL)
		lode_perf_writer_add_ring(self->writer, ring, &self->write_error);
	lode_perf_ring_release(ring);
	return true;
}

static void seal(LodePerfRecording *self)
{
	self->sealed_us = g_get_monotonic_time();
	if (self->write_error == NULL)
		lode_perf_writer_seal(self->writer, &self->write_error);
}

static void remember_file(const LodeMappedFile *mapped, void *user_data)
{
	lode_kept_files_add(user_data, mapped);
}

void lode_perf_recording_follow(LodePerfRecording *self, pid_t pid)
{
	const LodePerfChoice *first = self->choices->pdata[0];
	const LodePerfExisting wanted = {
		.sample_type = first->attr.sample_type,
		.proc = "/proc",
		.found = remember_file,
		.user_data = self->tally.files,
	};

	if (!self->follows_mappings)
		return;
	self->mappings = lode_perf_mappings_new(&wanted);
	lode_perf_mappings_add(self->mappings, pid, lode_now_ns());
}

static void show_events(const LodePerfRecording *self)
{
	g_autoptr(GArray) events = g_array_new(FALSE, TRUE, sizeof(LodePerfObservedEvent));

	for (guint i = 0; i < self->choices->len; i++) {
		const LodePerfChoice *choice = self->choices->pdata[i];
		const LodePerfObservedEvent event = {
			.name = choice->name,
			.attr = &choice->attr,
			.ids = (const uint64_t *)choice->ids->data,
			.n_ids = choice->ids->len,
			.is_tracking = choice->is_tracking,
		};
		g_array_append_val(events, event);
	}
	self->observer->begin((const LodePerfObservedEvent *)events->data, events->len,
		self->observer->user_data);
}

static void remember_ids(GHashTable *ids, const LodePerfChoice *choice)
{
	for (guint i = 0; i < choice->ids->len; i++)
		g_hash_table_add(ids, &g_array_index(choice->ids, uint64_t, i));
}

/* Lists the events of the file, and sees whether switches are among them as samples. */
static void begin_switch_samples(LodePerfRecording *self)
{
	self->written = g_ptr_array_new();
	for (guint i = 0; i < self->choices->len; i++) {
		LodePerfChoice *choice = self->choices->pdata[i];
		if (choice->attr.context_switch && choice->attr.sample_stack_user > 0)
			self->switch_samples.stacks = lode_switch_stacks_new();
		if (choice->attr.type == PERF_TYPE_TRACEPOINT && choice->is_switching) {
			self->switch_samples.waking = *choice;
			lode_waking_samples_write_as(&self->switch_samples.waking.attr);
			choice = &self->switch_samples.waking;
		}
		g_ptr_array_add(self->written, choice);
	}
}

bool lode_perf_recording_begin(LodePerfRecording *self, GError **error)
{
	for (guint i = 0; i < self->choices->len; i++) {
		const LodePerfChoice *choice = self->choices->pdata[i];
		if (choice->is_aside)
			remember_ids(self->tally.aside, choice);
		if (choice->is_switching)
			remember_ids(self->tally.switching, choice);
		if (choice->stretch == LODE_PERF_IN_SLICES)
			remember_ids(self->slice_ids, choice);
	}
	begin_switch_samples(self);
	if (self->looker != NULL) {
		LodePerfChoice *waits = lode_wait_looker_choice(self->looker);
		if (waits != NULL)
			g_ptr_array_add(self->written, waits);
		g_ptr_array_add(self->written, lode_wait_looker_script_choice(self->looker));
	}
	if (!lode_perf_writer_publish(self->writer, self->written, error))
		return false;
	if (self->page_output != NULL && self->mappings != NULL &&
		(self->pages = lode_page_survey_open(self->page_output, "/proc", error)) == NULL)
		return false;
	if (self->observer != NULL && self->observer->begin != NULL)
		show_events(self);
	self->speed = lode_speed_meter_new("/proc");
	return true;
}

/* True when a round ends: nothing older than the one before can come any more. */
static bool look_for_mappings(LodePerfRecording *self)
{
	g_autoptr(GByteArray) records = g_byte_array_new();

	if (self->mappings == NULL)
		return true;
	bool is_all = lode_perf_mappings_survey(self->mappings, lode_now_ns(), records);
	write_records(self, records->data, records->len);
	return is_all;
}

/* The choice that reports context switches; NULL: the kernel refused it. */
static const LodePerfChoice *switching_choice(const LodePerfRecording *self)
{
	for (guint i = self->choices->len; i-- > 0;) {
		const LodePerfChoice *choice = self->choices->pdata[i];
		if (choice->attr.context_switch)
			return choice;
	}
	return NULL;
}

/* Says that context switches are recorded from then on, or no more (LODE_PERF_NO_SWITCHES_TID). */
static void write_switches_mark(LodePerfRecording *self, bool is_on, uint64_t time_ns)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time, cpu, identifier;
	} record = {
		.header = {PERF_RECORD_SWITCH, is_on ? 0 : PERF_RECORD_MISC_SWITCH_OUT,
			sizeof(record)},
		.tid = LODE_PERF_NO_SWITCHES_TID,
		.time = time_ns,
		.identifier = g_array_index(switching_choice(self)->ids, uint64_t, 0),
	};

	write_records(self, &record, sizeof(record));
}

static uint64_t own_switches(const LodePerfRecording *self)
{
	/* A stop for a step is an end and a beginning, too. */
	uint64_t by_steps = self->probes != NULL ? 2 * lode_probe_recorder_stops(self->probes) : 0;

	return self->tally.n_switches - MIN(by_steps, self->tally.n_switches);
}

/* The mark is written before any record of the time after it. */
static void bound_switches(LodePerfRecording *self)
{
	bool was_over = self->switches.is_over;
	uint64_t own = own_switches(self);
	uint64_t n = own - MIN(self->seen.n_switches, own);

	self->seen.n_switches = MAX(self->seen.n_switches, own);
	if (switching_choice(self) == NULL)
		return;
	if (switching_choice(self)->attr.mmap_data)
		lode_switch_budget_charge(&self->switches,
			LODE_MAPPING_RECORDS *
				(double)(self->tally.n_data_mappings - self->seen.n_mappings));
	self->seen.n_mappings = self->tally.n_data_mappings;
	lode_switch_budget_charge(&self->switches,
		LODE_SWITCH_SAMPLE_RECORDS *
			(double)(self->tally.n_switch_samples - self->seen.n_switch_samples));
	self->seen.n_switch_samples = self->tally.n_switch_samples;
	if (lode_switch_budget_take(&self->switches, n, g_get_monotonic_time()) == !was_over)
		return;
	uint64_t before_ns = lode_now_ns();
	lode_perf_event_set_enable_switches(self->events, was_over);
	write_switches_mark(self, was_over, was_over ? lode_now_ns() : before_ns);
}

static void survey_memory(LodePerfRecording *self)
{
	g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
	bool are_pages_due = self->pages != NULL && lode_page_survey_is_due(self->pages);
	bool are_heaps_due = self->heaps != NULL && self->mappings != NULL &&
	                     lode_v8_survey_is_due(self->heaps);

	if (!are_pages_due && !are_heaps_due)
		return;
	lode_perf_mappings_list(self->mappings, pids);
	if (are_pages_due)
		lode_page_survey_run(self->pages, pids, lode_now_ns());
	if (are_heaps_due)
		lode_v8_survey_run(self->heaps, pids);
}

/* Looks are no samples of the program's work, which observers are for. */
static void write_looks(LodePerfRecording *self)
{
	if (self->looker == NULL)
		return;
	g_autoptr(GByteArray) records = lode_wait_looker_take(self->looker);
	if (records->len > 0 && self->write_error == NULL)
		lode_perf_writer_add(self->writer, records->data, records->len, &self->write_error);
}

void lode_perf_recording_drain(LodePerfRecording *self)
{
	const struct perf_event_header round_end = {RECORD_FINISHED_ROUND, 0, sizeof(round_end)};
	bool has_read = false;

	for (unsigned i = 0; i < self->events->cpus->len; i++)
		has_read |= drain_ring(
			self, &g_array_index(self->events->cpus, LodePerfCpu, i).ring);
	write_looks(self);
	if (look_for_mappings(self) && has_read)
		write_records(self, &round_end, sizeof(round_end));
	bound_switches(self);
	survey_memory(self);
	if (self->speed != NULL)
		lode_speed_meter_update(self->speed);
	if (g_get_monotonic_time() - self->sealed_us > SEAL_US)
		seal(self);
}

/* The processor time that a sample represents now; 0: not known. */
static double sample_period_ns(const LodePerfRecording *self)
{
	for (guint i = 0; i < self->choices->len; i++) {
		const LodePerfChoice *choice = self->choices->pdata[i];
		bool is_now = choice->stretch == LODE_PERF_ALWAYS ||
		              choice->stretch == self->events->stretch;
		if (is_now && !choice->is_aside && choice->attr.freq &&
			choice->attr.sample_freq > 0)
			return 1e9 / (double)choice->attr.sample_freq /
			       (choice->stretch == LODE_PERF_IN_SLICES ? self->slices.part : 1);
	}
	return 0;
}

void lode_perf_recording_charge(LodePerfRecording *self, double sample_ns)
{
	uint64_t n_samples = self->tally.n_samples, n_tasks = self->tally.n_tasks;
	double *ns = self->cost.ns;

	self->program_ns += (double)(n_samples - self->seen.n_samples) * sample_period_ns(self);
	ns[LODE_COST_SAMPLES] = (double)n_samples * sample_ns;
	ns[LODE_COST_RECORDS] =
		((double)own_switches(self) +
			LODE_SWITCH_SAMPLE_RECORDS * (double)self->tally.n_switch_samples +
			LODE_MAPPING_RECORDS * (double)self->tally.n_data_mappings) *
		LODE_SWITCH_RECORD_NS;
	ns[LODE_COST_SWITCHES] = self->slices.switches_ns;
	ns[LODE_COST_TASKS] += (double)(n_tasks - self->seen.n_tasks) *
	                       (double)self->events->descriptors->len * LODE_TASK_EVENT_NS;
	self->seen.n_samples = n_samples;
	self->seen.n_tasks = n_tasks;
	if (self->probes == NULL)
		return;
	ns[LODE_COST_PROBES] = (double)lode_probe_recorder_spent_ns(self->probes);
	/* Where it is not known, nor is the program's time: by periods of a count, or by ptrace. */
	lode_probe_recorder_rest(self->probes,
		sample_ns > 0 && lode_own_cost_is_over(&self->cost, self->program_ns));
}

void lode_perf_recording_read_kernel(LodePerfRecording *self)
{
	const LodePerfChoice *first = self->choices->pdata[0];
	bool has_kernel = false;

	for (guint i = 0; i < self->choices->len; i++)
		has_kernel |=
			!((const LodePerfChoice *)self->choices->pdata[i])->attr.exclude_kernel;
	if (has_kernel)
		self->kernel = lode_perf_existing_kernel("/proc", first->attr.sample_type);
}

void lode_perf_recording_add_kernel(LodePerfRecording *self)
{
	if (self->kernel != NULL)
		write_records(self, self->kernel->data, self->kernel->len);
}

void lode_perf_recording_add_process(LodePerfRecording *self, pid_t pid, bool has_data)
{
	const LodePerfChoice *first = self->choices->pdata[0];
	const LodePerfExisting wanted = {
		.pid = pid,
		.sample_type = first->attr.sample_type,
		.has_data = has_data,
		.proc = "/proc",
		.found = remember_file,
		.user_data = self->tally.files,
	};
	g_autoptr(GByteArray) records = lode_perf_existing_records(&wanted);

	write_records(self, records->data, records->len);
}

/* Writes the records that the kernel lost after its last report, as one more report. */
static void write_lost(LodePerfRecording *self)
{
	uint64_t lost = 0;

	for (unsigned event = 0; event < self->choices->len; event++)
		lost += lode_perf_event_set_lost(self->events, event);
	if (lost <= self->tally.n_lost)
		return;
	const LodePerfChoice *first = self->choices->pdata[0];
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
		uint32_t pid, tid;
		uint64_t time, cpu, identifier;
	} record = {
		.header = {PERF_RECORD_LOST, 0, sizeof(record)},
		.id = g_array_index(first->ids, uint64_t, 0),
		.lost = lost - self->tally.n_lost,
		.time = self->tally.last_time_ns,
		.identifier = g_array_index(first->ids, uint64_t, 0),
	};
	self->tally.n_lost = lost;
	write_records(self, &record, sizeof(record));
}

/* As the kernel counted them, of user code alone unless its own is sampled. */
static uint64_t count_page_faults(const LodePerfRecording *self)
{
	for (unsigned event = 0; event < self->choices->len; event++) {
		const struct perf_event_attr *attr =
			&((const LodePerfChoice *)self->choices->pdata[event])->attr;
		if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS)
			return lode_perf_event_set_count(self->events, event);
	}
	return 0;
}

bool lode_perf_recording_finish(
	LodePerfRecording *self, const LodePerfRecordedProgram *program, GError **error)
{
	LodePerfFeatureInput input = {
		.choices = self->written,
		.tally = &self->tally,
		.command = program->options->command,
		.program = program->program,
		.cpu_time = program->cpu_time,
		.sampling = program->sampling,
		.is_by_ptrace = program->is_by_ptrace,
		.n_page_faults = MAX(count_page_faults(self), program->n_page_faults),
		.n_processors = program->n_processors,
		.has_branch_stacks = program->options->content.has_branch_stacks,
	};
	const LodeCpuTime *cpu_time = program->cpu_time;

	if (self->speed != NULL) {
		input.speed = lode_speed_meter_end(self->speed,
			cpu_time != NULL ? cpu_time->user_ns + cpu_time->system_ns : 0);
		input.wall_ns = lode_speed_meter_wall_ns(self->speed);
	}

	lode_perf_event_set_enable(self->events, false);
	if (self->windows != NULL)
		lode_window_recorder_end(self->windows);
	if (self->probes != NULL)
		lode_probe_recorder_end(self->probes);
	lode_perf_recording_drain(self);
	write_lost(self);
	const LodePerfChoice *first = self->choices->pdata[0];
	input.rates = lode_memory_rates_of_machine(NULL);
	input.core_figures = lode_core_figures_of_machine(NULL);
	input.sample_cost = lode_sample_cost_measure(program->kernel, &first->attr);
	g_autoptr(GPtrArray) features = lode_perf_features_make(&input);
	lode_perf_writer_finish(self->writer, features, self->tally.files, self->logs,
		self->write_error == NULL ? &self->write_error : NULL);
	g_clear_pointer(&self->events, lode_perf_event_set_close);
	if (self->pages != NULL)
		lode_page_survey_close(g_steal_pointer(&self->pages),
			self->write_error == NULL ? &self->write_error : NULL);
	if (self->write_error == NULL)
		return true;
	g_propagate_prefixed_error(error, g_steal_pointer(&self->write_error),
		"the recording ended early; what was written until then can be read: ");
	return false;
}

void lode_perf_recording_init(LodePerfRecording *self)
{
	*self = (LodePerfRecording){0};
	lode_perf_tally_init(&self->tally);
	lode_switch_budget_init(&self->switches, g_get_monotonic_time());
	lode_sample_slices_init(&self->slices, g_get_monotonic_time());
	lode_task_budget_init(&self->tasks, g_get_monotonic_time());
	self->slice_ids = g_hash_table_new(g_int64_hash, g_int64_equal);
	self->unwrapped = g_byte_array_new();
}

void lode_perf_recording_clear(LodePerfRecording *self)
{
	g_clear_pointer(&self->events, lode_perf_event_set_close);
	g_clear_pointer(&self->slice_ids, g_hash_table_unref);
	g_clear_pointer(&self->writer, lode_perf_writer_close);
	g_clear_pointer(&self->choices, g_ptr_array_unref);
	g_clear_pointer(&self->written, g_ptr_array_unref);
	lode_perf_tally_clear(&self->tally);
	g_clear_pointer(&self->kernel, g_byte_array_unref);
	g_clear_pointer(&self->sources, lode_perf_sources_free);
	g_clear_pointer(&self->speed, lode_speed_meter_free);
	g_clear_pointer(&self->pages, lode_page_survey_free);
	g_clear_pointer(&self->mappings, lode_perf_mappings_free);
	g_clear_pointer(&self->unwrapped, g_byte_array_unref);
	g_clear_pointer(&self->switch_samples.stacks, lode_switch_stacks_free);
	g_clear_error(&self->write_error);
}
