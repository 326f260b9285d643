/* SPDX-License-Identifier: MIT */
/*
 * The fields of ChampSim's records beside addresses: whether an instruction branches, and its
 * registers, from which ChampSim derives the kind of a branch:
 *
 *   kind             writes     reads
 *   direct jump      ip         –
 *   indirect jump    ip         others
 *   conditional      ip         ip, and flags or others
 *   direct call      ip, sp     ip, sp
 *   indirect call    ip, sp     ip, sp, others
 *   return           ip, sp     sp
 *
 * Source: inc/instruction.h and inc/trace_instruction.h of ChampSim. Its numbers are Pin's: 3 … 18
 * general registers (6: the stack pointer), 25 flags, 26 the instruction pointer.
 */
#pragma once

#include "process/places.h"
#include "sources/references/reference_file.h"

enum {
	LODE_CHAMPSIM_STACK_POINTER = 6,
	LODE_CHAMPSIM_FLAGS = 25,
	LODE_CHAMPSIM_INSTRUCTION_POINTER = 26,
	LODE_CHAMPSIM_VALUE = 63, /* no register: that an indirect branch reads memory alone */
	LODE_CHAMPSIM_VECTORS = 64,
	LODE_CHAMPSIM_OTHERS = 128, /* x87, mask registers */
};

/* By the code at a run-time address. False: not an instruction. */
bool lode_champsim_instruction_decode(
	LodeReferenceInstruction *out, const uint8_t *code, size_t size, uint64_t address);

/* The instructions of a trace's code, by its mappings. */
typedef struct LodeChampsimInstructions LodeChampsimInstructions;

/* Borrows the description; references are numbered from `first_reference`. */
LodeChampsimInstructions *lode_champsim_instructions_new(
	const LodeTraceDescription *description, uint64_t first_reference);
void lode_champsim_instructions_free(LodeChampsimInstructions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeChampsimInstructions, lode_champsim_instructions_free)

/* A LodeReferenceInstructionFunc, with this as its user data. */
bool lode_champsim_instructions_find(
	uint64_t address, uint64_t n_before, LodeReferenceInstruction *out, void *user_data);
