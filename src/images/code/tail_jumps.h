/* SPDX-License-Identifier: MIT */
/*
 * Calls at the end of a function that are compiled to jumps. The function that jumped is not on the
 * stack; the call before the return address on the stack names it.
 *
 *   main:  call take          take:  mov esi, edi          stack in malloc:  main
 *          …                         jmp malloc@plt
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target of the call before `return_address`, whose code is given; 0: not a direct call. */
enum { LODE_DIRECT_CALL_SIZE = 5 };
uint64_t lode_called_address(const uint8_t code[LODE_DIRECT_CALL_SIZE], uint64_t return_address);

typedef struct {
	uint64_t address; /* of the jump */
	uint64_t target;  /* 0: it is read from memory (`jmp [rip + n]`) */
} LodeTailJump;

/* Finds the unconditional jumps out of a function, at most `max`; gives their number. */
size_t lode_tail_jumps_find(
	const uint8_t *code, size_t size, uint64_t address, LodeTailJump *out_jumps, size_t max);
