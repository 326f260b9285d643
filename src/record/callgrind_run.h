/* SPDX-License-Identifier: MIT */
/*
 * Runs a program under valgrind's callgrind. The program keeps our standard input, output and
 * error, its exit status and signals pass through, and valgrind's own chatter goes to a file.
 * Programs that compile while they run are made to write that down.
 */
#pragma once

#include "record/notes.h"

#include <stdbool.h>

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is found in PATH */
	const char *directory;   /* where dumps and logs go; must exist */
	bool is_fast;            /* without cache and branch simulation */
	bool is_silent;          /* what the program writes was seen already: it is discarded */
	LodeNotes notes;
	const char *const *environment; /* of the program; NULL: ours */
} LodeCallgrindRunOptions;

typedef struct {
	GPtrArray *dumps;     /* char *: callgrind.out files, that of the program itself first; none
	                         where a signal killed it before they were written */
	GPtrArray *maps;      /* char *: logs with load addresses for LodeLoadMap, likewise */
	GPtrArray *jit_files; /* char *: jitdumps of what it compiled, see jit_runtime.h */
	char *jit_warning;    /* what of that stays unknown; NULL: nothing */
	unsigned n_lost;      /* processes whose dump is not whole: killed, or still running */
	int exit_status;      /* of the program, as wait() gives it */
	int stop_signal;      /* came meanwhile and is meant for us too, see child.h; 0: none */
} LodeCallgrindRun;

/*
 * Runs and waits. SIGINT and SIGTERM that we receive meanwhile go to the program (the terminal does
 * so for SIGINT already), not to us. A program that ends badly is not an error; that valgrind
 * cannot run or left no dump is (_NOT_FOUND with what to install, _IO with valgrind's own last
 * words).
 */
LodeCallgrindRun *lode_callgrind_run(const LodeCallgrindRunOptions *options, GError **error);
void lode_callgrind_run_free(LodeCallgrindRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCallgrindRun, lode_callgrind_run_free)
