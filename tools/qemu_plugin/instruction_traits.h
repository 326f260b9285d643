/* SPDX-License-Identifier: MIT */
/* Properties of an x86-64 instruction that distinguish its accesses, from its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory access of an instruction at each complete execution. */
typedef enum {
	MEMORY_OTHER, /* nothing, several references, or it depends */
	/* One reference of at most 8 bytes, of which QEMU reports all in one piece. */
	MEMORY_LOAD,
	MEMORY_STORE,
	MEMORY_MODIFY, /* …and then stores there: QEMU reports both */
} MemoryUse;

typedef struct {
	bool can_follow_itself; /* a branch, a repeated string instruction, a system call */
	bool is_locked;         /* atomic: may synchronise threads */
	bool is_wide;           /* QEMU reports what it accesses in pieces of 8 bytes */
	bool is_call, is_return;
	bool is_conditional;         /* a branch: to `displacement` after its end, or not */
	bool is_indirect;            /* a near jump or call to where memory or a register says */
	bool is_repeated;            /* a string instruction, which goes on to itself */
	bool compares_and_exchanges; /* cmpxchg and its like */
	bool is_division;            /* of integers, which fails after it has read memory */
	int32_t displacement;
	MemoryUse memory;
	bool is_vex_arithmetic; /* in floating point, with a VEX prefix; or vzeroupper */
	bool may_access;        /* memory, by a guess: most that do and few others */
	bool is_quiet;          /* neither accesses memory nor can fail; few others do neither */
} InstructionTraits;

/* The traits of an instruction of `n` bytes. */
InstructionTraits instruction_traits(const uint8_t *bytes, size_t n);
