/* SPDX-License-Identifier: MIT */
/* Looks at the recordings, and hands them to the reader of their format. */
#include "ingest/import.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/input_file.h"
#include "base/files/stream_decoder.h"
#include "ingest/join/join.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/registers/sample_pairs.h"
#include "ingest/sampled/sampled_recording.h"
#include "ingest/sampled/waits/sampled_waits.h"
#include "ingest/traced/counted_recording.h"
#include "ingest/traced/traced_recording.h"
#include "ingest/user_attributes.h"
#include "ingest/windows/window_reading.h"
#include "ingest/windows/window_visitors.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "sources/attribute_file.h"
#include "sources/code/load_map.h"
#include "sources/code/page_file.h"
#include "sources/counts/callgrind.h"
#include "sources/counts/count_file.h"
#include "sources/flow_file/flow_file.h"
#include "sources/perf_data/perf_data.h"
#include "store/database.h"
#include "traces/trace_reader.h"

#include <string.h>
#include <sys/stat.h>

typedef enum {
	FORMAT_CALLGRIND,
	FORMAT_COUNTS,
	FORMAT_PERF,
	FORMAT_FLOW,
	FORMAT_ALLOCATIONS,
	FORMAT_HEAP,
	FORMAT_PAGES,
	FORMAT_TRACE,
	FORMAT_BINARIES, /* one, a folder of them, an archive */
	FORMAT_EMPTY,
	FORMAT_UNKNOWN,
} Format;

static bool detect_format(const char *path, Format *out_format, GError **error)
{
	char start[512];
	size_t size;
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		g_autofree char *data = g_build_filename(path, "data", NULL);
		*out_format = lode_input_file_read_start(data, start, sizeof(start), &size, NULL) &&
		                              lode_perf_data_is_format(start, size)
		                      ? FORMAT_PERF
		                      : FORMAT_BINARIES;
		return true;
	}
	if (!lode_input_file_read_start(path, start, sizeof(start), &size, error))
		return false;
	*out_format = lode_callgrind_is_format(start, size)        ? FORMAT_CALLGRIND
	              : lode_count_file_is_format(start, size)     ? FORMAT_COUNTS
	              : lode_perf_data_is_format(start, size)      ? FORMAT_PERF
	              : lode_flow_file_is_format(start, size)      ? FORMAT_FLOW
	              : lode_allocation_log_is_format(start, size) ? FORMAT_ALLOCATIONS
	              : lode_heap_log_is_format(start, size)       ? FORMAT_HEAP
	              : lode_page_file_is_format(start, size)      ? FORMAT_PAGES
	              : lode_trace_reader_is_format(start, size)   ? FORMAT_TRACE
	              : lode_image_files_is_format(start, size)    ? FORMAT_BINARIES
	              : size == 0                                  ? FORMAT_EMPTY
	                                                           : FORMAT_UNKNOWN;
	return true;
}

/* The unsupported or second compression of a file; NULL: none is known. */
static const char *find_compressor(const char *path)
{
	static const struct {
		const char *name, *magic;
		size_t size;
	} unread[] = {{"zip", "PK\3\4", 4}, {"lz4", "\4\"M\x18", 4}, {"7-Zip", "7z\xbc\xaf", 4},
		{"lzma", "]\0\0", 3}};
	char start[LODE_STREAM_MAGIC_SIZE];
	size_t n;

	if (!lode_input_file_read_start(path, start, sizeof(start), &n, NULL))
		return NULL;
	const LodeStreamDecoder *decoder = lode_stream_decoder_find((const uint8_t *)start, n);
	if (decoder != NULL)
		return decoder->name;
	for (size_t i = 0; i < G_N_ELEMENTS(unread); i++)
		if (n >= unread[i].size && memcmp(start, unread[i].magic, unread[i].size) == 0)
			return unread[i].name;
	return NULL;
}

