/* SPDX-License-Identifier: MIT */
/*
 * The kernel gives numbers of threads again, and writes records of several CPUs out of order:
 * events are kept, sorted by time when all are there, and then make the threads. `previous` links
 * the threads that had the same number, the last one first.
 */
#include "process/threads.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/process.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint64_t time_ns;
	uint32_t order, pid, tid;
	uint32_t parent_pid, parent_tid; /* of a fork */
	LodePerfRecordKind kind;
	const char *name; /* of a command */
} Event;

void lode_threads_init(LodeThreads *self, guint limit)
{
	*self = (LodeThreads){.limit = limit != 0 ? limit : LODE_MAX_THREADS};
	self->events = g_array_new(FALSE, FALSE, sizeof(Event));
	self->threads = g_array_new(FALSE, TRUE, sizeof(LodeThread));
	self->by_id = g_hash_table_new(lode_hash_pair, g_direct_equal);
	self->n_of_pid = g_hash_table_new(NULL, NULL);
	self->previous = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->starters = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->names = g_string_chunk_new(4096);
	memset(self->known, 0xff, sizeof(self->known));
}

void lode_threads_clear(LodeThreads *self)
{
	g_clear_pointer(&self->events, g_array_unref);
	g_clear_pointer(&self->threads, g_array_unref);
	g_clear_pointer(&self->by_id, g_hash_table_unref);
	g_clear_pointer(&self->n_of_pid, g_hash_table_unref);
	g_clear_pointer(&self->previous, g_array_unref);
	g_clear_pointer(&self->starters, g_array_unref);
	g_clear_pointer(&self->names, g_string_chunk_free);
}

static bool make_event(
	LodeThreads *self, const LodePerfRecord *record, uint64_t time_ns, Event *out_event)
{
	if (record->kind != LODE_PERF_FORK && record->kind != LODE_PERF_EXIT &&
		record->kind != LODE_PERF_COMMAND)
		return false;
	*out_event = (Event){.time_ns = time_ns,
		.order = self->events->len,
		.pid = record->pid,
		.tid = record->tid,
		.parent_pid = record->parent_pid,
		.parent_tid = record->parent_tid,
		.kind = record->kind};
	if (record->kind == LODE_PERF_COMMAND)
		out_event->name = g_string_chunk_insert_const(self->names, record->text);
	return true;
}

void lode_threads_note(LodeThreads *self, const LodePerfRecord *record, uint64_t time_ns)
{
	Event event;

	if (make_event(self, record, time_ns, &event))
		g_array_append_val(self->events, event);
}

LODE_ORDER(compare_events, Event, LODE_ASCENDING(time_ns), LODE_ASCENDING(order))

static void *key_of(uint32_t pid, uint32_t tid)
{
	return GSIZE_TO_POINTER((gsize)pid << 32 | tid);
}

static uint32_t last_of(const LodeThreads *self, uint32_t pid, uint32_t tid)
{
	void *found = g_hash_table_lookup(self->by_id, key_of(pid, tid));

	return found != NULL ? GPOINTER_TO_UINT(found) - 1 : LODE_NONE;
}

/* 0 for the first thread of a process, whichever is seen first. */
static uint32_t next_ordinal(LodeThreads *self, uint32_t pid, uint32_t tid)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(self->n_of_pid, GUINT_TO_POINTER(pid)));

	if (pid == tid)
		return 0;
	g_hash_table_insert(self->n_of_pid, GUINT_TO_POINTER(pid), GUINT_TO_POINTER(n + 1));
	return n + 1;
}

/* Where a thread of these ids is kept when it was found. */
static uint32_t *known_of(LodeThreads *self, uint32_t pid, uint32_t tid)
{
	return &self->known[(tid ^ pid << 3) % G_N_ELEMENTS(self->known)];
}

static uint32_t add_thread(LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t last = last_of(self, pid, tid);
	const uint32_t nobody = LODE_NONE;
	LodeThread thread = {.pid = pid, .tid = tid, .begin_ns = time_ns, .end_ns = UINT64_MAX};

	if (self->threads->len >= self->limit) {
		self->n_merged++;
		return self->threads->len - 1;
	}
	thread.ordinal = next_ordinal(self, pid, tid);
	g_array_append_val(self->threads, thread);
	g_array_append_val(self->previous, last);
	g_array_append_val(self->starters, nobody);
	*known_of(self, pid, tid) = LODE_NONE;
	g_hash_table_replace(self->by_id, key_of(pid, tid), GUINT_TO_POINTER(self->threads->len));
	return self->threads->len - 1;
}

static bool is_alive(const LodeThreads *self, uint32_t thread, uint64_t time_ns)
{
	const LodeThread *row = &LODE_AT(self->threads, LodeThread, thread);

	/* One that begins later is of a recording that came before, though made afterwards. */
	return row->begin_ns <= time_ns && row->end_ns == UINT64_MAX;
}

