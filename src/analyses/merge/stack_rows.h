/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of several profiles as those of one: frames and stacks that are equal become one,
 * each sample stays, with its own thread. Private to analyses/merge/.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;
typedef struct LodeStacks LodeStacks;

typedef struct {
	LodeProfile *merged; /* whose stacks are filled */
	GHashTable *frames;  /* LodeFrame → its number in the merged profile */
	GHashTable *stacks;  /* LodeStack, likewise */
} LodeStackRows;

/* Gives `merged`, which is borrowed, empty stacks. */
void lode_stack_rows_init(LodeStackRows *self, LodeProfile *merged);
void lode_stack_rows_clear(LodeStackRows *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeStackRows, lode_stack_rows_clear)

/* Adds another profile's; `events` and `instructions` have the merged profile's by its own. */
void lode_stack_rows_add(LodeStackRows *self, const LodeStacks *stacks, const uint32_t *events,
	const uint32_t *instructions);
