/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_writer.h"

#include "base/arrays/sort_order.h"
#include "base/byte_append.h"
#include "machine/figures/core_figures.h"
#include "machine/figures/memory_rates.h"
#include "machine/processor.h"
#include "record/events/perf_event_choice.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Texts are padded to a multiple of this, with one NUL or more (NAME_ALIGN of perf). */
enum { TEXT_ALIGNMENT = 64 };

/* Building blocks: integers in our byte order, strings with their padded length in front. */
static void add_text(GByteArray *section, const char *text)
{
	static const guint8 zeros[TEXT_ALIGNMENT];
	guint length = (guint)strlen(text);
	guint padded = (length + TEXT_ALIGNMENT) / TEXT_ALIGNMENT * TEXT_ALIGNMENT;

	lode_append_u32(section, padded);
	g_byte_array_append(section, (const guint8 *)text, length);
	g_byte_array_append(section, zeros, padded - length);
}

/* Count, then the strings. */
static void add_list(GByteArray *section, const char *const *texts, size_t n)
{
	lode_append_u32(section, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		add_text(section, texts[i]);
}

/* --- build-ids --- */

enum {
	MAX_BUILD_ID = 20,
	PATH_ALIGNMENT = 64,
	RECORD_BUILD_ID = 67,         /* perf's number */
	MISC_BUILD_ID_SIZE = 1 << 15, /* the byte after the id is its size */
};

typedef struct {
	struct perf_event_header header;
	int32_t pid;
	uint8_t build_id[MAX_BUILD_ID], size, reserved[3];
} Entry;

/* The build-id table: entries of the files that have a GNU build-id, by path; may be empty. */
static GByteArray *perf_build_ids_make(LodeKeptFiles *files)
{
	static const guint8 zeros[PATH_ALIGNMENT];
	GByteArray *section = g_byte_array_new();
	const GPtrArray *list = lode_kept_files_list(files);

	for (guint i = 0; i < list->len; i++) {
		const LodeKeptFile *file = list->pdata[i];
		const char *path = file->mapped.path;
		guint length = (guint)strlen(path);
		guint padded = (length + PATH_ALIGNMENT) / PATH_ALIGNMENT * PATH_ALIGNMENT;
		Entry entry = {
			.header = {RECORD_BUILD_ID, PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE,
				(uint16_t)(sizeof(entry) + padded)},
			.pid = -1,
			.size = (uint8_t)MIN(file->build_id_size, MAX_BUILD_ID),
		};
		if (file->build_id_size == 0)
			continue;
		memcpy(entry.build_id, file->build_id, entry.size);
		g_byte_array_append(section, (const guint8 *)&entry, sizeof(entry));
		g_byte_array_append(section, (const guint8 *)path, length);
		g_byte_array_append(section, zeros, padded - length);
	}
	return section;
}

/* --- the machine --- */

/* The machine's description from /proc and /sys, for the feature sections. */

#define CPU_FOLDER "/sys/devices/system/cpu/cpu"
#define NODE_FOLDER "/sys/devices/system/node/"

/* The text of a CPU's topology file, or NULL. */
static char *cpu_text(long cpu, const char *name)
{
	g_autofree char *path = g_strdup_printf(CPU_FOLDER "%ld/topology/%s", cpu, name);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? g_strchomp(text) : NULL;
}

static uint32_t cpu_number(long cpu, const char *name)
{
	g_autofree char *text = cpu_text(cpu, name);

	return text != NULL ? (uint32_t)strtol(text, NULL, 10) : UINT32_MAX;
}

/* Each list once, in the order of the CPUs. */
static void add_siblings(GByteArray *section, const char *name, long n_cpus)
{
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);

	for (long cpu = 0; cpu < n_cpus; cpu++) {
		g_autofree char *text = cpu_text(cpu, name);
		if (text != NULL &&
			!g_ptr_array_find_with_equal_func(lists, text, g_str_equal, NULL))
			g_ptr_array_add(lists, g_steal_pointer(&text));
	}
	add_list(section, (const char *const *)lists->pdata, lists->len);
}

/* CPU_TOPOLOGY and NUMA_TOPOLOGY; empty where the kernel does not say. */
static GByteArray *perf_machine_cpus(void)
{
	GByteArray *section = g_byte_array_new();
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (cpu_number(0, "core_id") == UINT32_MAX)
		return section;
	add_siblings(section, "core_siblings_list", n_cpus);
	add_siblings(section, "thread_siblings_list", n_cpus);
	for (long cpu = 0; cpu < n_cpus; cpu++) {
		lode_append_u32(section, cpu_number(cpu, "core_id"));
		lode_append_u32(section, cpu_number(cpu, "physical_package_id"));
	}
	return section;
}

static uint64_t kilobytes(const char *text, uint32_t node, const char *key)
{
	g_autofree char *line = g_strdup_printf("Node %u %s", node, key);
	g_autofree char *value = lode_proc_value(text, line);

	return value != NULL ? g_ascii_strtoull(value, NULL, 10) : 0;
}

