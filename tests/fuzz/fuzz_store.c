/* SPDX-License-Identifier: MIT */
/* Any bytes as a profile file: profile and run are read whole or refused. */
#include "fuzz_target.h"
#include "model/profile.h"
#include "store/profile_store.h"

#include <fcntl.h>
#include <stdlib.h>

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

/* SQLite follows links to the end, so that a file in memory, which has no name, will not do. */
static const char *named_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
		g_snprintf(path, sizeof(path), "%s/lode-fuzz-XXXXXX", folder);
		fd = mkostemp(path, O_CLOEXEC);
		atexit(remove_file);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		g_error("no temporary file");
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = named_file(data, size);
	g_autoptr(GError) error = NULL;
	g_autoptr(GError) run_error = NULL;
	g_autoptr(LodeProfile) profile = lode_profile_store_read(file, NULL, &error);
	g_autoptr(LodeMiningRun) run = lode_profile_store_read_run(file, NULL, &run_error);

	if ((profile == NULL) == (error == NULL) || (run == NULL) == (run_error == NULL))
		g_error("a result and an error");
	/* The sequences must be readable to the last item. */
	for (guint i = 0; run != NULL && i < run->sequences->len; i++)
		g_free(lode_mining_run_sequence_text(run, i));
	for (guint i = 0; run != NULL && run->findings != NULL && i < run->findings->findings->len;
		i++)
		g_free(lode_finding_text(run->findings, lode_findings_at(run->findings, i)));
	return 0;
}
