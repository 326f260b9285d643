/* SPDX-License-Identifier: MIT */
/* A line of /proc/PID/maps, proc_pid_maps(5): "55d4f58c6000-55d4f58c8000 r--p 00000000 fe:00 248056
 *    /usr/bin/sleep". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t start, end, offset, inode;
	uint32_t device_major, device_minor;
	char access[5]; /* "r-xp" */
	int path;       /* where it begins in the line; it ends with it */
} LodeMapsLine;

/* False: not such a line. */
bool lode_maps_line_read(const char *line, LodeMapsLine *out_mapping);
