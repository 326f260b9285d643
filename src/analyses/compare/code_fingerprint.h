/* SPDX-License-Identifier: MIT */
/*
 * The fingerprint of a function's code, by which it is found when its name has changed: the
 * instructions' mnemonics in the order of the code, without operands, which change with every
 * address and register.
 *
 * Two functions are as alike as the share of runs of three mnemonics that they have in common, of
 * all that one of them has, each as often as it occurs (weighted Jaccard similarity; n-grams of
 * opcodes: A. Walenstein, A. Lakhotia, "The Software Similarity Problem in Malware Analysis",
 * 2007). Private to analyses/compare/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct LodeFunction LodeFunction;

typedef struct {
	uint32_t n;
	uint32_t *opcodes;   /* of each instruction, those that never executed too */
	uint64_t *addresses; /* in the image */
	uint64_t *grams;     /* [n − 2]: of three opcodes each, ascending */
} LodeCodeFingerprint;

/* Makes the fingerprint of a function's bytes; it has no instructions where they are unknown. The
 * caller clears it. */
void lode_code_fingerprint_init(LodeCodeFingerprint *self, const LodeFunction *function);
void lode_code_fingerprint_clear(LodeCodeFingerprint *self);

/* 0 … 1; 0 where one of them has fewer than three instructions. */
double lode_code_fingerprint_likeness(const LodeCodeFingerprint *a, const LodeCodeFingerprint *b);

/* Whether both have the same mnemonics in the same order, and any. */
bool lode_code_fingerprint_equals(const LodeCodeFingerprint *a, const LodeCodeFingerprint *b);
