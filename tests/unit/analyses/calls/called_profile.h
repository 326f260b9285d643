/* SPDX-License-Identifier: MIT */
/*
 * Profiles of functions that call each other, made by hand: each has one instruction, and an image
 * of its own.
 */
#pragma once

#include "model/profile.h"

typedef struct {
	const char *name, *image;
	const char *file; /* NULL: without source lines */
	uint32_t line;    /* of its instruction */
} CalledFunction;

/* With the event "clock", which weighs, and without stacks; nothing has a cost. */
LodeProfile *called_profile_new(const CalledFunction *functions, guint n);

/* A stack in a function, at this line of its file if it has one. Gives its number. */
uint32_t add_stack(LodeProfile *self, uint32_t function, uint32_t line, uint32_t outer);

/* `n` samples with a weight of 10 each, added to the event's total. */
void add_samples(LodeProfile *self, uint32_t stack, guint n);
