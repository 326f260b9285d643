/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_forms.h"

#include "base/arrays/hash.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/data/data_access.h"
#include "images/instructions/register_terms.h"
#include "model/index.h"

enum {
	MAX_BODY = 1 << 15, /* instructions */
	MAX_PASSES = 64,
};

typedef LodeLoopRegister Registers[LODE_LOOP_REGISTERS];

/* An instruction of the loop, and the registers before it. */
typedef struct {
	uint32_t number;
	bool has_terms;
	bool is_reached;
	LodeRegisterTerms terms;
	Registers registers;
} Node;

static const LodeLoopRegister unknown = {
	.value.origin = LODE_LOOP_UNKNOWN, .form.origin = LODE_LOOP_UNKNOWN};

void lode_loop_forms_init(LodeLoopForms *self)
{
	*self = (LodeLoopForms){.nodes = g_array_new(FALSE, TRUE, sizeof(Node))};
}

void lode_loop_forms_clear(LodeLoopForms *self)
{
	g_clear_pointer(&self->nodes, g_array_unref);
}

/* NULL: the node is not in the loop. */
static const Node *node_of(const LodeLoopForms *self, uint32_t number)
{
	const Node *nodes = (const Node *)(const void *)self->nodes->data;
	guint at = LODE_PARTITION_POINT(self->nodes->len, i, nodes[i].number < number);

	return at < self->nodes->len && nodes[at].number == number ? &nodes[at] : NULL;
}

/* --- one instruction --- */

static LodeLoopValue make_value(const LodeRegisterTerms *terms, const Registers registers)
{
	LodeLoopValue value = registers[terms->terms[0].number].value;

	if (terms->width == 0)
		return unknown.value;
	value.constant += (uint64_t)terms->constant;
	value.width = MIN(value.width, terms->width);
	return value;
}

static LodeLoopForm make_form(const Node *node, const Registers registers)
{
	const LodeRegisterTerms *terms = &node->terms;
	LodeLoopForm made = {.identity = lode_hash_append(LODE_HASH_MULTIPLIER, node->number + 1),
		.origin = LODE_LOOP_SAME};

	if (terms->is_copy)
		return registers[terms->terms[0].number].form;
	for (unsigned i = 0; i < terms->n; i++) {
		const LodeLoopForm *form = &registers[terms->terms[i].number].form;
		made.identity = lode_hash_append(made.identity, form->identity);
		if (form->origin == LODE_LOOP_UNKNOWN)
			return unknown.form;
		if (form->origin == LODE_LOOP_SAME)
			continue;
		/* of a product one alone may change */
		if (made.origin != LODE_LOOP_SAME &&
			(terms->is_product || made.origin != form->origin))
			return unknown.form;
		made.origin = form->origin;
		made.is_scaled |= form->is_scaled || terms->is_product;
		made.factor = (int64_t)((uint64_t)made.factor +
					(uint64_t)form->factor * (uint64_t)terms->terms[i].factor);
	}
	return made.origin != LODE_LOOP_SAME && made.factor == 0 ? unknown.form : made;
}

/* Compilers use a register over a call that the callee might change, where they know that it does
 * not (gcc's -fipa-ra). It counts iterations only if the next one reads it. */
static bool is_used_over_call(const LodeLoopValue *value, unsigned number)
{
	const unsigned results = 1u << 0 | 1u << 2; /* rax, rdx */

	return (results >> number & 1) == 0 && number != LODE_REGISTER_RSP &&
	       value->origin == number;
}

/* The registers after an instruction. */
static void step(const Node *node, const LodeDependenceNode *code, Registers registers)
{
	LodeLoopRegister made = unknown;

	if (node->has_terms)
		made = (LodeLoopRegister){
			make_value(&node->terms, registers), make_form(node, registers)};
	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++) {
		if (code->is_known && (code->use.changes >> i & 1) == 0)
			continue;
		registers[i].form = unknown.form;
		if (!code->is_call || !is_used_over_call(&registers[i].value, i))
			registers[i].value = unknown.value;
	}
	if (node->has_terms)
		registers[node->terms.target] = made;
}

/* --- where ways meet --- */

