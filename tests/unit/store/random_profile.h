/* SPDX-License-Identifier: MIT */
/* Profiles and runs made up for the store's tests, and the comparison of two of them. */
#pragma once

#include "model/mining_run.h"
#include "model/profile.h"
#include "model/waits.h"

/* A valid profile of up to `size` functions that uses every field; equal seeds give equal ones. */
LodeProfile *random_profile_new(guint32 seed, uint32_t size);

/* Random waits, whose rows refer to the first `n_stacks` stacks. */
void random_waits_add(LodeProfile *profile, guint32 seed, uint32_t n_stacks);

/* A valid run of `n` sequences; equal arguments give equal runs. It has no summary, an empty one or
 * one of lines where seed mod 3 is 0, 1 or 2. */
LodeMiningRun *random_run_new(guint32 seed, const char *name, uint32_t n);

/* Ends the test at the first field that differs. */
void assert_equal_profiles(const LodeProfile *a, const LodeProfile *b);
void assert_equal_waits(const LodeWaits *a, const LodeWaits *b);
void assert_equal_runs(const LodeMiningRun *a, const LodeMiningRun *b);

/* A new empty folder for files of a test; remove_folder() deletes it with what is in it. */
char *make_folder(void);
void remove_folder(char *folder);

/* How many files a folder holds. */
guint count_files(const char *folder);
