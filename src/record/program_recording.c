/* SPDX-License-Identifier: MIT */
#include "record/program_recording.h"

#include "base/error.h"
#include "record/events/sample_cost.h"
#include "record/perf/perf_sampler.h"
#include "record/programs/jit_runtime.h"
#include "record/qemu/count_run.h"
#include "record/qemu/library_variants.h"
#include "record/qemu/trace_recording.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FEWEST_SAMPLES = 100,  /* from which a share is known to some percent */
	FEWEST_LOOKS = 10,     /* at threads that wait, from which a reason is known */
	FREQUENCY = 10000,     /* sequences need more samples than functions do… */
	FREQUENCY_STEP = 100,  /* …but a program must not become slow by them */
	COST_SHARE = 28,       /* of the program's time, the divisor: 3.6 % */
	LEAST_FREQUENCY = 200, /* where a sample takes more than 0.18 ms */
	/* Short programs have few samples. At first there are more, for at most so much of the
	 * program's time. */
	FIRST_FREQUENCY = 6000,
	FIRST_MS = 500,
	FIRST_COST_MS = 35,
	REGISTERS_NS = 1500, /* that a sample takes longer with registers and stack */
	/* With each sample, for data addresses and callers: as many as printf() uses, but not more
	 * than 4 MiB a second. */
	FEWEST_STACK_BYTES = 256,
	MOST_STACK_BYTES = 2048,
	STACK_BYTES_A_SECOND = 4 << 20,
	/* Run-time environments have their own functions, with large buffers, between those of the
	 * user and where the time is. */
	RUNTIME_FACTOR = 3,
	PAGE_FAULTS = 61, /* to a sample of them: a prime, as loops touch pages by powers */
};

typedef struct {
	const LodeProgramRecordingOptions *options;
	LodeRecordedRun *result;
	LodeRecordingKind kind;
	off_t input_start;        /* of standard input; −1: it has no position */
	double sampled_seconds;   /* elapsed */
	double processor_seconds; /* of the sampled run, in the program */
	bool has_started;         /* the sampled run, whose effects cannot be undone */
	bool is_refused;          /* sampling, by the kernel */
	bool was_interrupted;
} Session;

/* A terminal or /dev/null can be had again, a file be read again, but a pipe is empty then. */
static bool can_read_input_twice(void)
{
	struct stat status;

	return fstat(STDIN_FILENO, &status) != 0 || S_ISREG(status.st_mode) ||
	       S_ISCHR(status.st_mode);
}

/* Why the program can run only once; NULL: it can run twice. The caller frees it. */
static char *reason_for_once(const LodeProgramRecordingOptions *options)
{
	g_autoptr(LodeJitRuntime)
		runtime = lode_jit_runtime_prepare(options->argv, options->directory, 0);
	g_autofree char *obstacle = lode_count_run_obstacle(options->argv);

	if (obstacle != NULL)
		return g_steal_pointer(&obstacle);
	if (runtime->name != NULL)
		return g_strdup_printf("what %s compiles is different in each run", runtime->name);
	if (!can_read_input_twice())
		return g_strdup(
			"standard input is a pipe, which cannot be read twice (a program that "
			"needs none can be given </dev/null)");
	return NULL;
}

static uint64_t allowed_frequency(void)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents("/proc/sys/kernel/perf_event_max_sample_rate", &text, NULL, NULL))
		return UINT64_MAX;
	return g_ascii_strtoull(text, NULL, 10);
}

/* The time of processes that have ended and were waited for. */
static double children_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / G_USEC_PER_SEC;
}

static uint64_t plain_sample_cost_ns(void)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = FREQUENCY,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (uint64_t)lode_sample_cost_measure(&lode_perf_kernel, &attr).sample_ns;
}

/* Samples a second that take `budget_ns` of a second. */
static uint64_t affordable(uint64_t budget_ns, uint64_t cost_ns, uint64_t most)
{
	uint64_t frequency = budget_ns / MAX(cost_ns, 1) / FREQUENCY_STEP * FREQUENCY_STEP;

	return CLAMP(allowed_frequency(), 1, CLAMP(frequency, LEAST_FREQUENCY, most));
}

/* Sets the default rates: as many samples as the kernel allows and the budget affords. A program
 * that runs once more in qemu is not in a hurry. */
