/* SPDX-License-Identifier: MIT */
/*
 * Prints of each log of windows in a recording: process, windows, steps, threads with windows,
 * obstacle; "timer" where one was used, and "damaged" where what can be read is not what its header
 * says.
 */
#include "sources/perf_data/perf_data.h"
#include "sources/windows/window_log.h"

#include <stdio.h>

static void print_log(const LodeWindowLogHeader *header, LodeWindowLog *log)
{
	g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
	uint64_t n_windows = 0, n_steps = 0;
	LodeWindow window;

	while (lode_window_log_next(log, &window)) {
		n_windows++;
		g_hash_table_add(threads, GUINT_TO_POINTER(window.head.tid));
		while (lode_window_next(&window))
			n_steps += window.step.address != 0;
	}
	bool is_whole = lode_window_log_damaged(log) == 0 && n_windows == header->n_windows &&
	                n_steps == header->n_steps;
	printf("%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %u %u%s%s\n", header->pid, n_windows,
		n_steps, g_hash_table_size(threads), header->obstacle,
		(header->flags & LODE_WINDOW_LOG_TIMER) != 0 ? " timer" : "",
		is_whole ? "" : " damaged");
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfData) data = argc == 2 ? lode_perf_data_open(argv[1], &error) : NULL;
	guint n = data != NULL ? lode_perf_data_info(data)->window_logs->len : 0;

	for (guint i = 0; i < n && error == NULL; i++) {
		g_autoptr(GBytes) bytes = lode_perf_data_window_log(data, i, &error);
		g_autoptr(LodeWindowLog)
			log = bytes != NULL ? lode_window_log_new(bytes, argv[1], &error) : NULL;
		if (log != NULL)
			print_log(lode_window_log_header(log), log);
	}
	if (error != NULL)
		fprintf(stderr, "dump_windows: %s\n", error->message);
	return data == NULL || error != NULL;
}
