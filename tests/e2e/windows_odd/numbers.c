/* SPDX-License-Identifier: MIT */
/* State of the vector and floating-point units. */
#include "odd.h"

#include <fenv.h>
#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* Sticky flags of known operations, each set in turn. */
static int sticky_flags(void)
{
	long n[5] = {0};
	volatile double one = 1, zero = 0, tiny = DBL_MIN, huge = DBL_MAX, three = 3, result;
	for (long i = 0; i < odd_rounds(800000); i++) {
		feclearexcept(FE_ALL_EXCEPT);
		if (i % 5 == 0)
			result = one + one;
		else if (i % 5 == 1)
			result = one / zero;
		else if (i % 5 == 2)
			result = huge * huge;
		else if (i % 5 == 3)
			result = tiny * tiny;
		else
			result = one / three;
		int raised = fetestexcept(FE_ALL_EXCEPT);
		n[0] += raised == 0;
		n[1] += (raised & FE_DIVBYZERO) != 0;
		n[2] += (raised & FE_OVERFLOW) != 0;
		n[3] += (raised & FE_UNDERFLOW) != 0;
		n[4] += (raised & FE_INEXACT) != 0;
	}
	(void)result;
	for (int i = 0; i < 5; i++)
		printf("%ld ", n[i]);
	printf("\n");
	return 0;
}

/* All of MXCSR after each operation, denormals included. */
static int control_word(void)
{
	long n_wrong = 0;
	float denormal = 1e-40f, one = 1;
	for (long i = 0; i < odd_rounds(4000000); i++) {
		unsigned set = 0x1f80 | ((unsigned)i % 4) << 13, now;
		float sum = one;
		__asm__ volatile("ldmxcsr %2\n addss %3, %1\n stmxcsr %0"
				 : "=m"(now), "+x"(sum)
				 : "m"(set), "x"(i % 2 == 0 ? denormal : one));
		n_wrong += now != (set | (i % 2 == 0 ? 0x22 : 0));
	}
	unsigned usual = 0x1f80;
	__asm__ volatile("ldmxcsr %0" : : "m"(usual));
	printf("%ld wrong\n", n_wrong);
	return 0;
}

/* Flags that were set long ago are still set. */
static int old_flags(void)
{
	volatile double one = 1, zero = 0, denormal = 4.9406564584124654e-324, result;
	feclearexcept(FE_ALL_EXCEPT);
	result = one / zero;
	printf("%x\n", (unsigned)_mm_getcsr());
	odd_work(1, odd_rounds(15000000));
	printf("%x\n", (unsigned)_mm_getcsr());
	result = denormal + one;
	odd_work(1, odd_rounds(15000000));
	printf("%x\n", (unsigned)_mm_getcsr());
	feclearexcept(FE_ALL_EXCEPT);
	odd_work(1, odd_rounds(15000000));
	printf("%x\n", (unsigned)_mm_getcsr());
	(void)result;
	return 0;
}

static int flushed_denormals(void)
{
	volatile float denormal = 1e-40f, small = FLT_MIN, half = 0.5f;
	long n_flushed = 0, n_kept = 0;
	for (long i = 0; i < odd_rounds(1000000); i++) {
		_mm_setcsr(0x1f80 | (i % 2 == 0 ? 0x8040 : 0));
		float sum = denormal + denormal, product = small * half;
		n_flushed += sum == 0 && product == 0;
		n_kept += sum != 0 && product != 0;
	}
	_mm_setcsr(0x1f80);
	printf("%ld %ld\n", n_flushed, n_kept);
	return 0;
}

static int rounding(void)
{
	static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	volatile double one = 1, ten = 10;
	long double sums[4] = {0};
	for (long i = 0; i < odd_rounds(300000); i++) {
		fesetround(modes[i % 4]);
		sums[i % 4] = (long double)(one / ten) + (long double)one / (long double)ten;
		ODD_CHECK(fegetround() == modes[i % 4]);
	}
	fesetround(FE_TONEAREST);
	for (int i = 0; i < 4; i++)
		printf("%.25Lg\n", sums[i]);
	return 0;
}

static volatile sig_atomic_t n_handled, codes[2];

static void pass_over(int signal, void *data, void *context)
{
	ucontext_t *c = context;
	const siginfo_t *info = data;
	ODD_CHECK(signal == SIGFPE);
	n_handled++;
	codes[info->si_code == FPE_FLTDIV]++;
	/* The flags are as the division left them; on return all are masked. */
	ODD_CHECK((c->uc_mcontext.fpregs->mxcsr & 4) != 0);
	c->uc_mcontext.fpregs->mxcsr |= 0x1f80;
}

