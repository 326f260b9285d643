/* SPDX-License-Identifier: MIT */
/* Libraries of ours that a program is run with (LD_PRELOAD), and what prevents it. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * The path of one ("preload/allocations", "liblode-allocations.so"): in the directory that
 * LODE_PRELOAD_DIRECTORY names, in the build tree that we run from (tools/FOLDER), or installed.
 * The caller frees it. Errors: _NOT_FOUND; _UNSUPPORTED where the path has a character that
 * LD_PRELOAD cannot hold.
 */
char *lode_preloaded_library_find(const char *folder, const char *name, GError **error);

/* Likewise of a library that is loaded by other means, whatever its path. */
char *lode_preloaded_library_locate(const char *folder, const char *name, GError **error);

/* An environment like `environment` (NULL: ours) with the library before those that are preloaded
 * already; the caller frees it by g_strfreev(). */
char **lode_preloaded_library_environment(const char *const *environment, const char *library);

/*
 * Why a program (found in PATH) would run without the library, or not at all with it: linked
 * statically, set-user-ID, built with a sanitizer. NULL: nothing is known. The caller frees it.
 */
char *lode_preloaded_library_obstacle(const char *program);

/*
 * Whether a file is linked statically. A process that executes such a one and has loaded a library
 * nevertheless emulates the program that has (valgrind): signals come to the emulator.
 */
bool lode_preloaded_library_is_static(const char *path);
