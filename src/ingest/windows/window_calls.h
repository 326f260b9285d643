/* SPDX-License-Identifier: MIT */
/*
 * Calls whose arguments are those of the call before, out of the steps of windows.
 *
 *   call f ─▶ … steps of f and of what it calls … ─▶ instruction after the call
 *     │              │                                   │
 *     registers      which of them are read              rax
 *
 * The arguments of a place's calls are those of rdi, rsi, rdx, rcx, r8 and r9 that one of these
 * calls read before it wrote them, from the call to its return or the window's end (System V ABI).
 * A call is compared with the one before it from the same place in the same window, with nothing
 * unknown in between: it has the same arguments where it went to the same instruction and each of
 * these registers had the same value. Where both returned, their rax is compared, too.
 *
 * Not compared are the calls of a place of which none returned in a window, of those that read
 * none of these registers, and of those that read one of xmm0 to xmm7, whose values are not kept.
 * Arguments on the stack, and what pointers lead to, are not looked at.
 *
 * Private to ingest/.
 */
#pragma once

#include "ingest/windows/window_steps.h"

typedef struct LodeWindowCalls LodeWindowCalls;

/* `facts` is where those of the instructions are kept (window_facts.h); borrowed. */
LodeWindowCalls *lode_window_calls_new(GArray *facts);
void lode_window_calls_free(LodeWindowCalls *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowCalls, lode_window_calls_free)

/* Refers to self. Steps of several logs may follow each other, of one LodeWindowSteps. */
LodeWindowVisitor lode_window_calls_visitor(LodeWindowCalls *self);

/* Adds to the facts what was found, after the last step; to be called once. */
void lode_window_calls_finish(const LodeWindowCalls *self);
