/* SPDX-License-Identifier: MIT */
/* Questions as they are asked on the command line: about files, whose answers are printed. */
#pragma once

#include "questions/verb.h"

/*
 * Answers a question whose options are filled; `arguments` are the files. Gives the exit status; on
 * an error it is that of the error. Errors: _USAGE, those of the question.
 */
int lode_terminal_ask(const LodeVerb *question, void *options, char **arguments, GError **error);
