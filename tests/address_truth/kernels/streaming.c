/* SPDX-License-Identifier: MIT */
/* Streams through three arrays, forward and backward, of doubles and of bytes. */
#include "kernel.h"

static void add(double *restrict to, const double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = a[i] + 3.0 * b[i];
}

static uint64_t sum_back(const uint8_t *bytes, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = n; i-- > 0;)
		sum += bytes[i];
	return sum;
}

static void kernel_run(Kernel *self)
{
	double *a = kernel_array(self->n, sizeof(*a));
	double *b = kernel_array(self->n, sizeof(*b));
	double *c = kernel_array(self->n, sizeof(*c));

	for (unsigned round = 0; round < self->rounds; round++) {
		for (size_t i = 0; i < self->n; i++)
			b[i] = (double)(i + self->seed);
		add(a, b, c, self->n);
		add(c, b, a, self->n);
		self->result += sum_back((const uint8_t *)a, self->n);
	}
}
