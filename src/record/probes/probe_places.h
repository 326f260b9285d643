/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: what is worth asking about the code of a process, while it runs.
 *
 *   samples ─▶ the code that follows each sampled address ─▶ places: branches, accesses, calls …
 *                                                            each with weight and hits so far
 *   places ─▶ the next aims: weight × doubt
 *
 * Code is read from the process's memory and decoded forward from sampled addresses, which are
 * those of instructions, over a few branches, both ways of each.
 */
#pragma once

#include "images/instructions/instruction_decoder.h"

#include <sys/types.h>

typedef struct LodeProbeHit LodeProbeHit;
typedef struct LodeProbePlaces LodeProbePlaces;

LodeProbePlaces *lode_probe_places_new(pid_t pid);
void lode_probe_places_free(LodeProbePlaces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProbePlaces, lode_probe_places_free)

/* A sample of the process. */
void lode_probe_places_add_sample(LodeProbePlaces *self, pid_t tid, uint64_t address);

/* The thread with most of the last samples; 0: none. */
pid_t lode_probe_places_thread(const LodeProbePlaces *self);

/* An instruction whose next executions are wanted. */
typedef struct {
	uint64_t address;
	unsigned n;         /* hits */
	double line_weight; /* share of the last samples in the 64 bytes that it lies in: a
	                       breakpoint slows these down */
} LodeProbeAim;

/*
 * The most `n_max` worthwhile of the code that ran lately, at different addresses. Gives how many.
 */
unsigned lode_probe_places_choose(LodeProbePlaces *self, LodeProbeAim *out_aims, unsigned n_max);

/* An instruction was hit; `out_target` is where it led. False: that is not known, or it is not a
 * branch. */
bool lode_probe_places_take_hit(
	LodeProbePlaces *self, const LodeProbeHit *hit, uint64_t *out_target);

/* Decodes the instruction at an address of the process, as it was when code was read last; false:
 * it cannot be. */
bool lode_probe_places_decode(
	LodeProbePlaces *self, uint64_t address, LodeDecodedInstruction *out_instruction);

/* The bytes of code at an address, likewise, as many as are read together; NULL: none can be. */
const uint8_t *lode_probe_places_code(LodeProbePlaces *self, uint64_t address, size_t *out_size);

/* Reads code anew from now on: it may have changed. False with errno: the kernel refuses. */
bool lode_probe_places_refresh(LodeProbePlaces *self);

/* An aim was armed, and hit so often: what does not come is asked for less. */
void lode_probe_places_take_end(LodeProbePlaces *self, uint64_t address, unsigned n_hits);
