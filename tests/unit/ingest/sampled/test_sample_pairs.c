/* SPDX-License-Identifier: MIT */
/* Which samples make a pair, and the time between them. */
#include "ingest/sampled/registers/sample_pairs.h"

#include "ingest/sampled/sampled_threads.h"
#include "model/index.h"

enum { PID = 10, PERIOD = 1000 };

typedef struct {
	LodeSamplePairs *pairs;
	LodeWindowTimes windows;
	LodePairClock clock;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->pairs = lode_sample_pairs_new();
	lode_window_times_init(&self->windows);
	lode_window_times_freeze(&self->windows);
	self->clock = (LodePairClock){.windows = &self->windows, .period_ns = PERIOD};
	lode_sample_pairs_begin(self->pairs);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_sample_pairs_free(self->pairs);
	lode_window_times_clear(&self->windows);
}

typedef struct {
	uint32_t tid;
	uint64_t time_ns, function, rsp, rax;
} Sample;

static void add_some(Fixture *self, Sample at, uint32_t known, bool is_of_caller)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_SAMPLE, .pid = PID, .tid = at.tid, .time_ns = at.time_ns};
	const LodeUserRegisters registers = {
		.known = known, .values = {[0] = at.rax, [LODE_REGISTER_RSP] = at.rsp}};
	const LodePairSample sample = {
		.record = &record,
		.registers = &registers,
		.place = {0, at.rax},
		.function = at.function,
		.is_of_caller = is_of_caller,
	};

	lode_sample_pairs_add(self->pairs, &sample, &self->clock);
}

static void add(Fixture *self, Sample at)
{
	add_some(self, at, UINT32_MAX, false);
}

static const LodeSamplePair *pair_at(const Fixture *self, guint i)
{
	return &LODE_AT(lode_sample_pairs_list(self->pairs), LodeSamplePair, i);
}

static guint count(const Fixture *self)
{
	return lode_sample_pairs_list(self->pairs)->len;
}

static void test_which(Fixture *self, const void *data)
{
	(void)data;
	self->clock.period_ns = 0;
	add(self, (Sample){1, 1000, 7, 500, 1});
	add(self, (Sample){2, 1100, 7, 500, 2}); /* another thread */
	add(self, (Sample){1, 2000, 8, 500, 3}); /* another function */
	add(self, (Sample){1, 3000, 7, 400, 4}); /* another frame */
	g_assert_cmpuint(count(self), ==, 0);
	add(self, (Sample){1, 4000, 7, 400, 5});
	add(self, (Sample){1, 4000, 7, 400, 6}); /* no time in between */
	add(self, (Sample){1, 3500, 7, 400, 7}); /* earlier */
	g_assert_cmpuint(count(self), ==, 1);
	g_assert_cmpfloat(pair_at(self, 0)->time_ns, ==, 1000);
	g_assert_cmpuint(pair_at(self, 0)->registers[0][0], ==, 4);
	g_assert_cmpuint(pair_at(self, 0)->registers[1][0], ==, 5);
	g_assert_cmpuint(pair_at(self, 0)->places[0].address, ==, 4);
	g_assert_cmpuint(pair_at(self, 0)->places[1].address, ==, 5);
	add(self, (Sample){1, 5000, 8, 500, 8}); /* over function 7 */
	g_assert_cmpuint(count(self), ==, 2);
	g_assert_cmpfloat(pair_at(self, 1)->time_ns, ==, 3000);
	/* of another recording, whose threads have the same numbers */
	lode_sample_pairs_begin(self->pairs);
	add(self, (Sample){1, 6000, 8, 500, 9});
	g_assert_cmpuint(count(self), ==, 2);
}

/* By samples, or by the timer, which also interrupts where there is no sample. */
static void test_cost(Fixture *self, const void *data)
{
	(void)data;
	self->clock.cost_ns = 10;
	self->clock.cost_error_ns = 2;
	self->clock.period_ns = 0;
	add(self, (Sample){1, 1000, 7, 500, 1});
	add(self, (Sample){1, 1500, 8, 500, 1});
	add(self, (Sample){1, 4000, 7, 500, 1});
	g_assert_cmpfloat(pair_at(self, 0)->time_ns, ==, 3000 - 2 * 10);
	g_assert_cmpfloat(pair_at(self, 0)->error_ns, ==, 2 * 2);
	self->clock.period_ns = PERIOD;
	add(self, (Sample){1, 4990, 7, 500, 1});
	g_assert_cmpfloat(pair_at(self, 1)->time_ns, ==, 990 - 10);
	/* Without switches the time between is not known: the thread may have waited. */
	add(self, (Sample){1, 7000, 7, 500, 1});
	g_assert_cmpuint(count(self), ==, 2);
	/* A cost above the time, as a damaged file may say. */
	self->clock.cost_ns = 1e18;
	add(self, (Sample){1, 8000, 7, 500, 1});
	g_assert_cmpuint(count(self), ==, 2);
}

