/* SPDX-License-Identifier: MIT */
#include "cli/program_output.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *path, GError **error)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_IO, "cannot write '%s': %s", path, g_strerror(errno));
	return false;
}

static bool divert(LodeProgramOutput *self, int descriptor, int to)
{
	int saved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (saved < 0)
		return false;
	self->saved[descriptor] = saved;
	return dup2(to, descriptor) >= 0;
}

static bool divert_input(LodeProgramOutput *self)
{
	int empty;
	bool is_done;

	if (!isatty(STDIN_FILENO))
		return true;
	empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
	is_done = empty >= 0 && divert(self, STDIN_FILENO, empty);
	if (empty >= 0)
		close(empty);
	return is_done;
}

bool lode_program_output_divert(LodeProgramOutput *self, const char *directory, GError **error)
{
	g_autofree char *path = g_build_filename(directory, LODE_PROGRAM_OUTPUT_NAME, NULL);

	*self = (LodeProgramOutput){.file = -1, .saved = {-1, -1, -1}};
	/* Output and error stand in it in the order in which they are written. */
	self->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (self->file < 0)
		return fail(path, error);
	bool is_done = divert_input(self);
	fflush(NULL);
	for (int i = STDOUT_FILENO; i <= STDERR_FILENO && is_done; i++)
		is_done = !isatty(i) || divert(self, i, self->file);
	if (is_done)
		return true;
	fail(path, error);
	lode_program_output_clear(self);
	return false;
}

void lode_program_output_restore(LodeProgramOutput *self)
{
	fflush(NULL);
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (self->saved[i] < 0)
			continue;
		dup2(self->saved[i], i);
		close(self->saved[i]);
		self->saved[i] = -1;
	}
}

/* The terminal, whether or not we are diverted. */
static int terminal_of(const LodeProgramOutput *self)
{
	for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
		if (self->saved[i] >= 0)
			return self->saved[i];
	return isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO;
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(descriptor, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

void lode_program_output_show(LodeProgramOutput *self)
{
	char buffer[16384];
	ssize_t n;

	while (self->file >= 0 &&
		(n = pread(self->file, buffer, sizeof(buffer), self->shown)) > 0) {
		self->shown += n;
		if (!write_all(terminal_of(self), buffer, (size_t)n))
			return;
	}
}

void lode_program_output_say(LodeProgramOutput *self, const char *line)
{
	g_autofree char *text = g_strconcat(line, "\n", NULL);

	write_all(terminal_of(self), text, strlen(text));
}

char *lode_program_output_tail(const LodeProgramOutput *self, size_t size)
{
	struct stat status;

	if (self->file < 0 || fstat(self->file, &status) != 0)
		return g_strdup("");
	off_t start = MAX(status.st_size - (off_t)size, 0);
	char *text = g_malloc0(size + 1);
	ssize_t n = pread(self->file, text, size, start);
	text[MAX(n, 0)] = '\0';
	/* A program may write zeros. */
	for (ssize_t i = 0; i < n; i++)
		text[i] = text[i] != '\0' ? text[i] : ' ';
	const char *line = start > 0 ? strchr(text, '\n') : NULL;
	if (line != NULL)
		memmove(text, line + 1, strlen(line));
	return text;
}

void lode_program_output_clear(LodeProgramOutput *self)
{
	if (self->file < 0)
		return;
	lode_program_output_restore(self);
	lode_program_output_show(self);
	close(self->file);
	self->file = -1;
}
