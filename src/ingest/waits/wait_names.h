/* SPDX-License-Identifier: MIT */
/*
 * The names of what threads wait for in memory, and what functions say of it, each found once:
 *
 *   futex's address ─▶ image ─▶ static variable that contains it    "ledger_lock"
 *   a call of the program's own, to a lock's function
 *       ─▶ types of the debug information ─▶ what is passed         "struct account.lock"
 *
 * Private to ingest/.
 */
#pragma once

#include "ingest/waits/wait_words.h"
#include "process/places.h"

typedef struct LodeWaitNames LodeWaitNames;

/* Of frozen places; borrowed. */
LodeWaitNames *lode_wait_names_new(LodePlaces *places);
void lode_wait_names_free(LodeWaitNames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWaitNames, lode_wait_names_free)

/* What the function at a place says; NULL: nothing, or there is none. */
const LodeWaitFunction *lode_wait_names_function(LodeWaitNames *self, const LodePlace *place);

/* The static variable that contains an address of the selected recording, or a member of it; one of
 * an image without symbols by its offset in that. NULL: the address is in no image. Borrowed. */
const char *lode_wait_names_variable(
	LodeWaitNames *self, uint32_t pid, uint64_t time_ns, uint64_t address);

/* What argument `n` of the calls, 1 or 2, points at: of the first of the callers (LodePlace, the
 * innermost first) that are the program's own and whose debug information tells. NULL: none does.
 * Borrowed. */
const char *lode_wait_names_argument(LodeWaitNames *self, const GArray *callers, unsigned n);
