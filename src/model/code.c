/* SPDX-License-Identifier: MIT */
/*
 * Attributes, attribute sets and locations are stored once and travel as ids: instructions are
 * millions, what they are said to be is thousands. Tables find them again, by value.
 */
#include "model/code.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

static guint hash_words(const void *data)
{
	const GArray *words = data;
	uint64_t hash = words->len;

	for (guint i = 0; i < words->len; i++)
		hash = lode_hash_append(hash, g_array_index(words, uint32_t, i));
	return (guint)hash;
}

static gboolean equal_words(const void *a, const void *b)
{
	const GArray *left = a, *right = b;

	return left->len == right->len &&
	       (left->len == 0 ||
		       memcmp(left->data, right->data, left->len * sizeof(uint32_t)) == 0);
}

static void free_array(void *data)
{
	g_array_unref(data);
}

static guint hash_location(const void *data)
{
	const LodeLocation *location = data;

	/* Strings are interned, so that equal ones are the same pointer. */
	uint64_t hash = lode_hash_append(location->line, (uint64_t)(uintptr_t)location->file);
	return (guint)lode_hash_append(hash, (uint64_t)(uintptr_t)location->inlined);
}

static gboolean equal_location(const void *a, const void *b)
{
	const LodeLocation *left = a, *right = b;

	return left->file == right->file && left->line == right->line &&
	       left->inlined == right->inlined;
}

static void clear_event(void *data)
{
	LodeEvent *event = data;

	g_clear_pointer(&event->terms, g_array_unref);
}

static void clear_function(void *data)
{
	LodeFunction *function = data;

	g_clear_pointer(&function->code, g_bytes_unref);
}

void lode_code_init(LodeCode *self)
{
	uint32_t zero = 0;

	self->weight_event = LODE_NONE;
	self->events = g_array_new(FALSE, TRUE, sizeof(LodeEvent));
	g_array_set_clear_func(self->events, clear_event);
	self->images = g_array_new(FALSE, TRUE, sizeof(LodeImage));
	self->functions = g_array_new(FALSE, TRUE, sizeof(LodeFunction));
	g_array_set_clear_func(self->functions, clear_function);
	self->blocks = g_array_new(FALSE, TRUE, sizeof(LodeBlock));
	self->instructions = g_array_new(FALSE, TRUE, sizeof(LodeInstruction));
	self->edges = g_array_new(FALSE, TRUE, sizeof(LodeEdge));
	self->costs = g_array_new(FALSE, TRUE, sizeof(LodeCost));
	self->cost_starts = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	g_array_append_val(self->cost_starts, zero);
	self->locations = g_array_new(FALSE, TRUE, sizeof(LodeLocation));
	self->inlinings = g_array_new(FALSE, TRUE, sizeof(LodeInlining));
	self->inlining_of = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->attributes = g_ptr_array_new();
	self->attribute_sets = g_array_new(FALSE, TRUE, sizeof(LodeAttributeSet));
	self->set_members = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->attribute_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->attribute_set_ids = g_hash_table_new_full(hash_words, equal_words, free_array, NULL);
	self->location_ids = g_hash_table_new_full(hash_location, equal_location, g_free, NULL);
	self->inlining_ids = g_hash_table_new(lode_hash_pair, g_direct_equal);
}

void lode_code_clear(LodeCode *self)
{
	g_hash_table_unref(self->inlining_ids);
	g_hash_table_unref(self->location_ids);
	g_hash_table_unref(self->attribute_set_ids);
	g_hash_table_unref(self->attribute_ids);
	g_array_unref(self->set_members);
	g_array_unref(self->attribute_sets);
	g_ptr_array_unref(self->attributes);
	g_array_unref(self->inlining_of);
	g_array_unref(self->inlinings);
	g_array_unref(self->locations);
	g_array_unref(self->cost_starts);
	g_array_unref(self->costs);
	g_array_unref(self->edges);
	g_array_unref(self->instructions);
	g_array_unref(self->blocks);
	g_array_unref(self->functions);
	g_array_unref(self->images);
	g_array_unref(self->events);
}

uint32_t lode_profile_attribute(LodeProfile *self, const char *name)
{
	void *found = g_hash_table_lookup(self->code.attribute_ids, name);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	char *own = lode_profile_intern(self, name);
	g_ptr_array_add(self->code.attributes, own);
	g_hash_table_insert(
		self->code.attribute_ids, own, GUINT_TO_POINTER(self->code.attributes->len));
	return self->code.attributes->len - 1;
}

uint32_t lode_profile_find_attribute(const LodeProfile *self, const char *name)
{
	/* LODE_NONE is 0 − 1. */
	return GPOINTER_TO_UINT(g_hash_table_lookup(self->code.attribute_ids, name)) - 1;
}

bool lode_profile_set_has(const LodeProfile *self, uint32_t set, const char *name)
{
	uint32_t n, id = lode_profile_find_attribute(self, name);
	const uint32_t *members = lode_profile_set_members(self, set, &n);

	for (uint32_t i = 0; i < n && id != LODE_NONE; i++)
		if (members[i] == id)
			return true;
	return false;
}

const char *lode_profile_set_value(const LodeProfile *self, uint32_t set, const char *prefix)
{
	uint32_t n;
	const uint32_t *members = lode_profile_set_members(self, set, &n);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = lode_profile_attribute_name(self, members[i]);
		if (g_str_has_prefix(name, prefix))
			return name + strlen(prefix);
	}
	return NULL;
}

