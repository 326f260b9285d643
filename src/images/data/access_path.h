/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the last instructions that ran before a sample, and what registers and memory
 * held before each:
 *
 *   backward   undoing one instruction after the other      ◀── registers at the sample
 *   forward    from the oldest one on, doing each again: registers that were overwritten since are
 *              computed as the code did, from registers that were not, and from the dump of the
 *              stack where nothing has been written since
 *
 *   sub  ecx, 1        ▲ undone: rcx        │
 *   mov  eax, ecx      │                    │ eax = ecx
 *   and  eax, 0xff     │                    ▼ eax = ecx & 0xff
 *   mov  eax, [r11+rax*4]   steps[0]: where did it load from?
 *   (sampled)
 *
 * Where both know a value they must agree. If they do not, the thread did not come this way.
 */
#pragma once

#include "images/data/access_walk.h"

typedef struct {
	LodeFullInstruction full;
	uint32_t number; /* in the function's control flow; UINT32_MAX: in another function */
	uint64_t next;   /* the address, in the image, of what ran after it */
} LodePathStep;

typedef struct {
	LodeAccessWalk *walk;
	LodeRegisterState after;                                /* as sampled */
	LodePathStep steps[LODE_ACCESS_SEARCH_STEPS];           /* the last that ran first */
	LodeRegisterState before[LODE_ACCESS_SEARCH_STEPS];     /* each step, undone */
	LodeRegisterState recomputed[LODE_ACCESS_SEARCH_STEPS]; /* likewise, done again */
	unsigned n;
	bool has_ended; /* what ran before is not known */
} LodeAccessPath;

/* Begins with the instruction at an address of the image, after which the sampled one ran. `number`
 * as in a step. False: it cannot be decoded. */
bool lode_access_path_begin(LodeAccessPath *self, LodeAccessWalk *walk,
	const LodeRegisterState *sampled, uint64_t address, uint32_t number);

/* Up to `n` steps in all, as far as only one way leads there. */
void lode_access_path_extend(LodeAccessPath *self, unsigned n);

/* Fills `recomputed`. False: the sample contradicts this way. */
bool lode_access_path_recompute(LodeAccessPath *self);
