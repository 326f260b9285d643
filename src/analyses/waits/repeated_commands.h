/* SPDX-License-Identifier: MIT */
/*
 * Commands that one process has others execute again and again: the same program with the same
 * arguments, environment, directory and input, whose output it reads.
 *
 *   make ━╮       ╭━╮       ╭━╮            $(shell ./survey.sh tiles.txt), three times
 *         ╰━━━━━━━╯ ╰━━━━━━━╯ ╰━━━━━━━     two of them are not needed
 *
 * Those that are repeated for a purpose are left out: what waits, or whose answer changes (sleep,
 * date, pgrep), and all of a process that sleeps between them, as it looks whether something has
 * changed.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t parent, first; /* of LodeWaits.processes */
	guint same;             /* that are seen to be the same */
	guint known, alike; /* of the program: whose command is known, and all, by this parent */
	guint started;      /* all that the parent had execute something */
	double low_ns, high_ns; /* of the clock, without all but one; low: of those seen to be so */
	double at_once;         /* of them, on average */
} LodeRepeatedCommand;

/* Those that take longest first; the caller unrefs the array. */
GArray *lode_repeated_commands_new(const LodeProfile *profile);
