/* SPDX-License-Identifier: MIT */
/*
 * What an instruction accesses, worked out from its bytes and all registers just before it runs,
 * by arithmetic of our own: what the library claims is compared with this. And a proof, where one
 * is cheap, from what the instruction then did:
 *
 *   registers before ─▶ operands ─▶ memory before │ it runs │ memory and registers after
 *                                         └──── a load's register holds it, a store's value is
 * there, or memory at the address has changed
 *
 * Accesses are those of explicit memory operands and of string instructions. Pushes, pops, calls
 * and returns access the stack without an operand that says so; prefetches and nops access nothing
 * that a program could see.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum { TRUE_MAX_OPERANDS = 2, TRUE_MAX_CODE = 15, TRUE_MAX_PROOF = 64 };

typedef struct {
	uint64_t address;
	uint32_t size;  /* bytes */
	uint8_t access; /* LODE_ACCESS_… */
} TrueOperand;

typedef enum {
	TRUE_PROOF_NONE,
	TRUE_PROOF_LOADED,  /* the register holds what lay there */
	TRUE_PROOF_STORED,  /* the value lies there */
	TRUE_PROOF_CHANGED, /* a store: something else lies there; the same proves nothing */
} TrueProof;

typedef struct {
	uint64_t pc; /* run-time */
	TrueOperand operands[TRUE_MAX_OPERANDS];
	uint8_t n_operands;    /* 0: accesses nothing, or nobody knows where */
	bool has_vector_index; /* gather, scatter: it does access, but not at one address */
	bool is_system_call;
	bool is_direct_jump, is_conditional_jump;
	bool fuses_with_jump;   /* a compare or test of memory with a register */
	TrueProof proof;        /* of operands[0] */
	bool is_signed;         /* a load extends its sign */
	uint8_t register_index; /* loaded; in the order of encoding */
	uint8_t register_size;  /* bytes */
	uint64_t value;         /* stored */
} TrueAccess;

/* False where the bytes are no instruction. */
bool true_access_read(TrueAccess *out, const uint8_t *code, size_t size,
	const struct user_regs_struct *registers);

typedef enum { TRUE_UNPROVEN, TRUE_PROVEN, TRUE_REFUTED } TrueVerdict;

/* `before` and `after` are what lay at operands[0], at least TRUE_MAX_PROOF bytes of it or all. */
TrueVerdict true_access_verify(const TrueAccess *self, const uint8_t *before, const uint8_t *after,
	const struct user_regs_struct *registers_after);

/* The registers in the order of their encoding, rflags last. */
void true_registers(const struct user_regs_struct *registers, uint64_t out_values[17]);
