/* SPDX-License-Identifier: MIT */
/* Nanoseconds of CLOCK_MONOTONIC, in which recordings have all their times. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t lode_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
