/* SPDX-License-Identifier: MIT */
/* The text of --help, from the tables of verbs and options. */
#pragma once

#include "cli/verb.h"

#include <stdbool.h>
#include <stdio.h>

/* `lode --help`. */
void lode_help_write_overview(FILE *out);

/* `lode VERB --help`, or --help=all. */
void lode_help_write_verb(const LodeVerb *verb, LodeHelp help, FILE *out);

/* `lode FIRST_WORD --help`: the verbs of two words that begin so. */
void lode_help_write_verbs(const char *first_word, FILE *out);

/* Completion scripts for shells, generated from the tables of verbs and options. Writes the script
 * for "bash" or "zsh"; false for another shell. */
bool lode_completion_write(const char *shell, FILE *out);
