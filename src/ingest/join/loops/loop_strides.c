/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_strides.h"

#include "images/registers/register_test.h"
#include "model/index.h"

#include <string.h>

enum { LINE = 64 };

/* A loop at hand. */
typedef struct {
	LodeNaturalLoop loop;
	LodeLoopInductions inductions;
	uint32_t head; /* LODE_LOOP_OF_CALL: none, or it could not be followed */
} Followed;

struct LodeLoopStrides {
	const LodeLoopCode *code;
	LodeLoopRounds *rounds;
	Followed inner, outer;
};

static void init(Followed *self)
{
	lode_natural_loop_init(&self->loop);
	lode_loop_inductions_init(&self->inductions);
}

static void clear(Followed *self)
{
	lode_natural_loop_clear(&self->loop);
	lode_loop_inductions_clear(&self->inductions);
}

LodeLoopStrides *lode_loop_strides_new(void)
{
	LodeLoopStrides *self = g_new0(LodeLoopStrides, 1);

	self->rounds = lode_loop_rounds_new();
	init(&self->inner);
	init(&self->outer);
	return self;
}

void lode_loop_strides_free(LodeLoopStrides *self)
{
	if (self == NULL)
		return;
	lode_loop_rounds_free(self->rounds);
	clear(&self->inner);
	clear(&self->outer);
	g_free(self);
}

/* As the code's, and constants. */
static bool advance_of(const void *data, uint32_t node, LodeRegisterAdvance *out)
{
	const LodeLoopCode *code = data;
	LodeLoopBytes bytes = code->bytes(code->data, node);
	uint64_t value;

	if (code->advance(code->data, node, out))
		return true;
	*out = (LodeRegisterAdvance){.source = LODE_LOOP_CONSTANT, .width = 64};
	if (bytes.bytes == NULL ||
		!lode_register_constant_decode(&out->target, &value, bytes.bytes, bytes.size))
		return false;
	out->constant = (int64_t)value;
	return true;
}

static bool follow(Followed *self, const LodeLoopCode *code, uint32_t head)
{
	bool is_followed = lode_natural_loop_find(&self->loop, head) &&
	                   lode_loop_inductions_find(
				   &self->inductions, &self->loop, advance_of, code);

	self->head = is_followed ? head : LODE_LOOP_OF_CALL;
	return is_followed;
}

/* By how much a register that was `origin` at the head of a loop is more in the next iteration.
 * False: by no constant. */
static bool step_of(const LodeLoopInductions *self, unsigned origin, int64_t *out_step)
{
	bool is_register = origin < LODE_LOOP_REGISTERS;
	bool is_same = origin == LODE_LOOP_CONSTANT ||
	               (is_register && (self->unchanged >> origin & 1) != 0);

	*out_step = is_register && !is_same ? self->steps[origin] : 0;
	return is_same || *out_step != 0;
}

static unsigned origin_at(const Followed *self, uint32_t node, unsigned number)
{
	LodeLoopValue value;

	if (number >= LODE_LOOP_REGISTERS ||
		!lode_loop_inductions_value(&self->inductions, node, number, &value))
		return LODE_LOOP_UNKNOWN;
	return value.origin;
}

/* After the node. */
static unsigned origin_after(
	const LodeLoopStrides *self, const Followed *loop, uint32_t node, unsigned number)
{
	const LodeDependenceNode *at = &self->code->graph->nodes[node];
	LodeRegisterAdvance advance;

	if (at->is_known && (at->use.changes >> number & 1) == 0)
		return origin_at(loop, node, number);
	if (!at->is_known || !advance_of(self->code, node, &advance) || advance.target != number)
		return LODE_LOOP_UNKNOWN;
	return advance.source == LODE_LOOP_CONSTANT ? LODE_LOOP_CONSTANT
	                                            : origin_at(loop, node, advance.source);
}

/* By how much a register is more when the inner loop begins again in the next turn of the outer
 * one. */
