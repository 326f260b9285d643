/* SPDX-License-Identifier: MIT */
/* Nanoseconds of CLOCK_MONOTONIC, in which recordings have all their times; and of a thread's
 * processor time. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t lode_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The processor time that this thread has taken. */
static inline uint64_t lode_thread_ns(void)
{
	struct timespec taken;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
	return (uint64_t)taken.tv_sec * 1000000000 + (uint64_t)taken.tv_nsec;
}
