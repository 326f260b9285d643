/* SPDX-License-Identifier: MIT */
#include "ingest/memory/memory_loads.h"

#include "base/hash.h"
#include "base/partition_point.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
	uint64_t low, high; /* run-time addresses [low, high) */
	uint64_t reach;     /* the highest `high` of this and all before it */
	uint64_t bias;
	uint64_t begin_ns;
	const char *path; /* the reading's */
	uint32_t image;
} Load;

struct LodeMemoryLoads {
	LodeMemoryReading *reading;
	GHashTable *processes; /* input and pid → GArray of Load, by low */
};

static void free_array(void *data)
{
	g_array_unref(data);
}

static void add_load(
	LodeMemoryLoads *self, GArray *loads, const LodePlacedMapping *mapping, uint32_t image)
{
	LodeCodeImages *images = lode_places_images(self->reading->options.places);
	const LodeMappedRange mapped = {
		.start = mapping->mapping.start,
		.end = mapping->mapping.end,
		.offset = mapping->offset,
	};
	LodeCodeLoad place;
	Load load = {
		.begin_ns = mapping->mapping.begin_ns,
		.path = mapping->mapping.name,
		.image = image,
	};

	if (!lode_code_images_find_load(images, load.image, &mapped, &place))
		return;
	load.low = place.low;
	load.high = place.high;
	load.bias = place.bias;
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

static GArray *loads_of(LodeMemoryLoads *self, const LodePlacedMapping *mapping)
{
	void *key = GSIZE_TO_POINTER((gsize)mapping->recording << 32 | mapping->mapping.pid);
	GArray *loads = g_hash_table_lookup(self->processes, key);

	if (loads != NULL)
		return loads;
	loads = g_array_new(FALSE, FALSE, sizeof(Load));
	g_hash_table_insert(self->processes, key, loads);
	return loads;
}

static void read_loads(LodeMemoryLoads *self)
{
	const GArray *mappings = lode_places_mappings(self->reading->options.places);
	GHashTableIter iterator;
	void *loads;

	for (guint i = 0; i < mappings->len; i++) {
		const LodePlacedMapping *mapping = &g_array_index(mappings, LodePlacedMapping, i);
		uint32_t image = (mapping->mapping.protection & PROT_EXEC) != 0
		                         ? lode_places_image_of(self->reading->options.places, i)
		                         : LODE_NONE;
		if (image != LODE_NONE)
			add_load(self, loads_of(self, mapping), mapping, image);
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
	read_loads(self);
	return self;
}

void lode_memory_loads_free(LodeMemoryLoads *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->processes);
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
	const LodePlacedMapping *place = &g_array_index(
		lode_places_mappings(self->reading->options.places), LodePlacedMapping, mapping);
	Load *load = find_load(loads_of(self, place), &place->mapping, address);

	if (load == NULL)
		return false;
	*out_image = load->image;
	*out_image_address = address - load->bias;
	return true;
}
