/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the events of a process that runs already. A thread inherits the events of
 * the one that starts it, so that all threads are followed once every thread has them; meanwhile
 * threads begin that have none, or only those that their creator had by then:
 *
 *   list threads ─▶ open events ─▶ list again ─┬─▶ new: open events for them too ─┐
 *                        ▲                     └─▶ none: done                     │
 *                        └────────────────────────────────────────────────────────┘
 *
 * The kernel's record of a thread that begins (PERF_RECORD_FORK) shows which need none: those whose
 * creator had all events.
 */
#pragma once

#include "machine/process_tree.h"
#include "record/events/perf_event_set.h"

/*
 * Opens the events for all threads of a process and of those around it, and begins them, except
 * those that are stopped while other events report threads. *out_has_doubles: threads may be
 * sampled twice, by inherited events and by those opened for them (record/perf/perf_sources.h).
 * Errors as lode_perf_event_set_open(), and _NOT_FOUND when there is no such process.
 */
LodePerfEventSet *lode_perf_attachment_open(const LodePerfKernel *kernel, GPtrArray *choices,
	const LodeProcessTree *tree, size_t pages, GString *note, bool *out_has_doubles,
	GError **error);
