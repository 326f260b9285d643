/* SPDX-License-Identifier: MIT */
#include "cli/recording_directory.h"

#include "base/error.h"
#include "cli/interrupt.h"

#include <errno.h>
#include <glib/gstdio.h>

/* Flat: recording makes no directories. Also runs in the interrupt's thread. */
static void remove_all(void *data)
{
	const char *path = data, *name;
	g_autoptr(GDir) listing = g_dir_open(path, 0, NULL);

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		g_unlink(file);
	}
	g_rmdir(path);
}

static bool make_temporary(LodeRecordingDirectory *self, GError **error)
{
	self->path = g_build_filename(g_get_tmp_dir(), "lode-run-XXXXXX", NULL);
	/* Handlers first, so that nothing can end us between making and removing. */
	lode_interrupt_cancellable();
	if (g_mkdtemp(self->path) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"cannot make a directory for the recording in '%s' (TMPDIR): %s",
			g_get_tmp_dir(), g_strerror(errno));
		return false;
	}
	lode_interrupt_set_last_act(remove_all, self->path);
	return true;
}

static bool is_of_recording(const char *name)
{
	static const char *const starts[] = {
		"callgrind.out.", "valgrind.", "perf.data", "jit-", "allocations-", "trace.rps"};

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

void lode_recording_directory_close(LodeRecordingDirectory *self)
{
	if (self == NULL)
		return;
	if (!self->is_kept) {
		remove_all(self->path);
		lode_interrupt_set_last_act(NULL, NULL);
	}
	g_free(self->path);
	g_free(self);
}
