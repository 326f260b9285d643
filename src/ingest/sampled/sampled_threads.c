/* SPDX-License-Identifier: MIT */
/*
 * What is noted is sorted by thread and time, and followed thread by thread. The slices in which
 * threads ran become steps of one count over time, in which samples are looked up.
 */
#include "ingest/sampled/sampled_threads.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/process.h"
#include "sources/perf_data/perf_data_format.h"

#include <stdlib.h>

enum { MAX_NOTES = 1 << 25, MAX_WINDOWS = 1 << 20 };

/* A thread that is woken has a processor after this time, where one is free. */
#define WAKE_UP_NS UINT64_C(100000)

/* So long before it has stopped to run a thread may be woken. */
#define STOPPING_NS UINT64_C(20000)

/* Less than this share of the running time side by side is a process that starts another one. */
#define LEAST_OVERLAP 0.01

typedef enum {
	NOTE_BEGIN,
	NOTE_ALIVE,  /* it has a name: it exists */
	NOTE_LOOKED, /* it was looked at: it exists, and it waits */
	NOTE_SEEN,   /* the first or the last sample in a window */
	NOTE_IN,
	NOTE_OUT,
	NOTE_PREEMPTED,
	NOTE_EXIT,
} NoteKind;

typedef struct {
	uint64_t time_ns;
	uint32_t thread;
	NoteKind kind;
} Note;

typedef struct {
	uint32_t pid, tid;
	uint32_t window; /* of its notes of samples; LODE_NONE: there are none */
	guint seen;      /* the first of the two */
	guint between;   /* windows that there were at its last note between two; 0: none */
	bool is_looked_at;
	double timed;    /* weight of its samples of a timer */
	double ready_ns; /* that it waited for a processor, in all its lives */
} Thread;

typedef struct {
	uint64_t time_ns;
	uint32_t woken; /* tid */
	uint32_t waker_pid, waker_tid;
	LodeThreadGapEnd end;
} Waking;

/* A time in which switches were recorded. */
typedef struct {
	uint64_t on_ns, off_ns;
	double scale; /* the time from here to the next one ÷ that of this one */
} Window;

/* From here on so many threads run. */
typedef struct {
	uint64_t time_ns;
	int64_t n; /* until all are sorted: by how many more */
} Step;

/* A thread ran then. */
typedef struct {
	uint64_t begin_ns, end_ns;
	uint64_t before_ns; /* for which it had run in its window until then */
	uint32_t thread, window;
} Slice;

struct LodeSampledThreads {
	guint limit;
	LodeIdCache ids;
	GArray *threads;     /* Thread */
	GArray *notes;       /* Note */
	GArray *wakings;     /* Waking */
	GHashTable *scripts; /* set of pid */
	GArray *windows;     /* Window, one after the other */
	GArray *steps;       /* Step */
	GArray *slices;      /* Slice, by thread and time */
	GArray *times;       /* LodeThreadTime, without names */
	LodeThreadWaits waits;
	const LodeWindowTimes *held; /* when threads were stopped, and did not wait; NULL: never */
	bool expects_looks, has_no_switches;
	uint64_t wanted_begin_ns, wanted_end_ns; /* of the waits */
	uint64_t begin_ns, end_ns;
	uint64_t full_ns; /* notes from here on are missing */
	uint64_t n_incomplete;
	bool has_lost, is_parallel;
	guint hint; /* the step that was found last */
};

LodeSampledThreads *lode_sampled_threads_new(guint limit)
{
	LodeSampledThreads *self = g_new0(LodeSampledThreads, 1);
	const Window all = {0, UINT64_MAX, 1};

	self->limit = limit > 0 ? limit : MAX_NOTES;
	lode_id_cache_init(&self->ids);
	self->threads = g_array_new(FALSE, FALSE, sizeof(Thread));
	self->notes = g_array_new(FALSE, FALSE, sizeof(Note));
	self->wakings = g_array_new(FALSE, FALSE, sizeof(Waking));
	self->scripts = g_hash_table_new(NULL, NULL);
	self->windows = g_array_new(FALSE, FALSE, sizeof(Window));
	self->steps = g_array_new(FALSE, FALSE, sizeof(Step));
	self->slices = g_array_new(FALSE, FALSE, sizeof(Slice));
	self->times = g_array_new(FALSE, FALSE, sizeof(LodeThreadTime));
	lode_thread_waits_init(&self->waits);
	self->begin_ns = self->full_ns = self->wanted_end_ns = UINT64_MAX;
	g_array_append_val(self->windows, all);
	return self;
}

void lode_sampled_threads_free(LodeSampledThreads *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->ids);
	g_array_unref(self->threads);
	g_array_unref(self->notes);
	g_array_unref(self->wakings);
	g_hash_table_unref(self->scripts);
	g_array_unref(self->windows);
	g_array_unref(self->steps);
	g_array_unref(self->slices);
	g_array_unref(self->times);
	lode_thread_waits_clear(&self->waits);
	g_free(self);
}

/* How many windows begin before a time. */
static uint32_t windows_before(const LodeSampledThreads *self, uint64_t time_ns)
{
	const Window *windows = (const Window *)(const void *)self->windows->data;

	return LODE_PARTITION_POINT(self->windows->len, i, windows[i].on_ns <= time_ns);
}

/* The window that a time lies in; LODE_NONE: in none. */
static uint32_t window_of(const LodeSampledThreads *self, uint64_t time_ns)
{
	const Window *windows = (const Window *)(const void *)self->windows->data;
	uint32_t after = windows_before(self, time_ns);

	return after > 0 && time_ns < windows[after - 1].off_ns ? after - 1 : LODE_NONE;
}

