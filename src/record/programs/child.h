/* SPDX-License-Identifier: MIT */
/*
 * A program that runs in our place: it has our standard input, output and error, and the signals
 * that are meant for it reach it, while we stay alive to tidy up after it.
 */
#pragma once

#include "record/notes.h"

#include <stdbool.h>

typedef struct {
	GPid pid;
	int status;      /* as waitpid() gives it */
	int stop_signal; /* SIGHUP or SIGTERM that came to us meanwhile, or SIGINT twice to a child
	                    that died of it; 0: none */
} LodeChildEnd;

typedef struct {
	const char *const *argv;        /* NULL-terminated; argv[0] is a path */
	const char *const *environment; /* NULL: ours */
	bool is_silent; /* its output and error go nowhere, and it gets no terminal as input */
	bool has_fixed_addresses; /* without address-space randomisation, where that is allowed */
	LodeNotes notes;          /* gets a note when Ctrl-C is not enough to end it */
} LodeChildOptions;

/*
 * Runs argv[0] (a path; NULL-terminated) and waits for its end. SIGHUP, SIGINT, SIGQUIT, SIGTERM,
 * SIGUSR1 and SIGUSR2 go to the child, unless they came from the terminal, which sends them to
 * both. Asked again to stop within 10 s, it is ended by SIGTERM, then by SIGKILL. A child that ends
 * badly is not an error; one that cannot be started is (_IO). Other threads of the caller must have
 * these signals and SIGCHLD blocked (base/quiet_thread.h).
 */
bool lode_child_run(const LodeChildOptions *options, LodeChildEnd *out_end, GError **error);
