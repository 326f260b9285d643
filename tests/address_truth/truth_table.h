/* SPDX-License-Identifier: MIT */
/*
 * How often the library's answers to where data was accessed are true, by rule.
 *
 *   row             asked of                            true is
 *   at-pc           each instruction                    what this very instruction accesses
 *   forward         each one that accesses nothing      the next access of the thread
 *   backward        each one                            the last access of the thread
 *   waited          each one, as of a timer sample      what the last instruction accesses; not
 *                                                       asked after a jump; by next-round: what
 *                                                       it accesses the next time, in the same
 *                                                       activation of its function
 *   together        each one, all rules for the next    as the rule says that answered
 *   trigger-before  each one, as of a counter's sample  as the rule says that answered
 *   stepped         each one, with all its registers    what this very instruction accesses, its
 *                                                       stack too
 */
#pragma once

#include "images/data/data_access.h"
#include "true_access.h"

#include <stdio.h>

typedef enum {
	TRUTH_AT_PC,
	TRUTH_FORWARD,
	TRUTH_BACKWARD,
	TRUTH_WAITED,
	TRUTH_TOGETHER,
	TRUTH_TRIGGER_BEFORE,
	TRUTH_STEPPED,
	TRUTH_N_ROWS,
} TruthRow;

typedef struct {
	uint64_t n_points, n_claimed, n_unverified, n_wrong;
	uint64_t n_late;      /* by next-round, and true of the next execution */
	uint64_t n_late_same; /* those also true of the one that was waited for */
	uint64_t n_by_rule[LODE_N_RULES];
	uint64_t n_by_reason[LODE_N_REASONS];
} TruthCounts;

enum { TRUTH_MAX_SHOWN = 5 };

typedef struct {
	TruthCounts rows[TRUTH_N_ROWS];
	GString *shown[TRUTH_N_ROWS]; /* the first wrong ones, each instruction once */
	uint64_t shown_pcs[TRUTH_N_ROWS][TRUTH_MAX_SHOWN];
	uint64_t n_steps, n_accesses, n_proven, n_refuted;
	uint64_t n_unknown_next; /* claims about a next access that nobody saw */
} TruthTable;

void truth_table_init(TruthTable *self);
void truth_table_clear(TruthTable *self);

/* What is wrong with a claim, "address" …; NULL: nothing. `truth` NULL: nothing was accessed. */
const char *truth_fault(const LodeDataAccess *claim, uint64_t bias, const TrueAccess *truth);

/* Counts an answer; what is wrong with it, or NULL. */
void truth_table_count(
	TruthTable *self, TruthRow row, const LodeDataAccess *answer, const char *fault);

/* Whether a wrong answer of this instruction is to be appended to `shown`; says so once. */
bool truth_table_shows(TruthTable *self, TruthRow row, uint64_t pc);

const char *truth_row_name(TruthRow row);
void truth_table_write_text(const TruthTable *self, const char *program, FILE *out);
void truth_table_write_csv(const TruthTable *self, const char *program, bool has_header, FILE *out);
bool truth_table_is_right(const TruthTable *self);
