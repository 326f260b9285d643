/* SPDX-License-Identifier: MIT */
/*
 * Threads that a run-time environment has for itself, as those of its garbage collector and its
 * compiler. They wait for work that the program does not wait for. Private to ingest/sampled/.
 */
#pragma once

#include "ingest/sampled/sampled_threads.h"
#include "model/stacks.h"
#include "model/waits.h"

/*
 * Whether each of the threads is: by its name (ingest/waits/wait_words.h), or because it was seen
 * in the code of a run-time program (lode_is_run_time_program) and never in the code that this
 * compiled of the user's. × their number, at least 1. The caller frees it. `stacks` may be NULL.
 */
bool *lode_run_time_threads_new(
	const LodeThreads *threads, const LodeStacks *stacks, const LodeWaits *waits);

/* Whether the thread that waits is. */
bool lode_run_time_threads_have(
	const LodeThreads *threads, const bool *are_own, const LodeWait *row);
