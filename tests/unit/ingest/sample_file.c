/* SPDX-License-Identifier: MIT */
#include "sample_file.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

enum { SAMPLE_ID_ALL = 1 << 18, CONTEXT_SWITCH = 1 << 26, FIRST_ID = 100, BUILD_ID_BYTES = 20 };

void sample_file_init(SampleFile *self)
{
	*self = (SampleFile){0};
	perf_data_file_init(&self->file, false, false);
	self->has_times = self->has_periods = self->has_branches = true;
	self->has_cpus = self->has_addresses = self->has_registers = false;
	self->register_mask = SAMPLE_REGISTERS;
}

void sample_file_clear(SampleFile *self)
{
	perf_data_file_clear(&self->file);
}

static uint64_t sample_type(const SampleFile *self)
{
	return PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	       (self->has_times ? PERF_SAMPLE_TIME : 0) |
	       (self->has_periods ? PERF_SAMPLE_PERIOD : 0) |
	       (self->has_counts ? PERF_SAMPLE_READ : 0) |
	       (self->has_chains ? PERF_SAMPLE_CALLCHAIN : 0) |
	       (self->has_branches ? PERF_SAMPLE_BRANCH_STACK : 0) |
	       (self->has_cpus ? PERF_SAMPLE_CPU : 0) |
	       (self->has_registers ? PERF_SAMPLE_REGS_USER : 0) |
	       (self->has_addresses ? PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC
				    : 0);
}

uint64_t sample_file_id(unsigned event, unsigned counter)
{
	return FIRST_ID + 2 * event + counter;
}

void sample_file_add_event(SampleFile *self, uint32_t type, uint64_t config, uint64_t period)
{
	unsigned event = self->file.n_attributes++;

	g_assert_cmpuint(event, <, G_N_ELEMENTS(self->file.attributes));
	self->file.attributes[event] = (PerfDataAttribute){
		.type = type,
		.config = config,
		.period = period,
		.sample_type = sample_type(self),
		.read_format = self->read_format,
		.user_registers = self->has_registers ? self->register_mask : 0,
		.flags = SAMPLE_ID_ALL | (self->has_switches ? CONTEXT_SWITCH : 0),
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		.ids = {sample_file_id(event, 0), sample_file_id(event, 1)},
		.n_ids = 2,
	};
}

static void put_cpu(SampleFile *self, uint32_t cpu)
{
	if (!self->has_cpus)
		return;
	put32(&self->file.data, cpu);
	put32(&self->file.data, 0);
}

static void end_with_thread(SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	PerfDataWriter *data = &self->file.data;

	put32(data, pid);
	put32(data, tid);
	if (self->has_times)
		put64(data, time_ns);
	put_cpu(self, 0);
	put64(data, FIRST_ID);
	end_record(data);
}

static void end_with_trailer(SampleFile *self, uint32_t pid, uint64_t time_ns)
{
	end_with_thread(self, pid, pid, time_ns);
}

static void put_mapping(
	SampleFile *self, uint32_t pid, uint64_t time_ns, const LodePerfMapping *map, uint16_t misc)
{
	PerfDataWriter *data = &self->file.data;

	begin_record(data, PERF_RECORD_MMAP2, misc);
	put32(data, pid);
	put32(data, pid);
	put64(data, map->start);
	put64(data, map->size);
	put64(data, map->offset);
	if (map->build_id != NULL) {
		put32(data, BUILD_ID_BYTES);
		for (unsigned i = 0; i < BUILD_ID_BYTES; i++)
			put8(data, map->build_id[i]);
	} else {
		put32(data, map->device_major);
		put32(data, map->device_minor);
		put64(data, map->inode);
		put64(data, map->generation);
	}
	put32(data, map->protection);
	put32(data, MAP_PRIVATE);
	put_text(data, map->path);
	end_with_trailer(self, pid, time_ns);
}

void sample_file_map(SampleFile *self, uint32_t pid, uint64_t time_ns, const LodePerfMapping *map)
{
	enum { MISC_BUILD_ID = 1 << 14 };
	LodePerfMapping code = *map;

	code.protection = PROT_READ | PROT_EXEC;
	put_mapping(self, pid, time_ns, &code,
		PERF_RECORD_MISC_USER | (map->build_id != NULL ? MISC_BUILD_ID : 0));
}

