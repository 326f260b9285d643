/* SPDX-License-Identifier: MIT */
/* The signatures that are kept in one directory. */
#pragma once

#include <glib.h>

/*
 * Reads all files *.sig of a directory, in the order of their names: GPtrArray of LodeSignature,
 * which the caller unrefs. Errors: _IO, _NOT_FOUND (there is none), _USAGE (two have one name),
 * those of lode_signature_file_read().
 */
GPtrArray *lode_signature_directory_read(const char *path, GError **error);
