/* SPDX-License-Identifier: MIT */
#include "cli/whole_trace.h"

#include "ingest/traced/traced_recording.h"
#include "views/display_text.h"

#include <stdio.h>
#include <string.h>

bool lode_whole_trace_check(
	const char *verb, const char *path, const LodeProfile *profile, const char *consequence)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, LODE_TRACED_DAMAGE) != 0)
			continue;
		bool is_named = g_str_has_prefix(row->example, path);
		lode_display_line(stderr, "lode %s: warning: %s%s%s; %s", verb,
			is_named ? "" : path, is_named ? "" : ": ", row->example, consequence);
		return false;
	}
	return true;
}
