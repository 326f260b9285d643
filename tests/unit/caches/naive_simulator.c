/* SPDX-License-Identifier: MIT */
#include "naive_simulator.h"

#include "caches/sets/line_stores.h"
#include "naive_cache.h"

#include <string.h>

struct NaiveSimulator {
	const LodeHierarchy *hierarchy;
	bool classifies;
	GPtrArray *cores;  /* GPtrArray of NaiveCache by index each; NULL: not there yet */
	GPtrArray *shared; /* NaiveCache by index; NULL */
	LodeCacheCounts counts[LODE_HIERARCHY_MAX_CACHES];
	GArray *misses;
	const NaiveReference *now;
	bool is_cold; /* the miss of a level before */
	uint64_t n_stores;
	NaiveStoreNamed store; /* of the miss that is looked up */
	GArray *stores;        /* NaiveStoreNamed, of each miss */
};

static const LodeCache *cache_at(const NaiveSimulator *self, unsigned index)
{
	return &g_array_index(self->hierarchy->caches, LodeCache, index);
}

NaiveSimulator *naive_simulator_new(const LodeHierarchy *hierarchy, bool classifies)
{
	NaiveSimulator *self = g_new0(NaiveSimulator, 1);

	self->hierarchy = hierarchy;
	self->classifies = classifies;
	self->cores = g_ptr_array_new();
	self->shared = g_ptr_array_new();
	self->misses = g_array_new(FALSE, FALSE, sizeof(LodeCacheMiss));
	self->stores = g_array_new(FALSE, FALSE, sizeof(NaiveStoreNamed));
	for (unsigned i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = cache_at(self, i);

		g_ptr_array_add(self->shared, cache->is_shared ? naive_cache_new(cache, 0) : NULL);
	}
	return self;
}

void naive_simulator_free(NaiveSimulator *self)
{
	for (guint i = 0; i < self->cores->len; i++) {
		GPtrArray *core = g_ptr_array_index(self->cores, i);

		for (guint j = 0; core != NULL && j < core->len; j++) {
			if (!cache_at(self, j)->is_shared)
				naive_cache_free(g_ptr_array_index(core, j));
		}
		if (core != NULL)
			g_ptr_array_unref(core);
	}
	for (guint j = 0; j < self->shared->len; j++) {
		if (g_ptr_array_index(self->shared, j) != NULL)
			naive_cache_free(g_ptr_array_index(self->shared, j));
	}
	g_ptr_array_unref(self->cores);
	g_ptr_array_unref(self->shared);
	g_array_unref(self->misses);
	g_array_unref(self->stores);
	g_free(self);
}

static GPtrArray *core_of(NaiveSimulator *self, unsigned thread)
{
	unsigned n = self->hierarchy->n_cores, number = n == 0 ? thread : thread % n;
	GPtrArray *core;

	while (self->cores->len <= number)
		g_ptr_array_add(self->cores, NULL);
	core = g_ptr_array_index(self->cores, number);
	if (core != NULL)
		return core;
	core = g_ptr_array_new();
	for (unsigned i = 0; i < self->hierarchy->caches->len; i++)
		g_ptr_array_add(core, cache_at(self, i)->is_shared
					      ? g_ptr_array_index(self->shared, i)
					      : naive_cache_new(cache_at(self, i), number));
	self->cores->pdata[number] = core;
	return core;
}

static bool is_write(const NaiveReference *now)
{
	return now->reference.kind == LODE_REFERENCE_STORE ||
	       now->reference.kind == LODE_REFERENCE_MODIFY;
}

static bool is_on_data_path(const LodeCache *cache)
{
	return !cache->is_tlb && (cache->holds & LODE_CACHE_DATA) != 0;
}

/* Whether MESI has to do with it. */
static bool is_coherent(const NaiveSimulator *self, unsigned index)
{
	return self->hierarchy->n_cores != 1 && is_on_data_path(cache_at(self, index)) &&
	       !cache_at(self, index)->is_shared;
}

/* A written byte goes to the first cache from `index` on that has it and writes back. */
static void write_byte(GPtrArray *core, unsigned index, uint64_t byte)
{
	for (; index < core->len; index++) {
		NaiveCache *cache = g_ptr_array_index(core, index);
		NaiveLine *line;

		if (!is_on_data_path(cache->description) || cache->description->is_write_through)
			continue;
		line = naive_cache_find(cache, byte / cache->description->line_bytes);
		if (line == NULL)
			continue;
		line->is_dirty = true;
		return;
	}
}

