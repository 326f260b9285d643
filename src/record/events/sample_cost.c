/* SPDX-License-Identifier: MIT */
#include "record/events/sample_cost.h"

#include "base/arrays/sort_order.h"
#include "base/monotonic_clock.h"
#include "machine/machine_speed.h"
#include "record/perf/perf_ring.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	RUNS = 1200,
	PAGES = 64,
	FREQUENCY = 10000,   /* so that there are enough samples */
	FEWEST_SAMPLES = 20, /* else the cost is not known */
};

/* Programs differ in what an interrupt costs them, by what it takes from their caches. */
static const double OTHER_PROGRAM = 0.05;

static unsigned take_samples(LodePerfRing *ring)
{
	struct perf_event_header header;
	unsigned n = 0;

	if (!lode_perf_ring_update(ring))
		return 0;
	for (uint64_t at = ring->tail; at + sizeof(header) <= ring->head; at += header.size) {
		lode_perf_ring_copy(ring, at, &header, sizeof(header));
		n += header.type == PERF_RECORD_SAMPLE;
		if (header.size == 0)
			break;
	}
	lode_perf_ring_release(ring);
	return n;
}

static int open_event(const LodePerfKernel *kernel, const struct perf_event_attr *attr)
{
	struct perf_event_attr own = *attr;

	own.inherit = own.enable_on_exec = own.mmap = own.mmap2 = own.mmap_data = 0;
	own.comm = own.comm_exec = own.task = own.context_switch = own.bpf_event = own.ksymbol = 0;
	own.disabled = 1;
	if (own.freq)
		own.sample_freq = (uint64_t)CLAMP(
			lode_perf_kernel_setting(kernel, "perf_event_max_sample_rate", 1), 1,
			FREQUENCY);
	return kernel->open(&own, 0, -1, kernel->user_data);
}

LodeSampleCost lode_sample_cost_measure(
	const LodePerfKernel *kernel, const struct perf_event_attr *attr)
{
	const double sigma_of_mad = 1.4826, error_of_median = 1.2533;
	int descriptor = open_event(kernel, attr);
	LodeSampleCost found = {0};
	LodePerfRing ring = {0};
	double plain_ns[RUNS], sampled_ns[RUNS];
	size_t n_plain = 0, n_sampled = 0;

	if (descriptor >= 0 && lode_perf_ring_map(&ring, descriptor, PAGES))
		ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t begin_ns = lode_now_ns();
		lode_chain_run();
		double time_ns = (double)(lode_now_ns() - begin_ns);
		if (take_samples(&ring) > 0)
			sampled_ns[n_sampled++] = time_ns;
		else
			plain_ns[n_plain++] = time_ns;
	}
	lode_perf_ring_unmap(&ring);
	if (descriptor >= 0)
		close(descriptor);
	double run_ns = lode_median(plain_ns, n_plain);
	if (run_ns <= 0)
		return found;
#if defined(__x86_64__) || defined(__aarch64__)
	found.cycles_per_ns = LODE_CHAIN_ADDITIONS / run_ns;
#endif
	double cost_ns = n_sampled >= FEWEST_SAMPLES ? lode_median(sampled_ns, n_sampled) - run_ns
	                                             : 0;
	if (cost_ns <= 0)
		return found;
	for (size_t i = 0; i < n_sampled; i++)
		sampled_ns[i] = fabs(sampled_ns[i] - run_ns - cost_ns);
	found.sample_ns = cost_ns;
	found.sample_error_ns = hypot(error_of_median * sigma_of_mad *
					      lode_median(sampled_ns, n_sampled) /
					      sqrt((double)n_sampled),
		OTHER_PROGRAM * cost_ns);
	return found;
}
