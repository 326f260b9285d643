/* SPDX-License-Identifier: MIT */
#include "record/events/sample_cost.h"

#include "base/arrays/sort_order.h"

#include <time.h>
#include <unistd.h>

enum {
	PERIOD_NS = 100 * 1000,
	ENOUGH = 31, /* samples */
	FEWEST = 7,
	LONGEST_NS = 20 * 1000 * 1000, /* to wait for them, where other programs run too */
	SHORTEST_GAP_NS = 500,         /* an interrupt takes longer, a cache miss does not */
	LONGEST_GAP_NS = PERIOD_NS,    /* another program ran */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t lode_sample_cost_ns(const LodePerfKernel *kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int descriptor = kernel->open(&attr, 0, -1, kernel->user_data);
	uint64_t gaps[ENOUGH];
	size_t n = 0;

	if (descriptor < 0)
		return 0;
	uint64_t start_ns = now_ns(), last_ns = start_ns;
	while (n < ENOUGH && last_ns - start_ns < LONGEST_NS) {
		uint64_t at_ns = now_ns();
		if (at_ns - last_ns > SHORTEST_GAP_NS && at_ns - last_ns < LONGEST_GAP_NS)
			gaps[n++] = at_ns - last_ns;
		last_ns = at_ns;
	}
	close(descriptor);
	qsort(gaps, n, sizeof(gaps[0]), lode_compare_u64);
	return n >= FEWEST ? gaps[n / 2] : 0;
}
