/* SPDX-License-Identifier: MIT */
/*
 * x86-64 instructions: length, control flow, and the attributes op, kind and mem. A decoder is a
 * value on the caller's stack, which may borrow a cache. Decoding by Zydis.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
	LODE_BRANCH_NONE,
	LODE_BRANCH_CONDITIONAL,
	LODE_BRANCH_JUMP,
	LODE_BRANCH_INDIRECT_JUMP,
	LODE_BRANCH_CALL,
	LODE_BRANCH_INDIRECT_CALL,
	LODE_BRANCH_RETURN,
	LODE_BRANCH_STOP, /* hlt, ud2: nothing follows */
} LodeBranch;

/* Bits of LodeDecodedInstruction.kinds; names by lode_instruction_kind_name(). */
typedef enum {
	LODE_KIND_LOAD,
	LODE_KIND_STORE,
	LODE_KIND_BRANCH,
	LODE_KIND_JUMP,
	LODE_KIND_CALL,
	LODE_KIND_RET,
	LODE_KIND_INDIRECT,
	LODE_KIND_FP,
	LODE_KIND_SIMD,
	LODE_KIND_MUL,
	LODE_KIND_DIV,
	LODE_KIND_ATOMIC,
	LODE_KIND_FENCE,
	LODE_KIND_STRING,
	LODE_KIND_CONVERT,
	LODE_KIND_SYSCALL,
	LODE_KIND_NOP,
	LODE_N_KINDS,
} LodeInstructionKind;

/* Bits of LodeDecodedInstruction.memory. */
typedef enum {
	LODE_MEMORY_STACK,
	LODE_MEMORY_GLOBAL,
	LODE_MEMORY_TLS,
	LODE_MEMORY_POINTER,
	LODE_MEMORY_INDEXED,
	LODE_N_MEMORY_KINDS,
} LodeMemoryKind;

typedef struct {
	uint8_t length; /* bytes, 1 … 15 */
	LodeBranch branch;
	bool is_repeat;    /* rep/repe/repne string instruction: iterates on itself */
	uint16_t mnemonic; /* id; lode_instruction_mnemonic() gives the text */
	uint8_t prefix;    /* with rep or lock: part of the mnemonic's text */
	uint32_t kinds;    /* 1 << LodeInstructionKind */
	uint8_t memory;    /* 1 << LodeMemoryKind */
	bool has_target;   /* direct branch */
	uint64_t target;   /* its virtual address */
} LodeDecodedInstruction;

/* Caches decoded instructions; for one thread. */
typedef struct LodeDecodeCache LodeDecodeCache;
LodeDecodeCache *lode_decode_cache_new(void);
void lode_decode_cache_free(LodeDecodeCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDecodeCache, lode_decode_cache_free)

typedef struct {
	uint64_t storage[64];   /* ZydisDecoder and state */
	bool rbp_is_frame;      /* how far a function keeps it so: set by …_begin() */
	LodeDecodeCache *cache; /* borrowed; NULL until it is set */
} LodeInstructionDecoder;

void lode_instruction_decoder_init(LodeInstructionDecoder *self);

/* Starts a function: looks at its first bytes for `push rbp; mov rbp, rsp` (within the first few
 * instructions, also after endbr64), which makes rbp-based operands mem:stack. */
void lode_instruction_decoder_begin(
	LodeInstructionDecoder *self, const uint8_t *code, size_t size, uint64_t address);

/* Decodes one instruction at `address`; false when the bytes are not one, or cut short. */
bool lode_instruction_decoder_decode(LodeInstructionDecoder *self, const uint8_t *code, size_t size,
	uint64_t address, LodeDecodedInstruction *out_instruction);

/* The constant that an instruction has as its last operand: 1 of `shr eax, 1`, 750 of `mov ecx,
 * 750`; jumps and calls have none. False: it has none, or does not decode. */
bool lode_instruction_constant(const LodeInstructionDecoder *self, const uint8_t *code, size_t size,
	int64_t *out_constant);

/* Lower-case mnemonic, "rep_movsb", "lock_xadd": writes to `buffer` of at least 32 bytes. */
const char *lode_instruction_mnemonic(
	const LodeDecodedInstruction *instruction, char *buffer, size_t size);
/* For movs, stos and lods with a repeat prefix, which do as many rounds as rcx says: the bytes of
 * an element. 0: it is no such instruction. */
unsigned lode_instruction_string_width(const LodeDecodedInstruction *instruction);

const char *lode_instruction_kind_name(LodeInstructionKind kind); /* "load" */
const char *lode_memory_kind_name(LodeMemoryKind kind);           /* "stack" */

/* The whole instruction as text in AT&T-free Intel syntax, with targets as absolute hex. False when
 * not decodable. */
bool lode_instruction_disassemble(const LodeInstructionDecoder *self, const uint8_t *code,
	size_t size, uint64_t address, char *buffer, size_t buffer_size);
