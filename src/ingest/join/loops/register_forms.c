/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/register_forms.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <string.h>

enum {
	MAX_BODY = 1 << 12, /* instructions */
	MAX_PASSES = 64,
};

typedef LodeRegisterForm Forms[LODE_FORM_REGISTERS];

static const LodeRegisterForm unknown = {.origin = LODE_FORM_UNKNOWN};

void lode_register_forms_init(LodeRegisterForms *self)
{
	*self = (LodeRegisterForms){
		.slots = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
		.states = g_array_new(FALSE, TRUE, sizeof(Forms)),
		.order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.reached = g_array_new(FALSE, TRUE, sizeof(bool)),
	};
}

void lode_register_forms_clear(LodeRegisterForms *self)
{
	g_clear_pointer(&self->slots, g_array_unref);
	g_clear_pointer(&self->states, g_array_unref);
	g_clear_pointer(&self->order, g_array_unref);
	g_clear_pointer(&self->reached, g_array_unref);
}

/* 0: not in the loop. */
static uint32_t slot_of(const LodeRegisterForms *self, uint32_t node)
{
	return node < self->slots->len ? g_array_index(self->slots, uint32_t, node) : 0;
}

static bool are_equal(const LodeRegisterForm *a, const LodeRegisterForm *b)
{
	return a->origin == b->origin && a->factor == b->factor && a->is_scaled == b->is_scaled &&
	       a->identity == b->identity;
}

/* The forms after an instruction. */
static LodeRegisterForm make(const LodeRegisterTerms *terms, const Forms forms, uint32_t node)
{
	LodeRegisterForm made = {.identity = lode_hash_append(LODE_HASH_MULTIPLIER, node + 1),
		.origin = LODE_FORM_SAME};

	if (terms->is_copy)
		return forms[terms->terms[0].number];
	for (unsigned i = 0; i < terms->n; i++) {
		const LodeRegisterForm *form = &forms[terms->terms[i].number];
		made.identity = lode_hash_append(made.identity, form->identity);
		if (form->origin == LODE_FORM_UNKNOWN)
			return unknown;
		if (form->origin == LODE_FORM_SAME)
			continue;
		if (made.origin != LODE_FORM_SAME && made.origin != form->origin)
			return unknown;
		made.origin = form->origin;
		made.is_scaled |= form->is_scaled;
		made.factor = (int64_t)((uint64_t)made.factor +
					(uint64_t)form->factor * (uint64_t)terms->terms[i].factor);
	}
	if (terms->is_product && made.origin != LODE_FORM_SAME) {
		/* of what changes and what does not */
		bool is_one = (forms[terms->terms[0].number].origin == LODE_FORM_SAME) !=
		              (forms[terms->terms[1].number].origin == LODE_FORM_SAME);
		if (!is_one)
			return unknown;
		made.is_scaled = true;
	}
	if (made.origin != LODE_FORM_SAME && made.factor == 0)
		return unknown;
	return made;
}

static void step(
	Forms forms, const LodeDependenceNode *node, const LodeNodeTerms *terms, uint32_t number)
{
	bool is_made = node->is_known && terms->is_known;
	LodeRegisterForm made = is_made ? make(&terms->terms, forms, number) : unknown;

	for (unsigned i = 0; i < LODE_FORM_REGISTERS; i++)
		if (!node->is_known || (node->use.changes >> i & 1) != 0)
			forms[i] = unknown;
	if (is_made)
		forms[terms->terms.target] = made;
}

/* True: something changed. */
static bool meet(Forms forms, bool *inout_is_reached, const Forms other)
{
	bool is_changed = !*inout_is_reached;

	if (is_changed) {
		memcpy(forms, other, sizeof(Forms));
		*inout_is_reached = true;
		return true;
	}
	for (unsigned i = 0; i < LODE_FORM_REGISTERS; i++)
		if (forms[i].origin != LODE_FORM_UNKNOWN && !are_equal(&forms[i], &other[i])) {
			forms[i] = unknown;
			is_changed = true;
		}
	return is_changed;
}

