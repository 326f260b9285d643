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

/* `path` NULL or "-": standard output. Errors: _IO; _USAGE: a profile, a recording or a trace is
 * there. */
LodeOutputFile *lode_output_file_open(const char *path, GError **error);

/* The stream to write to; borrowed. */
FILE *lode_output_file_stream(LodeOutputFile *self);

/* Finishes it: everything has arrived, the file is in its place. Errors: _IO. */
bool lode_output_file_commit(LodeOutputFile *self, GError **error);

/* Without a commit before, an unfinished file is removed. */
void lode_output_file_close(LodeOutputFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeOutputFile, lode_output_file_close)
