/* SPDX-License-Identifier: MIT */
#include "cli/whole_trace.h"

#include "traces/trace_reader.h"

#include <stdio.h>

bool lode_whole_trace_check(const char *verb, const char *path, const char *consequence)
{
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, NULL);
	const char *damage = reader != NULL ? lode_trace_reader_damage(reader) : NULL;

	if (damage != NULL)
		fprintf(stderr, "lode %s: warning: %s: %s; %s\n", verb, path, damage, consequence);
	return damage == NULL;
}
