/* SPDX-License-Identifier: MIT */
/* Any bytes as perf.data: all that a record points to can be read, and a second reading finds the
 * same. */
#include "fuzz_target.h"
#include "sources/perf_data/perf_data.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Compressed data may unpack to more than is worth waiting for. */
enum { MAX_RECORDS = 20000, MAX_KEPT = 4, MAX_KEPT_BYTES = 1 << 20 };

typedef struct {
	uint64_t n, sum;
	LodePerfNext end;
} Reading;

/* Not g_error(): libFuzzer does not catch its SIGTRAP and would not keep the input. */
static void fail(const char *message)
{
	g_printerr("%s\n", message);
	abort();
}

static void add_bytes(Reading *reading, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++)
		reading->sum = reading->sum * 31 + at[i];
}

static void add_sample(Reading *reading, const LodePerfSample *sample, const LodePerfEvent *event)
{
	size_t n_user = (size_t)__builtin_popcountll(event->user_registers);
	size_t n_interrupt = (size_t)__builtin_popcountll(event->interrupt_registers);

	add_bytes(reading, &sample->ip, sizeof(sample->ip));
	add_bytes(reading, sample->callchain, sample->n_callchain * 8);
	add_bytes(reading, sample->branches, sample->n_branches * sizeof(LodePerfBranch));
	add_bytes(reading, sample->stack, sample->stack_size);
	add_bytes(reading, sample->raw, sample->raw_size);
	add_bytes(reading, sample->read_values, sample->n_read_values * 8);
	if (sample->branch_counters != NULL)
		add_bytes(reading, sample->branch_counters, sample->n_branches * 8);
	if (sample->user_registers != NULL)
		add_bytes(reading, sample->user_registers, n_user * 8);
	if (sample->interrupt_registers != NULL)
		add_bytes(reading, sample->interrupt_registers, n_interrupt * 8);
}

static void add_record(Reading *reading, const LodePerfRecord *record, LodePerfData *file)
{
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(file, &n_events);

	reading->n++;
	add_bytes(reading, &record->time_ns, sizeof(record->time_ns));
	if (record->kind == LODE_PERF_SAMPLE) {
		if (record->event >= n_events)
			fail("a sample of no event");
		add_sample(reading, &record->sample, &events[record->event]);
		g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(LodePerfCount));
		lode_perf_data_read_counts(file, record, counts);
		for (guint i = 0; i < counts->len; i++) {
			const LodePerfCount *count = &g_array_index(counts, LodePerfCount, i);
			if (count->event != UINT32_MAX && count->event >= n_events)
				fail("a count of no event");
			add_bytes(reading, &count->value, sizeof(count->value));
		}
	}
	if (record->kind == LODE_PERF_COMMAND)
		add_bytes(reading, record->text, strlen(record->text));
	if (record->kind == LODE_PERF_MAPPING) {
		add_bytes(reading, record->mapping.path, strlen(record->mapping.path));
		add_bytes(reading, record->mapping.build_id, record->mapping.build_id_size);
	}
}

static Reading read_all(LodePerfData *file)
{
	g_autoptr(GError) error = NULL;
	Reading reading = {.end = LODE_PERF_NEXT_RECORD};
	LodePerfRecord record;

	while (reading.end == LODE_PERF_NEXT_RECORD && reading.n < MAX_RECORDS) {
		reading.end = lode_perf_data_next(file, &record, &error);
		if (reading.end == LODE_PERF_NEXT_RECORD)
			add_record(&reading, &record, file);
	}
	if ((reading.end == LODE_PERF_NEXT_ERROR) != (error != NULL))
		fail("an error without a message, or a message without an error");
	return reading;
}

/* In a pipe, what came late in the first reading is known from the start in the second; so are
 * callers that came after their samples. */
static void check_second_reading(LodePerfData *file, const Reading *first)
{
	uint64_t n_skipped = lode_perf_data_info(file)->left_out.n_skipped;
	bool is_deferred = lode_perf_data_info(file)->left_out.n_missing_chains > 0;
	Reading second;

	lode_perf_data_rewind(file);
	second = read_all(file);
	if (lode_perf_data_info(file)->is_pipe || is_deferred)
		return;
	if (first->n != second.n || first->sum != second.sum || first->end != second.end ||
		n_skipped != lode_perf_data_info(file)->left_out.n_skipped)
		fail("a second reading differs");
}

static void check_info(LodePerfData *file)
{
	const LodePerfInfo *info = lode_perf_data_info(file);
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(file, &n_events);

	for (size_t i = 0; i < n_events; i++)
		if (!g_utf8_validate(events[i].name, -1, NULL))
			fail("an event without a name");
	for (guint i = 0; i < info->build_ids->len; i++) {
		const LodePerfBuildId *entry = &g_array_index(info->build_ids, LodePerfBuildId, i);
		if (strlen(entry->build_id) > 40 || entry->path == NULL)
			fail("a build-id of wrong length");
	}
	if (lode_perf_data_position(file) > lode_perf_data_size(file))
		fail("behind the end");
}

/* What a file claims to be is what is written, or nothing is. */
static void check_kept_files(LodePerfData *file)
{
	const GArray *files = lode_perf_data_info(file)->files;
	g_autofree char *path = g_strdup_printf(
		"%s/fuzz-perf-data-%d", g_get_tmp_dir(), (int)getpid());
	struct stat status;

	for (guint i = 0; i < MIN(files->len, MAX_KEPT); i++) {
		const LodePerfFile *kept = &g_array_index(files, LodePerfFile, i);
		g_autoptr(GError) error = NULL;
		if (kept->build_id != NULL && strlen(kept->build_id) > 128)
			fail("a build-id of wrong length");
		if (kept->content_size == 0 || kept->size > MAX_KEPT_BYTES)
			continue;
		bool is_whole = lode_perf_data_unpack(file, kept, path, &error);
		bool is_there = stat(path, &status) == 0;
		if (is_whole != (error == NULL) || is_whole != is_there ||
			(is_whole && (uint64_t)status.st_size != kept->size))
			fail("a copy that is not as it says");
		if (is_there)
			unlink(path);
	}
}

/* A log has as many bytes as it says, or is damaged. */
static void check_window_logs(LodePerfData *file)
{
	const GArray *logs = lode_perf_data_info(file)->window_logs;

	for (guint i = 0; i < MIN(logs->len, MAX_KEPT); i++) {
		const LodePerfWindowLog *log = &g_array_index(logs, LodePerfWindowLog, i);
		g_autoptr(GError) error = NULL;
		if (log->raw_size > MAX_KEPT_BYTES)
			continue;
		g_autoptr(GBytes) bytes = lode_perf_data_window_log(file, i, &error);
		if ((bytes != NULL) != (error == NULL) ||
			(bytes != NULL && g_bytes_get_size(bytes) != log->raw_size))
			fail("a log that is not as it says");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfData) file = lode_perf_data_open(fuzz_file(data, size), &error);

	if ((file != NULL) == (error != NULL))
		fail("a result and an error");
	if (file == NULL)
		return 0;
	Reading first = read_all(file);
	check_info(file);
	check_second_reading(file, &first);
	check_kept_files(file);
	check_window_logs(file);
	return 0;
}
