/* SPDX-License-Identifier: MIT */
#include "cli/call_graph_options.h"

#include "cli/option_parser.h"

#include <string.h>

enum { STACK_BYTES = 8192 /* as perf has it */, MAX_STACK_BYTES = 65528 };

LodeCallGraphOptions lode_call_graph_given;

bool lode_call_graph_options_read(
	bool *out_has_call_chains, uint16_t *out_stack_bytes, GError **error)
{
	const LodeCallGraphOptions *given = &lode_call_graph_given;
	uint64_t bytes = STACK_BYTES;

	*out_has_call_chains = given->has_call_chains || given->mode != NULL;
	if (given->mode == NULL)
		return true;
	g_auto(GStrv) words = g_strsplit(given->mode, ",", 2);
	const char *mode = words[0] != NULL ? words[0] : "";
	if (strcmp(mode, "fp") == 0 && words[1] == NULL)
		return true;
	if (strcmp(mode, "dwarf") != 0)
		return lode_option_refuse(
			error, "--call-graph: fp, dwarf or dwarf,BYTES is needed");
	if (!lode_option_count("--call-graph", words[1], MAX_STACK_BYTES, &bytes, error))
		return false;
	if (bytes == 0)
		return lode_option_refuse(error, "--call-graph: 0 bytes are too few");
	*out_stack_bytes = (uint16_t)bytes;
	return true;
}
