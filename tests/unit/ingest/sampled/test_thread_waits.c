/* SPDX-License-Identifier: MIT */
/* What looks at threads that wait stand for: by hand, and against adding it up one by one. */
#include "ingest/sampled/sampled_threads.h"
#include "model/index.h"
#include "sources/perf_data/perf_data_format.h"

#include <math.h>
#include <stdlib.h>

enum { PID = 10, TID = 11 };

/* Times are in ms. */
#define MS UINT64_C(1000000)

typedef struct {
	LodeSampledThreads *threads;
	uint32_t tid;
} Recording;

static void begin(Recording *self, bool has_switches)
{
	*self = (Recording){lode_sampled_threads_new(0), TID};
	lode_sampled_threads_expect_looks(self->threads, has_switches);
}

static void clear(Recording *self)
{
	lode_sampled_threads_free(self->threads);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Recording, clear)

static LodePerfRecord record_of(const Recording *self, LodePerfRecordKind kind, double ms)
{
	return (LodePerfRecord){.kind = kind,
		.pid = PID,
		.tid = self->tid,
		.time_ns = (uint64_t)(ms * (double)MS),
		.text = "name"};
}

static void note(Recording *self, LodePerfRecordKind kind, double ms)
{
	const LodePerfRecord record = record_of(self, kind, ms);

	lode_sampled_threads_note(self->threads, &record, record.time_ns);
}

static void note_switch(Recording *self, double ms, bool is_out, bool is_preempted)
{
	LodePerfRecord record = record_of(self, LODE_PERF_SWITCH, ms);

	record.is_out = is_out;
	record.is_preempted = is_preempted;
	lode_sampled_threads_note(self->threads, &record, record.time_ns);
}

/* It does not run from one time to the other. */
static void add_gap(Recording *self, double begin_ms, double end_ms)
{
	note_switch(self, begin_ms, true, false);
	note_switch(self, end_ms, false, false);
}

static void mark(Recording *self, double ms, bool is_on)
{
	LodePerfRecord record = record_of(self, LODE_PERF_SWITCH, ms);

	record.pid = 0;
	record.tid = LODE_PERF_NO_SWITCHES_TID;
	record.is_out = !is_on;
	lode_sampled_threads_note(self->threads, &record, record.time_ns);
}

static void look(Recording *self, double ms, double interval_ms)
{
	const LodePerfRecord record = record_of(self, LODE_PERF_SAMPLE, ms);

	lode_sampled_threads_note_look(
		self->threads, &record, record.time_ns, (uint64_t)(interval_ms * (double)MS));
}

static void assert_ms(double ns, double ms)
{
	if (fabs(ns / (double)MS - ms) > 1e-6 * fmax(ms, 1))
		g_error("%.9g, not %.9g", ns / (double)MS, ms);
}

static void check_look(Recording *self, double ms, double waiting_ms, double count)
{
	const LodePerfRecord record = record_of(self, LODE_PERF_SAMPLE, ms);
	const LodeThreadLook *known = lode_sampled_threads_take_look(
		self->threads, &record, record.time_ns);

	g_assert_nonnull(known);
	assert_ms(known->waiting_ns, waiting_ms);
	if (fabs(known->count - count) > 1e-6)
		g_error("%g waits, not %g", known->count, count);
	/* each once */
	g_assert_null(lode_sampled_threads_take_look(self->threads, &record, record.time_ns));
}

static const LodeThreadLife *life_at(const Recording *self, guint i)
{
	const LodeThreadWaits *waits = lode_sampled_threads_waits(self->threads);

	g_assert_cmpuint(i, <, waits->lives->len);
	return &LODE_AT(waits->lives, LodeThreadLife, i);
}

/* A long wait has its own length, the short ones together theirs. */
static void test_lengths(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 1, 21);
	look(&made, 5, 5);
	add_gap(&made, 22, 24);
	look(&made, 23, 5);
	add_gap(&made, 25, 28);
	add_gap(&made, 29, 30);
	look(&made, 60, 5); /* it ran then */
	note(&made, LODE_PERF_EXIT, 100);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 5, 20, 1);
	check_look(&made, 23, 6, 3);
	check_look(&made, 60, 0, 0);
	assert_ms(life_at(&made, 0)->waiting_ns, 26);
	assert_ms(life_at(&made, 0)->running_ns, 74);
	assert_ms(life_at(&made, 0)->unseen_ns, 0);
	g_assert_cmpuint(lode_sampled_threads_waits(made.threads)->n_stray, ==, 1);
}

