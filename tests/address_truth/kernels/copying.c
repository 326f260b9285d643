/* SPDX-License-Identifier: MIT */
/* Copies, fills, compares and searches: by the C library, by loops, by string instructions. */
#include "kernel.h"

#include <string.h>

static void copy_by_string(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void copy_words_by_string(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void fill_by_string(void *to, uint32_t value, size_t n)
{
	__asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}

/* Backward, and each with an instruction of its own. */
static void copy_back_by_string(uint8_t *to, const uint8_t *from, size_t n)
{
	const uint8_t *last_from = from + n - 1;
	uint8_t *last_to = to + n - 1;

	__asm__ volatile("std\n\t1: movsb\n\tdec %2\n\tjnz 1b\n\tcld"
			 : "+D"(last_to), "+S"(last_from), "+r"(n)
			 :
			 : "memory", "cc");
}

static size_t length_by_string(const char *text)
{
	size_t n = SIZE_MAX;

	__asm__ volatile("repne scasb" : "+D"(text), "+c"(n) : "a"(0) : "memory", "cc");
	return SIZE_MAX - 1 - n;
}

static void copy_bytes(volatile uint8_t *to, const volatile uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static void copy_by_pointers(uint32_t *to, const uint32_t *from, size_t n)
{
	while (n-- > 0)
		*to++ = *from++ ^ 1;
}

static void kernel_run(Kernel *self)
{
	uint8_t *a = kernel_array(self->n + 1, 8);
	uint8_t *b = kernel_array(self->n + 1, 8);

	for (unsigned round = 0; round < self->rounds; round++) {
		fill_by_string(a, 0x01010101u * (self->seed & 0x7f), 2 * self->n);
		copy_by_string(b, a, self->n);
		copy_words_by_string(b, a, self->n);
		copy_bytes(a, b + 1, self->n);
		copy_by_pointers((uint32_t *)(void *)b, (const uint32_t *)(const void *)a, self->n);
		copy_back_by_string(b, a, self->n);
		memcpy(b, a, 8 * self->n);
		memmove(b + 1, b, 8 * self->n - 1);
		memset(a, (int)round + 1, 4 * self->n);
		a[self->n] = 0;
		self->result += length_by_string((const char *)a) + (uint64_t)memcmp(a, b, 8);
		copy_by_string(b, a, round % 2);
	}
}
