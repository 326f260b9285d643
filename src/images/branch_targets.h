/* SPDX-License-Identifier: MIT */
/*
 * All that code jumps to, calls, or takes the address of, of a whole image: what the control flow
 * of one function does not show, where another one jumps into its middle (parts that the compiler
 * has moved out, labels shared by hand-written functions, functions without symbols).
 *
 * From linear decoding, which data in code may lead astray for some instructions: a target too many
 * is harmless, few are missed. Targets of indirect jumps are not known; the jumps themselves are.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t target, source; /* addresses in the image; of the target, and what names it */
} LodeBranchTarget;

typedef struct {
	GArray *targets;        /* LodeBranchTarget, by (target, source) */
	GArray *indirect_jumps; /* uint64_t, ascending */
} LodeBranchTargets;

void lode_branch_targets_init(LodeBranchTargets *self);
void lode_branch_targets_clear(LodeBranchTargets *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeBranchTargets, lode_branch_targets_clear)

/* Adds what [address, address + size) names: of each executable section once. About ten million
 * instructions a second. */
void lode_branch_targets_add(
	LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address);

/* The targets not above an address are those before this index. */
guint lode_branch_targets_above(const LodeBranchTargets *self, uint64_t address);

/* Whether there is an indirect jump in [begin, end). */
bool lode_branch_targets_has_indirect_jump(
	const LodeBranchTargets *self, uint64_t begin, uint64_t end);
