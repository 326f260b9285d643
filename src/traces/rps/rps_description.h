/* SPDX-License-Identifier: MIT */
/* The body of a description section ⇄ what names a trace. Private to traces/. */
#pragma once

#include "traces/trace_description.h"

/* Whether a file takes so many mappings, threads and totals. */
bool lode_rps_description_has_room(const LodeTraceDescription *description);

/* The caller owns the bytes. */
GByteArray *lode_rps_description_encode(const LodeTraceDescription *description);

/* The caller owns the result. Errors: _CORRUPT. */
LodeTraceDescription *lode_rps_description_decode(const GByteArray *bytes, GError **error);
