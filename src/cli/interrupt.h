/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C and similar signals: the first one requests the work to stop, the second one ends the
 * program at once and removes its temporary files (base/files/temporary_path.h). This holds for
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT, unless they were ignored at the start.
 */
#pragma once

#include "base/progress.h"

/* Cancelled by the first signal. The first call installs the handlers; borrowed. */
GCancellable *lode_interrupt_cancellable(void);

/* Blocks until the first signal. */
void lode_interrupt_wait(void);

/* The signal that came, or 0. */
int lode_interrupt_signal(void);

/* Ends the program by the default action of the signal, so that the parent process sees it. */
_Noreturn void lode_interrupt_die(int signal);
