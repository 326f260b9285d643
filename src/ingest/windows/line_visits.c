/* SPDX-License-Identifier: MIT */
#include "ingest/windows/access_visits.h"

#include "base/bits.h"
#include "model/index.h"

enum { LINE = 64, MOST_LINES = 64 /* of one access */, MAX_VISITS = 1 << 16 };

typedef struct {
	uint32_t number, mask;
} Visit;

/* The visits of one instruction, in a stretch. */
typedef struct {
	uint64_t line;
	uint32_t stretch; /* 0: none */
	uint32_t mask;    /* of the visit that has begun; LODE_NONE: it came there unseen */
} Last;

void lode_line_visits_init(LodeLineVisits *self)
{
	self->bytes = g_hash_table_new(g_direct_hash, NULL);
	self->masks = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->visits = g_array_new(FALSE, FALSE, sizeof(Visit));
	self->last = g_array_new(FALSE, TRUE, sizeof(Last));
	self->stretch = 1;
}

void lode_line_visits_clear(LodeLineVisits *self)
{
	g_clear_pointer(&self->bytes, g_hash_table_unref);
	g_clear_pointer(&self->masks, g_array_unref);
	g_clear_pointer(&self->visits, g_array_unref);
	g_clear_pointer(&self->last, g_array_unref);
}

/* The number of the line's mask, which gets these bytes. */
static uint32_t use_bytes(LodeLineVisits *self, uint64_t line, uint64_t bytes)
{
	/* the numbers of lines have at most 58 bits */
	void *key = GSIZE_TO_POINTER((gsize)line + 1);
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(self->bytes, key));

	if (found == 0) {
		g_array_append_val(self->masks, bytes);
		found = self->masks->len;
		g_hash_table_insert(self->bytes, key, GUINT_TO_POINTER(found));
	}
	LODE_AT(self->masks, uint64_t, found - 1) |= bytes;
	return found - 1;
}

static Last *last_of(LodeLineVisits *self, uint32_t number)
{
	if (number >= self->last->len)
		g_array_set_size(self->last, number + 1);
	return &LODE_AT(self->last, Last, number);
}

static void go_to(LodeLineVisits *self, uint32_t number, uint64_t line, uint32_t mask)
{
	Last *last = last_of(self, number);
	bool is_known = last->stretch == self->stretch;

	if (is_known && last->line == line)
		return;
	if (is_known && last->mask != LODE_NONE && self->visits->len < MAX_VISITS) {
		const Visit visit = {number, last->mask};
		g_array_append_val(self->visits, visit);
	}
	*last = (Last){line, self->stretch, is_known ? mask : LODE_NONE};
}

void lode_line_visits_add(LodeLineVisits *self, uint32_t number, uint64_t address, uint32_t size)
{
	uint64_t line = address / LINE;
	uint32_t left = size, first = LODE_NONE;

	for (unsigned i = 0; left > 0 && i < MOST_LINES; i++) {
		unsigned offset = i == 0 ? address % LINE : 0;
		unsigned n = MIN(left, LINE - offset);
		uint64_t bytes = lode_low_bits(n);
		uint32_t mask = use_bytes(self, line + i, bytes << offset);
		first = i == 0 ? mask : first;
		left -= n;
	}
	if (number != UINT32_MAX && first != LODE_NONE)
		go_to(self, number, line, first);
}

void lode_line_visits_break(LodeLineVisits *self, uint32_t number)
{
	if (number < self->last->len)
		LODE_AT(self->last, Last, number).stretch = 0;
}

void lode_line_visits_end(LodeLineVisits *self, LodeLineVisitPut put, void *data)
{
	for (guint i = 0; i < self->visits->len; i++) {
		const Visit *visit = &LODE_AT(self->visits, Visit, i);
		uint64_t mask = LODE_AT(self->masks, uint64_t, visit->mask);
		put(data, visit->number, (unsigned)__builtin_popcountll(mask));
	}
	g_hash_table_remove_all(self->bytes);
	g_array_set_size(self->masks, 0);
	g_array_set_size(self->visits, 0);
	self->stretch++;
}
