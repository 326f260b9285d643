/* SPDX-License-Identifier: MIT */
#include "machine/figures/core_figures.h"

#include "base/arrays/sort_order.h"
#include "machine/figures/kept_figures.h"
#include "machine/processor.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 11 };

/* What is not beyond all reason. */
static const double LARGEST_CYCLES = 1000;

static const char *const names[LODE_N_CORE_FIGURES] = {
	[LODE_CORE_CARRY] = "carry",
	[LODE_CORE_SHIFT] = "shift",
	[LODE_CORE_SHIFT_COUNT] = "shift-count",
	[LODE_CORE_SHIFT_DOUBLE] = "shift-double",
	[LODE_CORE_LEA] = "lea",
	[LODE_CORE_LEA_SCALED] = "lea-scaled",
	[LODE_CORE_LEA_THREE] = "lea-three",
	[LODE_CORE_CMOV] = "compare-cmov",
	[LODE_CORE_CMOV_SIGNED] = "compare-cmov-signed",
	[LODE_CORE_CMOV_ABOVE] = "compare-cmov-above",
	[LODE_CORE_BIT_COUNT] = "bit-count",
	[LODE_CORE_TRAILING_ZEROS] = "trailing-zeros",
	[LODE_CORE_BIT_SCAN] = "bit-scan",
	[LODE_CORE_MUL] = "mul",
	[LODE_CORE_MUL_WIDE] = "mul-wide",
	[LODE_CORE_DIV_32] = "div-32",
	[LODE_CORE_DIV_64] = "div-64",
	[LODE_CORE_LOAD] = "load",
	[LODE_CORE_LOAD_INDEXED] = "load-indexed",
	[LODE_CORE_LOAD_SCALED] = "load-scaled",
	[LODE_CORE_STORED] = "store-load-add",
	[LODE_CORE_STORED_INDEXED] = "store-load-add-indexed",
	[LODE_CORE_MODIFIED] = "add-in-memory",
	[LODE_CORE_FP_ADD_CHAIN] = "fp-add",
	[LODE_CORE_FP_MUL] = "fp-mul",
	[LODE_CORE_FP_MUL_ADD] = "fp-mul-add",
	[LODE_CORE_FP_FMA] = "fp-fma",
	[LODE_CORE_FP_COMPARE] = "fp-compare",
	[LODE_CORE_FP_DIV_SINGLE] = "fp-div-single",
	[LODE_CORE_FP_DIV_DOUBLE] = "fp-div-double",
	[LODE_CORE_FP_SQRT_SINGLE] = "fp-sqrt-single",
	[LODE_CORE_FP_SQRT_DOUBLE] = "fp-sqrt-double",
	[LODE_CORE_CONVERT] = "convert-twice",
	[LODE_CORE_CONVERT_WIDTH] = "convert-width-twice",
	[LODE_CORE_CONVERT_INTEGER] = "convert-integer-twice",
	[LODE_CORE_VECTOR_LOGIC] = "vector-logic",
	[LODE_CORE_VECTOR_ADD] = "vector-add",
	[LODE_CORE_VECTOR_MUL] = "vector-mul",
	[LODE_CORE_VECTOR_SAD] = "vector-sad",
	[LODE_CORE_VECTOR_SHIFT] = "vector-shift",
	[LODE_CORE_SHUFFLE] = "shuffle",
	[LODE_CORE_STORED_VECTOR] = "store-load-add-vector",
	[LODE_CORE_STORED_DOUBLE] = "store-load-add-double",
	[LODE_CORE_MOVE_VECTOR] = "insert-extract",
	[LODE_CORE_LOAD_EXTRACT] = "load-extract-add-twice",
	[LODE_CORE_MISPREDICTION] = "load-compare-mispredict",
};

const char *lode_core_figure_name(LodeCoreFigure figure)
{
	return (unsigned)figure < LODE_N_CORE_FIGURES ? names[figure] : NULL;
}

bool lode_core_cycles_are_valid(const LodeCoreCycles *cycles)
{
	return cycles->low > 0 && cycles->low <= cycles->median && cycles->median <= cycles->high &&
	       cycles->high <= LARGEST_CYCLES;
}

#if defined(__x86_64__)

/* --- kernels --- */

