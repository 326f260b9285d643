/* SPDX-License-Identifier: MIT */
/* madvise() on whole pages inside an array's memory. */
#include "base/arrays/large_array.h"

#include <stdint.h>
#include <sys/mman.h>

void lode_large_array_advise(void *data, size_t size)
{
	const uintptr_t page = 4096;
	uintptr_t start = ((uintptr_t)data + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)data + size) & ~(page - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

GArray *lode_large_array_new(size_t element_size, size_t n)
{
	GArray *array = g_array_sized_new(FALSE, FALSE, (guint)element_size, (guint)n);

	lode_large_array_advise(array->data, n * element_size);
	return array;
}

bool lode_large_array_has_room(size_t element_size, size_t n)
{
	/* Through a volatile, since compilers leave out memory that nobody uses. */
	void *volatile probe = g_try_malloc_n(MAX(n, 1), element_size);
	bool has_room = probe != NULL;

	g_free(probe);
	return has_room;
}
