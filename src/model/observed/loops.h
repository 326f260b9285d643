/* SPDX-License-Identifier: MIT */
/*
 * Natural loops that executed, each with what an iteration of it cannot be shorter than: the
 * recurrence with the most latency, and the work of each unit of the core
 * (docs/reference/loops.md).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* The bounds of an iteration besides recurrences. */
typedef enum {
	LODE_UNIT_DIVIDER, /* of integers or floating point, whichever is longer */
	LODE_UNIT_LOAD,
	LODE_UNIT_STORE,
	LODE_UNIT_BRANCH,
	LODE_UNIT_ALU,    /* integer arithmetic */
	LODE_UNIT_FLOAT,  /* arithmetic and conversions of floating point */
	LODE_UNIT_VECTOR, /* integer arithmetic, logic and moves of vector registers */
	LODE_UNIT_PORTS,  /* all of these together, where they share ports */
	LODE_UNIT_WIDTH,  /* what the core renames in a cycle */
	LODE_N_UNITS,
} LodeUnit;

/* "divider", "load" … as the columns of the table. */
const char *lode_unit_name(LodeUnit unit);

/* Figures are means of an iteration. Sorted by head. Strings are the profile's. */
typedef struct {
	uint32_t head;       /* instruction */
	double iterations;   /* executions of the head */
	double instructions; /* executed */
	double weight;       /* of the weight event, of its own instructions; −1: not known */
	double calls;
	bool is_innermost;
	double unmodelled; /* instructions whose cost is not known (cpuid, rep movsb …): no bound
	                      has it */
	/* The recurrence with the most latency, and the longest one that shares no instruction
	 * with it: their kinds as in carried:KIND; NULL: none. Cycles: 0: none; −1: not known, as
	 * half of the iterations take no one way, or one through a loop inside */
	char *recurrence, *other_recurrence;
	double recurrence_cycles, other_cycles;
	double cycles[LODE_N_UNITS];
	/* Measured; −1: not known */
	double iteration_ns, iteration_error_ns; /* time of an iteration, its standard error */
	char *iteration_source;                  /* how the time is known; NULL: it is not */
	double load_bytes, store_bytes;          /* that its own instructions move */
} LodeLoop;

/* The loop with this head, or NULL. */
LodeLoop *lode_loops_find(const LodeProfile *profile, uint32_t head);

/* Likewise, added when there is none, as of a loop whose back edge the inferred executions leave
 * out: nothing is known of it. Valid until the next one is added. */
LodeLoop *lode_loops_add(LodeProfile *profile, uint32_t head);

/* Bits of bounds: LodeUnit, and this for the recurrences. */
enum { LODE_LOOP_RECURRENCE = LODE_N_UNITS };

/*
 * The bounds of a loop that are above the measured time of its iteration by more than twice that
 * time's error and what such times are too short at most: a latency or executions are wrong then,
 * or the usual way of the iteration is not the one that takes the time. 0: none, or the time is not
 * known.
 */
uint32_t lode_loop_wrong_bounds(const LodeProfile *profile, const LodeLoop *self);

/* The loop without these: recurrences are not known, units have no work. All that is shown or
 * concluded is from this one. */
LodeLoop lode_loop_within_time(const LodeProfile *profile, const LodeLoop *self);

/* The highest of the unit bounds, and which one; 0 where there is no work at all. */
double lode_loop_busiest(const LodeLoop *self, LodeUnit *out_unit);

/* Takes the iterations anew from the counts of the instructions, of which only a part was chosen:
 * drops the loops that did not execute there. Weights and measured times are not known of a part.
 */
void lode_loops_recount(LodeProfile *profile);
