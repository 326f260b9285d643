/* SPDX-License-Identifier: MIT */
#include "machine/descriptor_limit.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { USUAL_DESCRIPTORS = 1024 }; /* most systems' soft limit */

bool lode_descriptor_limit_allows(void)
{
	int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0 || errno != EMFILE;
}

void lode_descriptor_limit_refuse(GError **error)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_NOFILE, &limit);
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"no file can be opened any more: RLIMIT_NOFILE allows %" G_GUINT64_FORMAT
		"; 'ulimit -n %d' raises it",
		(guint64)limit.rlim_cur, USUAL_DESCRIPTORS);
}
