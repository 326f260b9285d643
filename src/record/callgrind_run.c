/* SPDX-License-Identifier: MIT */
#include "record/callgrind_run.h"

#include "base/error.h"
#include "record/child.h"
#include "record/jit_runtime.h"
#include "record/program_check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define DUMP_PREFIX "callgrind.out."
#define LOG_PREFIX "valgrind."
#define LOG_SUFFIX ".log"

/* As --callgrind-out-file and --log-file want it, where % starts a placeholder. */
static char *file_option(const char *option, const char *directory, const char *name)
{
	g_autofree char *absolute = g_canonicalize_filename(directory, NULL);
	GString *text = g_string_new(absolute);

	g_string_replace(text, "%", "%%", 0);
	g_string_prepend(text, option);
	g_string_append_printf(text, "/%s", name);
	return g_string_free(text, FALSE);
}

static GPtrArray *command_line(
	const LodeCallgrindRunOptions *options, const char *valgrind, const LodeJitRuntime *runtime)
{
	static const char *const always[] = {
		/* ~/.valgrindrc and VALGRIND_OPTS must not change what is recorded. */
		"--command-line-only=yes",
		"--tool=callgrind",
		"--vgdb=no",
		"--trace-children=yes",
		"--dump-instr=yes",
		"--collect-jumps=yes",
		"--skip-plt=no",
		/* Three make it log the load address of each image. */
		"-v",
		"-v",
		"-v",
	};
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(line, g_strdup(valgrind));
	for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
		g_ptr_array_add(line, g_strdup(always[i]));
	for (size_t i = 0; runtime->valgrind_options[i] != NULL; i++)
		g_ptr_array_add(line, g_strdup(runtime->valgrind_options[i]));
	if (!options->is_fast) {
		g_ptr_array_add(line, g_strdup("--cache-sim=yes"));
		g_ptr_array_add(line, g_strdup("--branch-sim=yes"));
	}
	g_ptr_array_add(
		line, file_option("--callgrind-out-file=", options->directory, DUMP_PREFIX "%p"));
	g_ptr_array_add(
		line, file_option("--log-file=", options->directory, LOG_PREFIX "%p" LOG_SUFFIX));
	g_ptr_array_add(line, g_strdup("--"));
	for (guint i = 0; i < runtime->argv->len; i++)
		g_ptr_array_add(line, g_strdup(runtime->argv->pdata[i]));
	return line;
}

static guint64 pid_of(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	const char *prefix = g_str_has_prefix(name, DUMP_PREFIX) ? DUMP_PREFIX : LOG_PREFIX;

	return g_ascii_strtoull(name + strlen(prefix), NULL, 10);
}

static int compare_paths(const void *a, const void *b, void *data)
{
	const char *first = *(const char *const *)a, *second = *(const char *const *)b;
	guint64 first_pid = pid_of(first), second_pid = pid_of(second);
	guint64 main_pid = (guint64) * (const GPid *)data;

	if (first_pid == second_pid)
		return strcmp(first, second);
	if (first_pid == main_pid || second_pid == main_pid)
		return first_pid == main_pid ? -1 : 1;
	return first_pid < second_pid ? -1 : 1;
}

/*
 * A dump ends with a line of totals. Callgrind makes the file when it starts and writes it when the
 * program ends: one that was killed, still runs or met a full disk has none.
 */
static bool is_complete(const char *path)
{
	char tail[4096] = "";
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	if (fseek(file, -(long)(sizeof(tail) - 1), SEEK_END) != 0)
		rewind(file);
	size_t size = fread(tail, 1, sizeof(tail) - 1, file);
	fclose(file);
	tail[size] = '\0';
	return g_str_has_prefix(tail, "totals: ") || strstr(tail, "\ntotals: ") != NULL;
}

/* Each process has a log from its start; a dump it has only when it ended well. */
static unsigned count_without_dump(const LodeCallgrindRun *self)
{
	g_autoptr(GHashTable) dumped = g_hash_table_new(NULL, NULL);
	unsigned n = 0;

	for (guint i = 0; i < self->dumps->len; i++)
		g_hash_table_add(dumped, GSIZE_TO_POINTER(pid_of(self->dumps->pdata[i])));
	for (guint i = 0; i < self->maps->len; i++)
		if (!g_hash_table_contains(dumped, GSIZE_TO_POINTER(pid_of(self->maps->pdata[i]))))
			n++;
	return n;
}

