/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/waits/busy_processors.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/waits.h"

#include <stdlib.h>

/* Threads that wait for a processor for a larger part of the time that they run had not all of the
 * machine's processors. */
#define READY_SHARE 0.01

/* So many threads count as running at once that did so for this part of the running time. */
#define LEAST_AT_ONCE 0.01

enum { RUNS = LODE_N_WAIT_REASONS, MOST_PROCESSORS = 4096 };

/* From this time on `n` threads run, until the next step. */
typedef struct {
	uint64_t time_ns;
	int64_t n;        /* at first: how many more */
	double others_ns; /* before it: fewer ran than could */
} Step;

LODE_ORDER(compare_steps, Step, LODE_ASCENDING(time_ns), LODE_ASCENDING(n))

static GArray *steps_new(const LodeWaitTimes *times, uint32_t recording)
{
	GArray *steps = g_array_new(FALSE, FALSE, sizeof(Step));
	int64_t n = 0;

	for (guint t = 0; t < times->threads->len; t++) {
		const LodeWaitThread *life = &LODE_AT(times->threads, LodeWaitThread, t);
		for (uint32_t i = 0; i < life->n && life->recording == recording; i++) {
			const LodeWaitInterval *run = &LODE_AT(
				times->intervals, LodeWaitInterval, life->first + i);
			const Step ends[] = {{.time_ns = run->begin_ns, .n = 1},
				{.time_ns = run->end_ns, .n = -1}};
			if (run->kind == RUNS && run->end_ns > run->begin_ns)
				g_array_append_vals(steps, ends, 2);
		}
	}
	if (steps->len > 1)
		qsort(steps->data, steps->len, sizeof(Step), compare_steps);
	for (guint i = 0; i < steps->len; i++) {
		Step *step = &LODE_AT(steps, Step, i);
		n += step->n;
		step->n = n;
	}
	return steps;
}

/* The most threads that ran at once for a part of the time. */
static uint32_t most_at_once(const GArray *steps, uint32_t most)
{
	g_autofree double *time_ns = g_new0(double, (gsize)most + 1);
	double all_ns = 0, above_ns = 0;

	for (guint i = 0; i + 1 < steps->len; i++) {
		const Step *step = &LODE_AT(steps, Step, i);
		time_ns[CLAMP(step->n, 0, (int64_t)most)] += (double)(step[1].time_ns -
								      step->time_ns);
	}
	for (uint32_t i = 1; i <= most; i++)
		all_ns += time_ns[i];
	for (uint32_t i = most; i > 1; i--) {
		above_ns += time_ns[i];
		if (above_ns >= LEAST_AT_ONCE * all_ns)
			return i;
	}
	return 1;
}

static uint32_t count(const LodeWaitTimes *times, uint32_t recording, const GArray *steps)
{
	uint32_t most = CLAMP(times->n_processors, 1, MOST_PROCESSORS);
	double ready_ns = 0, running_ns = 0;

	for (guint t = 0; t < times->threads->len; t++) {
		const LodeWaitThread *life = &LODE_AT(times->threads, LodeWaitThread, t);
		for (uint32_t i = 0; i < life->n && life->recording == recording; i++) {
			const LodeWaitInterval *one = &LODE_AT(
				times->intervals, LodeWaitInterval, life->first + i);
			double length_ns = (double)(one->end_ns - one->begin_ns);
			ready_ns += one->kind == LODE_WAIT_PROCESSOR ? length_ns : 0;
			running_ns += one->kind == RUNS ? length_ns : 0;
		}
	}
	return ready_ns > READY_SHARE * running_ns ? most_at_once(steps, most) : most;
}

uint32_t lode_busy_processors_count(const LodeWaitTimes *times, uint32_t recording)
{
	g_autoptr(GArray) steps = steps_new(times, recording);

	return count(times, recording, steps);
}

/* --- others --- */

