/* SPDX-License-Identifier: MIT */
/*
 * Chains of dependent instructions on this machine, beside what cores.ini has for their sum.
 *
 *   chains            name  measured cycles  the table's, "above" where that is more
 *
 * A bound must not be above the least time that is measured: the exit status is 1 where one is. The
 * clock is that of ten dependent additions; each time is the least of many runs, so that a busy
 * machine only takes longer to tell.
 */
#include "images/cores/core.h"
#include "machine/processor.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 100000, RUNS = 200, PARTS = 4 };

/* Measured times are this much too long at most. */
static const double WRONG = 0.2;

static long memory[16] __attribute__((aligned(64)));

/* A chain through one of %0 (general), %1 (an address, which memory holds, too), xmm0, or memory at
 * %1; %2 is 0, xmm1 0. */
#define CHAIN(name, body)                                                                          \
	static void name(void)                                                                     \
	{                                                                                          \
		long value = 1, zero = 0, rounds = ROUNDS, *at = memory + 8;                       \
		__asm__ volatile("xorps %%xmm0, %%xmm0\n\txorps %%xmm1, %%xmm1\n"                  \
				 "1:\t" body "\n\tdec %3\n\tjnz 1b"                                \
				 : "+r"(value), "+r"(at), "+r"(zero), "+r"(rounds)                 \
				 :                                                                 \
				 : "memory", "cc", "rax", "rcx", "rdx", "xmm0", "xmm1");           \
	}

#define TEN(body)                                                                                  \
	body "\n\t" body "\n\t" body "\n\t" body "\n\t" body "\n\t" body "\n\t" body "\n\t" body   \
	     "\n\t" body "\n\t" body

CHAIN(additions, TEN("add $1, %0"))
CHAIN(carry, "adc %0, %0")
CHAIN(shift, "shl $1, %0")
CHAIN(shift_count, "shl %%cl, %0")
CHAIN(shift_double, "shld $3, %2, %0")
CHAIN(lea, "lea (%0, %2), %0")
CHAIN(lea_scaled, "lea (%0, %2, 4), %0")
CHAIN(lea_three, "lea 3(%0, %2), %0")
CHAIN(bit_count, "popcnt %0, %0")
CHAIN(trailing_zeros, "tzcnt %0, %0")
CHAIN(bit_scan, "bsf %0, %0")
CHAIN(multiplication, "imul %0, %0")
CHAIN(wide_multiplication, "mov %0, %%rax\n\tmul %2\n\tmov %%rax, %0")
CHAIN(load, "mov (%1), %1")
CHAIN(load_indexed, "mov (%1, %2, 8), %1")
CHAIN(added_in_memory, "addq $1, (%1)")
CHAIN(store_and_load, "mov %0, (%1)\n\tmov (%1), %0\n\tadd $1, %0")
CHAIN(store_and_load_vector, "movaps (%1), %%xmm0\n\tpaddq %%xmm1, %%xmm0\n\tmovaps %%xmm0, (%1)")
CHAIN(sum_in_memory, "movsd (%1), %%xmm0\n\taddsd %%xmm1, %%xmm0\n\tmovsd %%xmm0, (%1)")
CHAIN(atomic, "lock addq $1, (%1)")
CHAIN(fp_addition, "addsd %%xmm1, %%xmm0")
CHAIN(fp_multiplication, "mulsd %%xmm1, %%xmm0")
CHAIN(fp_minimum, "minsd %%xmm1, %%xmm0")
CHAIN(square_root, "sqrtsd %%xmm0, %%xmm0")
CHAIN(square_root_single, "sqrtss %%xmm0, %%xmm0")
CHAIN(convert, "cvtdq2ps %%xmm0, %%xmm0\n\tcvttps2dq %%xmm0, %%xmm0")
CHAIN(convert_width, "cvtss2sd %%xmm0, %%xmm0\n\tcvtsd2ss %%xmm0, %%xmm0")
CHAIN(convert_integers, "cvtsi2sd %0, %%xmm0\n\tcvttsd2si %%xmm0, %0")
CHAIN(insert_and_extract, "movq %0, %%xmm0\n\tmovq %%xmm0, %0")
CHAIN(load_and_extract, "movdqa (%1), %%xmm0\n\tmovq %%xmm0, %%rcx\n\tand $0, %%ecx\n\t"
			"add %%rcx, %1")
CHAIN(flags_and_insert, "ucomisd %%xmm1, %%xmm0\n\tsetc %%cl\n\tmovzbl %%cl, %%ecx\n\t"
			"movq %%rcx, %%xmm0")
CHAIN(vector_logic, "pand %%xmm1, %%xmm0")
CHAIN(vector_addition, "paddq %%xmm1, %%xmm0")
CHAIN(vector_multiplication, "pmullw %%xmm1, %%xmm0")
CHAIN(absolute_differences, "psadbw %%xmm1, %%xmm0")
CHAIN(vector_shift, "psllq $1, %%xmm0")
CHAIN(shuffle, "pshufd $1, %%xmm0, %%xmm0")

