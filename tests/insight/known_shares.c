/* SPDX-License-Identifier: MIT */
/*
 * Programs in one whose waits for memory are known: each loop measures, with the time stamp
 * counter, how long each of its accesses made the processor wait, and says it at its end:
 *
 *   part FUNCTION OBJECT TICKS START END      OBJECT: a regular expression for the name of the data
 *   line FUNCTION FUNCTION TYPE ADDRESS       two threads store to one cache line, to members of
 * these names
 *
 * The order of fences and accesses is that of the program, so that a wait is one access's. C and
 * C++.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#ifdef __cplusplus
#define THREAD_LOCAL thread_local
#else
#define THREAD_LOCAL _Thread_local
#endif

enum { LARGE = 1 << 22, SMALL = 1 << 9, LOCAL = 1 << 18, NODES = 1 << 19, MAX_PARTS = 4 };
/* Longer than any wait for memory: something else ran. */
enum { INTERRUPTED = 20000 };

struct record {
	int a;
	char first[20];
	long b;
	double c;
	char last[24];
};

struct node {
	struct node *next;
	long value;
	char rest[48];
};

struct pair {
	volatile long left, right;
};

static int waits[LARGE], hits[SMALL];
static double often[LARGE], seldom[LARGE];
static struct record records[LARGE / 8], rare[LARGE / 8];
static struct node nodes[NODES];
static THREAD_LOCAL int own_large[LARGE / 2], own_small[SMALL];
static struct pair counters __attribute__((aligned(64)));
static int shared_table[SMALL];
static int *private_memory;

static uint64_t ticks[MAX_PARTS];
static long rounds;

static inline __attribute__((always_inline)) uint64_t now(void)
{
	uint64_t time;

	_mm_lfence();
	time = __rdtsc();
	_mm_lfence();
	return time;
}

static inline __attribute__((always_inline)) void add(unsigned part, uint64_t since)
{
	uint64_t took = now() - since;

	if (took < INTERRUPTED)
		ticks[part] += took;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* What the measurement of nothing takes is no wait. */
static void say(const char *function, const char *object, unsigned part, double count,
	const void *start, size_t size)
{
	uint64_t sum = 0, n = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t start_of = now(), took = now() - start_of;
		if (took < INTERRUPTED)
			sum += took, n++;
	}
	double rest = (double)ticks[part] - count * (double)sum / (double)n;
	printf("part %s %s %.0f %lu %lu\n", function, object, rest > 0 ? rest : 0,
		(unsigned long)(uintptr_t)start, (unsigned long)((uintptr_t)start + size));
	ticks[part] = 0;
}

static __attribute__((noinline)) long two_loads(void)
{
	uint64_t state = 88172645463325252u;
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t random = next_random(&state), since = now();
		sum += waits[random & (LARGE - 1)];
		add(0, since);
		since = now();
		sum += hits[random >> 40 & (SMALL - 1)];
		add(1, since);
	}
	return sum;
}

/* The ways meet before anything else happens. */
static __attribute__((noinline)) double diamond(void)
{
	static const char order[] = "oossooossr";
	uint64_t state = 1234567;
	double sum = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t random = next_random(&state);
		char which = order[i % 10];
		uint64_t since = now();
		if (which == 'o')
			sum += often[random & (LARGE - 1)];
		else if (which == 's')
			sum += seldom[random & (LARGE - 1)];
		else
			sum += rare[random & (LARGE / 8 - 1)].c;
		add(which == 'o' ? 0 : which == 's' ? 1 : 2, since);
	}
	return sum;
}

static __attribute__((noinline)) long members(void)
{
	uint64_t state = 777;
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t random = next_random(&state);
		struct record *record = &records[random & (LARGE / 8 - 1)];
		uint64_t since = now();
		sum += record->b;
		add(0, since);
		since = now();
		sum += (long)record->c; /* in the same cache line */
		add(1, since);
	}
	return sum;
}

static __attribute__((noinline)) long list(void)
{
	struct node *node = nodes;
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t since = now();
		node = node->next;
		add(0, since);
		since = now();
		sum += node->value; /* the first access to the node */
		add(1, since);
	}
	return sum;
}

static __attribute__((noinline)) long locals(void)
{
	int large[LOCAL], small[64];
	uint64_t state = 4711;
	long sum = 0;

	memset(large, 1, sizeof large);
	memset(small, 1, sizeof small);
	for (long i = 0; i < rounds; i++) {
		uint64_t random = next_random(&state), since = now();
		_mm_clflush(&large[random & (LOCAL - 1)]);
		since = now();
		sum += large[random & (LOCAL - 1)];
		add(0, since);
		since = now();
		sum += small[random >> 40 & 63];
		add(1, since);
	}
	return sum;
}

