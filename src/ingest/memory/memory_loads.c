/* SPDX-License-Identifier: MIT */
/*
 * Images of one process do not lie inside each other, but those of programs that it executed one
 * after the other do, and a hostile recording has any number of them at one address. The time
 * decides between them: so they are in a segment tree (J. L. Bentley, "Solutions to Klee's
 * rectangle problems", 1977), whose nodes have them in the order of time. A look-up takes the
 * square of the logarithm of their number.
 */
#include "ingest/memory/memory_loads.h"

#include "base/arrays/hash.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
	uint64_t low, high; /* run-time addresses [low, high) */
	uint64_t bias;
	uint64_t begin_ns;
	uint32_t image;
} Load;

/* Leaf i, which is node n_leaves + i, is the addresses between bounds i and i + 1; nodes 2i and
 * 2i + 1 are the halves of node i. */
typedef struct {
	GArray *loads;  /* Load, by begin_ns */
	GArray *bounds; /* uint64_t: where loads begin and end, ascending, each once */
	uint32_t n_leaves;
	GArray **nodes; /* uint32_t: the loads that lie in all of a node, and not in all of the one
	                   above, ascending; NULL: none */
} LoadTree;

typedef struct {
	LoadTree *all;
	GHashTable *of_image; /* image + 1 → LoadTree */
} Process;

struct LodeMemoryLoads {
	LodePlaces *places;
	GHashTable *processes; /* input and pid → Process */
};

