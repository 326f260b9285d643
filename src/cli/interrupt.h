/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C and its like: the first one asks the work to stop, the second one ends the program at
 * once, without its temporary files (base/files/temporary_path.h). SIGINT, SIGTERM, SIGHUP and
 * SIGQUIT alike, unless they were ignored when we started.
 */
#pragma once

#include <gio/gio.h>

/* Cancelled by the first signal. The first call installs the handlers; borrowed. */
GCancellable *lode_interrupt_cancellable(void);

/* Until the first signal. */
void lode_interrupt_wait(void);

/* The signal that came, or 0. */
int lode_interrupt_signal(void);

/* Ends the program by the signal, as if it had never been caught, so that our caller sees it. */
_Noreturn void lode_interrupt_die(int signal);
