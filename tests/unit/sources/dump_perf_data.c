/* SPDX-License-Identifier: MIT */
/*
 * Prints what the reader finds in a perf.data file, a line a record: the tests compare it with what
 * perf script says of the same file. Fields that the file does not have are left out.
 */
#include "sources/perf_data/perf_data.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static void print_event(size_t index, const LodePerfEvent *event)
{
	printf("event %zu sample_type=0x%" PRIx64 " period=%" PRIu64 " name=%s\n", index,
		event->sample_type, event->period_or_frequency, event->name);
}

static void print_callchain(const LodePerfSample *sample)
{
	printf(" callchain=");
	for (size_t i = 0; i < sample->n_callchain; i++)
		printf("%s%" PRIx64, i > 0 ? "," : "", sample->callchain[i]);
}

static void print_branches(const LodePerfSample *sample)
{
	printf(" branches=");
	for (size_t i = 0; i < sample->n_branches; i++) {
		const LodePerfBranch *branch = &sample->branches[i];
		char prediction = branch->flags & 1 ? 'M' : branch->flags & 2 ? 'P' : '-';
		printf("%s0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%" PRIu64, i > 0 ? "," : "",
			branch->source, branch->target, prediction, branch->flags & 4 ? 'X' : '-',
			branch->flags & 8 ? 'A' : '-', branch->flags >> 4 & 0xffff);
	}
}

static void print_words(const char *name, const uint64_t *words, size_t n)
{
	printf(" %s=", name);
	for (size_t i = 0; i < n && words != NULL; i++)
		printf("%s0x%" PRIx64, i > 0 ? "," : "", words[i]);
}

