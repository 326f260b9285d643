/* SPDX-License-Identifier: MIT */
/* Merges the loops of several profiles by their heads. Private to analyses/merge/. */
#pragma once

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* Appends another profile's to those of `merged`; `instructions` has the merged profile's by its
 * own, LODE_NONE: none. */
void lode_loop_rows_add(
	LodeProfile *merged, const LodeProfile *source, const uint32_t *instructions);

/* Sorts all rows and makes one of those with the same head: means are weighted by iterations, and
 * what one of them does not know is not known. */
void lode_loop_rows_add_up(LodeProfile *merged);
