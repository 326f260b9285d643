/* SPDX-License-Identifier: MIT */
/*
 * All that code jumps to, calls, or takes the address of, of a whole image: what the control flow
 * of one function does not show, where another one jumps into its middle (parts that the compiler
 * has moved out, labels shared by hand-written functions, functions without symbols).
 *
 * From linear decoding, which data in code may lead astray for some instructions. Where an indirect
 * jump goes is guessed from the data of an ELF file: words and relocations that point into code,
 * and tables of distances. A target too many only makes answers fewer, so the guess is generous; it
 * does not prove that there are no others.
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
	GArray *indirect_jumps; /* uint64_t, ascending; those through a GOT entry are not: they
	                           leave the function */
	GArray *memory_jumps;   /* uint64_t, ascending; of these, jmp [register + displacement]: not
	                           through a table, so that they end a function */
	GArray *named;          /* LodeBranchTarget, by target: what lea takes the address of */
	bool has_tables;        /* jump tables were looked for */
} LodeBranchTargets;

void lode_branch_targets_init(LodeBranchTargets *self);
void lode_branch_targets_clear(LodeBranchTargets *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeBranchTargets, lode_branch_targets_clear)

/*
 * Reads all of an ELF file: code, relocations, tables. Called once for an image: it takes a second
 * for some ten million instructions. A file of a different machine has none. Errors: those of
 * opening it.
 */
bool lode_branch_targets_read(LodeBranchTargets *self, const char *path, GError **error);

/* Adds what the code in [address, address + size) names: for code that is in no file. When all is
 * added, it has to be sorted. */
void lode_branch_targets_add(
	LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address);

void lode_branch_targets_sort(LodeBranchTargets *self);

/* The targets not above an address are those before this index. */
guint lode_branch_targets_above(const LodeBranchTargets *self, uint64_t address);

/* Whether there is an indirect jump in [begin, end). */
bool lode_branch_targets_has_indirect_jump(
	const LodeBranchTargets *self, uint64_t begin, uint64_t end);