static void print_sample(const LodePerfRecord *record, const LodePerfEvent *event)
{
	const LodePerfSample *sample = &record->sample;
	const uint64_t type = event->sample_type;
	uint64_t period = event->has_period ? sample->period : event->period_or_frequency;

	printf("sample time=%" PRIu64 " pid=%d tid=%d ip=%" PRIx64 " period=%" PRIu64 " mode=%d",
		record->time_ns, (int)record->pid, (int)record->tid, sample->ip, period,
		record->mode);
	if (type & PERF_SAMPLE_CPU)
		printf(" cpu=%u", sample->cpu);
	if (type & PERF_SAMPLE_ADDR)
		printf(" addr=%" PRIx64, sample->address);
	if (type & PERF_SAMPLE_DATA_SRC)
		printf(" data_src=%" PRIx64, sample->data_source);
	if (type & PERF_SAMPLE_WEIGHT)
		printf(" weight=%" PRIu64, sample->weight);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		printf(" weight=%" PRIu64 " ins_lat=%" PRIu64, sample->weight & UINT32_MAX,
			sample->weight >> 32 & 0xffff);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		printf(" phys_addr=%" PRIx64, sample->physical_address);
	if (type & PERF_SAMPLE_CALLCHAIN)
		print_callchain(sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		print_branches(sample);
	if (type & PERF_SAMPLE_REGS_USER) {
		printf(" uabi=%" PRIu64, sample->user_abi);
		print_words("uregs", sample->user_registers,
			(size_t)__builtin_popcountll(event->user_registers));
	}
	if (type & PERF_SAMPLE_REGS_INTR) {
		printf(" iabi=%" PRIu64, sample->interrupt_abi);
		print_words("iregs", sample->interrupt_registers,
			(size_t)__builtin_popcountll(event->interrupt_registers));
	}
	if (type & PERF_SAMPLE_STACK_USER)
		printf(" stack=%zu", sample->stack_size);
	if (type & PERF_SAMPLE_READ)
		print_words("read", sample->read_values, sample->n_read_values);
	if (type & PERF_SAMPLE_RAW)
		printf(" raw=%zu", sample->raw_size);
	printf(" event=%s\n", event->name);
}

static void print_mapping(const LodePerfRecord *record)
{
	const LodePerfMapping *mapping = &record->mapping;

	printf("mapping time=%" PRIu64 " pid=%d tid=%d start=%" PRIx64 " size=%" PRIx64
	       " offset=%" PRIx64 " protection=%u build_id=",
		record->time_ns, (int)record->pid, (int)record->tid, mapping->start, mapping->size,
		mapping->offset, mapping->protection);
	for (size_t i = 0; i < mapping->build_id_size; i++)
		printf("%02x", mapping->build_id[i]);
	if (mapping->inode != 0)
		printf(" inode=%02x:%02x/%" PRIu64 "/%" PRIu64, mapping->device_major,
			mapping->device_minor, mapping->inode, mapping->generation);
	printf(" path=%s\n", mapping->path);
}

static void print_record(const LodePerfRecord *record, const LodePerfEvent *events)
{
	static const char *const names[] = {
		[LODE_PERF_FORK] = "fork",
		[LODE_PERF_EXIT] = "exit",
		[LODE_PERF_LOST] = "lost",
		[LODE_PERF_LOST_SAMPLES] = "lost_samples",
		[LODE_PERF_THROTTLE] = "throttle",
		[LODE_PERF_UNTHROTTLE] = "unthrottle",
	};

	switch (record->kind) {
	case LODE_PERF_SAMPLE:
		print_sample(record, &events[record->event]);
		return;
	case LODE_PERF_MAPPING:
		print_mapping(record);
		return;
	case LODE_PERF_COMMAND:
		printf("comm time=%" PRIu64 " pid=%d tid=%d exec=%d name=%s\n", record->time_ns,
			(int)record->pid, (int)record->tid, record->is_exec, record->text);
		return;
	case LODE_PERF_SWITCH:
		printf("switch time=%" PRIu64 " pid=%d tid=%d way=%s\n", record->time_ns,
			(int)record->pid, (int)record->tid,
			!record->is_out        ? "IN"
			: record->is_preempted ? "OUT-preempt"
					       : "OUT");
		return;
	default:
		printf("%s time=%" PRIu64 " pid=%d tid=%d ppid=%d ptid=%d value=%" PRIu64 "\n",
			names[record->kind], record->time_ns, (int)record->pid, (int)record->tid,
			(int)record->parent_pid, (int)record->parent_tid, record->value);
		return;
	}
}

static void print_info(const LodePerfInfo *info)
{
	printf("info host=%s\ninfo os_release=%s\ninfo version=%s\ninfo architecture=%s\n"
	       "info cpu_description=%s\ninfo cpu_id=%s\ninfo command=%s\n",
		info->host, info->os_release, info->version, info->architecture,
		info->cpu_description, info->cpu_id, info->command);
	printf("info cpus_online=%u\ninfo cpus_available=%u\ninfo memory=%" PRIu64
	       "\ninfo clock_id=%d\n",
		info->n_cpus_online, info->n_cpus_available, info->total_memory_kib,
		info->clock_id);
	for (guint i = 0; i < info->numa_nodes->len; i++) {
		const LodePerfNumaNode *node = &g_array_index(
			info->numa_nodes, LodePerfNumaNode, i);
		printf("info numa node=%u total=%" PRIu64 " free=%" PRIu64 " cpus=%s\n", node->node,
			node->total_kib, node->free_kib, node->cpus);
	}
	for (guint i = 0; i < info->core_siblings->len; i++)
		printf("info cores=%s\n", (const char *)info->core_siblings->pdata[i]);
	for (guint i = 0; i < info->thread_siblings->len; i++)
		printf("info threads=%s\n", (const char *)info->thread_siblings->pdata[i]);
	for (guint i = 0; i < info->build_ids->len; i++) {
		const LodePerfBuildId *entry = &g_array_index(info->build_ids, LodePerfBuildId, i);
		printf("build_id pid=%d mode=%d %s %s\n", (int)entry->pid, entry->mode,
			entry->build_id, entry->path);
	}
	printf("info pipe=%d swapped=%d truncated=%d skipped=%" PRIu64 " unknown_features=%" PRIu64
	       " damaged_features=%" PRIu64 " unknown_ids=%" PRIu64 " aux=%" PRIu64
	       " compressed=%" PRIu64 " decompressed=%" PRIu64 "\n",
		info->is_pipe, info->is_swapped, info->is_truncated, info->left_out.n_skipped,
		info->left_out.n_unknown_features, info->left_out.n_damaged_features,
		info->left_out.n_unknown_ids, info->left_out.aux_bytes, info->compressed_bytes,
		info->decompressed_bytes);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	LodePerfRecord record;
	LodePerfNext next;
	size_t n_events;

	if (argc != 2) {
		fputs("usage: dump_perf_data perf.data\n", stderr);
		return 2;
	}
	g_autoptr(LodePerfData) file = lode_perf_data_open(argv[1], &error);
	while (file != NULL &&
		(next = lode_perf_data_next(file, &record, &error)) == LODE_PERF_NEXT_RECORD)
		print_record(&record, lode_perf_data_events(file, &n_events));
	if (error != NULL) {
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	const LodePerfEvent *events = lode_perf_data_events(file, &n_events);
	for (size_t i = 0; i < n_events; i++)
		print_event(i, &events[i]);
	print_info(lode_perf_data_info(file));
	return 0;
}
