/* SPDX-License-Identifier: MIT */
/*
 * Signatures as text that people can read and keep under version control; docs/formats/signature.md
 * has the grammar.
 *
 *   lode-signature 1
 *   name gzip-9
 *   profiles 3
 *   …
 *   opcodes 2 41 0.98        41 sequences of two opcodes; all of that length have a support of 0.98
 *   0.0731 0.0021 mov add
 *   …
 *   end
 */
#pragma once

#include "model/signature.h"

#define LODE_SIGNATURE_VERSION 1

/* Errors name file and line: _IO, _CORRUPT (cut, out of order, a number out of range),
 * _UNSUPPORTED (of a newer lode). */
LodeSignature *lode_signature_file_read(const char *path, GError **error);

/* Appends the text that reads back as the same signature; the sequences must be in order. */
void lode_signature_file_append(const LodeSignature *self, GString *text);
