/* SPDX-License-Identifier: MIT */
/* Planted: a step along a list whose nodes lie at random in 64 MiB, so that each waits for memory,
 * once in each function. */
#include <stdlib.h>

#include "planted_functions.h"

typedef struct node {
	struct node *next;
	uint64_t value[7];
} Node;

static Node *at;

#define WORK(n, x, sum)                                                                            \
	Node *here = at->next;                                                                     \
	at = here;                                                                                 \
	sum = COMBINE(n, sum, MIX(n, x));

enum { N_NODES = 1 << 20 };

#ifdef PLAIN
#define NEXT(i) (i) /* the first node again: it is in the cache */
#else
#define NEXT(i) (((i) + 1) % N_NODES)
#endif

/* One cycle through all of them (S. Sattolo 1986). */
__attribute__((constructor)) static void link_nodes(void)
{
	Node *nodes = calloc(N_NODES, sizeof(Node));
	uint32_t *order = malloc(N_NODES * sizeof(uint32_t));
	uint64_t random = 1;

	for (uint32_t i = 0; i < N_NODES; i++)
		order[i] = i;
	for (uint32_t i = N_NODES - 1; i > 0; i--) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint32_t j = (uint32_t)(random >> 33) % i, old = order[i];
		order[i] = order[j];
		order[j] = old;
	}
	for (uint32_t i = 0; i < N_NODES; i++)
		nodes[order[i]].next = &nodes[order[NEXT(i)]];
	at = &nodes[0];
	free(order);
}

DEFINE_PROGRAM(1000)