static bool add_node(GByteArray *section, uint32_t node)
{
	g_autofree char *list_path = g_strdup_printf(NODE_FOLDER "node%u/cpulist", node);
	g_autofree char *memory_path = g_strdup_printf(NODE_FOLDER "node%u/meminfo", node);
	g_autofree char *cpus = NULL;
	g_autofree char *memory = NULL;

	if (!g_file_get_contents(list_path, &cpus, NULL, NULL) ||
		!g_file_get_contents(memory_path, &memory, NULL, NULL))
		return false;
	lode_append_u32(section, node);
	lode_append_u64(section, kilobytes(memory, node, "MemTotal"));
	lode_append_u64(section, kilobytes(memory, node, "MemFree"));
	add_text(section, g_strchomp(cpus));
	return true;
}

static GByteArray *perf_machine_numa(void)
{
	GByteArray *section = g_byte_array_new(), *nodes = g_byte_array_new();
	g_autoptr(GDir) listing = g_dir_open(NODE_FOLDER, 0, NULL);
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t n = 0;
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		if (g_str_has_prefix(name, "node") && g_ascii_isdigit(name[4])) {
			uint32_t number = (uint32_t)strtoul(name + 4, NULL, 10);
			g_array_append_val(numbers, number);
		}
	g_array_sort(numbers, lode_compare_u32);
	for (guint i = 0; i < numbers->len; i++)
		n += add_node(nodes, g_array_index(numbers, uint32_t, i));
	if (n > 0) {
		lode_append_u32(section, n);
		g_byte_array_append(section, nodes->data, nodes->len);
	}
	g_byte_array_unref(nodes);
	return section;
}

/* --- all features --- */

/* perf's numbers. */
enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCKID = 23,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_LODE = 255, /* the last that there can be: perf will not come to use it */
	N_FEATURES = 256,
};

/* Takes the section; an empty one is left out. */
static void put(GPtrArray *features, unsigned number, GByteArray *section)
{
	if (section->len == 0) {
		g_byte_array_unref(section);
		return;
	}
	features->pdata[number] = g_byte_array_free_to_bytes(section);
}

static void put_text(GPtrArray *features, unsigned number, const char *text)
{
	GByteArray *section = g_byte_array_new();

	if (text != NULL)
		add_text(section, text);
	put(features, number, section);
}

static void put_machine(GPtrArray *features)
{
	g_autofree char *processor = lode_processor_name();
	g_autofree char *processor_id = lode_processor_id();
	GByteArray *cpus = g_byte_array_new(), *memory = g_byte_array_new();
	struct utsname names;

	if (uname(&names) == 0) {
		put_text(features, FEATURE_HOSTNAME, names.nodename);
		put_text(features, FEATURE_OSRELEASE, names.release);
		put_text(features, FEATURE_ARCH, names.machine);
	}
	put_text(features, FEATURE_CPUDESC, processor);
	put_text(features, FEATURE_CPUID, processor_id);
	lode_append_u32(cpus, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	lode_append_u32(cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	put(features, FEATURE_NRCPUS, cpus);
	lode_append_u64(memory,
		(uint64_t)sysconf(_SC_PHYS_PAGES) * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024));
	put(features, FEATURE_TOTAL_MEM, memory);
	put(features, FEATURE_CPU_TOPOLOGY, perf_machine_cpus());
	put(features, FEATURE_NUMA_TOPOLOGY, perf_machine_numa());
}

static GByteArray *describe_events(const GPtrArray *choices)
{
	GByteArray *section = g_byte_array_new();

	lode_append_u32(section, choices->len);
	lode_append_u32(section, sizeof(struct perf_event_attr));
	for (guint i = 0; i < choices->len; i++) {
		const LodePerfChoice *choice = choices->pdata[i];
		g_byte_array_append(section, (const guint8 *)&choice->attr, sizeof(choice->attr));
		lode_append_u32(section, choice->ids->len);
		add_text(section, choice->name);
		g_byte_array_append(section, (const guint8 *)choice->ids->data,
			choice->ids->len * (guint)sizeof(uint64_t));
	}
	return section;
}

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * G_GUINT64_CONSTANT(1000000000) + (uint64_t)time->tv_nsec;
}

/* Both clocks at one moment, so that the time of day of a sample can be had. */
static GByteArray *clock_data(void)
{
	GByteArray *section = g_byte_array_new();
	struct timespec wall, monotonic;

	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_REALTIME, &wall);
	lode_append_u32(section, 1);
	lode_append_u32(section, CLOCK_MONOTONIC);
	lode_append_u64(section, nanoseconds(&wall));
	lode_append_u64(section, nanoseconds(&monotonic));
	return section;
}

static GByteArray *clock_resolution(void)
{
	GByteArray *section = g_byte_array_new();
	struct timespec resolution;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	lode_append_u64(section, nanoseconds(&resolution));
	return section;
}

static GByteArray *sample_times(const LodePerfTally *tally)
{
	GByteArray *section = g_byte_array_new();

	lode_append_u64(section, tally->first_time_ns);
	lode_append_u64(section, tally->last_time_ns);
	return section;
}

