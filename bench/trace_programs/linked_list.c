/* SPDX-License-Identifier: MIT */
/* Follows a list of 100,000 nodes in random order, fifty times: a pointer chase. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, ROUNDS = 50 };

struct node {
	struct node *next;
	long key;
	long unused[2];
};

int main(void)
{
	struct node **nodes = malloc(N * sizeof(*nodes));
	const struct node *at;
	long sum = 0;

	for (int i = 0; i < N; i++) {
		nodes[i] = malloc(sizeof(**nodes));
		nodes[i]->key = i;
	}
	srand(1);
	for (int i = N - 1; i > 0; i--) {
		int j = rand() % (i + 1);
		struct node *swapped = nodes[i];

		nodes[i] = nodes[j];
		nodes[j] = swapped;
	}
	for (int i = 0; i < N; i++)
		nodes[i]->next = nodes[(i + 1) % N];
	at = nodes[0];
	for (int i = 0; i < N * ROUNDS; i++, at = at->next)
		sum += at->key;
	printf("%ld\n", sum);
	return 0;
}
