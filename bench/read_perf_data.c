/* SPDX-License-Identifier: MIT */
/* Times the perf.data reader alone: the best of several readings of one file. Prints seconds,
 * samples and bytes. */
#include "sources/perf_data/perf_data.h"

#include <inttypes.h>
#include <stdio.h>

/* Samples of the file; UINT64_MAX on failure. The sum keeps the compiler from leaving fields out.
 */
static uint64_t read_samples(const char *path, uint64_t *out_sum, uint64_t *out_bytes)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfData) file = lode_perf_data_open(path, &error);
	LodePerfRecord record;
	LodePerfNext next = LODE_PERF_NEXT_ERROR;
	uint64_t n = 0;

	while (file != NULL &&
		(next = lode_perf_data_next(file, &record, &error)) == LODE_PERF_NEXT_RECORD) {
		if (record.kind != LODE_PERF_SAMPLE)
			continue;
		n++;
		*out_sum += record.sample.ip ^ record.time_ns ^ record.tid ^ record.sample.period;
	}
	if (next == LODE_PERF_NEXT_ERROR) {
		fprintf(stderr, "%s\n", error->message);
		return UINT64_MAX;
	}
	*out_bytes = lode_perf_data_size(file);
	return n;
}

int main(int argc, char **argv)
{
	double best_s = G_MAXDOUBLE;
	uint64_t n = 0, sum = 0, bytes = 0;

	if (argc != 2) {
		fputs("usage: read_perf_data perf.data\n", stderr);
		return 2;
	}
	for (int i = 0; i < 5; i++) {
		gint64 start_us = g_get_monotonic_time();
		n = read_samples(argv[1], &sum, &bytes);
		if (n == UINT64_MAX)
			return 1;
		best_s = MIN(best_s, (double)(g_get_monotonic_time() - start_us) / 1e6);
	}
	printf("%.4f %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", best_s, n, bytes, sum);
	return 0;
}
