/* SPDX-License-Identifier: MIT */
/* The programs of a profile of several, and which of them were on the critical path. */
#pragma once

#include <glib.h>

typedef struct LodeProfile LodeProfile;
typedef struct LodeWaits LodeWaits;

/* "cc1 ×41 10.9 s on processors, as ×41 0.8 s, 2 more; 1.2 of 2 processors busy on average; ld ran
 * alone for 2.1 s", with the three that have most. Where times of programs are not known, their
 * shares of the samples, "cc1 61.2 %, as 20.1 %". NULL: they are not several. Not yet harmless for
 * a terminal. The caller frees it. */
char *lode_profile_programs(const LodeProfile *profile);

/* Appends what several programs did on the critical path, as shares of the clock: ": 83 % running
 * cc1, 10 % ld, 4 % waiting for a processor". */
void lode_programs_append_path(GString *text, const LodeWaits *waits);
