/* SPDX-License-Identifier: MIT */
/* Processor time of a simulated program, divided between its code and the kernel. */
#include "ingest/sampled/processor_time.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>

static const double PERIOD = 1e9 / 1500, TICK = 1e9 / 250;

typedef struct {
	double user_ns, kernel_ns; /* as they were spent */
	double ticks[2];           /* in user mode and the kernel */
	double samples[2];
} Spent;

/* The program is in either for 10 to 90 us at a time; of these, `kernel` is the share of the
 * kernel. */
static Spent spend(double seconds, double kernel, uint32_t seed)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
	double tick = g_rand_double_range(rand, 0, TICK), sample = PERIOD;
	Spent spent = {0};

	for (double at = 0; at < 1e9 * seconds;) {
		bool is_kernel = g_rand_double(rand) < kernel;
		double length = g_rand_double_range(rand, 10e3, 90e3);
		at += length;
		*(is_kernel ? &spent.kernel_ns : &spent.user_ns) += length;
		for (; tick < at; tick += TICK)
			spent.ticks[is_kernel]++;
		for (; sample < at; sample += PERIOD)
			spent.samples[is_kernel]++;
	}
	return spent;
}

/* As the kernel does: the sum is exact, and divided as the ticks are. */
static LodeProcessorTime account(const Spent *spent)
{
	double all = (spent->user_ns + spent->kernel_ns) / 1e9;
	double ticks = spent->ticks[0] + spent->ticks[1];

	return (LodeProcessorTime){all * spent->ticks[0] / ticks, all * spent->ticks[1] / ticks, 0};
}

static LodeTimerSamples sampled(const Spent *spent, bool has_kernel)
{
	return (LodeTimerSamples){.period_ns = PERIOD,
		.user_ns = PERIOD * spent->samples[0],
		.kernel_ns = has_kernel ? PERIOD * spent->samples[1] : 0,
		.has_kernel = has_kernel,
		.n_threads = 1};
}

/* The mean square of the distances from the truth is what the errors say, and a third of that of
 * the ticks or less. */
static void test_many_programs(const void *has_kernel)
{
	double ticks = 0, samples = 0, told = 0;

	for (uint32_t seed = 0; seed < 400; seed++) {
		const Spent spent = spend(0.5, 0.05 + 0.001 * seed, seed);
		LodeProcessorTime time = account(&spent);
		const LodeTimerSamples timer = sampled(&spent, has_kernel != NULL);
		double all = time.user_seconds + time.system_seconds, truth = spent.kernel_ns / 1e9;
		ticks += pow((time.system_seconds - truth) / all, 2) / 400;
		lode_processor_time_divide(&time, &timer);
		g_assert_cmpfloat_with_epsilon(time.user_seconds + time.system_seconds, all, 1e-9);
		samples += pow((time.system_seconds - truth) / all, 2) / 400;
		told += pow(time.system_error / all, 2) / 400;
	}
	g_assert_cmpfloat(samples, <, ticks / 3);
	g_assert_cmpfloat(samples, <, 1.3 * told);
	g_assert_cmpfloat(samples, >, told / 4);
}

/* Threads that end before their first sample, and time that other virtual machines took, do not
 * make time in the kernel. */
static void test_few_samples(void)
{
	static const LodeProcessorTime accounts = {0.3, 0.1, 0};
	static const LodeTimerSamples cases[] = {
		{.period_ns = PERIOD, .user_ns = 0, .n_threads = 300},
		{.period_ns = PERIOD, .user_ns = 0.2e9, .n_threads = 1, .steal = 0.3},
		{.period_ns = 0, .user_ns = 0.3e9},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProcessorTime time = accounts;
		lode_processor_time_divide(&time, &cases[i]);
		g_assert_cmpfloat_with_epsilon(time.user_seconds, 0.3, 1e-12);
		g_assert_cmpfloat_with_epsilon(time.system_seconds, 0.1, 1e-12);
		g_assert_cmpfloat(time.system_error, >, 0);
	}
}

/* The kernel's ticks may have charged windows to either. */
static void test_windows(void)
{
	LodeProcessorTime time = {0.45, 0.05, 0}, alone = time;
	LodeTimerSamples timer = {.windows_seconds = 0.05};

	lode_processor_time_divide(&alone, &(LodeTimerSamples){0});
	lode_processor_time_divide(&time, &timer);
	g_assert_cmpfloat(time.system_error, >, 2 * alone.system_error);
}

static void test_unknown(void)
{
	LodeProcessorTime time = {0};
	const LodeTimerSamples timer = {.period_ns = PERIOD, .user_ns = PERIOD, .n_threads = 1};

	lode_processor_time_divide(&time, &timer);
	g_assert_cmpfloat(time.user_seconds, ==, 0);
	g_assert_cmpfloat(time.system_seconds, ==, 0);
	g_assert_cmpfloat(time.system_error, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/processor-time/many-programs", NULL, test_many_programs);
	g_test_add_data_func(
		"/processor-time/many-programs-with-kernel", "kernel", test_many_programs);
	g_test_add_func("/processor-time/few-samples", test_few_samples);
	g_test_add_func("/processor-time/windows", test_windows);
	g_test_add_func("/processor-time/unknown", test_unknown);
	return g_test_run();
}