static bool set_unknown_format(const char *path, GError **error)
{
	const char *compressor = find_compressor(path);
	g_autofree char *directory = g_path_get_dirname(path);

	if (lode_perf_data_is_part(path))
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: part of a directory that perf record --threads wrote; give "
			"the directory '%s'",
			path, directory);
	else if (lode_file_kind(path) == LODE_FILE_KIND_PROFILE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: a profile already: 'lode report' shows it", path);
	else if (compressor != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: compressed by %s: decompress it first", path, compressor);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: neither perf.data, a counts file, callgrind output, a packed address "
			"trace, a flow file nor an allocation log",
			path);
	return false;
}

/* The recordings by kind; paths are borrowed. */
typedef struct {
	GPtrArray *callgrind, *counts, *perf, *allocations, *heaps, *pages, *traces, *empty;
	GPtrArray *binaries; /* files, folders and archives of them */
	const char *flow_file;
	bool skips_damaged_logs;
} Inputs;

static bool sort_input(Inputs *self, const char *path, GError **error)
{
	Format format;

	if (!detect_format(path, &format, error))
		return false;
	switch (format) {
	case FORMAT_CALLGRIND:
		g_ptr_array_add(self->callgrind, (void *)path);
		return true;
	case FORMAT_COUNTS:
		g_ptr_array_add(self->counts, (void *)path);
		return true;
	case FORMAT_PERF:
		g_ptr_array_add(self->perf, (void *)path);
		return true;
	case FORMAT_FLOW:
		self->flow_file = path;
		return true;
	case FORMAT_HEAP:
		g_ptr_array_add(self->heaps, (void *)path);
		return true;
	case FORMAT_ALLOCATIONS:
		g_ptr_array_add(self->allocations, (void *)path);
		return true;
	case FORMAT_PAGES:
		g_ptr_array_add(self->pages, (void *)path);
		return true;
	case FORMAT_TRACE:
		if (g_ptr_array_find_with_equal_func(self->traces, path, g_str_equal, NULL)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s: given twice", path);
			return false;
		}
		g_ptr_array_add(self->traces, (void *)path);
		return true;
	case FORMAT_BINARIES:
		g_ptr_array_add(self->binaries, (void *)path);
		return true;
	case FORMAT_EMPTY:
		g_ptr_array_add(self->empty, (void *)path);
		return true;
	default:
		return set_unknown_format(path, error);
	}
}

/* "callgrind.out.77-01", "callgrind.out.77.1-01" beside "callgrind.out.77", also compressed. */
static bool is_of_thread(const char *path, const char *empty)
{
	static const char *const suffixes[] = {".gz", ".xz", ".zst", ".bz2"};
	size_t length = strlen(empty);

	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
		if (g_str_has_suffix(empty, suffixes[i]))
			length = strlen(empty) - strlen(suffixes[i]);
	return strncmp(path, empty, length) == 0 && (path[length] == '-' || path[length] == '.');
}

/* Where callgrind writes a file for each thread, it leaves the one of the process empty. */
static bool check_empty(const Inputs *self, GError **error)
{
	for (guint i = 0; i < self->empty->len; i++) {
		const char *empty = self->empty->pdata[i];
		bool has_threads = false;
		for (guint j = 0; j < self->callgrind->len; j++)
			has_threads |= is_of_thread(self->callgrind->pdata[j], empty);
		if (has_threads)
			continue;
		g_autofree char *first = g_strconcat(empty, "-01", NULL);
		bool is_callgrind = g_file_test(first, G_FILE_TEST_EXISTS);
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: the file is empty%s%s%s", empty,
			is_callgrind ? ", as callgrind --separate-threads=yes leaves it; give '"
				     : "",
			is_callgrind ? first : "",
			is_callgrind ? "' and those of the other threads" : "");
		return false;
	}
	return true;
}

