/* SPDX-License-Identifier: MIT */
/* What a fuzz_FORMAT.c gives to libFuzzer or to driver.c, and what it may use. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads the bytes as the format; must return 0, whatever they are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file in memory that holds these bytes until the next call, for readers that take a
 * path. Not for several threads. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		g_snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		g_error("no file in memory");
	return path;
}
