/* SPDX-License-Identifier: MIT */
/* Private to images/: arguments that a function without optimisation keeps in its frame. */
#pragma once

#include "images/data/access_search.h"

enum { LODE_MAX_ARGUMENT_SLOTS = 6 };

/*
 * The words of the sampled function's frame that hold the same as a register, at the sample and
 * wherever the function reads them. Below the stack pointer, no sample has the frame itself.
 * `state` is that of the sample; `out_slots` has run-time addresses. Returns how many; changes
 * `search->full`.
 */
unsigned lode_argument_slots_find(LodeAccessSearch *search, const LodeRegisterState *state,
	LodeStackWrite out_slots[LODE_MAX_ARGUMENT_SLOTS]);
