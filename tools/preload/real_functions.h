/* SPDX-License-Identifier: MIT */
/* The functions that ours stand in front of: those that come next in the order of symbols. */
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
	void *(*reallocarray)(void *block, size_t n, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	int (*posix_memalign)(void **out_block, size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	void (*free)(void *block);
	void *(*mmap)(
		void *place, size_t size, int protection, int flags, int descriptor, off_t offset);
	int (*munmap)(void *place, size_t size);
	void *(*mremap)(void *place, size_t size, size_t new_size, int flags, ...);
	int (*brk)(void *end);
	void *(*sbrk)(intptr_t increment);
	int (*pthread_create)(pthread_t *out_thread, const pthread_attr_t *attributes,
		void *(*start)(void *), void *argument);
	int (*thrd_create)(thrd_t *out_thread, thrd_start_t start, void *argument);
	int (*dlclose)(void *library);
} RealFunctions;

/*
 * NULL while they are being looked for, which may itself allocate. The dynamic linker can do
 * without the memory, but a library whose malloc() is called then may have to give some of its own.
 */
const RealFunctions *real_functions(void);
