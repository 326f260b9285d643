/* SPDX-License-Identifier: MIT */
/* What is said when the descriptors or the buffers of a recording are refused, and what is left
 * when those that can be done without are closed. */
#include "base/error.h"
#include "record/events/perf_event_set.h"

#include "fake_kernel.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int judge_nothing(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	(void)cpu;
	return 0;
}

/* Nobody is refused for want of a CPU: that is the probe. */
static int judge_descriptors(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	return cpu >= 0 ? EMFILE : 0;
}

static int judge_other_cpus(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	return cpu >= 0 ? ENOENT : 0;
}

static int judge_ended(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	return cpu >= 0 ? ESRCH : 0;
}

/* A file that may not be mapped to be written: mmap() says EPERM, as beyond mlock_kb. */
static int sealed_file(void)
{
	int descriptor = memfd_create("lode-test", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE), ==, 0);
	return descriptor;
}

static void check_refusal(
	FakeKernel *fake, LodePerfSamplerOptions *options, int code, const char *words)
{
	const char *const events[] = {"cpu-clock:u", NULL};
	g_autoptr(GString) note = g_string_new(NULL);
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(pid_t));
	g_autoptr(GError) error = NULL;
	pid_t ourselves = getpid();

	options->events = events;
	g_array_append_val(threads, ourselves);
	g_autoptr(GPtrArray) choices = lode_perf_choices_make(&fake->kernel, options, note, &error);
	g_assert_no_error(error);
	g_assert_null(lode_perf_event_set_open(&fake->kernel, choices, threads, 0, note, &error));
	g_assert_error(error, LODE_ERROR, code);
	if (strstr(error->message, words) == NULL)
		g_error("'%s' is not in '%s'", words, error->message);
}

static void test_refusals(void)
{
	static const struct {
		int (*judge)(const struct perf_event_attr *attr, int cpu);
		int (*descriptor)(void);
		int code;
		const char *words;
	} cases[] = {
		{judge_descriptors, NULL, LODE_ERROR_IO, "RLIMIT_NOFILE"},
		{judge_other_cpus, NULL, LODE_ERROR_NOT_FOUND, "does not have this event"},
		{judge_ended, NULL, LODE_ERROR_NOT_FOUND, "does not exist"},
		{judge_nothing, sealed_file, LODE_ERROR_IO,
			"kernel.perf_event_mlock_kb is 516 for each CPU"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodePerfSamplerOptions options = {0};
		FakeKernel fake;

		fake_kernel_init(&fake, cases[i].judge);
		fake.descriptor = cases[i].descriptor;
		check_refusal(&fake, &options, cases[i].code, cases[i].words);
		fake_kernel_clear(&fake);
	}
}

static void touch_pages(void)
{
	enum { SIZE = 1 << 20 };
	volatile char *pages = mmap(
		NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; at < SIZE; at += 4096)
		pages[at] = 1;
	munmap((void *)pages, SIZE);
}

static bool has_samples(LodePerfEventSet *set)
{
	bool is_any = false;

	lode_perf_event_set_begin_stretch(set, LODE_PERF_IN_SLICES, true);
	for (gint64 end_us = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;
		!is_any && g_get_monotonic_time() < end_us;) {
		touch_pages();
		for (guint i = 0; i < set->cpus->len; i++) {
			LodePerfRing *ring = &g_array_index(set->cpus, LodePerfCpu, i).ring;
			if (!lode_perf_ring_update(ring))
				continue;
			is_any = true;
			lode_perf_ring_release(ring);
		}
	}
	return is_any;
}

/* The kernel's own: rings outlive the events that are closed, and what these counted is kept. */
static void test_closing(void)
{
	const char *const events[] = {"cpu-clock:u", NULL}, *const aside[] = {
								    "page-faults:u", NULL};
	const LodePerfSamplerOptions options = {.events = events,
		.aside_events = aside,
		.frequency = 500,
		.first.ms = 500,
		.first.frequency = 1000};
	g_autoptr(GString) note = g_string_new(NULL);
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(pid_t));
	g_autoptr(GError) error = NULL;
	pid_t ourselves = getpid();
	enum { CLOCKS = 3, PAGE_FAULTS = CLOCKS, ALL = 6, OPTIONAL = 3 };

	g_array_append_val(threads, ourselves);
	g_autoptr(GPtrArray)
		choices = lode_perf_choices_make(&lode_perf_kernel, &options, note, &error);
	g_autoptr(LodePerfEventSet) set = choices != NULL
	                                          ? lode_perf_event_set_open(&lode_perf_kernel,
							    choices, threads, 8, note, &error)
	                                          : NULL;
	if (set == NULL || choices->len != ALL) {
		g_test_skip("the kernel refuses events");
		return;
	}
	guint n_cpus = set->cpus->len;
	g_assert_cmpuint(lode_perf_event_set_count_optional(set), ==, OPTIONAL * n_cpus);
	lode_perf_event_set_enable(set, true);
	touch_pages();
	lode_perf_event_set_enable(set, false);
	uint64_t faults = lode_perf_event_set_count(set, PAGE_FAULTS);
	g_assert_cmpuint(faults, >, 0);
	lode_perf_event_set_close_optional(set);
	g_assert_cmpuint(set->descriptors->len, ==, (ALL - OPTIONAL) * n_cpus);
	g_assert_cmpuint(lode_perf_event_set_count_optional(set), ==, 0);
	g_assert_cmpuint(lode_perf_event_set_count(set, PAGE_FAULTS), ==, faults);
	for (guint i = 0; i < n_cpus; i++) {
		guint polled = g_array_index(set->cpus, LodePerfCpu, i).polled;
		g_assert_cmpuint(
			g_array_index(set->descriptors, LodePerfDescriptor, polled).cpu, ==, i);
	}
	g_assert_true(has_samples(set));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/perf-event-set/refusals", test_refusals);
	g_test_add_func("/record/perf-event-set/closing", test_closing);
	return g_test_run();
}