static bool turn_step_of(const LodeLoopStrides *self, unsigned number, int64_t *out_step)
{
	const LodeDependenceGraph *graph = self->code->graph;
	uint32_t head = self->inner.head;
	bool is_known = false;

	for (uint32_t w = graph->first_ways[head]; w < graph->first_ways[head + 1]; w++) {
		uint32_t source = graph->ways[w].source;
		int64_t step;
		if (lode_natural_loop_has(&self->inner.loop, source))
			continue;
		if (!lode_natural_loop_has(&self->outer.loop, source) ||
			!step_of(&self->outer.inductions,
				origin_after(self, &self->outer, source, number), &step) ||
			(is_known && step != *out_step))
			return false;
		*out_step = step;
		is_known = true;
	}
	return is_known;
}

/* The step of base + index × scale, from one iteration to the next, or from one turn of the outer
 * loop to the next. */
static bool address_step(
	const LodeLoopStrides *self, uint32_t node, bool is_of_turn, int64_t *out_step)
{
	const LodeMemoryUse *memory = &self->code->graph->nodes[node].use.memory;
	const struct {
		uint8_t number, scale;
	} parts[] = {{memory->base, 1}, {memory->index, memory->scale}};
	uint64_t sum = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		int64_t step = 0;
		unsigned origin;
		if (parts[i].number == LODE_NO_BIT)
			continue;
		origin = origin_at(&self->inner, node, parts[i].number);
		bool is_known = is_of_turn && origin < LODE_LOOP_REGISTERS
		                        ? turn_step_of(self, origin, &step)
		                        : step_of(&self->inner.inductions, origin, &step);
		if (!is_known)
			return false;
		sum += (uint64_t)step * parts[i].scale;
	}
	*out_step = (int64_t)sum;
	return true;
}

static bool is_within_line(int64_t distance)
{
	return distance > -LINE && distance < LINE;
}

/* Of an access, and the inner loop around it. */
static void find_turns(LodeLoopStrides *self, uint32_t node, LodeLoopStride *out)
{
	const LodeDependenceNode *nodes = self->code->graph->nodes;
	uint32_t around = lode_loop_rounds_parent(self->rounds, self->inner.head);
	double turns = nodes[around == LODE_LOOP_OF_CALL ? 0 : around].count;
	int64_t step;

	out->rounds = lode_loop_rounds_count(self->rounds, around, node);
	out->is_exact = out->rounds > 0;
	/* a lower bound, where not every turn comes to the inner loop */
	if (!out->is_exact && turns > 0)
		out->rounds = nodes[self->inner.head].count / turns;
	if (around != LODE_LOOP_OF_CALL &&
		(self->outer.head == around || follow(&self->outer, self->code, around)))
		out->comes_back = address_step(self, node, true, &step) && is_within_line(step);
}

void lode_loop_strides_find(
	LodeLoopStrides *self, const LodeLoopCode *code, double least_weight, LodeLoopStride *out)
{
	const LodeDependenceGraph *graph = code->graph;

	memset(out, 0, graph->n * sizeof(*out));
	self->code = code;
	self->outer.head = LODE_LOOP_OF_CALL;
	lode_loop_rounds_begin(self->rounds, code);
	lode_natural_loop_begin(&self->inner.loop, graph);
	lode_natural_loop_begin(&self->outer.loop, graph);
	for (uint32_t i = 0; i < graph->n; i++) {
		double weight = 0;
		if (!graph->nodes[i].is_loop_head || !lode_natural_loop_find(&self->inner.loop, i))
			continue;
		const GArray *body = self->inner.loop.body;
		for (guint k = 0; k < body->len; k++)
			weight += graph->nodes[LODE_AT(body, uint32_t, k)].weight;
		if (!(weight > 0) || weight < least_weight || !follow(&self->inner, code, i))
			continue;
		for (guint k = 0; k < body->len; k++) {
			uint32_t node = LODE_AT(body, uint32_t, k);
			LodeLoopStride *it = &out[node];
			if (graph->nodes[node].use.memory.size == 0 ||
				!graph->nodes[node].is_known ||
				lode_loop_rounds_around(self->rounds, node) != i)
				continue;
			it->is_known = address_step(self, node, false, &it->stride);
			if (!it->is_known || !is_within_line(it->stride))
				find_turns(self, node, it);
		}
	}
}