/* A caller makes pairs with itself as a caller only, and is no further interrupt. */
static void test_callers(Fixture *self, const void *data)
{
	(void)data;
	self->clock.period_ns = 0;
	self->clock.cost_ns = 10;
	add_some(self, (Sample){1, 1000, 7, 500, 1}, 3, false);
	add_some(self, (Sample){1, 1000, 8, 600, 2}, 5, true);
	add_some(self, (Sample){1, 2000, 8, 600, 3}, 3, false);
	g_assert_cmpuint(count(self), ==, 0);
	add_some(self, (Sample){1, 3000, 7, 500, 4}, 3, false);
	add_some(self, (Sample){1, 3000, 8, 600, 5}, 6, true);
	g_assert_cmpuint(count(self), ==, 2);
	g_assert_false(pair_at(self, 0)->is_of_caller);
	g_assert_cmpuint(pair_at(self, 0)->known, ==, 3);
	g_assert_cmpfloat(pair_at(self, 0)->time_ns, ==, 2000 - 2 * 10);
	g_assert_true(pair_at(self, 1)->is_of_caller);
	g_assert_cmpuint(pair_at(self, 1)->known, ==, 4);
	g_assert_cmpuint(pair_at(self, 1)->places[0].address, ==, 2);
	g_assert_cmpfloat(pair_at(self, 1)->time_ns, ==, 2000 - 2 * 10);
}

/* Preempted from 1,500 to 5,500, and not seen after 9,000. */
static void test_switches(Fixture *self, const void *data)
{
	const LodePerfRecord records[] = {
		{.kind = LODE_PERF_SWITCH, .pid = PID, .tid = 1, .time_ns = 500},
		{.kind = LODE_PERF_SWITCH, .pid = PID, .tid = 1, .time_ns = 1500, .is_out = true},
		{.kind = LODE_PERF_SWITCH, .pid = PID, .tid = 1, .time_ns = 5500},
		{.kind = LODE_PERF_SWITCH, .pid = PID, .tid = 1, .time_ns = 9000, .is_out = true},
	};
	g_autoptr(LodeSampledThreads) threads = lode_sampled_threads_new(0);

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(records); i++)
		lode_sampled_threads_note(threads, &records[i], records[i].time_ns);
	lode_sampled_threads_freeze(threads, NULL);
	self->clock.threads = threads;
	self->clock.cost_ns = 100;
	add(self, (Sample){1, 1000, 7, 500, 1});
	add(self, (Sample){1, 6000, 7, 500, 1});
	g_assert_cmpuint(count(self), ==, 1);
	g_assert_cmpfloat(pair_at(self, 0)->time_ns, ==, 1000 - 100);
	/* three periods, two of them without a sample */
	add(self, (Sample){1, 9000, 7, 500, 1});
	g_assert_cmpfloat(pair_at(self, 1)->time_ns, ==, 3000 - 300);
	add(self, (Sample){1, 9500, 7, 500, 1}); /* while it did not run */
	g_assert_cmpuint(count(self), ==, 2);
}

static void test_windows(Fixture *self, const void *data)
{
	(void)data;
	self->clock.period_ns = 0;
	lode_window_times_add(&self->windows, 1, 1500, 1600, 1, true);
	lode_window_times_freeze(&self->windows);
	add(self, (Sample){1, 1000, 7, 500, 1});
	add(self, (Sample){1, 2000, 7, 500, 1});
	g_assert_cmpuint(count(self), ==, 0);
	add(self, (Sample){1, 3000, 7, 500, 1});
	g_assert_cmpuint(count(self), ==, 1);
}

/* Those that are kept are of the whole time, not only of its beginning. */
static void test_many(Fixture *self, const void *data)
{
	enum { N = 100000, KEPT = 1024 };
	guint n_late = 0;

	(void)data;
	for (uint64_t i = 0; i < N; i++)
		add(self, (Sample){1, (i + 1) * PERIOD, 7, 500, i});
	g_assert_cmpuint(count(self), ==, KEPT);
	for (guint i = 0; i < KEPT; i++)
		n_late += pair_at(self, i)->registers[1][0] >= N / 2;
	g_assert_cmpuint(n_late, >, KEPT * 2 / 5);
	g_assert_cmpuint(n_late, <, KEPT * 3 / 5);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/ingest/sample-pairs/which", Fixture, NULL, set_up, test_which, tear_down);
	g_test_add("/ingest/sample-pairs/cost", Fixture, NULL, set_up, test_cost, tear_down);
	g_test_add(
		"/ingest/sample-pairs/switches", Fixture, NULL, set_up, test_switches, tear_down);
	g_test_add("/ingest/sample-pairs/windows", Fixture, NULL, set_up, test_windows, tear_down);
	g_test_add("/ingest/sample-pairs/callers", Fixture, NULL, set_up, test_callers, tear_down);
	g_test_add("/ingest/sample-pairs/many", Fixture, NULL, set_up, test_many, tear_down);
	return g_test_run();
}
