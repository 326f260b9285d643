/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/sequence_table.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"

#include <string.h>

LodeSymbols *lode_symbols_new(void)
{
	LodeSymbols *self = g_new0(LodeSymbols, 1);

	lode_name_table_init(&self->names);
	return self;
}

void lode_symbols_free(LodeSymbols *self)
{
	if (self == NULL)
		return;
	lode_name_table_clear(&self->names);
	g_free(self);
}

uint16_t lode_symbols_add(LodeSymbols *self, const char *text)
{
	uint32_t number = lode_name_table_add(&self->names, text);

	return number < UINT16_MAX ? (uint16_t)(number + 1) : 0;
}

uint64_t lode_symbols_key(LodeSymbols *self, const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, " ", -1);
	uint64_t key = 0;

	if (g_strv_length(parts) > LODE_SIGNATURE_LENGTHS)
		return 0;
	for (unsigned i = 0; parts[i] != NULL; i++) {
		uint64_t symbol = lode_symbols_add(self, parts[i]);
		if (symbol == 0)
			return 0;
		key |= symbol << 16 * i;
	}
	return key;
}

char *lode_symbols_text(const LodeSymbols *self, uint64_t key)
{
	GString *text = g_string_new(NULL);

	for (; key != 0; key >>= 16) {
		if (text->len > 0)
			g_string_append_c(text, ' ');
		g_string_append(
			text, lode_name_table_name(&self->names, (uint32_t)(key & 0xffff) - 1));
	}
	return g_string_free(text, FALSE);
}

void lode_sequence_table_clear(LodeSequenceTable *self)
{
	g_free(self->slots);
	*self = (LodeSequenceTable){0};
}

/* Where the key is or would be. */
static size_t find_slot(const LodeSequenceTable *self, uint64_t key)
{
	size_t mask = self->n_slots - 1;
	size_t at = (lode_hash_append(4, key) >> 8) & mask;

	while (self->slots[at].key != 0 && self->slots[at].key != key)
		at = (at + 1) & mask;
	return at;
}

static void grow(LodeSequenceTable *self)
{
	LodeSequenceTable larger = {.n_slots = MAX(1024, self->n_slots * 2)};

	larger.slots = g_new0(LodeSequenceValue, larger.n_slots);
	larger.n_used = self->n_used;
	for (size_t i = 0; i < self->n_slots; i++)
		if (self->slots[i].key != 0)
			larger.slots[find_slot(&larger, self->slots[i].key)] = self->slots[i];
	g_free(self->slots);
	*self = larger;
}

double *lode_sequence_table_at(LodeSequenceTable *self, uint64_t key)
{
	if (self->n_used * 2 >= self->n_slots)
		grow(self);
	LodeSequenceValue *slot = &self->slots[find_slot(self, key)];
	if (slot->key == 0) {
		slot->key = key;
		self->n_used++;
	}
	return &slot->value;
}

double lode_sequence_table_get(const LodeSequenceTable *self, uint64_t key, double missing)
{
	if (self->n_slots == 0)
		return missing;
	const LodeSequenceValue *slot = &self->slots[find_slot(self, key)];
	return slot->key != 0 ? slot->value : missing;
}

LODE_ORDER(compare_keys, LodeSequenceValue, LODE_ASCENDING(key))

GArray *lode_sequence_table_sorted(const LodeSequenceTable *self)
{
	GArray *values = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeSequenceValue), (guint)self->n_used);

	for (size_t i = 0; i < self->n_slots; i++)
		if (self->slots[i].key != 0)
			g_array_append_val(values, self->slots[i]);
	g_array_sort(values, compare_keys);
	return values;
}
