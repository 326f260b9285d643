/* SPDX-License-Identifier: MIT */
/* Whether a program can be recorded, found out before anything is started. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * The file that `program` names, looked for in PATH when it has no slash; the caller frees it.
 * Errors: _NOT_FOUND.
 */
char *lode_program_find(const char *program, GError **error);

/*
 * As lode_program_find(). Errors: also _UNSUPPORTED when it cannot be recorded (set-user-ID,
 * another architecture), with the reason, and _NOT_FOUND for a script whose interpreter is not
 * there. A script is allowed: programs that it executes are recorded too. `tool` runs the program,
 * as messages name it.
 */
char *lode_program_check(const char *program, const char *tool, GError **error);