/* Checks files that are a whole recording by themselves. */
static bool check_alone(const Inputs *self, const LodeImportOptions *options, GError **error)
{
	if ((options->only != NULL || options->is_alone) && self->perf->len == 0 &&
		!options->is_recorded_so) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"programs are chosen among samples, and no recording given is a perf.data; "
			"of traces, give those that are wanted");
		return false;
	}
	size_t n_alone = self->binaries->len + (self->flow_file != NULL ? 1 : self->traces->len);
	const char *alone = self->flow_file != NULL ? self->flow_file
	                    : self->traces->len > 0 ? self->traces->pdata[0]
	                                            : NULL;

	if (self->traces->len == 0 && options->replay.hierarchy != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"caches are simulated from an address trace, and no recording given is "
			"one; 'lode trace record' makes one");
		return false;
	}
	if (self->traces->len == 0 &&
		(options->replay.range != NULL || options->replay.function != NULL)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a part by references, or of a function, is taken of an address trace, and "
			"no recording "
			"given is one");
		return false;
	}
	if (alone == NULL || options->n_paths == n_alone)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"%s: %s cannot be imported with other recordings", alone,
		self->flow_file != NULL ? "a flow file" : "an address trace");
	return false;
}

static bool sort_inputs(Inputs *self, const LodeImportOptions *options, GError **error)
{
	if (options->n_paths == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "no recording given");
		return false;
	}
	for (size_t i = 0; i < options->n_paths; i++)
		if (!sort_input(self, options->paths[i], error))
			return false;
	if (self->binaries->len == options->n_paths) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: not a recording: binaries, and folders and archives of them, are "
			"given "
			"beside one; a directory of perf record --threads has a file 'data'",
			options->paths[0]);
		return false;
	}
	if (!check_empty(self, error))
		return false;
	if (self->heaps->len > 0 && self->perf->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: a heap log is only imported with the perf.data of the same run",
			(const char *)self->heaps->pdata[0]);
		return false;
	}
	if (self->allocations->len > 0 && self->perf->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: an allocation log is only imported with the perf.data of the same "
			"run",
			(const char *)self->allocations->pdata[0]);
		return false;
	}
	if (self->pages->len > 0 && self->perf->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: the nodes of pages are only imported with the perf.data of the same "
			"run",
			(const char *)self->pages->pdata[0]);
		return false;
	}
	if (self->counts->len > 0 && self->callgrind->len > 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: what qemu counted cannot be imported with callgrind's output",
			(const char *)self->counts->pdata[0]);
		return false;
	}
	return check_alone(self, options, error);
}

static LodeJitCodeSet *read_jit_files(const LodeImportOptions *options, GError **error)
{
	g_autoptr(LodeJitCodeSet) jit = lode_jit_code_set_new();

	for (size_t i = 0; i < options->n_jit_files; i++) {
		g_autoptr(GError) why = NULL;
		if (lode_jit_code_set_add(jit, options->jit_files[i], &why))
			continue;
		if (options->jit_faults == NULL) {
			g_propagate_error(error, g_steal_pointer(&why));
			return NULL;
		}
		g_ptr_array_add(options->jit_faults, g_strdup(why->message));
	}
	return g_steal_pointer(&jit);
}

static LodeImageFiles *find_files(
	const Inputs *inputs, const LodeImportOptions *options, GError **error)
{
	g_autoptr(LodeImageFiles) files = lode_image_files_new(options->allow_debuginfod);

	for (size_t i = 0; i < options->n_roots; i++)
		if (!lode_image_files_add_root(files, options->roots[i], error))
			return NULL;
	for (guint i = 0; i < inputs->binaries->len; i++)
		if (!lode_image_files_give(files, inputs->binaries->pdata[i], error))
			return NULL;
	return g_steal_pointer(&files);
}

static LodeLoadMapSet *read_load_maps(const LodeImportOptions *options, GError **error)
{
	g_autoptr(LodeLoadMapSet) maps = lode_load_map_set_new();

	for (size_t i = 0; i < options->n_maps; i++)
		if (!lode_load_map_set_read(maps, options->maps[i], error))
			return NULL;
	return g_steal_pointer(&maps);
}