static int unmasked(void)
{
	volatile double one = 1, zero = 0, result;
	odd_handle_info(SIGFPE, pass_over, 0);
	for (long i = 0; i < odd_rounds(30000); i++) {
		feclearexcept(FE_ALL_EXCEPT);
		feenableexcept(FE_DIVBYZERO);
		result = odd_work(1, 100) == 0 ? 1 : one / zero;
		ODD_CHECK(isinf(result));
	}
	printf("%ld %ld %ld\n", (long)n_handled, (long)codes[0], (long)codes[1]);
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO);
	odd_handle(SIGFPE, SIG_DFL, 0);
	result = one / zero;
	return 0;
}

/* Unmasked, with a flag already set: no operation raises it again, so nothing may. */
static int unmasked_and_quiet(void)
{
	volatile double one = 1, three = 3, sum = 0;
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
	for (long i = 0; i < odd_rounds(10000000); i++)
		sum = sum + one / three;
	printf("%.17g\n", sum);
	printf("%x\n", (unsigned)_mm_getcsr());
	return 0;
}

static int x87_stack(void)
{
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(1000000); i++) {
		long double sum;
		unsigned short control, status;
		__asm__ volatile("fld1\n fldpi\n fldl2e\n fldln2\n fldlg2\n fldl2t\n fldz\n"
				 "mov $100, %%eax\n 1: dec %%eax\n jnz 1b\n"
				 "fnstcw %1\n fnstsw %2\n"
				 "faddp\n faddp\n faddp\n faddp\n faddp\n faddp"
				 : "=t"(sum), "=m"(control), "=m"(status)
				 :
				 : "eax", "cc");
		n_wrong += control != 0x37f || (status & 0x3800) != 0x800;
		n_wrong += sum < 9.89L || sum > 9.91L;
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

static int x87_flags(void)
{
	volatile long double one = 1, zero = 0, result;
	long n[2] = {0};
	for (long i = 0; i < odd_rounds(1500000); i++) {
		unsigned short status;
		__asm__ volatile("fnclex");
		result = i % 2 == 0 ? one / zero : one + one;
		__asm__ volatile("fnstsw %0" : "=m"(status));
		n[0] += (status & 0x3f) == 0;
		n[1] += (status & 0x3f) == 4;
	}
	(void)result;
	printf("%ld %ld\n", n[0], n[1]);
	return 0;
}

/* All of the x87 status word after a denormal operand and a result below the normal numbers, at
 * once and long after, also where nothing else of x87 is in use. */
static int x87_denormals(void)
{
	double denormal = 4.9406564584124654e-324, stored;
	long double narrow = (long double)DBL_MIN / 3;
	unsigned short status[4];
	long n[4] = {0};
	for (long i = 0; i < odd_rounds(5000); i++) {
		__asm__ volatile("fninit\n fldl %1\n fstp %%st(0)\n fnstsw %0"
				 : "=m"(status[0])
				 : "m"(denormal));
		odd_work(1, 9000);
		__asm__ volatile("fnstsw %0" : "=m"(status[1]));
		__asm__ volatile("fnclex\n fldt %2\n fstpl %1\n fnstsw %0"
				 : "=m"(status[2]), "=m"(stored)
				 : "m"(narrow));
		odd_work(1, 9000);
		__asm__ volatile("fnstsw %0" : "=m"(status[3]));
		for (int k = 0; k < 4; k++)
			n[k] += (status[k] & 0xff) == (k < 2 ? 0x02 : 0x30);
	}
	__asm__ volatile("fninit");
	printf("%ld %ld %ld %ld\n", n[0], n[1], n[2], n[3]);
	return 0;
}

/* A denormal operand that is not masked faults at the x87 instruction after it, however late. */
static int x87_unmasked(void)
{
	double denormal = 4.9406564584124654e-324;
	unsigned short control = 0x37d;
	odd_handle(SIGFPE, SIG_DFL, 0);
	odd_work(1, odd_rounds(30000000));
	__asm__ volatile("fninit\n fldcw %0\n fldl %1" : : "m"(control), "m"(denormal));
	odd_work(1, odd_rounds(30000000));
	printf("before\n");
	fflush(stdout);
	__asm__ volatile("fwait");
	printf("after\n");
	return 0;
}

/* Vector registers are as they were after a loop that leaves them alone. */
static int sse_registers(void)
{
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(2000000); i++) {
		__m128i a = _mm_set1_epi64x(i), b = _mm_set1_epi64x(i + 1),
			c = _mm_set1_epi64x(i + 2);
		long n = 100;
		__asm__ volatile("1: dec %0\n jnz 1b"
				 : "+r"(n), "+x"(a), "+x"(b), "+x"(c)
				 :
				 : "cc");
		n_wrong += _mm_cvtsi128_si64(a) != i || _mm_cvtsi128_si64(b) != i + 1 ||
		           _mm_cvtsi128_si64(_mm_unpackhi_epi64(c, c)) != i + 2;
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

__attribute__((target("avx2"))) static long use_avx(long i)
{
	__m256i a = _mm256_set1_epi64x(i), b = _mm256_set_epi64x(i, i + 1, i + 2, i + 3);
	long n = 100;
	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n), "+x"(a), "+x"(b) : : "cc");
	return _mm256_extract_epi64(a, 3) != i || _mm256_extract_epi64(b, 3) != i ||
	       _mm256_extract_epi64(b, 2) != i + 1;
}

