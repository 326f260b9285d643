/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: where the variables and parameters of one function are, and those of the
 * functions inlined into it; and what its calls return.
 */
#pragma once

#include "images/dwarf/type_table.h"
#include "images/instructions/user_registers.h"

/* Numbers as instructions encode them: rax rcx rdx rbx rsp rbp rsi rdi r8 … r15. */
typedef enum {
	LODE_PLACE_IN_REGISTER, /* register = value + offset */
	LODE_PLACE_AT_REGISTER, /* begins at register + offset */
	LODE_PLACE_AT_FRAME,    /* begins at the canonical frame address + offset */
	LODE_PLACE_AT_ADDRESS,  /* begins at `offset` in the image */
} LodePlaceKind;

typedef struct LodeVariablePlace {
	uint64_t low, high; /* instructions that find it there */
	int64_t offset;
	const char *name; /* borrowed from the debug information; NULL: none */
	uint32_t type;
	uint32_t piece; /* in a register: bytes of the variable before those that are there */
	uint8_t kind;   /* LodePlaceKind */
	uint8_t depth;  /* of the scope that declares it: an inner one has more */
	uint8_t register_number;
	bool is_reference; /* there is a pointer to the variable */
	bool is_owner;     /* the memory that the pointer, or its value, leads to is the variable's
	                      own: of variable length, or allocated by the language */
	bool is_home;      /* always there; else it may be another object with the same value */
} LodeVariablePlace;

typedef struct {
	uint64_t return_address;
	uint32_t type; /* what the function that is called returns */
} LodeCallType;

typedef struct LodeFunctionVariables {
	GArray *in_registers[LODE_N_GENERAL_REGISTERS]; /* LodeVariablePlace by low */
	GArray *in_memory;                              /* LodeVariablePlace by low */
	GArray *calls;                                  /* LodeCallType by address */
	uint32_t n_places;
} LodeFunctionVariables;

LodeFunctionVariables *lode_function_variables_new(LodeTypeTable *types, Dwarf_Die *function);
void lode_function_variables_free(LodeFunctionVariables *self);

/* The type that the call which returns to an address returns; LODE_NO_TYPE. */
uint32_t lode_function_variables_call_type(
	const LodeFunctionVariables *self, uint64_t return_address);

/* The number, as instructions encode it, of DWARF's register; −1: no general one. */
int lode_register_from_dwarf(uint64_t number);