static bool collect_files(LodeCallgrindRun *self, const char *directory, GPid pid, GError **error)
{
	g_autoptr(GDir) listing = g_dir_open(directory, 0, error);
	const char *name;

	if (listing == NULL)
		return false;
	while ((name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(directory, name, NULL);
		/* Where cores are enabled, valgrind leaves one as LOG.core.PID. */
		if (g_str_has_prefix(name, LOG_PREFIX) && g_str_has_suffix(name, LOG_SUFFIX))
			g_ptr_array_add(self->maps, g_steal_pointer(&path));
		else if (g_str_has_prefix(name, DUMP_PREFIX) && is_complete(path))
			g_ptr_array_add(self->dumps, g_steal_pointer(&path));
	}
	g_ptr_array_sort_with_data(self->dumps, compare_paths, &pid);
	g_ptr_array_sort_with_data(self->maps, compare_paths, &pid);
	self->n_lost = count_without_dump(self);
	return true;
}

static void collect_jit_files(LodeCallgrindRun *self, LodeJitRuntime *runtime)
{
	g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < self->maps->len; i++) {
		uint32_t pid = (uint32_t)pid_of(self->maps->pdata[i]);
		g_array_append_val(pids, pid);
	}
	lode_jit_runtime_collect(runtime, pids, self->jit_files);
	self->jit_warning = g_strdup(runtime->warning);
}

/* Without the "==1234== " in front. */
static const char *without_pid(const char *line)
{
	const char *end;

	if (!g_str_has_prefix(line, "==") && !g_str_has_prefix(line, "--"))
		return line;
	end = strchr(line, ' ');
	return end != NULL ? end + 1 : "";
}

/* The last line that says something in the program's own log, or NULL. */
static char *last_words(const LodeCallgrindRun *self)
{
	g_autofree char *text = NULL;

	if (self->maps->len == 0 ||
		!g_file_get_contents(g_ptr_array_index(self->maps, 0), &text, NULL, NULL))
		return NULL;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (guint i = g_strv_length(lines); i > 0; i--) {
		g_autofree char *words = g_strstrip(g_strdup(without_pid(lines[i - 1])));
		if (*words != '\0')
			return g_utf8_make_valid(words, -1);
	}
	return NULL;
}

static void set_no_dump_error(const LodeCallgrindRun *self, GError **error)
{
	g_autofree char *words = last_words(self);

	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"valgrind ended with status %d and wrote no whole recording%s%s",
		WEXITSTATUS(self->exit_status), words != NULL ? "; its last words: " : "",
		words != NULL ? words : "");
}

static LodeCallgrindRun *run_new(void)
{
	LodeCallgrindRun *self = g_new0(LodeCallgrindRun, 1);

	self->dumps = g_ptr_array_new_with_free_func(g_free);
	self->maps = g_ptr_array_new_with_free_func(g_free);
	self->jit_files = g_ptr_array_new_with_free_func(g_free);
	return self;
}

LodeCallgrindRun *lode_callgrind_run(const LodeCallgrindRunOptions *options, GError **error)
{
	g_autofree char *program = lode_program_check(options->argv[0], "valgrind", error);
	LodeChildEnd end;

	if (program == NULL)
		return NULL;
	g_autofree char *valgrind = g_find_program_in_path("valgrind");
	if (valgrind == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"valgrind is not installed (Debian: apt install valgrind)");
		return NULL;
	}
	g_autoptr(LodeJitRuntime)
		runtime = lode_jit_runtime_prepare(options->argv, options->directory, true);
	g_autoptr(GPtrArray) line = command_line(options, valgrind, runtime);
	const LodeChildOptions child = {
		.argv = (const char *const *)line->pdata,
		.environment = options->environment,
		.is_silent = options->is_silent,
		.notes = options->notes,
	};
	if (!lode_child_run(&child, &end, error))
		return NULL;
	g_autoptr(LodeCallgrindRun) self = run_new();
	self->exit_status = end.status;
	self->stop_signal = end.stop_signal;
	if (!collect_files(self, options->directory, end.pid, error))
		return NULL;
	collect_jit_files(self, runtime);
	if (self->dumps->len == 0 && !WIFSIGNALED(self->exit_status) && self->stop_signal == 0) {
		set_no_dump_error(self, error);
		return NULL;
	}
	return g_steal_pointer(&self);
}

void lode_callgrind_run_free(LodeCallgrindRun *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->dumps);
	g_ptr_array_unref(self->maps);
	g_ptr_array_unref(self->jit_files);
	g_free(self->jit_warning);
	g_free(self);
}
