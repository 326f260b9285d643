/* SPDX-License-Identifier: MIT */
/*
 * Branch predictors: a processor's prediction of each branch before its outcome is known. Returns
 * are not predicted: a return stack is assumed to be right. Plain C without any library, as the
 * plugin that counts in QEMU is nothing else.
 *
 * LODE_BRANCHES_CALLGRIND is that of cachegrind and callgrind. A conditional branch: one of 16,384
 * counters of 0 … 3, by the last 7 outcomes (× 128) and the low 7 bits of its address; 2 and 3 say
 * taken. An indirect branch: the last target of the 512 entries' one that the low 9 bits of its
 * address choose.
 *
 * LODE_BRANCHES_TAGE is that of processors of today: TAGE for conditional branches (A. Seznec,
 * P. Michaud, "A case for (partially) TAgged GEometric history length branch prediction", Journal
 * of Instruction-Level Parallelism 8, 2006) and ITTAGE for indirect ones (A. Seznec, "A 64-Kbytes
 * ITTAGE indirect branch predictor", 2011), 16 and 11 KiB where targets take 32 bits:
 *
 *   history    the last 128 bits: an outcome each, and of an indirect branch two bits of its target
 *   base       8,192 counters of 0 … 3, from 1; of indirect branches 512 last targets
 *   tables     6 of 1,024 entries by the address and the last 4, 8, 16, 32, 64, 128 bits;
 *              of indirect branches 4 of 256 by the last 4, 12, 32, 80
 *   entry      a tag of 11 bits; a counter −4 … 3, of 0 on: taken; a usefulness 0 … 3
 *              a tag of 11 bits; a target; its confidence 0 … 3; a usefulness 0 or 1
 *
 * The provider is the entry that matches with the longest history, the alternative the next one or
 * the base. What predicts is the provider, or the alternative: of conditional branches where the
 * provider is new (usefulness 0, counter −1 or 0) and a counter of −8 … 7, that goes up where of
 * such two the alternative alone is right and down where it alone is wrong, is not negative; of
 * indirect ones where the confidence is 0. A wrong prediction takes an entry of usefulness 0 in a
 * longer table, the first, or by chance of 1 in 4 (1, 3, 5 … in xorshift's 64 bits) the next such
 * one; where there is none, each longer one's usefulness goes down. Every 262,144 conditional
 * branches all usefulness is halved. Instead of folding the history, hardware's way, index and tag
 * are the bits 54 … and 40 … of a product, see branch_predictor.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_BRANCHES_CALLGRIND,
	LODE_BRANCHES_TAGE,
	LODE_N_BRANCH_MODELS,
} LodeBranchModel;

enum {
	LODE_CALLGRIND_HISTORY_BITS = 7,
	LODE_CALLGRIND_ADDRESS_BITS = 7,
	LODE_CALLGRIND_COUNTERS = 1 << (LODE_CALLGRIND_HISTORY_BITS + LODE_CALLGRIND_ADDRESS_BITS),
	LODE_CALLGRIND_TARGETS = 512,
};

/* The first model by itself, for those that call it often. All zero in the beginning. */
typedef struct {
	uint64_t history;
	uint8_t counters[LODE_CALLGRIND_COUNTERS];
	uint64_t last_targets[LODE_CALLGRIND_TARGETS];
} LodeCallgrindPredictor;

typedef struct LodeBranchPredictor LodeBranchPredictor;

/* NULL: out of memory. */
LodeBranchPredictor *lode_branch_predictor_new(LodeBranchModel model);
void lode_branch_predictor_free(LodeBranchPredictor *self);

/* Whether the prediction was wrong; it learns from the outcome. */
bool lode_branch_predictor_conditional(LodeBranchPredictor *self, uint64_t address, bool is_taken);
bool lode_branch_predictor_indirect(LodeBranchPredictor *self, uint64_t address, uint64_t target);

/* State of the callgrind model; NULL with another model. */
LodeCallgrindPredictor *lode_branch_predictor_callgrind(LodeBranchPredictor *self);

static inline bool lode_callgrind_predictor_conditional(
	LodeCallgrindPredictor *self, uint64_t address, bool is_taken)
{
	uint64_t history = self->history & ((1u << LODE_CALLGRIND_HISTORY_BITS) - 1);
	uint64_t place = history << LODE_CALLGRIND_ADDRESS_BITS |
	                 (address & ((1u << LODE_CALLGRIND_ADDRESS_BITS) - 1));
	unsigned counter = self->counters[place];

	self->history = self->history << 1 | is_taken;
	self->counters[place] = (uint8_t)(is_taken ? counter + (counter < 3)
						   : counter - (counter > 0));
	return (counter >= 2) != is_taken;
}

static inline bool lode_callgrind_predictor_indirect(
	LodeCallgrindPredictor *self, uint64_t address, uint64_t target)
{
	uint64_t *last = &self->last_targets[address % LODE_CALLGRIND_TARGETS];
	bool is_wrong = *last != target;

	*last = target;
	return is_wrong;
}

/* "callgrind", "tage"; −1: neither. */
int lode_branch_model_from_text(const char *text);
const char *lode_branch_model_to_text(LodeBranchModel model);
