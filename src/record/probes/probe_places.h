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

/* The share of the last samples in the 64 bytes that an address lies in; as of the last choice. */
double lode_probe_places_line_weight(const LodeProbePlaces *self, uint64_t address);

/* Reads code anew from now on: it may have changed. False with errno: the kernel refuses. */
bool lode_probe_places_refresh(LodeProbePlaces *self);

/* An aim was armed, and hit so often: what does not come is asked for less. */
void lode_probe_places_take_end(LodeProbePlaces *self, uint64_t address, unsigned n_hits);

/*
 * At which places of hot code it is worth measuring how long it takes from one
 * execution to the next, by breakpoints on two neighbouring instructions:
 *
 *   a  b ─ ─ ─ ─ ─ ─ ─ ─ ─ a  b ─ ─ ─ …     period = mean of (b → next a) − (a → b)
 *   └hit┘  a turn, and a hit  └hit┘
 *
 * A hit costs as much between a and b as in the turn, so that it is measured on the spot. Places
 * are the heads of the loops around a sample, as jumps back over it show them, and, as the return
 * addresses on the stack of hits show them, the function's entry and where calls of it return to.
 * Which of these is executed seldom enough, and often enough, is found by asking. A breakpoint
 * slows down all code of its 64 bytes: so none of them may have many samples.
 */

typedef struct LodeProbePeriods LodeProbePeriods;

/* Borrows the places, for their code. */
LodeProbePeriods *lode_probe_periods_new(pid_t pid, LodeProbePlaces *places);
void lode_probe_periods_free(LodeProbePeriods *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProbePeriods, lode_probe_periods_free)

/* A sample of the process. */
void lode_probe_periods_add_sample(LodeProbePeriods *self, uint64_t address);

/* An instruction of the process was hit just now. */
void lode_probe_periods_take_stack(LodeProbePeriods *self, const LodeProbeHit *hit);

/* Two instructions, one after the other, and how often the first is to be hit. */
typedef struct {
	uint64_t first, second;
	unsigned n;
} LodeProbePair;

/* What is asked next, after lode_probe_places_choose(). False: there is nothing. */
bool lode_probe_periods_choose(LodeProbePeriods *self, LodeProbePair *out_pair);

/* The hits that came. `out_times_ns`: of each hit, the processor time since the first one. */
void lode_probe_periods_take(LodeProbePeriods *self, const LodeProbePair *pair,
	const LodeProbeHit *hits, size_t n_hits, uint64_t *out_times_ns);