/* Windows follow each other; a mark that contradicts that is skipped. */
static void take_mark(LodeSampledThreads *self, bool is_out, uint64_t time_ns)
{
	Window *last = &LODE_AT(self->windows, Window, self->windows->len - 1);
	const Window next = {time_ns, UINT64_MAX, 1};

	if (is_out && last->off_ns == UINT64_MAX && time_ns >= last->on_ns)
		last->off_ns = time_ns;
	else if (!is_out && last->off_ns <= time_ns && self->windows->len < MAX_WINDOWS)
		g_array_append_val(self->windows, next);
}

static uint32_t find_thread(LodeSampledThreads *self, const LodePerfRecord *record)
{
	const LodeIdKey key = {{(uint64_t)record->pid << 32 | record->tid, 0, 0}};
	const Thread thread = {.pid = record->pid, .tid = record->tid, .window = LODE_NONE};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);

	if (is_new) {
		slot->id = self->threads->len;
		g_array_append_val(self->threads, thread);
	}
	return slot->id;
}

static bool add_note(LodeSampledThreads *self, uint32_t thread, NoteKind kind, uint64_t time_ns)
{
	const Note note = {time_ns, thread, kind};

	if (self->notes->len >= self->limit) {
		self->full_ns = MIN(self->full_ns, time_ns);
		return false;
	}
	g_array_append_val(self->notes, note);
	return true;
}

/* Between two windows: one of a thread's samples is enough to know that it ran. */
static void note_between(LodeSampledThreads *self, uint32_t number, uint64_t time_ns)
{
	Thread *thread = &LODE_AT(self->threads, Thread, number);

	if (thread->between != self->windows->len) {
		thread->between = self->windows->len;
		add_note(self, number, NOTE_SEEN, time_ns);
	}
}

/* Two notes for all samples of a thread in a window. */
static void note_sample(LodeSampledThreads *self, uint32_t number, uint64_t time_ns)
{
	Thread *thread = &LODE_AT(self->threads, Thread, number);
	uint32_t window = window_of(self, time_ns);

	if (self->has_no_switches) {
		add_note(self, number, NOTE_SEEN, time_ns);
		return;
	}
	if (window == LODE_NONE) {
		note_between(self, number, time_ns);
		return;
	}
	if (thread->window != window) {
		thread->window = window;
		thread->seen = self->notes->len;
		if (!add_note(self, number, NOTE_SEEN, time_ns) ||
			!add_note(self, number, NOTE_SEEN, time_ns))
			thread->window = LODE_NONE;
		return;
	}
	Note *seen = &LODE_AT(self->notes, Note, thread->seen);
	seen[0].time_ns = MIN(seen[0].time_ns, time_ns);
	seen[1].time_ns = MAX(seen[1].time_ns, time_ns);
}

static bool kind_of(const LodePerfRecord *record, NoteKind *out_kind)
{
	switch (record->kind) {
	case LODE_PERF_SAMPLE:
		*out_kind = NOTE_SEEN;
		return true;
	case LODE_PERF_SWITCH:
		*out_kind = !record->is_out        ? NOTE_IN
		            : record->is_preempted ? NOTE_PREEMPTED
		                                   : NOTE_OUT;
		return true;
	case LODE_PERF_FORK:
		*out_kind = NOTE_BEGIN;
		return true;
	case LODE_PERF_EXIT:
		*out_kind = NOTE_EXIT;
		return true;
	case LODE_PERF_COMMAND:
		*out_kind = NOTE_ALIVE;
		return true;
	default:
		return false;
	}
}

void lode_sampled_threads_note(
	LodeSampledThreads *self, const LodePerfRecord *record, uint64_t time_ns)
{
	NoteKind kind;

	self->has_lost |= record->kind == LODE_PERF_LOST;
	if (!kind_of(record, &kind))
		return;
	if (record->kind == LODE_PERF_SWITCH && record->pid == 0 &&
		record->tid == LODE_PERF_NO_SWITCHES_TID)
		take_mark(self, record->is_out, time_ns);
	/* Thread 0 is a CPU that has nothing to do; the others have ended. */
	if (record->tid == 0 || record->tid == UINT32_MAX || record->pid == UINT32_MAX)
		return;
	/* Names and forks of what ran before are not of the time at which they were written. */
	if (kind != NOTE_BEGIN && kind != NOTE_ALIVE) {
		self->begin_ns = MIN(self->begin_ns, time_ns);
		self->end_ns = MAX(self->end_ns, time_ns);
	}
	if (kind == NOTE_SEEN)
		note_sample(self, find_thread(self, record), time_ns);
	else
		add_note(self, find_thread(self, record), kind, time_ns);
}

void lode_sampled_threads_note_look(LodeSampledThreads *self, const LodePerfRecord *record,
	uint64_t time_ns, uint64_t interval_ns)
{
	uint32_t number = find_thread(self, record);
	Thread *thread = &LODE_AT(self->threads, Thread, number);

	if (self->waits.looks->len >= self->limit)
		return;
	self->begin_ns = MIN(self->begin_ns, time_ns);
	self->end_ns = MAX(self->end_ns, time_ns);
	lode_thread_waits_add_look(&self->waits, number, time_ns, interval_ns);
	if (!thread->is_looked_at)
		thread->is_looked_at = add_note(self, number, NOTE_LOOKED, time_ns);
}

void lode_sampled_threads_note_switch(
	LodeSampledThreads *self, const LodePerfRecord *record, uint64_t time_ns)
{
	uint32_t number = find_thread(self, record);
	Thread *thread = &LODE_AT(self->threads, Thread, number);

	if (self->waits.looks->len >= self->limit)
		return;
	lode_thread_waits_add_switch(&self->waits, number, time_ns);
	if (!thread->is_looked_at)
		thread->is_looked_at = add_note(self, number, NOTE_LOOKED, time_ns);
}