/* Keeps what both agree on. True: something was lost. */
static bool meet_values(LodeLoopValue *value, const LodeLoopValue *other)
{
	bool is_equal = other->origin == value->origin && other->constant == value->constant;

	if (value->origin == LODE_LOOP_UNKNOWN || (is_equal && other->width >= value->width))
		return false;
	if (is_equal)
		value->width = other->width;
	else
		value->origin = LODE_LOOP_UNKNOWN;
	return true;
}

static bool meet_forms(LodeLoopForm *form, const LodeLoopForm *other)
{
	bool is_equal = form->origin == other->origin && form->factor == other->factor &&
	                form->is_scaled == other->is_scaled && form->identity == other->identity;

	if (form->origin == LODE_LOOP_UNKNOWN || is_equal)
		return false;
	*form = unknown.form;
	return true;
}

static bool meet(Node *node, const Registers other)
{
	bool is_changed = false;

	if (!node->is_reached) {
		memcpy(node->registers, other, sizeof(node->registers));
		node->is_reached = true;
		return true;
	}
	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++) {
		is_changed |= meet_values(&node->registers[i].value, &other[i].value);
		is_changed |= meet_forms(&node->registers[i].form, &other[i].form);
	}
	return is_changed;
}

static bool is_way_back(const LodeNaturalLoop *loop, uint32_t source, uint32_t target)
{
	return target == LODE_AT(loop->body, uint32_t, 0) && lode_natural_loop_has(loop, source);
}

/* Meets what the predecessors of a node in the loop leave. */
static bool meet_predecessors(const LodeLoopForms *self, const LodeDependenceGraph *graph,
	const LodeNaturalLoop *inner, Node *node)
{
	uint32_t target = node->number;
	bool is_changed = false;

	for (uint32_t w = graph->first_ways[target]; w < graph->first_ways[target + 1]; w++) {
		uint32_t source = graph->ways[w].source;
		const Node *before = node_of(self, source);
		Registers after;
		if (before == NULL || !before->is_reached ||
			(inner != NULL && is_way_back(inner, source, target)))
			continue;
		memcpy(after, before->registers, sizeof(after));
		step(before, &graph->nodes[source], after);
		is_changed |= meet(node, after);
	}
	return is_changed;
}

/* --- the loop --- */

LODE_ORDER(compare_nodes, Node, LODE_ASCENDING(number))

static void list_nodes(LodeLoopForms *self, const LodeNaturalLoop *loop, const LodeLoopCode *code)
{
	LodeRegisterMask changes = 0;

	g_array_set_size(self->nodes, 0);
	for (guint i = 0; i < loop->body->len; i++) {
		Node node = {.number = LODE_AT(loop->body, uint32_t, i)};
		const LodeDependenceNode *at = &loop->graph->nodes[node.number];
		LodeLoopBytes bytes = code->bytes(code->data, node.number);
		node.has_terms = at->is_known && bytes.bytes != NULL &&
		                 lode_register_terms_decode(&node.terms, bytes.bytes, bytes.size);
		changes |= at->is_known ? at->use.changes : ~(LodeRegisterMask)0;
		g_array_append_val(self->nodes, node);
	}
	g_array_sort(self->nodes, compare_nodes);
	self->unchanged = (uint32_t)(~changes & ((1u << LODE_LOOP_REGISTERS) - 1));
}

/* Until nothing is lost any more. False: that takes too long. */
static bool settle(LodeLoopForms *self, const LodeNaturalLoop *loop, const LodeNaturalLoop *inner)
{
	uint32_t head = LODE_AT(loop->body, uint32_t, 0);
	Node *nodes = (Node *)(void *)self->nodes->data;
	bool is_changed = true;

	for (guint i = 0; i < self->nodes->len; i++) {
		nodes[i].is_reached = nodes[i].number == head;
		for (uint8_t k = 0; k < LODE_LOOP_REGISTERS && nodes[i].is_reached; k++) {
			bool is_same = (self->unchanged >> k & 1) != 0;
			nodes[i].registers[k] = (LodeLoopRegister){
				.value = {0, k, 64},
				.form = {k + 1, 1, is_same ? LODE_LOOP_SAME : k, false},
			};
		}
	}
	for (unsigned pass = 0; is_changed; pass++) {
		if (pass == MAX_PASSES)
			return false;
		is_changed = false;
		for (guint i = 0; i < self->nodes->len; i++)
			if (nodes[i].number != head)
				is_changed |= meet_predecessors(
					self, loop->graph, inner, &nodes[i]);
	}
	return true;
}

