/* SPDX-License-Identifier: MIT */
/*
 * Lines of source files on this machine, read at the first use.
 *
 * A profile may come from somebody else, and the output may be sent to somebody else, so that a
 * profile or a binary must not be able to have any file shown. Lines are given only of
 *
 *   a regular file of this user or of root; for root, of anybody
 *   that the binary on this machine, with the build-id that was recorded, names for this code
 *   and that lies below    the folder where that code was compiled, or
 *                          a folder of the toolchain, or
 *                          a folder that the user has named
 *   and, except for the toolchain's, has the name of a source file and is in no hidden folder
 *
 * Code without a build-id (made at run time, recorded without) has source below the third alone.
 * Where files really lie counts, after all links.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeInstruction LodeInstruction;
typedef struct LodeProfile LodeProfile;

typedef struct LodeSourceText LodeSourceText;

/* Why a file is not shown, or what is to be known of one that is; the worst first. */
typedef enum {
	LODE_SOURCE_NOT_NAMED, /* by a binary with the recorded build-id that is still there */
	LODE_SOURCE_OUTSIDE,   /* of all those folders */
	LODE_SOURCE_ODD_NAME,  /* not of a source file, or in a hidden folder */
	LODE_SOURCE_MISSING,
	LODE_SOURCE_UNREADABLE,
	LODE_SOURCE_OTHER_OWNER,
	LODE_SOURCE_NEWER, /* shown, but changed after the program was built */
	LODE_N_SOURCE_REFUSALS,
} LodeSourceRefusal;

typedef struct {
	const char *const *folders; /* that the user has named; NULL-terminated, or NULL */
	/* Files that were shown and refused, by path; each may be NULL. The caller makes them, with
	 * g_free() for the keys. */
	GHashTable *shown;   /* a set: files whose lines were given */
	GHashTable *refused; /* → GINT_TO_POINTER(LodeSourceRefusal); also those that are newer */
} LodeSourceAccess;

/* For code of `profile`, which is borrowed, as `access` is (NULL: no folders). */
LodeSourceText *lode_source_text_new(const LodeProfile *profile, const LodeSourceAccess *access);
void lode_source_text_free(LodeSourceText *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSourceText, lode_source_text_free)

/* The path of a file that an instruction comes from, by its name in the profile (may be NULL), if
 * lines of it may be shown; else NULL. Borrowed, valid while `self` lives. */
const char *lode_source_text_admit(
	LodeSourceText *self, const LodeInstruction *instruction, const char *file);

/* A line (from 1) of a file whose path lode_source_text_admit() has given, without its end, tabs as
 * blanks; NULL when there is no such line, or the file is very large. A line of more than 4096
 * bytes is cut there and ends with "…". Borrowed, valid while `self` lives. */
const char *lode_source_text_line(LodeSourceText *self, const char *path, uint32_t line);

/* The refused files with the reason, one line for each reason (char *), for `refused` that is not
 * NULL. The caller unrefs them. */
GPtrArray *lode_source_access_refusals(const LodeSourceAccess *self);
