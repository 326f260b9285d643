/* SPDX-License-Identifier: MIT */
#include "cli/recording/recorded_profile.h"

#include "base/error.h"
#include "base/files/new_file.h"
#include "base/quiet_thread.h"
#include "cli/recording/wrapped_program.h"
#include "cli/verb.h"
#include "machine/processor.h"
#include "model/lines/own_lines.h"
#include "record/programs/running_process.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static bool check_output(const char *path, GError **error)
{
	g_autoptr(LodeNewFile) trial = NULL;

	if (!lode_profile_store_can_keep_old(path, error))
		return false;
	trial = lode_new_file_open(path, error);
	if (trial == NULL)
		g_prefix_error(error, "%s: ", path);
	return trial != NULL;
}

/* "app" of `python3 -O app.py`, where that is a file; "program" of `bin/program`. The caller frees
 * it. */
static char *name_of_command(char *const *command)
{
	static const char *const others[] = {"sh", "bash", "dash", "node", "nodejs", NULL};
	g_autofree char *name = g_path_get_basename(command[0]);
	char *const *script = command + 1;

	if (!lode_is_run_time_code(name) && !g_strv_contains(others, name))
		return g_steal_pointer(&name);
	while (*script != NULL && **script == '-')
		script++;
	if (*script == NULL || !g_file_test(*script, G_FILE_TEST_IS_REGULAR))
		return g_steal_pointer(&name);
	char *base = g_path_get_basename(*script), *dot = strrchr(base, '.');
	if (dot != NULL && dot != base)
		*dot = '\0';
	return base;
}

/* A command line as a user would type it: words are quoted where a shell would need it. The caller
 * frees it. */
static char *command_text(char **words)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; words[i] != NULL; i++) {
		bool is_plain = *words[i] != '\0' &&
		                strpbrk(words[i], " \t\n\"'\\$`|&;()<>*?[]#~!{}") == NULL;
		g_autofree char *word = is_plain ? g_strdup(words[i]) : g_shell_quote(words[i]);
		g_string_append_printf(text, "%s%s", i > 0 ? " " : "", word);
	}
	return g_string_free(text, FALSE);
}

bool lode_recorded_profile_open(
	LodeRecordedProfile *self, const LodeRecordedProfileOptions *options, GError **error)
{
	g_auto(LodeRunningProcess) process = {0};

	if (options->pid != 0 && !lode_running_process_read(options->pid, &process, error))
		return false;
	bool is_attached = options->pid != 0;
	g_autofree char *name = is_attached ? g_strdup(process.name)
	                                    : name_of_command(options->command);
	g_auto(LodeRecordedProfile) opened = {
		.verb = options->verb,
		.path = options->output != NULL ? g_strdup(options->output)
	                                        : g_strconcat(name, ".lode", NULL),
		.program = command_text(is_attached ? process.command : options->command),
		.is_attached = is_attached,
	};

	if (check_output(opened.path, error))
		opened.directory = lode_recording_directory_open(options->keep_recording, error);
	*self = opened.directory != NULL ? opened : (LodeRecordedProfile){0};
	if (opened.directory != NULL)
		opened = (LodeRecordedProfile){0};
	return self->directory != NULL;
}

void lode_recorded_profile_clear(LodeRecordedProfile *self)
{
	g_clear_pointer(&self->path, g_free);
	g_clear_pointer(&self->program, g_free);
	g_clear_pointer(&self->directory, lode_recording_directory_close);
}

bool lode_recorded_profile_can_import(const LodeRecordedProfile *self, const LodeRecordedRun *run,
	bool is_empty, const char *advice, int *out_status, GError **error)
{
	if (run->stop_signal != 0) {
		lode_display_line(stderr, "lode %s: stopped", self->verb);
		*out_status = LODE_EXIT_BY_SIGNAL + run->stop_signal;
		return false;
	}
	if (!is_empty)
		return true;
	*out_status = LODE_EXIT_FAILED;
	if (WIFSIGNALED(run->exit_status)) {
		lode_display_line(stderr,
			"lode %s: signal %d (%s) ended the program before anything was recorded: "
			"no profile was written",
			self->verb, WTERMSIG(run->exit_status),
			g_strsignal(WTERMSIG(run->exit_status)));
		*out_status = LODE_EXIT_BY_SIGNAL + WTERMSIG(run->exit_status);
	} else if (run->was_closed && !self->is_attached) {
		/* The note has said why. It has run as it would without us. */
		lode_display_line(
			stderr, "lode %s: no sample was taken: no profile was written", self->verb);
		*out_status = WEXITSTATUS(run->exit_status);
	} else if (self->is_attached) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sample was taken: the process executed no code of its own meanwhile; "
			"it may have waited, or have been in the kernel");
	} else if (run->obstacle != NULL) {
		lode_display_line(
			stderr, "lode %s: no profile was written: %s", self->verb, run->obstacle);
		*out_status = lode_wrapped_program_status(run->exit_status, 0);
	} else {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sample was taken: the program ran too short; %s", advice);
	}
	return false;
}

/* Leaves out the temporary folder of the path: it is removed when lode ends. */
static void print_jit_fault(const LodeRecordedProfile *self, const char *fault)
{
	size_t length = strlen(self->directory->path);
	bool is_named = !self->directory->is_kept &&
	                g_str_has_prefix(fault, self->directory->path) && fault[length] == '/';

	lode_display_line(stderr, "lode %s: %s; the code that it describes is not known",
		self->verb, is_named ? fault + length + 1 : fault);
}

LodeProfile *lode_recorded_profile_import(const LodeRecordedProfile *self,
	const LodeRecordedRun *run, const LodeImportOptions *import, const LodeProgress *progress,
	GError **error)
{
	LodeImportOptions options = *import;
	g_autoptr(GPtrArray) jit_faults = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *processor = lode_processor_id();

	options.paths = (const char *const *)run->recordings->pdata;
	options.n_paths = run->recordings->len;
	options.maps = (const char *const *)run->maps->pdata;
	options.n_maps = run->maps->len;
	options.jit_files = (const char *const *)run->jit_files->pdata;
	options.n_jit_files = run->jit_files->len;
	options.jit_faults = jit_faults;
	options.program = self->program;
	options.processor = processor;
	lode_progress_report(progress, "reading mappings", 0, 0, NULL);
	LodeProfile *profile = lode_import(&options, progress, error);
	if (profile == NULL)
		lode_recording_directory_explain(self->directory, error);
	if (jit_faults->len > 0)
		lode_progress_end(progress);
	for (guint i = 0; i < jit_faults->len; i++)
		print_jit_fault(self, jit_faults->pdata[i]);
	return profile;
}

struct LodeProfileWriting {
	const char *path;
	LodeProfile *profile;
	GThread *thread;
	GError *error;
};

static gpointer write_profile(gpointer data)
{
	LodeProfileWriting *self = data;

	lode_profile_store_write(self->path, self->profile, NULL, &self->error);
	return NULL;
}

LodeProfileWriting *lode_profile_writing_begin(
	const LodeRecordedProfile *self, LodeProfile *profile)
{
	LodeProfileWriting *writing = g_new0(LodeProfileWriting, 1);

	writing->path = self->path;
	writing->profile = profile;
	writing->thread = lode_quiet_thread_new("lode-writer", write_profile, writing);
	return writing;
}

bool lode_profile_writing_end(LodeProfileWriting *self, GError **error)
{
	g_thread_join(self->thread);
	bool is_written = self->error == NULL;
	if (!is_written)
		g_propagate_error(error, self->error);
	g_free(self);
	return is_written;
}
