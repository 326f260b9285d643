/* SPDX-License-Identifier: MIT */
/*
 * The calls that led to a function. The rule of the frame of a return address is found once and
 * kept, so that a frame costs a look-up. Nothing is read outside the thread's own stack, whatever
 * the call frame information says.
 */
#pragma once

#include "thread_state.h"

#include <stdint.h>

/*
 * The id in the log of the calls that led to the function with this frame address
 * (__builtin_frame_address(0) of a function that keeps a frame pointer).
 */
uint32_t call_stack_id(ThreadState *thread, const void *frame, uint8_t *in_out_kind);
