/* SPDX-License-Identifier: MIT */
/* Lines come in and go, with what that does to the levels behind and to other cores. */
#pragma once

#include "caches/cache_core.h"

/*
 * Bytes [first, last] are written to the data path of a core from a level on: each part to the
 * first level that has the line and keeps written lines; what none has goes to memory. Changes
 * nothing but marks, so that no miss depends on it.
 */
void lode_cache_lines_write(LodeCacheCore *core, unsigned level, uint64_t first, uint64_t last);

/* Brings in a line that the copy does not hold; what goes is written back where it has to be. */
uint64_t *lode_cache_lines_fill(
	LodeCacheMachine *machine, LodeCacheCore *core, LodeCacheCopy *copy, uint64_t line);

/*
 * MESI, between the private caches of cores that hold data. A store by `core`: others lose the
 * line, after they wrote it back where it was dirty. `bytes` are bits of the line, see
 * lode_cache_lines_bytes().
 */
void lode_cache_lines_take(
	LodeCacheMachine *machine, const LodeCacheCore *core, uint64_t line, uint64_t bytes);

/* Another core's miss: the line is no longer owned or dirty anywhere; whether any other holds it.
 */
bool lode_cache_lines_share(LodeCacheMachine *machine, const LodeCacheCore *core, uint64_t line);

/* After a store: no other core holds the line. */
void lode_cache_lines_own(LodeCacheCore *core, uint64_t line);

/* The bytes [first, last] of a line as bits: one a byte, or one for each 64th of a longer line. */
uint64_t lode_cache_lines_bytes(uint64_t line, unsigned line_shift, uint64_t first, uint64_t last);
