/* SPDX-License-Identifier: MIT */
/* A file without a name, which is gone when it is closed. */
#pragma once

/* In a directory, for its user alone; the caller closes it. −1, with errno: it cannot be made. */
int lode_nameless_file_open(const char *directory);
