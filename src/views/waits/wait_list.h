/* SPDX-License-Identifier: MIT */
/*
 * The waits of a program (analyses/waits/wait_groups.h) as text, JSON and CSV:
 *
 *   waited  number     mean  longest  on the path  reason  for          where
 *   2.83 s     941  3.01 ms  12.0 ms       1.90 s  lock    ledger_lock  post (ledger.c:31)
 *       93 % of it while its holder was in seal_account (ledger.c:12)
 *
 * and those of two programs side by side, by reason, object and function:
 *
 *   Gone: waiting for ledger_lock in post (ledger.c:31), 2.83 s.
 *   Longer: in fsync (note.log) in commit (note.c:12), 0.40 s → 0.95 s.
 */
#pragma once

#include "base/text/json_stream.h"
#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *const *own; /* see lode_own_lines_new() */
	uint32_t limit;         /* rows; 0: all, as text of one program a screen of them */
	bool is_all;            /* of two programs: changes that are not told, too */
} LodeWaitListOptions;

/* Errors: _NOT_FOUND (the profile has no waits), _IO (write). */
bool lode_wait_list_write(
	const LodeProfile *profile, const LodeWaitListOptions *options, FILE *out, GError **error);

/* Text of two: a line for each that is new, gone, longer or shorter by a twentieth of the time by
 * the clock and a fifth of its own; nothing unless both profiles have waits. */
void lode_wait_comparison_write(
	const LodeProfile *const profiles[2], const LodeWaitListOptions *options, FILE *out);

/* The member "waits" of an object, with all of them; none unless both profiles have waits. */
void lode_wait_comparison_json(
	const LodeProfile *const profiles[2], const char *const *own, LodeJsonStream *json);
