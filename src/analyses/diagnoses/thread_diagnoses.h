/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses of what threads do to each other. Private to analyses/diagnoses/.
 *
 * Cache lines that threads share, from sampled data addresses
 * (analyses/memory/objects/line_sharing.h): falsely or truly.
 *
 * Waiting (analyses/waits/wait_groups.h): the waits for one lock, or at one line, together. What
 * removing them saves of the time by the clock is what their pieces have of the critical path
 * (high) and what a replay without them saves (low). Where little runs side by side, a wait for
 * another thread or process has at least the time for which the path ran meanwhile; without a path
 * it is at most the share of the clock for which one thread waits there. A join, or a condition, is
 * waited for while something runs: that place is the diagnosis's, if it is known, by looks at the
 * thread or by the samples of the threads that do not wait.
 */
#pragma once

#include "analyses/diagnoses/diagnosis_context.h"
#include "analyses/diagnoses/rules/cause_rules.h"

/* Adds one of each kind of sharing that has enough of the time; none without data addresses. */
void lode_sharing_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context);

/*
 * Adds those of waiting; none where less than a tenth of the time by the clock depends on it. The
 * context's event weighs samples; LODE_NONE: there are none.
 */
void lode_wait_diagnoses_add(
	LodeDiagnoses *out, const LodeDiagnosisContext *context, const LodeCauseRules *rules);

/* Once they are in order: one lock is told once, for what threads wait and for the instructions
 * that take it, by the one that saves more; likewise fsync, for waits and time in the kernel.
 * (waits/joined_diagnoses.c) */
void lode_wait_diagnoses_join(LodeDiagnoses *self);

/* Likewise: says where they save more than all together, as they are of the same time. */
void lode_wait_diagnoses_tell_overlaps(LodeDiagnoses *self);
