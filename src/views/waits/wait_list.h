/* SPDX-License-Identifier: MIT */
/*
 * The waits of a program (analyses/waits/wait_groups.h) as text, JSON and CSV:
 *
 *   waited  number     mean  longest  on the path  reason  for          where
 *   2.83 s     941  3.01 ms  12.0 ms       1.90 s  lock    ledger_lock  post (ledger.c:31)
 *       93 % of it while its holder was in seal_account (ledger.c:12)
 */
#pragma once

#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *const *own; /* see lode_own_lines_new() */
	uint32_t limit;         /* rows; 0: all, as text a screen of them */
} LodeWaitListOptions;

/* Errors: _NOT_FOUND (the profile has no waits), _IO (write). */
bool lode_wait_list_write(
	const LodeProfile *profile, const LodeWaitListOptions *options, FILE *out, GError **error);