static void see_switch(Recording *self, double ms)
{
	const LodePerfRecord record = record_of(self, LODE_PERF_SAMPLE, ms);

	lode_sampled_threads_note_switch(self->threads, &record, record.time_ns);
}

/* Where the kernel told of each switch, each wait stands for itself, whatever the interval of
 * looks is; the two share one that was looked at, too. */
static void test_exact(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	for (double ms = 1; ms < 9; ms += 2) {
		see_switch(&made, ms - 0.001);
		add_gap(&made, ms, ms + ms / 10);
	}
	look(&made, 7.1, 50);
	see_switch(&made, 9.999);
	note_switch(&made, 10, true, true); /* preempted: no wait */
	note_switch(&made, 15, false, false);
	note(&made, LODE_PERF_EXIT, 100);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 0.999, 0.1, 1);
	check_look(&made, 2.999, 0.3, 1);
	check_look(&made, 4.999, 0.5, 1);
	check_look(&made, 6.999, 0.35, 0.5);
	check_look(&made, 7.1, 0.35, 0.5);
	check_look(&made, 9.999, 0, 0);
	assert_ms(life_at(&made, 0)->waiting_ns, 1.6);
	assert_ms(life_at(&made, 0)->ready_ns, 5);
	assert_ms(life_at(&made, 0)->unseen_ns, 0);
	g_assert_cmpuint(lode_sampled_threads_waits(made.threads)->n_stray, ==, 0);
	const GArray *gaps = lode_sampled_threads_waits(made.threads)->gaps;
	for (guint i = 0; i < gaps->len; i++) {
		const LodeThreadGap *gap = &LODE_AT(gaps, LodeThreadGap, i);
		g_assert_cmpint(gap->is_exact, ==, gap->kind == LODE_GAP_WAIT);
	}
}

/* Of a script, whose lines are not known by switches, looks alone count. */
static void test_script(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	see_switch(&made, 0.999);
	add_gap(&made, 1, 3);
	look(&made, 2, 5);
	see_switch(&made, 4.999);
	add_gap(&made, 5, 7);
	note(&made, LODE_PERF_EXIT, 10);
	lode_sampled_threads_note_script(made.threads, PID);
	lode_sampled_threads_freeze(made.threads, NULL);
	g_assert_cmpuint(lode_sampled_threads_waits(made.threads)->looks->len, ==, 1);
	check_look(&made, 2, 4, 2);
}

enum { WAKER = 12 };

static void wake(Recording *self, double ms, uint32_t waker, bool is_in_interrupt)
{
	LodePerfRecord record = record_of(self, LODE_PERF_SAMPLE, ms);
	const LodeWaking waking = {waker, TID, is_in_interrupt, false};

	record.tid = WAKER;
	lode_sampled_threads_note_waking(self->threads, &record, &waking, record.time_ns);
}

/* A wait ends when its thread is woken, by whom is told; then it waits for a processor, if that
 * takes longer than to wake up. */
