/* SPDX-License-Identifier: MIT */
/* An open hash table with linear probing, at most half full. */
#include "base/arrays/id_cache.h"

#include "base/arrays/hash.h"

#include <glib.h>
#include <string.h>

void lode_id_cache_init(LodeIdCache *self)
{
	self->n_slots = 1024;
	self->n_used = 0;
	self->slots = g_new0(LodeIdSlot, self->n_slots);
}

void lode_id_cache_clear(LodeIdCache *self)
{
	g_clear_pointer(&self->slots, g_free);
}

static size_t hash(const LodeIdKey *key)
{
	uint64_t mixed = lode_hash_append(0, key->words[0]);

	for (size_t i = 1; i < sizeof(key->words) / sizeof(key->words[0]); i++)
		mixed = lode_hash_append(mixed, key->words[i]);
	return (size_t)mixed;
}

static LodeIdSlot *probe(const LodeIdCache *self, const LodeIdKey *key)
{
	size_t at = hash(key) & (self->n_slots - 1);

	while (self->slots[at].is_used && memcmp(&self->slots[at].key, key, sizeof(*key)) != 0)
		at = (at + 1) & (self->n_slots - 1);
	return &self->slots[at];
}

static void grow(LodeIdCache *self)
{
	LodeIdCache bigger = {
		.slots = g_new0(LodeIdSlot, self->n_slots * 2),
		.n_slots = self->n_slots * 2,
		.n_used = self->n_used,
	};

	for (size_t i = 0; i < self->n_slots; i++)
		if (self->slots[i].is_used)
			*probe(&bigger, &self->slots[i].key) = self->slots[i];
	g_free(self->slots);
	*self = bigger;
}

LodeIdSlot *lode_id_cache_find(LodeIdCache *self, const LodeIdKey *key, bool *out_is_new)
{
	LodeIdSlot *slot;

	if (self->n_used * 2 >= self->n_slots)
		grow(self);
	slot = probe(self, key);
	*out_is_new = !slot->is_used;
	if (!slot->is_used) {
		slot->key = *key;
		slot->is_used = true;
		self->n_used++;
	}
	return slot;
}

LodeIdSlot *lode_id_cache_find_limited(
	LodeIdCache *self, const LodeIdKey *key, size_t max, bool *out_is_new)
{
	if (self->n_used >= max && !probe(self, key)->is_used)
		return NULL;
	return lode_id_cache_find(self, key, out_is_new);
}
