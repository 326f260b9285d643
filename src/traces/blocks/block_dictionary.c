/* SPDX-License-Identifier: MIT */
/*
 * Blocks in chunks that never move, found through a hash table of ids with open addressing: the
 * splitter looks one up for every invocation, so that a GHashTable of structures is too slow.
 */
#include "traces/blocks/block_dictionary.h"

#include "base/arrays/hash.h"

#include <string.h>

enum {
	BLOCKS_PER_CHUNK = 1 << 12,
	N_CHUNKS = LODE_DICTIONARY_MAX_BLOCKS / BLOCKS_PER_CHUNK,
	ARENA_CHUNK_BYTES = 1 << 18,
	FIRST_TABLE_SIZE = 1 << 12,
	TABLE_BYTES = 4 * sizeof(uint32_t), /* of the hash table, for a block */
	LARGEST_BLOCK_BYTES = sizeof(LodeTraceBlock) + TABLE_BYTES +
	                      LODE_BLOCK_MAX_INSTRUCTIONS * sizeof(uint32_t) +
	                      LODE_BLOCK_MAX_SLOTS * sizeof(LodeTraceSlot),
};

struct LodeBlockDictionary {
	gint n_references;
	uint32_t n_blocks; /* written atomically, as others ask for it meanwhile */
	uint32_t n_slots;
	size_t n_bytes;
	LodeTraceBlock *chunks[N_CHUNKS];
	GPtrArray *arena; /* chunks of bytes that slots and sizes lie in */
	size_t arena_used;
	uint32_t *table;  /* id + 1; 0: free */
	uint32_t *hashes; /* beside it */
	uint32_t table_mask;
	bool is_closed;
};

LodeBlockDictionary *lode_block_dictionary_new(void)
{
	LodeBlockDictionary *self = g_new0(LodeBlockDictionary, 1);

	self->n_references = 1;
	self->arena = g_ptr_array_new_with_free_func(g_free);
	self->arena_used = ARENA_CHUNK_BYTES;
	self->table = g_new0(uint32_t, FIRST_TABLE_SIZE);
	self->hashes = g_new0(uint32_t, FIRST_TABLE_SIZE);
	self->table_mask = FIRST_TABLE_SIZE - 1;
	return self;
}

LodeBlockDictionary *lode_block_dictionary_ref(LodeBlockDictionary *self)
{
	g_atomic_int_inc(&self->n_references);
	return self;
}

void lode_block_dictionary_unref(LodeBlockDictionary *self)
{
	if (self == NULL || !g_atomic_int_dec_and_test(&self->n_references))
		return;
	for (size_t i = 0; i < N_CHUNKS && self->chunks[i] != NULL; i++)
		g_free(self->chunks[i]);
	g_ptr_array_unref(self->arena);
	g_free(self->table);
	g_free(self->hashes);
	g_free(self);
}

uint32_t lode_block_dictionary_size(const LodeBlockDictionary *self)
{
	return (uint32_t)g_atomic_int_get(&self->n_blocks);
}

size_t lode_block_dictionary_bytes(const LodeBlockDictionary *self)
{
	return self->n_bytes;
}

void lode_block_dictionary_close(LodeBlockDictionary *self)
{
	self->is_closed = true;
}

bool lode_block_dictionary_is_full(const LodeBlockDictionary *self)
{
	return self->is_closed || self->n_blocks >= LODE_DICTIONARY_MAX_BLOCKS ||
	       self->n_slots + LODE_BLOCK_MAX_SLOTS > LODE_DICTIONARY_MAX_SLOTS ||
	       self->n_bytes >= LODE_DICTIONARY_MAX_BYTES;
}

