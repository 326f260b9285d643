/* SPDX-License-Identifier: MIT */
/*
 * A profile in callgrind's format, which KCachegrind and callgrind_annotate read: costs and
 * executions of each instruction, calls, and what these cost with all that they lead to. That is
 * exact where call stacks were recorded; else it is worked out from the number of calls
 * (analyses/calls/call_costs.h).
 *
 * Format: https://valgrind.org/docs/manual/cl-format.html. Its costs are whole numbers, so that
 * they are rounded.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct LodeProfile LodeProfile;

/* `profile` with its call stacks, if it has any. Errors: _IO. */
bool lode_callgrind_write(const LodeProfile *profile, FILE *out, GError **error);
