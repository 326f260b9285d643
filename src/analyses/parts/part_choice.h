/* SPDX-License-Identifier: MIT */
/*
 * A profile as if only some of its samples had been taken: those of a thread, a process, a stretch
 * of time. Functions, instructions and attributes keep their numbers. docs/use/parts.md says what
 * each figure is then.
 */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct LodeProfile LodeProfile;

/* Which samples; all conditions that are given must hold. Lists are NULL-terminated, or NULL: all.
 */
typedef struct {
	const char *const *threads;  /* patterns of names, or thread ids */
	const char *const *commands; /* patterns of the names of processes */
	const char *const *pids;
	const char *time;  /* "1.5..2.25", "1500ms..", "..2": seconds since the first sample */
	const char *where; /* an expression over the samples: stack_attributes.h */
} LodePartChoice;

bool lode_part_choice_is_whole(const LodePartChoice *self);

/*
 * Leaves of costs, executions, edges, totals and samples of the profile, which was read with its
 * stacks, what the chosen samples gave, and says in profile->part which they are. Errors: _USAGE
 * (a time, an expression), _UNSUPPORTED: the profile has no samples with threads and times, or none
 * with times where a time is given; _NOT_FOUND: no sample is of the part; the profile is then as it
 * was.
 */
bool lode_part_choice_apply(LodeProfile *profile, const LodePartChoice *choice,
	const LodeProgress *progress, GError **error);
