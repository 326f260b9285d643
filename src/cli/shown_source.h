/* SPDX-License-Identifier: MIT */
/* Private to cli/: the option --source, and what is said of source files that a page has. */
#pragma once

#include "views/source_text.h"

#define LODE_SOURCE_HELP                                                                           \
	"also show source files below this folder; without it only those below the folders "       \
	"where the recorded programs were compiled, and the toolchain's; may be repeated"

/* Whether each of them is a folder; NULL: there are none. Errors: _USAGE. */
bool lode_shown_source_check(char *const *folders, GError **error);

/* Writes to standard error of how many files `path` has lines, in which folders, and which are left
 * out. */
void lode_shown_source_tell(const char *path, const LodeSourceAccess *access);
