/* SPDX-License-Identifier: MIT */
/*
 * Functions with known facts, of which each takes its share of the time: denormal operands and
 * results in a quarter of the executions, accesses across lines and pages, calls with the same
 * arguments, branches of known outcomes, loops and string instructions of known rounds.
 *
 *   known_facts MILLISECONDS
 */
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As a function of another file: nothing is known of it where it is called. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif
/* A number whose value is not known, so that loops stay as they are written. */
#define HIDE(number) __asm__ volatile("" : "+r"(number))
/* The next value cannot be known from those before, so that no call is hoisted or left out. */
#define FORGET() __asm__ volatile("" : : : "memory")

enum { ROUNDS = 4096, SIZE = 4096, TEXT = 12, PERIOD = 48 };

static volatile double numbers[4] = {1, 2, 3, 1e-310};
static volatile double smalls[4] = {1, DBL_MIN, 1, 1};
static volatile double third = 1.0 / 3;
static volatile long double narrows[4] = {1, 1, (long double)DBL_MIN / 3, 1};
static volatile double stored;
static unsigned char bytes[2 * 4096] __attribute__((aligned(4096)));
static uint32_t random_bits[SIZE];
static unsigned char tenths[SIZE], longs[SIZE];
static char text[TEXT + 1] = "as ever same";
static char texts[SIZE / 16][16];
static volatile uint64_t sink;

/* An operand is denormal every fourth time. */
APART void denormal_operand(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		HIDE(i);
		stored = numbers[i % 4] + numbers[0];
	}
}

/* A result, of normal operands. */
APART void denormal_result(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		HIDE(i);
		stored = smalls[i % 4] * third;
	}
}

/* By x87, where it is stored as a double. */
APART void denormal_x87(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		HIDE(i);
		stored = (double)narrows[i % 4];
	}
}

/* Eight bytes at each address: 7 of 64 across lines, 7 of 4096 across pages. */
APART void split_lines(void)
{
	uint64_t sum = 0, one;

	for (unsigned i = 0; i < ROUNDS; i++) {
		HIDE(i);
		memcpy(&one, bytes + i, sizeof(one));
		sum += one;
	}
	sink = sum;
}

/* Every second access. */
APART void split_pages(void)
{
	uint64_t sum = 0, one;

	for (unsigned i = 0; i < ROUNDS; i++) {
		HIDE(i);
		memcpy(&one, bytes + 4096 - 4 * (i % 2 + 1), sizeof(one));
		sum += one;
	}
	sink = sum;
}

APART size_t length_of(const char *it)
{
	const char *at = it;

	while (*at != '\0')
		at++;
	FORGET();
	return (size_t)(at - it);
}

APART uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	FORGET();
	return *state >> 33;
}

/* The length is asked for each character. */
APART void same_call(void)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < ROUNDS / TEXT; k++)
		for (size_t i = 0; i < length_of(text); i++)
			sum += (unsigned char)text[i];
	sink = sum;
}

/* A text after the other. */
APART void other_call(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ROUNDS / 8; i++)
		sum += length_of(texts[i % (SIZE / 16)]);
	sink = sum;
}

APART void add_to(uint64_t by, uint64_t *to)
{
	*to += by;
}

APART uint64_t twice(uint64_t n)
{
	return 2 * n;
}

/* The first call changes the argument of the second one, through a pointer to the stack. */
APART void filled_call(void)
{
	uint64_t sum = 0, n = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		add_to(i, &n);
		sum += twice(n);
	}
	sink = sum;
}

/* The same argument, and another result each time. */
APART void same_argument(void)
{
	static uint64_t state = 1;
	uint64_t sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		sum += draw(&state);
	sink = sum;
}

#define FORK(name, condition)                                                                      \
	APART void name(void)                                                                      \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
		for (unsigned i = 0; i < SIZE; i++) {                                              \
			HIDE(i);                                                                   \
			if (condition)                                                             \
				__asm__ volatile("add $1, %0\n add $2, %0\n add $3, %0"            \
						 : "+r"(sum));                                     \
			else                                                                       \
				__asm__ volatile("xor $1, %0\n xor $2, %0\n xor $3, %0"            \
						 : "+r"(sum));                                     \
		}                                                                                  \
		sink = sum;                                                                        \
	}

FORK(fork_turns, i % 2 == 0)
FORK(fork_random, random_bits[i] != 0)
FORK(fork_tenth, tenths[i] != 0)
FORK(fork_period, longs[i] != 0)
FORK(fork_rare, i % 64 == 0)

/* An inner loop of five rounds each time. */
APART void five_rounds(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ROUNDS / 8; i++) {
		HIDE(i);
		for (unsigned k = 0; k < 5; k++) {
			HIDE(k);
			sum += k;
		}
	}
	sink = sum;
}

static void fill(size_t n)
{
	void *to = bytes;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

/* 8 or 24 bytes. */
APART void string_few(void)
{
	for (unsigned i = 0; i < ROUNDS / 16; i++)
		fill(8 + 16 * (random_bits[i] & 1));
}

APART void string_many(void)
{
	for (unsigned i = 0; i < 4; i++) {
		size_t n = sizeof(bytes);
		HIDE(n);
		fill(n);
	}
}

/* The number of rounds stands in the code. */
APART void string_constant(void)
{
	for (unsigned i = 0; i < ROUNDS / 16; i++) {
		void *to = bytes;
		__asm__ volatile("mov $4, %%ecx\n rep stosq" : "+D"(to) : "a"(0) : "rcx", "memory");
	}
}

static double now(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

int main(int n, char **words)
{
	static void (*const parts[])(void) = {denormal_operand, denormal_result, denormal_x87,
		split_lines, split_pages, same_call, other_call, filled_call, same_argument,
		fork_turns, fork_random, fork_tenth, fork_period, fork_rare, five_rounds,
		string_few, string_many, string_constant};
	enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };
	double milliseconds = n > 1 ? atof(words[1]) : 1000, begin = now();
	uint64_t state = 7;

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	for (unsigned i = 0; i < SIZE; i++) {
		random_bits[i] = draw(&state) & 1;
		tenths[i] = draw(&state) % 100 < 15;
		longs[i] = i < PERIOD ? draw(&state) & 1 : longs[i - PERIOD];
	}
	for (unsigned i = 0; i < SIZE / 16; i++)
		memset(texts[i], 'a', i % 15);
	/* As long in each, and not always at the same distance, which may be that of windows. */
	for (double end = begin; end < begin + milliseconds;) {
		unsigned first = (unsigned)(draw(&state) % N_PARTS);
		for (unsigned i = 0; i < N_PARTS; i++)
			for (end += milliseconds / 50 / N_PARTS; now() < end;)
				parts[(first + i) % N_PARTS]();
	}
	return 0;
}
