/* SPDX-License-Identifier: MIT */
/*
 * Small functions that are called in loops, and could be part of these:
 *
 *   row ── call grid_at@plt ─▶ jmp *slot ─▶ grid_at: some instructions, ret
 *
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"

/*
 * Sets LODE_CODE_SMALL of the instructions of functions of at most 64 bytes without calls and loops
 * of their own that loops of the program's own code call through a pointer, by a stub or in another
 * image, or that load (not from the stack) and have a twentieth of the time; of their stubs; and of
 * these calls. Small functions that only compute and are called directly are what somebody wants to
 * have apart: else the compiler would have inlined them. Not of services and run-times, nor of a
 * load that has most of the time of all this: it waits for data.
 */
void lode_small_calls_mark(LodeCostedCode *self);
