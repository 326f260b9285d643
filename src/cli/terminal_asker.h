/* SPDX-License-Identifier: MIT */
/* Questions of the command line: they are about files, and the answers are printed. */
#pragma once

#include "questions/verb.h"

/*
 * Answers a question whose options are filled; `arguments` are the files. Gives the exit status;
 * with an error it is the status of that error. Errors: _USAGE, those of the question.
 */
int lode_terminal_ask(const LodeVerb *question, void *options, char **arguments, GError **error);

/* Likewise, without a progress: answer and notes go to `out`, and whether something was found that
 * the question checks for is in the answer alone. */
bool lode_terminal_ask_into(
	const LodeVerb *question, void *options, char **arguments, FILE *out, GError **error);
