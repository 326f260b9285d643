/* SPDX-License-Identifier: MIT */
#include "ingest/windows/window_times.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

enum { MAX_TIMES = 1 << 22 }; /* 10 days with 5 windows a second */

typedef struct {
	uint64_t begin_ns, end_ns; /* the end with the return */
	uint64_t stopped_until_ns; /* the same where it stops the thread, else 0 */
	double running_ns;
	uint32_t tid;
} Time;

void lode_window_times_init(LodeWindowTimes *self)
{
	self->times = g_array_new(FALSE, FALSE, sizeof(Time));
}

void lode_window_times_clear(LodeWindowTimes *self)
{
	g_clear_pointer(&self->times, g_array_unref);
}

void lode_window_times_add(LodeWindowTimes *self, uint32_t tid, uint64_t begin_ns, uint64_t end_ns,
	double running, bool stops)
{
	uint64_t until_ns = MAX(end_ns, end_ns + LODE_WINDOW_RETURN_NS); /* if it is absurd */
	const Time time = {
		begin_ns,
		until_ns,
		stops ? until_ns : 0,
		running * (double)(end_ns - begin_ns),
		tid,
	};

	if (self->times->len < MAX_TIMES)
		g_array_append_val(self->times, time);
}

LODE_ORDER(compare_times, Time, LODE_ASCENDING(tid), LODE_ASCENDING(begin_ns))

void lode_window_times_freeze(LodeWindowTimes *self)
{
	g_array_sort(self->times, compare_times);
	/* One that lies in another one does not hide its end. */
	for (guint i = 1; i < self->times->len; i++) {
		const Time *before = &LODE_AT(self->times, Time, i - 1);
		Time *time = &LODE_AT(self->times, Time, i);
		if (time->tid != before->tid)
			continue;
		time->end_ns = MAX(time->end_ns, before->end_ns);
		time->stopped_until_ns = MAX(time->stopped_until_ns, before->stopped_until_ns);
	}
}

/* The last window of a thread that began until then; NULL: there is none. */
static const Time *last_before(const LodeWindowTimes *self, uint32_t tid, uint64_t time_ns)
{
	const Time *times = (const Time *)(const void *)self->times->data;
	guint after = LODE_PARTITION_POINT(self->times->len, i,
		times[i].tid < tid || (times[i].tid == tid && times[i].begin_ns <= time_ns));

	return after > 0 && times[after - 1].tid == tid ? &times[after - 1] : NULL;
}

bool lode_window_times_has(const LodeWindowTimes *self, uint32_t tid, uint64_t time_ns)
{
	const Time *time = last_before(self, tid, time_ns);

	return time != NULL && time_ns < time->end_ns;
}

bool lode_window_times_has_stopped(const LodeWindowTimes *self, uint32_t tid, uint64_t time_ns)
{
	const Time *time = last_before(self, tid, time_ns);

	return time != NULL && time_ns < time->stopped_until_ns;
}

double lode_window_times_running(
	const LodeWindowTimes *self, uint32_t tid, uint64_t begin_ns, uint64_t end_ns)
{
	const Time *times = (const Time *)(const void *)self->times->data;
	guint n = self->times->len;
	double sum = 0;

	for (guint i = LODE_PARTITION_POINT(n, k,
		     times[k].tid < tid || (times[k].tid == tid && times[k].begin_ns < begin_ns));
		i < n && times[i].tid == tid && times[i].begin_ns <= end_ns; i++)
		sum += times[i].running_ns;
	return sum;
}