static void test_woken(void)
{
	static const struct {
		double begin_ms, end_ms;
		LodeThreadGapKind kind;
		LodeThreadGapEnd end;
	} expected[] = {
		{1, 5, LODE_GAP_WAIT, LODE_GAP_END_BY_THREAD},
		{5, 8, LODE_GAP_READY, LODE_GAP_END_UNKNOWN},
		{10, 12.05, LODE_GAP_WAIT, LODE_GAP_END_BY_THREAD},
		{20, 24, LODE_GAP_WAIT, LODE_GAP_END_BY_INTERRUPT},
		{24, 25, LODE_GAP_READY, LODE_GAP_END_UNKNOWN},
		{30, 35, LODE_GAP_WAIT, LODE_GAP_END_BY_NONE},
		{36, 36.05, LODE_GAP_WAIT, LODE_GAP_END_BY_THREAD},
	};
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 1, 8);
	add_gap(&made, 10, 12.05);
	add_gap(&made, 20, 25);
	add_gap(&made, 30, 35);
	add_gap(&made, 36, 36.05);
	note(&made, LODE_PERF_EXIT, 40);
	wake(&made, 35.99, WAKER, false); /* while it stopped */
	wake(&made, 24, WAKER, true);
	wake(&made, 12, WAKER, false);
	wake(&made, 5, WAKER, false);
	wake(&made, 5, WAKER, false); /* told of both threads */
	wake(&made, 9, WAKER, false); /* it ran */
	wake(&made, 33, 1, false);    /* of a different PID namespace */
	lode_sampled_threads_freeze(made.threads, NULL);
	const GArray *gaps = lode_sampled_threads_waits(made.threads)->gaps;
	g_assert_cmpuint(gaps->len, ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < gaps->len; i++) {
		const LodeThreadGap *gap = &LODE_AT(gaps, LodeThreadGap, i);
		assert_ms((double)gap->begin_ns, expected[i].begin_ms);
		assert_ms((double)gap->end_ns, expected[i].end_ms);
		g_assert_cmpint(gap->kind, ==, expected[i].kind);
		g_assert_cmpint(gap->end, ==, expected[i].end);
		if (gap->end == LODE_GAP_END_BY_THREAD)
			g_assert_cmpuint(gap->waker_tid, ==, WAKER);
	}
	assert_ms(life_at(&made, 0)->waiting_ns, 4 + 2.05 + 4 + 5 + 0.05);
	assert_ms(life_at(&made, 0)->ready_ns, 3 + 1);
}

/* The stops of a thread that is executed step by step are no waits of its own; those that it begins
 * while it has breakpoints are. */
static void test_held(void)
{
	g_auto(Recording) made;
	LodeWindowTimes held;

	lode_window_times_init(&held);
	begin(&made, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 1, 21);
	look(&made, 5, 5);
	const LodePerfRecord first = record_of(&made, LODE_PERF_SWITCH, 30);
	const LodePerfRecord last = record_of(&made, LODE_PERF_SWITCH, 34);
	lode_window_times_add(&held, first.tid, first.time_ns, last.time_ns, 0.5, true);
	lode_window_times_add(&held, first.tid + 1, 0, last.time_ns, 0.5, true);
	const LodePerfRecord armed = record_of(&made, LODE_PERF_SWITCH, 39);
	const LodePerfRecord disarmed = record_of(&made, LODE_PERF_SWITCH, 45);
	lode_window_times_add(&held, first.tid, armed.time_ns, disarmed.time_ns, 0.5, false);
	lode_window_times_freeze(&held);
	add_gap(&made, 31, 32);
	look(&made, 31.5, 5);
	add_gap(&made, 33, 35);
	add_gap(&made, 40, 60);
	look(&made, 50, 5);
	note(&made, LODE_PERF_EXIT, 100);
	lode_sampled_threads_leave_out(made.threads, &held);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 5, 20, 1);
	check_look(&made, 31.5, 0, 0);
	check_look(&made, 50, 20, 1);
	assert_ms(life_at(&made, 0)->waiting_ns, 40);
	lode_window_times_clear(&held);
}

/* Two looks at one wait, one of them just after it; a long wait that nobody looked at, like one
 * that has a look, and unlike all; short ones without any look. */
static void test_unseen(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 1, 21);
	look(&made, 5, 5);
	look(&made, 21.5, 5);
	add_gap(&made, 30, 42);
	add_gap(&made, 50, 150);
	add_gap(&made, 160, 162);
	note(&made, LODE_PERF_EXIT, 200);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 5, 16, 1);
	check_look(&made, 21.5, 16, 1);
	assert_ms(life_at(&made, 0)->unseen_ns, 102);
	assert_ms(life_at(&made, 0)->unseen_count * (double)MS, 2);
	assert_ms(life_at(&made, 0)->unseen_longest_ns, 100);
	const GArray *looks = lode_sampled_threads_waits(made.threads)->looks;
	assert_ms(LODE_AT(looks, LodeThreadLook, 0).guessed_ns, 6);
}

