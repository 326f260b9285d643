/* SPDX-License-Identifier: MIT */
/*
 * Open addressing with linear probing. GHashTable would need a NUL-terminated copy of each name
 * before it can be looked up, which is half of the reader's time.
 */
#include "sources/flow_file/flow_file_names.h"

#include "base/arrays/hash.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

void lode_flow_file_names_init(LodeFlowFileNames *self, GStringChunk *strings)
{
	*self = (LodeFlowFileNames){
		.strings = strings,
		.names = g_array_new(FALSE, FALSE, sizeof(LodeFlowFileName)),
		.slots = g_new0(uint32_t, FIRST_SLOTS),
		.n_slots = FIRST_SLOTS,
		.seed = (uint64_t)g_random_int() << 32 | g_random_int(),
	};
}

void lode_flow_file_names_clear(LodeFlowFileNames *self)
{
	g_clear_pointer(&self->names, g_array_unref);
	g_clear_pointer(&self->slots, g_free);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load_8(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return word;
}

static uint64_t load_4(const char *text)
{
	uint32_t word;

	memcpy(&word, text, sizeof(word));
	return word;
}

/* Up to 8 bytes as one word, by loads of fixed size that may overlap. */
static uint64_t load_short(const char *text, uint32_t length)
{
	if (length >= 4)
		return load_4(text) << 32 | load_4(text + length - 4);
	if (length == 0)
		return 0;
	return (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[length / 2] << 8 |
	       (uint8_t)text[length - 1];
}

static uint32_t hash_bytes(uint64_t seed, const char *text, uint32_t length)
{
	uint64_t hash = seed ^ length;

	if (length <= 8)
		return (uint32_t)mix(hash ^ load_short(text, length), UINT64_C(0xd6e8feb86659fd93));
	const char *last = text + length - 8;
	for (; text < last; text += 8)
		hash = mix(hash ^ load_8(text), LODE_HASH_MULTIPLIER);
	return (uint32_t)mix(hash ^ load_8(last), UINT64_C(0xd6e8feb86659fd93));
}

static void place(LodeFlowFileNames *self, uint32_t number)
{
	LodeFlowFileName *name = &g_array_index(self->names, LodeFlowFileName, number);
	uint32_t slot = name->hash & (self->n_slots - 1);

	while (self->slots[slot] != 0)
		slot = (slot + 1) & (self->n_slots - 1);
	self->slots[slot] = number + 1;
	name->slot = slot;
}

static void grow(LodeFlowFileNames *self)
{
	g_free(self->slots);
	self->n_slots *= 2;
	self->slots = g_new0(uint32_t, self->n_slots);
	for (guint i = 0; i < self->names->len; i++)
		place(self, i);
}

uint32_t lode_flow_file_names_add(LodeFlowFileNames *self, const char *text, uint32_t length)
{
	LodeFlowFileName name = {.length = length, .hash = hash_bytes(self->seed, text, length)};
	uint32_t mask = self->n_slots - 1;

	for (uint32_t slot = name.hash & mask; self->slots[slot] != 0; slot = (slot + 1) & mask) {
		uint32_t number = self->slots[slot] - 1;
		const LodeFlowFileName *known = &g_array_index(
			self->names, LodeFlowFileName, number);
		if (known->hash == name.hash && known->length == length &&
			memcmp(known->text, text, length) == 0)
			return number;
	}
	name.text = g_string_chunk_insert_len(self->strings, text, (gssize)length);
	g_array_append_val(self->names, name);
	if (self->names->len > self->n_slots / 2)
		grow(self);
	else
		place(self, self->names->len - 1);
	return self->names->len - 1;
}

void lode_flow_file_names_reset(LodeFlowFileNames *self)
{
	for (guint i = 0; i < self->names->len; i++)
		self->slots[g_array_index(self->names, LodeFlowFileName, i).slot] = 0;
	g_array_set_size(self->names, 0);
}
