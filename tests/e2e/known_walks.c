/* SPDX-License-Identifier: MIT */
/*
 * Walks over data whose addresses are known, each in a function and over an object of its own:
 * by lines, by pages, along a list, at random, over lines of one set, and words stored in halves.
 *
 *   known_walks MILLISECONDS      of processor time; 0: each walk once
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define AS_WRITTEN _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define AS_WRITTEN _Pragma("GCC unroll 1")
#endif

enum {
	ROUNDS = 100000,
	LINES = 512,
	PAGES = 64,
	NODES = 64,
	SMALL = 1024,
	LARGE = 1 << 18,
	WAYS = 20 /* more than any first level has */
};

struct node {
	long value;
	struct node *next;
	char rest[112];
};

union word {
	uint32_t halves[2];
	uint64_t whole;
};

char by_line[LINES * 64] __attribute__((aligned(4096)));
char by_page[PAGES * 4096] __attribute__((aligned(4096)));
char by_set[WAYS * 4096] __attribute__((aligned(4096)));
char split_line[128] __attribute__((aligned(64)));
struct node nodes[NODES] __attribute__((aligned(128)));
int heads[SMALL], tails[SMALL], anywhere[LARGE];
union word word;
static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

#define WALK(name, type, expression)                                                               \
	__attribute__((noinline)) static uint64_t name(void)                                       \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
		AS_WRITTEN                                                                         \
		for (unsigned i = 0; i < ROUNDS; i++)                                              \
			sum += *(volatile type *)(expression);                                     \
		return sum;                                                                        \
	}

WALK(walk_lines, char, &by_line[i % LINES * 64])
WALK(walk_pages, char, &by_page[(PAGES - 1 - i % PAGES) * 4096])
WALK(walk_set, char, &by_set[i % WAYS * 4096])
WALK(walk_random, int, &anywhere[draw() % LARGE])
WALK(walk_split, uint64_t, &split_line[60])

__attribute__((noinline)) static uint64_t walk_list(void)
{
	struct node *volatile *link = &nodes[0].next;

	AS_WRITTEN
	for (unsigned i = 0; i < ROUNDS; i++)
		link = (struct node *volatile *)&(*link)->next;
	return (uint64_t)(uintptr_t)link;
}

/* Seven of ten by chance. */
__attribute__((noinline)) static uint64_t walk_mixed(void)
{
	uint64_t sum = 0;

	AS_WRITTEN
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t drawn = draw() >> 20;
		if (drawn % 10 < 7)
			sum += *(volatile int *)&heads[drawn % SMALL];
		else
			sum += *(volatile int *)&tails[drawn % SMALL];
	}
	return sum;
}

__attribute__((noinline)) static uint64_t walk_halves(void)
{
	volatile union word *it = &word;
	uint64_t sum = 0;

	AS_WRITTEN
	for (unsigned i = 0; i < ROUNDS; i++) {
		it->halves[0] = i;
		it->halves[1] = i;
		sum += it->whole;
	}
	return sum;
}

static void link_nodes(void)
{
	unsigned order[NODES];

	for (unsigned i = 0; i < NODES; i++)
		order[i] = i;
	for (unsigned i = NODES - 1; i > 0; i--) {
		unsigned j = draw() % i, other = order[j];
		order[j] = order[i];
		order[i] = other;
	}
	for (unsigned i = 0; i < NODES; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
}

int main(int argc, char **argv)
{
	static uint64_t (*const walks[])(void) = {walk_lines, walk_pages, walk_set, walk_random,
		walk_split, walk_list, walk_halves, walk_mixed, walk_mixed, walk_mixed};
	const clock_t end = (argc > 1 ? atol(argv[1]) : 1000) * (CLOCKS_PER_SEC / 1000);
	uint64_t sum = 0;

	link_nodes();
	do {
		for (unsigned i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
			clock_t until = clock() + CLOCKS_PER_SEC / 100;
			do {
				sum += walks[i]();
			} while (end > 0 && clock() < until);
		}
	} while (clock() < end);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
