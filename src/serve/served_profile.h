/* SPDX-License-Identifier: MIT */
/*
 * A served profile: read completely, and read again when its file has changed.
 *
 *   file on disk ──▶ snapshot: profile, list of runs, the runs that were asked for
 *
 * A query holds a reference to one snapshot, which stays valid when a different client reloads the
 * file. The file is opened only for reading. Private to serve/.
 */
#pragma once

#include "questions/asking.h"
#include "store/profile_store.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeServedProfile LodeServedProfile;
typedef struct LodeProfileSnapshot LodeProfileSnapshot;

/* Reads the file, with the run made last. Errors: as lode_profile_store_read_with_memory(). */
LodeServedProfile *lode_served_profile_open(
	const char *path, const LodeProgress *progress, GError **error);

/* The same for a file that others get: without the data addresses of windows, which are the
 * program's data. */
LodeServedProfile *lode_served_profile_open_to_publish(
	const char *path, const LodeProgress *progress, GError **error);

/* A profile whose file does not exist yet: lode_served_profile_take() fails with _NOT_FOUND and the
 * message `why` until lode_served_profile_reload() has read the file. */
LodeServedProfile *lode_served_profile_expect(const char *path, const char *why);
void lode_served_profile_close(LodeServedProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeServedProfile, lode_served_profile_close)

/* The file's name without folders. */
const char *lode_served_profile_name(const LodeServedProfile *self);

/* State of the file compared with the one that was read. */
typedef enum {
	LODE_SERVED_CURRENT,
	LODE_SERVED_REPLACED, /* a different file has its name */
	LODE_SERVED_REMOVED,
} LodeServedState;

/*
 * A snapshot of the file; the caller unrefs it. A file that was modified, such as by 'lode mine',
 * which adds a run, is read again. A file that was replaced or removed gives an error until
 * lode_served_profile_reload(); *out_state says which. Errors: _NOT_FOUND, _CANCELLED (also while
 * waiting for a different client's read), those of reading.
 */
LodeProfileSnapshot *lode_served_profile_take(LodeServedProfile *self, const LodeProgress *progress,
	LodeServedState *out_state, GError **error);

/* Reads the file that has the name now; on failure the previous snapshot stays. */
bool lode_served_profile_reload(
	LodeServedProfile *self, const LodeProgress *progress, GError **error);

void lode_profile_snapshot_unref(LodeProfileSnapshot *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProfileSnapshot, lode_profile_snapshot_unref)

const LodeProfile *lode_profile_snapshot_profile(const LodeProfileSnapshot *self);

/* Whether the profile has samples of data addresses of an event. */
bool lode_profile_snapshot_has_addresses(const LodeProfileSnapshot *self, uint32_t event);

/* GPtrArray of LodeRunSummary, borrowed. */
GPtrArray *lode_profile_snapshot_runs(const LodeProfileSnapshot *self);

/*
 * A run, valid as long as the snapshot; `name` NULL: the last run, or, if the file has none, the
 * result of 'lode mine' with its defaults, in memory only. With `has_sequences` the sequences of a
 * run that has only findings are mined and kept in memory; the result has no findings then. Other
 * clients that need them wait during the mining; other queries continue. Errors: _NOT_FOUND,
 * _CORRUPT, _CANCELLED, also while waiting, and those of mining.
 */
const LodeMiningRun *lode_profile_snapshot_run(LodeProfileSnapshot *self, const char *name,
	bool has_sequences, const LodeProgress *progress, GError **error);

/* Mines, for the last argument of lode_profile_snapshot_run() later, only the costliest sequences
 * of a run that has none, some `n` at least if there are. Errors: likewise. */
bool lode_profile_snapshot_mine_costliest(LodeProfileSnapshot *self, const char *name, uint32_t n,
	const LodeProgress *progress, GError **error);

/*
 * A small cache of results that take time and are needed again, such as sorted lists of sequences,
 * whose later pages are then fast. The key is the query. The caller unrefs the result; NULL: not in
 * the cache.
 */
void *lode_profile_snapshot_find(
	LodeProfileSnapshot *self, const LodeKeptKind *kind, const char *asked);
void lode_profile_snapshot_keep(
	LodeProfileSnapshot *self, const LodeKeptKind *kind, const char *asked, void *what);

/*
 * A part of a profile, or one with different weights or with call stacks, and the runs mined in it.
 * It is cached, too; the caller unrefs it. Errors: those of lode_profile_choice_read(), and as
 * lode_served_profile_take() where the file has changed.
 */
typedef struct LodeProfilePart LodeProfilePart;

LodeProfilePart *lode_profile_snapshot_part(LodeProfileSnapshot *self,
	const LodeProfileChoice *choice, const LodeProgress *progress, GError **error);
void lode_profile_part_unref(LodeProfilePart *self);

const LodeProfile *lode_profile_part_profile(const LodeProfilePart *self);

/*
 * A run of the part, valid as long as the part: `like` itself, if that was mined from it, or one
 * mined here with its parameters (`choice` is of a part); with sequences if they are wanted.
 * Errors: those of mining.
 */
const LodeMiningRun *lode_profile_part_run(LodeProfilePart *self, const LodeMiningRun *like,
	const LodeProfileChoice *choice, bool has_sequences, const LodeProgress *progress,
	GError **error);
