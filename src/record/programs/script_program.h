/* SPDX-License-Identifier: MIT */
/*
 * The program that is run in place of a script: the interpreter that its first line names.
 */
#pragma once

#include <glib.h>

/*
 * The arguments that run `path` (an executable file) with argv[1…]: of a script those of its
 * interpreter, through as many scripts as the kernel follows; of any other file the same. The first
 * is the path of a file that is not a script. `*out_name` is what the program is to find as its own
 * name. Both are the caller's, to be freed by g_ptr_array_unref() (with a NULL at the end) and
 * g_free().
 */
GPtrArray *lode_script_program(const char *path, const char *const *argv, char **out_name);
