/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel had put the pages of processes, at several times: a text that lode's recorder
 * writes beside perf.data, and others may.
 *
 *   lode-pages 1
 *   time 8031337000 4711                         nanoseconds of CLOCK_MONOTONIC; the process
 *   7ffff7d80000 7ffff7f00000 4 1                [start, end), kB of a page, node
 *   7ffff7f00000 7ffff7f02000 2048 0
 *
 * A line that begins with # is a comment.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

bool lode_page_file_is_format(const char *data, size_t size);

/* Appends the rows (LodeMemoryPages). Errors: _IO, _CORRUPT with the line's number, _LIMIT. */
bool lode_page_file_read(const char *path, GArray *out_pages, GError **error);
