/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_tally.h"

#include "record/perf/perf_records.h"
#include "record/programs/closed_programs.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
	struct perf_event_header header;
	uint64_t id, lost;
} LostRecord;

typedef struct {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, size, offset;
	uint32_t device_major, device_minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[PATH_MAX];
} MappingRecord;

void lode_perf_tally_init(LodePerfTally *self)
{
	*self = (LodePerfTally){
		.files = lode_kept_files_new(),
		.processes = g_hash_table_new(NULL, NULL),
		.closed = lode_closed_programs_new(),
		.aside = g_hash_table_new(g_int64_hash, g_int64_equal),
		.switching = g_hash_table_new(g_int64_hash, g_int64_equal),
	};
}

void lode_perf_tally_clear(LodePerfTally *self)
{
	g_clear_pointer(&self->files, lode_kept_files_free);
	g_clear_pointer(&self->processes, g_hash_table_unref);
	g_clear_pointer(&self->closed, lode_closed_programs_free);
	g_clear_pointer(&self->aside, g_hash_table_unref);
	g_clear_pointer(&self->switching, g_hash_table_unref);
}

static void add_sample(LodePerfTally *self, const LodePerfRing *ring, uint64_t position)
{
	LodePerfSampleStart sample;

	lode_perf_ring_copy(ring, position, &sample, sizeof(sample));
	if (g_hash_table_contains(self->switching, &sample.identifier)) {
		self->n_switch_samples++;
		return;
	}
	self->n_samples += !g_hash_table_contains(self->aside, &sample.identifier);
	if (self->first_time_ns == 0 || sample.time < self->first_time_ns)
		self->first_time_ns = sample.time;
	self->last_time_ns = MAX(self->last_time_ns, sample.time);
}

static uint64_t time_of(const LodePerfRing *ring, uint64_t position, size_t size)
{
	LodePerfRecordEnd end;

	if (size < sizeof(struct perf_event_header) + sizeof(end))
		return 0;
	lode_perf_ring_copy(ring, position + size - sizeof(end), &end, sizeof(end));
	return end.time;
}

static void add_name(LodePerfTally *self, const LodePerfRing *ring, uint64_t position,
	const struct perf_event_header *header)
{
	LodePerfNameRecord record = {0};

	if ((header->misc & PERF_RECORD_MISC_COMM_EXEC) == 0)
		return;
	lode_perf_ring_copy(ring, position, &record, MIN(header->size, sizeof(record)));
	record.name[sizeof(record.name) - 1] = '\0';
	lode_closed_programs_execute(
		self->closed, record.pid, time_of(ring, position, header->size), record.name);
}

static void add_mapping(
	LodePerfTally *self, const LodePerfRing *ring, uint64_t position, size_t size)
{
	MappingRecord record;

	lode_perf_ring_copy(ring, position, &record, MIN(size, sizeof(record)));
	record.path[sizeof(record.path) - 1] = '\0';
	lode_closed_programs_map(self->closed, record.pid, time_of(ring, position, size));
	if (size <= offsetof(MappingRecord, path) || (record.protection & PROT_EXEC) == 0)
		return;
	const LodeMappedFile mapped = {
		.pid = (pid_t)record.pid,
		.start = record.address,
		.end = record.address + record.size,
		.device_major = record.device_major,
		.device_minor = record.device_minor,
		.inode = record.inode,
		.generation = record.generation,
		.path = record.path,
	};
	lode_kept_files_add(self->files, &mapped);
	if (self->runtime != NULL)
		lode_jit_runtime_add_mapping(self->runtime, record.pid, record.path);
}

/* A process is taken to end with its first thread, although others of it may go on. */
static void add_thread(LodePerfTally *self, const LodePerfRing *ring, uint64_t position,
	const struct perf_event_header *header)
{
	LodePerfThreadRecord record;

	if (header->size < sizeof(record))
		return;
	lode_perf_ring_copy(ring, position, &record, sizeof(record));
	/* An event with mappings of data reports them, too. */
	if (header->type == PERF_RECORD_FORK && record.tid != self->last_task) {
		self->last_task = record.tid;
		self->n_tasks++;
	}
	if (header->type == PERF_RECORD_FORK && record.pid != record.parent) {
		g_hash_table_add(self->processes, GUINT_TO_POINTER(record.pid));
		if (self->runtime != NULL)
			lode_jit_runtime_add_process(self->runtime, record.pid);
	} else if (header->type == PERF_RECORD_EXIT && record.pid == record.tid) {
		g_hash_table_remove(self->processes, GUINT_TO_POINTER(record.pid));
		lode_closed_programs_end(self->closed, record.pid, record.time);
	}
}

static void add_record(LodePerfTally *self, const LodePerfRing *ring, uint64_t position,
	const struct perf_event_header *header)
{
	LostRecord lost;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		add_sample(self, ring, position);
		break;
	case PERF_RECORD_COMM:
		add_name(self, ring, position, header);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		add_thread(self, ring, position, header);
		break;
	case PERF_RECORD_MMAP2:
		self->n_data_mappings += (header->misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
		add_mapping(self, ring, position, header->size);
		break;
	case PERF_RECORD_LOST:
		lode_perf_ring_copy(ring, position, &lost, sizeof(lost));
		self->n_lost += lost.lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		/* it has no id: the number stands in its place */
		lode_perf_ring_copy(ring, position, &lost, offsetof(LostRecord, lost));
		self->n_lost += lost.id;
		break;
	case PERF_RECORD_THROTTLE:
		self->n_throttled++;
		break;
	case PERF_RECORD_SWITCH:
		self->n_switches++;
		break;
	default:
		break;
	}
}

void lode_perf_tally_add(LodePerfTally *self, const LodePerfRing *ring)
{
	uint64_t position = ring->tail;

	while (position < ring->head) {
		size_t size;
		/* sizes are multiples of 8: a header of 8 bytes is never cut by the ring's end */
		const struct perf_event_header *header = lode_perf_ring_at(ring, position, &size);
		if (header->size < sizeof(*header))
			break;
		add_record(self, ring, position, header);
		position += header->size;
	}
}