void lode_sampled_threads_note_script(LodeSampledThreads *self, uint32_t pid)
{
	g_hash_table_add(self->scripts, GUINT_TO_POINTER(pid));
}

static void leave_out_switches_of_scripts(LodeSampledThreads *self)
{
	GArray *looks = self->waits.looks;
	guint n = 0;

	for (guint i = 0; g_hash_table_size(self->scripts) > 0 && i < looks->len; i++) {
		const LodeThreadLook look = LODE_AT(looks, LodeThreadLook, i);
		uint32_t pid = LODE_AT(self->threads, Thread, look.thread).pid;
		if (!look.is_switch || !g_hash_table_contains(self->scripts, GUINT_TO_POINTER(pid)))
			LODE_AT(looks, LodeThreadLook, n++) = look;
	}
	if (g_hash_table_size(self->scripts) > 0)
		g_array_set_size(looks, n);
}

void lode_sampled_threads_note_waking(LodeSampledThreads *self, const LodePerfRecord *record,
	const LodeWaking *waking, uint64_t time_ns)
{
	const Waking added = {time_ns, waking->woken, record->pid, record->tid,
		waking->is_in_interrupt ? LODE_GAP_END_BY_INTERRUPT
		: waking->is_in_softirq ? LODE_GAP_END_UNKNOWN
					: LODE_GAP_END_BY_THREAD};

	/* In a PID namespace of its own, the recorder cannot tell who it is. */
	if (waking->waker == record->tid && self->wakings->len < self->limit)
		g_array_append_val(self->wakings, added);
}

void lode_sampled_threads_note_run(LodeSampledThreads *self, const LodePerfRecord *record,
	uint64_t time_ns, uint64_t interval_ns)
{
	/* the look before it, which this one does not stand for, may be at a wait */
	uint64_t since_ns = time_ns - MIN(interval_ns, time_ns) + 1;

	if (self->has_no_switches && since_ns < time_ns)
		add_note(self, find_thread(self, record), NOTE_SEEN, since_ns);
	lode_sampled_threads_note(self, record, time_ns);
}

void lode_sampled_threads_note_timed(
	LodeSampledThreads *self, const LodePerfRecord *record, double weight)
{
	uint32_t number = find_thread(self, record);

	LODE_AT(self->threads, Thread, number).timed += weight;
}

void lode_sampled_threads_expect_looks(LodeSampledThreads *self, bool has_switches)
{
	self->expects_looks = true;
	self->has_no_switches = !has_switches;
}

bool lode_sampled_threads_have_switches(const LodeSampledThreads *self)
{
	return !self->has_no_switches;
}

void lode_sampled_threads_want(LodeSampledThreads *self, uint64_t begin_ns, uint64_t end_ns)
{
	self->wanted_begin_ns = begin_ns;
	self->wanted_end_ns = end_ns;
}

/* Cuts them to the time of the recording, and says for how long each stands. */
static void close_windows(LodeSampledThreads *self)
{
	/* The last moment is one of the recording. */
	uint64_t end_ns = MIN(
		self->end_ns < UINT64_MAX ? self->end_ns + 1 : UINT64_MAX, self->full_ns);
	guint n = 0;

	for (guint i = 0; i < self->windows->len; i++) {
		Window window = LODE_AT(self->windows, Window, i);
		window.on_ns = MAX(window.on_ns, self->begin_ns);
		window.off_ns = MIN(window.off_ns, end_ns);
		if (window.off_ns > window.on_ns)
			LODE_AT(self->windows, Window, n++) = window;
	}
	g_array_set_size(self->windows, n);
	for (guint i = 0; i < n; i++) {
		Window *window = &LODE_AT(self->windows, Window, i);
		uint64_t next_ns = i + 1 < n ? LODE_AT(self->windows, Window, i + 1).on_ns
		                             : MAX(self->end_ns, window->off_ns);
		window->scale = (double)(next_ns - window->on_ns) /
		                (double)(window->off_ns - window->on_ns);
	}
}

LODE_ORDER(
	compare_notes, Note, LODE_ASCENDING(thread), LODE_ASCENDING(time_ns), LODE_ASCENDING(kind))

LODE_ORDER(compare_wakings, Waking, LODE_ASCENDING(woken), LODE_ASCENDING(time_ns),
	LODE_ASCENDING(waker_tid))

LODE_ORDER(compare_steps, Step, LODE_ASCENDING(time_ns), LODE_ASCENDING(n))

typedef enum { UNKNOWN, RUNNING, STOPPED } State;

/* It did not run since then, nor at the end of this window. */
typedef struct {
	bool is_open;
	uint64_t begin_ns;
	LodeThreadGapKind kind;
	uint32_t last_window;
} Gap;

/* A thread that is followed from note to note. */
typedef struct {
	LodeSampledThreads *all;
	const LodeSampledPrograms *programs;
	LodeThreadTime time;
	uint32_t thread;
	guint first_step; /* of this life */
	bool is_alive, has_ended;
	State state;
	uint64_t since_ns;
	uint64_t ran_ns; /* when it began to run last */
	bool is_preempted;
	bool is_held;               /* it was stopped in a window: no wait of its own */
	LodeThreadGapKind gap_kind; /* of the gap that it is in, when it is stopped */
	uint32_t window;
	LodeThreadLife life;                  /* this one's waits */
	Gap open;                             /* which goes on, into the next windows too */
	uint32_t next_window;                 /* the first one that nothing is known of yet */
	uint64_t first_seen_ns, last_seen_ns; /* of its samples in the window; last 0: none */
} Following;

static const Window *window_at(const Following *self, uint32_t window)
{
	return &LODE_AT(self->all->windows, Window, window);
}

