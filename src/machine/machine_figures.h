/* SPDX-License-Identifier: MIT */
/* What was measured of the machine that a program ran on, as recordings and profiles keep it. */
#pragma once

typedef enum {
	LODE_RATE_L1,
	LODE_RATE_L2,
	LODE_RATE_L3,
	LODE_RATE_MEMORY,
	LODE_N_RATES,
} LodeRateLevel;

/* Bytes per nanosecond; 0: the machine has no such level, or it is not known. */
typedef struct LodeMemoryRates {
	double read[LODE_N_RATES], write[LODE_N_RATES];
} LodeMemoryRates;

/* See machine_speed.h. */
typedef struct LodeMachineSpeed {
	double runs; /* 0: not measured */
	/* Medians of the time of an addition and of a step of the walk; the scatter is the standard
	 * deviation of the logarithm of a run, estimated by the median too. */
	double chain_ns, chain_scatter, walk_ns, walk_scatter;
	/* Shares of the machine's processor time: given to other machines by the hypervisor, and
	 * to programs beside the recorded one and lode. */
	double steal, others;
} LodeMachineSpeed;

/*
 * What is measured of a core (core_figures.h): cycles of one round of a chain of instructions, each
 * of which needs the one before. Where a chain goes through several instructions that are none of
 * the others', only their sum is known.
 */
typedef enum {
	LODE_CORE_CARRY,
	LODE_CORE_SHIFT,
	LODE_CORE_SHIFT_COUNT,
	LODE_CORE_SHIFT_DOUBLE,
	LODE_CORE_LEA,
	LODE_CORE_LEA_SCALED,
	LODE_CORE_LEA_THREE,
	LODE_CORE_CMOV,
	LODE_CORE_CMOV_SIGNED,
	LODE_CORE_CMOV_ABOVE,
	LODE_CORE_BIT_COUNT,
	LODE_CORE_TRAILING_ZEROS,
	LODE_CORE_BIT_SCAN,
	LODE_CORE_MUL,
	LODE_CORE_MUL_WIDE,
	LODE_CORE_DIV_32,
	LODE_CORE_DIV_64,
	LODE_CORE_LOAD,
	LODE_CORE_LOAD_INDEXED,
	LODE_CORE_LOAD_SCALED,    /* index × 8 */
	LODE_CORE_STORED,         /* integer stored, loaded, added to */
	LODE_CORE_STORED_INDEXED, /* the same at an address with an index register */
	LODE_CORE_MODIFIED,       /* addition in memory */
	LODE_CORE_FP_ADD_CHAIN,   /* addition after addition */
	LODE_CORE_FP_MUL,
	LODE_CORE_FP_MUL_ADD, /* multiplication, then addition */
	LODE_CORE_FP_FMA,
	LODE_CORE_FP_COMPARE,
	LODE_CORE_FP_DIV_SINGLE,
	LODE_CORE_FP_DIV_DOUBLE,
	LODE_CORE_FP_SQRT_SINGLE,
	LODE_CORE_FP_SQRT_DOUBLE,
	LODE_CORE_CONVERT,       /* between integers and floats in vectors, twice */
	LODE_CORE_CONVERT_WIDTH, /* to double and back */
	LODE_CORE_CONVERT_INTEGER,
	LODE_CORE_VECTOR_LOGIC,
	LODE_CORE_VECTOR_ADD,
	LODE_CORE_VECTOR_MUL,
	LODE_CORE_VECTOR_SAD,
	LODE_CORE_VECTOR_SHIFT,
	LODE_CORE_SHUFFLE,
	LODE_CORE_STORED_VECTOR, /* stored, loaded, added to */
	LODE_CORE_STORED_DOUBLE, /* the same of a double */
	LODE_CORE_MOVE_VECTOR,   /* to a vector register and back */
	LODE_CORE_LOAD_EXTRACT,  /* vector loaded, moved to the address */
	LODE_CORE_MISPREDICTION, /* of a load, a comparison, a branch; cycles of each */
	LODE_N_CORE_FIGURES,
} LodeCoreFigure;

/* Cycles; 0 all: not known. */
typedef struct {
	double median, low, high; /* of the runs, and where the middle eight tenths of them end */
} LodeCoreCycles;

typedef struct LodeCoreFigures {
	LodeCoreCycles of[LODE_N_CORE_FIGURES];
} LodeCoreFigures;
