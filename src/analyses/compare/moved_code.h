/* SPDX-License-Identifier: MIT */
/*
 * Code that is somewhere else in each of two profiles, so that it is neither gone nor new:
 * functions that one of them has inlined, source files with another name, findings that take each
 * other's place. Private to analyses/compare/.
 */
#pragma once

#include "analyses/compare/function_pairs.h"
#include "analyses/findings/findings.h"
#include "model/lines/own_lines.h"

#include <stdint.h>

typedef struct LodeRenamedFiles LodeRenamedFiles;

/* Functions that one profile has as functions, and the other as code that is inlined in others: so
 * that what a compiler inlines is neither gone nor new. For each instruction of `profiles[side]`
 * the function of the other profile that it counts for, as it is inlined from there: of the
 * functions inlined at the instruction the innermost that the other profile has as a function
 * without a partner, by its name without types, and has it once; LODE_NONE: it counts for its own
 * function. The caller frees the array. */
uint32_t *lode_inlined_functions_find(
	const LodeProfile *const profiles[2], const LodeFunctionPairs *pairs, int side);

/*
 * Source files that have another name in each profile, paired by the functions that they have in
 * common, and the lines of one in the other:
 *
 *   before.c   12 hash   40 find   60 main        a line of after.c is as far below the start of
 *   after.c    12 hash   35 find   58 main        the function above it: 37 is 42 of before.c
 *
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

/*
 * Findings that take each other's place: where a compiler makes other instructions of the same
 * lines, time moves from one pattern to another, and each alone looks like a change.
 *
 * For each finding the first one of its group: findings are in one group if one got faster, the
 * other slower, and at least half of the time that the first had in the base is at the same lines
 * as half of that which the other has in the second profile: Σ over lines of the lesser of their
 * shares; and with them what is in one group with either. `changes`: of the time of each. The
 * caller frees the array.
 */
uint32_t *lode_exchanged_findings_group(const LodeProfile *const profiles[2],
	const LodeSharedFindings *shared, const LodeOwnLines *const own[2], const double *changes);
