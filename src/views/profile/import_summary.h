/* SPDX-License-Identifier: MIT */
/* The summary of `lode import` about the profile that it made. */
#pragma once

#include <stdio.h>

typedef struct LodeProfile LodeProfile;

/* Two lines: the recording, and its size; a third if not all was resolved. `path` is the profile's.
 */
void lode_import_summary_write(const LodeProfile *profile, const char *path, FILE *out);
