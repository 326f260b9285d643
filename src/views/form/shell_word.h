/* SPDX-License-Identifier: MIT */
/* Words of the commands that a view suggests. */
#pragma once

/* A path or name as it is typed into a shell: quoted where it needs to be. The caller frees it. */
char *lode_shell_word(const char *word);

/* The profile that a verb is given, PROFILE.lode where `path` is NULL, and with it the origins that
 * were chosen of it, or the options of a part: "all.lode --origin web1"; NULL: all. The caller
 * frees it. */
char *lode_shell_profile(const char *path, const char *const *origins, const char *part_options);
