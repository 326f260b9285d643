/* SPDX-License-Identifier: MIT */
/*
 * All beginnings and ends are sorted by time and played once to find the peaks, and once more up to
 * that of the heap. Sums are real numbers: sizes that a damaged log claims have no bounds, and
 * whole numbers are exact up to 2^53.
 */
#include "ingest/memory/allocation_figures.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/memory.h"

#include <stdlib.h>

typedef struct {
	uint64_t time_ns, size;
	uint32_t path;
	bool is_end, is_map;
} Change;

typedef struct {
	LodeMemory *memory;
	Change *changes;
	size_t n;
	bool has_blocks;  /* of the heap: else the mappings' peak is the peak */
	size_t n_at_peak; /* changes up to there */
} Figures;

uint32_t lode_log_paths_find(const LodeLogPaths *self, const LodeLoggedAllocation *allocation)
{
	if (allocation->stack == UINT32_MAX)
		return self->unknown[allocation->kind];
	return allocation->stack < self->stack_paths->len
	               ? g_array_index(self->stack_paths, uint32_t, allocation->stack)
	               : LODE_NONE;
}

static void add_saturated(uint64_t *sum, uint64_t value)
{
	*sum = value > UINT64_MAX - *sum ? UINT64_MAX : *sum + value;
}

static uint64_t to_bytes(double value)
{
	return value <= 0 ? 0 : value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

/* Adds the figures that need no order in time. */
static void add_life(LodeAllocationPath *path, const LodeLoggedAllocation *allocation, bool is_kept)
{
	if (allocation->stack == UINT32_MAX) {
		path->n++;
		add_saturated(&path->n_bytes, allocation->size);
	}
	if (is_kept) {
		path->n_at_end++;
		add_saturated(&path->n_bytes_at_end, allocation->size);
	} else {
		path->lifetime_ns += (double)(allocation->end_ns - allocation->begin_ns);
	}
}

static void add_change(Figures *self, const LodeLoggedAllocation *allocation, uint32_t path,
	uint64_t time_ns, bool is_end)
{
	/* A block with a lifetime of 0 must not end before it begins. */
	if (self->changes == NULL || allocation->begin_ns == allocation->end_ns)
		return;
	self->changes[self->n++] = (Change){
		.time_ns = time_ns,
		.size = allocation->size,
		.path = path,
		.is_end = is_end,
		.is_map = allocation->kind == LODE_ALLOCATION_MAP,
	};
}

/* Blocks that were never freed end with their process. */
static void add_log(Figures *self, const LodeLogPaths *paths)
{
	uint64_t last_ns = lode_allocation_log_summary(paths->log)->last_ns;
	size_t n;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(paths->log, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t path = lode_log_paths_find(paths, &all[i]);
		bool is_kept = all[i].end_ns > last_ns;
		if (path == LODE_NONE)
			continue;
		add_life(&LODE_AT(self->memory->paths, LodeAllocationPath, path), &all[i], is_kept);
		self->has_blocks |= all[i].kind != LODE_ALLOCATION_MAP;
		add_change(self, &all[i], path, all[i].begin_ns, false);
		add_change(self, &all[i], path,
			is_kept && last_ns < UINT64_MAX ? last_ns + 1 : all[i].end_ns, true);
	}
}

/* At one time ends come first: a block that is moved is not there twice. */
LODE_ORDER(compare_changes, Change, LODE_ASCENDING(time_ns), LODE_DESCENDING(is_end),
	LODE_ASCENDING(path))

static double signed_size(const Change *change)
{
	return change->is_end ? -(double)change->size : (double)change->size;
}

static void find_peaks(Figures *self)
{
	LodeMemory *memory = self->memory;
	g_autofree double *live = g_new0(double, MAX(memory->sites->len, 1));
	LodeAllocationPeak peak = {0};
	double all = 0, most = 0;

	g_array_set_size(memory->site_peaks, memory->sites->len);
	for (size_t i = 0; i < self->n; i++) {
		const Change *change = &self->changes[i];
		uint32_t site = LODE_AT(memory->paths, LodeAllocationPath, change->path).site;
		LodeAllocationPeak *own = &LODE_AT(memory->site_peaks, LodeAllocationPeak, site);
		live[site] += signed_size(change);
		if (to_bytes(live[site]) > own->n_bytes)
			*own = (LodeAllocationPeak){to_bytes(live[site]), change->time_ns};
		if (change->is_map == self->has_blocks)
			continue;
		all += signed_size(change);
		if (all <= most)
			continue;
		most = all;
		self->n_at_peak = i + 1;
		peak = (LodeAllocationPeak){to_bytes(all), change->time_ns};
	}
	g_array_append_val(memory->heap_peak, peak);
}

static void find_live_at_peak(Figures *self)
{
	guint n_paths = self->memory->paths->len;
	g_autofree double *bytes = g_new0(double, MAX(n_paths, 1));

	for (size_t i = 0; i < self->n_at_peak; i++) {
		const Change *change = &self->changes[i];
		bytes[change->path] += signed_size(change);
		LODE_AT(self->memory->paths, LodeAllocationPath, change->path).n_at_peak +=
			change->is_end ? UINT64_MAX : 1;
	}
	for (guint i = 0; i < n_paths; i++)
		LODE_AT(self->memory->paths, LodeAllocationPath, i).n_bytes_at_peak = to_bytes(
			bytes[i]);
}

bool lode_allocation_figures_add(LodeMemory *memory, const LodeLogPaths *logs, size_t n_logs)
{
	size_t n_changes = 0, n;

	for (size_t i = 0; i < n_logs; i++) {
		lode_allocation_log_allocations(logs[i].log, &n);
		n_changes += 2 * n;
	}
	g_autofree Change *changes = g_try_new(Change, MAX(n_changes, 1));
	Figures self = {.memory = memory, .changes = changes};
	for (size_t i = 0; i < n_logs; i++)
		add_log(&self, &logs[i]);
	if (changes == NULL)
		return false;
	qsort(changes, self.n, sizeof(Change), compare_changes);
	find_peaks(&self);
	find_live_at_peak(&self);
	return true;
}
