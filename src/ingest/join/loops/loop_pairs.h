/* SPDX-License-Identifier: MIT */
/* The pairs of samples whose code is in the profile. Private to ingest/join/. */
#pragma once

#include "ingest/join/join.h"
#include "ingest/join/loops/loop_times.h"

/* LodeLoopPair, sorted by function. The caller frees them. */
GArray *lode_loop_pairs_find(const LodeProfile *profile, const LodeJoinImages *images);

/* Those of a function. */
const LodeLoopPair *lode_loop_pairs_of(const GArray *all, uint32_t function, size_t *out_n);
