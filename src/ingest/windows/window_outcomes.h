/* SPDX-License-Identifier: MIT */
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
 *
 * Private to ingest/.
 */
#pragma once

#include "ingest/windows/window_steps.h"

typedef struct LodeWindowOutcomes LodeWindowOutcomes;

/* `facts` is where those of the instructions are kept (window_facts.h). Outcomes are judged
 * together when there are so many; `limit` 0: 2²² (176 MiB, and as much to sort them). */
LodeWindowOutcomes *lode_window_outcomes_new(GArray *facts, size_t limit);
void lode_window_outcomes_free(LodeWindowOutcomes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowOutcomes, lode_window_outcomes_free)

/* Refers to self. Steps of several logs may follow each other, of one LodeWindowSteps. */
LodeWindowVisitor lode_window_outcomes_visitor(LodeWindowOutcomes *self);

/* Judges those that were kept, after the last step. */
void lode_window_outcomes_finish(LodeWindowOutcomes *self);