static bool read_allocations(const Inputs *inputs, LodeMemoryReading *memory, GError **error)
{
	for (guint i = 0; i < inputs->allocations->len; i++) {
		g_autoptr(GError) why = NULL;
		LodeAllocationLog *log = lode_allocation_log_read(
			inputs->allocations->pdata[i], &why);
		if (log != NULL) {
			lode_allocations_take(memory->logs, log);
		} else if (inputs->skips_damaged_logs) {
			lode_allocations_note_unreadable(memory->logs, why);
		} else {
			g_propagate_error(error, g_steal_pointer(&why));
			return false;
		}
	}
	return true;
}

static int compare_heaps(const void *a, const void *b)
{
	return lode_heap_log_compare(*(LodeHeapLog *const *)a, *(LodeHeapLog *const *)b);
}

/* A log that was cut short is used up to its end, like one that was full. */
static bool read_heaps(const Inputs *inputs, LodeMemoryReading *memory, GError **error)
{
	for (guint i = 0; i < inputs->heaps->len; i++) {
		g_autoptr(GError) why = NULL;
		LodeHeapLog *log = lode_heap_log_read(inputs->heaps->pdata[i], &why);
		if (log != NULL) {
			g_ptr_array_add(memory->heaps, log);
		} else if (inputs->skips_damaged_logs) {
			lode_allocations_note_unreadable(memory->logs, why);
		} else {
			g_propagate_error(error, g_steal_pointer(&why));
			return false;
		}
	}
	g_ptr_array_sort(memory->heaps, compare_heaps);
	return true;
}

static bool read_pages(const Inputs *inputs, LodeMemoryReading *memory, GError **error)
{
	for (guint i = 0; i < inputs->pages->len; i++)
		if (!lode_page_file_read(inputs->pages->pdata[i], memory->pages, error))
			return false;
	return true;
}

/* Adds to the recording as unresolved: the faults of the logs, and threads beyond the limit. */
static void account_memory(const LodeMemoryReading *self, LodeRecording *recording)
{
	lode_allocations_account(self->logs, recording);
	for (guint i = 0; i < self->heaps->len; i++)
		if (lode_heap_log_is_cut(self->heaps->pdata[i]))
			lode_recording_add_unresolved(
				recording, "heap log that is cut short", NULL, 1, 0);
	if (self->threads.n_merged > 0)
		lode_recording_add_unresolved(recording,
			"events of threads that were too many to be told apart", NULL,
			(double)self->threads.n_merged, 0);
	uint64_t n_forgetting = lode_places_n_forgetting(self->options.places);
	if (n_forgetting > 0)
		lode_recording_add_unresolved(recording, lode_address_spaces_why_forgotten, NULL,
			(double)n_forgetting, 0);
}

static LodeRecording *read_samples(const Inputs *inputs, const LodeImportOptions *options,
	LodeMemoryReading *memory, LodeSampledStacks *stacks, LodeSampledWaits *waits,
	LodeSamplePairs *pairs, LodeWindowReading *windows, const LodeProgress *progress,
	GError **error)
{
	if (!read_allocations(inputs, memory, error) || !read_heaps(inputs, memory, error) ||
		!read_pages(inputs, memory, error))
		return NULL;
	const LodeSampledRecordingOptions reading = {
		.paths = (const char *const *)inputs->perf->pdata,
		.n_paths = inputs->perf->len,
		.memory = memory,
		.stacks = stacks,
		.waits = waits,
		.pairs = pairs,
		.windows = windows,
		.only = options->only,
		.is_alone = options->is_alone,
		.is_native = options->is_native,
		.begin_ns = options->begin_ns,
		.end_ns = options->end_ns,
	};
	g_autoptr(LodeWindowAccesses)
		accesses = lode_window_accesses_new(windows->facts, memory->options.places);
	const LodeWindowVisitor visitor = lode_window_accesses_visitor(accesses);
	lode_window_reading_add_visitor(windows, &visitor);
	g_autoptr(LodeRecording) samples = lode_sampled_recording_read(&reading, progress, error);
	if (samples == NULL || !lode_window_accesses_finish(accesses, memory, progress, error))
		return NULL;
	memory->tree = lode_sampled_stacks_tree(stacks);
	account_memory(memory, samples);
	lode_sampled_stacks_account(stacks, samples);
	return g_steal_pointer(&samples);
}

