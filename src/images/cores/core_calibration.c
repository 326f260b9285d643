/* SPDX-License-Identifier: MIT */
#include "images/cores/core_calibration.h"

#include <math.h>

/* Steps of a chain that are no class of instructions. */
enum {
	STORED = LODE_N_CLASSES,
	STORED_INDEXED,
	STORED_VECTOR,
	ADDITION_AFTER_ADDITION,
	MISPREDICTION,
	N_PARTS,
};

enum { MOST_IN_CHAIN = 4 };

#define C(name) LODE_CLASS_##name

/* Chains of one part come before those of which it is a part. 0: no more. */
static const uint8_t chains[LODE_N_CORE_FIGURES][MOST_IN_CHAIN] = {
	[LODE_CORE_CARRY] = {C(ALU_CARRY)},
	[LODE_CORE_SHIFT] = {C(SHIFT)},
	[LODE_CORE_SHIFT_COUNT] = {C(SHIFT_COUNT)},
	[LODE_CORE_SHIFT_DOUBLE] = {C(SHIFT_DOUBLE)},
	[LODE_CORE_LEA] = {C(LEA)},
	[LODE_CORE_LEA_SCALED] = {C(LEA_SCALED)},
	[LODE_CORE_LEA_THREE] = {C(LEA_THREE)},
	[LODE_CORE_CMOV] = {C(ALU), C(CMOV)},
	[LODE_CORE_CMOV_SIGNED] = {C(ALU), C(CMOV_SIGNED)},
	[LODE_CORE_CMOV_ABOVE] = {C(ALU), C(CMOV_ABOVE)},
	[LODE_CORE_BIT_COUNT] = {C(BIT_COUNT)},
	[LODE_CORE_TRAILING_ZEROS] = {C(TRAILING_ZEROS)},
	[LODE_CORE_BIT_SCAN] = {C(BIT_SCAN)},
	[LODE_CORE_MUL] = {C(MUL)},
	[LODE_CORE_MUL_WIDE] = {C(MUL_WIDE)},
	[LODE_CORE_DIV_32] = {C(DIV_32)},
	[LODE_CORE_DIV_64] = {C(DIV_64)},
	[LODE_CORE_LOAD] = {C(LOAD)},
	[LODE_CORE_LOAD_INDEXED] = {C(LOAD_INDEXED)},
	[LODE_CORE_LOAD_SCALED] = {C(LOAD_SCALED)},
	[LODE_CORE_STORED] = {C(ALU), STORED},
	[LODE_CORE_STORED_INDEXED] = {C(ALU), STORED_INDEXED},
	[LODE_CORE_MODIFIED] = {C(ALU), STORED},
	[LODE_CORE_FP_ADD_CHAIN] = {ADDITION_AFTER_ADDITION},
	[LODE_CORE_FP_MUL] = {C(FP_MUL)},
	[LODE_CORE_FP_MUL_ADD] = {C(FP_MUL), C(FP_ADD)},
	[LODE_CORE_FP_FMA] = {C(FP_FMA)},
	[LODE_CORE_FP_COMPARE] = {C(FP_COMPARE)},
	[LODE_CORE_FP_DIV_SINGLE] = {C(FP_DIV_SINGLE)},
	[LODE_CORE_FP_DIV_DOUBLE] = {C(FP_DIV_DOUBLE)},
	[LODE_CORE_FP_SQRT_SINGLE] = {C(FP_SQRT_SINGLE)},
	[LODE_CORE_FP_SQRT_DOUBLE] = {C(FP_SQRT_DOUBLE)},
	[LODE_CORE_CONVERT] = {C(CONVERT), C(CONVERT)},
	[LODE_CORE_CONVERT_WIDTH] = {C(CONVERT_WIDTH), C(CONVERT_WIDTH)},
	[LODE_CORE_CONVERT_INTEGER] = {C(CONVERT_FROM_INTEGER), C(CONVERT_TO_INTEGER)},
	[LODE_CORE_VECTOR_LOGIC] = {C(VECTOR_LOGIC)},
	[LODE_CORE_VECTOR_ADD] = {C(VECTOR_ADD)},
	[LODE_CORE_VECTOR_MUL] = {C(VECTOR_MUL)},
	[LODE_CORE_VECTOR_SAD] = {C(VECTOR_SAD)},
	[LODE_CORE_VECTOR_SHIFT] = {C(VECTOR_SHIFT)},
	[LODE_CORE_SHUFFLE] = {C(SHUFFLE)},
	[LODE_CORE_STORED_VECTOR] = {C(VECTOR_ADD), STORED_VECTOR},
	[LODE_CORE_STORED_DOUBLE] = {C(FP_ADD), STORED_VECTOR},
	[LODE_CORE_MOVE_VECTOR] = {C(INSERT), C(EXTRACT)},
	[LODE_CORE_LOAD_EXTRACT] = {C(ALU), C(ALU), C(EXTRACT), C(LOAD_VECTOR)},
	[LODE_CORE_MISPREDICTION] = {C(LOAD), C(ALU), MISPREDICTION},
};

