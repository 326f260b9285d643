/* SPDX-License-Identifier: MIT */
/* The words of a command as one text, which a shell would read as these words. */
#pragma once

#include <glib.h>

/* Appends a word, after a blank where it is not the first; quoted where it needs to be. */
void lode_command_words_append(GString *command, const char *word);
