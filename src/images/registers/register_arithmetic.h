/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: what x86's integer instructions compute, as pure functions of numbers, by
 * Intel's manual, volume 2. Flags that the manual calls undefined are not known.
 */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

/* Values are zero-extended from their width. */
typedef struct {
	unsigned width;   /* bits of the result: 8 16 32 64 */
	unsigned width_a; /* of the first source, where it differs */
	uint64_t a, b;
	bool carry;
} LodeArithmeticInputs;

typedef struct {
	uint64_t value;              /* may have bits beyond the width */
	uint64_t flags, known_flags; /* of those that the instruction changes */
	bool keeps_flags;            /* none is changed: a shift by zero */
} LodeArithmeticResult;

/* False: undefined for these inputs. */
typedef bool (*LodeArithmetic)(const LodeArithmeticInputs *in, LodeArithmeticResult *out);

/* Where the inputs stand among the operands. */
typedef enum {
	LODE_FORM_NONE,        /* not here */
	LODE_FORM_UPDATE,      /* a is operand 0 */
	LODE_FORM_UPDATE_WITH, /* a is operand 0, b operand 1 */
	LODE_FORM_FROM,        /* a is operand 1 */
	LODE_FORM_FROM_TWO,    /* a is operand 1, b operand 2 */
} LodeArithmeticForm;

typedef struct {
	LodeArithmetic compute;
	LodeArithmeticForm form;
	bool takes_carry;
} LodeArithmeticOperation;

/* The result goes to operand 0 where that is written. NULL: not in the table. */
const LodeArithmeticOperation *lode_arithmetic_operation(ZydisMnemonic mnemonic);
