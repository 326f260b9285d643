/* SPDX-License-Identifier: MIT */
/*
 * How a file is opened that the user did not name: by a name that an input has, or that is looked
 * for, such as .lode-mute. Whatever lies there, this neither waits nor has an effect: to open a
 * FIFO waits for its writer, and to open a device may start something.
 */
#pragma once

#include <glib.h>

/*
 * A descriptor to read a regular file by, closed on execution. `flags`: O_NOFOLLOW or 0. −1 and
 * errors, which do not name the file: _IO.
 */
int lode_regular_file_open(const char *path, int flags, GError **error);

/*
 * The text of such a file of at most `max_bytes`, and a NUL; the caller frees it. Errors name the
 * file: _IO, _CORRUPT (it is larger).
 */
char *lode_regular_file_read(const char *path, size_t max_bytes, GError **error);
