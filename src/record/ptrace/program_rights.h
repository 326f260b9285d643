/* SPDX-License-Identifier: MIT */
/*
 * Private to record/ptrace/: rights that a program gets by its file (set-user-ID, capabilities),
 * and that the kernel does not give it while it is traced, execve(2).
 */
#pragma once

/*
 * Why the program may not be traced: "it is set-user-ID, …"; NULL: it may be. `path` with `argv`,
 * of a script its interpreter. The caller frees it.
 */
char *lode_program_rights_obstacle(const char *path, const char *const *argv);
