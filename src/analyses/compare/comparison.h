/* SPDX-License-Identifier: MIT */
/*
 * Two profiles side by side: what each pattern, place, function, source line and mined sequence
 * costs in both, and why that changed.
 *
 *   change = executed more often + each costs more
 *   T₁ − T₀ = (x₁ − x₀)·(e₀ + e₁)/2 + (e₁ − e₀)·(x₀ + x₁)/2     T = x·e: executions times each
 *
 * Both parts take the other factor halfway between the profiles, so that nothing is left over and
 * which profile is called base changes the signs only (E. M. Kitagawa, "Components of a Difference
 * Between Two Rates", 1955).
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_COMPARED_PATTERN,
	LODE_COMPARED_PLACE, /* one instruction that no pattern explains */
	LODE_COMPARED_FUNCTION,
	LODE_COMPARED_LINE,
	LODE_COMPARED_SEQUENCE,
	LODE_N_COMPARED,
} LodeComparedKind;

/* The unit of work by which costs are divided before they are compared. */
typedef enum {
	LODE_NORMALISE_NONE,
	LODE_NORMALISE_EXECUTIONS, /* of instructions, in the whole profile */
	LODE_NORMALISE_FUNCTION,   /* calls of one function */
} LodeNormalisation;

typedef enum {
	LODE_MATCH_SAME,
	LODE_MATCH_RENAMED, /* has another name in each profile */
	LODE_MATCH_NEW,     /* the base has nothing that is the same */
	LODE_MATCH_GONE,
} LodeMatch;

/* A figure and its standard error; NAN: unknown. */
typedef struct {
	double value, error;
} LodeEstimate;

typedef struct {
	LodeEstimate time; /* weight, by the unit of work */
	/* Executions of its instructions, by the unit of work, and the weight of one of them; NAN
	 * where they were not counted in both profiles. */
	LodeEstimate executed, each;
	/* Where it is, or most of it; LODE_NONE: unknown, or nowhere, as of a pattern that costs
	 * nothing in this profile. */
	uint32_t function, instruction;
	bool is_inlined; /* a function whose code is inlined in others here: the time of that code
	                  */
} LodeComparedSide;

typedef struct {
	LodeComparedKind kind;
	LodeMatch match;
	double likeness; /* of the code, where a renamed function was matched by it; else 0 */
	LodeComparedSide sides[2];
	LodeEstimate change;                 /* of the time */
	LodeEstimate more_often, costs_more; /* its parts */
	bool is_told;                        /* the change is significant */
	bool is_same_code, is_other_code;    /* a function's code in both; neither: not known */
	bool is_unused; /* a function of one profile alone: its file is in both */
	/* A line that one profile has alone, whose function's row says so, or one of those among
	 * which time moved while their function's did not change. */
	bool is_repeated;
	char *text;     /* the pattern, the function's name, "file.c:12" */
	char *old_text; /* of the base, where it differs; else NULL */
} LodeComparedRow;

typedef struct {
	GArray *rows;      /* LodeComparedRow, by absolute change, falling */
	double deviations; /* standard errors that a change must exceed, for so many rows */
} LodeComparedRows;

/* Where functions that both have take less of the time in both profiles, they may be of different
 * programs. */
#define LODE_LITTLE_COMMON 0.5

/* One profile as it is compared. */
typedef struct {
	double total;       /* weight, by the unit of work */
	double total_error; /* standard error, by the number of samples; 0: it was counted */
	double work;        /* what everything was divided by */
	double samples;     /* 0: the weight was counted */
	bool is_counted;    /* executions were counted, not inferred or observed */
	double common;    /* share of the weight in any function that is in those that both programs
	                     have */
	double explained; /* share of the weight that patterns and places explain */
	double base_each; /* weight of an execution to which none applies; 0: not counted */
} LodeComparedProfile;

/*
 * How much longer the same work takes because of the machine, as calibrations beside both programs
 * measured it (machine/machine_speed.h). No two runs take equally long, as others use the machine;
 * more samples do not make that less. So a change is told only if it exceeds what this leaves
 * unknown, too.
 */
