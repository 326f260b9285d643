/* SPDX-License-Identifier: MIT */
/* An option of the histogram that other views of lode memory heed as well. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What --granularity says; untouched where it was not given. Errors: _USAGE. */
bool lode_memory_view_granularity(uint64_t *out_bytes, GError **error);
