/* SPDX-License-Identifier: MIT */
/*
 * The file on this machine that is the image which was recorded. It is looked for where users and
 * tools keep binaries, and taken only if it is the recorded one:
 *
 *   binaries, folders and archives that were given, by build-id
 *   --symfs DIR                          DIR/PATH
 *   copies in the recording              by device, inode, path
 *   PATH itself
 *   ~/.debug, /usr/lib/debug, /usr/lib   .build-id/xx/yyyy…, as perf and distributions have it
 *   the vDSO of this kernel
 *   given files, by name where no build-id was recorded
 *   servers in DEBUGINFOD_URLS           when the user allows it
 *
 * The build-id decides. Without one, device, inode and time of change decide, as far as they can be
 * compared; what is then taken by its name alone gets a note.
 */
#pragma once

#include "sources/perf_data/perf_data.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The data of a mapped file in a recording. Strings are borrowed. */
typedef struct {
	const char *path;        /* as the process had it */
	const char *build_id;    /* hex; NULL: not known */
	bool is_build_id_padded; /* see LodePerfBuildId.is_padded */
	bool has_no_build_id;    /* the recording has those of others, and none of this file */
	bool has_other_builds;   /* the path was several files, and their build-ids cannot be
	                            assigned: only the inode decides */
	uint32_t device_major, device_minor;
	uint64_t inode, generation; /* inode 0: not known; generation 0: likewise */
	const char *host;           /* where it was recorded; NULL: not known */
	int64_t recorded_ns;        /* since 1970: when the recording was written; 0: not known */
} LodeImageIdentity;

/* Whether two descriptions are of one file; unknown fields count as equal. */
bool lode_image_identity_is_same(const LodeImageIdentity *self, const LodeImageIdentity *other);

/* A path without the " (deleted)" that the kernel adds to one that was removed while it was mapped.
 * The caller frees it. */
char *lode_image_files_path_of(const char *mapped);

typedef struct LodeImageFiles LodeImageFiles;

/* Without given files. `allow_debuginfod`: servers are contacted. */
LodeImageFiles *lode_image_files_new(bool allow_debuginfod);
void lode_image_files_free(LodeImageFiles *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeImageFiles, lode_image_files_free)

/* A folder with the recorded machine's files at their paths. Errors: _IO. */
bool lode_image_files_add_root(LodeImageFiles *self, const char *folder, GError **error);

/* The file at a recorded path below the first root that has one; NULL: none. The caller frees it.
 */
char *lode_image_files_find_below_roots(const LodeImageFiles *self, const char *path);

/* Whether the first bytes of a file, unpacked, are those of a binary or an archive. */
bool lode_image_files_is_format(const char *data, size_t size);

/*
 * A binary, a folder with binaries, at any depth, or an archive of them, such as 'perf archive'
 * makes; an archive is unpacked into a temporary folder. Errors: _IO, _CORRUPT, _LIMIT.
 */
bool lode_image_files_give(LodeImageFiles *self, const char *path, GError **error);

/* The copies that a recording of lode keeps, unpacked likewise. Errors as lode_perf_data_unpack().
 */
bool lode_image_files_add_copies(LodeImageFiles *self, LodePerfData *data, GError **error);

typedef struct {
	char *path;    /* NULL: not found */
	char *why_not; /* then why; NULL: nothing lies at the path */
	char *note;    /* how far it is known to be the recorded file; NULL: it is */
	char *debug;   /* the separate debug file, among given files, below --symfs, in ~/.debug;
	                  NULL: none there */
} LodeFoundImageFile;

/* `out` is the caller's to clear. For several threads at once. */
void lode_image_files_find(
	LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out);
void lode_found_image_file_clear(LodeFoundImageFile *self);
