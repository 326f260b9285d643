/* SPDX-License-Identifier: MIT */
/* The results of a replayed trace: misses of caches, and misses by size and reuse from stack
 * distances.
 */
#pragma once

#include "base/text/json_stream.h"
#include "caches/trace_replay.h"
#include "views/form/format.h"

typedef struct {
	const char *path;    /* of the trace */
	const char *command; /* NULL: not known */
	const LodeTraceReplay *replay;
	const LodeHierarchy *const *hierarchies; /* as they were replayed */
	size_t n_hierarchies;
	bool is_classified;
	uint32_t process; /* of those that a program ran as, from 1; 0: it is of a file */
} LodeCacheResults;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
} LodeCacheResultsOptions;

/* CSV has one table, that of the caches when there are some, else that of the curves, over
 * time a row for each stretch; of a program with the number of the process. JSON of several traces
 * is an array. Errors: _IO. */
bool lode_cache_results_write(const LodeCacheResults *results, size_t n_results,
	const LodeCacheResultsOptions *options, FILE *out, GError **error);

/* Misses over time, a row for each stretch: of caches, and of sizes of the miss-ratio curves. */

/* Where nothing is known over time they write nothing. */
void lode_cache_times_write(
	const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out);

/* A member "times", an array. */
void lode_cache_times_put_json(LodeJsonStream *json, const LodeCacheResults *results);

/* One table: that of caches where there are some, else that of curves. */
void lode_cache_times_write_csv(const LodeCacheResults *results, bool has_titles, FILE *out);
