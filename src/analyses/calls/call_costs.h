/* SPDX-License-Identifier: MIT */
/*
 * Inclusive costs of calls, where only the number of calls is known: the inclusive cost of a
 * function is divided among its callers by how often they call it.
 *
 *   main ──30 calls──▶ a ─┐
 *                         ├─▶ work, 90 s:  60 s for the 40 calls of a, 30 s for the 20 of b
 *   main ──20 calls──▶ b ─┘
 *
 * This is an estimate: it assumes that all calls of a function cost the same. Functions that call
 * each other in a cycle are taken together, and calls inside it cost nothing of their own. Susan L.
 * Graham, Peter B. Kessler, Marshall K. McKusick, "gprof: A Call Graph Execution Profiler", 1982,
 * section 4.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeFunction LodeFunction;
typedef struct LodeProfile LodeProfile;

/* The calls of one edge. */
typedef struct {
	uint32_t caller, callee; /* functions */
	uint32_t edge;           /* of the profile; LODE_NONE: none of its own */
	double count;
	double cost; /* with all that the callee leads to; 0 inside a cycle */
} LodeCountedCall;

typedef struct {
	GArray *calls;     /* LodeCountedCall, by caller and edge */
	double *inclusive; /* of each function; each of a cycle has that of the whole */
} LodeCallCosts;

/*
 * For an event of any kind. With tail calls, a jump to the entry of another function is a call of
 * it: so the stub through which another library is called (malloc@plt) calls the function. Calls
 * are then left out that would make cycles of functions that have nothing to do with each other:
 * the dynamic linker's jumps to functions that it has just bound, and calls that are less than a
 * thousandth both of what their instruction executes and of what their target does. A stub of which
 * no other jump is known calls the function that it is named after.
 */
void lode_call_costs_init(
	LodeCallCosts *self, const LodeProfile *profile, uint32_t event, bool has_tail_calls);
void lode_call_costs_clear(LodeCallCosts *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeCallCosts, lode_call_costs_clear)

/* The cost of each of profile->code.edges, without tail calls; 0 for those that are no calls. The
 * caller frees it. */
double *lode_call_costs_new(const LodeProfile *profile, uint32_t event);

/* Whether a function is a stub of the procedure linkage table: by its name, which ends in "@plt",
 * or by its code. `function` NULL: only the name is known. */
bool lode_function_is_stub(const LodeFunction *function, const char *name);
