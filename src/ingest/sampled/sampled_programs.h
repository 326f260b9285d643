/* SPDX-License-Identifier: MIT */
/*
 * Selects the samples of chosen programs: the programs that each process executed, and when, are
 * known from the records that come with the samples. Private to ingest/sampled/.
 */
#pragma once

#include "sources/perf_data/perf_data.h"

#include <stdbool.h>

typedef struct LodeSampledPrograms LodeSampledPrograms;

/*
 * `only`: names, as fnmatch(3) has them; with a slash, paths; NULL: all. A script has its own name
 * and its interpreter's. With `is_alone` only what the first program did that is seen to begin,
 * without processes that it made and programs that took its place. Borrows the names.
 */
LodeSampledPrograms *lode_sampled_programs_new(const char *const *only, bool is_alone);
void lode_sampled_programs_free(LodeSampledPrograms *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledPrograms, lode_sampled_programs_free)

/* Any record, in any order; irrelevant ones are skipped. Its texts are copied. */
void lode_sampled_programs_note(
	LodeSampledPrograms *self, const LodePerfRecord *record, uint64_t time_ns);

/* Once all is noted. */
void lode_sampled_programs_freeze(LodeSampledPrograms *self);

/* Whether the program that the process executed then was chosen; an unknown program was not. */
bool lode_sampled_programs_are_wanted(
	const LodeSampledPrograms *self, uint32_t pid, uint64_t time_ns);
