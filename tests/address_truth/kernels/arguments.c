/* SPDX-License-Identifier: MIT */
/*
 * Small functions that call no others and load where their arguments say: without optimisation
 * these lie below the stack pointer. Some change an argument, take its address, pass it in parts or
 * in a register that is used for something else, or jump before they have stored it.
 */
#include "kernel.h"

typedef struct {
	const uint32_t *items;
	size_t n;
} Span;

#define APART __attribute__((noinline))

static APART uint32_t at(const uint32_t *items, size_t i)
{
	return items[items[i & 7] % 64 + (i & 31)];
}

static APART uint32_t sum(const uint32_t *items, size_t n)
{
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += items[i];
	return total;
}

static APART uint32_t moved(const uint32_t *items, const uint32_t *end)
{
	uint32_t total = 0;

	while (items < end)
		total ^= *items++;
	return total;
}

static APART uint32_t changed(const uint32_t *items, const uint32_t *others, size_t n)
{
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++) {
		total += items[i];
		if (total & 1)
			items = others;
	}
	return total;
}

static APART uint32_t through_pointer(const uint32_t *items, const uint32_t *others, size_t n)
{
	const uint32_t *volatile *place = (const uint32_t *volatile *)&items;
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++) {
		total += items[i];
		if (total & 1)
			*place = others;
	}
	return total;
}

static APART uint32_t of_span(Span span, uint8_t first, int16_t step)
{
	uint32_t total = 0;

	for (size_t i = first; i < span.n; i += (size_t)step)
		total += span.items[i];
	return total;
}

/* rdx and rcx are overwritten by the division and the shift. */
static APART uint32_t divided(size_t a, size_t b, const uint32_t *items, const uint32_t *others)
{
	uint32_t total = 0;

	for (size_t i = 0; i < b; i++)
		total += items[i * 7919 % b] + others[a % b] + (items[i] << (others[0] & 7));
	return total;
}

/* The register of an argument gets other values. */
static APART uint32_t replaced(const uint32_t *items, const uint32_t *others, size_t n)
{
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++) {
		total += items[i];
		__asm__ volatile("mov %0, %%rdi" : : "r"(others) : "rdi");
		total += items[i];
	}
	return total;
}

static APART uint32_t chosen(const uint32_t *items, const uint32_t *others, unsigned way)
{
	switch (way) {
	case 0:
		return items[1];
	case 1:
		return others[2];
	case 2:
		return items[3] + others[4];
	case 3:
		return others[items[5] & 31];
	case 4:
		return items[others[6] & 31];
	case 5:
		return items[7] ^ others[8];
	default:
		return items[way & 63];
	}
}

static APART uint32_t of_locals(const uint32_t *items, size_t n)
{
	uint32_t own[12];
	const uint32_t *chosen_items = n > 4 ? items : own;

	for (size_t i = 0; i < 12; i++)
		own[i] = items[i] & 7;
	for (size_t i = 0; i < 12; i++)
		own[own[i] & 7] += chosen_items[i];
	return own[3];
}

static APART uint32_t of_nine(const uint32_t *a, const uint32_t *b, const uint32_t *c,
	const uint32_t *d, const uint32_t *e, const uint32_t *f, const uint32_t *g,
	const uint32_t *h, size_t n)
{
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += a[i] + b[i] * c[i] + d[i] / (e[i] | 1) + f[i] + g[i] + h[i];
	return total;
}

static void kernel_run(Kernel *self)
{
	size_t n = self->n < 128 ? 128 : self->n;
	uint32_t *items = kernel_array(n, sizeof(*items)),
		 *others = kernel_array(n, sizeof(*others));
	uint32_t state = self->seed;

	for (size_t i = 0; i < n; i++) {
		items[i] = kernel_random(&state);
		others[i] = kernel_random(&state);
	}
	for (unsigned round = 0; round < 8 * self->rounds; round++) {
		self->result += at(items, round) + sum(items, 20) + moved(others, others + 20);
		self->result += changed(items, others, 20) + through_pointer(items, others, 20);
		self->result += of_span((Span){items, 40}, 2, 3) +
		                divided(round, 20, items, others);
		self->result += replaced(items, others, 20) + chosen(items, others, round % 8);
		self->result += of_locals(items, round) + of_nine(items, others, items, others,
								  items, others, items, others, 20);
	}
}
