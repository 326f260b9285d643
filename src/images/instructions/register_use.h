/* SPDX-License-Identifier: MIT */
/*
 * The registers that an instruction reads and writes, to find where a value comes from.
 *
 * A register is a bit of a mask: a general or vector register with all its parts, the flags, the
 * whole x87 stack (which MMX shares), or a mask register. A write that leaves a part of its
 * register as it was (of al or ax, of the low element of an xmm register, one under a condition)
 * reads that register too. An instruction whose result does not depend on its operands (xor eax,
 * eax; pcmpeqd xmm0, xmm0) reads nothing. Push, pop, leave, call and ret neither read nor write rsp
 * here, but change it.
 */
#pragma once

#include "base/bits.h"
#include "images/cores/instruction_class.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t LodeRegisterMask;

/* General registers have the bits 0 … 15, as they are encoded. */
enum {
	LODE_BIT_FLAGS = 16,
	LODE_BIT_X87 = 17,
	LODE_BIT_VECTOR = 18, /* … 49: xmm0 to xmm31 with their ymm and zmm */
	LODE_BIT_OPMASK = 50, /* … 57: k0 to k7 */
	LODE_N_REGISTER_BITS = 58,
	LODE_NO_BIT = UINT8_MAX,
};

static inline LodeRegisterMask lode_register_bit(unsigned number)
{
	return LODE_BIT(number);
}

/* The explicit operand in memory that an instruction loads or stores. */
typedef struct {
	int64_t displacement; /* the whole address where there is neither base nor index; of lea,
	                         which has no operand in memory, that of its sum */
	LodeRegisterMask registers; /* base and index */
	uint32_t size;              /* bytes; 0: no such operand, or its address is not so simple */
	uint16_t form;              /* equal for the same base, index, scale, segment and width */
	uint8_t base, index;        /* their bits; LODE_NO_BIT: none */
	uint8_t scale;              /* of the index */
	bool is_load, is_store;
	bool is_relative; /* given as the distance from the next instruction */
} LodeMemoryUse;

typedef struct {
	LodeRegisterMask reads;   /* all, those of `address` too */
	LodeRegisterMask address; /* what the addresses of its accesses are made of */
	LodeRegisterMask merges;  /* of `reads`: only because a part of the register stays */
	LodeRegisterMask writes;
	LodeRegisterMask kills;   /* those of which nothing older can be read afterwards; after a
	                             call all that a callee need not preserve (System V) */
	LodeRegisterMask results; /* of `writes`: the computed ones; not the pointers and the
	                             counter that a string instruction advances */
	LodeRegisterMask changes; /* whatever may be different afterwards */
	LodeMemoryUse memory;
	LodeInstructionWork work;
	bool is_linear; /* its results are sums of what it reads, times constants: mov, lea, add …
	                 */
} LodeRegisterUse;

/* Decodes the instruction at `address` of an image. False: not an instruction, or cut short. */
bool lode_register_use_decode(
	LodeRegisterUse *self, const uint8_t *code, size_t size, uint64_t address);

/*
 * Caches decoded instructions: most instructions of a program have the same bytes as an earlier
 * one. For one thread.
 */
typedef struct LodeRegisterUseCache LodeRegisterUseCache;
LodeRegisterUseCache *lode_register_use_cache_new(void);
void lode_register_use_cache_free(LodeRegisterUseCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRegisterUseCache, lode_register_use_cache_free)

/* As lode_register_use_decode() of an instruction that is known to have `length` bytes. */
bool lode_register_use_cache_decode(LodeRegisterUseCache *self, LodeRegisterUse *out,
	const uint8_t *code, size_t length, uint64_t address);
