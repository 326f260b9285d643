/* SPDX-License-Identifier: MIT */
#include "record/perf_features.h"

#include "record/perf_event_choice.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

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

/* Texts are padded to a multiple of this, with one NUL or more (NAME_ALIGN of perf). */
enum { TEXT_ALIGNMENT = 64 };

void lode_perf_feature_add_u32(GByteArray *section, uint32_t value)
{
	g_byte_array_append(section, (const guint8 *)&value, sizeof(value));
}

void lode_perf_feature_add_u64(GByteArray *section, uint64_t value)
{
	g_byte_array_append(section, (const guint8 *)&value, sizeof(value));
}

void lode_perf_feature_add_text(GByteArray *section, const char *text)
{
	static const guint8 zeros[TEXT_ALIGNMENT];
	guint length = (guint)strlen(text);
	guint padded = (length + TEXT_ALIGNMENT) / TEXT_ALIGNMENT * TEXT_ALIGNMENT;

	lode_perf_feature_add_u32(section, padded);
	g_byte_array_append(section, (const guint8 *)text, length);
	g_byte_array_append(section, zeros, padded - length);
}

void lode_perf_feature_add_list(GByteArray *section, const char *const *texts, size_t n)
{
	lode_perf_feature_add_u32(section, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		lode_perf_feature_add_text(section, texts[i]);
}

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
		lode_perf_feature_add_text(section, text);
	put(features, number, section);
}

static void put_machine(GPtrArray *features)
{
	g_autofree char *processor = lode_perf_machine_processor();
	g_autofree char *processor_id = lode_perf_machine_processor_id();
	GByteArray *cpus = g_byte_array_new(), *memory = g_byte_array_new();
	struct utsname names;

	if (uname(&names) == 0) {
		put_text(features, FEATURE_HOSTNAME, names.nodename);
		put_text(features, FEATURE_OSRELEASE, names.release);
		put_text(features, FEATURE_ARCH, names.machine);
	}
	put_text(features, FEATURE_CPUDESC, processor);
	put_text(features, FEATURE_CPUID, processor_id);
	lode_perf_feature_add_u32(cpus, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	lode_perf_feature_add_u32(cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	put(features, FEATURE_NRCPUS, cpus);
	lode_perf_feature_add_u64(memory,
		(uint64_t)sysconf(_SC_PHYS_PAGES) * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024));
	put(features, FEATURE_TOTAL_MEM, memory);
	put(features, FEATURE_CPU_TOPOLOGY, lode_perf_machine_cpus());
	put(features, FEATURE_NUMA_TOPOLOGY, lode_perf_machine_numa());
}

static GByteArray *describe_events(const GPtrArray *choices)
{
	GByteArray *section = g_byte_array_new();

	lode_perf_feature_add_u32(section, choices->len);
	lode_perf_feature_add_u32(section, sizeof(struct perf_event_attr));
	for (guint i = 0; i < choices->len; i++) {
		const LodePerfChoice *choice = choices->pdata[i];
		g_byte_array_append(section, (const guint8 *)&choice->attr, sizeof(choice->attr));
		lode_perf_feature_add_u32(section, choice->ids->len);
		lode_perf_feature_add_text(section, choice->name);
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
	lode_perf_feature_add_u32(section, 1);
	lode_perf_feature_add_u32(section, CLOCK_MONOTONIC);
	lode_perf_feature_add_u64(section, nanoseconds(&wall));
	lode_perf_feature_add_u64(section, nanoseconds(&monotonic));
	return section;
}

static GByteArray *clock_resolution(void)
{
	GByteArray *section = g_byte_array_new();
	struct timespec resolution;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	lode_perf_feature_add_u64(section, nanoseconds(&resolution));
	return section;
}

static GByteArray *sample_times(const LodePerfTally *tally)
{
	GByteArray *section = g_byte_array_new();

	lode_perf_feature_add_u64(section, tally->first_time_ns);
	lode_perf_feature_add_u64(section, tally->last_time_ns);
	return section;
}

static GByteArray *command_line(const char *const *words)
{
	GByteArray *section = g_byte_array_new();

	if (words != NULL)
		lode_perf_feature_add_list(section, words, g_strv_length((char **)words));
	return section;
}

static void add_time(GPtrArray *texts, const char *name, uint64_t time_ns)
{
	g_ptr_array_add(texts, g_strdup_printf("%s=%" G_GUINT64_FORMAT, name, time_ns));
}

static GByteArray *describe_program(const LodePerfFeatureInput *input)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	GByteArray *section = g_byte_array_new();

	if (input->cpu_time != NULL) {
		add_time(texts, "user-ns", input->cpu_time->user_ns);
		add_time(texts, "system-ns", input->cpu_time->system_ns);
	}
	if (input->program != NULL)
		g_ptr_array_add(texts, g_strdup("--"));
	for (size_t i = 0; input->program != NULL && input->program[i] != NULL; i++)
		g_ptr_array_add(texts, g_strdup(input->program[i]));
	if (texts->len > 0)
		lode_perf_feature_add_list(section, (const char *const *)texts->pdata, texts->len);
	return section;
}

/* One that has no content: that it is there says it all. */
static void put_flag(GPtrArray *features, unsigned number)
{
	features->pdata[number] = g_bytes_new_static("", 0);
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
	put(features, FEATURE_BUILD_ID, lode_perf_build_ids_make(input->tally->executables));
	put(features, FEATURE_CMDLINE, command_line(input->command));
	put(features, FEATURE_EVENT_DESC, describe_events(input->choices));
	put(features, FEATURE_SAMPLE_TIME, sample_times(input->tally));
	put(features, FEATURE_CLOCKID, clock_resolution());
	put(features, FEATURE_CLOCK_DATA, clock_data());
	put(features, FEATURE_LODE, describe_program(input));
	if (input->has_branch_stacks)
		put_flag(features, FEATURE_BRANCH_STACK);
	return features;
}
