/* SPDX-License-Identifier: MIT */
/* Times the callgrind reader alone: the best of several readings of one file, in MB/s of input. */
#include "sources/counts/callgrind.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	double best_s = G_MAXDOUBLE;
	uint64_t bytes = 0;

	if (argc != 2) {
		fputs("usage: read_callgrind callgrind.out\n", stderr);
		return 2;
	}
	for (int i = 0; i < 5; i++) {
		const char *const paths[] = {argv[1]};
		g_autoptr(GError) error = NULL;
		gint64 start_us = g_get_monotonic_time();
		g_autoptr(LodeRecording) recording = lode_callgrind_read(paths, 1, NULL, &error);
		if (recording == NULL) {
			fprintf(stderr, "%s\n", error->message);
			return 1;
		}
		best_s = MIN(best_s, (double)(g_get_monotonic_time() - start_us) / 1e6);
		bytes = recording->bytes_read;
	}
	printf("%.3f %.0f\n", best_s, (double)bytes / best_s / 1e6);
	return 0;
}
