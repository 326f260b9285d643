/* SPDX-License-Identifier: MIT */
/* Words of the commands that a view tells its reader to type. */
#pragma once

/* A path or name as it is typed into a shell: quoted where it needs to be. The caller frees it. */
char *lode_shell_word(const char *word);