static LodeThread *living(LodeThreads *self, const Event *event)
{
	uint32_t last = last_of(self, event->pid, event->tid);

	if (last == LODE_NONE || !is_alive(self, last, event->time_ns))
		last = add_thread(self, event->pid, event->tid, event->time_ns);
	return &LODE_AT(self->threads, LodeThread, last);
}

static void apply_event(LodeThreads *self, const Event *event)
{
	uint32_t parent, added;
	LodeThread *thread;

	switch (event->kind) {
	case LODE_PERF_FORK:
		parent = last_of(self, event->parent_pid, event->parent_tid);
		added = add_thread(self, event->pid, event->tid, event->time_ns);
		thread = &LODE_AT(self->threads, LodeThread, added);
		if (parent != LODE_NONE && parent != added)
			LODE_AT(self->starters, uint32_t, added) = parent;
		if (parent != LODE_NONE)
			thread->name = LODE_AT(self->threads, LodeThread, parent).name;
		break;
	case LODE_PERF_EXIT:
		thread = living(self, event);
		thread->end_ns = event->time_ns;
		/* The number may come to another process. */
		if (event->pid == event->tid)
			g_hash_table_remove(self->n_of_pid, GUINT_TO_POINTER(event->pid));
		break;
	default:
		thread = living(self, event);
		thread->name = (char *)event->name;
	}
}

void lode_threads_apply(LodeThreads *self, const LodePerfRecord *record, uint64_t time_ns)
{
	Event event;

	if (make_event(self, record, time_ns, &event))
		apply_event(self, &event);
}

uint32_t lode_threads_starter(const LodeThreads *self, uint32_t thread)
{
	return LODE_AT(self->starters, uint32_t, thread);
}

void lode_threads_freeze(LodeThreads *self)
{
	if (self->events->len > 1)
		qsort(self->events->data, self->events->len, sizeof(Event), compare_events);
	for (guint i = 0; i < self->events->len; i++)
		apply_event(self, &g_array_index(self->events, Event, i));
	g_array_set_size(self->events, 0);
}

uint32_t lode_threads_look_up(const LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	enum { MAX_STEPS = 64 }; /* no system gives the same ids again so soon */
	uint32_t last = last_of(self, pid, tid), best = last;
	const LodeThread *threads = (const LodeThread *)self->threads->data;

	/* The one that began last before then; recordings need not come in the order of time. */
	for (int i = 0; i < MAX_STEPS && last != LODE_NONE; i++) {
		bool has_begun = threads[last].begin_ns <= time_ns;
		bool is_best_begun = threads[best].begin_ns <= time_ns;
		if (has_begun &&
			(!is_best_begun || threads[last].begin_ns > threads[best].begin_ns))
			best = last;
		last = LODE_AT(self->previous, uint32_t, last);
	}
	return best;
}

uint32_t lode_threads_find(LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t *known = known_of(self, pid, tid);
	uint32_t found = *known;

	if (found == LODE_NONE || LODE_AT(self->threads, LodeThread, found).pid != pid ||
		LODE_AT(self->threads, LodeThread, found).tid != tid) {
		found = lode_threads_look_up(self, pid, tid, time_ns);
		if (found == LODE_NONE)
			return add_thread(self, pid, tid, time_ns);
		if (found == last_of(self, pid, tid) &&
			LODE_AT(self->previous, uint32_t, found) == LODE_NONE)
			*known = found;
	}
	/* No record may have its beginning, but here it existed. */
	LodeThread *thread = &LODE_AT(self->threads, LodeThread, found);
	thread->begin_ns = MIN(thread->begin_ns, time_ns);
	return found;
}

/* The first thread of a process before its others. */
LODE_ORDER_OF_INDICES(compare_threads, LodeThread, LODE_ASCENDING(pid),
	lode_number_order(right->tid == right->pid, left->tid == left->pid),
	LODE_ASCENDING(begin_ns), LODE_ASCENDING(tid))

void lode_threads_number(LodeThreads *self)
{
	g_autofree uint32_t *order = g_new(uint32_t, MAX(self->threads->len, 1));
	LodeThread *threads = (LodeThread *)self->threads->data;
	uint32_t ordinal = 0;

	for (guint i = 0; i < self->threads->len; i++)
		order[i] = i;
	if (self->threads->len > 1)
		g_qsort_with_data(order, (gint)self->threads->len, sizeof(uint32_t),
			compare_threads, threads);
	for (guint i = 0; i < self->threads->len; i++) {
		bool is_new = i == 0 || threads[order[i]].pid != threads[order[i - 1]].pid;
		ordinal = is_new ? 0 : ordinal + 1;
		threads[order[i]].ordinal = ordinal;
	}
}
