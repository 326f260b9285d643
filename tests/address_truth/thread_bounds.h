/* SPDX-License-Identifier: MIT */
/* Where the arrays and stacks of a kernel's threads lie, as kernels/kernel.h writes it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	THREAD_OWN_ARRAY,
	THREAD_OWN_STACK,
	THREAD_ELSEWHERE, /* in nobody's */
	THREAD_FOREIGN,   /* another thread's */
	THREAD_N_SIDES,
} ThreadSide;

/* Its lines; the caller owns them. NULL with an error when the file cannot be read or has none. */
GArray *thread_bounds_read(const char *path, GError **error);
/* Whether it is one of the threads that work: not the one that only starts them. */
bool thread_bounds_has(const GArray *bounds, uint32_t tid);
ThreadSide thread_bounds_side(const GArray *bounds, uint32_t tid, uint64_t address);
