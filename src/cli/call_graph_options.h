/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options that record the calls which lead to each sample, with perf's words.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The targets of the two entries below. */
typedef struct {
	gboolean has_call_chains;
	char *mode;
} LodeCallGraphOptions;

extern LodeCallGraphOptions lode_call_graph_given;

/* Two entries of a table of GOptionEntry; `what` is "sample", "access". */
#define LODE_CALL_GRAPH_ENTRIES(what, where)                                                       \
	{"call-chains", 'g', 0, G_OPTION_ARG_NONE, &lode_call_graph_given.has_call_chains,         \
		"record the calls that lead to each " what ", by frame pointers; " where, NULL},   \
	{                                                                                          \
		"call-graph", 0, 0, G_OPTION_ARG_STRING, &lode_call_graph_given.mode,              \
			"record them by frame pointers (fp, as -g), or by copying BYTES of the "   \
			"stack with each sample (dwarf, default: 8192), for programs without "     \
			"frame pointers",                                                          \
			"fp|dwarf[,BYTES]"                                                         \
	}

/* Leaves *out_stack_bytes as it is unless the stack is to be copied. Errors: _USAGE. */
bool lode_call_graph_options_read(
	bool *out_has_call_chains, uint16_t *out_stack_bytes, GError **error);
