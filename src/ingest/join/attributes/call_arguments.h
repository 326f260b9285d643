/* SPDX-License-Identifier: MIT */
/*
 * Calls in a loop that pass the same arguments in each iteration, by the code alone:
 *
 *   … ─▶ call g ─▶ … ─▶ mov rdi, rbp ─▶ xor esi, esi ─▶ call f     rbp: not changed in the loop
 *                           └────── what f gets was set here ──────┘
 *
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/natural_loops.h"

/* Those of rsp and rbp from which the function makes addresses (lea rdi, [rsp + 8]), and the least
 * distance of these. Its callees, and its stores through pointers, may change what lies there and
 * above. */
typedef struct {
	LodeRegisterMask registers;
	int64_t least_rsp, least_rbp; /* INT64_MAX: none */
} LodeAddressedFrame;

LodeAddressedFrame lode_call_arguments_addressed(const LodeDependenceGraph *graph);

/*
 * Whether a call of the loop gets the same arguments each time, but for the first iteration. Its
 * arguments are those of rdi, rsi, rdx, rcx, r8, r9 and xmm0 to xmm7 that are written between the
 * call before it, which may be itself in the iteration before, and it, along the way that at least
 * half of its executions took, of at most 64 instructions, without xmm1 and later ones
 * that the iteration before wrote and read, and without those that come after one, in this order,
 * that is not written: it is not an argument, so neither are they. Each must be a constant or
 * computed from registers that the loop does not change, or loaded from the stack by a register
 * that is not `addressed`, or below what is, from where no store of the loop by the same expression
 * writes. False also where it has none, and in loops of more than 4096 instructions. `changes`: by
 * all instructions of the loop.
 */
bool lode_call_arguments_are_unchanged(const LodeNaturalLoop *loop, LodeRegisterMask changes,
	const LodeAddressedFrame *addressed, uint32_t call);
