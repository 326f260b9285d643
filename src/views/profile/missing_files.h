/* SPDX-License-Identifier: MIT */
/* The files that ran and were not found, or not known to be the recorded ones, when a profile was
 * made: their code has neither functions nor instructions. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t image;
	double value; /* of the event that weighs */
	double share;
} LodeMissingFile;

/* By value, the highest first; the caller unrefs it. */
GArray *lode_missing_files_new(const LodeProfile *profile);

/* How binaries are given to an import; a sentence. */
extern const char lode_missing_files_remedy[];
