/* SPDX-License-Identifier: MIT */
/* The functions that ours stand in front of. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

typedef struct {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *block, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	int (*posix_memalign)(void **out_block, size_t alignment, size_t size);
	void *(*mmap)(void *place, size_t size, int protection, int flags, int file, off_t offset);
	void *(*mremap)(void *place, size_t old_size, size_t size, int flags, ...);
	int (*brk)(void *end);
	void *(*sbrk)(intptr_t increment);
	int (*pthread_create)(pthread_t *out_thread, const pthread_attr_t *attributes,
		void *(*start)(void *), void *argument);
	int (*thrd_create)(thrd_t *out_thread, thrd_start_t start, void *argument);
} RealFunctions;

/* NULL while they are being looked for, which may itself want memory: there is none then, and the
 * dynamic linker can do without. */
const RealFunctions *real_functions(void);
