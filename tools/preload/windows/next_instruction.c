/* SPDX-License-Identifier: MIT */
#include "next_instruction.h"

#include <stdbool.h>

enum { MAX_BYTES = 15, PADDED = 24 };

static bool is_memory(uint8_t modrm)
{
	return modrm >> 6 != 3;
}

static unsigned extension(uint8_t modrm)
{
	return modrm >> 3 & 7;
}

/* After 0f; `code` begins with the second byte. */
static NextInstruction two_bytes(const uint8_t *code, bool has_prefix)
{
	switch (code[0]) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return NEXT_SYSTEM_CALL;
	case 0xb2: /* lss */
		return NEXT_UNSAFE;
	case 0xae:
		/* fxsave, fxrstor, ldmxcsr, stmxcsr, xsave, xrstor, xsaveopt; umonitor, umwait,
		 * tpause
		 */
		if (is_memory(code[1]))
			return extension(code[1]) <= 6 ? NEXT_STATUS : NEXT_PLAIN;
		if (has_prefix &&
			extension(code[1]) == 2) /* wrfsbase: it would be another thread */
			return NEXT_UNSAFE;
		return extension(code[1]) == 6 && has_prefix ? NEXT_ATOMIC : NEXT_PLAIN;
	case 0xc7: /* xrstors, xsavec, xsaves */
		return is_memory(code[1]) && extension(code[1]) >= 3 && extension(code[1]) <= 5
		               ? NEXT_STATUS
		               : NEXT_PLAIN;
	default: /* jcc */
		return (code[0] & 0xf0) == 0x80 ? NEXT_BRANCH : NEXT_PLAIN;
	}
}

/* vldmxcsr, vstmxcsr */
static NextInstruction vector_status(uint8_t modrm)
{
	return is_memory(modrm) && (extension(modrm) == 2 || extension(modrm) == 3) ? NEXT_STATUS
	                                                                            : NEXT_PLAIN;
}

/* x87: fldenv, fnstenv; fninit, fnclex; frstor, fnsave, fnstsw, also to ax. */
static NextInstruction x87_status(uint8_t opcode, uint8_t modrm)
{
	const unsigned number = extension(modrm);
	bool is_status = false;

	switch (opcode) {
	case 0xd9:
		is_status = is_memory(modrm) && (number == 4 || number == 6);
		break;
	case 0xdb:
		is_status = modrm == 0xe2 || modrm == 0xe3;
		break;
	case 0xdd:
		is_status = is_memory(modrm) && (number == 4 || number == 6 || number == 7);
		break;
	case 0xdf:
		is_status = modrm == 0xe0;
		break;
	default:
		break;
	}
	return is_status ? NEXT_STATUS : NEXT_PLAIN;
}

static NextInstruction one_byte(const uint8_t *code, bool has_prefix)
{
	switch (code[0]) {
	case 0x0f:
		return two_bytes(code + 1, has_prefix);
	case 0xc5:
		return code[2] == 0xae ? vector_status(code[3]) : NEXT_PLAIN;
	case 0xc4:
		return (code[1] & 0x1f) == 1 && code[3] == 0xae ? vector_status(code[4])
		                                                : NEXT_PLAIN;
	case 0x8e: /* mov to a segment register: ss holds the trap back */
	case 0x9c: /* pushf */
	case 0x9d: /* popf */
	case 0xca: /* far returns */
	case 0xcb:
	case 0xcc: /* int3 */
	case 0xcd: /* int */
	case 0xcf: /* iret */
	case 0xf1: /* int1 */
		return NEXT_UNSAFE;
	case 0xc7: /* xbegin */
		return code[1] == 0xf8 ? NEXT_UNSAFE : NEXT_PLAIN;
	case 0xff: /* calls and jumps, 3 and 5: far ones */
		if (extension(code[1]) == 3 || extension(code[1]) == 5)
			return NEXT_UNSAFE;
		return extension(code[1]) == 2 || extension(code[1]) == 4 ? NEXT_BRANCH
		                                                          : NEXT_PLAIN;
	case 0xc2: /* ret */
	case 0xc3:
	case 0xe0: /* loopne, loope, loop, jrcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe8: /* call */
	case 0xe9: /* jmp */
	case 0xeb:
		return NEXT_BRANCH;
	case 0xd9:
	case 0xdb:
	case 0xdd:
	case 0xdf:
		return x87_status(code[0], code[1]);
	case 0x86: /* xchg */
	case 0x87:
		return is_memory(code[1]) ? NEXT_ATOMIC : NEXT_PLAIN;
	default: /* jcc */
		return (code[0] & 0xf0) == 0x70 ? NEXT_BRANCH : NEXT_PLAIN;
	}
}

static bool is_string(uint8_t opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf);
}

NextInstruction next_instruction(const uint8_t *code, size_t n)
{
	uint8_t padded[PADDED];
	bool is_locked = false, has_prefix = false;
	uint8_t repeat = 0; /* the last of f2 and f3 */
	size_t at = 0;

	if (n < MAX_BYTES) {
		for (size_t i = 0; i < PADDED; i++)
			padded[i] = i < n ? code[i] : 0;
		code = padded;
	}
	for (;; at++) {
		/* More prefixes than compilers write; an instruction is examined up to here. */
		if (at == MAX_BYTES - 4)
			return NEXT_UNSAFE;
		uint8_t byte = code[at];
		if (byte == 0xf0)
			is_locked = true;
		else if (byte == 0xf2 || byte == 0xf3)
			repeat = byte;
		else if (byte == 0x66)
			has_prefix = true;
		else if (byte != 0x67 && (byte & 0xe7) != 0x26 && (byte & 0xfe) != 0x64 &&
			 (byte & 0xf0) != 0x40)
			break;
	}
	if (is_locked)
		return NEXT_ATOMIC;
	if (repeat != 0 && is_string(code[at]))
		return NEXT_REPEAT;
	if (repeat == 0xf3 && code[at] == 0x90) /* pause */
		return NEXT_ATOMIC;
	return one_byte(code + at, has_prefix || repeat != 0);
}
