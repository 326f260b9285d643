/* SPDX-License-Identifier: MIT */
/* How many files a process may have open at a time (RLIMIT_NOFILE). */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether one more can be opened now. */
bool lode_descriptor_limit_allows(void);

/* Says that none can, and what allows more: of what opens no more than any program must. */
void lode_descriptor_limit_refuse(GError **error);
