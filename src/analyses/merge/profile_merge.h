/* SPDX-License-Identifier: MIT */
/*
 * Several profiles as one: executions, edges and costs of the same place are added.
 *
 *   a.lode ─┐                          image (by build-id)
 *   b.lode ─┼─▶ one profile               └─ function (by address)
 *   c.lode ─┘     └─ origins a, b, c          └─ instruction (by address)
 *
 * Each profile stays as an origin with its contribution, so that a part can be taken out again, and
 * each instruction gets the attribute origin:NAME of those that executed it.
 *
 * Attributes that were derived from executions and are kept by instruction (its needs, its loop
 * depth) are those of the profile which executed the instruction most. Code made at run time, and
 * addresses without a file, are different code in each process, and stay apart.
 *
 * The call stacks of samples are kept where each source with samples has them and is taken whole.
 * Observations of windows are added up; they have no origin either, so a source taken in part
 * gives none. Data addresses, which mean something in one process only, are not merged.
 */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct LodeProfile LodeProfile;

typedef struct {
	const LodeProfile *profile; /* with its stacks, and its origin_parts if it was merged */
	const char *name;           /* what its origin is called; made unique */
	const char *path;           /* for messages */
} LodeMergeSource;

typedef struct {
	/* Files without a build-id are the same where their paths are. */
	bool same_paths;
	/* Only origins whose name or host matches one of these patterns (as a shell's, NULL at the
	 * end) are taken; NULL: all. */
	const char *const *origins;
} LodeMergeOptions;

/*
 * The profile of all sources, which are not changed; the caller frees it. Errors: _UNSUPPORTED: an
 * image cannot be identified, events or weights differ, or some are given flow graphs and some
 * programs; the message names the source. _NOT_FOUND: no origin matches. _CANCELLED.
 */
LodeProfile *lode_profile_merge(const LodeMergeSource *sources, size_t n,
	const LodeMergeOptions *options, const LodeProgress *progress, GError **error);

/* Whether it has the call stacks of its samples, or no samples. */
bool lode_profile_merge_has_stacks(const LodeProfile *profile);
