/* SPDX-License-Identifier: MIT */
/* The words of a command as one text, which a shell would read as these words; and who does. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Appends a word, after a blank where it is not the first; quoted where it needs to be. */
void lode_command_words_append(GString *command, const char *word);

/* Whether a program, with its folder or without, is a shell that executes what -c is followed by.
 */
bool lode_is_shell(const char *program);
