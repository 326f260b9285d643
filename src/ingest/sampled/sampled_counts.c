/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_counts.h"

#include <linux/perf_event.h>

/* A counter for each thread and processor of a large machine, and more. */
enum { MAX_COUNTERS = 1 << 22 };

void lode_sampled_counts_init(LodeSampledCounts *self)
{
	*self = (LodeSampledCounts){
		.last = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.counts = g_array_new(FALSE, FALSE, sizeof(LodePerfCount)),
	};
	lode_id_cache_init(&self->ids);
}

void lode_sampled_counts_clear(LodeSampledCounts *self)
{
	if (self->last == NULL)
		return;
	lode_id_cache_clear(&self->ids);
	g_array_unref(self->last);
	g_array_unref(self->counts);
	*self = (LodeSampledCounts){0};
}

/* Threads that were started meanwhile share the id. A counter that has none is known by that of the
 * sample, and without one too by where it ran. */
static LodeIdKey key_of(
	const LodePerfEvent *event, const LodePerfRecord *record, const LodePerfCount *count)
{
	uint64_t thread = (uint64_t)record->pid << 32 | record->tid;

	if (count->id != 0)
		return (LodeIdKey){
			{count->id, event->is_inherited ? thread : UINT64_MAX, UINT64_MAX}};
	if (record->sample.id != 0)
		return (LodeIdKey){{record->sample.id, event->is_inherited ? thread : UINT64_MAX,
			count->event}};
	return (LodeIdKey){{record->sample.cpu, thread, count->event}};
}

/* Since the last sample. A counter begins at 0, and again when it was reset or when its thread's
 * number was given to another one. */
static uint64_t difference(LodeSampledCounts *self, const LodeIdKey *key, uint64_t value)
{
	bool is_new;

	if (self->last->len >= MAX_COUNTERS) {
		self->n_untracked++;
		return 0;
	}
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, key, &is_new);
	if (is_new) {
		slot->id = self->last->len;
		g_array_append_val(self->last, value);
		return value;
	}
	uint64_t *last = &g_array_index(self->last, uint64_t, slot->id);
	uint64_t since = value >= *last ? value - *last : value;
	*last = value;
	return since;
}

const GArray *lode_sampled_counts_take(LodeSampledCounts *self, LodePerfData *data,
	const LodePerfEvent *event, const LodePerfRecord *record)
{
	guint n_kept = 0;

	if (record->sample.n_read_values == 0)
		return NULL;
	g_array_set_size(self->counts, 0);
	lode_perf_data_read_counts(data, record, self->counts);
	for (guint i = 0; i < self->counts->len; i++) {
		LodePerfCount count = g_array_index(self->counts, LodePerfCount, i);
		if (count.event == UINT32_MAX) {
			self->n_left_out++;
			continue;
		}
		const LodeIdKey key = key_of(event, record, &count);
		count.value = difference(self, &key, count.value);
		if (count.value > 0)
			g_array_index(self->counts, LodePerfCount, n_kept++) = count;
	}
	g_array_set_size(self->counts, n_kept);
	return self->counts;
}

size_t lode_sampled_counts_leader(const LodePerfEvent *events, size_t event)
{
	size_t leader = event;

	if ((events[event].read_format & PERF_FORMAT_GROUP) == 0)
		return event;
	while (leader > 0 && events[leader].period_or_frequency == 0)
		leader--;
	return events[leader].period_or_frequency != 0 ? leader : event;
}