/* When it was recorded is when its file was written last, as for perf. */
static void add_origin(LodeProfile *profile, const LodeRecording *recording, const char *path)
{
	struct stat status;
	LodeOrigin origin = {
		.host = lode_profile_intern(profile, recording->programs.host),
		.program = profile->run.program,
		.n_samples = profile->run.n_samples,
		.total_count = profile->run.total_count,
	};

	origin.pid = recording->programs.pid;
	if (origin.pid == 0 && recording->pids->len > 0)
		origin.pid = g_array_index(recording->pids, uint32_t, 0);
	if (path != NULL && stat(path, &status) == 0 && status.st_mtime > 0)
		origin.recorded_at = (uint64_t)status.st_mtime;
	g_array_append_val(profile->origins, origin);
}

static const char *first_recording(const Inputs *self)
{
	const GPtrArray *lists[] = {self->perf, self->counts, self->callgrind, self->traces};

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		if (lists[i]->len > 0)
			return lists[i]->pdata[0];
	return NULL;
}

/* A dump or map that was given by hand and is of no process would explain nothing, silently. */
static bool check_jit_files(LodeJitCodeSet *jit, const LodeRecording *counts,
	const LodeImportOptions *options, GError **error)
{
	const GArray *pids = counts != NULL ? counts->pids : NULL;
	const char *path;
	uint32_t pid;

	for (guint i = 0; pids != NULL && i < pids->len; i++)
		lode_jit_code_set_mark_used(jit, g_array_index(pids, uint32_t, i));
	path = options->checks_jit_files ? lode_jit_code_set_find_unused(jit, &pid) : NULL;
	if (path == NULL)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"%s: of process %" G_GUINT32_FORMAT
		", which is not in the recording, nor is a mapping of this file",
		path, pid);
	return false;
}

static LodeProfile *import_recordings(const Inputs *inputs, const LodeImportOptions *options,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeJitCodeSet) jit = read_jit_files(options, error);
	g_autoptr(LodeLoadMapSet) maps = jit != NULL ? read_load_maps(options, error) : NULL;
	g_autoptr(LodeImageFiles) files = maps != NULL ? find_files(inputs, options, error) : NULL;
	g_autoptr(LodeCodeImages) images = lode_code_images_new(files, options->allow_debuginfod);
	const LodePlacesOptions placing = {.images = images, .jit = jit};
	g_autoptr(LodePlaces) places = lode_places_new(&placing);
	const LodeMemoryReadingOptions reading = {
		.places = places,
		.charges_next_access = options->charges_next_access,
		.skipped_frames = options->skipped_frames,
		.max_accesses = options->max_accesses,
	};
	g_autoptr(LodeMemoryReading) memory = lode_memory_reading_new(&reading);
	g_autoptr(LodeSampledStacks) stacks = lode_sampled_stacks_new(places, &memory->threads);
	g_autoptr(LodeSampledWaits)
		waits = lode_sampled_waits_new(places, &memory->threads, stacks);
	g_autoptr(LodeSamplePairs) pairs = lode_sample_pairs_new();
	g_autoptr(LodeWindowReading) windows = lode_window_reading_new(places);
	g_autoptr(LodeRecording) samples = NULL;
	g_autoptr(LodeRecording) counts = NULL;

	if (files == NULL)
		return NULL;
	if (inputs->perf->len > 0 && (samples = read_samples(inputs, options, memory, stacks, waits,
					      pairs, windows, progress, error)) == NULL)
		return NULL;
	if (inputs->callgrind->len > 0 &&
		(counts = lode_callgrind_read((const char *const *)inputs->callgrind->pdata,
			 inputs->callgrind->len, progress, error)) == NULL)
		return NULL;
	if (inputs->counts->len > 0 &&
		(counts = lode_counted_recording_read((const char *const *)inputs->counts->pdata,
			 inputs->counts->len, images, jit, progress, error)) == NULL)
		return NULL;
	const LodeTracedRecordingOptions trace = {
		.paths = (const char *const *)inputs->traces->pdata,
		.n_paths = inputs->traces->len,
		.jit = jit,
		.memory = memory,
		.threads = options->threads,
		.replay = options->replay,
	};
	if (inputs->traces->len > 0 &&
		(counts = lode_traced_recording_read(&trace, progress, error)) == NULL)
		return NULL;
	if (!check_jit_files(jit, counts, options, error))
		return NULL;
	if (samples != NULL && counts != NULL)
		lode_recording_add_samples(counts, samples);
	const LodeJoinContext context = {
		.load_maps = maps,
		.jit = jit,
		.memory_reading = memory->has_addresses ? memory : NULL,
		.stacks = samples != NULL ? stacks : NULL,
		.waits = samples != NULL ? waits : NULL,
		.windows = windows->n_logs > 0 ? windows : NULL,
		.pairs = samples != NULL ? pairs : NULL,
		.program = options->program,
		.processor = samples != NULL && samples->programs.processor != NULL
	                             ? samples->programs.processor
	                             : options->processor,
		.core_figures = samples != NULL ? &samples->programs.core_figures : NULL,
		.code_images = images,
		.threads = options->threads,
	};
	LodeRecording *recording = counts != NULL ? counts : samples;
	LodeProfile *profile = lode_join_recording(recording, &context, progress, error);
	if (profile != NULL)
		add_origin(profile, samples != NULL ? samples : counts, first_recording(inputs));
	return profile;
}