void sample_file_map_data(
	SampleFile *self, uint32_t pid, uint64_t time_ns, const LodePerfMapping *map)
{
	enum { MISC_DATA = 1 << 13 };

	put_mapping(self, pid, time_ns, map, PERF_RECORD_MISC_USER | MISC_DATA);
}

void sample_file_map_kernel(SampleFile *self, const LodePerfMapping *map)
{
	put_mapping(self, UINT32_MAX, 0, map, PERF_RECORD_MISC_KERNEL);
}

static void put_command(
	SampleFile *self, const uint32_t ids[2], uint64_t time_ns, uint16_t misc, const char *name)
{
	begin_record(&self->file.data, PERF_RECORD_COMM, misc);
	put32(&self->file.data, ids[0]);
	put32(&self->file.data, ids[1]);
	put_text(&self->file.data, name);
	end_with_trailer(self, ids[0], time_ns);
}

void sample_file_exec(SampleFile *self, uint32_t pid, uint64_t time_ns)
{
	const uint32_t ids[] = {pid, pid};

	put_command(self, ids, time_ns, PERF_RECORD_MISC_COMM_EXEC, "program");
}

void sample_file_name(
	SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns, const char *name)
{
	const uint32_t ids[] = {pid, tid};

	put_command(self, ids, time_ns, 0, name);
}

/* FORK and EXIT; pids and tids in the order of the record. */
static void put_birth(SampleFile *self, uint32_t type, const uint32_t ids[4], uint64_t time_ns)
{
	begin_record(&self->file.data, type, 0);
	for (unsigned i = 0; i < 4; i++)
		put32(&self->file.data, ids[i]);
	put64(&self->file.data, time_ns);
	end_with_trailer(self, ids[0], time_ns);
}

void sample_file_clone(SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const uint32_t ids[] = {pid, pid, tid, pid};

	put_birth(self, PERF_RECORD_FORK, ids, time_ns);
}

void sample_file_exit(SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const uint32_t ids[] = {pid, pid, tid, tid};

	put_birth(self, PERF_RECORD_EXIT, ids, time_ns);
}

void sample_file_fork(SampleFile *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	const uint32_t ids[] = {pid, parent_pid, pid, parent_pid};

	put_birth(self, PERF_RECORD_FORK, ids, time_ns);
}

