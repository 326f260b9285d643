/* SPDX-License-Identifier: MIT */
/*
 * Callgrind files → one recording: opens the files, has each scanned into flat rows, has the rows
 * merged, and checks the sums against the files' own totals.
 */
#include "sources/callgrind.h"

#include "base/error.h"
#include "sources/callgrind_records.h"

#include <math.h>
#include <string.h>

void lode_callgrind_recording_free(LodeCallgrindRecording *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->events, g_ptr_array_unref);
	g_clear_pointer(&self->totals, g_array_unref);
	g_clear_pointer(&self->objects, g_array_unref);
	g_clear_pointer(&self->names, g_ptr_array_unref);
	g_clear_pointer(&self->values, g_array_unref);
	g_clear_pointer(&self->instructions, g_array_unref);
	g_clear_pointer(&self->jumps, g_array_unref);
	g_clear_pointer(&self->calls, g_array_unref);
	g_clear_pointer(&self->strings, g_string_chunk_free);
	g_free(self);
}

static LodeCallgrindRecording *recording_new(void)
{
	LodeCallgrindRecording *self = g_new0(LodeCallgrindRecording, 1);

	self->strings = g_string_chunk_new(1 << 16);
	self->events = g_ptr_array_new();
	self->totals = g_array_new(FALSE, TRUE, sizeof(double));
	self->objects = g_array_new(FALSE, TRUE, sizeof(LodeCallgrindObject));
	self->names = g_ptr_array_new();
	self->values = g_array_new(FALSE, TRUE, sizeof(double));
	self->instructions = g_array_new(FALSE, TRUE, sizeof(LodeCallgrindInstruction));
	self->jumps = g_array_new(FALSE, TRUE, sizeof(LodeCallgrindJump));
	self->calls = g_array_new(FALSE, TRUE, sizeof(LodeCallgrindCall));
	return self;
}

static void records_init(LodeCallgrindRecords *self)
{
	memset(self, 0, sizeof(*self));
	self->recording = recording_new();
	self->name_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->object_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->layouts = g_array_new(FALSE, TRUE, sizeof(LodeCallgrindLayout));
	self->has_totals = true;
}

static void records_clear(LodeCallgrindRecords *self)
{
	lode_callgrind_recording_free(self->recording);
	g_hash_table_unref(self->name_ids);
	g_hash_table_unref(self->object_ids);
	g_array_unref(self->layouts);
	g_free(self->costs);
	g_free(self->values);
	g_free(self->jumps);
	g_free(self->calls);
}

void *lode_callgrind_grow(void *rows, size_t *room, size_t size, GError **error)
{
	size_t wanted = MAX(*room * 2, 4096);
	void *grown = wanted > SIZE_MAX / size ? NULL : g_try_realloc(rows, wanted * size);

	if (grown == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "no memory for %zu rows", wanted);
	else
		*room = wanted;
	return grown;
}

/* Callgrind writes as `totals:` what it summed while writing, so that any difference is damage. */
static bool check_totals(const LodeCallgrindRecords *records, GError **error)
{
	const LodeCallgrindRecording *recording = records->recording;
	guint n_events = recording->events->len;
	double sums[LODE_CALLGRIND_MAX_EVENTS] = {0};

	if (!records->has_totals)
		return true;
	for (guint i = 0; i < recording->values->len; i++)
		sums[i % n_events] += g_array_index(recording->values, double, i);
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

static LodeCallgrindRecording *finish(LodeCallgrindRecords *records, GError **error)
{
	if (!lode_callgrind_merge(records, error) || !check_totals(records, error))
		return NULL;
	return g_steal_pointer(&records->recording);
}

static bool scan_file(LodeCallgrindRecords *records, const char *path, const LodeProgress *progress,
	GError **error)
{
	g_autoptr(GError) cause = NULL;
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, &cause);

	if (file == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", cause->message);
		return false;
	}
	size_t size = g_mapped_file_get_length(file);
	records->recording->bytes_read += size;
	if (lode_callgrind_scan(records, g_mapped_file_get_contents(file), size, progress, error))
		return true;
	g_prefix_error(error, "%s: ", path);
	return false;
}

LodeCallgrindRecording *lode_callgrind_read(
	const char *const *paths, size_t n_paths, const LodeProgress *progress, GError **error)
{
	LodeCallgrindRecords records;
	LodeCallgrindRecording *recording = NULL;
	bool is_ok = true;

	records_init(&records);
	for (size_t i = 0; i < n_paths && is_ok; i++)
		is_ok = scan_file(&records, paths[i], progress, error);
	if (is_ok) {
		recording = finish(&records, error);
		if (recording == NULL)
			g_prefix_error(error, "%s%s: ", n_paths > 0 ? paths[0] : "callgrind",
				n_paths > 1 ? " and others" : "");
	}
	records_clear(&records);
	return recording;
}

LodeCallgrindRecording *lode_callgrind_read_text(
	const char *name, const char *text, size_t size, GError **error)
{
	LodeCallgrindRecords records;
	LodeCallgrindRecording *recording = NULL;

	records_init(&records);
	records.recording->bytes_read = size;
	if (lode_callgrind_scan(&records, text, size, NULL, error))
		recording = finish(&records, error);
	if (recording == NULL)
		g_prefix_error(error, "%s: ", name);
	records_clear(&records);
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
