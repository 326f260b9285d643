/* SPDX-License-Identifier: MIT */
#include "analyses/mine/pattern_join.h"

/* Of `elements`, in rising order, the first with each key is a pattern of its own; the others are
 * asked. `elements` may be `asked`. */
static void guess(LodePatternJoin *self, const uint32_t *elements, size_t n)
{
	g_autoptr(GHashTable) known = g_hash_table_new(g_int64_hash, g_int64_equal);

	self->n_asked = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t element = elements[i];
		void *key = (void *)&self->keys[element], *first;
		if (g_hash_table_lookup_extended(known, key, NULL, &first)) {
			self->firsts[element] = GPOINTER_TO_UINT(first);
			self->asked[self->n_asked++] = element;
			continue;
		}
		self->firsts[element] = element;
		g_hash_table_insert(known, key, GUINT_TO_POINTER(element));
	}
}

void lode_pattern_join_init(
	LodePatternJoin *self, const uint32_t *own, const uint64_t *keys, size_t n)
{
	*self = (LodePatternJoin){.own = own,
		.keys = keys,
		.firsts = g_new(uint32_t, n + 1),
		.asked = g_new(uint32_t, n + 1),
		.n = n};
	for (size_t i = 0; i < n; i++)
		self->asked[i] = (uint32_t)i;
	guess(self, self->asked, n);
}

void lode_pattern_join_clear(LodePatternJoin *self)
{
	g_clear_pointer(&self->firsts, g_free);
	g_clear_pointer(&self->asked, g_free);
}

void lode_pattern_join_write(const LodePatternJoin *self, double *values)
{
	for (size_t i = 0; i < self->n_asked; i++) {
		uint32_t element = self->asked[i];
		values[i] = self->own[element] != self->own[self->firsts[element]];
	}
}

void lode_pattern_join_settle(LodePatternJoin *self, const double *sums)
{
	size_t n = 0;

	for (size_t i = 0; i < self->n_asked; i++)
		if (sums[i] > 0)
			self->asked[n++] = self->asked[i];
	guess(self, self->asked, n);
}
