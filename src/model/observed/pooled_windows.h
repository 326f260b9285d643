/* SPDX-License-Identifier: MIT */
/*
 * Facts of windows pooled over a set of instructions. Where a program's time is spread over many
 * functions each instruction has few observations, and all that have one attribute together have
 * enough:
 *
 *   instruction   function   judged outcomes   unforetold
 *   1207          f          12                5 ┐
 *   3310          g          9                 4 ├─▶ 13 of 29: 45 %, standard error 9 %
 *   8001          h          8                 4 ┘
 *
 * Cases are steps in windows, so that places count as often as windows saw them, which is more by
 * their time than by their executions. The standard error is that of a ratio of sums over clusters
 * (W. G. Cochran, "Sampling Techniques", 3rd edition, 1977, 6.3, 9A.1: its square is larger by the
 * design effect where the instructions of one function are alike). Clusters are functions, in one
 * function its instructions; it is never below that of independent cases.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	/* Branches, indirect jumps and calls; shares of their outcomes: */
	LODE_POOLED_UNFORETOLD, /* of the judged ones: not foretold by history */
	LODE_POOLED_UNJUDGED,   /* not judged, at an instruction that went several
	                           ways. All of them, or none, may be mispredicted */
	LODE_POOLED_DIFFERING,  /* that of two of one instruction drawn at random
	                           the ways differ: 0 where each goes one way only, ½ where both are
	                           as frequent */
	/* All instructions; shares of their steps: */
	LODE_POOLED_DENORMAL,  /* with a denormal operand */
	LODE_POOLED_UNDERFLOW, /* with a result that was rounded to a denormal number or to 0 */
	/* Instructions that access memory; shares of the accesses whose address is known: */
	LODE_POOLED_REPEATED,    /* at the address of the access before by the same instruction */
	LODE_POOLED_STRIDED,     /* at the instruction's most frequent distance from it */
	LODE_POOLED_PAGE_CHANGE, /* to another page than the access before */
	LODE_POOLED_SPLIT,       /* across a boundary of 64 bytes */
	LODE_POOLED_SPLIT_PAGE,  /* across one of 4096 bytes */
	LODE_POOLED_STORED,      /* loads of what one store of the 100 steps before wrote */
	LODE_POOLED_PART_STORED, /* likewise, and the last store wrote only a part of it */
	LODE_POOLED_CONFLICTING, /* to a line that a set of the first level had no room for */
	LODE_POOLED_LINE_USED,   /* of the bytes of the lines that it came to and left: used by any
	                            instruction meanwhile; cases are lines */
	/* Calls; shares of those that were compared with the call before: */
	LODE_POOLED_SAME_ARGUMENTS,
	LODE_POOLED_SAME_RESULT, /* of those with the same arguments that returned */
	LODE_N_POOLED,
} LodePooledFact;

typedef struct {
	double hits, cases;
	double share, error; /* 0 … 1: hits ÷ cases, and its standard error; NAN: no case */
	uint32_t instructions, functions; /* that have a case */
} LodePooledShare;

typedef struct {
	LodePooledShare shares[LODE_N_POOLED];
	double steps;                     /* of the set */
	uint32_t instructions, functions; /* of the set, that have a step */
} LodePooledWindows;

/* `instructions` ascend. Without windows no share has a case. */
LodePooledWindows lode_pooled_windows(
	const LodeProfile *profile, const uint32_t *instructions, size_t n);
