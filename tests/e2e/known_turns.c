/* SPDX-License-Identifier: MIT */
/* Loops in calls of some microseconds, each called again and again for a time: prints how long an
 * iteration of each takes, by the processor time of all of them. No register tells the calls from
 * each other, and most numbers of rounds are not in the code. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noipa))

enum { N = 4096 };
static double doubles[N];
static uint32_t words[N], table[1 << 12];
static uint8_t bytes[N];
static uint64_t iterations; /* of the loop that runs */
static struct node {
	struct node *next;
	uint64_t value;
} nodes[N];

static NOINLINE double add(const double *at, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += at[i];
	return sum;
}

static NOINLINE uint64_t hash(const uint8_t *at, unsigned n)
{
	uint64_t h = 14695981039346656037u;

	for (unsigned i = 0; i < n; i++)
		h = (h ^ at[i]) * 1099511628211u;
	return h;
}

static NOINLINE uint64_t chase(const struct node *node)
{
	uint64_t sum = 0;

	for (; node != NULL; node = node->next)
		sum += node->value;
	return sum;
}

static NOINLINE unsigned branches(const uint32_t *at, unsigned n)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		if (at[i] & 1) {
			found += at[i] >> 7;
			__asm__ volatile("" : "+r"(found));
		}
	return found;
}

static NOINLINE uint64_t divide(const uint32_t *at, unsigned n)
{
	uint64_t x = 1;

	for (unsigned i = 0; i < n; i++)
		x = (x + 0x123456789abcdefu) / (at[i] | 1);
	return x;
}

static NOINLINE void histogram(const uint32_t *at, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		table[at[i] >> 20]++;
}

static NOINLINE unsigned find(const uint8_t *at, uint8_t byte)
{
	unsigned i = 0;

	while (at[i] != byte) {
		i++;
		__asm__ volatile("" : "+r"(i));
	}
	return i;
}

static NOINLINE uint64_t rounds(uint64_t x)
{
	for (int i = 0; i < 1500; i++)
		x = (x << 7 ^ x >> 3) * 5;
	return x;
}

static NOINLINE double matrix(double *out, const double *a, const double *b)
{
	for (unsigned i = 0; i < 24; i++)
		for (unsigned k = 0; k < 24; k++) {
			double sum = 0;
			for (unsigned j = 0; j < 24; j++)
				sum += a[24 * i + j] * b[24 * j + k];
			out[24 * i + k] = sum;
		}
	return *out;
}

static NOINLINE uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
		iterations++;
	}
	return a;
}

static volatile double sink;

static void call(const char *name, unsigned turn)
{
	static double product[24 * 24];
	unsigned n = 500 + turn * 7919 % 1500;

	if (strcmp(name, "gcd") == 0) {
		for (unsigned i = 0; i < 64; i++)
			sink = (double)gcd(0x123456789abcdefu + turn * 977 + i, 0xfedcba98765u - i);
		return;
	}
	iterations += n;
	if (strcmp(name, "add") == 0)
		sink = add(doubles, n);
	else if (strcmp(name, "hash") == 0)
		sink = (double)hash(bytes, n);
	else if (strcmp(name, "chase") == 0)
		sink = (double)chase(&nodes[N - n]);
	else if (strcmp(name, "branches") == 0)
		sink = branches(words, n);
	else if (strcmp(name, "divide") == 0)
		sink = (double)divide(words, n);
	else if (strcmp(name, "histogram") == 0)
		histogram(words, n);
	else if (strcmp(name, "find") == 0) {
		bytes[n] = 0;
		sink = find(bytes, 0);
		bytes[n] = 1;
	} else if (strcmp(name, "rounds") == 0) {
		sink = (double)rounds(turn);
		iterations = iterations + 1500 - n;
	} else {
		sink = matrix(product, doubles, doubles);
		iterations = iterations + 24 * 24 * 24 - n;
	}
}

static double processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	uint32_t x = 12345;

	for (unsigned i = 0; i < N; i++) {
		x = x * 1664525 + 1013904223;
		words[i] = x ^ x >> 16;
		doubles[i] = x * 1e-9;
		bytes[i] = (uint8_t)(x >> 24 | 1);
		nodes[i].value = x;
		nodes[i].next = i + 1 < N ? &nodes[i + 1] : NULL;
	}
	for (int i = 2; i < argc; i++) {
		double begin = processor_ns(), now;
		unsigned turn = 0;
		iterations = 0;
		do {
			for (unsigned k = 0; k < 64; k++)
				call(argv[i], turn++);
			now = processor_ns();
		} while (now - begin < atof(argv[1]) * 1e9);
		printf("%s %.4f\n", argv[i], (now - begin) / (double)iterations);
	}
	return 0;
}
