/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_inductions.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/data/data_access.h"
#include "model/index.h"

enum {
	MAX_BODY = 1 << 15, /* instructions */
	MAX_PASSES = 64,
};

void lode_loop_inductions_init(LodeLoopInductions *self)
{
	*self = (LodeLoopInductions){
		.states = g_array_new(FALSE, TRUE, sizeof(LodeLoopState)),
		.order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
}

void lode_loop_inductions_clear(LodeLoopInductions *self)
{
	g_clear_pointer(&self->states, g_array_unref);
	g_clear_pointer(&self->order, g_array_unref);
}

/* NULL: the node is not in the loop. */
static LodeLoopState *state_of(const LodeLoopInductions *self, uint32_t node)
{
	const uint32_t *order = (const uint32_t *)(const void *)self->order->data;
	guint at = LODE_PARTITION_POINT(self->order->len, i, order[i] < node);

	return at < self->order->len && order[at] == node
	               ? &g_array_index(self->states, LodeLoopState, at)
	               : NULL;
}

/* Compilers use a register over a call that the callee might change, where they know that it does
 * not (gcc's -fipa-ra). It counts iterations only if the next one reads it. */
static bool is_used_over_call(const LodeLoopState *state, unsigned number)
{
	const unsigned results = 1u << 0 | 1u << 2; /* rax, rdx */

	return (results >> number & 1) == 0 && number != LODE_REGISTER_RSP &&
	       state->values[number].origin == number;
}

static void step(
	LodeLoopState *state, const LodeDependenceNode *node, const LodeRegisterAdvance *advance)
{
	LodeLoopValue value = {.origin = LODE_LOOP_UNKNOWN};

	if (advance != NULL) {
		value = state->values[advance->source];
		value.constant += (uint64_t)advance->constant;
		value.width = MIN(value.width, advance->width);
	}
	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++) {
		bool is_kept = node->is_known && (node->use.changes >> i & 1) == 0;
		if (!is_kept && !(node->is_call && is_used_over_call(state, i)))
			state->values[i].origin = LODE_LOOP_UNKNOWN;
	}
	if (advance != NULL)
		state->values[advance->target] = value;
}

/* Keeps what both agree on. True: something was lost. */
static bool meet(LodeLoopState *state, const LodeLoopState *other)
{
	bool is_changed = !state->is_reached;

	if (!state->is_reached) {
		*state = *other;
		return true;
	}
	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++) {
		LodeLoopValue *value = &state->values[i];
		const LodeLoopValue *met = &other->values[i];
		if (value->origin == LODE_LOOP_UNKNOWN)
			continue;
		if (met->origin != value->origin || met->constant != value->constant) {
			value->origin = LODE_LOOP_UNKNOWN;
			is_changed = true;
		} else if (met->width < value->width) {
			value->width = met->width;
			is_changed = true;
		}
	}
	return is_changed;
}

typedef struct {
	LodeLoopInductions *self;
	const LodeNaturalLoop *loop;
	LodeAdvanceFunc advance;
	const void *data;
} Finding;

/* Meets what the predecessors of a node in the loop leave. */
static bool meet_predecessors(const Finding *finding, uint32_t node, LodeLoopState *state)
{
	const LodeDependenceGraph *graph = finding->loop->graph;
	bool is_changed = false;

	for (uint32_t w = graph->first_ways[node]; w < graph->first_ways[node + 1]; w++) {
		uint32_t source = graph->ways[w].source;
		const LodeLoopState *before = state_of(finding->self, source);
		LodeRegisterAdvance advance;
		if (before == NULL || !before->is_reached)
			continue;
		LodeLoopState after = *before;
		bool has_advance = graph->nodes[source].is_known &&
		                   finding->advance(finding->data, source, &advance);
		step(&after, &graph->nodes[source], has_advance ? &advance : NULL);
		is_changed |= meet(state, &after);
	}
	return is_changed;
}