/* A moment where each window is as long as the time for which it stands. */
static double stretched(const LodeSampledThreads *self, uint64_t time_ns)
{
	const Window *windows = (const Window *)(const void *)self->windows->data;
	const Window *window = &windows[MAX(windows_before(self, time_ns), 1) - 1];
	uint64_t in_ns = MIN(time_ns, window->off_ns) - MIN(window->on_ns, time_ns);

	return (double)window->on_ns + (double)in_ns * window->scale;
}

/* Who ended a wait; NULL: nobody that is known. */
static const Waking *find_waking(const Following *self, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t from_ns = MAX(begin_ns - MIN(STOPPING_NS, begin_ns), self->ran_ns);
	const Waking *wakings = (const Waking *)(const void *)self->all->wakings->data;
	guint n = self->all->wakings->len;
	guint first = LODE_PARTITION_POINT(n, i,
		wakings[i].woken < self->time.tid ||
			(wakings[i].woken == self->time.tid && wakings[i].time_ns < from_ns));

	return first < n && wakings[first].woken == self->time.tid &&
	                       wakings[first].time_ns <= end_ns
	               ? &wakings[first]
	               : NULL;
}

/* An unsure one stands for nothing yet. `waking` ends it; NULL: not known. */
static void add_one_gap(Following *self, uint64_t begin_ns, uint64_t end_ns, LodeThreadGapKind kind,
	const Waking *waking)
{
	LodeSampledThreads *all = self->all;
	LodeThreadGap gap = {
		.begin_ns = MAX(begin_ns, all->wanted_begin_ns),
		.end_ns = MIN(end_ns, all->wanted_end_ns),
		.life = all->waits.lives->len,
		.look = LODE_NONE,
		.kind = kind,
	};

	if (gap.end_ns <= gap.begin_ns || !all->expects_looks)
		return;
	if (waking != NULL && kind == LODE_GAP_WAIT) {
		gap.end = (uint8_t)waking->end;
		gap.waker_pid = waking->waker_pid;
		gap.waker_tid = waking->waker_tid;
	}
	double recorded_ns = (double)(gap.end_ns - gap.begin_ns);
	double stretched_ns = stretched(all, gap.end_ns) - stretched(all, gap.begin_ns);
	uint32_t window = window_of(all, gap.begin_ns);
	bool is_in_window = window != LODE_NONE && gap.end_ns <= window_at(self, window)->off_ns;
	/* Where switches were not recorded, nor were wake-ups. */
	if (gap.end == LODE_GAP_END_BY_NONE && !is_in_window)
		gap.end = LODE_GAP_END_UNKNOWN;
	if (kind != LODE_GAP_UNSURE)
		gap.waiting_ns = kind == LODE_GAP_WAIT && is_in_window ? recorded_ns : stretched_ns;
	if (kind == LODE_GAP_WAIT) {
		self->life.waiting_ns += stretched_ns;
		self->life.unrecorded_ns += stretched_ns - gap.waiting_ns;
	}
	g_array_append_val(all->waits.gaps, gap);
}

/* Adds a gap of the thread. Once it was woken, it waited for a processor. */
static void add_gap(Following *self, uint64_t begin_ns, uint64_t end_ns, LodeThreadGapKind kind)
{
	static const Waking none = {.end = LODE_GAP_END_BY_NONE};
	const LodeSampledThreads *all = self->all;
	const Waking *waking = kind == LODE_GAP_WAIT && all->wakings->len > 0
	                               ? find_waking(self, begin_ns, end_ns)
	                               : NULL;
	uint64_t woken_ns = waking != NULL ? MAX(waking->time_ns, begin_ns) : end_ns;
	bool is_late = woken_ns < end_ns && end_ns - woken_ns > WAKE_UP_NS;

	/* Of what was lost nothing is known. */
	if (waking == NULL && all->wakings->len > 0 && !all->has_lost)
		waking = &none;
	add_one_gap(self, begin_ns, is_late ? woken_ns : end_ns, kind, waking);
	if (is_late)
		add_one_gap(self, woken_ns, end_ns, LODE_GAP_READY, NULL);
}

/* Ends the gap that goes on. */
static void close_gap(Following *self, uint64_t end_ns)
{
	if (self->open.is_open)
		add_gap(self, self->open.begin_ns, end_ns, self->open.kind);
	self->open.is_open = false;
}

static void open_gap(Following *self, uint64_t begin_ns, LodeThreadGapKind kind, uint32_t window)
{
	if (!self->open.is_open)
		self->open = (Gap){true, begin_ns, kind, window};
	self->open.last_window = window;
}

/* Whether a thread that did not run at the end of one window, nor at the beginning of another one,
 * did so all the time between: there is one look at a wait, and two where it is just over. */
static bool goes_on(const Following *self, uint64_t begin_ns, uint64_t end_ns)
{
	enum { MOST_LOOKS = 2 };
	const LodeThreadWaits *waits = &self->all->waits;

	return lode_thread_waits_find_look(waits, self->thread, end_ns) -
	               lode_thread_waits_find_look(waits, self->thread, begin_ns) <=
	       MOST_LOOKS;
}

/* In the windows before this one, of which there is no note, the thread waited. */
static void pass_windows(Following *self, uint32_t window)
{
	if (self->next_window < window) {
		const Window *first = window_at(self, self->next_window);
		const Window *last = window_at(self, window - 1);
		if (self->open.is_open) {
			uint64_t off_ns = window_at(self, self->open.last_window)->off_ns;
			if (!goes_on(self, off_ns, last->off_ns))
				close_gap(self, off_ns);
		}
		open_gap(self, MAX(first->on_ns, self->time.begin_ns), LODE_GAP_WAIT, window - 1);
	}
	self->next_window = MAX(self->next_window, window);
}

