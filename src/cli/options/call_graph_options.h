/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options that record the call chain of each sample, named as in perf. */
#pragma once

#include "base/parameter.h"

/* clang-format off */
/* Two rows for a struct: its bool `chains` and its text `mode`; `what` is "sample", "access". */
#define LODE_CALL_GRAPH_ROWS(type, chains, mode, what, where) \
	{"call-chains", 'g', LODE_FLAG(type, chains), \
		.summary = "record the calls that lead to each " what ", by frame pointers; " where}, \
	{"call-graph", LODE_TEXT(type, mode), .value = "fp|dwarf[,BYTES]", \
		.summary = "record them by frame pointers (fp, as -g), or by copying BYTES of the " \
			"stack with each sample (dwarf, default: 8192), for programs without " \
			"frame pointers"}
/* clang-format on */

/*
 * Applies --call-graph in addition to --call-chains; `mode` NULL: no change. Sets *stack_bytes only
 * if the stack is to be copied. Errors: _USAGE.
 */
bool lode_call_graph_read(
	const char *mode, bool *has_call_chains, uint16_t *stack_bytes, GError **error);
