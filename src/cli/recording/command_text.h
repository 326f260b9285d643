/* SPDX-License-Identifier: MIT */
/* A command line as a user would type it, for messages. */
#pragma once

/* Words are quoted where a shell would need it. The caller frees it. */
char *lode_command_text(char **words);