static void find_unchanged(LodeLoopInductions *self, const LodeNaturalLoop *loop)
{
	LodeRegisterMask changes = 0;

	for (guint i = 0; i < loop->body->len; i++) {
		const LodeDependenceNode *node =
			&loop->graph->nodes[LODE_AT(loop->body, uint32_t, i)];
		changes |= node->is_known ? node->use.changes : ~(LodeRegisterMask)0;
	}
	self->unchanged = (uint32_t)(~changes & ((1u << LODE_LOOP_REGISTERS) - 1));
}

bool lode_loop_inductions_find(LodeLoopInductions *self, const LodeNaturalLoop *loop,
	LodeAdvanceFunc advance, const void *data)
{
	const Finding finding = {self, loop, advance, data};
	uint32_t head = LODE_AT(loop->body, uint32_t, 0);
	LodeLoopState start = {.is_reached = true}, end = {.is_reached = false};
	bool is_changed = true;

	if (loop->body->len > MAX_BODY)
		return false;
	g_array_set_size(self->order, 0);
	g_array_append_vals(self->order, loop->body->data, loop->body->len);
	g_array_sort(self->order, lode_compare_u32);
	g_array_set_size(self->states, 0);
	g_array_set_size(self->states, loop->body->len);
	for (uint8_t i = 0; i < LODE_LOOP_REGISTERS; i++)
		start.values[i] = (LodeLoopValue){0, i, 64};
	*state_of(self, head) = start;
	for (unsigned pass = 0; is_changed; pass++) {
		if (pass == MAX_PASSES)
			return false;
		is_changed = false;
		for (guint i = 0; i < self->order->len; i++) {
			uint32_t node = LODE_AT(self->order, uint32_t, i);
			if (node != head)
				is_changed |= meet_predecessors(&finding, node,
					&g_array_index(self->states, LodeLoopState, i));
		}
	}
	meet_predecessors(&finding, head, &end);
	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++) {
		const LodeLoopValue *value = &end.values[i];
		bool is_advance = end.is_reached && value->origin == i;
		self->steps[i] = !is_advance          ? 0
		                 : value->width == 32 ? (int32_t)(uint32_t)value->constant
		                                      : (int64_t)value->constant;
		self->widths[i] = value->width;
	}
	find_unchanged(self, loop);
	return true;
}

bool lode_loop_inductions_value(
	const LodeLoopInductions *self, uint32_t node, unsigned number, LodeLoopValue *out)
{
	const LodeLoopState *state = state_of(self, node);

	if (state == NULL || !state->is_reached)
		return false;
	*out = state->values[number];
	return true;
}

/* The value of a register at the head of the sample's iteration. */
static bool value_at_head(const LodeLoopInductions *self, const LodeLoopSample *sample,
	unsigned origin, uint64_t *out_value, uint8_t *inout_width)
{
	const LodeLoopState *state = state_of(self, sample->node);

	for (unsigned i = 0; state != NULL && state->is_reached && i < LODE_LOOP_REGISTERS; i++) {
		const LodeLoopValue *value = &state->values[i];
		if (value->origin != origin || (sample->known >> i & 1) == 0)
			continue;
		*out_value = sample->registers[i] - value->constant;
		*inout_width = MIN(*inout_width, value->width);
		return true;
	}
	return false;
}

/* By one register; whole ones are asked first, so that one of 32 bits may have wrapped. */
static LodeIterations count_by(const LodeLoopInductions *self, const LodeLoopSample *first,
	const LodeLoopSample *second, unsigned number, LodeIterations known, int64_t *inout_n)
{
	uint8_t width = self->widths[number];
	int64_t step = self->steps[number];
	uint64_t from, to;

	if (!value_at_head(self, first, number, &from, &width) ||
		!value_at_head(self, second, number, &to, &width))
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

LodeIterations lode_loop_inductions_between(const LodeLoopInductions *self,
	const LodeLoopSample *first, const LodeLoopSample *second, int64_t *out_n)
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
