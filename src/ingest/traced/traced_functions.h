/* SPDX-License-Identifier: MIT */
/* Where the functions of a name began in a traced program. */
#pragma once

#include "traces/trace_reader.h"

/* Lets a reader give only what threads do inside functions of that name, as linked, of all images
 * that the trace names. Errors: _NOT_FOUND. */
bool lode_traced_functions_choose(LodeTraceReader *reader, const char *name, GError **error);