/* Slices that contradict each other, as records were lost, are not both kept. */
static void add_to_slices(Following *self, uint64_t begin_ns, uint64_t end_ns)
{
	GArray *slices = self->all->slices;
	const Slice *last = slices->len > 0 ? &LODE_AT(slices, Slice, slices->len - 1) : NULL;
	Slice slice = {begin_ns, end_ns, 0, self->thread, self->window};

	if (last != NULL && last->thread == slice.thread) {
		if (begin_ns < last->end_ns)
			return;
		if (last->window == slice.window)
			slice.before_ns = last->before_ns + (last->end_ns - last->begin_ns);
	}
	g_array_append_val(slices, slice);
}

static void add_slice(Following *self, uint64_t begin_ns, uint64_t end_ns)
{
	const Window *window = &LODE_AT(self->all->windows, Window, self->window);
	const Step steps[] = {{MAX(begin_ns, window->on_ns), 1}, {MIN(end_ns, window->off_ns), -1}};

	if (steps[1].time_ns <= steps[0].time_ns)
		return;
	uint64_t wanted_begin_ns = MAX(steps[0].time_ns, self->all->wanted_begin_ns);
	uint64_t wanted_end_ns = MIN(steps[1].time_ns, self->all->wanted_end_ns);
	if (wanted_end_ns > wanted_begin_ns)
		self->life.running_ns += (double)(wanted_end_ns - wanted_begin_ns) * window->scale;
	g_array_append_vals(self->all->steps, steps, 2);
	add_to_slices(self, steps[0].time_ns, steps[1].time_ns);
	self->time.running_ns += (double)(steps[1].time_ns - steps[0].time_ns) * window->scale;
}

/* A gap from the windows before ends, where the thread is first known to run in this one. */
static void end_open(Following *self, bool is_still_open, uint64_t time_ns)
{
	if (!self->open.is_open)
		return;
	uint64_t off_ns = window_at(self, self->open.last_window)->off_ns;
	uint64_t on_ns = window_at(self, self->window)->on_ns;
	if (!is_still_open) {
		close_gap(self, off_ns);
	} else if (goes_on(self, off_ns, on_ns)) {
		close_gap(self, time_ns);
	} else {
		close_gap(self, off_ns);
		add_gap(self, on_ns, time_ns, LODE_GAP_WAIT);
	}
}

/* A thread that runs at its last switch does so to the end of the window. Where records were lost,
 * it is known to have run until its last sample only. Its life may end before the window does. */
static void leave_window(Following *self, uint64_t end_ns)
{
	if (self->window == LODE_NONE)
		return;
	const Window *window = window_at(self, self->window);
	uint64_t last_ns = self->last_seen_ns + 1;
	if (self->state == RUNNING) {
		add_slice(self, self->since_ns, self->all->has_lost ? last_ns : UINT64_MAX);
		if (self->all->has_lost)
			add_gap(self, MAX(last_ns, self->since_ns), MIN(window->off_ns, end_ns),
				LODE_GAP_UNSURE);
	} else if (self->state == STOPPED && self->gap_kind == LODE_GAP_READY) {
		add_gap(self, self->since_ns, MIN(window->off_ns, end_ns), LODE_GAP_READY);
	} else if (self->state == STOPPED) {
		open_gap(self, self->since_ns, LODE_GAP_WAIT, self->window);
	} else if (self->last_seen_ns > 0) {
		end_open(self, false, 0);
		add_slice(self, self->first_seen_ns, last_ns);
	} else if (self->open.is_open) {
		uint64_t off_ns = window_at(self, self->open.last_window)->off_ns;
		if (!goes_on(self, off_ns, window->on_ns))
			close_gap(self, off_ns);
		open_gap(self, window->on_ns, LODE_GAP_WAIT, self->window);
	} else {
		open_gap(
			self, MAX(window->on_ns, self->time.begin_ns), LODE_GAP_WAIT, self->window);
	}
	self->next_window = self->window + 1;
	self->window = LODE_NONE;
}

static void enter_window(Following *self, uint64_t time_ns)
{
	uint32_t window = window_of(self->all, time_ns);

	if (window == self->window && window != LODE_NONE)
		return;
	leave_window(self, UINT64_MAX);
	self->window = window;
	if (window != LODE_NONE) {
		pass_windows(self, window);
	} else {
		/* It is known to have run, or to begin. */
		pass_windows(self, windows_before(self->all, time_ns));
		if (self->open.is_open)
			close_gap(self, window_at(self, self->open.last_window)->off_ns);
	}
	self->state = UNKNOWN;
	self->is_preempted = false;
	self->first_seen_ns = UINT64_MAX;
	self->last_seen_ns = 0;
}

static void begin_life(Following *self, uint64_t time_ns)
{
	self->is_alive = true;
	self->time.begin_ns = time_ns;
	self->time.running_ns = self->time.preempted_ns = self->time.switches = 0;
	self->first_step = self->all->steps->len;
	self->life = (LodeThreadLife){
		.pid = self->time.pid,
		.tid = self->time.tid,
		.thread = self->thread,
		.first_gap = self->all->waits.gaps->len,
	};
	self->open.is_open = false;
	uint32_t before = windows_before(self->all, time_ns);
	bool is_in_window = before > 0 && time_ns < window_at(self, before - 1)->off_ns;
	self->next_window = is_in_window ? before - 1 : before;
}

static void end_waits(Following *self, bool is_wanted)
{
	LodeThreadWaits *waits = &self->all->waits;
	LodeThreadLife life = self->life;

	if (!is_wanted) {
		g_array_set_size(waits->gaps, life.first_gap);
		return;
	}
	life.n_gaps = waits->gaps->len - life.first_gap;
	life.begin_ns = MAX(self->time.begin_ns, self->all->wanted_begin_ns);
	life.end_ns = MIN(self->time.end_ns, self->all->wanted_end_ns);
	if (life.end_ns < life.begin_ns)
		life.end_ns = life.begin_ns;
	g_array_append_val(waits->lives, life);
}

