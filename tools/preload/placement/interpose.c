/* SPDX-License-Identifier: MIT */
/*
 * The functions that stand in front of the real ones: each calls the real one with the very
 * arguments and gives back its very result; what it returned is looked at in between.
 */
#include "../real_functions.h"
#include "page_policy.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *noted(void *block, size_t size)
{
	if (block != NULL)
		page_policy_note_block(block, size);
	return block;
}

EXPORTED void *malloc(size_t size)
{
	const RealFunctions *real = real_functions();

	return real != NULL ? noted(real->malloc(size), size) : no_memory();
}

EXPORTED void *calloc(size_t n, size_t size)
{
	const RealFunctions *real = real_functions();

	return real != NULL ? noted(real->calloc(n, size), n * size) : no_memory();
}

EXPORTED void *realloc(void *block, size_t size)
{
	const RealFunctions *real = real_functions();

	return real != NULL ? noted(real->realloc(block, size), size) : no_memory();
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	const RealFunctions *real = real_functions();

	return real != NULL ? noted(real->aligned_alloc(alignment, size), size) : no_memory();
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
	const RealFunctions *real = real_functions();

	return real != NULL ? noted(real->memalign(alignment, size), size) : no_memory();
}

EXPORTED int posix_memalign(void **out_block, size_t alignment, size_t size)
{
	const RealFunctions *real = real_functions();
	int code = real != NULL ? real->posix_memalign(out_block, alignment, size) : ENOMEM;

	if (code == 0)
		noted(*out_block, size);
	return code;
}

static void *noted_mapping(void *place, size_t size)
{
	if (place != MAP_FAILED)
		page_policy_note_mapped(place, size);
	return place;
}

EXPORTED void *mmap(void *place, size_t size, int protection, int flags, int file, off_t offset)
{
	const RealFunctions *real = real_functions();

	if (real == NULL) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return noted_mapping(real->mmap(place, size, protection, flags, file, offset), size);
}

/* On 64-bit systems the same function, by its other name. */
EXPORTED void *mmap64(void *place, size_t size, int protection, int flags, int file, off64_t offset)
{
	return mmap(place, size, protection, flags, file, offset);
}

EXPORTED void *mremap(void *place, size_t old_size, size_t size, int flags, ...)
{
	const RealFunctions *real = real_functions();
	void *wanted = NULL;
	va_list arguments;

	va_start(arguments, flags);
	if ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0)
		wanted = va_arg(arguments, void *);
	va_end(arguments);
	if (real == NULL) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return noted_mapping(real->mremap(place, old_size, size, flags, wanted), size);
}

static void note_heap(const char *before)
{
	const char *after = sbrk(0);

	if (after > before)
		page_policy_note_mapped(before, (size_t)(after - before));
}

EXPORTED int brk(void *end)
{
	const RealFunctions *real = real_functions();

	if (real == NULL) {
		errno = ENOMEM;
		return -1;
	}
	const char *before = real->sbrk(0);
	int result = real->brk(end);
	if (result == 0)
		note_heap(before);
	return result;
}

EXPORTED void *sbrk(intptr_t increment)
{
	const RealFunctions *real = real_functions();

	if (real == NULL) {
		errno = ENOMEM;
		return (void *)-1;
	}
	void *before = real->sbrk(increment);
	if (before != (void *)-1 && increment > 0)
		page_policy_note_mapped(before, (size_t)increment);
	return before;
}
