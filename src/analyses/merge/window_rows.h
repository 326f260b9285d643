/* SPDX-License-Identifier: MIT */
/*
 * Merges the observations of windows in several profiles: steps and facts of the same place are
 * added, processes appended. Private to analyses/merge/.
 */
#pragma once

#include <stdint.h>

typedef struct LodeProfile LodeProfile;
typedef struct LodeWindows LodeWindows;

enum { LODE_WINDOW_ROWS_MAX_PROCESSES = 1000 }; /* further ones are added up in one row */

/* Appends another profile's to those of `merged`, which has them from then on; `instructions` has
 * the merged profile's by its own, LODE_NONE: none. */
void lode_window_rows_add(
	LodeProfile *merged, const LodeWindows *windows, const uint32_t *instructions);

/* Sorts all rows and adds up those of one place: numbers stay at most UINT32_MAX; lines and pages
 * are the largest, as they may be the same ones; the stride is the one that most accesses have. */
void lode_window_rows_add_up(LodeProfile *merged);
