/* SPDX-License-Identifier: MIT */
#include "views/traces/trace_recording_summary.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "views/form/display_text.h"

enum { MAX_LISTED = 10 };

LODE_ORDER(compare_sizes, LodeTraceRecordedProcess, LODE_DESCENDING(n_references))

/* The largest, and how many there are. */
static void write_processes(
	const LodeTraceRecording *recorded, const char *verb, const char *path, FILE *out)
{
	g_autoptr(GArray) sorted = g_array_copy(recorded->processes);
	uint64_t n_references = 0;

	if (sorted->len == 0)
		return;
	g_array_sort(sorted, compare_sizes);
	for (guint i = 0; i < sorted->len; i++) {
		const LodeTraceRecordedProcess *process = &g_array_index(
			sorted, LodeTraceRecordedProcess, i);
		n_references += process->n_references;
		if (i < MAX_LISTED)
			lode_display_line(out, "lode %s: %s: %s references of %s", verb,
				process->path, LODE_COUNT_TEXT(process->n_references),
				process->command);
	}
	if (sorted->len > MAX_LISTED)
		lode_display_line(out, "lode %s: and %u more, up to %s", verb,
			sorted->len - MAX_LISTED,
			g_array_index(recorded->processes, LodeTraceRecordedProcess,
				recorded->processes->len - 1)
				.path);
	lode_display_line(out,
		"lode %s: %u processes or programs besides that of %s, with %s references", verb,
		sorted->len, path, LODE_COUNT_TEXT(n_references));
}

void lode_trace_recording_summary_write(
	const LodeTraceRecording *recorded, const char *verb, const char *path, FILE *out)
{
	g_autofree char *bits = recorded->n_references == 0
	                                ? g_strdup("")
	                                : g_strdup_printf(", %.3f bits per reference",
						  8 * (double)recorded->n_bytes /
							  (double)recorded->n_references);

	lode_display_line(out,
		"lode %s: %s reference%s of %s instruction%s in %u thread%s, by %s%s", verb,
		LODE_COUNT_TEXT(recorded->n_references), recorded->n_references == 1 ? "" : "s",
		LODE_COUNT_TEXT(recorded->n_instructions), recorded->n_instructions == 1 ? "" : "s",
		recorded->n_threads, recorded->n_threads == 1 ? "" : "s",
		lode_trace_way_to_text(recorded->way),
		recorded->is_cut ? "; the program went on untraced" : "");
	lode_display_line(out, "lode %s: %s: %s bytes%s", verb, path,
		LODE_COUNT_TEXT(recorded->n_bytes), bits);
	write_processes(recorded, verb, path, out);
}
