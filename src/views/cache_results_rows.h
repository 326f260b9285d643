/* SPDX-License-Identifier: MIT */
/* The JSON and CSV of replayed traces. */
#pragma once

#include "views/cache_results.h"

void lode_cache_results_json(const LodeCacheResults *results, FILE *out);
void lode_cache_results_csv(const LodeCacheResults *results, FILE *out);