static void write_back(NaiveSimulator *self, GPtrArray *core, unsigned index, uint64_t line)
{
	uint64_t n_bytes = cache_at(self, index)->line_bytes;

	self->counts[index].write_backs++;
	for (uint64_t i = 0; i < n_bytes; i++)
		write_byte(core, index + 1, line * n_bytes + i);
}

static void fill(NaiveSimulator *self, GPtrArray *core, unsigned index, uint64_t line)
{
	NaiveCache *cache = g_ptr_array_index(core, index);
	NaiveLine victim = naive_cache_fill(cache, line);

	if (victim.is_there && victim.is_dirty)
		write_back(self, core, index, victim.number);
	if (is_coherent(self, index))
		g_hash_table_remove(cache->lost, &line);
}

/* Another core is going to read the line: it is dirty nowhere else. */
static void clean_elsewhere(NaiveSimulator *self, const GPtrArray *core, uint64_t number)
{
	for (guint i = 0; i < self->cores->len; i++) {
		GPtrArray *other = g_ptr_array_index(self->cores, i);

		if (other == NULL || other == core)
			continue;
		for (unsigned j = 0; j < other->len; j++) {
			NaiveLine *line = is_coherent(self, j)
			                          ? naive_cache_find(
							    g_ptr_array_index(other, j), number)
			                          : NULL;

			if (line == NULL || !line->is_dirty)
				continue;
			write_back(self, other, j, number);
			line->is_dirty = false;
		}
	}
}

/* The bytes of a line that the reference touches, rounded to 64ths of it where it is longer. */
static bool touches_byte(const NaiveReference *now, const LodeCache *cache, uint64_t byte)
{
	uint64_t step = MAX(cache->line_bytes / 64, 1), start = byte / step * step;
	uint64_t size = CLAMP(now->reference.size, 1, 16384);
	uint64_t first = now->reference.address, last = first + size - 1;

	if (last < first)
		last = UINT64_MAX;
	return start <= last && start + (step - 1) >= first;
}

/* Where the reference begins and ends in the line. */
static LodeCacheStore store_of(const NaiveReference *now, uint64_t number, uint64_t n_bytes)
{
	uint64_t size = CLAMP(now->reference.size, 1, 16384);
	LodeCacheStore store = {
		.instruction = now->instruction, .thread = now->reference.thread, .last = 0};
	bool has_first = false;

	for (uint64_t i = 0; i < n_bytes; i++) {
		uint64_t byte = number * n_bytes + i;

		if (byte < now->reference.address || byte - now->reference.address >= size)
			continue;
		if (!has_first)
			store.first = (uint16_t)i;
		has_first = true;
		store.last = (uint16_t)i;
	}
	return store;
}

static unsigned count_authors(const NaiveByte *bytes, uint64_t n)
{
	unsigned n_authors = 0;

	for (uint64_t i = 0; i < n; i++) {
		bool is_first = bytes[i].when != 0;

		for (uint64_t j = 0; j < i; j++)
			is_first &= bytes[j].when == 0 || bytes[j].thread != bytes[i].thread ||
			            bytes[j].instruction != bytes[i].instruction;
		n_authors += is_first;
	}
	return n_authors;
}

static void note_lost(NaiveSimulator *self, NaiveCache *cache, uint64_t number, bool was_there)
{
	const NaiveReference *now = self->now;
	uint64_t n_bytes = cache->description->line_bytes;
	NaiveLost *lost = g_hash_table_lookup(cache->lost, &number);

	if (lost == NULL && !was_there)
		return;
	if (lost == NULL) {
		lost = g_malloc0(sizeof(*lost) + n_bytes * sizeof(NaiveByte));
		lost->taken_by = store_of(now, number, n_bytes);
		g_hash_table_insert(cache->lost, g_memdup2(&number, sizeof(number)), lost);
	}
	self->n_stores++;
	for (uint64_t i = 0; i < n_bytes; i++) {
		NaiveByte *byte = &lost->bytes[i];

		if (touches_byte(now, cache->description, number * n_bytes + i) ||
			(byte->when != 0 && byte->instruction == now->instruction &&
				byte->thread == now->reference.thread))
			*byte = (NaiveByte){
				self->n_stores, now->instruction, now->reference.thread};
	}
	lost->is_crowded |= count_authors(lost->bytes, n_bytes) > LODE_LINE_STORES_MAX;
}