enum {
	ROUNDS = 512,
	IN_ROUND = 8, /* copies of a chain's body, so that the loop's own branch is no limit */
	CLOCK_ROUNDS = 512, /* of ten additions each */
	CLOCK_IN_ROUND = 10,
	OUTCOMES = 2048,
	MEMORY_WORDS = 16,
	MOST_TRIES = 4, /* of a run, where another program comes in between */
	MOST_MS = 300,  /* that the child takes */
};

typedef void (*Kernel)(long *memory, const uint8_t *outcomes);

/* A chain through one of %0 (general), %1 (an address, which memory holds, too), rax, xmm0, or
 * memory at %1; %2 is 0, rcx 1, xmm1 1.0. */
#define CHAIN_OF(name, in_round, n_rounds, body)                                                   \
	static void name(long *memory, const uint8_t *outcomes)                                    \
	{                                                                                          \
		static const double one = 1;                                                       \
		long value = 1, zero = 0, rounds = n_rounds, *at = memory;                         \
		(void)outcomes;                                                                    \
		__asm__ volatile("movsd %4, %%xmm0\n\tmovsd %4, %%xmm1\n\tmov $1, %%eax\n\t"       \
				 "mov $1, %%ecx\n\t.p2align 6\n"                                   \
				 "1:\t.rept " #in_round "\n\t" body "\n\t.endr\n\t"                \
				 "dec %3\n\tjnz 1b"                                                \
				 : "+r"(value), "+r"(at), "+r"(zero), "+r"(rounds)                 \
				 : "m"(one)                                                        \
				 : "memory", "cc", "rax", "rcx", "rdx", "xmm0", "xmm1");           \
	}
#define CHAIN(name, body) CHAIN_OF(name, 8, ROUNDS, body)

CHAIN_OF(additions, 10, CLOCK_ROUNDS, "add %%rcx, %0")
CHAIN(carry, "adc %0, %0")
CHAIN(shift, "shl $1, %0")
CHAIN(shift_count, "shl %%cl, %0")
CHAIN(shift_double, "shld $3, %2, %0")
CHAIN(lea, "lea (%0, %2), %0")
CHAIN(lea_scaled, "lea (%0, %2, 4), %0")
CHAIN(lea_three, "lea 3(%0, %2), %0")
CHAIN(compare_cmov, "test %0, %0\n\tcmovz %%rcx, %0")
CHAIN(compare_cmov_signed, "cmp %%rcx, %0\n\tcmovl %%rcx, %0")
CHAIN(compare_cmov_above, "cmp %%rcx, %0\n\tcmova %%rcx, %0")
CHAIN(bit_count, "popcnt %0, %0")
CHAIN(trailing_zeros, "tzcnt %0, %0")
CHAIN(bit_scan, "bsf %0, %0")
CHAIN(mul, "imul %0, %0")
CHAIN(mul_wide, "mul %%rcx")
CHAIN(div_32, "xor %%edx, %%edx\n\tdiv %%ecx")
CHAIN(div_64, "xor %%edx, %%edx\n\tdiv %%rcx")
CHAIN(load, "mov (%1), %1")
CHAIN(load_indexed, "mov (%1, %2), %1")
CHAIN(load_scaled, "mov (%1, %2, 8), %1")
CHAIN(stored, "mov %0, (%1)\n\tmov (%1), %0\n\tadd %%rcx, %0")
CHAIN(stored_indexed, "mov %0, (%1, %2)\n\tmov (%1, %2), %0\n\tadd %%rcx, %0")
CHAIN(modified, "add %%rcx, (%1)")
CHAIN(fp_add, "addsd %%xmm1, %%xmm0")
CHAIN(fp_mul, "mulsd %%xmm1, %%xmm0")
CHAIN(fp_mul_add, "mulsd %%xmm1, %%xmm0\n\taddsd %%xmm1, %%xmm0")
CHAIN(fp_fma, "vfmadd132sd %%xmm1, %%xmm1, %%xmm0")
CHAIN(fp_compare, "minsd %%xmm1, %%xmm0")
CHAIN(fp_div_single, "divss %%xmm1, %%xmm0")
CHAIN(fp_div_double, "divsd %%xmm1, %%xmm0")
CHAIN(fp_sqrt_single, "sqrtss %%xmm0, %%xmm0")
CHAIN(fp_sqrt_double, "sqrtsd %%xmm0, %%xmm0")
CHAIN(convert, "cvtdq2ps %%xmm0, %%xmm0\n\tcvttps2dq %%xmm0, %%xmm0")
CHAIN(convert_width, "cvtss2sd %%xmm0, %%xmm0\n\tcvtsd2ss %%xmm0, %%xmm0")
CHAIN(convert_integer, "cvtsi2sd %0, %%xmm0\n\tcvttsd2si %%xmm0, %0")
CHAIN(vector_logic, "pand %%xmm1, %%xmm0")
CHAIN(vector_add, "paddq %%xmm1, %%xmm0")
CHAIN(vector_mul, "pmullw %%xmm1, %%xmm0")
CHAIN(vector_sad, "psadbw %%xmm1, %%xmm0")
CHAIN(vector_shift, "psllq $1, %%xmm0")
CHAIN(shuffle, "pshufd $1, %%xmm0, %%xmm0")
CHAIN(stored_vector, "movaps (%1), %%xmm0\n\tpaddq %%xmm1, %%xmm0\n\tmovaps %%xmm0, (%1)")
CHAIN(stored_double, "movsd (%1), %%xmm0\n\taddsd %%xmm1, %%xmm0\n\tmovsd %%xmm0, (%1)")
CHAIN(move_vector, "movq %0, %%xmm0\n\tmovq %%xmm0, %0")
CHAIN(load_extract, "movdqa (%1), %%xmm0\n\tmovq %%xmm0, %%rax\n\tand %2, %%rax\n\t"
		    "add %%rax, %1")