static void set_rates(LodePerfSamplerOptions *options, bool is_alone)
{
	const uint64_t second_ns = G_USEC_PER_SEC * 1000;
	uint64_t cost_ns = is_alone ? plain_sample_cost_ns() : 0;

	/* The timer's interrupt is most of it; a fifth more is lost in the program's caches. */
	if (cost_ns > 0)
		cost_ns = cost_ns * 6 / 5 +
		          (options->content.has_user_registers ? REGISTERS_NS : 0);
	options->sample_ns = (double)cost_ns;
	options->frequency = affordable(second_ns / COST_SHARE, cost_ns, FREQUENCY);
	/* A process that is attached to has run already, and may have threads that take all
	 * descriptors. */
	if (!is_alone || options->pid != 0)
		return;
	options->first.ms = FIRST_MS;
	options->first.frequency = affordable(
		second_ns / FIRST_MS * FIRST_COST_MS, cost_ns, FIRST_FREQUENCY);
}

/* Chains by frame pointers have the callers already; completed by the top of the stack as far as
 * that reaches, they would begin at different functions. */
static uint16_t stack_bytes(
	const LodeProgramRecordingOptions *options, uint64_t frequency, unsigned factor)
{
	uint64_t affordable = STACK_BYTES_A_SECOND / frequency;
	uint16_t some = (uint16_t)(factor *
				   CLAMP(affordable, FEWEST_STACK_BYTES, MOST_STACK_BYTES));

	return options->has_no_registers || options->has_call_chains ||
	                       options->user_stack_bytes > some
	               ? options->user_stack_bytes
	               : some;
}

/* Those that the user asks for are sampled as asked. */
static bool samples_page_faults(const LodeProgramRecordingOptions *options)
{
	for (const char *const *at = options->events; at != NULL && *at != NULL; at++)
		if (strstr(*at, "faults") != NULL)
			return true;
	return false;
}

static bool is_ended_by_signal(const Session *self)
{
	return self->was_interrupted || self->result->stop_signal != 0 ||
	       WIFSIGNALED(self->result->exit_status);
}

