/* SPDX-License-Identifier: MIT */
/*
 * The class of an instruction by what it costs: how long its result takes, and which unit it keeps
 * busy. A class stands for all instructions that take the same on nearly every core; cores.ini has
 * the figures by family of processors.
 */
#pragma once

#include "model/observed/loops.h"

/* The operation of a step of a recurrence. */
typedef enum {
	LODE_STEP_OF_ALU,
	LODE_STEP_OF_CMOV,
	LODE_STEP_OF_MUL,
	LODE_STEP_OF_FP,
	LODE_STEP_OF_CONVERT,
	LODE_STEP_OF_LOAD,  /* a load whose address is made by the recurrence */
	LODE_STEP_OF_STORE, /* a value that is stored, and loaded again in the next iteration */
	LODE_STEP_OF_DIV,
	LODE_STEP_OF_MERGE, /* an instruction that keeps a part of its old destination */
	LODE_N_STEPS_OF,
} LodeStepOf;

/* "alu", "cmov" … */
const char *lode_step_of_name(LodeStepOf step);

typedef enum {
	LODE_CLASS_NONE,    /* no work: a load or a store alone */
	LODE_CLASS_UNKNOWN, /* its cost is not known */
	LODE_CLASS_NOP,
	LODE_CLASS_MOVE, /* between general registers; the core may rename instead */
	LODE_CLASS_ZERO, /* a result that depends on nothing */
	LODE_CLASS_ALU,
	LODE_CLASS_ALU_CARRY, /* reads the carry flag */
	LODE_CLASS_SHIFT,
	LODE_CLASS_SHIFT_COUNT, /* by cl */
	LODE_CLASS_SHIFT_DOUBLE,
	LODE_CLASS_LEA,
	LODE_CLASS_LEA_SCALED,  /* base + index × 2, 4, 8 */
	LODE_CLASS_LEA_THREE,   /* base + index + displacement */
	LODE_CLASS_CMOV,        /* by one flag */
	LODE_CLASS_CMOV_SIGNED, /* cmovl, cmovge, cmovle, cmovg */
	LODE_CLASS_CMOV_ABOVE,  /* cmova, cmovbe */
	LODE_CLASS_SETCC,
	LODE_CLASS_BIT_COUNT, /* popcnt, lzcnt */
	LODE_CLASS_TRAILING_ZEROS,
	LODE_CLASS_BIT_SCAN, /* bsf, bsr */
	LODE_CLASS_MUL,
	LODE_CLASS_MUL_WIDE, /* with two result registers */
	LODE_CLASS_DIV_32,
	LODE_CLASS_DIV_64,
	LODE_CLASS_BIT_FIELD, /* pext, pdep */
	LODE_CLASS_EXCHANGE,
	LODE_CLASS_BRANCH, /* conditional */
	LODE_CLASS_JUMP,
	LODE_CLASS_CALL,
	LODE_CLASS_RETURN,
	LODE_CLASS_LOAD,
	LODE_CLASS_LOAD_INDEXED,
	LODE_CLASS_LOAD_SCALED, /* index × 2, 4, 8 */
	LODE_CLASS_LOAD_VECTOR,
	LODE_CLASS_STORE,
	LODE_CLASS_STORE_VECTOR,
	LODE_CLASS_ATOMIC,
	LODE_CLASS_FP_ADD,
	LODE_CLASS_FP_MUL,
	LODE_CLASS_FP_FMA,
	LODE_CLASS_FP_COMPARE, /* min, max, cmp */
	LODE_CLASS_FP_FLAGS,   /* comi, ucomi */
	LODE_CLASS_FP_DIV_SINGLE,
	LODE_CLASS_FP_DIV_DOUBLE,
	LODE_CLASS_FP_SQRT_SINGLE,
	LODE_CLASS_FP_SQRT_DOUBLE,
	LODE_CLASS_FP_ROUND,
	LODE_CLASS_FP_RECIPROCAL,
	LODE_CLASS_FP_HORIZONTAL,
	LODE_CLASS_CONVERT,
	LODE_CLASS_CONVERT_WIDTH, /* between single and double */
	LODE_CLASS_CONVERT_FROM_INTEGER,
	LODE_CLASS_CONVERT_TO_INTEGER,
	LODE_CLASS_CONVERT_MERGE, /* of a conversion from an integer: from its old destination */
	LODE_CLASS_VECTOR_MOVE,
	LODE_CLASS_VECTOR_LOGIC,
	LODE_CLASS_VECTOR_ADD,
	LODE_CLASS_VECTOR_COMPARE, /* comparison, min, max, average, abs, sign */
	LODE_CLASS_VECTOR_MUL,
	LODE_CLASS_VECTOR_MUL_32,
	LODE_CLASS_VECTOR_SAD,
	LODE_CLASS_VECTOR_SHIFT,
	LODE_CLASS_SHUFFLE,
	LODE_CLASS_SHUFFLE_LANES, /* across 128 bits */
	LODE_CLASS_BLEND,
	LODE_CLASS_BLEND_VARIABLE,
	LODE_CLASS_INSERT, /* from a general register */
	LODE_CLASS_INSERT_ELEMENT,
	LODE_CLASS_EXTRACT, /* to a general register */
	LODE_CLASS_EXTRACT_ELEMENT,
	LODE_CLASS_AES,
	LODE_CLASS_X87,
	LODE_N_CLASSES,
} LodeInstructionClass;

/* The key in cores.ini, "fp-add"; NULL: the class has no figures. */
const char *lode_instruction_class_name(LodeInstructionClass name);

/* The kind that it gives to a recurrence, and the unit that it is counted for. */
LodeStepOf lode_instruction_class_step(LodeInstructionClass name);
LodeUnit lode_instruction_class_unit(LodeInstructionClass name);

/* With the conditional branch after it one operation. */
typedef enum {
	LODE_FUSES_NOT,
	LODE_FUSES_COMPARE,    /* cmp, test: on all cores */
	LODE_FUSES_ARITHMETIC, /* add, sub, and, inc, dec: on some */
} LodeFusing;

/* The work of an instruction, each as LodeInstructionClass. */
typedef struct {
	uint8_t work;        /* besides its access to memory */
	uint8_t load, store; /* LODE_CLASS_NONE: it does neither */
	uint8_t merge;       /* from an old destination of which a part stays */
	uint8_t fuses;       /* LodeFusing */
	uint8_t is_256, is_512;
} LodeInstructionWork;