/* A branch for each outcome. */
static void branches(long *memory, const uint8_t *outcomes)
{
	long value = 0, rounds = OUTCOMES;

	(void)memory;
	__asm__ volatile(".p2align 6\n"
			 "1:\tcmpb $0, (%0)\n\tjz 2f\n\tadd $1, %1\n"
			 "2:\tinc %0\n\tdec %2\n\tjnz 1b"
			 : "+r"(outcomes), "+r"(value), "+r"(rounds)
			 :
			 : "memory", "cc");
}

static const Kernel kernels[LODE_N_CORE_FIGURES] = {
	[LODE_CORE_CARRY] = carry,
	[LODE_CORE_SHIFT] = shift,
	[LODE_CORE_SHIFT_COUNT] = shift_count,
	[LODE_CORE_SHIFT_DOUBLE] = shift_double,
	[LODE_CORE_LEA] = lea,
	[LODE_CORE_LEA_SCALED] = lea_scaled,
	[LODE_CORE_LEA_THREE] = lea_three,
	[LODE_CORE_CMOV] = compare_cmov,
	[LODE_CORE_CMOV_SIGNED] = compare_cmov_signed,
	[LODE_CORE_CMOV_ABOVE] = compare_cmov_above,
	[LODE_CORE_BIT_COUNT] = bit_count,
	[LODE_CORE_TRAILING_ZEROS] = trailing_zeros,
	[LODE_CORE_BIT_SCAN] = bit_scan,
	[LODE_CORE_MUL] = mul,
	[LODE_CORE_MUL_WIDE] = mul_wide,
	[LODE_CORE_DIV_32] = div_32,
	[LODE_CORE_DIV_64] = div_64,
	[LODE_CORE_LOAD] = load,
	[LODE_CORE_LOAD_INDEXED] = load_indexed,
	[LODE_CORE_LOAD_SCALED] = load_scaled,
	[LODE_CORE_STORED] = stored,
	[LODE_CORE_STORED_INDEXED] = stored_indexed,
	[LODE_CORE_MODIFIED] = modified,
	[LODE_CORE_FP_ADD_CHAIN] = fp_add,
	[LODE_CORE_FP_MUL] = fp_mul,
	[LODE_CORE_FP_MUL_ADD] = fp_mul_add,
	[LODE_CORE_FP_FMA] = fp_fma,
	[LODE_CORE_FP_COMPARE] = fp_compare,
	[LODE_CORE_FP_DIV_SINGLE] = fp_div_single,
	[LODE_CORE_FP_DIV_DOUBLE] = fp_div_double,
	[LODE_CORE_FP_SQRT_SINGLE] = fp_sqrt_single,
	[LODE_CORE_FP_SQRT_DOUBLE] = fp_sqrt_double,
	[LODE_CORE_CONVERT] = convert,
	[LODE_CORE_CONVERT_WIDTH] = convert_width,
	[LODE_CORE_CONVERT_INTEGER] = convert_integer,
	[LODE_CORE_VECTOR_LOGIC] = vector_logic,
	[LODE_CORE_VECTOR_ADD] = vector_add,
	[LODE_CORE_VECTOR_MUL] = vector_mul,
	[LODE_CORE_VECTOR_SAD] = vector_sad,
	[LODE_CORE_VECTOR_SHIFT] = vector_shift,
	[LODE_CORE_SHUFFLE] = shuffle,
	[LODE_CORE_STORED_VECTOR] = stored_vector,
	[LODE_CORE_STORED_DOUBLE] = stored_double,
	[LODE_CORE_MOVE_VECTOR] = move_vector,
	[LODE_CORE_LOAD_EXTRACT] = load_extract,
	[LODE_CORE_MISPREDICTION] = branches,
};

