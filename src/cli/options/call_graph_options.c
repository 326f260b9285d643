/* SPDX-License-Identifier: MIT */
#include "cli/options/call_graph_options.h"

#include <string.h>

enum { STACK_BYTES = 8192 /* perf's default */, MAX_STACK_BYTES = 65528 };

bool lode_call_graph_read(
	const char *mode, bool *has_call_chains, uint16_t *stack_bytes, GError **error)
{
	guint64 bytes = STACK_BYTES;

	if (mode == NULL)
		return true;
	const char *size = g_str_has_prefix(mode, "dwarf,") ? strchr(mode, ',') + 1 : NULL;
	bool is_copied = size != NULL || strcmp(mode, "dwarf") == 0;
	if (!is_copied && strcmp(mode, "fp") != 0)
		return lode_parameter_refuse(
			error, "--call-graph: fp, dwarf or dwarf,BYTES is needed");
	if (size != NULL && !g_ascii_string_to_unsigned(size, 10, 1, MAX_STACK_BYTES, &bytes, NULL))
		return lode_parameter_refuse(error,
			"--call-graph: '%s' is not a whole number from 1 to %d", size,
			MAX_STACK_BYTES);
	*has_call_chains = true;
	if (is_copied)
		*stack_bytes = (uint16_t)bytes;
	return true;
}
