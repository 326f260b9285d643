/* SPDX-License-Identifier: MIT */
/* Sorts numbers and structures: recursion, branches nobody can predict, swaps through the stack. */
#include "kernel.h"

struct item {
	uint32_t key;
	char name[12];
};

static void sort_numbers(int *numbers, long low, long high)
{
	long i = low, j = high;
	int pivot = numbers[(low + high) / 2];

	while (i <= j) {
		while (numbers[i] < pivot)
			i++;
		while (numbers[j] > pivot)
			j--;
		if (i <= j) {
			int swapped = numbers[i];
			numbers[i++] = numbers[j];
			numbers[j--] = swapped;
		}
	}
	if (low < j)
		sort_numbers(numbers, low, j);
	if (i < high)
		sort_numbers(numbers, i, high);
}

static void sift_down(struct item *items, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		struct item swapped = items[at];
		if (child + 1 < n && items[child + 1].key > items[child].key)
			child++;
		if (items[child].key <= swapped.key)
			return;
		items[at] = items[child];
		items[child] = swapped;
	}
}

static void sort_items(struct item *items, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(items, i, n);
	for (size_t i = n; i-- > 1;) {
		struct item first = items[0];
		items[0] = items[i];
		items[i] = first;
		sift_down(items, 0, i);
	}
}

static void kernel_run(Kernel *self)
{
	int *numbers = kernel_array(self->n, sizeof(*numbers));
	struct item *items = kernel_array(self->n, sizeof(*items));
	uint32_t state = self->seed;

	for (unsigned round = 0; round < self->rounds; round++) {
		for (size_t i = 0; i < self->n; i++) {
			numbers[i] = (int)kernel_random(&state);
			items[i].key = kernel_random(&state);
			items[i].name[i % sizeof(items[i].name)] = (char)i;
		}
		sort_numbers(numbers, 0, (long)self->n - 1);
		sort_items(items, self->n);
		self->result += (uint64_t)numbers[self->n / 2] + items[self->n / 3].key;
	}
}
