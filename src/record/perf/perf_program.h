/* SPDX-License-Identifier: MIT */
/* A program that is forked and held until its events are open, then executed. */
#pragma once

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
	const char *path;
	const char *const *argv;        /* NULL-terminated */
	const char *const *environment; /* NULL: ours */
	const sigset_t *mask;           /* of blocked signals */
	bool has_fixed_addresses;       /* without randomisation of its address space */
} LodePerfCommand;

typedef struct {
	pid_t pid;
	int gate, failure; /* pipes: a byte lets it go; an errno comes when it cannot */
	/* Called every some milliseconds until it is executed; NULL: nothing is to be done. */
	void (*serve)(void *data);
	void *serve_data;
} LodePerfProgram;

/*
 * Switches the randomisation of addresses off for what this process executes. False where that is
 * forbidden, as in some containers. Safe between fork() and execve().
 */
bool lode_perf_program_fix_addresses(void);

/* Forks. Errors: _IO. */
bool lode_perf_program_hold(LodePerfProgram *self, const LodePerfCommand *command, GError **error);

/* Executes it. Errors: _IO with the reason; it is reaped then. */
bool lode_perf_program_release(LodePerfProgram *self, const char *path, GError **error);

/* Ends one that is still held, and reaps it. */
void lode_perf_program_cancel(LodePerfProgram *self);
