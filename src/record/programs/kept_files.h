/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the files that the recorded processes execute, each identified when its
 * mapping is first seen, while its process runs. Each is held open, so that at the end of the
 * recording what lies no longer at its path, or never did as we see it, can still be copied:
 *
 *   mapping ─▶ open file, build-id ─▶ table of build-ids: all
 *                                  └▶ section of files (docs/reference/formats/recorded-files.md):
 * all, with copies of those that are not at their path
 *
 * Kept are binaries, the descriptions of code made at run time (jit-PID.dump) and [vdso].
 */
#pragma once

#include "images/elf/mapped_file.h"

#include <glib.h>

enum { LODE_KEPT_FILE_MAX_BUILD_ID = 64 };

/* A file by its mappings; of one there may be several, when the kernel names it in several ways. */
typedef struct {
	LodeMappedFile mapped; /* of the first mapping that was seen; owns the path */
	uint8_t build_id[LODE_KEPT_FILE_MAX_BUILD_ID];
	size_t build_id_size; /* 0: none, or the file was not found */
	int descriptor;       /* −1: not held */
	struct stat status;   /* of the file, once it was found */
	unsigned n_tries;     /* to find it */
	bool is_found;
} LodeKeptFile;

typedef struct LodeKeptFiles LodeKeptFiles;

LodeKeptFiles *lode_kept_files_new(void);
void lode_kept_files_free(LodeKeptFiles *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeKeptFiles, lode_kept_files_free)

/* An executable mapping, as it is seen. Copies the path. */
void lode_kept_files_add(LodeKeptFiles *self, const LodeMappedFile *mapped);

/* LodeKeptFile *, by path and then by the kernel's identity of the file. */
const GPtrArray *lode_kept_files_list(LodeKeptFiles *self);

/* How many there are: it grows when something new is executed. */
guint lode_kept_files_count(const LodeKeptFiles *self);

/*
 * Writes the section to a file, from an offset on, where the file ends. Files that pass a limit are
 * left out, and only their build-ids are there. Errors: _IO, without the name of the file.
 */
bool lode_kept_files_write(
	LodeKeptFiles *self, int descriptor, uint64_t offset, uint64_t *out_size, GError **error);

/* How many were too large to be copied; the path of one, which is borrowed, is NULL when none was.
 */
unsigned lode_kept_files_too_large(const LodeKeptFiles *self, const char **out_path);
