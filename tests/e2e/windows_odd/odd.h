/* SPDX-License-Identifier: MIT */
/*
 * A program of many kinds of odd behaviour, to be run with and without something that steps it from
 * inside: what a kind prints, and its status, depend on nothing but the kind.
 *
 *   odd KIND [PERCENT]   as many rounds as PERCENT says; 100 are some 0.1 s of processor time
 *   odd --list           the kinds, and what is known of each
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct {
	const char *name;
	int (*run)(void); /* its result is the program's status */
	const char *note; /* "none": no windows by design; "known": it may change, as
	                     docs/use/windows.md says; "event": a timer's signal may interrupt
	                     its waits; NULL: none of these */
} OddKind;

/* Each table ends with a row without a name. */
extern const OddKind odd_signals[], odd_traps[], odd_waits[], odd_threads[], odd_locks[],
	odd_processes[], odd_limits[], odd_stacks[], odd_flags[], odd_numbers[], odd_code[],
	odd_crashes[];

/* The third argument of a kind that executes itself; NULL in the first run. */
extern const char *odd_stage;

/* The part of `n` that PERCENT asks for, at least 1. */
long odd_rounds(long n);

/* Computes for `n` rounds of some 2 ns, with branches that go both ways. */
uint64_t odd_work(uint64_t seed, long n);

/* Executes this program again, as `kind` with `stage`; returns only if that fails. */
void odd_execute(const char *kind, const char *stage);

/* Installs a handler of one argument. */
void odd_handle(int signal, void (*handler)(int), int flags);
/* Installs a handler of three arguments. */
void odd_handle_info(int signal, void (*handler)(int, void *, void *), int flags);

/* Waits for the child, and prints how it ended. */
void odd_wait(pid_t child, const char *name);

/* Prints that something is not as it should be, at most ten times. */
void odd_wrong(const char *what, const char *file, int line);

#define ODD_CHECK(truth) ((truth) ? (void)0 : odd_wrong(#truth, __FILE_NAME__, __LINE__))
