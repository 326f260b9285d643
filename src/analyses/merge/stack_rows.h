/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of several profiles as those of one: frames and stacks that are equal become one,
 * each sample stays, with its own thread. And the waits at them: rows that are alike in all but
 * their numbers become one. Runs have their critical paths each, and together none.
 *
 * Private to analyses/merge/.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;
typedef struct LodeStacks LodeStacks;
typedef struct LodeWaits LodeWaits;

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
