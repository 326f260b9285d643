/* SPDX-License-Identifier: MIT */
/*
 * Where a verb's output goes: standard output, or a file that appears under its name only when it
 * is whole. Devices and pipes are written as they are.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct LodeOutputFile LodeOutputFile;

/* False, with _USAGE: what is written to `path` would replace `input`, which is read. */
bool lode_output_file_is_distinct(const char *path, const char *input, GError **error);

/* `path` NULL or "-": standard output. Errors: _IO. */
LodeOutputFile *lode_output_file_open(const char *path, GError **error);

/* The stream to write to; borrowed. */
FILE *lode_output_file_stream(LodeOutputFile *self);

/* Finishes it: everything has arrived, the file is in its place. Errors: _IO. */
bool lode_output_file_commit(LodeOutputFile *self, GError **error);

/* Without a commit before, an unfinished file is removed. */
void lode_output_file_close(LodeOutputFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeOutputFile, lode_output_file_close)
