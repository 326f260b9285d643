/* SPDX-License-Identifier: MIT */
/*
 * Chooses samples: an expression over their attributes, and the older filters of dprof, which are
 * short for expressions. docs/reference/expressions.md has the language.
 */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct LodeProfile LodeProfile;

typedef struct {
	const char *where; /* "function =~ \"^parse\" && thread == 3"; NULL: all */
	const char *const *events,
		*const *threads; /* names; "3", "4711.3"; NULL-terminated, or NULL */
	const char *pc;          /* "MIN-MAX", or the name of a function or an image; NULL */
	const char *address;     /* "MIN-MAX", or the name of an object; NULL */
	bool loads_only, stores_only;
	const char *const *definitions; /* "NAME=EXPRESSION"; NULL-terminated, or NULL */
	const char *const *own; /* as of lode_own_lines_new(): files whose lines name places */
	/* The attributes by which the samples will be grouped; NULL-terminated, or NULL. Unless
	 * `events` are given, or these or `where` ask for the event, simulated misses are those of
	 * one event, and accesses in windows are not chosen beside other samples. */
	const char *const *groups;
	const LodeProgress *progress; /* to stop by; NULL: it cannot be stopped */
} LodeSampleFilterOptions;

/* The numbers of the samples that pass, ascending, as a GArray of uint32_t. Errors: _USAGE, with
 * the expression and a mark under the column; _CANCELLED. */
GArray *lode_sample_filter_apply(
	const LodeProfile *profile, const LodeSampleFilterOptions *options, GError **error);

/* For those who go through samples: after how many to look whether to go on, and the look. Errors:
 * _CANCELLED. */
enum { LODE_SAMPLES_BETWEEN_LOOKS = 4096 };
bool lode_sample_work_goes_on(const LodeProgress *progress, GError **error);
