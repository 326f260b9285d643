/* SPDX-License-Identifier: MIT */
/* Messages and exit status of the verbs that run a program. */
#pragma once

#include "record/notes.h"

#include <glib.h>

/* "lode VERB: TEXT" on standard error, with the option that helps; the name is borrowed. */
LodeNotes lode_wrapped_program_notes(const char *verb);

/* The command line that a recording stores: all of lode's, with options; `arguments` if that cannot
 * be read. The caller frees it with g_strfreev(). */
char **lode_wrapped_program_own_command(char **arguments);

/*
 * The exit status of lode after a program that ended with `status` (as from wait()): the program's
 * own, or the signal that ended it. `stop_signal` 0: lode received no signal.
 */
int lode_wrapped_program_status(int status, int stop_signal);

/* Appends "; ADVICE" to an error: the option or verb that helps. */
void lode_wrapped_program_advise(GError *failed, const char *advice);