/* What could have run waits for a processor, also before its first moment. */
static void test_ready(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note(&made, LODE_PERF_FORK, 10);
	note_switch(&made, 13, false, false);
	note_switch(&made, 20, true, true);
	look(&made, 21, 5);
	note_switch(&made, 25, false, false);
	add_gap(&made, 30, 31);
	note(&made, LODE_PERF_EXIT, 40);
	made.tid = TID + 1; /* from the beginning on */
	note_switch(&made, 0, false, false);
	made.tid = TID;
	const LodePerfRecord sample = record_of(&made, LODE_PERF_SAMPLE, 15);
	lode_sampled_threads_note_timed(made.threads, &sample, (double)(4 * MS));
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 21, 0, 0);
	assert_ms(life_at(&made, 0)->ready_ns, 8);
	assert_ms(life_at(&made, 0)->ready_longest_ns, 5);
	assert_ms(life_at(&made, 0)->ready_count * (double)MS, 2);
	assert_ms(life_at(&made, 0)->waiting_ns, 1);
	assert_ms(life_at(&made, 0)->unseen_ns, 1);
	assert_ms(lode_sampled_threads_ready(made.threads, &sample) * (double)MS, 2);
}

/* The same number is a thread's again; looks of one stand for none of the other. */
static void test_lives(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 1, 4);
	look(&made, 2, 5);
	add_gap(&made, 5, 9);
	note(&made, LODE_PERF_EXIT, 10);
	note(&made, LODE_PERF_FORK, 20);
	note_switch(&made, 20, false, false);
	add_gap(&made, 21, 23);
	look(&made, 22, 5);
	note(&made, LODE_PERF_EXIT, 30);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 2, 7, 2);
	check_look(&made, 22, 2, 1);
	g_assert_cmpuint(lode_sampled_threads_waits(made.threads)->lives->len, ==, 2);
}

/* Where a switch is missing, a look stands for its interval, as far as that is in the time. */
static void test_missing(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	note_switch(&made, 10, true, false);
	look(&made, 15, 5);
	note_switch(&made, 30, true, false);
	note_switch(&made, 33, false, false);
	look(&made, 51, 5);
	note_switch(&made, 50, false, false);
	note_switch(&made, 53, false, false);
	note(&made, LODE_PERF_EXIT, 60);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 15, 5, 1);
	check_look(&made, 51, 3, 1);
	assert_ms(life_at(&made, 0)->waiting_ns, 5 + 3 + 3);
	assert_ms(life_at(&made, 0)->unseen_ns, 3);
	g_assert_cmpuint(lode_sampled_threads_n_incomplete(made.threads), ==, 3);
}

/* Switches are recorded in [0, 100) and [200, 300) of 400 ms. One thread waits 2 of 4 ms, the other
 * once, over all windows. */
static void test_windows(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	mark(&made, 100, false);
	mark(&made, 200, true);
	mark(&made, 300, false);
	note_switch(&made, 0, false, false);
	for (double at = 0; at < 400; at += 4)
		if (at < 100 || (at >= 200 && at < 300)) {
			note_switch(&made, at + 1, true, false);
			note_switch(&made, at + 3, false, false);
		}
	look(&made, 10, 10);
	look(&made, 150, 10);
	look(&made, 160, 30);
	made.tid = TID + 1;
	note_switch(&made, 0, false, false);
	note_switch(&made, 50, true, false);
	look(&made, 120, 10);
	note_switch(&made, 250, false, false);
	note(&made, LODE_PERF_SAMPLE, 400);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 120, 200, 1);
	assert_ms(life_at(&made, 1)->unseen_ns, 0);
	made.tid = TID;
	/* a hundred waits of 2 ms that were recorded, and as many that were not */
	check_look(&made, 10, 100, 50);
	check_look(&made, 150, 25, 12.5);
	check_look(&made, 160, 75, 37.5);
	assert_ms(life_at(&made, 0)->waiting_ns, 200);
}