static void end_life(Following *self, uint64_t time_ns)
{
	leave_window(self, time_ns);
	self->is_alive = false;
	self->has_ended = true;
	self->time.end_ns = MAX(time_ns, self->time.begin_ns);
	pass_windows(self, windows_before(self->all, MAX(time_ns, 1) - 1));
	if (self->open.is_open)
		close_gap(self, MIN(time_ns, window_at(self, self->open.last_window)->off_ns));
	bool is_wanted = self->programs == NULL ||
	                 lode_sampled_programs_are_wanted(
				 self->programs, self->time.pid, MAX(self->time.end_ns, 1) - 1);
	if (!is_wanted)
		g_array_set_size(self->all->steps, self->first_step);
	else
		g_array_append_val(self->all->times, self->time);
	end_waits(self, is_wanted);
}

static void stop(Following *self, uint64_t time_ns, bool is_preempted)
{
	if (self->state == RUNNING) {
		add_slice(self, self->since_ns, time_ns);
	} else if (self->state == UNKNOWN) {
		end_open(self, false, 0);
		add_slice(self, self->time.begin_ns, time_ns);
	} else {
		self->all->n_incomplete++;
		add_gap(self, self->since_ns, time_ns, LODE_GAP_UNSURE);
	}
	self->state = STOPPED;
	self->since_ns = time_ns;
	self->is_preempted = is_preempted;
	self->gap_kind = is_preempted ? LODE_GAP_READY : LODE_GAP_WAIT;
	self->is_held = self->all->held != NULL &&
	                lode_window_times_has_stopped(self->all->held, self->time.tid, time_ns);
}

static void start(Following *self, uint64_t time_ns)
{
	const Window *window = window_at(self, self->window);
	double scale = window->scale;
	uint64_t begin_ns = MAX(window->on_ns, self->time.begin_ns);

	if (self->state == RUNNING) {
		self->all->n_incomplete++;
		add_gap(self, self->since_ns, time_ns, LODE_GAP_UNSURE);
	} else if (self->is_preempted) {
		self->time.preempted_ns += (double)(time_ns - self->since_ns) * scale;
	}
	if (self->state == STOPPED && !self->is_held)
		add_gap(self, self->since_ns, time_ns, self->gap_kind);
	else if (self->state == UNKNOWN && self->open.is_open)
		end_open(self, self->last_seen_ns == 0, time_ns);
	else if (self->state == UNKNOWN)
		add_gap(self, begin_ns, time_ns,
			self->last_seen_ns == 0 ? LODE_GAP_WAIT : LODE_GAP_UNSURE);
	self->time.switches += scale;
	self->state = RUNNING;
	self->is_held = false;
	self->since_ns = self->ran_ns = time_ns;
}

/* Whether a life begins here; what was noted of the one before may come after its end. */
static bool take_life(Following *self, const Note *note)
{
	if (note->kind == NOTE_BEGIN && note->time_ns >= self->all->begin_ns) {
		if (self->is_alive)
			end_life(self, note->time_ns);
		begin_life(self, note->time_ns);
	} else if (!self->is_alive && !self->has_ended) {
		begin_life(self, self->all->begin_ns);
	} else if (!self->is_alive && note->kind == NOTE_IN) {
		begin_life(self, note->time_ns);
	}
	return self->is_alive;
}

static void take_note(Following *self, const Note *note)
{
	if (!take_life(self, note) || note->kind == NOTE_LOOKED)
		return;
	enter_window(self, note->time_ns);
	if (self->window != LODE_NONE) {
		if (note->kind == NOTE_BEGIN && note->time_ns >= self->all->begin_ns) {
			/* It is ready from the first. */
			self->state = STOPPED;
			self->since_ns = note->time_ns;
			self->gap_kind = LODE_GAP_READY;
			self->is_held = false;
		} else if (note->kind == NOTE_SEEN) {
			self->first_seen_ns = MIN(self->first_seen_ns, note->time_ns);
			self->last_seen_ns = note->time_ns;
		} else if (note->kind == NOTE_IN) {
			start(self, note->time_ns);
		} else if (note->kind >= NOTE_OUT) {
			stop(self, note->time_ns, note->kind == NOTE_PREEMPTED);
		}
	}
	if (note->kind == NOTE_EXIT)
		end_life(self, note->time_ns);
}

static void follow(
	LodeSampledThreads *self, const LodeSampledPrograms *programs, guint first, guint end)
{
	uint32_t number = LODE_AT(self->notes, Note, first).thread;
	const Thread *thread = &LODE_AT(self->threads, Thread, number);
	Following following = {
		.all = self,
		.programs = programs,
		.time = {.pid = thread->pid, .tid = thread->tid},
		.thread = number,
		.window = LODE_NONE,
	};

	for (guint i = first; i < end; i++)
		take_note(&following, &LODE_AT(self->notes, Note, i));
	if (following.is_alive)
		end_life(&following, self->end_ns);
}

/* Of one life: a look stands for the time from its interval's beginning until something else is
 * known of the thread, as it is looked at again only once it has run. `at` is the first note that
 * is not before the life. */
