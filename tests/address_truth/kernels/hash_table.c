/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing: inserts, finds, removes. */
#include "kernel.h"

struct entry {
	uint32_t key; /* 0: free, UINT32_MAX: removed */
	uint16_t length;
	uint8_t flags[2];
	uint64_t value;
};

struct table {
	struct entry *entries;
	size_t mask, n_used, n_probes;
};

static struct entry *find(struct table *self, uint32_t key)
{
	size_t at = (key * 2654435761u) & self->mask;

	while (self->entries[at].key != 0 && self->entries[at].key != key) {
		at = (at + 1) & self->mask;
		self->n_probes++;
	}
	return &self->entries[at];
}

static void insert(struct table *self, uint32_t key, uint64_t value)
{
	struct entry *entry = find(self, key);

	if (entry->key == 0)
		self->n_used++;
	entry->key = key;
	entry->length++;
	entry->flags[value & 1]++;
	entry->value += value;
}

static void remove_key(struct table *self, uint32_t key)
{
	struct entry *entry = find(self, key);

	if (entry->key == key)
		*entry = (struct entry){.key = UINT32_MAX};
}

static void kernel_run(Kernel *self)
{
	struct table table = {.mask = 1};
	uint32_t state = self->seed;

	while (table.mask < 4 * self->n)
		table.mask = 2 * table.mask + 1;
	table.entries = kernel_array(table.mask + 1, sizeof(*table.entries));
	for (unsigned round = 0; round < self->rounds; round++)
		for (size_t i = 0; i < self->n; i++) {
			uint32_t key = kernel_random(&state) % (uint32_t)(2 * self->n) + 1;
			insert(&table, key, i);
			self->result += find(&table, key ^ 1)->value;
			if (i % 8 == 0 && table.n_used < table.mask / 2)
				remove_key(&table, key);
		}
	self->result += table.n_probes;
}
