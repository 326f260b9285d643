/* SPDX-License-Identifier: MIT */
/* Follows a list in random order, and reads and writes its nodes. */
#include "kernel.h"

struct node {
	struct node *next;
	uint32_t key, visits;
	int64_t value;
};

static void link_nodes(struct node *nodes, size_t n, uint32_t state)
{
	for (size_t i = 0; i < n; i++)
		nodes[i].key = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = kernel_random(&state) % (i + 1);
		uint32_t key = nodes[i].key;
		nodes[i].key = nodes[other].key;
		nodes[other].key = key;
	}
	for (size_t i = 0; i < n; i++)
		nodes[nodes[i].key].next = &nodes[nodes[(i + 1) % n].key];
}

static int64_t walk(struct node *node, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		node->visits++;
		if (node->visits & 1)
			node->value += node->key;
		sum += node->value;
		node = node->next;
	}
	return sum;
}

static void kernel_run(Kernel *self)
{
	struct node *nodes = kernel_array(self->n, sizeof(*nodes));

	link_nodes(nodes, self->n, self->seed);
	for (unsigned round = 0; round < self->rounds; round++)
		self->result += (uint64_t)walk(nodes, 4 * self->n);
}
