/* SPDX-License-Identifier: MIT */
#include "record/memory_recording.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/files/own_library.h"
#include "base/files/regular_file.h"
#include "record/page_survey.h"
#include "record/perf/perf_program.h"
#include "record/programs/jit_runtime.h"
#include "record/programs/preloaded_library.h"
#include "record/programs/v8_survey.h"
#include "sources/allocations/allocation_log.h"
#include "sources/allocations/heap_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define LOG_DIRECTORY_VARIABLE "LODE_ALLOCATIONS"
#define LIBRARY_FOLDER "preload/allocations"
#define LIBRARY LODE_OWN_LIBRARY("allocations")

enum {
	FREQUENCY = 10000, /* samples a second: objects need more of them than functions do */
	STACK_BYTES = 256, /* of each sample: twice as much makes hardly more addresses known */
	USED_OFFSET = 32,  /* of an allocation log's header */
	HEADER_BYTES = 4096,
};

typedef struct {
	const LodeMemoryRecordingOptions *options;
	LodeMemoryRecording *result;
	char **environment; /* NULL: ours */
	char *directory;    /* absolute */
	bool is_preloaded;
} Session;

static uint64_t default_frequency(void)
{
	g_autofree char *text = NULL;
	guint64 allowed = FREQUENCY;

	if (g_file_get_contents("/proc/sys/kernel/perf_event_max_sample_rate", &text, NULL, NULL))
		allowed = g_ascii_strtoull(text, NULL, 10);
	return CLAMP(allowed, 1, FREQUENCY);
}

/* Tried on ourselves, which changes nothing for what runs already. */
static bool can_fix_addresses(void)
{
	int before = personality(UINT32_MAX);
	bool is_fixed = lode_perf_program_fix_addresses();

	if (before >= 0)
		personality((unsigned long)before);
	return is_fixed;
}

static void choose_addresses(Session *self)
{
	if (self->options->is_randomised || self->options->pid != 0)
		return;
	self->result->has_fixed_addresses = can_fix_addresses();
	if (!self->result->has_fixed_addresses)
		lode_notes_add(&self->options->notes,
			"the randomisation of addresses cannot be switched off here: they will "
			"be different in the next run");
}

static bool prepare_allocations(Session *self, GError **error)
{
	g_autofree char *obstacle = NULL, *library = NULL;

	if (!self->options->has_allocations)
		return true;
	library = lode_preloaded_library_find(LIBRARY_FOLDER, LIBRARY, error);
	if (library == NULL) {
		g_prefix_error(error, "allocations cannot be recorded: ");
		return false;
	}
	obstacle = lode_preloaded_library_obstacle(self->options->argv[0]);
	if (obstacle != NULL) {
		lode_notes_add(&self->options->notes, "allocations are not recorded: %s", obstacle);
		return true;
	}
	g_auto(GStrv) environment = lode_preloaded_library_environment(NULL, library);
	self->environment = g_environ_setenv(
		g_steal_pointer(&environment), LOG_DIRECTORY_VARIABLE, self->directory, TRUE);
	self->is_preloaded = true;
	return true;
}

/* A fault is not recorded twice. */
static bool samples_page_faults(const LodeMemoryRecordingOptions *options)
{
	for (const char *const *at = options->events; at != NULL && *at != NULL; at++)
		if (strstr(*at, "page-faults") != NULL)
			return true;
	return false;
}

/* Options that only the caller knows (an observer, a control pipe) stay as they are. */
static LodePerfSamplerOptions sampler_options(const Session *self, const char *output)
{
	static const char *const page_faults[] = {"page-faults", NULL};
	const LodeMemoryRecordingOptions *options = self->options;
	LodePerfSamplerOptions sampler = {0};

	if (options->sampler != NULL)
		sampler = *options->sampler;
	sampler.pid = options->pid;
	sampler.control.duration_ms = options->duration_ms;
	sampler.events = options->events;
	sampler.frequency = options->frequency;
	sampler.period = options->period;
	if (options->frequency == 0 && options->period == 0)
		sampler.frequency = default_frequency();
	if (!options->has_no_page_faults && !samples_page_faults(options))
		sampler.exact_events = page_faults;
	sampler.content.has_user_registers = true;
	sampler.content.user_stack_bytes = MAX(options->user_stack_bytes, STACK_BYTES);
	sampler.content.has_call_chains = options->has_call_chains;
	sampler.content.has_data_addresses = true;
	sampler.windows = options->windows;
	sampler.probes = options->probes;
	sampler.has_fixed_addresses = self->result->has_fixed_addresses;
	sampler.follows_mappings = true;
	sampler.control.start_stopped = options->start_stopped;
	sampler.environment = (const char *const *)self->environment;
	sampler.output = output;
	sampler.notes = options->notes;
	if (sampler.command == NULL)
		sampler.command = options->argv;
	return sampler;
}

/* Whether there is more than one node. */
static bool has_memory_nodes(void)
{
	const char *path = "/sys/devices/system/node/has_memory";
	g_autofree char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) && strpbrk(text, "-,") != NULL;
}

