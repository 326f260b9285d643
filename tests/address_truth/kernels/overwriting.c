/* SPDX-License-Identifier: MIT */
/*
 * Loads that overwrite their own base or index: lists, widened elements, tables; in loops that are
 * left early, skip the load, call a function, or are nested, and in recursive functions.
 */
#include "kernel.h"

struct node {
	struct node *next;
	struct node *left, *right;
	int64_t key;
};

typedef struct {
	struct node *nodes;
	int32_t *numbers;
	uint16_t *halves;
	uint8_t *bytes;
	uint32_t mask;
} Data;

#define APART __attribute__((noinline))

static APART int64_t walk(const struct node *node)
{
	int64_t n = 0;

	for (; node != NULL; node = node->next)
		n++;
	return n;
}

static APART int64_t walk_twice(const struct node *node)
{
	int64_t n = 0;

	while (node != NULL && node->next != NULL) {
		node = node->next->next;
		n += 2;
	}
	return n;
}

/* The list is left where the key is found. */
static APART int64_t find(const struct node *node, int64_t key)
{
	while (node != NULL && node->key != key)
		node = node->next;
	return node != NULL ? node->key : -1;
}

static APART int64_t widen(const Data *data, uint32_t state, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += data->numbers[kernel_random(&state) & data->mask];
	return sum;
}

static APART uint64_t widen_small(const Data *data, uint32_t state, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += data->halves[kernel_random(&state) & data->mask];
		sum ^= data->bytes[kernel_random(&state) & data->mask];
	}
	return sum;
}

/* The load is left out in some rounds. */
static APART int64_t widen_some(const Data *data, uint32_t state, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t x = kernel_random(&state);

		if (x & 12)
			sum += data->numbers[x & data->mask];
		else
			sum ^= (int64_t)x;
	}
	return sum;
}

/* The loop is left by what was loaded. */
static APART int64_t widen_until(const Data *data, uint32_t state)
{
	int64_t sum = 0, number;

	do {
		number = data->numbers[kernel_random(&state) & data->mask];
		sum += number;
	} while (number % 5 != 0);
	return sum;
}

static APART uint32_t mix(uint32_t x)
{
	return (x ^ x >> 7) * 2654435769u;
}

static APART int64_t widen_mixed(const Data *data, size_t n)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += data->numbers[mix(i) >> 8 & data->mask];
	return sum;
}

static APART int64_t widen_short(const Data *data, size_t n)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < 3; k++)
			sum += data->numbers[(i * 7 + k * 13) & data->mask];
	return sum;
}

static APART int64_t count(const struct node *node)
{
	return node == NULL ? 0 : 1 + count(node->left) + count(node->right);
}

static APART int64_t look_up(const struct node *node, int64_t key)
{
	while (node != NULL && node->key != key)
		node = key < node->key ? node->left : node->right;
	return node != NULL;
}

static APART int follow(const int32_t *numbers, int i, size_t n)
{
	while (n-- > 0)
		i = numbers[i];
	return i;
}

/* A called function of the C library, and its result. */
static APART int64_t walk_calling(const struct node *node)
{
	int64_t n = 0;

	for (; node != NULL; node = node->next)
		n += labs((long)n - 5);
	return n;
}

static void plant(struct node *nodes, size_t low, size_t high, struct node **out_root)
{
	size_t middle = (low + high) / 2;

	*out_root = NULL;
	if (low >= high)
		return;
	*out_root = &nodes[middle];
	plant(nodes, low, middle, &nodes[middle].left);
	plant(nodes, middle + 1, high, &nodes[middle].right);
}

static void make(Data *data, size_t n, uint32_t state)
{
	data->mask = 1;
	while (data->mask * 2 < n)
		data->mask *= 2;
	data->mask--;
	for (size_t i = 0; i < n; i++) {
		data->numbers[i] = (int32_t)(kernel_random(&state) % n);
		data->halves[i] = (uint16_t)data->numbers[i];
		data->bytes[i] = (uint8_t)data->numbers[i];
		data->nodes[i].key = (int64_t)i;
		data->nodes[i].next = i + 1 < n ? &data->nodes[(i * 7 + 3) % n] : NULL;
	}
	/* a list through a third of them */
	for (size_t i = 0; i + 3 < n; i += 3)
		data->nodes[i].next = &data->nodes[i + 3];
	data->nodes[(n - 1) / 3 * 3].next = NULL;
}

static void kernel_run(Kernel *self)
{
	Data data = {
		.nodes = kernel_array(self->n, sizeof(struct node)),
		.numbers = kernel_array(self->n, sizeof(int32_t)),
		.halves = kernel_array(self->n, sizeof(uint16_t)),
		.bytes = kernel_array(self->n, 1),
	};
	struct node *root;

	make(&data, self->n, self->seed);
	plant(data.nodes, 0, self->n, &root);
	for (unsigned round = 0; round < self->rounds; round++) {
		uint32_t state = self->seed + round;
		int64_t sum = walk(data.nodes) + walk_twice(data.nodes);

		for (int64_t key = 0; key < 8; key++) {
			sum += find(data.nodes, 3 * key) + look_up(root, 5 * key);
			sum += widen_until(&data, state + (uint32_t)key);
		}
		sum += widen(&data, state, 60) + widen_some(&data, state, 60);
		sum += (int64_t)widen_small(&data, state, 60) + widen_mixed(&data, 60);
		sum += widen_short(&data, 20) + count(root) + follow(data.numbers, 1, 60);
		sum += walk_calling(data.nodes);
		self->result += (uint64_t)sum;
	}
}