static LoadTree *load_tree_new(void)
{
	LoadTree *self = g_new0(LoadTree, 1);

	self->loads = g_array_new(FALSE, FALSE, sizeof(Load));
	self->bounds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

static void load_tree_free(void *data)
{
	LoadTree *self = data;

	for (uint32_t i = 0; i < 2 * self->n_leaves; i++)
		g_clear_pointer(&self->nodes[i], g_array_unref);
	g_array_unref(self->loads);
	g_array_unref(self->bounds);
	g_free(self->nodes);
	g_free(self);
}

LODE_ORDER(compare_loads, Load, LODE_ASCENDING(begin_ns), LODE_ASCENDING(low))

static void find_bounds(LoadTree *self)
{
	guint n = 0;

	for (guint i = 0; i < self->loads->len; i++) {
		const Load *load = &g_array_index(self->loads, Load, i);
		g_array_append_val(self->bounds, load->low);
		g_array_append_val(self->bounds, load->high);
	}
	g_array_sort(self->bounds, lode_compare_u64);
	for (guint i = 0; i < self->bounds->len; i++) {
		uint64_t bound = g_array_index(self->bounds, uint64_t, i);
		if (n == 0 || g_array_index(self->bounds, uint64_t, n - 1) != bound)
			g_array_index(self->bounds, uint64_t, n++) = bound;
	}
	g_array_set_size(self->bounds, n);
}

/* How many bounds are at or below an address. */
static uint32_t count_bounds(const LoadTree *self, uint64_t address)
{
	return LODE_PARTITION_POINT(
		self->bounds->len, i, g_array_index(self->bounds, uint64_t, i) <= address);
}

static void add_to_node(LoadTree *self, uint32_t node, uint32_t load)
{
	if (self->nodes[node] == NULL)
		self->nodes[node] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(self->nodes[node], load);
}

/* Puts the loads into the nodes that they are made of, from the leaves up. */
static void load_tree_freeze(LoadTree *self)
{
	g_array_sort(self->loads, compare_loads);
	find_bounds(self);
	self->n_leaves = self->bounds->len > 0 ? self->bounds->len - 1 : 0;
	self->nodes = g_new0(GArray *, 2 * self->n_leaves + 1);
	for (guint i = 0; i < self->loads->len; i++) {
		const Load *load = &g_array_index(self->loads, Load, i);
		uint32_t begin = count_bounds(self, load->low) - 1 + self->n_leaves;
		uint32_t end = count_bounds(self, load->high) - 1 + self->n_leaves;
		for (; begin < end; begin /= 2, end /= 2) {
			if (begin % 2 == 1)
				add_to_node(self, begin++, i);
			if (end % 2 == 1)
				add_to_node(self, --end, i);
		}
	}
}

/* The load that holds an address and began last until that time; where none had begun, the one that
 * began first after it. NULL: none holds it. */
static const Load *load_tree_find(const LoadTree *self, uint64_t address, uint64_t time_ns)
{
	uint32_t leaf = count_bounds(self, address), before = LODE_NONE, after = LODE_NONE;

	if (leaf == 0 || leaf > self->n_leaves)
		return NULL;
	for (uint32_t node = leaf - 1 + self->n_leaves; node > 0; node /= 2) {
		const GArray *own = self->nodes[node];
		guint n = own != NULL ? own->len : 0;
		guint at = LODE_PARTITION_POINT(n, i,
			g_array_index(self->loads, Load, g_array_index(own, uint32_t, i))
					.begin_ns <= time_ns);
		uint32_t last = at > 0 ? g_array_index(own, uint32_t, at - 1) : LODE_NONE;
		uint32_t next = at < n ? g_array_index(own, uint32_t, at) : LODE_NONE;
		if (last != LODE_NONE && (before == LODE_NONE || last > before))
			before = last;
		after = MIN(after, next);
	}
	uint32_t found = before != LODE_NONE ? before : after;
	return found != LODE_NONE ? &g_array_index(self->loads, Load, found) : NULL;
}

static void process_free(void *data)
{
	Process *self = data;

	load_tree_free(self->all);
	g_hash_table_unref(self->of_image);
	g_free(self);
}

static void *key_of(uint32_t recording, uint32_t pid)
{
	return GSIZE_TO_POINTER((gsize)recording << 32 | pid);
}

static void *process_key(const LodePlacedMapping *mapping)
{
	return key_of(mapping->recording, mapping->mapping.pid);
}

static Process *process_of(LodeMemoryLoads *self, const LodePlacedMapping *mapping)
{
	Process *process = g_hash_table_lookup(self->processes, process_key(mapping));

	if (process != NULL)
		return process;
	process = g_new0(Process, 1);
	process->all = load_tree_new();
	process->of_image = g_hash_table_new_full(NULL, NULL, NULL, load_tree_free);
	g_hash_table_insert(self->processes, process_key(mapping), process);
	return process;
}

static void process_freeze(Process *self)
{
	GHashTableIter iterator;
	void *of_image;

	load_tree_freeze(self->all);
	g_hash_table_iter_init(&iterator, self->of_image);
	while (g_hash_table_iter_next(&iterator, NULL, &of_image))
		load_tree_freeze(of_image);
}

static void add_load(
	LodeMemoryLoads *self, Process *process, const LodePlacedMapping *mapping, uint32_t image)
{
	LodeCodeImages *images = lode_places_images(self->places);
	const LodeMappedRange mapped = {
		.start = mapping->mapping.start,
		.end = mapping->mapping.end,
		.offset = mapping->offset,
	};
	LoadTree *of_image = g_hash_table_lookup(process->of_image, GUINT_TO_POINTER(image + 1));
	GArray *loads = process->all->loads;
	LodeCodeLoad place;
	Load load = {
		.begin_ns = mapping->mapping.begin_ns,
		.image = image,
	};

	if (!lode_code_images_find_load(images, load.image, &mapped, &place))
		return;
	load.low = place.low;
	load.high = place.high;
	load.bias = place.bias;
	/* A plugin that comes and goes lies where it lay. */
	const Load *last = loads->len > 0 ? &g_array_index(loads, Load, loads->len - 1) : NULL;
	if (last != NULL && last->image == load.image && last->bias == load.bias)
		return;
	if (of_image == NULL) {
		of_image = load_tree_new();
		g_hash_table_insert(process->of_image, GUINT_TO_POINTER(image + 1), of_image);
	}
	g_array_append_val(loads, load);
	g_array_append_val(of_image->loads, load);
}

static void read_loads(LodeMemoryLoads *self)
{
	const GArray *mappings = lode_places_mappings(self->places);
	GHashTableIter iterator;
	void *process;

	for (guint i = 0; i < mappings->len; i++) {
		const LodePlacedMapping *mapping = &g_array_index(mappings, LodePlacedMapping, i);
		uint32_t image = (mapping->mapping.protection & PROT_EXEC) != 0
		                         ? lode_places_image_of(self->places, i)
		                         : LODE_NONE;
		if (image != LODE_NONE)
			add_load(self, process_of(self, mapping), mapping, image);
	}
	g_hash_table_iter_init(&iterator, self->processes);
	while (g_hash_table_iter_next(&iterator, NULL, &process))
		process_freeze(process);
}

LodeMemoryLoads *lode_memory_loads_new(LodePlaces *places)
{
	LodeMemoryLoads *self = g_new0(LodeMemoryLoads, 1);

	self->places = places;
	self->processes = g_hash_table_new_full(lode_hash_pair, g_direct_equal, NULL, process_free);
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

/* A file's own mapping knows its image; memory of no file (.bss) is of the last image there when it
 * was mapped. */
bool lode_memory_loads_find(LodeMemoryLoads *self, uint32_t mapping, uint64_t address,
	uint32_t *out_image, uint64_t *out_image_address)
{
	const LodePlacedMapping *place = &g_array_index(
		lode_places_mappings(self->places), LodePlacedMapping, mapping);
	const Process *process = g_hash_table_lookup(self->processes, process_key(place));
	const LoadTree *tree = process != NULL ? process->all : NULL;

	uint32_t image = lode_places_known_image_of(self->places, mapping);
	if (tree != NULL && image != LODE_NONE)
		tree = g_hash_table_lookup(process->of_image, GUINT_TO_POINTER(image + 1));
	const Load *load = tree != NULL ? load_tree_find(tree, address, place->mapping.begin_ns)
	                                : NULL;
	if (load == NULL)
		return false;
	*out_image = load->image;
	*out_image_address = address - load->bias;
	return true;
}

/* A load of a life of the process: its address space began with an exec, or as its parent's. */
bool lode_memory_loads_find_at(LodeMemoryLoads *self, const LodeLoadedAddress *wanted,
	uint32_t *out_image, uint64_t *out_image_address)
{
	enum { MAX_PARENTS = 64 };
	LodeLoadedAddress at = *wanted;

	for (unsigned i = 0; i < MAX_PARENTS; i++) {
		const Process *process = g_hash_table_lookup(
			self->processes, key_of(at.recording, at.pid));
		const LodeAddressSpaceBirth birth = lode_places_find_birth(
			self->places, at.recording, at.pid, at.time_ns);
		const Load *load = process != NULL
		                           ? load_tree_find(process->all, at.address, at.time_ns)
		                           : NULL;
		if (load != NULL && load->begin_ns >= birth.time_ns &&
			load->begin_ns < birth.end_ns) {
			*out_image = load->image;
			*out_image_address = at.address - load->bias;
			return true;
		}
		if (birth.parent == UINT32_MAX)
			return false;
		at.pid = birth.parent;
		at.time_ns = birth.time_ns;
	}
	return false;
}