static void add_gaps_of_looks(LodeSampledThreads *self, LodeThreadLife *life, guint at, guint end)
{
	uint64_t known_ns = life->begin_ns;
	guint first = at;
	guint look = lode_thread_waits_find_look(&self->waits, life->thread, life->begin_ns);
	guint end_look = lode_thread_waits_find_look(&self->waits, life->thread, life->end_ns);

	life->first_gap = self->waits.gaps->len;
	for (; look < end_look; look++) {
		const LodeThreadLook *is = &LODE_AT(self->waits.looks, LodeThreadLook, look);
		for (; at < end && LODE_AT(self->notes, Note, at).time_ns <= is->time_ns; at++)
			if (LODE_AT(self->notes, Note, at).kind == NOTE_SEEN)
				known_ns = MAX(known_ns, LODE_AT(self->notes, Note, at).time_ns);
		uint64_t until_ns = life->end_ns;
		if (at < end)
			until_ns = MIN(until_ns, LODE_AT(self->notes, Note, at).time_ns);
		if (look + 1 < end_look) {
			uint64_t next_ns = is[1].time_ns - MIN(is[1].interval_ns, is[1].time_ns);
			until_ns = MIN(until_ns, next_ns);
		}
		LodeThreadGap gap = {
			.begin_ns = MAX(known_ns, is->time_ns - MIN(is->interval_ns, is->time_ns)),
			.end_ns = MAX(until_ns, is->time_ns),
			.life = self->waits.lives->len,
			.look = look,
			.is_looked_at = true,
		};
		gap.waiting_ns = (double)(gap.end_ns - gap.begin_ns);
		life->waiting_ns += gap.waiting_ns;
		known_ns = gap.end_ns;
		g_array_append_val(self->waits.gaps, gap);
	}
	life->n_gaps = self->waits.gaps->len - life->first_gap;
	bool is_known = life->n_gaps > 0;
	for (guint i = first; i < end; i++)
		is_known |= LODE_AT(self->notes, Note, i).kind == NOTE_SEEN;
	/* in the rest of its life it ran, or waited for a processor */
	if (is_known)
		life->running_ns = MAX(
			(double)(life->end_ns - life->begin_ns) - life->waiting_ns, 0);
}

/* The same as follow(), where no switches were recorded. */
static void follow_looks(
	LodeSampledThreads *self, const LodeSampledPrograms *programs, guint first, guint end)
{
	uint32_t number = LODE_AT(self->notes, Note, first).thread;
	const Thread *thread = &LODE_AT(self->threads, Thread, number);
	guint next;

	for (guint i = first; i < end; i = next) {
		const Note *note = &LODE_AT(self->notes, Note, i);
		LodeThreadLife life = {.pid = thread->pid, .tid = thread->tid, .thread = number};
		bool is_begin = note->kind == NOTE_BEGIN && note->time_ns >= self->begin_ns;
		life.begin_ns = is_begin || i > first ? note->time_ns : self->begin_ns;
		life.end_ns = self->end_ns + 1;
		for (next = i + 1; next < end && life.end_ns > self->end_ns; next++) {
			const Note *later = &LODE_AT(self->notes, Note, next);
			if (later->kind == NOTE_BEGIN && later->time_ns >= self->begin_ns)
				break;
			if (later->kind == NOTE_EXIT)
				life.end_ns = later->time_ns;
		}
		if (life.end_ns > self->end_ns && next < end)
			life.end_ns = LODE_AT(self->notes, Note, next).time_ns;
		if (programs != NULL && !lode_sampled_programs_are_wanted(
						programs, life.pid, MAX(life.end_ns, 1) - 1))
			continue;
		life.begin_ns = MIN(MAX(life.begin_ns, self->wanted_begin_ns), life.end_ns);
		life.end_ns = MAX(MIN(life.end_ns, self->wanted_end_ns), life.begin_ns);
		add_gaps_of_looks(self, &life, i, next);
		g_array_append_val(self->waits.lives, life);
	}
}

/* From changes to numbers, and for how long threads ran at the same time. */
static void sum_steps(LodeSampledThreads *self)
{
	double running = 0, overlap = 0;
	int64_t n = 0;

	if (self->steps->len > 1)
		qsort(self->steps->data, self->steps->len, sizeof(Step), compare_steps);
	for (guint i = 0; i < self->steps->len; i++) {
		Step *step = &LODE_AT(self->steps, Step, i);
		double length = i > 0 ? (double)(step->time_ns - step[-1].time_ns) : 0;
		running += length * (double)n;
		overlap += length * (double)MAX(n - 1, 0);
		n += step->n;
		step->n = n;
	}
	self->is_parallel = overlap > 0 && overlap >= LEAST_OVERLAP * running;
}

LODE_ORDER(compare_times, LodeThreadTime, LODE_ASCENDING(pid), LODE_ASCENDING(tid),
	LODE_ASCENDING(begin_ns))

static bool is_recorded(const void *data, uint64_t time_ns)
{
	return window_of(data, time_ns) != LODE_NONE;
}

void lode_sampled_threads_leave_out(LodeSampledThreads *self, const LodeWindowTimes *windows)
{
	self->held = windows;
}

/* Once all lives are there. */
static void weigh_waits(LodeSampledThreads *self)
{
	if (self->has_no_switches)
		lode_thread_waits_weigh_alone(&self->waits);
	else if (self->expects_looks)
		lode_thread_waits_weigh(&self->waits, is_recorded, self);
	for (guint i = 0; i < self->waits.lives->len; i++) {
		const LodeThreadLife *life = &LODE_AT(self->waits.lives, LodeThreadLife, i);
		LODE_AT(self->threads, Thread, life->thread).ready_ns += life->ready_ns;
	}
}

void lode_sampled_threads_freeze(LodeSampledThreads *self, const LodeSampledPrograms *programs)
{
	guint n = self->notes->len, end;

	close_windows(self);
	leave_out_switches_of_scripts(self);
	lode_thread_waits_sort_looks(&self->waits);
	g_array_sort(self->wakings, compare_wakings);
	if (n > 1)
		qsort(self->notes->data, n, sizeof(Note), compare_notes);
	for (guint first = 0; first < n && self->windows->len > 0; first = end) {
		for (end = first + 1; end < n && LODE_AT(self->notes, Note, end).thread ==
							 LODE_AT(self->notes, Note, first).thread;)
			end++;
		(self->has_no_switches ? follow_looks : follow)(self, programs, first, end);
	}
	g_array_set_size(self->notes, 0);
	g_array_set_size(self->wakings, 0);
	weigh_waits(self);
	sum_steps(self);
	g_array_sort(self->times, compare_times);
}

