/* SPDX-License-Identifier: MIT */
#include "record/qemu/count_run.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/quiet_thread.h"
#include "caches/counted_caches.h"
#include "machine/machine_caches.h"
#include "record/programs/child.h"
#include "record/programs/jit_runtime.h"
#include "record/programs/program_check.h"
#include "record/qemu/qemu_program.h"
#include "sources/counts/count_file.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define FILE_PREFIX "counts."

enum {
	POLL_US = G_USEC_PER_SEC,
	BILLION = 1000 * 1000 * 1000,
	MOST_BILLIONS = 20, /* that a processor of today executes in a second: five in a cycle */
	LONG_WAIT_S = 10,
	FIRST_SHARE =
		1500, /* while less than 1 ∕ 1500 is done, most of the time is for translation */
};

/* ---- how long it takes ---- */

/* The factors of qemu, in processor time; bench/README.md has those of programs. */
typedef struct {
	double least, most;
} Slowdown;

static const Slowdown slowdown = {10, 150};
static const Slowdown slowdown_without_caches = {4, 60};

char *lode_count_run_wait(double native_seconds, bool has_caches)
{
	const Slowdown *range = has_caches ? &slowdown : &slowdown_without_caches;

	if (!(native_seconds * range->most > LONG_WAIT_S))
		return NULL;
	return g_strdup_printf("%.0f to %.0f s", MAX(floor(native_seconds * range->least), 1),
		ceil(native_seconds * range->most));
}

/* ---- progress ---- */

typedef struct {
	const LodeCountRunOptions *options;
	GMutex lock;
	GCond has_ended_cond;
	bool has_ended;

	/* The state at the last report. */
	double last_done; /* instructions */
	gint64 last_us;
} Watch;

static uint64_t count_instructions(const char *directory)
{
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	const char *name;
	uint64_t n = 0;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(directory, name, NULL);
		if (g_str_has_prefix(name, FILE_PREFIX))
			n += lode_count_file_progress(path);
	}
	return n;
}

char *lode_count_run_remaining(double done, double per_second, double native_seconds)
{
	double most = native_seconds * MOST_BILLIONS * BILLION;

	if (!(per_second > 0) || most <= done || done * FIRST_SHARE < most)
		return g_strdup_printf("%.1f billion instructions", done / BILLION);
	return g_strdup_printf("%.1f billion instructions, up to %.0f s left", done / BILLION,
		ceil((most - done) / per_second));
}

/* As fast as it was lately: code that is executed for the first time takes much longer. */
static void report(Watch *self)
{
	const LodeCountRunOptions *options = self->options;
	double done = (double)count_instructions(options->directory);
	gint64 now_us = g_get_monotonic_time();
	double seconds = (double)(now_us - self->last_us) / G_USEC_PER_SEC;
	double per_second = seconds > 0 ? (done - self->last_done) / seconds : 0;
	g_autofree char *detail = lode_count_run_remaining(
		done, per_second, options->native_seconds);

	self->last_us = now_us;
	self->last_done = done;
	lode_progress_report(options->progress, "counting executions", 0, 0, detail);
}

static gpointer watch(gpointer data)
{
	Watch *self = data;
	gint64 until_us = g_get_monotonic_time();

	self->last_us = until_us;

	g_mutex_lock(&self->lock);
	while (!self->has_ended) {
		until_us += POLL_US;
		if (g_cond_wait_until(&self->has_ended_cond, &self->lock, until_us))
			continue;
		g_mutex_unlock(&self->lock);
		report(self);
		until_us = MAX(until_us, g_get_monotonic_time());
		g_mutex_lock(&self->lock);
	}
	g_mutex_unlock(&self->lock);
	return NULL;
}

static bool run_watched(const LodeCountRunOptions *options, const LodeChildOptions *child,
	LodeChildEnd *out_end, GError **error)
{
	Watch state = {.options = options};
	bool is_watched = options->progress != NULL && options->progress->report != NULL;

	g_mutex_init(&state.lock);
	g_cond_init(&state.has_ended_cond);
	GThread *thread = is_watched ? lode_quiet_thread_new("watch", watch, &state) : NULL;
	bool has_run = lode_child_run(child, out_end, error);
	g_mutex_lock(&state.lock);
	state.has_ended = true;
	g_cond_signal(&state.has_ended_cond);
	g_mutex_unlock(&state.lock);
	if (thread != NULL)
		g_thread_join(thread);
	lode_progress_end(options->progress);
	g_mutex_clear(&state.lock);
	g_cond_clear(&state.has_ended_cond);
	return has_run;
}

/* ---- the files ---- */

/* Whether it is a counts file in which something was executed. */
static bool is_counts(const char *path)
{
	char start[512] = "";
	uint32_t n_blocks;
	FILE *file = fopen(path, "rbe");
	size_t n = file != NULL ? fread(start, 1, sizeof(start), file) : 0;

	if (file != NULL)
		fclose(file);
	memcpy(&n_blocks, start + offsetof(CountHeader, n_blocks), sizeof(n_blocks));
	return lode_count_file_is_format(start, n) && n_blocks > 0;
}

