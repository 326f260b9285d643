/* SPDX-License-Identifier: MIT */
#include "ingest/live/live_sites.h"

#include "ingest/memory/memory_reading.h"
#include "model/memory.h"

#include <string.h>

enum {
	COST_FACTOR = 20,      /* 1 / this of the time at most is spent on reading */
	MAX_RECORDS = 1 << 16, /* that are kept; of a program that maps without end the first */
};

struct LodeLiveSites {
	const LodeLiveAddressesOptions *options;
	gint64 next_us;
	LodeCodeImages *images;
	GArray *records;      /* LodePerfRecord; their texts are in `texts` */
	GStringChunk *texts;  /* also names of sites */
	LodeProfile *profile; /* that the sites are of; NULL: not read yet */
	LodePlaces *places;   /* over time, of the events so far */
	LodeMemoryReading *reading;
	LodeMemoryLoads *loads;
	LodeMemorySites *sites;
};

LodeLiveSites *lode_live_sites_new(const LodeLiveAddressesOptions *options, LodeCodeImages *images)
{
	LodeLiveSites *self = g_new0(LodeLiveSites, 1);

	self->options = options;
	self->images = images;
	self->records = g_array_new(FALSE, FALSE, sizeof(LodePerfRecord));
	self->texts = g_string_chunk_new(4096);
	return self;
}

static void forget(LodeLiveSites *self)
{
	g_clear_pointer(&self->sites, lode_memory_sites_free);
	g_clear_pointer(&self->loads, lode_memory_loads_free);
	g_clear_pointer(&self->reading, lode_memory_reading_free);
	g_clear_pointer(&self->places, lode_places_free);
	g_clear_pointer(&self->profile, lode_profile_free);
}

void lode_live_sites_free(LodeLiveSites *self)
{
	if (self == NULL)
		return;
	forget(self);
	g_array_unref(self->records);
	g_string_chunk_free(self->texts);
	g_free(self);
}

void lode_live_sites_note(LodeLiveSites *self, const LodePerfRecord *record)
{
	LodePerfRecord kept = *record;

	if (record->kind > LODE_PERF_EXIT || record->kind == LODE_PERF_SAMPLE ||
		self->records->len >= MAX_RECORDS)
		return;
	if (kept.text != NULL)
		kept.text = g_string_chunk_insert_const(self->texts, kept.text);
	if (kept.mapping.path != NULL)
		kept.mapping.path = g_string_chunk_insert_const(self->texts, kept.mapping.path);
	kept.mapping.build_id = NULL;
	g_array_append_val(self->records, kept);
}

static void take_logs(LodeLiveSites *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->options->log_directory, 0, NULL);
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->options->log_directory, name, NULL);
		LodeAllocationLog *log = NULL;
		if (g_str_has_prefix(name, "allocations-") && g_str_has_suffix(name, ".log"))
			log = lode_allocation_log_read(path, NULL);
		if (log != NULL)
			lode_allocations_take(self->reading->logs, log);
	}
}

static void read_again(LodeLiveSites *self)
{
	forget(self);
	const LodePlacesOptions placing = {.images = self->images};
	self->places = lode_places_new(&placing);
	const LodeMemoryReadingOptions reading = {
		.places = self->places,
		.skipped_frames = self->options->skipped_frames,
	};
	self->reading = lode_memory_reading_new(&reading);
	lode_memory_reading_select(self->reading, 0);
	for (guint i = 0; i < self->records->len; i++) {
		const LodePerfRecord *record = &LODE_AT(self->records, LodePerfRecord, i);
		lode_places_note(self->places, record, record->time_ns);
		lode_memory_reading_note(self->reading, record, record->time_ns);
	}
	lode_places_freeze(self->places, NULL, NULL, NULL);
	lode_memory_reading_freeze(self->reading, NULL);
	take_logs(self);
	self->profile = lode_profile_new();
	self->profile->memory = lode_memory_new();
	self->loads = lode_memory_loads_new(self->reading);
	self->sites = lode_memory_sites_new(self->profile, self->reading, self->loads);
}

void lode_live_sites_refresh(LodeLiveSites *self)
{
	gint64 begin_us = g_get_monotonic_time(), end_us;

	if (begin_us < self->next_us)
		return;
	read_again(self);
	end_us = g_get_monotonic_time();
	if (self->options->log_interval_us > 0)
		self->next_us = end_us + MAX(self->options->log_interval_us,
						 COST_FACTOR * (end_us - begin_us));
}

LodeAllocations *lode_live_sites_logs(LodeLiveSites *self)
{
	return self->reading != NULL ? self->reading->logs : NULL;
}

/* In a log that is being written, blocks not yet freed seem to end with the last record. */
static uint64_t last_of(LodeLiveSites *self, uint32_t pid, uint64_t time_ns)
{
	const GPtrArray *logs = lode_allocations_all(lode_live_sites_logs(self));
	uint64_t last_ns = 0;

	for (guint i = 0; i < logs->len; i++) {
		const LodeAllocationLogSummary *log = lode_allocation_log_summary(logs->pdata[i]);
		if (log->pid == pid)
			last_ns = MAX(last_ns, log->last_ns);
	}
	return last_ns != 0 ? MIN(time_ns, last_ns) : time_ns;
}

bool lode_live_sites_find(LodeLiveSites *self, uint32_t pid, uint64_t time_ns, uint64_t address,
	LodeLiveSite *out_site)
{
	if (self->sites == NULL)
		return false;
	const LodeMemoryPlace place = {.pid = pid, .time_ns = last_of(self, pid, time_ns)};
	uint32_t found = lode_memory_sites_find(self->sites, &place, address);
	const LodeMemory *memory = self->profile->memory;

	if (found == LODE_NONE)
		return false;
	out_site->allocation = &LODE_AT(memory->allocations, LodeAllocation, found);
	out_site->call = lode_memory_sites_call(self->sites, found);
	out_site->name = g_string_chunk_insert_const(self->texts,
		LODE_AT(memory->sites, LodeAllocationSite, out_site->allocation->site).name);
	return true;
}
