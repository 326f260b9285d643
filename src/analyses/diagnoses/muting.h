/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses that are known and accepted. A file names them, one a line, by name or as a glob:
 *
 *   # the hash is only for tests
 *   division@hash_step
 *   service-stdio@*
 */
#pragma once

#include "analyses/diagnoses/diagnoses.h"

/* The file that holds without an option: in the current folder. */
#define LODE_MUTING_FILE ".lode-mute"

/*
 * The globs of a file, NULL-terminated; of LODE_MUTING_FILE where `path` is NULL, none where that
 * does not exist. The caller frees them. Errors: _IO; _CORRUPT: a line without '@', a file of more
 * than a megabyte.
 */
char **lode_muting_read(const char *path, GError **error);

/* Sets LodeDiagnosis.is_muted of those whose names one of the globs matches. */
void lode_muting_apply(const char *const *globs, LodeDiagnoses *diagnoses);
