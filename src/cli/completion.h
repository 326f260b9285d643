/* SPDX-License-Identifier: MIT */
/* Completion scripts for shells, generated from the tables of verbs and options. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes the script for "bash" or "zsh"; false for another shell. */
bool lode_completion_write(const char *shell, FILE *out);
