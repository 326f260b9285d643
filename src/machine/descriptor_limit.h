/* SPDX-License-Identifier: MIT */
/* The limit on the number of open files of a process (RLIMIT_NOFILE). */
#pragma once

#include <glib.h>

/* Sets an error: no more files can be opened, with the command that raises the limit. For a caller
 * that opens few files itself. */
void lode_descriptor_limit_refuse(GError **error);
