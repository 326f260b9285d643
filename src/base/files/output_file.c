/* SPDX-License-Identifier: MIT */
#include "base/files/output_file.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct LodeOutputFile {
	char *path;        /* NULL: standard output */
	LodeNewFile *file; /* NULL: written in place */
	FILE *stream;
};

static bool is_device(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool fail(const LodeOutputFile *self, GError **error)
{
	int reason = errno;

	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot write '%s': %s",
		self->path != NULL ? self->path : "standard output", g_strerror(reason));
	return false;
}

static bool open_path(LodeOutputFile *self, GError **error)
{
	if (is_device(self->path)) {
		self->stream = fopen(self->path, "we");
		return self->stream != NULL || fail(self, error);
	}
	if (!lode_file_kind_may_replace(LODE_FILE_KIND_OTHER, self->path, "-o", error))
		return false;
	self->file = lode_new_file_open(self->path, error);
	if (self->file == NULL) {
		g_prefix_error(error, "%s: ", self->path);
		return false;
	}
	int descriptor = fcntl(self->file->descriptor, F_DUPFD_CLOEXEC, 3);
	self->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	return self->stream != NULL || fail(self, error);
}

LodeOutputFile *lode_output_file_open(const char *path, GError **error)
{
	g_autoptr(LodeOutputFile) self = g_new0(LodeOutputFile, 1);

	self->path = g_strcmp0(path, "-") == 0 ? NULL : g_strdup(path);
	if (self->path == NULL)
		self->stream = stdout;
	else if (!open_path(self, error))
		return NULL;
	return g_steal_pointer(&self);
}

FILE *lode_output_file_stream(LodeOutputFile *self)
{
	return self->stream;
}

bool lode_output_file_commit(LodeOutputFile *self, GError **error)
{
	if (fflush(self->stream) != 0 || ferror(self->stream))
		return fail(self, error);
	if (self->stream == stdout)
		return true;
	FILE *stream = g_steal_pointer(&self->stream);
	if (fclose(stream) != 0)
		return fail(self, error);
	if (self->file == NULL || lode_new_file_commit(self->file, error))
		return true;
	g_prefix_error(error, "%s: ", self->path);
	return false;
}

void lode_output_file_close(LodeOutputFile *self)
{
	if (self == NULL)
		return;
	if (self->stream != NULL && self->stream != stdout)
		fclose(self->stream);
	lode_new_file_close(self->file);
	g_free(self->path);
	g_free(self);
}
