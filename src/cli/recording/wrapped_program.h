/* SPDX-License-Identifier: MIT */
/* What the verbs that run another program tell while it runs, and the status that they pass on. */
#pragma once

#include "record/notes.h"

#include <glib.h>

/* "lode VERB: TEXT" on standard error, with the option that helps; the name is borrowed. */
LodeNotes lode_wrapped_program_notes(const char *verb);

/* What stands in a recording as its command line: all of ours, options too; `arguments` where that
 * cannot be read. The caller frees it with g_strfreev(). */
char **lode_wrapped_program_own_command(char **arguments);

/*
 * Our exit status after a program that ended with `status` (as wait() gives it): its own, or the
 * signal that ended it. `stop_signal` 0: none came that was meant for us too.
 */
int lode_wrapped_program_status(int status, int stop_signal);

/* Appends "; ADVICE" to what failed: the option or verb that helps. */
void lode_wrapped_program_advise(GError *failed, const char *advice);
