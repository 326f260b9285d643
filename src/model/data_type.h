/* SPDX-License-Identifier: MIT */
/* Types of data as debug information describes them, and their members. */
#pragma once

#include <stdint.h>

typedef struct LodeDataType {
	char *name;    /* as in C: "struct node", "int", "std::vector<int>" */
	uint64_t size; /* bytes; 0: unknown */
	uint32_t first_member, n_members;
} LodeDataType;

/* Innermost members, of nested structures by their path ("position.x"), by offset. */
typedef struct LodeDataMember {
	char *name;
	char *type;            /* "struct node *", "int [4]" */
	uint64_t offset, size; /* bytes in the type; in an array of structures, of the first */
	uint32_t bit_offset,
		bit_size; /* of a bit field, from `offset`'s lowest bit; size 0: none */
	uint64_t stride;  /* in an array of structures, bytes from one to the next; 0: in none */
	uint64_t repeats; /* how many there are of it then; 0: unknown */
} LodeDataMember;

/* How values are meant: as a scalar's type says, and as an instruction uses what it accesses. */
typedef enum LodeNumberKind {
	LODE_NUMBER_UNKNOWN,
	LODE_NUMBER_INTEGER, /* signed or not: pointers, enumerations; moves of general registers */
	LODE_NUMBER_SIGNED,
	LODE_NUMBER_UNSIGNED,
	LODE_NUMBER_FLOAT,
} LodeNumberKind;

typedef struct LodeAccessShape {
	uint32_t size; /* bytes; 0: unknown */
	LodeNumberKind kind;
	uint8_t first_bit, n_bits; /* that are used of up to 8 bytes; n_bits 0: unknown */
} LodeAccessShape;
