/* SPDX-License-Identifier: MIT */
/* Files of lode and of perf, known by their first bytes, which no other output may replace. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum {
	LODE_FILE_KIND_NONE, /* no file, an empty one, or one that is not regular */
	LODE_FILE_KIND_OTHER,
	LODE_FILE_KIND_PROFILE,      /* of any version */
	LODE_FILE_KIND_RECORDING,    /* perf.data */
	LODE_FILE_KIND_COUNTS,       /* kept by lode run --keep-recording */
	LODE_FILE_KIND_PACKED_TRACE, /* .rps */
} LodeFileKind;

/* The file is neither opened as a database nor locked. */
LodeFileKind lode_file_kind(const char *path);

/*
 * Whether output of a kind may be written to `path`, which `option` ("-o") names. OTHER, such as
 * text, replaces what is of no known kind, and is written to devices; each other kind replaces its
 * own. Errors name the file: _USAGE.
 */
bool lode_file_kind_may_replace(
	LodeFileKind kind, const char *path, const char *option, GError **error);

/* Whether a regular file begins with these bytes. */
bool lode_file_begins_with(const char *path, const void *bytes, size_t size);

/* Whether two paths name the same regular file, which need not exist; "-" is standard input. */
bool lode_file_is_same(const char *path, const char *other);
