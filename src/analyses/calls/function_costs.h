/* SPDX-License-Identifier: MIT */
/*
 * The costs of functions, alone and with all that they call:
 *
 *   main ──▶ often ──▶ work     sample    self of work; inclusive of work, often and main
 *   main ──▶ seldom             sample    self of seldom; inclusive of seldom and main
 *
 * Inclusive costs come from recorded stacks, where a sample counts once for each function on its
 * stack, however often that is there. Where only the top of the stack was recorded, they are known
 * of what is not the user's own. Without stacks they are estimated from calls, if these were
 * counted (call_costs.h). Inferred or sampled calls do not do: functions that have no sample of
 * their own, such as main(), are not among them.
 */
#pragma once

#include "analyses/calls/call_costs.h"
#include "model/stacks.h"

typedef enum {
	LODE_CALLS_UNKNOWN, /* none were recorded */
	LODE_CALLS_FROM_STACKS,
	LODE_CALLS_FROM_COUNTS,
	LODE_CALLS_FROM_TOPS, /* of stacks: the nearest callers */
	LODE_CALLS_INFERRED,  /* of services (services.h) alone */
} LodeCallSource;

/* "stacks", "calls", "tops", "inferred"; NULL: unknown. */
const char *lode_call_source_to_text(LodeCallSource source);

typedef struct {
	const char *name, *image; /* the profile's; "[unknown]" where nothing is known */
	const char *called; /* of a library without symbols: the name by which it is called; NULL */
	double self, inclusive; /* of the event; NaN: not known */
	double samples;         /* in itself; NaN: not known */
	const char *language;   /* of its script; static; NULL: no script */
	uint32_t script_line; /* where it begins in its script, which is the image; 0: no script */
	bool is_inlined;      /* its cost is part of the function around it */
	bool is_stub;         /* lode_function_is_stub() */
	bool is_own; /* on stacks: of the user's own code, not of a library of the system */
} LodeFunctionCost;

typedef struct {
	const LodeProfile *profile; /* borrowed */
	uint32_t event; /* of inclusive costs: as it was sampled, where it was; LODE_NONE: none */
	LodeCallSource source;
	GArray *functions; /* LodeFunctionCost: those of the profile, by their numbers, then those
	                      that are only on stacks */
	double samples;    /* that have a stack */
	double alone;      /* of them, those whose stack is one function that ran in user mode */
	/* private */
	struct LodeStackSums *stacks; /* NULL: not from stacks */
	GStringChunk *strings;        /* `called` of functions */
	LodeCallCosts counted;
} LodeFunctionCosts;

/* `event` is of any kind, or LODE_NONE. Borrows the profile. Never NULL. */
LodeFunctionCosts *lode_function_costs_new(const LodeProfile *profile, uint32_t event);
void lode_function_costs_free(LodeFunctionCosts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFunctionCosts, lode_function_costs_free)

static inline const LodeFunctionCost *lode_function_cost_at(
	const LodeFunctionCosts *self, uint32_t function)
{
	return &g_array_index(self->functions, LodeFunctionCost, function);
}

/* Whether functions of scripts are among them. */
bool lode_function_costs_have_scripts(const LodeFunctionCosts *self);

/* Most stacks are of one function: as of programs without frame pointers. */
bool lode_function_costs_are_short(const LodeFunctionCosts *self);

/*
 * The costs of groups of functions, each with all that its functions call: `group_of` has the group
 * of each of self->functions, or LODE_NONE. From stacks only: false otherwise. A sample counts once
 * for each group. Functions of the kernel count for the group of the one that was entered first.
 */
bool lode_function_costs_of_groups(
	const LodeFunctionCosts *self, const uint32_t *group_of, size_t n, double *out_costs);

/* The samples that have something on their stack. */
typedef struct {
	double cost, samples;
} LodeStackTotal;

/*
 * For labels below n, which each of the profile's stacks has one of, or LODE_NONE: the samples with
 * that label on their stack or on one around it, each once. The caller frees the result; NULL
 * without stacks.
 */
LodeStackTotal *lode_function_costs_of_labels(
	const LodeFunctionCosts *self, const uint32_t *labels, size_t n);

/* The function (of self->functions) of one of the profile's stacks; only with stacks. */
uint32_t lode_function_costs_at_stack(const LodeFunctionCosts *self, uint32_t stack);

/* The instruction by which the function around one of the profile's stacks, and what is inlined
 * there, called the stack's own; LODE_NONE: not known. Only with stacks. */
uint32_t lode_function_costs_call_around(const LodeFunctionCosts *self, uint32_t stack);

/* A function that calls another directly, or is called. */
typedef struct {
	uint32_t function; /* of self->functions */
	double cost;       /* that came through the calls */
	double samples;    /* likewise; NaN where calls were counted */
	double calls;      /* NaN on stacks */
} LodeCallShare;

typedef struct {
	double self, inclusive, samples; /* NaN: not known */
	GArray *callers, *callees;       /* LodeCallShare, by falling cost */
} LodeNeighbours;

/*
 * The callers and callees of those of self->functions that are marked, taken as one function. Stubs
 * are looked through: the caller of what a stub calls is what called the stub. On stacks, a sample
 * counts once for each caller, and inlined functions are callers and callees. With
 * `has_own_callers` libraries of the system are looked through, too.
 */
void lode_neighbours_init(LodeNeighbours *self, const LodeFunctionCosts *costs,
	const bool *is_marked, bool has_own_callers);
void lode_neighbours_clear(LodeNeighbours *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeNeighbours, lode_neighbours_clear)

/* A line of the user's own, from which a function is called, directly or through libraries. */
typedef struct {
	const LodeFrame *frame; /* the first with that line; of the profile */
	double cost, samples;   /* that came from there */
} LodeOwnCaller;

/*
 * For each sample with one of the marked functions on its stack: the innermost own line around the
 * function; a sample counts once for each line. Lines of system libraries, which have relative
 * paths in their debug information, are not own. `own`: see lode_own_lines_new(). The caller unrefs
 * the array of LodeOwnCaller, by falling cost; empty without stacks.
 */
GArray *lode_function_costs_own_callers(
	const LodeFunctionCosts *self, const bool *is_marked, const char *const *own);
