/* SPDX-License-Identifier: MIT */
/*
 * Where a load or store of a loop goes in the next iteration, by the code alone:
 *
 *   outer:  mov rax, rdi              each turn begins 4 bytes after the one before
 *           lea rcx, [rdi + 819200]
 *   inner:  add edx, [rax]            a stride of 4096 bytes
 *           add rax, 4096
 *           cmp rax, rcx
 *           jne inner
 *           add rdi, 4
 *           …
 *
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/loop_rounds.h"

/* For an access, in the smallest loop around it. */
typedef struct {
	bool is_known;   /* the stride */
	bool is_equal;   /* the stride is not known, but the same each time, as in a register */
	int64_t stride;  /* bytes from one iteration to the next; those from the last one not */
	bool comes_back; /* each turn of the loop around it begins less than a line from where the
	                    one before began */
	bool is_exact;   /* the code says the rounds */
	/* The share that is accessed of the bytes that an innermost loop without calls goes over by
	 * this stride, or of the lines that it does not pass over; 0: not known, or less than 16
	 * bytes lie between its accesses. */
	double used;
	double rounds; /* iterations in each such turn, or in each call; 0: not known */
} LodeLoopStride;

typedef struct LodeLoopStrides LodeLoopStrides;
LodeLoopStrides *lode_loop_strides_new(void);
void lode_loop_strides_free(LodeLoopStrides *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLoopStrides, lode_loop_strides_free)

/* One for each node, in `out`; known in loops of at least `least_weight`. Turns are not asked for
 * where the stride is less than a line. Where the code does not say how many rounds there are,
 * their number is taken from the executions of the nodes. */
void lode_loop_strides_find(
	LodeLoopStrides *self, const LodeLoopCode *code, double least_weight, LodeLoopStride *out);
