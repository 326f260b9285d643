/* SPDX-License-Identifier: MIT */
/*
 * The control flow of one function as it was executed, as JSON: its blocks with their executions
 * and weight, the edges between them with their counts, its callers and its callees.
 */
#pragma once

#include "model/profile.h"
#include "views/form/format.h"

/*
 * Writes to `out`. Addresses are text, as those of lode annotate. Callers and callees are the
 * costliest hundred, by count, falling, with their number in all. Errors: _NOT_FOUND (no such
 * function), _IO.
 */
bool lode_function_graph_write(const LodeProfile *profile, uint32_t weight_event, uint64_t function,
	FILE *out, GError **error);
