/* SPDX-License-Identifier: MIT */
/* Planted side by side, each in sixty functions of its own: a signed division, a wide load of bytes
 * stored one by one, a step along a list with a store to its node, and a call through a pointer
 * that goes to one of eight functions at random. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planted_calls.h"

#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define SIXTY(F) TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4) TEN(F, 5) TEN(F, 6)

typedef struct record {
	uint64_t seen;
	struct record *next;
	uint64_t key[6];
} Record;

static Record *at;
static int divisors[64];
static uint8_t message[16];

#define DIVIDE(n)                                                                                  \
	__attribute__((noinline)) static uint64_t ratio_##n(uint64_t x)                            \
	{                                                                                          \
		int amount = (int)(x >> 36) | 1 << 27;                                             \
		x = stir(x, n);                                                                    \
		amount = amount / divisors[x >> 58] + (n);                                         \
		return stir(x + (uint64_t)amount, 3 * n);                                          \
	}
#define REJOIN(n)                                                                                  \
	__attribute__((noinline)) static uint64_t parse_##n(uint64_t x)                            \
	{                                                                                          \
		uint64_t word;                                                                     \
		x = stir(x, n);                                                                    \
		message[5] = (uint8_t)(x >> 9);                                                    \
		message[6] = (uint8_t)(x >> 17);                                                   \
		__asm__("" : "+m"(message));                                                       \
		memcpy(&word, message + 3, sizeof word);                                           \
		return stir(x ^ word, 5 * n);                                                      \
	}
#define STEP(n)                                                                                    \
	__attribute__((noinline)) static uint64_t visit_##n(uint64_t x)                            \
	{                                                                                          \
		Record *here = at;                                                                 \
		at = here->next;                                                                   \
		x = stir(x, n);                                                                    \
		here->seen = x;                                                                    \
		return stir(x, 7 * n);                                                             \
	}

SIXTY(DIVIDE)
SIXTY(REJOIN)
SIXTY(STEP)
SIXTY(DISPATCH)

enum { N_RECORDS = 1 << 14 };

static void link_records(void)
{
	Record *records = calloc(N_RECORDS, sizeof(Record));
	uint32_t *order = malloc(N_RECORDS * sizeof(uint32_t));
	uint64_t random = 20261123;

	for (uint32_t i = 0; i < N_RECORDS; i++)
		order[i] = i;
	for (uint32_t i = N_RECORDS - 1; i > 0; i--) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint32_t j = (uint32_t)(random >> 33) % i, old = order[i];
		order[i] = order[j];
		order[j] = old;
	}
	for (uint32_t i = 0; i < N_RECORDS; i++)
		records[order[i]].next = &records[order[(i + 1) % N_RECORDS]];
	at = records;
	free(order);
}

#define REPEAT(call)                                                                               \
	for (int i = 0; i < 20; i++)                                                               \
		x += call(x);
#define CALLS(n) REPEAT(ratio_##n) REPEAT(parse_##n) REPEAT(visit_##n) REPEAT(apply_##n)

int main(void)
{
	uint64_t x = 97;

	link_records();
	for (int i = 0; i < 64; i++)
		divisors[i] = 3 + 7919 * i;
	for (int round = 0; round < 12000; round++) {
		SIXTY(CALLS)
	}
	printf("%u\n", (unsigned)(x >> 32));
	return 0;
}
