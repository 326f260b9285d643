/* SPDX-License-Identifier: MIT */
/*
 * A profile that is being served: read whole, and read again when its file has changed.
 *
 *   file on disk ──▶ snapshot: profile, list of runs, the runs that were asked for
 *
 * A query holds on to one snapshot, so that another client's reload takes nothing away from it. The
 * file is opened only to be read. Private to serve/.
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

/* One that will be there: until it is, lode_served_profile_take() fails as _NOT_FOUND with `why`,
 * and lode_served_profile_reload() makes it be there. */
LodeServedProfile *lode_served_profile_expect(const char *path, const char *why);
void lode_served_profile_close(LodeServedProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeServedProfile, lode_served_profile_close)

/* The file's name without folders. */
const char *lode_served_profile_name(const LodeServedProfile *self);

/* Whether the file is still the one that was read. */
typedef enum {
	LODE_SERVED_CURRENT,
	LODE_SERVED_REPLACED, /* another file has its name */
	LODE_SERVED_REMOVED,
} LodeServedState;

/*
 * What the file holds; the caller unrefs it. A file that was written to since, as when 'lode mine'
 * adds a run, is read again. One that was replaced or removed gives an error until
 * lode_served_profile_reload(); *out_state says which. Errors: _NOT_FOUND, _CANCELLED, also while
 * another client has it read, those of reading.
 */
LodeProfileSnapshot *lode_served_profile_take(LodeServedProfile *self, const LodeProgress *progress,
	LodeServedState *out_state, GError **error);

/* Reads whatever file has the name now; what was read before stays where that fails. */
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
 * A run, valid as long as the snapshot; `name` NULL: the one made last, or where the file has none
 * what 'lode mine' would find with its defaults, in memory only. With `has_sequences` those
 * of a run that has only findings are mined and kept in memory; it has no findings then. While one
 * client has them mined, others that ask for them wait, and all else goes on. Errors: _NOT_FOUND,
 * _CORRUPT, _CANCELLED, also while waiting, and those of mining.
 */
const LodeMiningRun *lode_profile_snapshot_run(LodeProfileSnapshot *self, const char *name,
	bool has_sequences, const LodeProgress *progress, GError **error);

/*
 * What takes time and will be asked for again is kept, such as sorted lists of sequences, of which
 * only the first page has to wait then: a few things, by what was asked for. The caller unrefs what
 * is found; NULL: there is none of this kind.
 */
void *lode_profile_snapshot_find(
	LodeProfileSnapshot *self, const LodeKeptKind *kind, const char *asked);
void lode_profile_snapshot_keep(
	LodeProfileSnapshot *self, const LodeKeptKind *kind, const char *asked, void *what);

/*
 * A part of a profile, or one with other weights, and what was mined in it. It is kept, too; the
 * caller unrefs it. Errors: those of lode_profile_choice_read(), and as lode_served_profile_take()
 * where the file has changed.
 */
typedef struct LodeProfilePart LodeProfilePart;

LodeProfilePart *lode_profile_snapshot_part(LodeProfileSnapshot *self,
	const LodeProfileChoice *choice, const LodeProgress *progress, GError **error);
void lode_profile_part_unref(LodeProfilePart *self);

const LodeProfile *lode_profile_part_profile(const LodeProfilePart *self);

/*
 * A run of the part, valid as long as it: `like` itself, if that was made of these origins, or what
 * its parameters find here (`origins` not NULL); with its sequences where they are wanted. Errors:
 * those of mining.
 */
const LodeMiningRun *lode_profile_part_run(LodeProfilePart *self, const LodeMiningRun *like,
	const char *origins, bool has_sequences, const LodeProgress *progress, GError **error);
