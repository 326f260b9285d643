/* SPDX-License-Identifier: MIT */
/*
 * What is found in the steps of windows, each by a visitor of one walk: calls with the same
 * arguments, branches that are hard to predict, data addresses. Private to ingest/.
 */
#pragma once

#include "ingest/windows/window_steps.h"

typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeWindowAccesses LodeWindowAccesses;
typedef struct LodeWindowCalls LodeWindowCalls;
typedef struct LodeWindowOutcomes LodeWindowOutcomes;

/*
 * Calls whose arguments are those of the call before, out of the steps of windows.
 *
 *   call f ─▶ … steps of f and of what it calls … ─▶ instruction after the call
 *     │              │                                   │
 *     registers      which of them are read              rax
 *
 * The arguments of a place's calls are those of rdi, rsi, rdx, rcx, r8 and r9 that one of these
 * calls read before it wrote them, from the call to its return or the window's end (System V ABI).
 * A call is compared with the one before it from the same place in the same window, with nothing
 * unknown in between: it has the same arguments where it went to the same instruction and each of
 * these registers had the same value. Where both returned, their rax is compared, too.
 *
 * Not compared are the calls of a place of which none returned in a window, of those that read
 * none of these registers, and of those that read one of xmm0 to xmm7, whose values are not kept.
 * Arguments on the stack, and what pointers lead to, are not looked at.
 */

/* `facts` is where those of the instructions are kept (window_facts.h); borrowed. */
LodeWindowCalls *lode_window_calls_new(GArray *facts);
void lode_window_calls_free(LodeWindowCalls *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowCalls, lode_window_calls_free)

/* Refers to self. Steps of several logs may follow each other, of one LodeWindowSteps. */
LodeWindowVisitor lode_window_calls_visitor(LodeWindowCalls *self);

/* Adds to the facts what was found, after the last step; to be called once. */
void lode_window_calls_finish(const LodeWindowCalls *self);

/*
 * Branches whose outcomes recent history does not foretell, and instructions with denormal
 * operands, out of the steps of windows.
 *
 * An outcome is whether a conditional branch was taken, or where an indirect jump or call went. Its
 * history is made of the outcomes before it in its window, of all branches that went several ways:
 * the last 32, 16, 8, 4 or 0 (as predictors with several lengths of history have it: A. Seznec,
 * P. Michaud, "A case for (partially) tagged geometric history length branch prediction", JILP 8,
 * 2006). The others of the same branch with the same history foretell an outcome:
 *
 *   the longest history that at least two others share, in which the outcome's own way is not as
 *   frequent among the others as the most frequent other way:
 *       more frequent: foretold;  less frequent: not foretold
 *   without history: likewise from one other on, and as frequent: not foretold
 *
 * A history is used only where its window has so many outcomes before. A second one is made of the
 * branch's own outcomes that are judged. Each branch has that of the two which foretells more of
 * its outcomes, the first where they are equal (a tournament: S. McFarling, "Combining branch
 * predictors", 1993).
 *
 * Where windows are few, most histories are met once: then those of 4 and 0 outcomes would say of
 * every branch that it is hard to predict. So they are used only for a branch with 1024 outcomes
 * or more, and of it for those with at least 8 outcomes before them in their window, as a
 * processor's history does not begin there; that of 0 for all outcomes of a branch of which one way
 * has 95 %. Other outcomes without a history of 8 that recurs are not judged.
 *
 * A processor keeps only so much. So the outcomes of a branch are judged in as many parts of equal
 * size, one after the other, that none has more than 4096: what repeats only after thousands of
 * outcomes is not foretold, however long the recording is.
 *
 * An outcome that is the only one is not judged. A return's outcome is foretold where
 * it goes to the instruction after the call in the window that it ends, and not judged where that
 * call came before the window, or before code that is not known. Outcomes that do not count for
 * frequencies (LodeVisitedStep .is_frequent) are neither judged nor do they foretell others; they
 * are in histories.
 */

/* `facts` is where those of the instructions are kept (window_facts.h). Outcomes are judged
 * together when there are so many; `limit` 0: 2²² (176 MiB, and as much to sort them). */
LodeWindowOutcomes *lode_window_outcomes_new(GArray *facts, size_t limit);
void lode_window_outcomes_free(LodeWindowOutcomes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowOutcomes, lode_window_outcomes_free)

/* Refers to self. Steps of several logs may follow each other, of one LodeWindowSteps. */
LodeWindowVisitor lode_window_outcomes_visitor(LodeWindowOutcomes *self);

/* Judges those that were kept, after the last step. */
void lode_window_outcomes_finish(LodeWindowOutcomes *self);

/*
 * The data addresses of windows: each load and store of a step, by the registers before it.
 *
 *   step ─▶ operands ─┬─▶ facts of the instruction: stride, lines, pages … (of its first operand)
 *                     └─▶ up to 64 accesses of each operand, chosen by chance ─▶ samples
 *
 * A sample stands for as many accesses as there were to one that was chosen, so that weights are
 * accesses. They are those of executions that count for frequencies.
 */

/* Samples in all; where there would be more, each operand has fewer. */
enum { LODE_WINDOW_SAMPLES = 1 << 17 };

/* Borrows both; `facts` is where the instructions' are kept, by the number of their code
 * (window_facts.h). */
LodeWindowAccesses *lode_window_accesses_new(GArray *facts, const LodePlaces *places);
void lode_window_accesses_free(LodeWindowAccesses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowAccesses, lode_window_accesses_free)

/* Visits the steps of the recording that the places have selected. */
LodeWindowVisitor lode_window_accesses_visitor(LodeWindowAccesses *self);

/* Ends the facts after the last walk, and adds the samples to `memory`, of which all recordings are
 * frozen. Errors: _CANCELLED. */
bool lode_window_accesses_finish(LodeWindowAccesses *self, LodeMemoryReading *memory,
	const LodeProgress *progress, GError **error);

/*
 * How long it takes from one execution of an instruction to the next, out of the hits of two
 * neighbouring instructions in turn (record/probes/probe_places.h):
 *
 *   a b ─ ─ ─ a b ─ ─ ─ a …    mean of (b → next a) − median of (a → b) − what a hit evicts
 *
 * The samples that the thread has shortly before and after say where it spends that time.
 */

typedef struct LodeWindowPeriods LodeWindowPeriods;

LodeWindowPeriods *lode_window_periods_new(void);
void lode_window_periods_free(LodeWindowPeriods *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowPeriods, lode_window_periods_free)

/* Refers to self. Steps of several logs may follow each other, of one LodeWindowSteps. */
LodeWindowVisitor lode_window_periods_visitor(LodeWindowPeriods *self);

/* After the last step; then each sample of a timer, with its place. */
void lode_window_periods_freeze(LodeWindowPeriods *self);
void lode_window_periods_add_sample(LodeWindowPeriods *self, uint32_t tid, uint64_t time_ns,
	const LodePlace *place, double weight);

/* Samples near the bursts of an instruction. */
typedef struct {
	uint32_t period; /* number among those that are listed */
	LodePlace place;
	double weight;
} LodeNearSample;

/* An instruction whose periods were measured. */
typedef struct {
	LodePlace place;
	double near_weight; /* of all samples near */
	double ns;          /* the mean, of moments at random rather than of executions */
	double error_ns;    /* its standard error */
	uint32_t n_bursts, n;
} LodeReadPeriod;

/* LodeReadPeriod, by place, and LodeNearSample, by period and place; borrowed. */
const GArray *lode_window_periods_list(const LodeWindowPeriods *self);
const GArray *lode_window_periods_near(const LodeWindowPeriods *self);