/* What a miss of the line is due to. */
static void name_store(
	NaiveSimulator *self, const NaiveCache *cache, uint64_t number, LodeMissClass miss_class)
{
	const NaiveLost *lost = g_hash_table_lookup(cache->lost, &number);
	uint64_t n_bytes = cache->description->line_bytes;
	const NaiveByte *last = NULL;
	LodeCacheStore *store = &self->store.store;

	self->store = (NaiveStoreNamed){0};
	if (cache->description->level != 1 ||
		(miss_class != LODE_MISS_TRUE_SHARING && miss_class != LODE_MISS_FALSE_SHARING))
		return;
	self->store = (NaiveStoreNamed){lost->taken_by, number * n_bytes, true, false};
	if (miss_class == LODE_MISS_FALSE_SHARING)
		return;
	self->store.may_be_unknown = lost->is_crowded;
	for (uint64_t i = 0; i < n_bytes; i++)
		if (touches_byte(self->now, cache->description, number * n_bytes + i) &&
			(last == NULL || lost->bytes[i].when > last->when))
			last = &lost->bytes[i];
	*store = (LodeCacheStore){last->instruction, last->thread, UINT16_MAX, 0};
	for (uint64_t i = 0; i < n_bytes; i++) {
		const NaiveByte *byte = &lost->bytes[i];

		if (byte->when == 0 || byte->thread != last->thread ||
			byte->instruction != last->instruction ||
			!touches_byte(self->now, cache->description, number * n_bytes + i))
			continue;
		store->first = (uint16_t)MIN(store->first, i);
		store->last = (uint16_t)MAX(store->last, i);
	}
}

static void take_elsewhere(NaiveSimulator *self, const GPtrArray *core, uint64_t number)
{
	for (guint i = 0; i < self->cores->len; i++) {
		GPtrArray *other = g_ptr_array_index(self->cores, i);

		if (other == NULL || other == core)
			continue;
		for (unsigned j = 0; j < other->len; j++) {
			NaiveCache *cache = g_ptr_array_index(other, j);
			NaiveLine *line;

			if (!is_coherent(self, j))
				continue;
			line = naive_cache_find(cache, number);
			note_lost(self, cache, number, line != NULL);
			if (line == NULL)
				continue;
			if (line->is_dirty)
				write_back(self, other, j, number);
			naive_cache_remove(cache, line);
			self->counts[j].invalidations++;
		}
	}
}

static uint64_t first_line(const NaiveReference *now, uint64_t line_bytes)
{
	return now->reference.address / line_bytes;
}

static uint64_t last_line(const NaiveReference *now, uint64_t line_bytes)
{
	uint64_t size = CLAMP(now->reference.size, 1, 16384);
	uint64_t last = now->reference.address + size - 1;

	return (last < now->reference.address ? UINT64_MAX : last) / line_bytes;
}

static bool allocates(const NaiveSimulator *self, const LodeCache *cache)
{
	return !cache->is_no_allocate || self->now->reference.kind != LODE_REFERENCE_STORE;
}

static LodeMissClass classify(NaiveSimulator *self, NaiveCache *cache, uint64_t line)
{
	const NaiveLost *lost = g_hash_table_lookup(cache->lost, &line);
	bool was_seen = g_hash_table_contains(cache->seen, &line);
	bool was_held = naive_cache_use_associative(
		cache, line, allocates(self, cache->description));
	uint64_t n_bytes = cache->description->line_bytes;

	if (!was_seen) {
		g_hash_table_add(cache->seen, g_memdup2(&line, sizeof(line)));
		return LODE_MISS_COMPULSORY;
	}
	for (uint64_t i = 0; lost != NULL && i < n_bytes; i++) {
		if (lost->bytes[i].when != 0 &&
			touches_byte(self->now, cache->description, line * n_bytes + i))
			return LODE_MISS_TRUE_SHARING;
	}
	if (lost != NULL)
		return LODE_MISS_FALSE_SHARING;
	return was_held ? LODE_MISS_CONFLICT : LODE_MISS_CAPACITY;
}