static bool collect_files(LodeCountRun *self, const char *directory, GError **error)
{
	g_autoptr(GDir) listing = g_dir_open(directory, 0, error);
	const char *name;

	if (listing == NULL)
		return false;
	while ((name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(directory, name, NULL);
		if (g_str_has_prefix(name, FILE_PREFIX) && is_counts(path))
			g_ptr_array_add(self->files, g_steal_pointer(&path));
	}
	g_ptr_array_sort(self->files, lode_compare_texts);
	return true;
}

/* "counts.PID.N" */
static void collect_jit_files(LodeCountRun *self, LodeJitRuntime *runtime)
{
	for (guint i = 0; i < self->files->len; i++) {
		g_autofree char *name = g_path_get_basename(self->files->pdata[i]);
		lode_jit_runtime_add_process(
			runtime, (uint32_t)g_ascii_strtoull(name + strlen(FILE_PREFIX), NULL, 10));
	}
	lode_jit_runtime_collect(runtime, self->jit_files);
	self->jit_warning = g_strdup(runtime->warning);
}

/* ---- the run ---- */

char *lode_count_run_obstacle(const char *const *argv)
{
	g_autoptr(GError) why = NULL;
	g_autofree char *emulator = lode_qemu_program_emulator(&why);
	g_autofree char *program = lode_program_find(argv[0], NULL);

	if (emulator == NULL)
		return g_strdup(why->message);
	return program != NULL ? lode_qemu_program_obstacle(program) : NULL;
}

/* This machine's; where they are not known those of most. */
static LodeHierarchy *usual_caches(void)
{
	static const char usual[] = "i1=32K:8:64,d1=32K:8:64,l2=8M:16:64";
	g_autofree char *found = lode_machine_caches_counted(NULL, NULL);

	return lode_hierarchy_parse(found != NULL ? found : usual, NULL);
}

/* The options of the plugin; "" where this machine's caches cannot be used. */
static char *simulation_options(const LodeCountRunOptions *options, GError **error)
{
	g_autoptr(LodeHierarchy) usual = options->caches == NULL ? usual_caches() : NULL;
	const LodeHierarchy *hierarchy = options->caches != NULL ? options->caches : usual;
	LodeCountedCaches caches;

	if (hierarchy == NULL || !lode_counted_caches_init(&caches, hierarchy,
					 options->caches != NULL ? error : NULL))
		return options->caches != NULL ? NULL : g_strdup("");
	g_autofree char *argument = lode_counted_caches_argument(&caches);
	return g_strdup_printf(
		"%s,branches=%s", argument, lode_branch_model_to_text(options->branches));
}

static GPtrArray *command_line(const LodeCountRunOptions *options, const LodeJitRuntime *runtime,
	const char *program, GPtrArray **out_environment, GError **error)
{
	g_autofree char *emulator = lode_qemu_program_emulator(error);
	g_autofree char *directory = g_canonicalize_filename(options->directory, NULL);
	g_autofree char *cpu = lode_qemu_program_cpu();
	g_autofree char *simulation = emulator != NULL && options->has_caches
	                                      ? simulation_options(options, error)
	                                      : NULL;
	const LodeQemuProgram emulated = {
		.emulator = emulator,
		.program = program,
		.argv = (const char *const *)runtime->argv->pdata,
		.cpu = cpu,
		.plugin_option = "counts=",
		.plugin_value = directory,
		.more_options = simulation,
		.environment = options->environment,
		.is_alone = options->is_alone,
		.only = options->only,
	};

	if (emulator == NULL || (options->has_caches && simulation == NULL))
		return NULL;
	return lode_qemu_program_line(&emulated, out_environment, error);
}

static LodeCountRun *run_new(void)
{
	LodeCountRun *self = g_new0(LodeCountRun, 1);

	self->files = g_ptr_array_new_with_free_func(g_free);
	self->jit_files = g_ptr_array_new_with_free_func(g_free);
	return self;
}

static bool check_obstacle(const char *program, GError **error)
{
	g_autofree char *obstacle = lode_qemu_program_obstacle(program);

	if (obstacle != NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, obstacle);
	return obstacle == NULL;
}

static void note_illegal(const LodeCountRun *self, const LodeCountRunOptions *options)
{
	if (WIFSIGNALED(self->exit_status) && WTERMSIG(self->exit_status) == SIGILL)
		lode_notes_add(&options->notes,
			"an instruction ended the program that qemu does not emulate, such as one "
			"of "
			"AVX-512: build it with -march=x86-64-v3, or record it without counting");
}

static void fail_uncounted(const LodeCountRunOptions *options, int exit_status, GError **error)
{
	if (options->only == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			LODE_QEMU_EMULATOR " ended with status %d and counted nothing",
			WEXITSTATUS(exit_status));
		return;
	}
	lode_qemu_program_fail_only(options->only, error);
}

LodeCountRun *lode_count_run(const LodeCountRunOptions *options, GError **error)
{
	g_autofree char *program = lode_program_check(options->argv[0], "qemu", error);
	LodeChildEnd end;

	if (program == NULL || !check_obstacle(program, error))
		return NULL;
	g_autoptr(LodeJitRuntime)
		runtime = lode_jit_runtime_prepare(options->argv, options->directory, 0);
	g_autoptr(GPtrArray) environment = NULL;
	g_autoptr(GPtrArray) line = command_line(options, runtime, program, &environment, error);
	if (line == NULL)
		return NULL;
	const LodeChildOptions child = {
		.argv = (const char *const *)line->pdata,
		.environment = (const char *const *)environment->pdata,
		.is_silent = options->is_silent,
		.notes = options->notes,
	};
	if (!run_watched(options, &child, &end, error))
		return NULL;
	g_autoptr(LodeCountRun) self = run_new();
	self->exit_status = end.status;
	self->stop_signal = end.stop_signal;
	if (!collect_files(self, options->directory, error))
		return NULL;
	collect_jit_files(self, runtime);
	note_illegal(self, options);
	if (self->files->len > 0 || self->stop_signal != 0)
		return g_steal_pointer(&self);
	fail_uncounted(options, self->exit_status, error);
	return NULL;
}

void lode_count_run_free(LodeCountRun *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->files);
	g_ptr_array_unref(self->jit_files);
	g_free(self->jit_warning);
	g_free(self);
}
