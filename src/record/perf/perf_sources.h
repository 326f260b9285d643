/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the descriptors that give samples. A thread that began while its process was
 * attached to may have the same event twice on a CPU: inherited from the thread that started it,
 * and opened for it. For each thread, event and CPU only the samples of one descriptor are kept,
 * the one that is seen first; the others are doubles.
 */
#pragma once

#include "record/events/perf_event_set.h"

typedef struct LodePerfSources LodePerfSources;

/* Copies the needed data of the descriptors. */
LodePerfSources *lode_perf_sources_new(const LodePerfEventSet *events);
void lode_perf_sources_free(LodePerfSources *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfSources, lode_perf_sources_free)

/* Whether a record, whole, is a sample that another descriptor has taken too. */
bool lode_perf_sources_is_double(LodePerfSources *self, const struct perf_event_header *record);