/* Without looks at what was not recorded it is as what was. */
static void test_without_looks_between(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	mark(&made, 100, false);
	mark(&made, 300, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 10, 12);
	look(&made, 11, 10);
	note_switch(&made, 320, false, false);
	note(&made, LODE_PERF_SAMPLE, 150);
	note(&made, LODE_PERF_SAMPLE, 310);
	note(&made, LODE_PERF_EXIT, 400);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 11, 6, 3);
}

/* Without switches a look stands for the time until something else is known of the thread. */
static void test_alone(void)
{
	g_auto(Recording) made;

	begin(&made, false);
	note(&made, LODE_PERF_COMMAND, 1);
	note(&made, LODE_PERF_SAMPLE, 3);
	look(&made, 10, 5);
	note(&made, LODE_PERF_SAMPLE, 50);
	look(&made, 52, 5);
	look(&made, 100, 5);
	note(&made, LODE_PERF_EXIT, 120);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 10, 42, 0); /* until it was visited, at 47 */
	check_look(&made, 52, 45, 0);
	check_look(&made, 100, 25, 0);
	g_assert_false(lode_sampled_threads_have_switches(made.threads));
}

/* Only a part of the time is asked for. */
static void test_wanted(void)
{
	g_auto(Recording) made;

	begin(&made, true);
	note_switch(&made, 0, false, false);
	add_gap(&made, 10, 30);
	look(&made, 15, 5);
	add_gap(&made, 40, 90);
	look(&made, 45, 5);
	note(&made, LODE_PERF_EXIT, 100);
	lode_sampled_threads_want(made.threads, 35 * MS, 60 * MS);
	lode_sampled_threads_freeze(made.threads, NULL);
	check_look(&made, 15, 0, 0);
	check_look(&made, 45, 20, 1);
	assert_ms(life_at(&made, 0)->waiting_ns, 20);
	assert_ms(life_at(&made, 0)->running_ns, 5);
}

/* --- by chance --- */

enum { N_GAPS = 400 };

typedef struct {
	double begin, end;
	unsigned looks;
} Wait;

typedef struct {
	double time, interval, expected;
	int wait; /* −1: it ran */
} Looked;

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* As thread_waits.h says it, wait by wait. */
static double expect(const Wait *waits, unsigned n_waits, Looked *looks, unsigned n_looks)
{
	double *intervals = g_new(double, n_looks), sum = 0, raw = 0, unseen = 0;

	for (unsigned i = 0; i < n_looks; i++)
		intervals[i] = looks[i].interval;
	qsort(intervals, n_looks, sizeof(double), compare);
	double least = intervals[(unsigned)(0.95 * (n_looks - 1))];
	g_free(intervals);
	for (unsigned w = 0; w < n_waits; w++)
		sum += waits[w].end - waits[w].begin < least ? waits[w].end - waits[w].begin : 0;
	for (unsigned i = 0; i < n_looks; i++) {
		const Wait *wait = looks[i].wait >= 0 ? &waits[looks[i].wait] : NULL;
		if (wait != NULL && wait->end - wait->begin < least)
			raw += fmax(wait->end - wait->begin, looks[i].interval) / wait->looks;
	}
	for (unsigned i = 0; i < n_looks; i++) {
		const Wait *wait = looks[i].wait >= 0 ? &waits[looks[i].wait] : NULL;
		if (wait == NULL)
			continue;
		double length = wait->end - wait->begin;
		looks[i].expected = length < least ? sum * fmax(length, looks[i].interval) /
		                                             wait->looks / raw
		                                   : length / wait->looks;
	}
	for (unsigned w = 0; w < n_waits; w++) {
		double length = waits[w].end - waits[w].begin;
		unsigned alike = 0;
		if ((length < least && raw > 0) || waits[w].looks > 0)
			continue;
		for (unsigned k = 0; k < n_waits; k++) {
			double other = waits[k].end - waits[k].begin;
			alike += waits[k].looks > 0 && other >= length / 2 && other <= length * 2;
		}
		unseen += alike == 0 ? length : 0;
		for (unsigned i = 0; i < n_looks && alike > 0; i++) {
			const Wait *wait = looks[i].wait >= 0 ? &waits[looks[i].wait] : NULL;
			if (wait != NULL && wait->end - wait->begin >= length / 2 &&
				wait->end - wait->begin <= length * 2)
				looks[i].expected += length / alike / wait->looks;
		}
	}
	return unseen;
}