static LodeProfile *import_flow_file(const Inputs *inputs, const LodeImportOptions *options,
	const LodeProgress *progress, GError **error)
{
	const char *not_had = options->n_maps > 0        ? "load map"
	                      : options->n_jit_files > 0 ? "code made at run time"
	                      : inputs->binaries->len > 0 || options->n_roots > 0 ? "binaries"
	                                                                          : NULL;

	if (not_had != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "a flow file has no %s", not_had);
		return NULL;
	}
	return lode_flow_file_read(inputs->flow_file, progress, error);
}

static LodeProfile *import_inputs(Inputs *inputs, const LodeImportOptions *options,
	const LodeProgress *progress, GError **error)
{
	if (!sort_inputs(inputs, options, error))
		return NULL;
	if (inputs->flow_file != NULL)
		return import_flow_file(inputs, options, progress, error);
	return import_recordings(inputs, options, progress, error);
}

static bool apply_attribute_files(LodeProfile *profile, const LodeImportOptions *options,
	const LodeProgress *progress, GError **error)
{
	for (size_t i = 0; i < options->n_attribute_files; i++) {
		const char *path = options->attribute_files[i];
		g_autoptr(LodeAttributeFile) file = lode_attribute_file_read(path, progress, error);
		if (file == NULL)
			return false;
		lode_user_attributes_apply(profile, file, path);
	}
	return true;
}

LodeProfile *lode_import(
	const LodeImportOptions *options, const LodeProgress *progress, GError **error)
{
	Inputs inputs = {.callgrind = g_ptr_array_new(),
		.counts = g_ptr_array_new(),
		.perf = g_ptr_array_new(),
		.allocations = g_ptr_array_new(),
		.heaps = g_ptr_array_new(),
		.pages = g_ptr_array_new(),
		.traces = g_ptr_array_new(),
		.empty = g_ptr_array_new(),
		.binaries = g_ptr_array_new(),
		.skips_damaged_logs = options->skips_damaged_logs};
	g_autoptr(LodeProfile) profile = import_inputs(&inputs, options, progress, error);

	g_ptr_array_unref(inputs.callgrind);
	g_ptr_array_unref(inputs.counts);
	g_ptr_array_unref(inputs.perf);
	g_ptr_array_unref(inputs.allocations);
	g_ptr_array_unref(inputs.heaps);
	g_ptr_array_unref(inputs.pages);
	g_ptr_array_unref(inputs.traces);
	g_ptr_array_unref(inputs.empty);
	g_ptr_array_unref(inputs.binaries);
	if (profile == NULL || !apply_attribute_files(profile, options, progress, error))
		return NULL;
	return g_steal_pointer(&profile);
}
