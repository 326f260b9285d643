/* SPDX-License-Identifier: MIT */
/*
 * Signatures as text that people can read and keep under version control;
 * docs/reference/formats/signature.md has the grammar.
 *
 *   lode-signature 2
 *   name gzip-9
 *   profiles 3
 *   …
 *   opcodes 2 41 0.98        41 sequences of two opcodes; all of that length have a support of 0.98
 *   0.0731 0.0021 mov add
 *   …
 *   files 2
 *   0.93 93ac61ec5a8eb139 libc.so.6
 *   …
 *   end
 */
#pragma once

#include "model/mined/signature.h"

#include <glib.h>

/* Version 1 has no files. */
#define LODE_SIGNATURE_VERSION 2

/* Errors name file and line: _IO, _CORRUPT (cut, out of order, a number out of range),
 * _UNSUPPORTED (of a newer lode). */
LodeSignature *lode_signature_file_read(const char *path, GError **error);

/* Appends the text that reads back as the same signature; the sequences must be in order. */
void lode_signature_file_append(const LodeSignature *self, GString *text);

/* The signatures that are kept in one directory. Reads all files *.sig of a directory, in the
 * order of their names: GPtrArray of LodeSignature, which the caller unrefs. Errors: _IO,
 * _NOT_FOUND (there is none), _USAGE (two have one name), those of lode_signature_file_read(). */
GPtrArray *lode_signature_directory_read(const char *path, GError **error);
