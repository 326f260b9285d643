/* SPDX-License-Identifier: MIT */
/* lode trace simulate: what was simulated, to where it is wanted. */
#include "cli/trace_simulate.h"
#include "views/display_text.h"

#include <unistd.h>

/* What a program writes to a file or a pipe is data, which results must not follow. */
FILE *lode_trace_results_stream(LodeOutputFile *file, bool is_of_program)
{
	FILE *out = lode_output_file_stream(file);

	return out == stdout && is_of_program && isatty(STDOUT_FILENO) == 0 ? stderr : out;
}

bool lode_trace_results_write(const LodeCacheResults *results, size_t n_results,
	LodeViewFormat format, const char *output, GError **error)
{
	LodeCacheResultsOptions view = {.format = format};

	if (!lode_trace_plots_write(results, error))
		return false;
	g_autoptr(LodeOutputFile) file = lode_output_file_open(output, error);
	if (file == NULL)
		return false;
	FILE *out = lode_trace_results_stream(file, results->process > 0);
	view.terminal = lode_terminal_of(out);
	return lode_cache_results_write(results, n_results, &view, out, error) &&
	       lode_output_file_commit(file, error);
}

/* Of threads on one core, no line is taken away by another. */
void lode_trace_results_tell_cores(const LodeTraceReplayOptions *replay, unsigned n_threads)
{
	bool has_one_core = false;

	for (size_t i = 0; i < replay->n_hierarchies; i++)
		has_one_core |= replay->hierarchies[i]->n_cores == 1;
	if (!replay->classifies || !has_one_core || n_threads < 2)
		return;
	lode_display_line(stderr,
		"lode trace simulate: note: the trace has %u threads and these caches one core: "
		"add cores=%u to see sharing, as in --cache host,cores=%u",
		n_threads, MIN(n_threads, LODE_HIERARCHY_MAX_CORES),
		MIN(n_threads, LODE_HIERARCHY_MAX_CORES));
}
