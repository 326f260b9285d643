/* SPDX-License-Identifier: MIT */
/* A machine made up for a test: what its perf_event_open() refuses, and its settings. */
#pragma once

#include "record/events/perf_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>

typedef struct {
	LodePerfKernel kernel;
	int (*judge)(const struct perf_event_attr *attr, int cpu); /* errno, or 0 */
	int (*descriptor)(void); /* what is opened; NULL: /dev/null */
	GArray *tried;           /* struct perf_event_attr */
	char *settings;
} FakeKernel;

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data)
{
	FakeKernel *self = user_data;

	(void)pid;
	g_array_append_vals(self->tried, attr, 1);
	errno = self->judge(attr, cpu);
	if (errno != 0)
		return -1;
	return self->descriptor != NULL ? self->descriptor()
	                                : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void fake_kernel_set(const FakeKernel *self, const char *name, const char *value)
{
	g_autofree char *path = g_build_filename(self->settings, name, NULL);

	g_assert_true(g_file_set_contents(path, value, -1, NULL));
}

static void fake_kernel_init(
	FakeKernel *self, int (*judge)(const struct perf_event_attr *attr, int cpu))
{
	*self = (FakeKernel){
		.judge = judge,
		.tried = g_array_new(FALSE, FALSE, sizeof(struct perf_event_attr)),
		.settings = g_dir_make_tmp("lode-test-kernel-XXXXXX", NULL),
	};
	self->kernel = (LodePerfKernel){
		.open = fake_open, .user_data = self, .settings = self->settings};
	fake_kernel_set(self, "perf_event_paranoid", "2\n");
	fake_kernel_set(self, "perf_event_max_sample_rate", "100000\n");
	fake_kernel_set(self, "perf_event_mlock_kb", "516\n");
}

static void fake_kernel_clear(FakeKernel *self)
{
	static const char *const names[] = {
		"perf_event_paranoid", "perf_event_max_sample_rate", "perf_event_mlock_kb"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(self->settings, names[i], NULL);
		g_remove(path);
	}
	g_rmdir(self->settings);
	g_free(self->settings);
	g_array_unref(self->tried);
}
