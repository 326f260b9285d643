/* SPDX-License-Identifier: MIT */
/*
 * Sizes of instructions for forms of traces that have none, so that runs of code are found again:
 * what the next fetch tells.
 *
 *   fetch 400510   load …   fetch 400513   →  the first one has 3 bytes
 *
 * A difference of 1 … 15 bytes is a size; where the next fetch is elsewhere (a jump), and where it
 * is farther away than once before (a jump over the next instructions), the least difference that
 * was seen at this address is. 0: nothing is known.
 */
#pragma once

#include "traces/reference.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct LodeFetchSizes LodeFetchSizes;

LodeFetchSizes *lode_fetch_sizes_new(void);
void lode_fetch_sizes_free(LodeFetchSizes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFetchSizes, lode_fetch_sizes_free)

/* Where further references go, without sizes of fetches; *out_room ≥ 4096. Only when nothing can be
 * taken. */
LodeReference *lode_fetch_sizes_room(LodeFetchSizes *self, size_t *out_room);

/* `n` references were put there; with `is_end` none will come any more. */
void lode_fetch_sizes_added(LodeFetchSizes *self, size_t n, bool is_end);

/* Up to `room` references whose sizes are settled: how many. */
size_t lode_fetch_sizes_take(LodeFetchSizes *self, LodeReference *out, size_t room);