static int avx_registers(void)
{
	long n_wrong = 0;
	for (long i = 0; __builtin_cpu_supports("avx2") && i < odd_rounds(2000000); i++)
		n_wrong += use_avx(i);
	printf("%ld wrong\n", n_wrong);
	return 0;
}

__attribute__((target("avx512f"))) static long use_avx512(long i)
{
	__m512i a = _mm512_set1_epi64(i), high;
	__mmask8 mask = (__mmask8)i;
	long n = 100, all[8];
	__asm__ volatile("vmovdqa64 %3, %%zmm29\n vpxord %2, %2, %2\n"
			 "1: dec %0\n jnz 1b\n"
			 "vmovdqa64 %%zmm29, %2%{%1%}"
			 : "+r"(n), "+Yk"(mask), "=&v"(high)
			 : "v"(a)
			 : "cc", "xmm29");
	_mm512_storeu_si512(all, high);
	for (int j = 0; j < 8; j++)
		if (all[j] != ((i >> j & 1) != 0 ? i : 0))
			return 1;
	return 0;
}

static int avx512_registers(void)
{
	long n_wrong = 0;
	for (long i = 0; __builtin_cpu_supports("avx512f") && i < odd_rounds(2000000); i++)
		n_wrong += use_avx512(i);
	printf("%ld wrong\n", n_wrong);
	return 0;
}

/* Upper halves of vector registers are zeroed or not, as the code left them. */
__attribute__((target("avx"))) static long upper_halves(long i)
{
	__m256i kept;
	long n = 50;
	__asm__ volatile("vzeroupper\n vpcmpeqd %%xmm3, %%xmm3, %%xmm3\n"
			 "vinsertf128 $1, %%xmm3, %%ymm3, %%ymm3\n"
			 "1: dec %0\n jnz 1b\n vmovups %%ymm3, %1\n vzeroupper"
			 : "+r"(n), "=m"(kept)
			 :
			 : "cc", "xmm3");
	return ((long *)&kept)[3] != -1 || i < 0;
}

static int vector_upper(void)
{
	long n_wrong = 0;
	for (long i = 0; __builtin_cpu_supports("avx") && i < odd_rounds(4000000); i++)
		n_wrong += upper_halves(i);
	printf("%ld wrong\n", n_wrong);
	return 0;
}

/* Vectors whose addresses come out of vectors. */
__attribute__((target("avx2"))) static long gather(const int *table)
{
	__m256i index = _mm256_set_epi32(1, 3, 5, 7, 9, 11, 13, 15), sum = index;
	for (int i = 0; i < 100; i++)
		sum = _mm256_add_epi32(sum, _mm256_i32gather_epi32(table, index, 4));
	return _mm256_extract_epi32(sum, 0) + _mm256_extract_epi32(sum, 7);
}

static int gathers(void)
{
	int table[16];
	long sum = 0;
	for (int i = 0; i < 16; i++)
		table[i] = i * i;
	for (long i = 0; __builtin_cpu_supports("avx2") && i < odd_rounds(200000); i++)
		sum += gather(table);
	printf("%ld\n", sum);
	return 0;
}

const OddKind odd_numbers[] = {
	{"number-sticky-flags", sticky_flags},
	{"number-mxcsr", control_word},
	{"number-old-flags", old_flags},
	{"number-ftz-daz", flushed_denormals},
	{"number-rounding", rounding},
	{"number-unmasked", unmasked},
	{"number-unmasked-quiet", unmasked_and_quiet},
	{"number-x87-stack", x87_stack},
	{"number-x87-flags", x87_flags},
	{"number-x87-denormals", x87_denormals},
	{"number-x87-unmasked", x87_unmasked},
	{"number-sse", sse_registers},
	{"number-avx", avx_registers},
	{"number-avx512", avx512_registers},
	{"number-vector-upper", vector_upper},
	{"number-gather", gathers},
	{0},
};
