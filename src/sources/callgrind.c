/* SPDX-License-Identifier: MIT */
/*
 * Callgrind files → one recording: opens the files, has each scanned into flat rows, has the rows
 * merged, and checks the sums against the files' own totals.
 */
#include "sources/callgrind.h"

#include "base/error.h"
#include "base/input_file.h"
#include "sources/callgrind_records.h"

#include <math.h>
#include <string.h>

/* Callgrind writes as `totals:` what it summed while writing, so that any difference is damage. */
static bool check_totals(const LodeCallgrindRecords *records, GError **error)
{
	const LodeRecording *recording = records->recording;
	guint n_events = recording->events->len;
	double sums[LODE_CALLGRIND_MAX_EVENTS] = {0};

	if (!records->has_totals)
		return true;
	for (guint i = 0; i < recording->instructions->len; i++) {
		const LodeRecordedInstruction *instruction = &g_array_index(
			recording->instructions, LodeRecordedInstruction, i);
		for (uint32_t j = 0; j < instruction->n_values; j++)
			sums[j] += recording->values[instruction->first_value + j];
	}
	for (guint i = 0; i < n_events; i++) {
		double total = g_array_index(recording->totals, double, i);
		if (fabs(sums[i] - total) <= 1e-9 * total)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"the costs of event '%s' sum to %.0f but the file says %.0f",
			(char *)recording->events->pdata[i], sums[i], total);
		return false;
	}
	return true;
}

static LodeRecording *finish(LodeCallgrindRecords *records, GError **error)
{
	if (!lode_callgrind_merge(records, error) || !check_totals(records, error))
		return NULL;
	return g_steal_pointer(&records->recording);
}

static GPtrArray *open_files(
	const char *const *paths, size_t n_paths, size_t *out_size, GError **error)
{
	g_autoptr(GPtrArray)
		files = g_ptr_array_new_with_free_func((GDestroyNotify)lode_input_file_close);
	size_t size = 0;

	for (size_t i = 0; i < n_paths; i++) {
		LodeInputFile *file = lode_input_file_open(paths[i], error);
		if (file == NULL)
			return NULL;
		g_ptr_array_add(files, file);
		size += file->size;
	}
	*out_size = size;
	return g_steal_pointer(&files);
}

/* One file's text at a time is in memory: the rows hold copies of its names. */
static bool scan_files(LodeCallgrindRecords *records, const GPtrArray *files,
	const LodeProgress *progress, GError **error)
{
	for (guint i = 0; i < files->len; i++) {
		const LodeInputFile *file = files->pdata[i];
		g_autofree char *text = lode_input_file_load(file, 0, file->size, error);
		if (text == NULL)
			return false;
		if (!lode_callgrind_scan(records, text, file->size, progress, error)) {
			g_prefix_error(error, "%s: ", file->path);
			return false;
		}
	}
	return true;
}

LodeRecording *lode_callgrind_read(
	const char *const *paths, size_t n_paths, const LodeProgress *progress, GError **error)
{
	LodeCallgrindRecords records;
	LodeRecording *recording = NULL;
	size_t size;
	g_autoptr(GPtrArray) files = open_files(paths, n_paths, &size, error);

	if (files == NULL)
		return NULL;
	if (lode_callgrind_records_init(&records, size, error) &&
		scan_files(&records, files, progress, error)) {
		records.recording->bytes_read = size;
		recording = finish(&records, error);
		if (recording == NULL)
			g_prefix_error(error, "%s%s: ", n_paths > 0 ? paths[0] : "callgrind",
				n_paths > 1 ? " and others" : "");
	}
	lode_callgrind_records_clear(&records);
	return recording;
}

LodeRecording *lode_callgrind_read_text(
	const char *name, const char *text, size_t size, GError **error)
{
	LodeCallgrindRecords records;
	LodeRecording *recording = NULL;

	if (lode_callgrind_records_init(&records, size, error) &&
		lode_callgrind_scan(&records, text, size, NULL, error)) {
		records.recording->bytes_read = size;
		recording = finish(&records, error);
	}
	if (recording == NULL)
		g_prefix_error(error, "%s: ", name);
	lode_callgrind_records_clear(&records);
	return recording;
}

bool lode_callgrind_is_format(const char *data, size_t size)
{
	static const char *const starts[] = {
		"# callgrind format", "version: 1\n", "creator: callgrind"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (size >= strlen(starts[i]) && memcmp(data, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}