static __attribute__((noinline)) long thread_locals(void)
{
	uint64_t state = 99;
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t random = next_random(&state), since = now();
		sum += own_large[random & (LARGE / 2 - 1)];
		add(0, since);
		since = now();
		sum += own_small[random >> 40 & (SMALL - 1)];
		add(1, since);
	}
	return sum;
}

/* Each thread waits for memory of its own; the shared table is always in the cache. */
static __attribute__((noinline)) void *private_and_shared(void *data)
{
	long which = (long)data, sum = 0;
	uint64_t state = 5 + (uint64_t)which * 10, memory = 0, table = 0;
	int *own = private_memory + which * LARGE;

	for (long i = 0; i < rounds; i++) {
		uint64_t random = next_random(&state), since = now();
		long index = own[random & (LARGE - 1)];
		uint64_t took = now() - since;
		memory += took < INTERRUPTED ? took : 0;
		since = now();
		sum += shared_table[index];
		took = now() - since;
		table += took < INTERRUPTED ? took : 0;
	}
	__atomic_add_fetch(&ticks[0], memory, __ATOMIC_RELAXED);
	__atomic_add_fetch(&ticks[1], table, __ATOMIC_RELAXED);
	return (void *)sum;
}

/* Atomic, as a plain addition goes on in the store buffer while the line is away. */
static __attribute__((noinline)) void *left(void *data)
{
	for (long i = 0; i < rounds * 8; i++)
		__atomic_add_fetch(&counters.left, 1, __ATOMIC_RELAXED);
	return data;
}

static __attribute__((noinline)) void *right(void *data)
{
	for (long i = 0; i < rounds * 8; i++)
		__atomic_add_fetch(&counters.right, 1, __ATOMIC_RELAXED);
	return data;
}

static void run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first, (void *)0);
	pthread_create(&threads[1], NULL, second, (void *)1);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void prepare(void)
{
	uint64_t state = 31;

	private_memory = (int *)aligned_alloc(4096, 2 * sizeof(int) * LARGE);
	for (long i = 0; i < LARGE; i++) {
		waits[i] = 1;
		often[i] = seldom[i] = 1;
		private_memory[i] = private_memory[LARGE + i] = (int)(i & (SMALL - 1));
	}
	for (long i = 0; i < LARGE / 8; i++)
		records[i].b = 1, records[i].c = rare[i].c = 1;
	for (long i = 0; i < LARGE / 2; i++)
		own_large[i] = 1;
	for (long i = 0; i < SMALL; i++)
		hits[i] = own_small[i] = shared_table[i] = 1;
	/* one cycle in a random order (Sattolo) */
	for (long i = 0; i < NODES; i++)
		nodes[i].next = &nodes[i];
	for (long i = NODES - 1; i > 0; i--) {
		long j = (long)(next_random(&state) % (uint64_t)i);
		struct node *other = nodes[i].next;
		nodes[i].next = nodes[j].next;
		nodes[j].next = other;
	}
}

int main(int argc, char **argv)
{
	double n = argc > 1 ? atof(argv[1]) : 500000, sum = 0;

	rounds = (long)n;
	prepare();
	sum += (double)two_loads();
	say("two_loads", "waits", 0, n, waits, sizeof waits);
	say("two_loads", "hits", 1, n, hits, sizeof hits);
	sum += diamond();
	say("diamond", "often", 0, n * .5, often, sizeof often);
	say("diamond", "seldom", 1, n * .4, seldom, sizeof seldom);
	say("diamond", "record\\.c", 2, n * .1, rare, sizeof rare);
	sum += (double)members();
	say("members", "record\\.b", 0, n, records, sizeof records);
	say("members", "record\\.c", 1, n, records, sizeof records);
	sum += (double)list();
	say("list", "node\\.next", 0, n, nodes, sizeof nodes);
	say("list", "node\\.value", 1, n, nodes, sizeof nodes);
	sum += (double)locals();
	say("locals", "large", 0, n, NULL, 0);
	say("locals", "small", 1, n, NULL, 0);
	sum += (double)thread_locals();
	say("thread_locals", "own_large", 0, n, own_large, sizeof own_large);
	say("thread_locals", "own_small", 1, n, own_small, sizeof own_small);
	run_two(private_and_shared, private_and_shared);
	say("private_and_shared", "aligned_alloc", 0, 2 * n, private_memory,
		2 * sizeof(int) * LARGE);
	say("private_and_shared", "shared_table", 1, 2 * n, shared_table, sizeof shared_table);
	run_two(left, right);
	printf("line left right pair %lu\n", (unsigned long)(uintptr_t)&counters);
	fprintf(stderr, "%g\n", sum);
	return 0;
}