static void sum_others(GArray *steps, uint32_t n_processors)
{
	for (guint i = 1; i < steps->len; i++) {
		const Step *last = &LODE_AT(steps, Step, i - 1);
		Step *step = &LODE_AT(steps, Step, i);
		bool are_free = last->n < (int64_t)n_processors;
		step->others_ns = last->others_ns +
		                  (are_free ? (double)(step->time_ns - last->time_ns) : 0);
	}
}

/* Until a time; before the first and after the last step nothing of the program's runs. */
static double others_until(const GArray *steps, uint64_t time_ns, uint32_t n_processors)
{
	guint next = LODE_PARTITION_POINT(
		steps->len, i, LODE_AT(steps, Step, i).time_ns <= time_ns);

	if (steps->len == 0)
		return (double)time_ns;
	if (next == 0)
		return -(double)(LODE_AT(steps, Step, 0).time_ns - time_ns);
	const Step *step = &LODE_AT(steps, Step, next - 1);
	return step->others_ns +
	       (step->n < (int64_t)n_processors ? (double)(time_ns - step->time_ns) : 0);
}

/* How long a thread waited for a processor, and how long of that for another program's. */
typedef struct {
	double all_ns, others_ns;
} Ready;

static void add_recording(const LodeWaitTimes *times, uint32_t recording, Ready *of_thread)
{
	g_autoptr(GArray) steps = steps_new(times, recording);
	uint32_t n_processors = count(times, recording, steps);

	sum_others(steps, n_processors);
	for (guint t = 0; t < times->threads->len; t++) {
		const LodeWaitThread *life = &LODE_AT(times->threads, LodeWaitThread, t);
		Ready *ready = &of_thread[life->thread];
		for (uint32_t i = 0; i < life->n && life->recording == recording; i++) {
			const LodeWaitInterval *one = &LODE_AT(
				times->intervals, LodeWaitInterval, life->first + i);
			if (one->kind != LODE_WAIT_PROCESSOR)
				continue;
			ready->all_ns += (double)(one->end_ns - one->begin_ns);
			ready->others_ns += others_until(steps, one->end_ns, n_processors) -
			                    others_until(steps, one->begin_ns, n_processors);
		}
	}
}

static void split_row(LodeProfile *profile, LodeWaits *waits, guint index, double share)
{
	LodeWait *row = &LODE_AT(waits->rows, LodeWait, index);
	LodeWait others = *row;

	if (!(share > 0))
		return;
	others.object = lode_profile_intern(profile, LODE_WAIT_OTHERS);
	if (!(share < 1)) {
		row->object = others.object;
		return;
	}
	others.waiting_ns *= share;
	others.count *= share;
	row->waiting_ns -= others.waiting_ns;
	row->count -= others.count;
	g_array_append_val(waits->rows, others);
}

void lode_busy_processors_split(LodeProfile *profile, LodeWaits *waits, const LodeWaitTimes *times,
	const LodeThreads *threads)
{
	g_autofree Ready *of_thread = g_new0(Ready, (gsize)threads->threads->len + 1);
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);
	guint n_rows = waits->rows->len;

	if (times->is_full)
		return;
	for (guint t = 0; t < times->threads->len; t++) {
		uint32_t recording = LODE_AT(times->threads, LodeWaitThread, t).recording;
		if (g_hash_table_add(done, GUINT_TO_POINTER(recording)))
			add_recording(times, recording, of_thread);
	}
	for (guint i = 0; i < n_rows; i++) {
		const LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		uint32_t thread = row->reason == LODE_WAIT_PROCESSOR
		                          ? lode_threads_look_up(
						    threads, row->pid, row->tid, UINT64_MAX)
		                          : LODE_NONE;
		if (thread != LODE_NONE && of_thread[thread].all_ns > 0)
			split_row(profile, waits, i,
				CLAMP(of_thread[thread].others_ns / of_thread[thread].all_ns, 0,
					1));
	}
}
