/* SPDX-License-Identifier: MIT */
/*
 * The files and directories that must not stay when this process ends before it has removed them
 * itself: by a second Ctrl-C, or for want of memory. One list for the process, as its end is.
 */
#pragma once

/* Notes a file, or a directory without directories in it. The path is borrowed until it is
 * forgotten. More than some dozens at a time are not noted. */
void lode_temporary_path_add(const char *path);

/* It has been removed, or stays. The same pointer as was added; others and NULL are ignored. */
void lode_temporary_path_forget(const char *path);

/*
 * Removes them all, for a process that ends right after: the list cannot be used any more. It
 * neither allocates nor fails, and may be called by a signal handler.
 */
void lode_temporary_paths_remove(void);
