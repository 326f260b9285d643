/* SPDX-License-Identifier: MIT */
/* Options of the histogram that other views of lode memory heed as well. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What --top, --granularity and --sort say; untouched where they were not given. Errors: _USAGE. */
bool lode_memory_view_limit(uint32_t *out_limit, bool *out_is_given, GError **error);
bool lode_memory_view_granularity(uint64_t *out_bytes, GError **error);
bool lode_memory_view_is_by_address(void);