bool lode_block_dictionary_is_nearly_full(const LodeBlockDictionary *self, uint32_t n_blocks)
{
	return self->is_closed || self->n_blocks + n_blocks > LODE_DICTIONARY_MAX_BLOCKS ||
	       self->n_slots + n_blocks * LODE_BLOCK_MAX_SLOTS > LODE_DICTIONARY_MAX_SLOTS ||
	       self->n_bytes + (size_t)n_blocks * LARGEST_BLOCK_BYTES > LODE_DICTIONARY_MAX_BYTES;
}

bool lode_block_dictionary_has_room(const LodeBlockDictionary *self, const LodeTraceBlock *block)
{
	return self->n_blocks < LODE_DICTIONARY_MAX_BLOCKS &&
	       self->n_slots + block->n_slots <= LODE_DICTIONARY_MAX_SLOTS &&
	       self->n_bytes < LODE_DICTIONARY_MAX_BYTES + LARGEST_BLOCK_BYTES;
}

const LodeTraceBlock *lode_block_dictionary_at(const LodeBlockDictionary *self, uint32_t id)
{
	return &self->chunks[id / BLOCKS_PER_CHUNK][id % BLOCKS_PER_CHUNK];
}

static uint32_t hash_block(const LodeTraceBlock *block)
{
	uint64_t hash = lode_hash_append(
		block->n_instructions | (uint64_t)block->n_slots << 8, block->address);

	for (unsigned i = 0; i < block->n_instructions; i++)
		hash = lode_hash_append(hash, block->instruction_sizes[i]);
	for (unsigned i = 0; i < block->n_slots; i++)
		hash = lode_hash_append(hash, block->slots[i].size |
						      (uint64_t)block->slots[i].kind << 32 |
						      (uint64_t)block->slots[i].instruction << 40);
	return (uint32_t)hash;
}

static bool slots_equal(const LodeTraceBlock *a, const LodeTraceBlock *b)
{
	for (unsigned i = 0; i < a->n_slots; i++) {
		const LodeTraceSlot *x = &a->slots[i], *y = &b->slots[i];

		if (x->size != y->size || x->instruction != y->instruction || x->kind != y->kind)
			return false;
	}
	return true;
}

static bool blocks_equal(const LodeTraceBlock *a, const LodeTraceBlock *b)
{
	return a->address == b->address && a->n_instructions == b->n_instructions &&
	       a->n_slots == b->n_slots &&
	       (a->n_instructions == 0 || memcmp(a->instruction_sizes, b->instruction_sizes,
						  a->n_instructions * sizeof(uint32_t)) == 0) &&
	       slots_equal(a, b);
}

/* The hashes are kept, so that a growing table need not look at the blocks again. */
static void insert_hash(LodeBlockDictionary *self, uint32_t hash, uint32_t id)
{
	uint32_t at = hash & self->table_mask;

	while (self->table[at] != 0)
		at = (at + 1) & self->table_mask;
	self->table[at] = id + 1;
	self->hashes[at] = hash;
}

static void grow_table(LodeBlockDictionary *self)
{
	uint32_t *table = self->table, *hashes = self->hashes;
	uint32_t size = self->table_mask + 1;

	self->table = g_new0(uint32_t, (size_t)size * 2);
	self->hashes = g_new0(uint32_t, (size_t)size * 2);
	self->table_mask = size * 2 - 1;
	for (uint32_t i = 0; i < size; i++) {
		if (table[i] != 0)
			insert_hash(self, hashes[i], table[i] - 1);
	}
	g_free(table);
	g_free(hashes);
}

/* Chunks never move and are never freed alone: pointers into them stay valid. It is not NULL for no
 * bytes either, since not even 0 may be added to NULL. */
