/* SPDX-License-Identifier: MIT */
/*
 * Attributes of code from a compiler or a person, as a CSV file (RFC 4180), in one of two forms
 * that its first line chooses:
 *
 *   image,symbol,offset,attribute          file,line,attribute
 *   libz.so.1,inflate,0x1c,ir:phi          src/inflate.c,120,phase:vectorised
 *
 * Each value becomes the attribute "user:VALUE" of the instructions it is about. Finding these is
 * the importer's work: `image` is a path, or its base name when it holds no slash; `symbol` is a
 * linked or demangled name, `offset` counts bytes from its start, and an empty symbol makes
 * `offset` a virtual address in the image; `file` is a path, or the end of one that begins after a
 * slash.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef enum {
	LODE_ATTRIBUTE_FILE_PLACES, /* image, symbol, offset */
	LODE_ATTRIBUTE_FILE_LINES,  /* file, line */
} LodeAttributeFileForm;

typedef struct {
	char *image, *symbol; /* of places; else NULL. The symbol may be "" */
	uint64_t offset;      /* of places; else 0 */
	char *file;           /* of lines; else NULL */
	uint32_t line;        /* of lines, from 1; else 0 */
	char *attribute;      /* "user:VALUE" */
	uint64_t record_line; /* where the row stands in the CSV file, for messages */
} LodeAttributeRow;

typedef struct LodeAttributeFile {
	LodeAttributeFileForm form;
	GArray *rows; /* LodeAttributeRow, as in the file */
	GStringChunk *strings;
} LodeAttributeFile;

/*
 * Reads an attribute file, plain or zstd-compressed. Fields must be UTF-8 without control
 * characters, quoted ones end on their line. Offsets and lines are decimal, or hexadecimal with 0x;
 * empty lines are skipped. Errors name file and line: _IO, _CORRUPT, _LIMIT.
 */
LodeAttributeFile *lode_attribute_file_read(
	const char *path, const LodeProgress *progress, GError **error);
void lode_attribute_file_free(LodeAttributeFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAttributeFile, lode_attribute_file_free)
