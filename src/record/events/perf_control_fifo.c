/* SPDX-License-Identifier: MIT */
#include "record/events/perf_control_fifo.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINE = 4096 };

static bool check_kind(int descriptor, const char *path, GError **error)
{
	struct stat status;

	if (fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"control pipe '%s': not a named pipe; make one by mkfifo", path);
	return false;
}

bool lode_perf_control_fifo_open(LodePerfControlFifo *self, const char *path, GError **error)
{
	*self = (LodePerfControlFifo){.descriptor = -1};
	if (path == NULL)
		return true;
	/* Open for both, so that reading does not end when one writer has closed it. */
	int descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (descriptor < 0) {
		g_set_error(error, LODE_ERROR,
			errno == ENOENT ? LODE_ERROR_NOT_FOUND : LODE_ERROR_IO,
			"control pipe '%s': %s", path, g_strerror(errno));
		return false;
	}
	if (!check_kind(descriptor, path, error)) {
		close(descriptor);
		return false;
	}
	self->descriptor = descriptor;
	self->text = g_string_new(NULL);
	return true;
}

void lode_perf_control_fifo_close(LodePerfControlFifo *self)
{
	if (self->descriptor >= 0)
		close(self->descriptor);
	if (self->text != NULL)
		g_string_free(self->text, TRUE);
	*self = (LodePerfControlFifo){.descriptor = -1};
}

/* Reads until there is a whole line; false: there is none at the moment. */
static bool read_line(LodePerfControlFifo *self)
{
	while (memchr(self->text->str, '\n', self->text->len) == NULL) {
		char buffer[512];
		ssize_t n = read(self->descriptor, buffer, sizeof(buffer));
		if (n <= 0)
			return false;
		g_string_append_len(self->text, buffer, n);
		/* A line that never ends is unknown. */
		if (self->text->len > MAX_LINE && memchr(buffer, '\n', (size_t)n) == NULL)
			g_string_truncate(self->text, 1);
	}
	return true;
}

static LodePerfControl meaning(const char *line)
{
	static const struct {
		const char *word;
		LodePerfControl control;
	} words[] = {
		{"enable", LODE_PERF_CONTROL_ENABLE},
		{"disable", LODE_PERF_CONTROL_DISABLE},
		{"stop", LODE_PERF_CONTROL_STOP},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(line, words[i].word) == 0)
			return words[i].control;
	return LODE_PERF_CONTROL_UNKNOWN;
}

LodePerfControl lode_perf_control_fifo_next(LodePerfControlFifo *self)
{
	if (self->descriptor < 0 || !read_line(self))
		return LODE_PERF_CONTROL_NONE;
	const char *end = memchr(self->text->str, '\n', self->text->len);
	gssize length = end - self->text->str;
	g_autofree char *line = g_strstrip(g_strndup(self->text->str, (gsize)length));
	g_string_erase(self->text, 0, length + 1);
	return meaning(line);
}
