/* SPDX-License-Identifier: MIT */
/*
 * The profile file: one SQLite database, schema in schema.sql and docs/reference/schema.md.
 *
 * A new profile is written to a temporary file beside its place, in one transaction, synced, and
 * renamed. Runs are added to an existing profile in one transaction. After any fault the old file
 * or the new one is there, never half of one.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;

#define LODE_SCHEMA_VERSION                                                                        \
	6 /* 6: loops, further facts; an older lode would lose them by a merge */
#define LODE_SCHEMA_VERSION_RUNS 4   /* from which on the tables of runs are the present ones */
#define LODE_SCHEMA_VERSION_OLDEST 3 /* that can be read */

/* Writes `profile` to `path`, and notes in it which file that is. A profile that is there is kept
 * as "x.lode.old", and replaces one of that name. Errors: _IO, _CANCELLED, _USAGE (what is there
 * is no profile). */
#define LODE_OLD_PROFILE_SUFFIX ".old"
bool lode_profile_store_write(
	const char *path, LodeProfile *profile, const LodeProgress *progress, GError **error);

/* Whether nothing but a profile or an empty file is at `path`, and it can be kept so. Errors:
 * _USAGE, which name what is there. */
bool lode_profile_store_can_keep_old(const char *path, GError **error);

/*
 * Reads a profile whole. Every reference in it is checked, so that a hostile file cannot lead out
 * of an array. Errors: _NOT_FOUND, _CORRUPT (not a profile, broken reference: table and row),
 * _UNSUPPORTED (newer schema: says which, and to update lode).
 */
LodeProfile *lode_profile_store_read(
	const char *path, const LodeProgress *progress, GError **error);

/* The same with its memory, whose samples are many; the other leaves it NULL. */
LodeProfile *lode_profile_store_read_with_memory(
	const char *path, const LodeProgress *progress, GError **error);

/* The same with its call stacks, which stay NULL where there are none. */
LodeProfile *lode_profile_store_read_with_stacks(
	const char *path, const LodeProgress *progress, GError **error);

/* The same with both. */
LodeProfile *lode_profile_store_read_with_memory_and_stacks(
	const char *path, const LodeProgress *progress, GError **error);

/* The same with what each origin gave to a merged profile, and with its call stacks. */
LodeProfile *lode_profile_store_read_with_origins(
	const char *path, const LodeProgress *progress, GError **error);

/* The data that `lode info` needs, without loading the whole profile. */
typedef struct {
	char *name;
	char *weight;     /* event name */
	char *parameters; /* JSON object */
	uint64_t n_sequences;
	bool is_complete;
	double seconds;
} LodeRunSummary;

/* The runs of a profile in the order they were made: GPtrArray of LodeRunSummary, freed with it. */
GPtrArray *lode_profile_store_list_runs(const char *path, GError **error);

/*
 * Adds a run of a profile that was read from `path` or written there; one of the same name is
 * replaced. Makes a profile of schema version 3 one of version 4. _NOT_FOUND: another
 * profile has taken its place since.
 */
bool lode_profile_store_add_run(const char *path, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeProgress *progress, GError **error);

/* Reads a run; `name` NULL: the one made last. _NOT_FOUND names the runs there are. */
LodeMiningRun *lode_profile_store_read_run(const char *path, const char *name, GError **error);
