/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_mappings.h"

#include "sources/allocations/live_ranges.h"

#include <string.h>

/* All are read this often, and less often where that would take more than a fiftieth of the time.
 */
enum { INTERVAL_US = 25 * 1000, COST_FACTOR = 50 };

typedef struct {
	pid_t pid;
	LodeLiveRanges *known;
	uint64_t since_ns; /* new mappings came after this */
	bool is_due;
	bool has_heap; /* its name is recorded: the kernel announces it before it has one */
} Process;

struct LodePerfMappings {
	LodePerfExisting wanted;
	GHashTable *processes; /* pid → Process */
	gint64 next_us;        /* when all are read next */
};

/* The part of records before the trailer. */
typedef struct {
	struct perf_event_header header;
	uint32_t pid, tid; /* of a fork: the child, the parent */
	union {
		uint64_t start; /* of a mapping */
		struct {
			uint32_t child_thread, parent_thread;
		};
	};
	uint64_t size;
} RecordStart;

/* The trailer ends with time, CPU and identifier. */
enum { TIME_FROM_END = 24 };

static void process_free(void *data)
{
	Process *self = data;

	lode_live_ranges_free(self->known);
	g_free(self);
}

LodePerfMappings *lode_perf_mappings_new(const LodePerfExisting *wanted)
{
	LodePerfMappings *self = g_new0(LodePerfMappings, 1);

	self->wanted = *wanted;
	self->wanted.has_data = true;
	self->processes = g_hash_table_new_full(NULL, NULL, NULL, process_free);
	return self;
}

void lode_perf_mappings_free(LodePerfMappings *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->processes);
	g_free(self);
}

static Process *find(LodePerfMappings *self, uint32_t pid)
{
	return g_hash_table_lookup(self->processes, GUINT_TO_POINTER(pid));
}

static Process *add(LodePerfMappings *self, uint32_t pid, uint64_t time_ns)
{
	Process *process = g_new0(Process, 1);

	process->pid = (pid_t)pid;
	process->known = lode_live_ranges_new();
	process->since_ns = time_ns;
	g_hash_table_replace(self->processes, GUINT_TO_POINTER(pid), process);
	return process;
}

void lode_perf_mappings_add(LodePerfMappings *self, pid_t pid, uint64_t time_ns)
{
	add(self, (uint32_t)pid, time_ns)->is_due = true;
}

void lode_perf_mappings_list(const LodePerfMappings *self, GArray *out_pids)
{
	GHashTableIter at;
	gpointer process;

	g_hash_table_iter_init(&at, self->processes);
	while (g_hash_table_iter_next(&at, NULL, &process))
		g_array_append_val(out_pids, ((const Process *)process)->pid);
}

static void add_known(Process *self, uint64_t start, uint64_t end)
{
	const LodeLiveRange range = {.start = start, .end = end, .origin = start};

	if (start < end)
		lode_live_ranges_put(self->known, &range, NULL);
}

static void note_fork(LodePerfMappings *self, const RecordStart *record, uint64_t time_ns)
{
	Process *parent = find(self, record->tid);

	if (record->pid == record->tid)
		return;
	Process *child = add(self, record->pid, time_ns);
	if (parent == NULL)
		return;
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	lode_live_ranges_list(parent->known, ranges);
	for (guint i = 0; i < ranges->len; i++) {
		const LodeLiveRange *range = &g_array_index(ranges, LodeLiveRange, i);
		add_known(child, range->start, range->end);
	}
}

static void note_mapping(LodePerfMappings *self, const RecordStart *record, uint64_t time_ns)
{
	Process *process = find(self, record->pid);

	if (process == NULL)
		process = add(self, record->pid, time_ns);
	if (record->size <= UINT64_MAX - record->start)
		add_known(process, record->start, record->start + record->size);
}

void lode_perf_mappings_note_record(LodePerfMappings *self, const struct perf_event_header *record)
{
	RecordStart start = {0};
	uint64_t time_ns;

	if (record->size < sizeof(*record) + TIME_FROM_END + 2 * sizeof(uint64_t))
		return;
	memcpy(&start, record, MIN(sizeof(start), record->size));
	memcpy(&time_ns, (const char *)record + record->size - TIME_FROM_END, sizeof(time_ns));
	if (record->type == PERF_RECORD_MMAP2 || record->type == PERF_RECORD_MMAP)
		note_mapping(self, &start, time_ns);
	else if (record->type == PERF_RECORD_FORK)
		note_fork(self, &start, time_ns);
	else if (record->type == PERF_RECORD_EXIT && start.pid == start.child_thread)
		g_hash_table_remove(self->processes, GUINT_TO_POINTER(start.pid));
	else if (record->type == PERF_RECORD_COMM &&
		 (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
		lode_perf_mappings_add(self, (pid_t)start.pid, time_ns);
}

/* Whether some of it is not known yet; then all of it is. */
static bool is_new(uint64_t start, uint64_t end, const char *name, void *user_data)
{
	Process *self = user_data;
	bool is_heap = strcmp(name, "[heap]") == 0;
	bool is_first_heap = is_heap && !self->has_heap;
	uint64_t at = start;

	self->has_heap |= is_heap;
	while (at < end) {
		const LodeLiveRange *range = lode_live_ranges_find(self->known, at);
		if (range == NULL)
			break;
		at = range->end;
	}
	if (at >= end && !is_first_heap)
		return false;
	add_known(self, start, end);
	return true;
}

static void read_mappings(
	LodePerfMappings *self, Process *process, uint64_t now_ns, GByteArray *records)
{
	LodePerfExisting wanted = self->wanted;

	wanted.pid = process->pid;
	wanted.time_ns = process->since_ns;
	wanted.is_wanted = is_new;
	wanted.filter_data = process;
	lode_perf_existing_add_mappings(&wanted, records);
	process->is_due = false;
	process->since_ns = now_ns;
}

bool lode_perf_mappings_survey(LodePerfMappings *self, uint64_t now_ns, GByteArray *out_records)
{
	gint64 start_us = g_get_monotonic_time();
	bool is_all = start_us >= self->next_us;
	GHashTableIter at;
	gpointer process;

	g_hash_table_iter_init(&at, self->processes);
	while (g_hash_table_iter_next(&at, NULL, &process))
		if (is_all || ((Process *)process)->is_due)
			read_mappings(self, process, now_ns, out_records);
	gint64 end_us = g_get_monotonic_time();
	if (is_all)
		self->next_us = end_us + MAX(INTERVAL_US, COST_FACTOR * (end_us - start_us));
	return is_all;
}
