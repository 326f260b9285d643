/* SPDX-License-Identifier: MIT */
/*
 * Whether a thread is inside the function that alone is traced: from its first instruction until
 * the call that led there returns, with all that it calls meanwhile.
 *
 * The interface gives no registers, so that the stack is followed by what calls and returns access:
 *
 *   call  stores at S   push S               the call's slot, where its return address lies
 *   ret   loads at L    pop all slots ≤ L    the stack grows down: those calls are over
 *   the function's first instruction: its call is the last slot, even where jumps came between
 */
#pragma once

#include "recorder.h"

/* A call stores its return address, a return loads one, at an address of the thread's stack; the
 * function's first instruction is executed: enter and return set recorder->is_inside. */
void function_scope_call(Recorder *recorder, uint64_t address);
void function_scope_return(Recorder *recorder, uint64_t address);
void function_scope_enter(Recorder *recorder);