static bool sample(Session *self, const LodeProgress *progress, GError **error)
{
	g_autofree char *output = g_build_filename(
		self->directory, LODE_MEMORY_RECORDING_SAMPLES, NULL);
	g_autofree char *pages = g_build_filename(self->directory, "pages.txt", NULL);
	g_autoptr(LodeJitRuntime) runtime = NULL;
	g_autoptr(LodeV8Survey) heaps = NULL;
	LodePerfSamplerOptions sampler = sampler_options(self, output);

	if (self->options->has_page_nodes || has_memory_nodes())
		sampler.page_output = pages;
	sampler.argv = self->options->argv;
	if (sampler.pid == 0) {
		runtime = lode_jit_runtime_prepare(self->options->argv, self->directory,
			LODE_JIT_HEAP | (self->options->has_call_chains ||
								self->options->user_stack_bytes > 0
							? LODE_JIT_CALLS
							: 0));
		sampler.argv = (const char *const *)runtime->argv->pdata;
		sampler.runtime = runtime;
	}
	/* which processes of a running program are of Node.js is seen later */
	if (runtime == NULL || g_strcmp0(runtime->name, "Node.js") == 0)
		sampler.heaps = heaps = lode_v8_survey_new(self->directory);
	self->result->sampling = lode_perf_sampler_run(&sampler, progress, error);
	g_clear_pointer(&heaps, lode_v8_survey_free);
	if (self->result->sampling == NULL)
		return false;
	if (runtime != NULL)
		lode_jit_runtime_collect(runtime, self->result->run.jit_files);
	if (runtime != NULL && runtime->warning != NULL)
		lode_notes_add(&self->options->notes, "%s", runtime->warning);
	if (self->result->sampling->note != NULL)
		lode_notes_add(&self->options->notes, "%s", self->result->sampling->note);
	self->result->run.exit_status = self->result->sampling->exit_status;
	self->result->run.stop_signal = self->result->sampling->stop_signal;
	self->result->run.was_closed = self->result->sampling->was_closed;
	g_ptr_array_add(self->result->run.recordings, g_steal_pointer(&output));
	if (sampler.page_output != NULL)
		g_ptr_array_add(self->result->run.recordings, g_steal_pointer(&pages));
	return true;
}

/*
 * A log is as large as it could have become. It is truncated to the used part, unless a process
 * that outlives the recording still writes to it and must keep its pages: then no lease on the file
 * is granted.
 */
static void trim(const char *path)
{
	int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	uint64_t used;

	if (descriptor < 0)
		return;
	if (pread(descriptor, &used, sizeof(used), USED_OFFSET) == (ssize_t)sizeof(used) &&
		used >= HEADER_BYTES && used <= (uint64_t)lseek(descriptor, 0, SEEK_END) &&
		fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0) {
		int cut = ftruncate(descriptor, (off_t)used);
		(void)cut;
		fcntl(descriptor, F_SETLEASE, F_UNLCK);
	}
	close(descriptor);
}

/* A process that was killed when it had just made its log leaves an empty one. */
static bool is_begun(const char *path, bool (*is_format)(const char *data, size_t size))
{
	int descriptor = lode_regular_file_open(path, O_NOFOLLOW, NULL);
	char start[64];
	ssize_t n = -1;

	if (descriptor >= 0) {
		n = read(descriptor, start, sizeof(start));
		close(descriptor);
	}
	return n > 0 && is_format(start, (size_t)n);
}

static void collect_logs(Session *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	g_autoptr(GPtrArray) logs = g_ptr_array_new();
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		if (!g_str_has_prefix(name, "allocations-") || !g_str_has_suffix(name, ".log"))
			continue;
		if (is_begun(path, lode_allocation_log_is_format))
			g_ptr_array_add(logs, g_steal_pointer(&path));
		else
			lode_notes_add(
				&self->options->notes, "%s: not an allocation log; ignored", path);
	}
	g_ptr_array_sort(logs, lode_compare_texts);
	for (guint i = 0; i < logs->len; i++)
		trim(logs->pdata[i]);
	if (self->is_preloaded && logs->len == 0)
		lode_notes_add(&self->options->notes,
			"no allocations were recorded: no process loaded " LIBRARY
			", or none could write to the recording's directory");
	g_ptr_array_extend_and_steal(self->result->run.recordings, g_steal_pointer(&logs));
}

/* Adds the heap logs that were written; a log that cannot be read is noted and skipped. */
static void collect_heaps(Session *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	g_autoptr(GPtrArray) logs = g_ptr_array_new();
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		if (g_str_has_prefix(name, "heap-") && g_str_has_suffix(name, ".log") &&
			is_begun(path, lode_heap_log_is_format))
			g_ptr_array_add(logs, g_steal_pointer(&path));
	}
	g_ptr_array_sort(logs, lode_compare_texts);
	g_ptr_array_extend_and_steal(self->result->run.recordings, g_steal_pointer(&logs));
}

static bool record(Session *self, const LodeProgress *progress, GError **error)
{
	if (access(self->directory, W_OK | X_OK) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot write there: %s",
			self->directory, g_strerror(errno));
		return false;
	}
	choose_addresses(self);
	if (!prepare_allocations(self, error) || !sample(self, progress, error))
		return false;
	collect_logs(self);
	collect_heaps(self);
	return true;
}

LodeMemoryRecording *lode_memory_recording_run(
	const LodeMemoryRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeMemoryRecording) result = g_new0(LodeMemoryRecording, 1);
	Session session = {
		.options = options,
		.result = result,
		.directory = g_canonicalize_filename(options->directory, NULL),
	};

	lode_recorded_run_init(&result->run);
	bool is_recorded = record(&session, progress, error);
	g_strfreev(session.environment);
	g_free(session.directory);
	return is_recorded ? g_steal_pointer(&result) : NULL;
}

void lode_memory_recording_free(LodeMemoryRecording *self)
{
	if (self == NULL)
		return;
	lode_recorded_run_clear(&self->run);
	lode_perf_sampling_free(self->sampling);
	g_free(self);
}
