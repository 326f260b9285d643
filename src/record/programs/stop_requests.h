/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: what signals to us ask of a program that runs in our place.
 *
 *   SIGINT, SIGTERM, SIGHUP  ─▶ the program   the first, which it may take as a command
 *   again, within 10 s       ─▶ SIGTERM, and when it had that one already, SIGKILL
 *
 * So a program that ignores Ctrl-C can be ended, and its recording is kept.
 */
#pragma once

#include "record/notes.h"

#include <stdbool.h>
#include <sys/types.h>

/* A shell's status of a program that a signal ended is the signal's number and this. */
enum { LODE_SHELL_BY_SIGNAL = 128 };

typedef struct {
	LodeNotes notes;
	gint64 last_us; /* when the last request came; 0: none yet */
	int stop_signal;
	bool was_interrupted; /* SIGINT came, whatever the program made of it */
	bool has_sent_term;
} LodeStopRequests;

/*
 * Takes a signal that came to us and passes it on to `pid` (0: the program has ended), except where
 * the terminal has sent it to both already.
 */
void lode_stop_requests_take(
	LodeStopRequests *self, pid_t pid, int signal, bool was_sent_by_process);

/* Ends the program by SIGTERM, of our own accord: the time is up. */
void lode_stop_requests_end(LodeStopRequests *self, pid_t pid);

/*
 * A terminal sends Ctrl-C to the program and to us. Where the program had it first and has ended of
 * it with `status`, waits for ours, 200 ms at most, so that it does not end what comes after the
 * program. The caller blocks SIGINT.
 */
void lode_stop_requests_wait(LodeStopRequests *self, int status);

/*
 * The signal that is meant for us too, once the program has ended with `status`: SIGTERM, SIGHUP,
 * or SIGINT when it came twice and the program died of it. 0: none.
 */
int lode_stop_requests_signal(const LodeStopRequests *self, int status);
