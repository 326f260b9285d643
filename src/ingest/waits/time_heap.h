/* SPDX-License-Identifier: MIT */
/*
 * A binary heap of what happens next in each of many threads. Of equal times the one added first is
 * first. Inline, as a sweep over a recording spends its time here. Private to ingest/waits/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t time_ns;
	uint64_t order;
	uint32_t thread;
} LodeTimeEntry;

typedef struct {
	LodeTimeEntry *entries;
	uint32_t n;
	uint64_t n_added;
} LodeTimeHeap;

/* A thread is in it at most once. */
static inline void lode_time_heap_init(LodeTimeHeap *self, uint32_t n_threads)
{
	self->entries = g_new(LodeTimeEntry, (gsize)n_threads + 1);
	self->n = 0;
	self->n_added = 0;
}

static inline void lode_time_heap_clear(LodeTimeHeap *self)
{
	g_clear_pointer(&self->entries, g_free);
}

static inline bool lode_time_heap_is_before(const LodeTimeEntry *a, const LodeTimeEntry *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->order < b->order);
}

static inline void lode_time_heap_sink(LodeTimeHeap *self, LodeTimeEntry entry)
{
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < self->n) {
		if (child + 1 < self->n &&
			lode_time_heap_is_before(&self->entries[child + 1], &self->entries[child]))
			child++;
		if (!lode_time_heap_is_before(&self->entries[child], &entry))
			break;
		self->entries[at] = self->entries[child];
		at = child;
	}
	self->entries[at] = entry;
}

static inline void lode_time_heap_add(LodeTimeHeap *self, uint64_t time_ns, uint32_t thread)
{
	LodeTimeEntry entry = {time_ns, self->n_added++, thread};
	uint32_t at = self->n++;

	while (at > 0 && lode_time_heap_is_before(&entry, &self->entries[(at - 1) / 2])) {
		self->entries[at] = self->entries[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	self->entries[at] = entry;
}

/* The first, which must exist, has its time changed to a later one. */
static inline void lode_time_heap_put_off(LodeTimeHeap *self, uint64_t time_ns)
{
	LodeTimeEntry entry = {time_ns, self->n_added++, self->entries[0].thread};

	lode_time_heap_sink(self, entry);
}

static inline LodeTimeEntry lode_time_heap_take(LodeTimeHeap *self)
{
	LodeTimeEntry first = self->entries[0];
	LodeTimeEntry last = self->entries[--self->n];

	if (self->n > 0)
		lode_time_heap_sink(self, last);
	return first;
}
