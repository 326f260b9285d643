/* SPDX-License-Identifier: MIT */
/* Lines by how recently they were used: the way of those that are not near. */
#include "caches/stacks/line_stack.h"

enum {
	FIRST_TABLE_BITS = 12,
	HASH_BITS = 64,
};

/* Where a line is: free, near (and its place), or the moment that it marked. */
#define FREE UINT32_MAX
#define NEAR UINT32_C(0x80000000)

static void new_table(LodeLineStack *self, unsigned bits)
{
	size_t size = (size_t)1 << bits;

	self->table_lines = g_new(uint64_t, size);
	self->table_where = g_new(uint32_t, size);
	memset(self->table_where, UINT8_MAX, size * sizeof(uint32_t));
	self->table_shift = HASH_BITS - bits;
	self->table_mask = (uint32_t)(size - 1);
}

void lode_line_stack_init(LodeLineStack *self)
{
	memset(self, 0, sizeof(*self));
	lode_near_lines_init(&self->near);
	lode_recency_tree_init(&self->tree, LODE_RECENCY_MIN_CAPACITY);
	self->slots = g_new(uint32_t, self->tree.capacity);
	new_table(self, FIRST_TABLE_BITS);
	self->room = self->table_mask + 1;
	self->histogram = g_new0(uint64_t, self->room);
}

void lode_line_stack_clear(LodeLineStack *self)
{
	lode_recency_tree_clear(&self->tree);
	g_clear_pointer(&self->slots, g_free);
	g_clear_pointer(&self->table_lines, g_free);
	g_clear_pointer(&self->table_where, g_free);
	g_clear_pointer(&self->histogram, g_free);
}

/* The slot that a line has, or the free one that it would get. */
static uint32_t find_slot(const LodeLineStack *self, uint64_t line, uint64_t hash)
{
	uint32_t slot = (uint32_t)(hash >> self->table_shift);

	while (self->table_where[slot] != FREE && self->table_lines[slot] != line)
		slot = (slot + 1) & self->table_mask;
	return slot;
}

/* Lines change their slots: tell those who know them by these. */
static void grow_table(LodeLineStack *self)
{
	uint64_t *lines = self->table_lines;
	uint32_t *where = self->table_where;
	uint32_t size = self->table_mask + 1;

	new_table(self, HASH_BITS - self->table_shift + 1);
	for (uint32_t i = 0; i < size; i++) {
		if (where[i] == FREE)
			continue;
		uint32_t slot = find_slot(self, lines[i], lode_near_lines_hash(lines[i]));
		self->table_lines[slot] = lines[i];
		self->table_where[slot] = where[i];
		if ((where[i] & NEAR) != 0)
			self->near_slots[where[i] & ~NEAR] = slot;
		else
			self->slots[where[i]] = slot;
	}
	g_free(lines);
	g_free(where);
	self->histogram = g_renew(uint64_t, self->histogram, self->table_mask + 1);
	memset(&self->histogram[self->room], 0,
		(self->table_mask + 1 - self->room) * sizeof(uint64_t));
	self->room = self->table_mask + 1;
}

/* Another tree, in which the marked moments of this one are the first. */
static void renumber_moments(LodeLineStack *self)
{
	LodeRecencyTree old = self->tree;
	uint32_t *old_slots = self->slots;
	uint32_t capacity = LODE_RECENCY_MIN_CAPACITY;

	while (capacity < 2 * old.n_marked)
		capacity *= 2;
	lode_recency_tree_init(&self->tree, capacity);
	self->slots = g_new(uint32_t, capacity);
	for (uint32_t i = 0; i < old.now; i += HASH_BITS) {
		for (uint64_t word = old.words[i / HASH_BITS]; word != 0; word &= word - 1) {
			uint32_t slot = old_slots[i + (uint32_t)__builtin_ctzll(word)];
			uint32_t moment = lode_recency_tree_mark(&self->tree);

			self->slots[moment] = slot;
			self->table_where[slot] = moment;
		}
	}
	lode_recency_tree_clear(&old);
	g_free(old_slots);
}

/* The place for another near line; the oldest one goes to the tree. */
static unsigned free_place(LodeLineStack *self)
{
	if (!lode_near_lines_is_full(&self->near))
		return self->near.n++;
	unsigned place = lode_near_lines_oldest(&self->near);
	uint32_t slot = self->near_slots[place];
	if (lode_recency_tree_is_full(&self->tree))
		renumber_moments(self);
	uint32_t moment = lode_recency_tree_mark(&self->tree);
	self->slots[moment] = slot;
	self->table_where[slot] = moment;
	return place;
}

static void insert_near(LodeLineStack *self, uint32_t slot, uint64_t line, uint64_t hash)
{
	unsigned place = free_place(self);

	self->near_slots[place] = slot;
	self->table_where[slot] = NEAR | place;
	lode_near_lines_put(&self->near, place, line, hash);
}

static void add_line(LodeLineStack *self, uint64_t line, uint64_t hash)
{
	self->n_lines++;
	if (self->n_lines > self->table_mask / 4 * 3)
		grow_table(self);
	uint32_t slot = find_slot(self, line, hash);
	self->table_lines[slot] = line;
	insert_near(self, slot, line, hash);
}

void lode_line_stack_use_far(LodeLineStack *self, uint64_t line, uint64_t hash)
{
	uint32_t slot = find_slot(self, line, hash);
	uint32_t where = self->table_where[slot];

	if (where == FREE) {
		add_line(self, line, hash);
	} else if ((where & NEAR) != 0) {
		unsigned place = where & ~NEAR;

		self->near.table[hash >> LODE_NEAR_TABLE_SHIFT] = (uint8_t)place;
		self->histogram[lode_near_lines_use(&self->near, place)]++;
	} else {
		uint32_t after = lode_recency_tree_count_after(&self->tree, where);

		self->histogram[LODE_NEAR_LINES + after]++;
		lode_recency_tree_unmark(&self->tree, where);
		insert_near(self, slot, line, hash);
	}
}
