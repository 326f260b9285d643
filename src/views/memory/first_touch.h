/* SPDX-License-Identifier: MIT */
/*
 * The threads that touched pages first, and those that use them: ranges of pages on a screen, most
 * weight of other threads first; in JSON and CSV each page.
 */
#pragma once

#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	uint64_t page_bytes;    /* a power of two */
	const char *const *own; /* as of lode_own_lines_new() */
	bool is_by_address;     /* lowest first, instead of most weight of others */
	uint32_t limit;         /* ranges or pages; 0: all */
	bool has_limit;         /* else a screen's default (20), JSON and CSV all */
} LodeFirstTouchOptions;

/* Text, pages of 4096 bytes. */
void lode_first_touch_options_init(LodeFirstTouchOptions *self);

/* Writes the pages of the samples whose numbers are given, ascending, to `out`; the profile has
 * memory. Errors: _IO. */
bool lode_first_touch_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeFirstTouchOptions *options, FILE *out, GError **error);
