/* SPDX-License-Identifier: MIT */
#include "cli/recording/recording_directory.h"

#include "base/error.h"
#include "base/files/private_folder.h"
#include "cli/interrupt.h"

#include <errno.h>
#include <string.h>

static bool make_temporary(LodeRecordingDirectory *self, GError **error)
{
	lode_private_folders_remove_left();
	/* Handlers are installed first, so that no signal ends the process between creation and
	 * removal. */
	lode_interrupt_cancellable();
	self->temporary = lode_run_folder_make(g_get_tmp_dir(), LODE_RUN_FOLDER_NAME);
	if (self->temporary == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"cannot make a directory for the recording in '%s' (TMPDIR): %s",
			g_get_tmp_dir(), g_strerror(errno));
		return false;
	}
	self->path = g_strdup(self->temporary->path);
	return true;
}

static bool is_of_recording(const char *name)
{
	static const char *const starts[] = {"callgrind.out.", "counts.", "valgrind.", "perf.data",
		"jit-", "allocations-", "trace.rps"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(name, starts[i]))
			return true;
	return false;
}

static bool make_kept(LodeRecordingDirectory *self, const char *path, GError **error)
{
	const char *name;

	self->path = g_strdup(path);
	self->is_kept = true;
	if (g_mkdir_with_parents(path, 0777) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot make directory '%s': %s",
			path, g_strerror(errno));
		return false;
	}
	g_autoptr(GDir) listing = g_dir_open(path, 0, error);
	if (listing == NULL)
		return false;
	while ((name = g_dir_read_name(listing)) != NULL) {
		if (!is_of_recording(name))
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' holds a recording already; give --keep-recording another directory",
			path);
		return false;
	}
	return true;
}

LodeRecordingDirectory *lode_recording_directory_open(const char *kept, GError **error)
{
	LodeRecordingDirectory *self = g_new0(LodeRecordingDirectory, 1);

	bool is_made = kept != NULL ? make_kept(self, kept, error) : make_temporary(self, error);
	if (is_made)
		return self;
	g_free(self->path);
	g_free(self);
	return NULL;
}

static void replace_message(GError *error, char *message)
{
	g_free(error->message);
	error->message = message;
}

void lode_recording_directory_explain(const LodeRecordingDirectory *self, GError **error)
{
	static const struct {
		int code;
		const char *advice;
	} causes[] = {
		{ENOSPC, "set TMPDIR to a directory with more room, or give one by "
			 "--keep-recording"},
		{EDQUOT, "set TMPDIR to a directory with more room, or give one by "
			 "--keep-recording"},
		{EFBIG, "raise the limit of files (ulimit -f)"},
	};
	bool names_file = !self->is_kept && strstr((*error)->message, self->path) != NULL;

	for (size_t i = 0; names_file && i < G_N_ELEMENTS(causes); i++) {
		const char *reason = g_strerror(causes[i].code);
		if (!g_str_has_suffix((*error)->message, reason))
			continue;
		char *message = g_strdup_printf(
			"the recording cannot be written in '%s' (TMPDIR): %s; %s", g_get_tmp_dir(),
			reason, causes[i].advice);
		replace_message(*error, message);
		return;
	}
	const char *rest = strstr((*error)->message, ": ");
	if (names_file && rest != NULL && g_str_has_prefix((*error)->message, self->path))
		replace_message(*error, g_strdup(rest + strlen(": ")));
}

void lode_recording_directory_close(LodeRecordingDirectory *self)
{
	if (self == NULL)
		return;
	lode_run_folder_remove(self->temporary);
	g_free(self->path);
	g_free(self);
}