uint16_t *lode_profile_mark_sets(const LodeProfile *self, const LodeAttributeMark *marks, size_t n)
{
	uint16_t *sets = g_new0(uint16_t, MAX(self->code.attribute_sets->len, 1));
	g_autofree uint16_t *of = g_new0(uint16_t, MAX(self->code.attributes->len, 1));

	for (uint32_t i = 0; i < self->code.attributes->len; i++)
		for (size_t k = 0; k < n; k++)
			if (g_pattern_match_simple(
				    marks[k].glob, lode_profile_attribute_name(self, i)))
				of[i] |= marks[k].mark;
	for (uint32_t i = 0; i < self->code.attribute_sets->len; i++) {
		uint32_t n_members;
		const uint32_t *members = lode_profile_set_members(self, i, &n_members);
		for (uint32_t k = 0; k < n_members; k++)
			sets[i] |= of[members[k]];
	}
	return sets;
}

uint32_t lode_profile_attribute_set(LodeProfile *self, const uint32_t *attributes, size_t n)
{
	g_autoptr(GArray) key = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), (guint)n);
	void *found;

	g_array_append_vals(key, attributes, (guint)n);
	if (n > 1)
		qsort(key->data, n, sizeof(uint32_t), lode_compare_u32);
	guint kept = 0;
	for (guint i = 0; i < key->len; i++) {
		uint32_t id = g_array_index(key, uint32_t, i);
		if (kept == 0 || g_array_index(key, uint32_t, kept - 1) != id)
			g_array_index(key, uint32_t, kept++) = id;
	}
	g_array_set_size(key, kept);
	if (g_hash_table_lookup_extended(self->code.attribute_set_ids, key, NULL, &found))
		return GPOINTER_TO_UINT(found);
	LodeAttributeSet set = {.first = self->code.set_members->len, .n = kept};
	uint32_t id = self->code.attribute_sets->len;
	g_array_append_val(self->code.attribute_sets, set);
	g_array_append_vals(self->code.set_members, key->data, kept);
	g_hash_table_insert(
		self->code.attribute_set_ids, g_steal_pointer(&key), GUINT_TO_POINTER(id));
	return id;
}

uint32_t lode_profile_location(
	LodeProfile *self, const char *file, uint32_t line, const char *inlined)
{
	LodeLocation key = {
		.file = lode_profile_intern(self, file),
		.line = line,
		.inlined = lode_profile_intern(self, inlined),
	};
	void *found;

	if (g_hash_table_lookup_extended(self->code.location_ids, &key, NULL, &found))
		return GPOINTER_TO_UINT(found);
	uint32_t id = self->code.locations->len;
	g_array_append_val(self->code.locations, key);
	g_hash_table_insert(
		self->code.location_ids, g_memdup2(&key, sizeof(key)), GUINT_TO_POINTER(id));
	return id;
}

uint32_t lode_profile_inlining(LodeProfile *self, uint32_t location, uint32_t outer)
{
	void *key = GSIZE_TO_POINTER((uint64_t)location << 32 | outer);
	uint32_t id = GPOINTER_TO_UINT(g_hash_table_lookup(self->code.inlining_ids, key));
	LodeInlining inlining = {location, outer};

	if (id != 0)
		return id - 1;
	g_array_append_val(self->code.inlinings, inlining);
	g_hash_table_insert(
		self->code.inlining_ids, key, GUINT_TO_POINTER(self->code.inlinings->len));
	return self->code.inlinings->len - 1;
}

void lode_profile_set_inlining(LodeProfile *self, uint32_t instruction, uint32_t inlining)
{
	const uint32_t none = LODE_NONE;

	while (self->code.inlining_of->len < self->code.instructions->len)
		g_array_append_val(self->code.inlining_of, none);
	LODE_AT(self->code.inlining_of, uint32_t, instruction) = inlining;
}

uint32_t lode_profile_add_event(LodeProfile *self, const char *name, const char *description,
	LodeEventKind kind, const LodeEventTerm *terms, size_t n_terms)
{
	LodeEvent event = {
		.name = lode_profile_intern(self, name),
		.description = lode_profile_intern(self, description),
		.kind = kind,
	};

	if (kind == LODE_EVENT_DERIVED) {
		event.terms = g_array_new(FALSE, FALSE, sizeof(LodeEventTerm));
		g_array_append_vals(event.terms, terms, (guint)n_terms);
	}
	g_array_append_val(self->code.events, event);
	return self->code.events->len - 1;
}

/* Events are few: a search by name costs less than a table. */
uint32_t lode_profile_find_event(const LodeProfile *self, const char *name)
{
	for (guint i = 0; i < self->code.events->len; i++)
		if (strcmp(lode_profile_event(self, i)->name, name) == 0)
			return i;
	return LODE_NONE;
}

static double stored_value(const LodeProfile *self, uint32_t event, uint32_t instruction)
{
	if (lode_profile_event(self, event)->kind == LODE_EVENT_COUNT)
		return lode_profile_instruction(self, instruction)->count;
	uint32_t end = LODE_AT(self->code.cost_starts, uint32_t, instruction + 1);
	for (uint32_t i = LODE_AT(self->code.cost_starts, uint32_t, instruction); i < end; i++) {
		const LodeCost *cost = &LODE_AT(self->code.costs, LodeCost, i);
		if (cost->event == event)
			return cost->value;
	}
	return 0;
}

double lode_profile_event_value(const LodeProfile *self, uint32_t event, uint32_t instruction)
{
	const LodeEvent *wanted = lode_profile_event(self, event);
	double value = 0;

	if (wanted->kind != LODE_EVENT_DERIVED)
		return stored_value(self, event, instruction);
	for (guint i = 0; i < wanted->terms->len; i++) {
		const LodeEventTerm *term = &LODE_AT(wanted->terms, LodeEventTerm, i);
		value += term->factor * stored_value(self, term->event, instruction);
	}
	return value;
}
