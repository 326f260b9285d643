/* SPDX-License-Identifier: MIT */
#include "base/files/nameless_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

int lode_nameless_file_open(const char *directory)
{
	int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Not all file systems can do that. */
	if (descriptor >= 0 || errno == ENOENT || errno == EACCES)
		return descriptor;
	g_autofree char *name = g_build_filename(directory, "lode-XXXXXX", NULL);
	descriptor = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, 0600);
	if (descriptor >= 0)
		unlink(name);
	return descriptor;
}