static bool can_run(LodeCoreFigure figure)
{
	switch (figure) {
	case LODE_CORE_BIT_COUNT:
		return __builtin_cpu_supports("popcnt");
	case LODE_CORE_TRAILING_ZEROS:
		return __builtin_cpu_supports("bmi"); /* without it, it is bsf */
	case LODE_CORE_FP_FMA:
		return __builtin_cpu_supports("fma");
	default:
		return true;
	}
}

/* --- the child --- */

/* Ticks of the time stamp counter, which the child writes. `clocks` are of the additions beside
 * each run, `plain` of branches that are all foretold. */
typedef struct {
	uint64_t nothing[RUNS];
	uint64_t ticks[RUNS][LODE_N_CORE_FIGURES], clocks[RUNS][LODE_N_CORE_FIGURES];
	uint64_t plain[RUNS];
} Times;

static uint64_t ticks_now(void)
{
	uint32_t low, high;

	/* Nothing before is still at work, and nothing after has begun. */
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static uint64_t ticks_of(Kernel run, long *memory, const uint8_t *outcomes)
{
	uint64_t begin = ticks_now();

	run(memory, outcomes);
	return ticks_now() - begin;
}

static void nothing(long *memory, const uint8_t *outcomes)
{
	(void)memory;
	(void)outcomes;
}

/* Outcomes that no predictor knows (G. Marsaglia, "Xorshift RNGs", 2003). */
static void draw(uint8_t *outcomes, uint64_t *state)
{
	for (unsigned i = 0; i < OUTCOMES; i++) {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		outcomes[i] = (uint8_t)(*state >> 40 & 1);
	}
}

static void run_figure(Times *times, LodeCoreFigure figure, unsigned run, uint64_t *state)
{
	static const uint8_t same[OUTCOMES] = {0};
	bool is_followed = figure == LODE_CORE_LOAD || figure == LODE_CORE_LOAD_INDEXED ||
	                   figure == LODE_CORE_LOAD_SCALED;
	uint8_t outcomes[OUTCOMES];
	__attribute__((aligned(64))) long memory[MEMORY_WORDS] = {0};

	memory[0] = is_followed ? (long)(intptr_t)memory : 0;
	times->nothing[run] = ticks_of(nothing, memory, same);
	times->clocks[run][figure] = ticks_of(additions, memory, same);
	if (figure == LODE_CORE_MISPREDICTION) {
		draw(outcomes, state);
		times->plain[run] = ticks_of(branches, memory, same);
	}
	times->ticks[run][figure] = ticks_of(kernels[figure], memory, outcomes);
}

/* How often another program got the processor. */
static long n_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nivcsw;
}

static void fill(Times *times)
{
	uint64_t state = ticks_now() | 1;

	for (unsigned run = 0; run < RUNS; run++)
		for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++)
			for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
				long before = n_switches();
				if (can_run((LodeCoreFigure)i))
					run_figure(times, (LodeCoreFigure)i, run, &state);
				if (n_switches() == before)
					break;
			}
}

/* It ends itself, whatever the emulator or debugger that it runs in does. */
static _Noreturn void be_child(Times *times)
{
	const struct itimerval limit = {.it_value = {.tv_usec = MOST_MS * 1000}};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &limit, NULL);
	fill(times);
	_exit(0);
}

/* False: it did not come to its end. */
static bool run_child(Times *times)
{
	int status = -1;
	pid_t child = fork(), ended;

	if (child == 0)
		be_child(times);
	if (child < 0)
		return false;
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	return ended == child && status == 0;
}