static void tell_miss(NaiveSimulator *self, unsigned index, LodeMissClass miss_class)
{
	LodeCacheMiss miss = self->now->miss;

	self->counts[index].misses[self->now->reference.kind]++;
	miss.cache = index;
	miss.miss_class = LODE_N_MISS_CLASSES;
	if (self->classifies) {
		miss.miss_class = (uint8_t)miss_class;
		self->counts[index].classes[miss_class]++;
	}
	g_array_append_val(self->misses, miss);
	g_array_append_val(self->stores, self->store);
}

/* Whether the first level of data keeps all that is stored, so that it is marked at once. */
static bool marks_at_once(const NaiveSimulator *self, unsigned index)
{
	const LodeCache *cache = cache_at(self, index);

	return is_on_data_path(cache) && is_write(self->now) && cache->level == 1 &&
	       !cache->is_write_through && !cache->is_no_allocate;
}

static bool look_up_line(NaiveSimulator *self, GPtrArray *core, unsigned index, uint64_t number)
{
	NaiveCache *cache = g_ptr_array_index(core, index);
	NaiveLine *line = naive_cache_find(cache, number);
	bool is_hit = line != NULL;

	if (is_hit) {
		naive_cache_use(cache, line);
		self->counts[index].useful_prefetches += line->is_prefetched;
		line->is_prefetched = false;
	} else {
		if (is_coherent(self, index) && !is_write(self->now))
			clean_elsewhere(self, core, number);
		if (allocates(self, cache->description))
			fill(self, core, index, number);
	}
	if (marks_at_once(self, index))
		naive_cache_find(cache, number)->is_dirty = true;
	return is_hit;
}

/* A set of many ways is not searched where nothing comes in. */
static bool is_never_full(const NaiveSimulator *self, unsigned index)
{
	return !allocates(self, cache_at(self, index)) && cache_at(self, index)->n_ways > 32;
}

/* Whether the reference missed. */
static bool look_up(NaiveSimulator *self, GPtrArray *core, unsigned index)
{
	uint64_t line_bytes = cache_at(self, index)->line_bytes;
	LodeMissClass first_class = LODE_N_MISS_CLASSES;
	bool has_missed = false, is_cold = true;

	self->store = (NaiveStoreNamed){0};
	self->counts[index].accesses[self->now->reference.kind]++;
	for (uint64_t line = first_line(self->now, line_bytes);
		line <= last_line(self->now, line_bytes); line++) {
		LodeMissClass line_class = LODE_N_MISS_CLASSES;

		if (self->classifies)
			line_class = classify(self, g_ptr_array_index(core, index), line);
		if (!has_missed)
			name_store(self, g_ptr_array_index(core, index), line, line_class);
		bool had_room = naive_cache_has_room(g_ptr_array_index(core, index), line);
		if (look_up_line(self, core, index, line))
			continue;
		is_cold &= had_room || is_never_full(self, index);
		if (!has_missed)
			first_class = line_class;
		has_missed = true;
	}
	if (!has_missed)
		return false;
	tell_miss(self, index, first_class);
	self->is_cold |= is_cold;
	self->counts[index].cold_misses += self->is_cold;
	return true;
}

static bool is_on_path(const NaiveSimulator *self, unsigned index, bool is_tlb)
{
	const LodeCache *cache = cache_at(self, index);
	unsigned holds = self->now->reference.kind == LODE_REFERENCE_FETCH ? LODE_CACHE_INSTRUCTIONS
	                                                                   : LODE_CACHE_DATA;

	return cache->is_tlb == is_tlb && (cache->holds & holds) != 0;
}

static void prefetch(NaiveSimulator *self, GPtrArray *core, unsigned index, uint64_t number)
{
	uint64_t line_bytes = cache_at(self, index)->line_bytes;
	uint64_t first = number * line_bytes, last = first + (line_bytes - 1);
	bool is_missing = naive_cache_find(g_ptr_array_index(core, index), number) == NULL;

	for (unsigned i = index; is_missing && i < core->len; i++) {
		NaiveCache *cache = g_ptr_array_index(core, i);
		uint64_t n_bytes = cache->description->line_bytes;

		if (!is_on_path(self, i, false))
			continue;
		is_missing = false;
		for (uint64_t line = first / n_bytes; line <= last / n_bytes; line++) {
			NaiveLine *there = naive_cache_find(cache, line);

			if (there != NULL) {
				naive_cache_use(cache, there);
				continue;
			}
			is_missing = true;
			if (is_coherent(self, i))
				clean_elsewhere(self, core, line);
			fill(self, core, i, line);
			naive_cache_find(cache, line)->is_prefetched = i == index;
			self->counts[i].prefetches += i == index;
		}
	}
}

