/* SPDX-License-Identifier: MIT */
/*
 * Looks at the threads of a program that wait, one after the other, from a thread of lode's own:
 *
 *   every 5 ms, by chance 2.5 to 7.5 ─▶ the next thread ─▶ record ─▶ queue ─▶ perf.data
 *
 * Of a thread that runs a script the frames of the interpreter are looked at (script_looks.h), and
 * the next look is after 3 ms. Where waits are not asked for, these are the only looks.
 *
 * By chance, as programs wait in steps of time too. A thread that has not run since its last look
 * waits as it did, and the next one is looked at in its place. Looks take no more than half a
 * percent of a processor: after one that took longer the pause is longer. Nothing is put into the
 * program, and it is not stopped.
 */
#pragma once

#include "machine/process_tree.h"
#include "record/events/perf_event_choice.h"

typedef struct LodeWaitLooker LodeWaitLooker;

/* The tree is that of a program that is to be executed, or runs. Looks begin with
 * lode_wait_looker_begin(). Without `has_waits`, threads that wait are passed by; without
 * `has_scripts`, frames of interpreters are not looked at. */
LodeWaitLooker *lode_wait_looker_new(const LodeProcessTree *tree, bool has_waits, bool has_scripts);
void lode_wait_looker_free(LodeWaitLooker *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWaitLooker, lode_wait_looker_free)

/* The events that the samples are of, of waits (NULL: of none) and of scripts, which the kernel
 * does not have; borrowed. */
LodePerfChoice *lode_wait_looker_choice(const LodeWaitLooker *self);
LodePerfChoice *lode_wait_looker_script_choice(const LodeWaitLooker *self);

/* Before it begins: threads that run are noted, too, as where no switches are recorded. */
void lode_wait_looker_tell_running(LodeWaitLooker *self);

/* Begins the thread; with `is_on`, also looks. */
void lode_wait_looker_begin(LodeWaitLooker *self, bool is_on);

/* Whether looks are taken. */
void lode_wait_looker_switch(LodeWaitLooker *self, bool is_on);

/* The records since the last call; the caller unrefs them. */
GByteArray *lode_wait_looker_take(LodeWaitLooker *self);

typedef struct {
	uint64_t n_looks, n_refused;
	uint64_t n_dropped; /* records for which there was no room */
	uint64_t spent_ns;  /* processor time of lode's thread */
} LodeWaitLookerTally;

/* Ends the thread; the last records can still be taken. */
LodeWaitLookerTally lode_wait_looker_end(LodeWaitLooker *self);

/* Once it has ended: appends a sentence where scripts' frames could not be read. */
void lode_wait_looker_add_note(const LodeWaitLooker *self, GString *note);