/* What one iteration makes of the registers. */
static void find_ends(LodeLoopForms *self, const LodeNaturalLoop *loop)
{
	Node end = {.number = LODE_AT(loop->body, uint32_t, 0)};

	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++)
		end.registers[i] = unknown;
	meet_predecessors(self, loop->graph, NULL, &end);
	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++) {
		const LodeLoopValue *value = &end.registers[i].value;
		self->steps[i] = value->origin != i   ? 0
		                 : value->width == 32 ? (int32_t)(uint32_t)value->constant
		                                      : (int64_t)value->constant;
		self->widths[i] = value->width;
		self->ends[i] = end.registers[i].form;
	}
}

bool lode_loop_forms_find(LodeLoopForms *self, const LodeNaturalLoop *loop,
	const LodeLoopCode *code, const LodeNaturalLoop *inner)
{
	if (loop->body->len > MAX_BODY)
		return false;
	list_nodes(self, loop, code);
	if (!settle(self, loop, NULL))
		return false;
	find_ends(self, loop);
	return inner == NULL || settle(self, loop, inner);
}

LodeLoopRegister lode_loop_forms_at(const LodeLoopForms *self, uint32_t node, unsigned number)
{
	const Node *at = node_of(self, node);

	return at != NULL && at->is_reached && number < LODE_LOOP_REGISTERS ? at->registers[number]
	                                                                    : unknown;
}

/* --- iterations between two samples --- */

bool lode_loop_forms_at_head(const LodeLoopForms *self, const LodeLoopSample *sample,
	unsigned number, uint64_t *out_value, uint8_t *inout_width)
{
	const Node *node = node_of(self, sample->node);

	for (unsigned i = 0; node != NULL && node->is_reached && i < LODE_LOOP_REGISTERS; i++) {
		const LodeLoopValue *value = &node->registers[i].value;
		if (value->origin != number || (sample->known >> i & 1) == 0)
			continue;
		*out_value = sample->registers[i] - value->constant;
		*inout_width = MIN(*inout_width, value->width);
		return true;
	}
	return false;
}

/* By one register; whole ones are asked first, so that one of 32 bits may have wrapped. */
static LodeIterations count_by(const LodeLoopForms *self, const LodeLoopSample *first,
	const LodeLoopSample *second, unsigned number, LodeIterations known, int64_t *inout_n)
{
	uint8_t width = self->widths[number];
	int64_t step = self->steps[number];
	uint64_t from, to;

	if (!lode_loop_forms_at_head(self, first, number, &from, &width) ||
		!lode_loop_forms_at_head(self, second, number, &to, &width))
		return known;
	uint64_t moved = to - from;
	if (known == LODE_ITERATIONS_KNOWN) {
		uint64_t expected = (uint64_t)*inout_n * (uint64_t)step;
		bool is_equal = width == 32 ? (uint32_t)moved == (uint32_t)expected
		                            : moved == expected;
		return is_equal ? known : LODE_ITERATIONS_CONTRADICTORY;
	}
	int64_t distance = width == 32 ? (int32_t)(uint32_t)moved : (int64_t)moved;
	if (step == -1 && distance == INT64_MIN)
		return LODE_ITERATIONS_CONTRADICTORY;
	if (distance % step != 0)
		return LODE_ITERATIONS_CONTRADICTORY;
	*inout_n = distance / step;
	return LODE_ITERATIONS_KNOWN;
}

LodeIterations lode_loop_forms_between(const LodeLoopForms *self, const LodeLoopSample *first,
	const LodeLoopSample *second, int64_t *out_n)
{
	LodeIterations known = LODE_ITERATIONS_UNKNOWN;
	uint32_t same = (self->unchanged | 1u << LODE_REGISTER_RSP) & first->known & second->known;
	int64_t n = 0;

	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++)
		if ((same >> i & 1) != 0 && first->registers[i] != second->registers[i])
			return LODE_ITERATIONS_OF_OTHER_CALL;
	for (uint8_t width = 64; width >= 32; width -= 32)
		for (unsigned i = 0;
			i < LODE_LOOP_REGISTERS && known != LODE_ITERATIONS_CONTRADICTORY; i++)
			if (self->steps[i] != 0 && self->widths[i] == width)
				known = count_by(self, first, second, i, known, &n);
	if (known == LODE_ITERATIONS_KNOWN)
		*out_n = n;
	return known;
}
