/* SPDX-License-Identifier: MIT */
/* The contents and the quality of a profile. */
#pragma once

#include "store/profile_store.h"
#include "views/form/format.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path; /* may be NULL */
} LodeInfoOptions;

/*
 * Writes to `out`. `runs` is what lode_profile_store_list_runs() gives; NULL: none. CSV has the
 * columns section,name,value,share,detail. Errors: _IO.
 */
bool lode_info_write(const LodeProfile *profile, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out, GError **error);
