/* SPDX-License-Identifier: MIT */
/* Multiplies square matrices of about ELEMENTS elements, in two orders of the loops. */
#include "kernel.h"

static void multiply_by_rows(double *c, const double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void multiply_by_columns(double *c, const double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;
			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

static void kernel_run(Kernel *self)
{
	double *a = kernel_array(self->n, sizeof(*a));
	double *b = kernel_array(self->n, sizeof(*b));
	double *c = kernel_array(self->n, sizeof(*c));
	size_t n = 1;

	while ((n + 1) * (n + 1) <= self->n)
		n++;
	for (size_t i = 0; i < n * n; i++)
		a[i] = b[i] = (double)((i + self->seed) % 10);
	for (unsigned round = 0; round < self->rounds; round++) {
		multiply_by_columns(c, a, b, n);
		multiply_by_rows(c, b, a, n);
	}
	self->result = (uint64_t)c[n * n - 1];
}
