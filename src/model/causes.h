/* SPDX-License-Identifier: MIT */
/*
 * Weight at the instruction that waited (docs/reference/waiting.md). A timer, and a counter without
 * precise sampling, report the instruction that would have been retired next:
 *
 *      mov rax, [rsi]     ◀── waited: charged            cpu-clock:cause
 *      add r8, 1          ◀── would have been next: sampled    cpu-clock
 *
 * So the weight of an instruction goes to the instructions that ran just before it, in proportion
 * to the executions of the edges that lead to it: those inside its function, calls into an entry,
 * and returns into the instruction after a call, which take the place of the call's own
 * fall-through edge. Weight without a known incoming edge stays where it was sampled. Three
 * exceptions, by measurement:
 *  - the weight of a repeated string instruction stays: it is interrupted between its rounds;
 *  - a compare or test of memory and the conditional jump after it retire as one: samples on the
 * jump belong to the compare, which read the memory;
 *  - samples on a division right after the instruction that extends or clears the upper half of its
 * dividend are the division's own: some processors take both as one.
 *
 * Inferred executions follow the samples, and do not say by which of several ways a merge was
 * reached. There each way weighs what the other way of its branch waits, which is for the same. A
 * branch of registers waits for no more than that where a load, say, leads to the same place, and
 * far more was sampled there than executions explain.
 *
 * This is the one rule for weight that was sampled late. The import stores its result as an event
 * of its own, NAME:cause, which all analyses and views take like any other.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LODE_CAUSE_SUFFIX ":cause"

/* The special properties of an instruction; a set of these bits. */
typedef enum {
	LODE_CAUSE_REPEATS = 1,     /* a string instruction with a repeat prefix */
	LODE_CAUSE_ENDS_A_PAIR = 2, /* a jump that retires with the instruction before it */
	LODE_CAUSE_PREPARES = 4,    /* cqo and the like: the division after it waits, not this */
} LodeCauseMark;

/* Where the weight of each instruction came from; the same for all events of a profile. */
typedef struct LodeCauses LodeCauses;
typedef struct LodeEvent LodeEvent;
typedef struct LodeProfile LodeProfile;

/*
 * Borrows the profile's instructions and edges, and the marks: one LodeCauseMark set for each
 * instruction; NULL: none is special. Counts may be anything but NaN. Never NULL.
 */
LodeCauses *lode_causes_new(const LodeProfile *profile, const uint8_t *marks);
void lode_causes_free(LodeCauses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCauses, lode_causes_free)

/* A way from an instruction to another one of its function that several lead to. */
typedef struct {
	uint32_t source, target;
	/* Where the branch goes otherwise, from nowhere else; LODE_NONE: executions must do. */
	uint32_t other;
	/* The source reads memory, divides or the like, so that it can wait for long by itself. */
	bool can_wait;
	double count; /* executions */
} LodeCauseWay;

/*
 * Divides the weight that came to an instruction from inside its function among these ways, by the
 * samples at the other way of each branch, or by their executions; a branch that cannot wait gets
 * no more than the former if a way without another one can. Borrows the ways, which are sorted by
 * target; of a target there are all, or none. `weight` is the sampled weight that executions were
 * inferred from, so that one of them stands for as much of any event as it has in proportion.
 */
void lode_causes_take_ways(LodeCauses *self, const LodeCauseWay *ways, size_t n, double weight);

/*
 * Moves weight from where it was sampled to what waited: one value ≥ 0 for each instruction, in and
 * out, in different arrays. The sums of both are equal but for rounding. Gives what stayed because
 * it came from nowhere known (weight that stays on a repeated instruction is not counted).
 */
double lode_causes_charge(const LodeCauses *self, const double *sampled, double *out_charged);

/*
 * The event that has the weight of another where it was sampled, or where it was waited for:
 * "cpu-clock" for "cpu-clock:cause" and back. LODE_NONE: there is none, as of exact events, or the
 * profile is older than such events.
 */
uint32_t lode_profile_event_as_sampled(const LodeProfile *profile, uint32_t event);
uint32_t lode_profile_event_as_charged(const LodeProfile *profile, uint32_t event);

/* The event that weighs when a user asks for it: of that name, but latency at what waited.
 * LODE_NONE: there is none. */
uint32_t lode_profile_find_weight(const LodeProfile *profile, const char *name);

/* "ev:branch-misses", the attribute that an event gives, at its cause or not; the caller frees it.
 */
char *lode_event_attribute(const LodeEvent *event);