enum { STORED = LODE_N_CLASSES, STORED_VECTOR };

#define C(name) LODE_CLASS_##name

static const struct {
	const char *name;
	void (*run)(void);
	int parts[PARTS]; /* classes; 0: no more */
} chains[] = {
	{"addition with carry", carry, {C(ALU_CARRY)}},
	{"shift", shift, {C(SHIFT)}},
	{"shift by cl", shift_count, {C(SHIFT_COUNT)}},
	{"shift of two registers", shift_double, {C(SHIFT_DOUBLE)}},
	{"lea", lea, {C(LEA)}},
	{"lea, scaled", lea_scaled, {C(LEA_SCALED)}},
	{"lea of three", lea_three, {C(LEA_THREE)}},
	{"popcnt", bit_count, {C(BIT_COUNT)}},
	{"tzcnt", trailing_zeros, {C(TRAILING_ZEROS)}},
	{"bsf", bit_scan, {C(BIT_SCAN)}},
	{"multiplication", multiplication, {C(MUL)}},
	{"multiplication, wide", wide_multiplication, {C(MUL_WIDE)}},
	{"load", load, {C(LOAD)}},
	{"load, indexed", load_indexed, {C(LOAD_INDEXED)}},
	{"addition in memory", added_in_memory, {C(ALU), STORED}},
	{"store, load, addition", store_and_load, {C(ALU), STORED}},
	{"the same of vectors", store_and_load_vector, {C(VECTOR_ADD), STORED_VECTOR}},
	{"sum of doubles in memory", sum_in_memory, {C(FP_ADD), STORED_VECTOR}},
	{"atomic addition", atomic, {C(ATOMIC)}},
	{"addition of doubles", fp_addition, {C(FP_ADD)}},
	{"multiplication of doubles", fp_multiplication, {C(FP_MUL)}},
	{"minimum of doubles", fp_minimum, {C(FP_COMPARE)}},
	{"square root", square_root, {C(FP_SQRT_DOUBLE)}},
	{"square root of a float", square_root_single, {C(FP_SQRT_SINGLE)}},
	{"two conversions", convert, {C(CONVERT), C(CONVERT)}},
	{"to double and back", convert_width, {C(CONVERT_WIDTH), C(CONVERT_WIDTH)}},
	{"integer to double and back", convert_integers,
		{C(CONVERT_FROM_INTEGER), C(CONVERT_TO_INTEGER)}},
	{"to a vector and back", insert_and_extract, {C(INSERT), C(EXTRACT)}},
	{"vector loaded, extracted", load_and_extract,
		{C(LOAD_VECTOR), C(EXTRACT), C(ALU), C(ALU)}},
	{"comparison, to a vector", flags_and_insert, {C(FP_FLAGS), C(SETCC), C(INSERT)}},
	{"pand", vector_logic, {C(VECTOR_LOGIC)}},
	{"paddq", vector_addition, {C(VECTOR_ADD)}},
	{"pmullw", vector_multiplication, {C(VECTOR_MUL)}},
	{"psadbw", absolute_differences, {C(VECTOR_SAD)}},
	{"psllq", vector_shift, {C(VECTOR_SHIFT)}},
	{"pshufd", shuffle, {C(SHUFFLE)}},
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Of a round. */
static double least_ns(void (*run)(void))
{
	double least = G_MAXDOUBLE;

	for (int i = 0; i < RUNS; i++) {
		memset(memory, 0, sizeof(memory));
		memory[8] = run == load || run == load_indexed ? (long)(memory + 8) : 0;
		double begin = now_ns();
		run();
		least = MIN(least, now_ns() - begin);
	}
	return least / ROUNDS;
}

static double part_cycles(const LodeCore *core, int part)
{
	return part == STORED          ? core->forward
	       : part == STORED_VECTOR ? core->forward_vector
	                               : core->costs[part].latency;
}

int main(void)
{
	g_autofree char *id = lode_processor_id();
	g_autoptr(LodeCore) core = lode_core_new(id);
	double cycle_ns = least_ns(additions) / 10;
	int n_above = 0;

	printf("%s, by the table of %s; a cycle of %.3f ns\n", id, core->name, cycle_ns);
	for (size_t i = 0; i < G_N_ELEMENTS(chains); i++) {
		double measured = least_ns(chains[i].run) / cycle_ns, expected = 0;
		for (int k = 0; k < PARTS && chains[i].parts[k] != 0; k++)
			expected += part_cycles(core, chains[i].parts[k]);
		bool is_above = expected > measured + WRONG;
		n_above += is_above;
		printf("%-28s %6.2f %6.1f%s\n", chains[i].name, measured, expected,
			is_above ? "  above" : "");
	}
	return n_above > 0;
}
