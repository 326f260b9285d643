/* SPDX-License-Identifier: MIT */
/* References of many shapes, for round trips. */
#pragma once

#include "traces/reference.h"

#include <glib.h>

/* Names of the shapes; NULL behind the last. */
extern const char *const lode_trace_sample_names[];

/* GArray of LodeReference, about `n`; the same for the same arguments. The caller owns it. */
GArray *lode_trace_sample(const char *name, unsigned n, unsigned seed);