static double *part_of(LodeCore *self, unsigned part)
{
	switch (part) {
	case STORED:
		return &self->forward;
	case STORED_INDEXED:
		return &self->forward_indexed;
	case STORED_VECTOR:
		return &self->forward_vector;
	case ADDITION_AFTER_ADDITION:
		return &self->add_after_add;
	case MISPREDICTION:
		return &self->mispredict;
	default:
		return &self->costs[part].latency;
	}
}

static double value_of(const LodeCore *self, unsigned part)
{
	if (part == ADDITION_AFTER_ADDITION && self->add_after_add <= 0)
		return self->costs[LODE_CLASS_FP_ADD].latency;
	return *part_of((LodeCore *)self, part);
}

double lode_core_table_cycles(const LodeCore *self, LodeCoreFigure figure)
{
	double sum = 0;

	for (unsigned i = 0; i < MOST_IN_CHAIN && chains[figure][i] != 0; i++)
		sum += value_of(self, chains[figure][i]);
	return sum;
}

/* A measured latency counts as a whole number of cycles if it is this near: within this share, but
 * within so many cycles at least and at most. */
static const double OFF_SHARE = 0.03, OFF_LEAST = 0.05, OFF_MOST = 0.15;

static double clocks_of(double cycles)
{
	double off = fmin(fmax(OFF_SHARE * cycles, OFF_LEAST), OFF_MOST);

	return fabs(cycles - round(cycles)) <= off ? round(cycles) : cycles;
}

/* The part of a chain that is not known and that all parts that are not known equal; N_PARTS: there
 * are several, or none. */
static unsigned only_open(const uint8_t *parts, unsigned n, const bool *is_known)
{
	unsigned found = N_PARTS;

	for (unsigned i = 0; i < n; i++) {
		if (is_known[parts[i]])
			continue;
		if (found != N_PARTS && found != parts[i])
			return N_PARTS;
		found = parts[i];
	}
	return found;
}

static void set_parts(LodeCore *self, const uint8_t *parts, double cycles, bool *is_known)
{
	double values[MOST_IN_CHAIN], rest = cycles, open = 0;
	unsigned n_open = 0, n = 0;

	for (; n < MOST_IN_CHAIN && parts[n] != 0; n++) {
		values[n] = value_of(self, parts[n]);
		rest -= is_known[parts[n]] ? values[n] : 0;
		open += is_known[parts[n]] ? 0 : values[n];
		n_open += !is_known[parts[n]];
	}
	unsigned only = only_open(parts, n, is_known);
	if (only != N_PARTS) {
		*part_of(self, only) = fmax(rest, 0) / n_open;
		is_known[only] = true;
	} else if (n_open == 0) {
		/* It is faster than other chains with these parts: the last one takes less. */
		double *last = part_of(self, parts[n - 1]);
		*last = fmax(*last + fmin(rest, 0), 0);
	} else if (rest < open) {
		for (unsigned i = 0; i < n; i++)
			if (!is_known[parts[i]])
				*part_of(self, parts[i]) = values[i] * fmax(rest, 0) / open;
	}
}

unsigned lode_core_calibrate(LodeCore *self, const LodeCoreFigures *figures)
{
	bool is_known[N_PARTS] = {[LODE_CLASS_ALU] = true};
	unsigned n = 0;

	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++) {
		double cycles = figures->of[i].median;
		if (!(cycles > 0))
			continue;
		set_parts(self, chains[i], clocks_of(cycles), is_known);
		n++;
	}
	return n;
}