bool lode_sampled_threads_are_parallel(const LodeSampledThreads *self)
{
	return self->is_parallel;
}

/* Samples come mostly in the order of time. */
static int64_t running_at(LodeSampledThreads *self, uint64_t time_ns)
{
	enum { NEAR = 8 };
	const Step *steps = (const Step *)(const void *)self->steps->data;
	guint n = self->steps->len, at = self->hint;

	if (at > n || (at > 0 && steps[at - 1].time_ns > time_ns))
		at = 0;
	guint near_end = MIN(n, at + NEAR);
	while (at < near_end && steps[at].time_ns <= time_ns)
		at++;
	if (at == near_end && at < n)
		at += LODE_PARTITION_POINT(n - at, i, steps[at + i].time_ns <= time_ns);
	self->hint = at;
	return at > 0 ? steps[at - 1].n : 0;
}

double lode_sampled_threads_share(LodeSampledThreads *self, uint64_t time_ns)
{
	uint32_t window = window_of(self, time_ns);

	if (window == LODE_NONE)
		return 0;
	return LODE_AT(self->windows, Window, window).scale /
	       (double)MAX(running_at(self, time_ns), 1);
}

double lode_sampled_threads_recorded(const LodeSampledThreads *self)
{
	double recorded = 0, all = (double)(self->end_ns - self->begin_ns) + 1;

	if (self->begin_ns > self->end_ns)
		return 0;
	for (guint i = 0; i < self->windows->len; i++) {
		const Window *window = &LODE_AT(self->windows, Window, i);
		recorded += (double)(window->off_ns - window->on_ns);
	}
	return MIN(recorded / all, 1);
}

/* NULL: it did not run then, as far as is known. */
static const Slice *slice_at(const LodeSampledThreads *self, uint32_t thread, uint64_t time_ns)
{
	const Slice *slices = (const Slice *)(const void *)self->slices->data;
	guint after = LODE_PARTITION_POINT(self->slices->len, i,
		slices[i].thread < thread ||
			(slices[i].thread == thread && slices[i].begin_ns <= time_ns));

	return after > 0 && slices[after - 1].thread == thread &&
	                       time_ns <= slices[after - 1].end_ns
	               ? &slices[after - 1]
	               : NULL;
}

bool lode_sampled_threads_running(LodeSampledThreads *self, const LodePerfRecord *record,
	uint64_t begin_ns, uint64_t end_ns, double *out_ns)
{
	uint32_t thread = find_thread(self, record);
	const Slice *first = slice_at(self, thread, begin_ns);
	const Slice *last = slice_at(self, thread, end_ns);

	if (first == NULL || last == NULL || first->window != last->window || end_ns < begin_ns)
		return false;
	*out_ns = (double)(last->before_ns - first->before_ns) +
	          ((double)(end_ns - last->begin_ns) - (double)(begin_ns - first->begin_ns));
	return true;
}

uint64_t lode_sampled_threads_n_incomplete(const LodeSampledThreads *self)
{
	return self->n_incomplete;
}

void lode_sampled_threads_list(
	const LodeSampledThreads *self, const LodeThreads *threads, GArray *out_times)
{
	for (guint i = 0; i < self->times->len; i++) {
		LodeThreadTime time = LODE_AT(self->times, LodeThreadTime, i);
		uint32_t known = lode_threads_look_up(
			threads, time.pid, time.tid, MAX(time.end_ns, 1) - 1);
		if (known != LODE_NONE)
			time.name = LODE_AT(threads->threads, LodeThread, known).name;
		g_array_append_val(out_times, time);
	}
}

const LodeThreadWaits *lode_sampled_threads_waits(const LodeSampledThreads *self)
{
	return &self->waits;
}

const LodeThreadLook *lode_sampled_threads_take_look(
	LodeSampledThreads *self, const LodePerfRecord *record, uint64_t time_ns)
{
	uint32_t thread = find_thread(self, record);

	for (guint i = lode_thread_waits_find_look(&self->waits, thread, time_ns);
		i < self->waits.looks->len; i++) {
		LodeThreadLook *look = &LODE_AT(self->waits.looks, LodeThreadLook, i);
		if (look->thread != thread || look->time_ns != time_ns)
			break;
		if (look->is_taken)
			continue;
		look->is_taken = true;
		return look;
	}
	return NULL;
}

double lode_sampled_threads_ready(LodeSampledThreads *self, const LodePerfRecord *record)
{
	const Thread *thread = &LODE_AT(self->threads, Thread, find_thread(self, record));

	return thread->timed > 0 ? thread->ready_ns / thread->timed : 0;
}

void lode_sampled_threads_append_slices(
	const LodeSampledThreads *self, const LodeThreadLife *life, GArray *out_slices)
{
	const Slice *slices = (const Slice *)(const void *)self->slices->data;
	guint i = LODE_PARTITION_POINT(self->slices->len, k,
		slices[k].thread < life->thread ||
			(slices[k].thread == life->thread && slices[k].end_ns <= life->begin_ns));

	for (; i < self->slices->len && slices[i].thread == life->thread &&
		slices[i].begin_ns < life->end_ns;
		i++) {
		const LodeRunningSlice slice = {MAX(slices[i].begin_ns, life->begin_ns),
			MIN(slices[i].end_ns, life->end_ns)};
		g_array_append_val(out_slices, slice);
	}
}