void sample_file_switch(SampleFile *self, const SampleSwitch *change)
{
	PerfDataWriter *data = &self->file.data;

	begin_record(data, change->is_wide ? PERF_RECORD_SWITCH_CPU_WIDE : PERF_RECORD_SWITCH,
		(change->is_out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
			(change->is_preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
	if (change->is_wide)
		put64(data, 0);
	end_with_thread(self, change->pid, change->tid, change->time_ns);
}

void sample_file_lose(SampleFile *self, uint32_t type, uint64_t n)
{
	PerfDataWriter *data = &self->file.data;

	begin_record(data, type, 0);
	if (type == PERF_RECORD_LOST || type == PERF_RECORD_THROTTLE)
		put64(data, type == PERF_RECORD_LOST ? FIRST_ID : 1);
	if (type == PERF_RECORD_THROTTLE)
		put64(data, FIRST_ID);
	put64(data, n);
	end_with_trailer(self, 1, 1);
}

static void put_registers(SampleFile *self, const Sample *sample)
{
	uint64_t left = SAMPLE_REGISTERS;

	put64(&self->file.data, sample->abi);
	for (unsigned i = 0; sample->abi != 0 && i < SAMPLE_N_REGISTERS; i++, left &= left - 1)
		if ((self->register_mask & left & -left) != 0)
			put64(&self->file.data, sample->registers[i]);
}

void sample_file_add(SampleFile *self, const Sample *sample)
{
	PerfDataWriter *data = &self->file.data;

	begin_record(data, PERF_RECORD_SAMPLE, sample->mode);
	put64(data, sample_file_id(sample->event, sample->counter));
	put64(data, sample->ip);
	put32(data, sample->pid);
	put32(data, sample->tid != 0 ? sample->tid : sample->pid);
	if (self->has_times)
		put64(data, sample->time_ns);
	if (self->has_addresses)
		put64(data, sample->address);
	put_cpu(self, sample->cpu);
	if (self->has_periods)
		put64(data, sample->period);
	for (size_t i = 0; self->has_counts && i < sample->n_read; i++)
		put64(data, sample->read[i]);
	if (self->has_chains)
		put64(data, sample->n_chain);
	for (size_t i = 0; self->has_chains && i < sample->n_chain; i++)
		put64(data, sample->chain[i]);
	if (self->has_branches)
		put64(data, sample->n_branches);
	for (size_t i = 0; self->has_branches && i < sample->n_branches; i++) {
		put64(data, sample->branches[i].source);
		put64(data, sample->branches[i].target);
		put64(data, sample->branches[i].flags);
	}
	if (self->has_registers)
		put_registers(self, sample);
	if (self->has_addresses) {
		put64(data, sample->latency);
		put64(data, sample->data_source);
	}
	end_record(data);
}

/* Its name is in the description of the events. */
static void add_dummy_event(SampleFile *self, const PerfDataAttribute *attribute, const char *name)
{
	enum { FEATURE_EVENTS = 12 };
	unsigned n = self->file.n_attributes++;
	PerfDataWriter *names = perf_data_file_feature(&self->file, FEATURE_EVENTS);

	g_assert_cmpuint(n, <, G_N_ELEMENTS(self->file.attributes));
	self->dummy_names[n] = name;
	self->file.attributes[n] = *attribute;
	self->file.attributes[n].type = PERF_TYPE_SOFTWARE;
	self->file.attributes[n].config = PERF_COUNT_SW_DUMMY;
	self->file.attributes[n].period = 1;
	self->file.attributes[n].sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	                                        PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                                        PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
	self->file.attributes[n].flags = SAMPLE_ID_ALL;
	self->file.attributes[n].n_ids = 1;
	g_byte_array_set_size(names->bytes, 0);
	put32(names, n + 1);
	put32(names, 0);
	for (unsigned i = 0; i <= n; i++) {
		put32(names, 0);
		put_counted_text(names, self->dummy_names[i] != NULL ? self->dummy_names[i]
					: i == 0                     ? "cpu-clock:u"
								     : "other");
	}
}

void sample_file_add_look_event(SampleFile *self)
{
	enum { POINTER_AND_ADDRESS = 1 << 7 | 1 << 8 };
	const PerfDataAttribute attribute = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.user_registers = POINTER_AND_ADDRESS,
		.ids = {LODE_WAITING_ID},
	};

	add_dummy_event(self, &attribute, LODE_WAITING_EVENT);
}

void sample_file_add_script_event(SampleFile *self)
{
	const PerfDataAttribute attribute = {.ids = {LODE_SCRIPT_ID}};

	add_dummy_event(self, &attribute, LODE_SCRIPT_EVENT);
}

void sample_file_script(
	SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns, const GByteArray *raw)
{
	PerfDataWriter *data = &self->file.data;

	begin_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(data, LODE_SCRIPT_ID);
	put64(data, 0);
	put32(data, pid);
	put32(data, tid);
	put64(data, time_ns);
	put64(data, 1);
	put32(data, raw->len);
	g_byte_array_append(data->bytes, raw->data, raw->len);
	end_record(data);
}

void sample_file_look(SampleFile *self, const SampleLook *look)
{
	PerfDataWriter *data = &self->file.data;
	g_autoptr(GByteArray) raw = g_byte_array_new();

	if (look->look != NULL)
		lode_wait_look_append(look->look, raw);
	else
		g_byte_array_append(raw, look->raw, look->raw_size);
	begin_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(data, LODE_WAITING_ID);
	put64(data, look->ip);
	put32(data, look->pid);
	put32(data, look->tid);
	put64(data, look->time_ns);
	put64(data, 1);
	put32(data, raw->len);
	g_byte_array_append(data->bytes, raw->data, raw->len);
	put64(data, PERF_SAMPLE_REGS_ABI_64);
	put64(data, look->stack_pointer);
	put64(data, look->ip);
	put64(data, 8 * look->n_stack);
	for (size_t i = 0; i < look->n_stack; i++)
		put64(data, look->stack[i]);
	if (look->n_stack > 0)
		put64(data, 8 * look->n_stack);
	end_record(data);
}

void sample_file_write(SampleFile *self, const char *path)
{
	g_autoptr(GByteArray) bytes = perf_data_file_finish(&self->file);
	g_autoptr(GError) error = NULL;

	g_file_set_contents(path, (const char *)bytes->data, bytes->len, &error);
	g_assert_no_error(error);
}
