/* SPDX-License-Identifier: MIT */
/* An operand in memory, and where it lay. */
#pragma once

#include <stdint.h>

typedef struct {
	uint64_t address; /* run-time */
	uint32_t size;    /* bytes; of a string instruction those of one element */
	uint8_t access;   /* LODE_ACCESS_… */
	uint8_t operand;  /* Zydis's number of the memory operand in the instruction */
} LodeDataOperand;

enum { LODE_MAX_DATA_OPERANDS = 2 };
