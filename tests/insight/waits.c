/* SPDX-License-Identifier: MIT */
/*
 * Nine functions, each of which waits for one instruction between many that are cheap: a division,
 * two right after what makes the upper half of their dividends, a load that misses the caches, a
 * compare that misses them and retires with the jump after it, an atomic addition, a string
 * instruction, a call through a pointer that is mispredicted, the first of three tests that all go
 * on with the next round.
 *
 *   waits [DIVIDER]     the argument keeps the compiler from knowing it
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	NODES = 1 << 21,
	HOPS = 4000000,
	DIVISIONS = 20000000,
	ADDITIONS = 25000000,
	CALLS = 12000000,
	FILLS = 1000000,
	PROBES = 5000000,
	WORDS = 400 /* the instruction takes long, whatever it takes to begin */
};

typedef struct Node {
	struct Node *next;
	uint64_t value, padding[6];
} Node;

typedef uint64_t Operation(uint64_t value);

#define CHEAP(a, b, c)                                                                             \
	do {                                                                                       \
		(a) += (b) ^ 3;                                                                    \
		(b) += 7;                                                                          \
		(c) ^= (b) + 1;                                                                    \
	} while (0)

static __attribute__((noinline)) uint64_t divides(uint64_t divider)
{
	uint64_t value = UINT64_MAX, a = 1, b = 2, c = 3;

	for (int i = 0; i < DIVISIONS; i++) {
		CHEAP(a, b, c);
		value = (value | UINT64_C(1) << 63) / divider;
		CHEAP(c, a, b);
	}
	return value + a + b + c;
}

/* cqo and idiv. */
static __attribute__((noinline)) uint64_t halves(int64_t divider)
{
	uint64_t a = 1, b = 2, c = 3;
	int64_t value = INT64_MAX;

	for (int i = 0; i < DIVISIONS; i++) {
		CHEAP(a, b, c);
		__asm__ volatile("cqo\n\tidivq %1" : "+a"(value) : "r"(divider) : "rdx", "cc");
		value |= INT64_C(1) << 62;
		CHEAP(c, a, b);
	}
	return (uint64_t)value + a + b + c;
}

/* xor and div, of 32 bits. */
static __attribute__((noinline)) uint64_t parts(uint32_t divider)
{
	uint64_t a = 1, b = 2, c = 3;
	uint32_t value = UINT32_MAX;

	for (int i = 0; i < DIVISIONS; i++) {
		CHEAP(a, b, c);
		__asm__ volatile("xorl %%edx, %%edx\n\tdivl %1"
				 : "+a"(value)
				 : "r"(divider)
				 : "rdx", "cc");
		value |= UINT32_C(1) << 31;
		CHEAP(c, a, b);
	}
	return value + a + b + c;
}

static __attribute__((noinline)) uint64_t walks(const Node *node)
{
	uint64_t a = 1, b = 2, c = 3;

	for (int i = 0; i < HOPS; i++) {
		CHEAP(a, b, c);
		node = node->next;
		CHEAP(c, a, b);
	}
	return node->value + a + b + c;
}

static __attribute__((noinline)) uint64_t searches(const Node *nodes, uint64_t key)
{
	uint64_t at = 1, a = 1, b = 2, c = 3;

	for (int i = 0; i < HOPS; i++) {
		CHEAP(a, b, c);
		at = at * 6364136223846793005 + 1442695040888963407;
		if (nodes[at >> 43].value == key)
			break;
		CHEAP(c, a, b);
	}
	return at + a + b + c;
}

/* From samples alone the ways to the next round are not known. */
static __attribute__((noinline)) uint64_t probes(const Node *nodes, uint64_t a, uint64_t b)
{
	uint64_t at = 1, found = 0;

	for (int i = 0; i < PROBES; i++) {
		const Node *node = &nodes[at >> 43];
		at = at * 6364136223846793005 + 1442695040888963407;
		if (node->padding[0] != a) /* what waits */
			continue;
		if (node->padding[1] != b)
			continue;
		if (node->padding[2] != a)
			continue;
		found += at;
	}
	return found;
}

static __attribute__((noinline)) uint64_t fills(uint64_t *words)
{
	uint64_t a = 1, b = 2, c = 3;

	for (int i = 0; i < FILLS; i++) {
		uint64_t *to = words;
		uint64_t n = WORDS;
		CHEAP(a, b, c);
		__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(b) : "memory");
		CHEAP(c, a, b);
	}
	return words[a % WORDS] + a + b + c;
}

static __attribute__((noinline)) uint64_t adds(atomic_ullong *shared)
{
	uint64_t a = 1, b = 2, c = 3;

	for (int i = 0; i < ADDITIONS; i++) {
		CHEAP(a, b, c);
		atomic_fetch_add(shared, 1);
		CHEAP(c, a, b);
	}
	return a + b + c;
}

static uint64_t twice(uint64_t value)
{
	return value * 2;
}
static uint64_t more(uint64_t value)
{
	return value + 5;
}
static uint64_t other(uint64_t value)
{
	return value ^ 9;
}
static uint64_t less(uint64_t value)
{
	return value - 3;
}

static Operation *volatile operations[] = {twice, more, other, less};

enum { CHOICES = 1 << 20 };
static uint8_t choices[CHOICES];

/* What is called is known early, but to no predictor. */
static __attribute__((noinline)) uint64_t calls(void)
{
	uint64_t sum = 0, a = 1, b = 2, c = 3;

	for (int i = 0; i < CALLS; i++) {
		CHEAP(a, b, c);
		sum = operations[choices[i % CHOICES]](sum);
		CHEAP(c, a, b);
	}
	return sum + a + b + c;
}

static void choose(void)
{
	uint64_t random = 88172645463325252;

	for (int i = 0; i < CHOICES; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		choices[i] = random >> 62;
	}
}

static Node *make_ring(void)
{
	Node *nodes = malloc(NODES * sizeof(*nodes));
	uint64_t random = 88172645463325252, at = 0;

	if (nodes == NULL)
		exit(1);
	/* All places once: the step is odd, and their number a power of two. */
	for (uint64_t i = 0; i < NODES; i++) {
		uint64_t next = (at * 1664525 + 1013904223) % NODES;
		nodes[at] = (Node){.next = &nodes[next],
			.value = random,
			.padding = {at % 11 % 8, at % 2, at % 3}};
		random += i;
		at = next;
	}
	return nodes;
}

int main(int n_arguments, char **arguments)
{
	atomic_ullong shared = 0;
	uint64_t divider = n_arguments > 1 ? strtoull(arguments[1], NULL, 10) : 3;
	choose();
	Node *nodes = make_ring();
	uint64_t words[WORDS];
	uint64_t sum = divides(divider) + walks(nodes) + searches(nodes, divider) + adds(&shared) +
	               fills(words) + calls() + probes(nodes, divider % 8, divider % 2) +
	               halves((int64_t)divider) + parts((uint32_t)divider);

	printf("%llu\n", (unsigned long long)(sum + shared));
	return 0;
}