static bool sample(Session *self, GError **error)
{
	const LodeProgramRecordingOptions *options = self->options;
	g_autofree char *output = g_build_filename(options->directory, "perf.data", NULL);
	g_auto(GStrv) native = lode_library_variants_native(NULL);
	bool is_alone = self->kind == LODE_RECORDING_SAMPLES;
	bool has_stacks = options->has_call_chains || options->user_stack_bytes > 0;
	bool has_registers = !options->has_no_registers || options->user_stack_bytes > 0;
	const char *const page_faults[] = {
		options->has_kernel ? "page-faults" : "page-faults:u", NULL};
	g_autoptr(LodeJitRuntime)
		runtime = options->pid == 0
	                          ? lode_jit_runtime_prepare(options->argv, options->directory,
					    has_stacks ? LODE_JIT_CALLS : 0)
	                          : NULL;
	LodePerfSamplerOptions sampler = {
		.pid = options->pid,
		.has_siblings = options->has_siblings,
		.can_trace = is_alone,
		.control.duration_ms = options->duration_ms,
		.content.has_kernel = options->has_kernel,
		.content.has_no_switches = options->has_no_switches,
		.content.has_waits = is_alone && !options->has_no_waits,
		.content.has_each_wait = is_alone && options->has_each_wait,
		.content.has_scripts = is_alone && !options->has_no_scripts,
		.content.has_call_chains = options->has_call_chains,
		.content.has_user_registers = has_registers,
		.content.has_data_mappings = has_registers,
		.aside_events = options->has_no_registers || samples_page_faults(options)
	                                ? NULL
	                                : page_faults,
		.aside_period = PAGE_FAULTS,
		.windows = options->windows,
		.probes = options->probes,
		.events = options->events,
		.frequency = options->frequency,
		.argv = runtime != NULL ? (const char *const *)runtime->argv->pdata : options->argv,
		.environment = is_alone ? NULL : (const char *const *)native,
		.output = output,
		.has_started = &self->has_started,
		.is_refused = &self->is_refused,
		.runtime = runtime,
		.command = options->argv,
		.notes = options->notes,
	};

	if (sampler.frequency == 0)
		set_rates(&sampler, is_alone);
	sampler.content.user_stack_bytes = stack_bytes(options, sampler.frequency,
		runtime != NULL && runtime->name != NULL ? RUNTIME_FACTOR : 1);
	gint64 start_us = g_get_monotonic_time();
	double processor_start = children_seconds();
	g_autoptr(LodePerfSampling) sampled = lode_perf_sampler_run(&sampler, NULL, error);

	if (sampled == NULL)
		return false;
	if (runtime != NULL)
		lode_jit_runtime_collect(runtime, self->result->jit_files);
	if (runtime != NULL && runtime->warning != NULL)
		lode_notes_add(&self->options->notes, "%s", runtime->warning);
	self->sampled_seconds = (double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	self->processor_seconds = children_seconds() - processor_start;
	self->result->exit_status = sampled->exit_status;
	self->result->stop_signal = sampled->stop_signal;
	self->result->was_closed = sampled->was_closed;
	self->was_interrupted = sampled->was_interrupted;
	if (sampled->note != NULL)
		lode_notes_add(&self->options->notes, "%s", sampled->note);
	self->result->obstacle = g_steal_pointer(&sampled->obstacle);
	/* Beside counted executions, few samples are worse than none. Without counts even one is
	 * kept, and the caller reports if there are none; where it waited, none is needed. */
	bool is_ended = is_ended_by_signal(self);
	if (sampled->n_samples >= (is_alone || is_ended ? 1 : FEWEST_SAMPLES) ||
		(is_alone && sampled->n_looks >= FEWEST_LOOKS))
		g_ptr_array_add(self->result->recordings, g_steal_pointer(&output));
	else if (!is_ended && !is_alone && !sampled->was_closed)
		lode_notes_advise(&options->notes, LODE_ADVICE_RAISE_FREQUENCY,
			"it ran too short to be sampled (%" G_GUINT64_FORMAT " samples)",
			sampled->n_samples);
	return true;
}

static void note_end(const Session *self, const LodeRecordedRun *run)
{
	if (WIFSIGNALED(run->exit_status) && run->stop_signal == 0 && run->recordings->len > 0)
		lode_notes_add(&self->options->notes,
			"the program was ended by signal %d (%s); mining what it did until then",
			WTERMSIG(run->exit_status), g_strsignal(WTERMSIG(run->exit_status)));
	else if (WIFEXITED(run->exit_status) && WEXITSTATUS(run->exit_status) != 0)
		lode_notes_add(&self->options->notes, "the program ended with exit status %d",
			WEXITSTATUS(run->exit_status));
}

static void append_all(GPtrArray *to, GPtrArray *from)
{
	g_ptr_array_extend_and_steal(to, g_ptr_array_ref(from));
}

static bool run_qemu(const Session *self, const char *const *environment, LodeRecordedRun *out_run,
	GError **error)
{
	const LodeProgramRecordingOptions *options = self->options;
	bool is_second = self->kind == LODE_RECORDING_BOTH;
	const LodeCountRunOptions run = {
		.argv = options->argv,
		.is_alone = options->is_alone,
		.only = options->only,
		.directory = options->directory,
		.has_caches = !options->is_fast,
		.caches = options->caches,
		.branches = options->branches,
		.is_silent = is_second,
		.notes = options->notes,
		.environment = environment,
		.native_seconds = self->processor_seconds,
		.progress = is_second ? options->progress : NULL,
	};
	g_autoptr(LodeCountRun) counted = lode_count_run(&run, error);

	if (counted == NULL)
		return false;
	if (counted->jit_warning != NULL)
		lode_notes_add(&self->options->notes, "%s", counted->jit_warning);
	append_all(out_run->recordings, counted->files);
	append_all(out_run->jit_files, counted->jit_files);
	out_run->exit_status = counted->exit_status;
	out_run->stop_signal = counted->stop_signal;
	return true;
}

static bool count(Session *self, GError **error)
{
	const LodeProgramRecordingOptions *options = self->options;
	bool is_second = self->kind == LODE_RECORDING_BOTH;
	g_auto(GStrv) variants = lode_library_variants_counted(NULL);
	const char *const *environment = is_second ? (const char *const *)variants : NULL;
	g_auto(LodeRecordedRun) counted;

	if (is_second && self->input_start >= 0)
		lseek(STDIN_FILENO, self->input_start, SEEK_SET);
	lode_recorded_run_init(&counted);
	if (!run_qemu(self, environment, &counted, error))
		return false;
	self->result->stop_signal = counted.stop_signal;
	/* Samples of the whole run do not fit counts of a part. */
	if (is_second && WIFSIGNALED(counted.exit_status) && self->result->recordings->len > 0) {
		lode_notes_add(&options->notes,
			"the counting run was ended by signal %d (%s): executions are inferred",
			WTERMSIG(counted.exit_status), g_strsignal(WTERMSIG(counted.exit_status)));
		return true;
	}
	note_end(self, &counted);
	if (!is_second)
		self->result->exit_status = counted.exit_status;
	append_all(self->result->recordings, counted.recordings);
	append_all(self->result->jit_files, counted.jit_files);
	return true;
}

/* Sampling may be forbidden or unavailable where counting never is. Faults of events that the user
 * chose are reported. */
static bool can_go_without_samples(const Session *self, const GError *cause)
{
	bool is_refused = self->is_refused ||
	                  (g_error_matches(cause, LODE_ERROR, LODE_ERROR_UNSUPPORTED) &&
				  self->options->events == NULL);

	return is_refused && self->kind == LODE_RECORDING_BOTH && !self->has_started;
}

static bool sample_if_allowed(Session *self, GError **error)
{
	g_autoptr(GError) cause = NULL;

	if (sample(self, &cause))
		return true;
	if (can_go_without_samples(self, cause)) {
		lode_notes_add(&self->options->notes, "%s", cause->message);
		lode_notes_add(&self->options->notes,
			"going on without samples: executions are counted, and the time is "
			"estimated");
		self->kind = LODE_RECORDING_COUNTS;
		return true;
	}
	if (self->options->is_refused != NULL)
		*self->options->is_refused = self->is_refused;
	g_propagate_error(error, g_steal_pointer(&cause));
	return false;
}

static bool count_after_samples(Session *self, GError **error)
{
	const LodeProgramRecordingOptions *options = self->options;
	g_autoptr(GError) cause = NULL;

	if (is_ended_by_signal(self)) {
		if (self->result->stop_signal == 0)
			lode_notes_add(&options->notes,
				"a signal came, so that the program is not run again to "
				"count executions");
		return true;
	}
	g_autofree char *wait = lode_count_run_wait(self->processor_seconds, !options->is_fast);
	if (wait != NULL)
		lode_notes_advise(&options->notes, LODE_ADVICE_SAMPLE_ONLY,
			"sampled for %.1f s; it now runs again in qemu, to count executions, "
			"for some %s, or less where it waits for memory",
			self->sampled_seconds, wait);
	if (count(self, &cause))
		return true;
	if (self->result->recordings->len > 0) {
		lode_notes_add(&options->notes, "executions are not counted: %s", cause->message);
		return true;
	}
	g_propagate_error(error, g_steal_pointer(&cause));
	return false;
}

static bool trace(Session *self, GError **error)
{
	g_autofree char *path = g_build_filename(self->options->directory, "trace.rps", NULL);
	g_autofree char *logs = g_canonicalize_filename(self->options->directory, NULL);
	const LodeTraceRecordingOptions options = {
		.argv = self->options->argv,
		.output = self->options->taker == NULL ? path : NULL,
		.taker = self->options->taker,
		.writer = {.level = LODE_TRACE_LEVEL_FAST, .is_private = true},
		.way = -1,
		.is_alone = self->options->is_alone,
		.only = self->options->only,
		.has_allocations = self->options->has_allocations,
		.allocations = logs,
		.notes = self->options->notes,
	};

	g_autoptr(LodeTraceRecording) recorded = lode_trace_recording_run(&options, NULL, error);
	if (recorded == NULL)
		return false;
	bool has_files = self->options->taker == NULL;
	if (has_files)
		g_ptr_array_add(self->result->recordings, g_steal_pointer(&path));
	for (guint i = 0; has_files && i < recorded->processes->len; i++)
		g_ptr_array_add(self->result->recordings,
			g_strdup(g_array_index(recorded->processes, LodeTraceRecordedProcess, i)
					 .path));
	self->result->exit_status = recorded->exit_status;
	self->result->stop_signal = recorded->stop_signal;
	return true;
}

static bool record(Session *self, GError **error)
{
	g_autofree char *reason = self->kind == LODE_RECORDING_BOTH ? reason_for_once(self->options)
	                                                            : NULL;

	if (self->kind == LODE_RECORDING_TRACE)
		return trace(self, error);
	if (reason != NULL) {
		lode_notes_add(&self->options->notes,
			"%s: executions are not counted, the program runs once", reason);
		self->kind = LODE_RECORDING_SAMPLES;
	}
	if (self->kind != LODE_RECORDING_COUNTS && !sample_if_allowed(self, error))
		return false;
	if (self->kind == LODE_RECORDING_COUNTS)
		return count(self, error);
	if (self->kind == LODE_RECORDING_SAMPLES && self->options->pid == 0 &&
		!self->was_interrupted)
		note_end(self, self->result);
	return self->kind != LODE_RECORDING_BOTH || count_after_samples(self, error);
}

/* Found out before the program runs, and not to be taken for sampling not being allowed. */
static bool can_write(const char *directory, GError **error)
{
	if (access(directory, W_OK | X_OK) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot write there: %s", directory,
		g_strerror(errno));
	return false;
}

bool lode_program_recording_run(
	const LodeProgramRecordingOptions *options, LodeRecordedRun *out_run, GError **error)
{
	g_auto(LodeRecordedRun) run;
	Session session = {
		.options = options,
		.result = &run,
		.kind = options->kind,
		.input_start = lseek(STDIN_FILENO, 0, SEEK_CUR),
	};

	lode_recorded_run_init(&run);
	if (!can_write(options->directory, error) || !record(&session, error))
		return false;
	*out_run = run;
	run = (LodeRecordedRun){0};
	return true;
}