static void check_by_chance(uint32_t seed)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);
	g_auto(Recording) made;
	Wait waits[N_GAPS];
	g_autoptr(GArray) looks = g_array_new(FALSE, TRUE, sizeof(Looked));
	double at = 1, mean = g_rand_double_range(random, 0.2, 20);

	begin(&made, true);
	note_switch(&made, 0, false, false);
	for (unsigned i = 0; i < N_GAPS; i++) {
		double length = mean * -log(g_rand_double_range(random, 1e-3, 1));
		/* whole µs, so that the lengths are the same in ns */
		waits[i] = (Wait){at, at + ceil(length * 1000) / 1000, 0};
		add_gap(&made, waits[i].begin, waits[i].end);
		/* looks come late by at most 1 ms */
		at = ceil((waits[i].end + 1.5 + g_rand_double(random) * 3) * 1000) / 1000;
	}
	note(&made, LODE_PERF_EXIT, at);
	double last = 0;
	for (double t = 3; t < at; t += ceil(g_rand_double_range(random, 2.5, 7.5) * 1000) / 1000) {
		Looked looked = {floor(t * 1000) / 1000, 0, 0, -1};
		looked.interval = looked.time - last;
		last = looked.time;
		for (int w = 0; w < N_GAPS; w++)
			if (looked.time >= waits[w].begin && looked.time <= waits[w].end + 1)
				looked.wait = w;
		if (looked.wait < 0)
			continue;
		waits[looked.wait].looks++;
		look(&made, looked.time, looked.interval);
		g_array_append_val(looks, looked);
	}
	Looked *expected = (Looked *)(void *)looks->data;
	double unseen = expect(waits, N_GAPS, expected, looks->len), sum = 0;
	lode_sampled_threads_freeze(made.threads, NULL);
	const LodeThreadWaits *found = lode_sampled_threads_waits(made.threads);
	g_assert_cmpuint(found->looks->len, ==, looks->len);
	for (guint i = 0; i < looks->len; i++) {
		double ms = LODE_AT(found->looks, LodeThreadLook, i).waiting_ns / (double)MS;
		if (fabs(ms - expected[i].expected) > 1e-3 * fmax(1, expected[i].expected))
			g_error("seed %u: look %u: %g, not %g", seed, i, ms, expected[i].expected);
		sum += ms;
	}
	g_assert_cmpfloat_with_epsilon(
		life_at(&made, 0)->unseen_ns / (double)MS, unseen, 1e-3 * fmax(1, unseen));
	g_assert_cmpfloat_with_epsilon(
		sum + unseen, life_at(&made, 0)->waiting_ns / (double)MS, 1e-6 * sum);
}

static void test_chance(void)
{
	for (uint32_t seed = 1; seed <= 40; seed++)
		check_by_chance(seed);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/thread-waits/lengths", test_lengths);
	g_test_add_func("/ingest/thread-waits/exact", test_exact);
	g_test_add_func("/ingest/thread-waits/script", test_script);
	g_test_add_func("/ingest/thread-waits/woken", test_woken);
	g_test_add_func("/ingest/thread-waits/held", test_held);
	g_test_add_func("/ingest/thread-waits/unseen", test_unseen);
	g_test_add_func("/ingest/thread-waits/ready", test_ready);
	g_test_add_func("/ingest/thread-waits/lives", test_lives);
	g_test_add_func("/ingest/thread-waits/missing", test_missing);
	g_test_add_func("/ingest/thread-waits/windows", test_windows);
	g_test_add_func("/ingest/thread-waits/without-looks-between", test_without_looks_between);
	g_test_add_func("/ingest/thread-waits/alone", test_alone);
	g_test_add_func("/ingest/thread-waits/wanted", test_wanted);
	g_test_add_func("/ingest/thread-waits/chance", test_chance);
	return g_test_run();
}
