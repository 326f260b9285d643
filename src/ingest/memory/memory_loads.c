/* SPDX-License-Identifier: MIT */
#include "ingest/memory/memory_loads.h"

#include "base/hash.h"
#include "base/partition_point.h"
#include "model/profile.h"
#include "sources/load_map_segments.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
	uint64_t low, high; /* run-time addresses [low, high) */
	uint64_t reach;     /* the highest `high` of this and all before it */
	uint64_t bias;
	uint64_t begin_ns;
	const char *path; /* the reading's */
	uint32_t image;   /* LODE_NONE until something lies in it */
} Load;

struct LodeMemoryLoads {
	LodeMemoryReading *reading;
	GHashTable *processes; /* input and pid → GArray of Load, by low */
	GHashTable *segments;  /* path → GArray of LodeLoadMapSegment, empty where unreadable */
};

static void free_array(void *data)
{
	g_array_unref(data);
}

static const GArray *segments_of(LodeMemoryLoads *self, const char *path)
{
	GArray *segments = g_hash_table_lookup(self->segments, path);

	if (segments != NULL)
		return segments;
	segments = lode_load_map_segments_read_all(path, NULL);
	if (segments == NULL)
		segments = g_array_new(FALSE, FALSE, sizeof(LodeLoadMapSegment));
	g_hash_table_insert(self->segments, (char *)path, segments);
	return segments;
}

/* False where no segment of the file begins in this mapping. */
static bool find_bias(const GArray *segments, const LodeReadMapping *mapping, uint64_t *out_bias)
{
	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		uint64_t size = mapping->mapping.end - mapping->mapping.start;
		if (segment->offset - mapping->offset >= size)
			continue;
		*out_bias = mapping->mapping.start + (segment->offset - mapping->offset) -
		            segment->address;
		return true;
	}
	return false;
}

static void add_load(LodeMemoryLoads *self, GArray *loads, const LodeReadMapping *mapping)
{
	const GArray *segments = segments_of(self, mapping->mapping.name);
	Load load = {.low = UINT64_MAX,
		.begin_ns = mapping->mapping.begin_ns,
		.path = mapping->mapping.name,
		.image = LODE_NONE};

	if (!find_bias(segments, mapping, &load.bias))
		return;
	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		load.low = MIN(load.low, segment->address + load.bias);
		load.high = MAX(load.high, segment->address + segment->size_bytes + load.bias);
	}
	/* A plugin that comes and goes lies where it lay. */
	const Load *last = loads->len > 0 ? &g_array_index(loads, Load, loads->len - 1) : NULL;
	if (last == NULL || last->path != load.path || last->bias != load.bias)
		g_array_append_val(loads, load);
}

static int compare_loads(const void *a, const void *b)
{
	const Load *left = a, *right = b;

	return (left->low > right->low) - (left->low < right->low);
}

static void sort_loads(GArray *loads)
{
	uint64_t reach = 0;

	g_array_sort(loads, compare_loads);
	for (guint i = 0; i < loads->len; i++) {
		Load *load = &g_array_index(loads, Load, i);
		load->reach = reach = MAX(reach, load->high);
	}
}

static GArray *loads_of(LodeMemoryLoads *self, const LodeReadMapping *mapping)
{
	void *key = GSIZE_TO_POINTER((gsize)mapping->input << 32 | mapping->mapping.pid);
	GArray *loads = g_hash_table_lookup(self->processes, key);

	if (loads != NULL)
		return loads;
	loads = g_array_new(FALSE, FALSE, sizeof(Load));
	g_hash_table_insert(self->processes, key, loads);
	return loads;
}

static void read_loads(LodeMemoryLoads *self)
{
	const GArray *mappings = lode_memory_reading_mappings(self->reading);
	GHashTableIter iterator;
	void *loads;

	for (guint i = 0; i < mappings->len; i++) {
		const LodeReadMapping *mapping = &g_array_index(mappings, LodeReadMapping, i);
		if ((mapping->mapping.protection & PROT_EXEC) != 0 &&
			mapping->mapping.name[0] == '/' && mapping->mapping.name[1] != '/')
			add_load(self, loads_of(self, mapping), mapping);
	}
	g_hash_table_iter_init(&iterator, self->processes);
	while (g_hash_table_iter_next(&iterator, NULL, &loads))
		sort_loads(loads);
}

LodeMemoryLoads *lode_memory_loads_new(LodeMemoryReading *reading)
{
	LodeMemoryLoads *self = g_new0(LodeMemoryLoads, 1);

	self->reading = reading;
	self->processes = g_hash_table_new_full(lode_hash_pair, g_direct_equal, NULL, free_array);
	self->segments = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_array);
	read_loads(self);
	return self;
}

void lode_memory_loads_free(LodeMemoryLoads *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->processes);
	g_hash_table_unref(self->segments);
	g_free(self);
}

/*
 * Images of one process do not lie inside each other, but those of two programs that it executes
 * one after the other do. A file's own mapping knows its image by its name; what is of no file
 * (.bss) is of the image that was there last when it was mapped.
 */
static bool is_better(const Load *load, const Load *best, const LodeMemoryMapping *mapping)
{
	if (mapping->name[0] == '/' && strcmp(load->path, mapping->name) != 0)
		return false;
	if (best == NULL)
		return true;
	bool is_before = load->begin_ns <= mapping->begin_ns;
	bool is_best_before = best->begin_ns <= mapping->begin_ns;
	if (is_before != is_best_before)
		return is_before;
	return is_before ? load->begin_ns > best->begin_ns : load->begin_ns < best->begin_ns;
}

static Load *find_load(GArray *loads, const LodeMemoryMapping *mapping, uint64_t address)
{
	Load *rows = (Load *)loads->data, *best = NULL;
	guint n = LODE_PARTITION_POINT(loads->len, i, rows[i].low <= address);

	/* Images overlap where a process ran one program after another; `reach` says when none of
	 * those before can hold the address. */
	for (; n > 0 && rows[n - 1].reach > address; n--) {
		Load *load = &rows[n - 1];
		if (address < load->high && is_better(load, best, mapping))
			best = load;
	}
	return best;
}

bool lode_memory_loads_find(LodeMemoryLoads *self, uint32_t mapping, uint64_t address,
	uint32_t *out_image, uint64_t *out_image_address)
{
	const LodeReadMapping *place = &g_array_index(
		lode_memory_reading_mappings(self->reading), LodeReadMapping, mapping);
	Load *load = find_load(loads_of(self, place), &place->mapping, address);

	if (load == NULL)
		return false;
	if (load->image == LODE_NONE)
		load->image = lode_code_images_add(
			lode_memory_reading_images(self->reading), load->path, NULL);
	*out_image = load->image;
	*out_image_address = address - load->bias;
	return true;
}
