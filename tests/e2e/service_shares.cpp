/* SPDX-License-Identifier: MIT */
/*
 * A known share of the processor time in functions of a library, of which those of hash and tree are
 * inlined:
 *
 *   service_shares strlen|malloc|pow|sort|hash|tree PERCENT SECONDS
 *
 * Calls and own computing take turns of some milliseconds, so long as the thread's clock of processor
 * time says that one is behind. In the end it prints the share that the turns of calls had.
 */
#include <map>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unordered_map>

enum { TEXT = 1 << 16, NAMES = 1000, NAME = 24, KEYS = 20000 };

static const int64_t nanoseconds = 1000000000, turn = 2000000;
static char text[TEXT];
static char names[NAMES][NAME], sorted[NAMES][NAME];
static const char *volatile input = text;
static void *volatile kept;
static volatile double base = 1.7, sum;
static volatile size_t length;
static std::unordered_map<uint32_t, uint32_t> table;
static std::map<uint32_t, uint32_t> tree;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * nanoseconds + time.tv_nsec;
}

static void call_strlen(void)
{
	for (int i = 0; i < 100; i++)
		length = strlen(input);
}

/* Larger than what glibc keeps for a thread without looking further. */
static void call_malloc(void)
{
	for (int i = 0; i < 1000; i++) {
		kept = malloc(3000);
		free(kept);
	}
}

static void call_pow(void)
{
	double all = 0;

	for (int i = 0; i < 1000; i++)
		all += pow(base, 1.5);
	sum = all;
}

/* strcmp is called by qsort: nothing of the program's own. */
static void call_sort(void)
{
	memcpy(sorted, names, sizeof(sorted));
	qsort(sorted, NAMES, NAME, (int (*)(const void *, const void *))strcmp);
}

static uint32_t key_of(uint32_t i)
{
	return i % KEYS * 0x9e3779b1u;
}

static void call_hash(void)
{
	size_t found = 0;

	for (uint32_t i = 0; i < 1000; i++)
		found += table.find(key_of(i * 7)) != table.end();
	length = found;
}

static void call_tree(void)
{
	size_t found = 0;

	for (uint32_t i = 0; i < 1000; i++)
		found += tree.find(key_of(i * 7)) != tree.end();
	length = found;
}

/* Each step needs the one before. */
static void compute(void)
{
	uint64_t value = 7;

	for (int i = 0; i < 20000; i++) {
		value ^= value >> 7;
		value = value * 0x9e3779b97f4a7c15u + 1;
	}
	length = value;
}

/* Time of the turn. */
static int64_t take_turn(void (*work)(void))
{
	int64_t begin = now(), end;

	do {
		work();
		end = now();
	} while (end - begin < turn);
	return end - begin;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} modes[] = {{"strlen", call_strlen}, {"malloc", call_malloc}, {"pow", call_pow},
		{"sort", call_sort}, {"hash", call_hash}, {"tree", call_tree}};
	void (*call)(void) = nullptr;
	int64_t calls = 0, own = 0;

	if (argc != 4)
		return 2;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			call = modes[i].call;
	double share = atof(argv[2]) / 100;
	int64_t all = (int64_t)(atof(argv[3]) * 1e9);
	if (call == nullptr || !(share > 0 && share < 1))
		return 2;
	memset(text, 'a', TEXT - 1);
	uint32_t random = 1;
	for (int i = 0; i < NAMES; i++)
		for (int k = 0; k < NAME - 1; k++) {
			random = random * 1664525 + 1013904223;
			names[i][k] = k < 12 ? 'x' : (char)('a' + (random >> 24) % 26);
		}
	for (uint32_t i = 0; i < KEYS; i++)
		table[key_of(i)] = tree[key_of(i)] = i;
	while (calls + own < all)
		if ((double)calls < share * (double)(calls + own))
			calls += take_turn(call);
		else
			own += take_turn(compute);
	printf("%.4f\n", (double)calls / (double)(calls + own));
	return 0;
}