typedef struct {
	LodeRegisterForms *self;
	const LodeNaturalLoop *loop, *inner; /* inner may be NULL */
	const LodeNodeTerms *terms;
} Finding;

static bool is_left_out(const Finding *finding, uint32_t source, uint32_t node)
{
	return finding->inner != NULL && node == LODE_AT(finding->inner->body, uint32_t, 0) &&
	       lode_natural_loop_has(finding->inner, source);
}

static bool meet_predecessors(
	const Finding *finding, uint32_t node, Forms forms, bool *inout_is_reached)
{
	const LodeRegisterForms *self = finding->self;
	const LodeDependenceGraph *graph = finding->loop->graph;
	bool is_changed = false;

	for (uint32_t w = graph->first_ways[node]; w < graph->first_ways[node + 1]; w++) {
		uint32_t source = graph->ways[w].source, slot = slot_of(self, source);
		Forms after;
		if (slot == 0 || !g_array_index(self->reached, bool, slot - 1) ||
			is_left_out(finding, source, node))
			continue;
		memcpy(after, g_array_index(self->states, Forms, slot - 1), sizeof(after));
		step(after, &graph->nodes[source], &finding->terms[source], source);
		is_changed |= meet(forms, inout_is_reached, after);
	}
	return is_changed;
}

bool lode_register_forms_find(LodeRegisterForms *self, const LodeNaturalLoop *loop,
	const LodeNodeTerms *terms, uint32_t unchanged, const LodeNaturalLoop *inner)
{
	const Finding finding = {self, loop, inner, terms};
	guint n = loop->body->len;
	bool is_changed = true, is_end_reached = false;

	for (guint i = 0; i < self->order->len; i++)
		g_array_index(self->slots, uint32_t, g_array_index(self->order, uint32_t, i)) = 0;
	g_array_set_size(self->order, 0);
	if (n > MAX_BODY)
		return false;
	if (self->slots->len < loop->graph->n)
		g_array_set_size(self->slots, loop->graph->n);
	g_array_append_vals(self->order, loop->body->data, n);
	uint32_t head = g_array_index(self->order, uint32_t, 0);
	g_array_sort(self->order, lode_compare_u32);
	g_array_set_size(self->states, 0);
	g_array_set_size(self->states, n);
	g_array_set_size(self->reached, 0);
	g_array_set_size(self->reached, n);
	for (guint i = 0; i < n; i++) {
		uint32_t node = g_array_index(self->order, uint32_t, i);
		LodeRegisterForm *forms = g_array_index(self->states, Forms, i);
		g_array_index(self->slots, uint32_t, node) = i + 1;
		g_array_index(self->reached, bool, i) = node == head;
		for (uint8_t k = 0; k < LODE_FORM_REGISTERS && node == head; k++)
			forms[k] = (LodeRegisterForm){
				k + 1, 1, (unchanged >> k & 1) != 0 ? LODE_FORM_SAME : k, false};
	}
	for (unsigned pass = 0; is_changed; pass++) {
		if (pass == MAX_PASSES)
			return false;
		is_changed = false;
		for (guint i = 0; i < n; i++) {
			uint32_t node = g_array_index(self->order, uint32_t, i);
			if (node != head)
				is_changed |= meet_predecessors(&finding, node,
					g_array_index(self->states, Forms, i),
					&g_array_index(self->reached, bool, i));
		}
	}
	for (unsigned i = 0; i < LODE_FORM_REGISTERS; i++)
		self->end[i] = unknown;
	meet_predecessors(&finding, head, self->end, &is_end_reached);
	return true;
}

LodeRegisterForm lode_register_forms_at(
	const LodeRegisterForms *self, uint32_t node, unsigned number)
{
	uint32_t slot = slot_of(self, node);

	if (slot == 0 || number >= LODE_FORM_REGISTERS ||
		!g_array_index(self->reached, bool, slot - 1))
		return unknown;
	return g_array_index(self->states, Forms, slot - 1)[number];
}
