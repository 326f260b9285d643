/* SPDX-License-Identifier: MIT */
/*
 * Source files that have another name in each profile, paired by the functions that they have in
 * common, and the lines of one in the other:
 *
 *   before.c   12 hash   40 find   60 main        a line of after.c is as far below the start of
 *   after.c    12 hash   35 find   58 main        the function above it: 37 is 42 of before.c
 *
 * Private to analyses/compare/.
 */
#pragma once

#include "analyses/compare/function_pairs.h"
#include "model/lines/own_lines.h"

typedef struct LodeRenamedFiles LodeRenamedFiles;

/*
 * Pairs files of which the other profile has none of that path or name: those that have most
 * matching functions in common first, at least half of those of the one that has fewer. A function
 * is in the file of its own lines that are not inlined, and starts at the lowest of them. Borrows
 * the profiles; the caller frees the result, which is never NULL.
 */
LodeRenamedFiles *lode_renamed_files_new(const LodeProfile *const profiles[2],
	const LodeFunctionPairs *pairs, const LodeOwnLines *const own[2]);
void lode_renamed_files_free(LodeRenamedFiles *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRenamedFiles, lode_renamed_files_free)

/* Whether a file of this side has a pair. */
bool lode_renamed_files_has(const LodeRenamedFiles *self, int side, const char *file);

/* The file and line of the base for a line of the second profile; false: its file has no pair.
 * `out_file` is borrowed from the base. */
bool lode_renamed_files_find(const LodeRenamedFiles *self, const LodeLocation *location,
	const char **out_file, uint32_t *out_line);
