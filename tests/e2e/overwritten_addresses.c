/* SPDX-License-Identifier: MIT */
/*
 * Loads that overwrite their own base or index, over data of known shares of the processor's time.
 *
 *   overwritten_addresses SEED ROUNDS
 *
 * prints "part FUNCTION NAME SECONDS START END" for each array: the time that the function spent on
 * it. Where it takes turns with two arrays of one kind, each has the half.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BITS = 17, NODES = 1 << BITS, NUMBERS = 1 << 21 };

typedef struct node {
	struct node *next;
	long padding[7];
} Node;

typedef struct {
	int64_t key;
	int32_t next;
	int16_t small;
	int16_t padding[25];
} Slot;

static Node list_a[NODES], list_b[NODES], list_c[NODES];
static Slot pool_a[NODES], pool_b[NODES];
static int numbers_a[NUMBERS], numbers_b[NUMBERS];
static uint64_t seed;
static volatile long result;

#define APART __attribute__((noinline))

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_part(
	const char *function, const char *name, const void *data, size_t size, double seconds)
{
	printf("part %s %s %.6f %lu %lu\n", function, name, seconds, (unsigned long)data,
		(unsigned long)data + size);
}

static uint64_t next_random(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return seed >> 33;
}

static APART long walk(const Node *node)
{
	long n = 0;

	for (; node != NULL; node = node->next)
		n++;
	return n;
}

static APART long follow(const Slot *pool, long n)
{
	long i = 0;

	for (long k = 0; k < n; k++)
		i = pool[i].next;
	return i;
}

static APART long follow_all(const Slot *pool)
{
	long i = 0, n = 0;

	do {
		i = pool[i].next;
		n++;
	} while (i != 0);
	return n;
}

static APART long look_up(long n, uint32_t state)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		sum += numbers_a[state >> 11];
		state = state * 1664525u + 1013904223u;
		sum += numbers_b[state >> 11];
	}
	return sum;
}

static APART long pick(const Slot *pool, long n, uint32_t state)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		sum += pool[state & (NODES - 1)].small;
	}
	return sum;
}

/* Compilers merge functions that are equal. */
static APART long walk_in_thread(const Node *node)
{
	long n = 0;

	for (; node != NULL; node = node->next)
		n += 2;
	return n;
}

static APART long pick_in_thread(const Node *nodes, long n, uint32_t state)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		sum ^= nodes[state >> (32 - BITS)].padding[0];
		state += (uint32_t)sum & 2;
	}
	return sum;
}

static void *walking(void *data)
{
	double start = now();

	for (long i = 0; i < *(const long *)data; i++)
		result += walk_in_thread(list_c);
	print_part("walk_in_thread", "list_c", list_c, sizeof(list_c), now() - start);
	return NULL;
}

static void *picking(void *data)
{
	double start = now();

	for (long i = 0; i < *(const long *)data; i++)
		result += pick_in_thread(list_a, NODES, (uint32_t)i);
	print_part("pick_in_thread", "list_a", list_a, sizeof(list_a), now() - start);
	return NULL;
}

/* A random cycle through 0 … NODES − 1 (Sattolo's algorithm): order[i] comes after order[i − 1]. */
static void make_order(uint32_t *order)
{
	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i > 1; i--) {
		uint32_t other = 1 + (uint32_t)(next_random() % (i - 1)), kept = order[i];
		order[i] = order[other];
		order[other] = kept;
	}
}

static void make_list(Node *nodes, const uint32_t *order)
{
	for (uint32_t i = 0; i < NODES; i++)
		nodes[order[i]].next = i + 1 < NODES ? &nodes[order[i + 1]] : NULL;
}

static void make_pool(Slot *pool, const uint32_t *order)
{
	for (uint32_t i = 0; i < NODES; i++)
		pool[order[i]].next = (int32_t)order[(i + 1) % NODES];
}

#define MEASURE(function, data, call)                                                              \
	do {                                                                                       \
		double start = now();                                                              \
		result += (call);                                                                  \
		print_part(function, #data, data, sizeof(data), now() - start);                    \
	} while (0)

int main(int argc, char **argv)
{
	static uint32_t order[NODES];
	long rounds = argc > 2 ? atol(argv[2]) : 1, n = rounds * NODES;
	pthread_t threads[2];
	double start;

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	make_order(order);
	make_list(list_a, order);
	make_pool(pool_a, order);
	make_order(order);
	make_list(list_b, order);
	make_pool(pool_b, order);
	make_order(order);
	make_list(list_c, order);
	for (int i = 0; i < NUMBERS; i++)
		numbers_a[i] = numbers_b[i] = i;
	for (long i = 0; i < 3 * rounds; i++)
		MEASURE("walk", list_a, walk(list_a));
	for (long i = 0; i < rounds; i++)
		MEASURE("walk", list_b, walk(list_b));
	MEASURE("follow", pool_a, follow(pool_a, n));
	MEASURE("follow", pool_b, follow(pool_b, 2 * n));
	for (long i = 0; i < 2 * rounds; i++)
		MEASURE("follow_all", pool_a, follow_all(pool_a));
	for (long i = 0; i < rounds; i++)
		MEASURE("follow_all", pool_b, follow_all(pool_b));
	start = now();
	result += look_up(8 * n, (uint32_t)seed);
	start = (now() - start) / 2;
	print_part("look_up", "numbers_a", numbers_a, sizeof(numbers_a), start);
	print_part("look_up", "numbers_b", numbers_b, sizeof(numbers_b), start);
	MEASURE("pick", pool_a, pick(pool_a, 4 * n, (uint32_t)seed | 1));
	MEASURE("pick", pool_b, pick(pool_b, 12 * n, (uint32_t)seed | 1));
	rounds *= 4;
	pthread_create(&threads[0], NULL, walking, &rounds);
	pthread_create(&threads[1], NULL, picking, &rounds);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
