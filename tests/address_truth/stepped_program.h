/* SPDX-License-Identifier: MIT */
/*
 * A program that runs one instruction at a time, with address-space randomisation off. Threads take
 * turns: one runs some instructions while the others stand still. A thread in a system call is not
 * waited for while another one can run.
 */
#pragma once

#include "live_mappings.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

typedef struct SteppedProgram SteppedProgram;

/* What happens at each instruction; all get the thread's own data. */
typedef struct {
	void *(*begin)(void *user); /* a thread begins: its data */
	void (*end)(void *user, void *thread);
	/* Before an instruction. False: this is enough. `out_is_system_call` is to be set. */
	bool (*before)(void *user, void *thread, const struct user_regs_struct *registers,
		bool *out_is_system_call);
	/* After it has run. */
	void (*after)(void *user, void *thread, const struct user_regs_struct *registers);
	/* A signal came: nobody knows whether the instruction ran, or what runs next. */
	void (*interrupted)(void *user, void *thread);
	void *user;
} SteppedProgramWatcher;

typedef struct {
	char **argv;
	const char *from;  /* a function; "entry": of the program; NULL: the first instruction */
	uint64_t n_calls;  /* then on to the end of this many system calls of the first thread */
	bool is_main_only; /* other threads run freely */
	unsigned quantum;  /* instructions of a turn */
	uint64_t (*find)(void *user, const char *path, const char *function); /* in the image */
	const SteppedProgramWatcher *watcher;
} SteppedProgramOptions;

/* Runs it until it ends or the watcher has enough, then kills it. */
bool stepped_program_run(
	const SteppedProgramOptions *options, LiveMappings *mappings, GError **error);
