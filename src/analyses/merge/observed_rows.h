/* SPDX-License-Identifier: MIT */
/*
 * What was observed of loops, in windows and in call stacks, as rows with the numbers of the merged
 * profile. Private to analyses/merge/.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;
typedef struct LodeStacks LodeStacks;
typedef struct LodeWaits LodeWaits;
typedef struct LodeWindows LodeWindows;

/* Merges the loops of several profiles by their heads. */

/* Appends another profile's to those of `merged`; `instructions` has the merged profile's by its
 * own, LODE_NONE: none. */
void lode_loop_rows_add(
	LodeProfile *merged, const LodeProfile *source, const uint32_t *instructions);

/* Sorts all rows and makes one of those with the same head: means are weighted by iterations, and
 * what one of them does not know is not known. */
void lode_loop_rows_add_up(LodeProfile *merged);

/*
 * Merges the observations of windows in several profiles: steps and facts of the same place are
 * added, processes appended.
 */

enum { LODE_WINDOW_ROWS_MAX_PROCESSES = 1000 }; /* further ones are added up in one row */

/* Appends another profile's to those of `merged`, which has them from then on; `instructions` has
 * the merged profile's by its own, LODE_NONE: none. */
void lode_window_rows_add(
	LodeProfile *merged, const LodeWindows *windows, const uint32_t *instructions);

/* Sorts all rows and adds up those of one place: numbers stay at most UINT32_MAX; lines and pages
 * are the largest, as they may be the same ones; the stride is the one that most accesses have. */
void lode_window_rows_add_up(LodeProfile *merged);

/*
 * Call stacks of several profiles as those of one: frames and stacks that are equal become one,
 * each sample stays, with its own thread. And the waits at them: rows that are alike in all but
 * their numbers become one. Runs have their critical paths each, and together none.
 */

typedef struct {
	LodeProfile *merged; /* whose stacks are filled */
	GHashTable *frames;  /* LodeFrame → its number in the merged profile */
	GHashTable *stacks;  /* LodeStack, likewise */
} LodeStackRows;

/* Gives `merged`, which is borrowed, empty stacks. */
void lode_stack_rows_init(LodeStackRows *self, LodeProfile *merged);
void lode_stack_rows_clear(LodeStackRows *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeStackRows, lode_stack_rows_clear)

/* Adds another profile's; `events` and `instructions` have the merged profile's by its own. Gives
 * the numbers of its stacks in the merged profile, which the caller frees. */
uint32_t *lode_stack_rows_add(LodeStackRows *self, const LodeStacks *stacks, const uint32_t *events,
	const uint32_t *instructions);

typedef struct {
	LodeProfile *merged; /* whose waits are filled */
	GHashTable *rows;    /* what rows have alike → their number in the merged profile */
} LodeWaitRows;

/* Gives `merged`, which is borrowed, empty waits. */
void lode_wait_rows_init(LodeWaitRows *self, LodeProfile *merged);
void lode_wait_rows_clear(LodeWaitRows *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeWaitRows, lode_wait_rows_clear)

/* Adds another profile's; `stacks` has the merged profile's by its own, NULL: it has none. */
void lode_wait_rows_add(LodeWaitRows *self, const LodeWaits *waits, const uint32_t *stacks);

/* When all are added: the costliest first. */
void lode_wait_rows_sort(LodeWaitRows *self);