typedef struct {
	double factor;     /* 1 where it is not measured */
	double error;      /* standard error of its logarithm, also where it is not measured */
	bool is_measured;  /* both profiles have a calibration */
	bool is_different; /* the factor differs from 1 by more than its error */
	double steal[2], others[2]; /* shares of the machine's processor time; NAN: unknown */
} LodeSpeed;

/* All functions with the same code in both profiles. Where they take another time by more than the
 * machine's speed, what they work on changed, or how often they are called. */
typedef struct {
	unsigned n_functions;  /* those with samples */
	unsigned n_changed;    /* those of which the change is told by itself */
	LodeEstimate times[2]; /* of all of them, by the unit of work */
	double factor, error;  /* times[1] by times[0]; NAN: nothing in one of them */
	bool is_told;          /* it is another time by more than chance and the machine's speed */
	bool is_most; /* told, at least half of the change of all, and none is told of a function
	                 with other code */
} LodeSameCode;

/* Figures of the whole programs. */
typedef enum {
	LODE_TOTAL_USER,   /* seconds of processor time in their own code */
	LODE_TOTAL_KERNEL, /* and in the kernel */
	LODE_TOTAL_WALL,   /* seconds from start to end */
	LODE_TOTAL_PAGE_FAULTS,
	LODE_N_TOTALS,
} LodeComparedTotalKind;

typedef struct {
	LodeEstimate sides[2]; /* by the unit of work; NAN: not known */
	LodeEstimate change;
	bool is_told; /* it exceeds chance and the machine's speed */
} LodeComparedTotal;

typedef struct {
	const char *weight;             /* event; NULL: the base's own */
	const char *images, *functions; /* regular expressions; NULL: all */
	LodeNormalisation normalisation;
	const char *work_function;   /* for LODE_NORMALISE_FUNCTION: name */
	bool wants[LODE_N_COMPARED]; /* patterns and places are made together */
	const char *const *own;      /* globs of files, as of lode_own_lines_new(); NULL: none */
	double min_support;          /* of sequences; 0: the default */
	unsigned threads;            /* 0: all processors; the result does not depend on it */
} LodeComparisonOptions;

typedef struct {
	char *weight;    /* event */
	bool is_counted; /* executions were counted in both */
	LodeNormalisation normalisation;
	char *work_function;
	LodeComparedProfile profiles[2];
	LodeEstimate change; /* of the total */
	LodeSpeed speed;
	LodeSameCode same_code;
	LodeComparedTotal totals[LODE_N_TOTALS];
	double scatter; /* by which errors of less than functions are multiplied, at least 1 */
	/* Rows NULL: not wanted, or a profile has nothing of the weight, so that there is nothing
	 * to compare. */
	LodeComparedRows kinds[LODE_N_COMPARED];
	/* Attributes by which nothing was compared, as only one of the profiles has any of the
	 * kind: char *, such as "needs:*". */
	GPtrArray *left_out;
} LodeComparison;

/*
 * Compares `profiles[1]` with the base `profiles[0]`. The result does not refer to them; the caller
 * frees it. Errors: _NOT_FOUND (event, function), _USAGE (what cannot be compared so: no event,
 * no attribute in common, no counted executions to divide by), _CANCELLED.
 */
LodeComparison *lode_comparison_new(const LodeProfile *const profiles[2],
	const LodeComparisonOptions *options, const LodeProgress *progress, GError **error);
void lode_comparison_free(LodeComparison *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeComparison, lode_comparison_free)

static inline const LodeComparedRow *lode_compared_row(const LodeComparedRows *self, guint index)
{
	return &g_array_index(self->rows, LodeComparedRow, index);
}

/* Whether a pattern, place or function costs more than 1 + `share` times what it did in the base,
 * beyond three standard errors and the machine's speed. A new row has cost
 * nothing there. */
bool lode_compared_row_is_slower(
	const LodeComparison *comparison, const LodeComparedRow *row, double share);