/* --- the figures --- */

static double least_of(const uint64_t *ticks)
{
	double least = HUGE_VAL;

	for (unsigned i = 0; i < RUNS; i++)
		least = fmin(least, (double)ticks[i]);
	return least;
}

static double cycles_of_run(const Times *times, LodeCoreFigure figure, unsigned run, double empty)
{
	double ticks = (double)times->ticks[run][figure] - empty;
	double cycle = ((double)times->clocks[run][figure] - empty) /
	               (CLOCK_ROUNDS * CLOCK_IN_ROUND);

	/* A half of what nobody can foretell is foretold. */
	if (figure == LODE_CORE_MISPREDICTION)
		return ((double)times->ticks[run][figure] - (double)times->plain[run]) / cycle /
		       (OUTCOMES / 2.0);
	return ticks / cycle / (ROUNDS * IN_ROUND);
}

/* Runs that differ by more than this share, and by more cycles than this, give no figure. */
static const double MOST_SHARE = 0.15, MOST_CYCLES = 0.25;

static LodeCoreCycles cycles_of(const Times *times, LodeCoreFigure figure)
{
	double runs[RUNS], empty = least_of(times->nothing);

	for (unsigned i = 0; i < RUNS; i++)
		runs[i] = cycles_of_run(times, figure, i, empty);
	qsort(runs, RUNS, sizeof(double), lode_compare_doubles);
	const LodeCoreCycles found = {runs[RUNS / 2], runs[RUNS / 10], runs[RUNS - 1 - RUNS / 10]};
	bool is_known = lode_core_cycles_are_valid(&found) &&
	                found.high - found.low <= fmax(MOST_SHARE * found.median, MOST_CYCLES);
	return is_known ? found : (LodeCoreCycles){0};
}

static bool has_two_kinds_of_cores(void)
{
	return g_file_test("/sys/devices/cpu_atom", G_FILE_TEST_EXISTS);
}

LodeCoreFigures lode_core_figures_measure(void)
{
	LodeCoreFigures found = {0};
	Times *times = has_two_kinds_of_cores() ? MAP_FAILED
	                                        : mmap(NULL, sizeof(Times), PROT_READ | PROT_WRITE,
							  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (times == MAP_FAILED)
		return found;
	if (run_child(times))
		for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++)
			if (can_run((LodeCoreFigure)i))
				found.of[i] = cycles_of(times, (LodeCoreFigure)i);
	munmap(times, sizeof(Times));
	return found;
}

#else

LodeCoreFigures lode_core_figures_measure(void)
{
	return (LodeCoreFigures){0};
}

#endif

/* --- what is kept --- */

enum { NUMBERS_OF_CYCLES = 3, FEWEST_KEPT = LODE_N_CORE_FIGURES * 3 / 4 };

static bool read_kept(const LodeKeptFigures *kept, LodeCoreFigures *out)
{
	LodeCoreFigures found = {0};

	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++) {
		double numbers[NUMBERS_OF_CYCLES];
		if (!lode_kept_figures_read(kept, names[i], numbers, NUMBERS_OF_CYCLES))
			return false;
		const LodeCoreCycles cycles = {numbers[0], numbers[1], numbers[2]};
		/* zeros: could not be measured */
		if (lode_core_cycles_are_valid(&cycles))
			found.of[i] = cycles;
		else if (cycles.high > 0)
			return false;
	}
	*out = found;
	return true;
}

LodeCoreFigures lode_core_figures_of_machine(const char *path)
{
	g_auto(LodeKeptFigures) kept = {0};
	LodeCoreFigures found = {0};

	if (lode_processor_is_given())
		return found;
	lode_kept_figures_init(&kept, path, "core-figures.ini");
	if (lode_kept_figures_are_new(&kept) && read_kept(&kept, &found))
		return found;
	found = lode_core_figures_measure();
	unsigned n_known = 0;
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++) {
		const LodeCoreCycles *cycles = &found.of[i];
		n_known += cycles->median > 0;
		const double numbers[] = {cycles->median, cycles->low, cycles->high};
		lode_kept_figures_set(&kept, names[i], numbers, NUMBERS_OF_CYCLES);
	}
	/* Others may have had the processors: the next recording tries again. */
	if (n_known >= FEWEST_KEPT)
		lode_kept_figures_write(&kept);
	return found;
}
