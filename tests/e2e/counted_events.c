/* SPDX-License-Identifier: MIT */
/*
 * A program without a library, at fixed addresses and with a stack of its own, so that whatever
 * counts it sees the same instructions and the same addresses: references of all kinds, across
 * lines and in pieces, and branches.
 */
#include <emmintrin.h>

/* A function of its own, with all of its arguments. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

enum { WORDS = 1 << 14, ROUNDS = 5000, STACK_BYTES = 1 << 14, EXIT = 60 };

static unsigned words[WORDS];
static unsigned char bytes[WORDS];
static unsigned long cell;
static unsigned state = 1;
__attribute__((used, aligned(64))) char stack[STACK_BYTES];

static unsigned chance(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

APART static void modify(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned *word = &words[chance() % WORDS];
		__asm__ volatile("addl $3, %0" : "+m"(*word)); /* reads and writes */
	}
}

/* Some across two lines. */
APART static unsigned long cross_lines(void)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned char *at = bytes + chance() % (WORDS - 16);
		__m128i wide = _mm_loadu_si128((const __m128i *)(const void *)at);
		_mm_storeu_si128((__m128i *)(void *)(bytes + chance() % (WORDS - 16)), wide);
		sum += *(const unsigned long *)(const void *)(bytes + chance() % (WORDS - 16));
	}
	return sum;
}

APART static void lock(void)
{
	for (unsigned i = 0; i < 100; i++) {
		unsigned long value = i;
		__asm__ volatile("lock addq $1, %0\n\tlock xaddq %1, %0\n\txchgq %1, %0\n\t"
				 "lock cmpxchgq %1, %0"
				 : "+m"(cell), "+r"(value)
				 :
				 : "rax", "cc");
	}
}

APART static unsigned branch_by_chance(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		if ((chance() & 1) != 0)
			__asm__ volatile("incl %0" : "+r"(sum)); /* no conditional move */
	return sum;
}

APART static unsigned add(unsigned x)
{
	return x + 1;
}

APART static unsigned triple(unsigned x)
{
	return x * 3;
}

static unsigned (*volatile functions[2])(unsigned) = {add, triple};

APART static unsigned call_by_chance(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		sum = functions[chance() & 1](sum);
	return sum;
}

void work(void);

__attribute__((used)) void work(void)
{
	modify();
	cross_lines();
	lock();
	branch_by_chance();
	call_by_chance();
	__asm__ volatile("syscall" : : "a"(EXIT), "D"(0) : "rcx", "r11", "memory");
}

__asm__(".globl _start\n_start:\n\tmovq $stack + 16384, %rsp\n\tcall work\n\thlt\n");
