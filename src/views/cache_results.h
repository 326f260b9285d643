/* SPDX-License-Identifier: MIT */
/* What a replayed trace told: misses of caches, and misses by size and reuse from stack distances.
 */
#pragma once

#include "caches/trace_replay.h"
#include "views/format.h"

typedef struct {
	const char *path;    /* of the trace */
	const char *command; /* NULL: not known */
	const LodeTraceReplay *replay;
	const LodeHierarchy *const *hierarchies; /* as they were replayed */
	size_t n_hierarchies;
	bool is_classified;
} LodeCacheResults;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
} LodeCacheResultsOptions;

/* CSV has one table, that of the caches when there are some, else that of the curves. Errors: _IO.
 */
bool lode_cache_results_write(const LodeCacheResults *results,
	const LodeCacheResultsOptions *options, FILE *out, GError **error);
