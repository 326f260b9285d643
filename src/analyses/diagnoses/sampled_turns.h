/* SPDX-License-Identifier: MIT */
/*
 * How often a program goes from some functions to other code and back, as far as samples tell:
 *
 *   time ─▶  sort sort main sort sort main main sort     5 turns
 *
 * Functions that are called once have two turns at most, those that are called often many.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/calls/function_costs.h"

typedef struct {
	double weight; /* of samples with such a function on the stack */
	guint turns;
} LodeSampledTurns;

/* Among the samples with such a function on the stack and those others whose stack `is_other` has;
 * NULL: all others. None without stacks. */
LodeSampledTurns lode_sampled_turns(const LodeFunctionCosts *costs,
	bool (*is_of)(uint32_t function, const void *data),
	bool (*is_other)(uint32_t stack, const void *data), const void *data);
