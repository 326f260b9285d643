/* SPDX-License-Identifier: MIT */
/* How pictures name curves, and what they say of their trace. */
#pragma once

#include "views/cache_results.h"

/* "data, lines of 64 B" of each curve, NULL-terminated; the caller frees it with g_strfreev().
 */
char **lode_curve_names(const LodeCacheResults *results);

/* The program, or the file. Borrowed. */
const char *lode_curve_title(const LodeCacheResults *results);

/* "25,000,000 references · footprint of data 178 KiB"; the caller frees it. */
char *lode_curve_facts(const LodeCacheResults *results);
