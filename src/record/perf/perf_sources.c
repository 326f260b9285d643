/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_sources.h"

#include "record/perf/perf_records.h"

typedef struct {
	struct perf_event_header header;
	LodePerfRecordEnd end;
} SwitchRecord;

struct LodePerfSources {
	GHashTable *places;  /* id → event × CPUs + CPU */
	GHashTable *threads; /* tid → GHashTable: place → id */
};

LodePerfSources *lode_perf_sources_new(const LodePerfEventSet *events)
{
	LodePerfSources *self = g_new0(LodePerfSources, 1);

	self->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->threads = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
	for (guint i = 0; i < events->descriptors->len; i++) {
		const LodePerfDescriptor *at = &g_array_index(
			events->descriptors, LodePerfDescriptor, i);
		unsigned place = at->event * events->cpus->len + at->cpu;
		g_hash_table_insert(
			self->places, g_memdup2(&at->id, sizeof(at->id)), GUINT_TO_POINTER(place));
	}
	return self;
}

void lode_perf_sources_free(LodePerfSources *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->places);
	g_hash_table_unref(self->threads);
	g_free(self);
}

static GHashTable *descriptors_of(LodePerfSources *self, uint32_t tid)
{
	GHashTable *found = g_hash_table_lookup(self->threads, GUINT_TO_POINTER(tid));

	if (found == NULL) {
		found = g_hash_table_new_full(NULL, NULL, NULL, g_free);
		g_hash_table_insert(self->threads, GUINT_TO_POINTER(tid), found);
	}
	return found;
}

static bool is_double(LodePerfSources *self, uint32_t tid, uint64_t identifier)
{
	GHashTable *descriptors = descriptors_of(self, tid);
	void *place;

	if (!g_hash_table_lookup_extended(self->places, &identifier, NULL, &place))
		return false;
	const uint64_t *first = g_hash_table_lookup(descriptors, place);
	if (first != NULL)
		return *first != identifier;
	g_hash_table_insert(descriptors, place, g_memdup2(&identifier, sizeof(identifier)));
	return false;
}

bool lode_perf_sources_is_double(LodePerfSources *self, const struct perf_event_header *record)
{
	const LodePerfSampleStart *sample = (const LodePerfSampleStart *)record;
	const SwitchRecord *change = (const SwitchRecord *)record;

	if (record->type == PERF_RECORD_SAMPLE && record->size >= sizeof(*sample))
		return is_double(self, sample->tid, sample->identifier);
	if (record->type == PERF_RECORD_SWITCH && record->size >= sizeof(*change))
		return is_double(self, change->end.tid, change->end.identifier);
	/* A thread's number may be given to a new one. */
	if ((record->type == PERF_RECORD_EXIT || record->type == PERF_RECORD_FORK) &&
		record->size >= sizeof(LodePerfThreadRecord))
		g_hash_table_remove(self->threads,
			GUINT_TO_POINTER(((const LodePerfThreadRecord *)record)->tid));
	return false;
}
