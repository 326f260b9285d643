/* SPDX-License-Identifier: MIT */
/* A command line as one would type it, for people to read. */
#pragma once

/* Words are quoted where a shell would need it. The caller frees it. */
char *lode_command_text(char **words);
