/* SPDX-License-Identifier: MIT */
/*
 * Threads that begin at any moment while events are opened on their process, which is this one: the
 * kernel's perf_event_open() is called through a table, where threads are started between two
 * calls, each bound to a CPU. Afterwards there must be samples of each, and not more than it ran
 * milliseconds.
 */
#include "base/error.h"
#include "record/events/perf_attachment.h"
#include "record/perf/perf_sources.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	N_CALLS = 12, /* before and after so many calls a thread begins */
	PERIOD_NS = 1000000,
	ENOUGH_NS = 60 * 1000000, /* that each thread is to run */
	LONGEST_WAIT_S = 60,
};

typedef struct {
	pthread_t thread;
	_Atomic pid_t tid;
	clockid_t clock;
	uint64_t start_ns, end_ns, n_samples;
} Worker;

typedef struct {
	LodePerfKernel kernel;
	Worker workers[2 * N_CALLS];
	unsigned n_workers, n_calls;
	_Atomic bool is_over;
} Fixture;

static Fixture fixture;

static void *work(void *data)
{
	Worker *self = data;
	volatile uint64_t sum = 0;

	self->tid = gettid();
	while (!fixture.is_over)
		for (int i = 0; i < 1000; i++)
			sum = sum + 1;
	return NULL;
}

/* Of those that we may use, one after the other. */
static void choose_cpu(unsigned number, cpu_set_t *out_cpus)
{
	cpu_set_t allowed;

	g_assert_cmpint(sched_getaffinity(0, sizeof(allowed), &allowed), ==, 0);
	number %= (unsigned)CPU_COUNT(&allowed);
	CPU_ZERO(out_cpus);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && number-- == 0)
			CPU_SET(cpu, out_cpus);
}

static void start_worker(void)
{
	Worker *worker = &fixture.workers[fixture.n_workers];
	pthread_attr_t attributes;
	cpu_set_t cpus;

	choose_cpu(fixture.n_workers++, &cpus);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	g_assert_cmpint(pthread_create(&worker->thread, &attributes, work, worker), ==, 0);
	pthread_attr_destroy(&attributes);
	g_assert_cmpint(pthread_getcpuclockid(worker->thread, &worker->clock), ==, 0);
}

static int open_among_births(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data)
{
	bool is_probe = cpu < 0;
	bool has_births = !is_probe && fixture.n_calls++ < N_CALLS;

	if (has_births)
		start_worker();
	int descriptor = lode_perf_kernel.open(attr, pid, cpu, user_data);
	int code = errno;
	if (has_births)
		start_worker();
	errno = code;
	return descriptor;
}

static uint64_t time_of(const Worker *worker)
{
	struct timespec time;

	clock_gettime(worker->clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool have_all_run(void)
{
	for (unsigned i = 0; i < fixture.n_workers; i++)
		if (time_of(&fixture.workers[i]) < fixture.workers[i].start_ns + ENOUGH_NS)
			return false;
	return true;
}

static void count(const struct perf_event_header *record)
{
	const uint32_t *tid = (const uint32_t *)(const void *)record + 7; /* after pid */

	for (unsigned i = 0; i < fixture.n_workers; i++)
		if (record->type == PERF_RECORD_SAMPLE && (uint32_t)fixture.workers[i].tid == *tid)
			fixture.workers[i].n_samples++;
}

static void drain(const LodePerfEventSet *events, LodePerfSources *sources)
{
	_Alignas(8) char record[1024];
	size_t size;

	for (unsigned cpu = 0; cpu < events->cpus->len; cpu++) {
		LodePerfRing *ring = &g_array_index(events->cpus, LodePerfCpu, cpu).ring;
		if (!lode_perf_ring_update(ring))
			continue;
		for (uint64_t at = ring->tail; at < ring->head;) {
			const struct perf_event_header *header = lode_perf_ring_at(ring, at, &size);
			g_assert_cmpuint(header->size, <=, sizeof(record));
			lode_perf_ring_copy(ring, at, record, header->size);
			at += header->size;
			if (!lode_perf_sources_is_double(sources, (const void *)record))
				count((const void *)record);
		}
		lode_perf_ring_release(ring);
	}
}

static void run_for_a_while(const LodePerfEventSet *events)
{
	g_autoptr(LodePerfSources) sources = lode_perf_sources_new(events);
	gint64 limit_us = g_get_monotonic_time() + (gint64)LONGEST_WAIT_S * G_USEC_PER_SEC;

	for (unsigned i = 0; i < fixture.n_workers; i++)
		fixture.workers[i].start_ns = time_of(&fixture.workers[i]);
	while (!have_all_run() && g_get_monotonic_time() < limit_us) {
		g_usleep(5000);
		drain(events, sources);
	}
	for (unsigned i = 0; i < fixture.n_workers; i++)
		fixture.workers[i].end_ns = time_of(&fixture.workers[i]);
	drain(events, sources);
}

/* In a virtual machine, time that is taken from it seems to be the threads', and has no samples. */
static void check_samples(void)
{
	for (unsigned i = 0; i < fixture.n_workers; i++) {
		const Worker *worker = &fixture.workers[i];
		double ran_ms = (double)worker->end_ns / PERIOD_NS;
		g_assert_cmpuint(worker->n_samples, >, 0);
		g_assert_cmpfloat((double)worker->n_samples, <=, 1.2 * ran_ms + 3);
	}
}

static void test_births(void)
{
	const char *const names[] = {"cpu-clock:u", NULL};
	LodePerfSamplerOptions options = {.events = names, .period = PERIOD_NS, .pid = getpid()};
	g_autoptr(GString) note = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	bool has_doubles = false;

	fixture.kernel = lode_perf_kernel;
	fixture.kernel.open = open_among_births;
	g_autoptr(GPtrArray)
		choices = lode_perf_choices_make(&fixture.kernel, &options, note, &error);
	if (choices == NULL) {
		g_test_skip(error->message);
		return;
	}
	const LodeProcessTree tree = {.pid = getpid()};
	g_autoptr(LodePerfEventSet) events = lode_perf_attachment_open(
		&fixture.kernel, choices, &tree, 0, note, &has_doubles, &error);
	g_assert_no_error(error);
	g_assert_nonnull(events);
	g_assert_true(has_doubles);
	g_assert_cmpuint(fixture.n_workers, >=, 4);
	run_for_a_while(events);
	fixture.is_over = true;
	for (unsigned i = 0; i < fixture.n_workers; i++)
		pthread_join(fixture.workers[i].thread, NULL);
	check_samples();
}

static void test_nobody(void)
{
	LodePerfSamplerOptions options = {.pid = G_MAXINT32};
	g_autoptr(GString) note = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	bool has_doubles = false;

	g_autoptr(GPtrArray)
		choices = lode_perf_choices_make(&lode_perf_kernel, &options, note, NULL);
	if (choices == NULL) {
		g_test_skip("sampling is not allowed here");
		return;
	}
	const LodeProcessTree tree = {.pid = options.pid};
	g_assert_null(lode_perf_attachment_open(
		&lode_perf_kernel, choices, &tree, 0, note, &has_doubles, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/perf-attachment/births", test_births);
	g_test_add_func("/record/perf-attachment/nobody", test_nobody);
	return g_test_run();
}
