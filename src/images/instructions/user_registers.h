/* SPDX-License-Identifier: MIT */
/* General registers and flags of a thread, as a sample has them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In the order of their encoding; rflags last. */
enum {
	LODE_REGISTER_RSP = 4,
	LODE_REGISTER_RBP = 5,
	LODE_N_GENERAL_REGISTERS = 16,
	LODE_REGISTER_FLAGS = LODE_N_GENERAL_REGISTERS,
	LODE_N_REGISTERS,
};

typedef struct {
	uint64_t values[LODE_N_REGISTERS]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 … r15 rflags */
	uint32_t known;                    /* 1 << register */
	uint64_t fs_base, gs_base;
	bool has_fs_base, has_gs_base;
} LodeUserRegisters;

/* Registers as perf_event_open(2) gives them (asm/perf_regs.h): the values of the bits of `mask`,
 * ascending. False where `abi` is not that of 64-bit programs; then none are known. */
bool lode_user_registers_from_perf(
	LodeUserRegisters *out_registers, uint64_t mask, uint64_t abi, const uint64_t *values);