/* By the last two strides of the instruction, kept apart for stores. */
static void prefetch_by_stride(NaiveSimulator *self, GPtrArray *core, unsigned index)
{
	NaiveCache *cache = g_ptr_array_index(core, index);
	uint64_t line_bytes = cache->description->line_bytes, line;
	uint64_t key = self->now->instruction * 2 +
	               (self->now->reference.kind == LODE_REFERENCE_STORE);
	NaiveStride *stride = &cache->strides[key % 1024];
	uint64_t address = self->now->reference.address;
	uint64_t distance = address - stride->last;
	bool is_known = stride->is_used && stride->key == key;

	if (is_known && distance != 0 && distance == stride->distance) {
		line = (address + distance) / line_bytes;
		if (line < first_line(self->now, line_bytes) ||
			line > last_line(self->now, line_bytes))
			prefetch(self, core, index, line);
	}
	*stride = (NaiveStride){true, key, address, is_known ? distance : 0};
}

static void prefetch_all(NaiveSimulator *self, GPtrArray *core, unsigned n_missed)
{
	for (unsigned i = 0, level = 0; i < core->len && level <= n_missed; i++) {
		const LodeCache *cache = cache_at(self, i);
		uint64_t line = last_line(self->now, cache->line_bytes);

		if (!is_on_path(self, i, false))
			continue;
		if (cache->prefetch == LODE_PREFETCH_STRIDE &&
			self->now->reference.kind != LODE_REFERENCE_FETCH)
			prefetch_by_stride(self, core, i);
		if (cache->prefetch == LODE_PREFETCH_NEXT_LINE && level < n_missed &&
			line != UINT64_MAX / cache->line_bytes)
			prefetch(self, core, i, line + 1);
		level++;
	}
}

/* How many levels missed. */
static unsigned walk_path(NaiveSimulator *self, GPtrArray *core, bool is_tlb)
{
	unsigned n_missed = 0;

	self->is_cold = false;
	for (unsigned i = 0; i < core->len; i++) {
		if (!is_on_path(self, i, is_tlb))
			continue;
		if (!look_up(self, core, i))
			break;
		n_missed++;
	}
	return n_missed;
}

static void take_lines(NaiveSimulator *self, const GPtrArray *core)
{
	for (unsigned i = 0; i < core->len; i++) {
		uint64_t line_bytes = cache_at(self, i)->line_bytes;

		if (!is_coherent(self, i))
			continue;
		for (uint64_t line = first_line(self->now, line_bytes);
			line <= last_line(self->now, line_bytes); line++)
			take_elsewhere(self, core, line);
		return;
	}
}

static void write_bytes(const NaiveReference *now, GPtrArray *core)
{
	uint64_t size = CLAMP(now->reference.size, 1, 16384);

	for (uint64_t i = 0; i < size && now->reference.address + i >= i; i++)
		write_byte(core, 0, now->reference.address + i);
}

void naive_simulator_access(NaiveSimulator *self, const NaiveReference *reference)
{
	GPtrArray *core = core_of(self, reference->reference.thread);
	bool is_marked = false, is_looked_up = false;
	unsigned n_missed;

	self->now = reference;
	walk_path(self, core, true);
	for (unsigned i = 0; i < core->len; i++) {
		is_marked |= marks_at_once(self, i);
		is_looked_up |= is_on_path(self, i, false);
	}
	if (!is_looked_up)
		return;
	if (is_write(reference))
		take_lines(self, core);
	n_missed = walk_path(self, core, false);
	if (is_write(reference) && !is_marked)
		write_bytes(reference, core);
	prefetch_all(self, core, n_missed);
}

const LodeCacheCounts *naive_simulator_counts(const NaiveSimulator *self)
{
	return self->counts;
}

const GArray *naive_simulator_stores(const NaiveSimulator *self)
{
	return self->stores;
}

const GArray *naive_simulator_misses(const NaiveSimulator *self)
{
	return self->misses;
}