static GByteArray *command_line(const char *const *words)
{
	GByteArray *section = g_byte_array_new();

	if (words != NULL)
		add_list(section, words, g_strv_length((char **)words));
	return section;
}

static void add_number(GPtrArray *texts, const char *name, uint64_t number)
{
	g_ptr_array_add(texts, g_strdup_printf("%s=%" G_GUINT64_FORMAT, name, number));
}

static void add_speed(GPtrArray *texts, const LodeMachineSpeed *speed)
{
	if (speed->runs <= 0)
		return;
	add_number(texts, "speed-runs", (uint64_t)speed->runs);
	add_number(texts, "chain-fs", (uint64_t)(speed->chain_ns * 1e6));
	add_number(texts, "chain-scatter-ppm", (uint64_t)(speed->chain_scatter * 1e6));
	add_number(texts, "walk-fs", (uint64_t)(speed->walk_ns * 1e6));
	add_number(texts, "walk-scatter-ppm", (uint64_t)(speed->walk_scatter * 1e6));
	add_number(texts, "steal-ppm", (uint64_t)(speed->steal * 1e6));
	add_number(texts, "others-ppm", (uint64_t)(speed->others * 1e6));
}

/* "cycles-load=4000,3990,4020": thousandths. */
static void add_core_figures(GPtrArray *texts, const LodeCoreFigures *figures)
{
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++) {
		const LodeCoreCycles *cycles = &figures->of[i];
		if (lode_core_cycles_are_valid(cycles))
			g_ptr_array_add(texts, g_strdup_printf("cycles-%s=%.0f,%.0f,%.0f",
						       lode_core_figure_name((LodeCoreFigure)i),
						       cycles->median * 1e3, cycles->low * 1e3,
						       cycles->high * 1e3));
	}
}

static GByteArray *describe_program(const LodePerfFeatureInput *input)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	GByteArray *section = g_byte_array_new();
	const LodeSampleCost *cost = &input->sample_cost;

	if (input->sampling != NULL)
		g_ptr_array_add(texts, g_strconcat(input->is_by_ptrace ? "by-ptrace=" : "sampling=",
					       input->sampling, NULL));
	if (input->cpu_time != NULL) {
		add_number(texts, "user-ns", input->cpu_time->user_ns);
		add_number(texts, "system-ns", input->cpu_time->system_ns);
	}
	if (input->n_page_faults > 0)
		add_number(texts, "page-faults", input->n_page_faults);
	if (input->n_processors > 0)
		add_number(texts, "processors", input->n_processors);
	if (cost->sample_ns > 0) {
		add_number(texts, "sample-ns", (uint64_t)cost->sample_ns);
		add_number(texts, "sample-error-ns", (uint64_t)cost->sample_error_ns);
	}
	if (cost->cycles_per_ns > 0)
		add_number(texts, "clock-khz", (uint64_t)(cost->cycles_per_ns * 1e6));
	if (input->wall_ns > 0)
		add_number(texts, "wall-ns", input->wall_ns);
	add_speed(texts, &input->speed);
	for (LodeRateLevel i = LODE_RATE_L1; i < LODE_N_RATES; i++) {
		const double rates[] = {input->rates.read[i], input->rates.write[i]};
		static const char *const names[] = {"read-", "write-"};
		for (unsigned k = 0; k < 2; k++) {
			g_autofree char *name = g_strconcat(
				names[k], lode_rate_level_name(i), "-mb", NULL);
			if (rates[k] > 0)
				add_number(texts, name, (uint64_t)(rates[k] * 1e3));
		}
	}
	add_core_figures(texts, &input->core_figures);
	if (input->program != NULL)
		g_ptr_array_add(texts, g_strdup("--"));
	for (size_t i = 0; input->program != NULL && input->program[i] != NULL; i++)
		g_ptr_array_add(texts, g_strdup(input->program[i]));
	if (texts->len > 0)
		add_list(section, (const char *const *)texts->pdata, texts->len);
	return section;
}

static void unref_bytes(void *data)
{
	if (data != NULL)
		g_bytes_unref(data);
}

GPtrArray *lode_perf_features_make(const LodePerfFeatureInput *input)
{
	GPtrArray *features = g_ptr_array_new_with_free_func(unref_bytes);

	g_ptr_array_set_size(features, N_FEATURES);
	put_machine(features);
	put_text(features, FEATURE_VERSION, "lode " LODE_VERSION);
	put(features, FEATURE_BUILD_ID, perf_build_ids_make(input->tally->files));
	put(features, FEATURE_CMDLINE, command_line(input->command));
	put(features, FEATURE_EVENT_DESC, describe_events(input->choices));
	put(features, FEATURE_SAMPLE_TIME, sample_times(input->tally));
	put(features, FEATURE_CLOCKID, clock_resolution());
	put(features, FEATURE_CLOCK_DATA, clock_data());
	put(features, FEATURE_LODE, describe_program(input));
	/* It has no content: that it is there says it all. */
	if (input->has_branch_stacks)
		features->pdata[FEATURE_BRANCH_STACK] = g_bytes_new_static("", 0);
	return features;
}
