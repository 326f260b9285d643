/* SPDX-License-Identifier: MIT */
/* Misses over time, a row for each stretch: of caches, and of sizes of the miss-ratio curves.
 * Private to views/. */
#pragma once

#include "base/text/json_stream.h"
#include "views/traces/cache_results.h"

/* Where nothing is known over time they write nothing. */
void lode_cache_times_write(
	const LodeCacheResults *results, const LodeTerminal *terminal, FILE *out);

/* A member "times", an array. */
void lode_cache_times_put_json(LodeJsonStream *json, const LodeCacheResults *results);

/* One table: that of caches where there are some, else that of curves. */
void lode_cache_times_write_csv(const LodeCacheResults *results, bool has_titles, FILE *out);