static void *copy_bytes(LodeBlockDictionary *self, const void *bytes, size_t size)
{
	uint8_t *copy;

	if (self->arena->len == 0 || size > ARENA_CHUNK_BYTES - self->arena_used) {
		g_ptr_array_add(self->arena, g_malloc(ARENA_CHUNK_BYTES));
		self->arena_used = 0;
	}
	copy = g_ptr_array_index(self->arena, self->arena->len - 1);
	copy += self->arena_used;
	self->arena_used += size;
	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

static uint32_t add_block(LodeBlockDictionary *self, const LodeTraceBlock *block, uint32_t hash)
{
	size_t sizes_bytes = block->n_instructions * sizeof(uint32_t);
	size_t slots_bytes = block->n_slots * sizeof(LodeTraceSlot);
	uint32_t id = self->n_blocks;
	LodeTraceBlock *copy;

	g_assert(id < LODE_DICTIONARY_MAX_BLOCKS);
	if (id % BLOCKS_PER_CHUNK == 0)
		self->chunks[id / BLOCKS_PER_CHUNK] = g_new(LodeTraceBlock, BLOCKS_PER_CHUNK);
	copy = &self->chunks[id / BLOCKS_PER_CHUNK][id % BLOCKS_PER_CHUNK];
	*copy = *block;
	copy->instruction_sizes = copy_bytes(self, block->instruction_sizes, sizes_bytes);
	copy->slots = copy_bytes(self, block->slots, slots_bytes);
	copy->n_bytes = 0;
	for (unsigned i = 0; i < block->n_instructions; i++)
		copy->n_bytes += block->instruction_sizes[i];
	self->n_bytes += sizeof(*copy) + sizes_bytes + slots_bytes + TABLE_BYTES;
	/* After the block itself: a thread that sees the number may read the block. */
	g_atomic_int_set(&self->n_blocks, id + 1);
	self->n_slots += block->n_slots;
	insert_hash(self, hash, id);
	if (self->n_blocks * 2 > self->table_mask)
		grow_table(self);
	return id;
}

uint32_t lode_block_dictionary_find_or_add(LodeBlockDictionary *self, const LodeTraceBlock *block)
{
	uint32_t hash = hash_block(block);
	uint32_t at = hash & self->table_mask;

	for (; self->table[at] != 0; at = (at + 1) & self->table_mask) {
		uint32_t id = self->table[at] - 1;

		if (self->hashes[at] == hash &&
			blocks_equal(lode_block_dictionary_at(self, id), block))
			return id;
	}
	return add_block(self, block, hash);
}

/* By address; those of one address as they were added. */
static int compare_blocks(gconstpointer a, gconstpointer b, gpointer data)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const LodeTraceBlock *x = lode_block_dictionary_at(data, i);
	const LodeTraceBlock *y = lode_block_dictionary_at(data, k);

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return i < k ? -1 : i > k;
}

static LodeTraceBlock *block_at(LodeBlockDictionary *self, uint32_t id)
{
	return &self->chunks[id / BLOCKS_PER_CHUNK][id % BLOCKS_PER_CHUNK];
}

static void move_blocks(LodeBlockDictionary *self, uint32_t first, const uint32_t *order)
{
	uint32_t n = self->n_blocks - first;
	g_autofree LodeTraceBlock *sorted = g_new(LodeTraceBlock, n);

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = *block_at(self, order[i]);
	for (uint32_t i = 0; i < n; i++)
		*block_at(self, first + i) = sorted[i];
}

/* The structures change places; the bytes that they point to stay. Table entries of older blocks
 * are left as they are. */
uint32_t *lode_block_dictionary_sort(LodeBlockDictionary *self, uint32_t first)
{
	uint32_t n = self->n_blocks - first;
	g_autofree uint32_t *order = g_new(uint32_t, n + 1U);
	uint32_t *ids = g_new(uint32_t, n + 1U);

	for (uint32_t i = 0; i < n; i++)
		order[i] = first + i;
	g_qsort_with_data(order, (int)n, sizeof(*order), compare_blocks, self);
	for (uint32_t i = 0; i < n; i++)
		ids[order[i] - first] = first + i;
	move_blocks(self, first, order);
	for (uint32_t i = 0; i <= self->table_mask; i++) {
		if (self->table[i] > first)
			self->table[i] = ids[self->table[i] - 1 - first] + 1;
	}
	return ids;
}
