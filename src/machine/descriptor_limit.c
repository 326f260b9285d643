/* SPDX-License-Identifier: MIT */
#include "machine/descriptor_limit.h"

#include "base/error.h"

#include <sys/resource.h>

enum { USUAL_DESCRIPTORS = 1024 }; /* most systems' soft limit */

void lode_descriptor_limit_refuse(GError **error)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_NOFILE, &limit);
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"no file can be opened any more: RLIMIT_NOFILE allows %" G_GUINT64_FORMAT
		"; 'ulimit -n %d' raises it",
		(guint64)limit.rlim_cur, USUAL_DESCRIPTORS);
}
