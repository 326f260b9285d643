/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_strides.h"

#include "model/index.h"

#include <string.h>

enum {
	LINE = 64,
	LEAST_APART = 16,    /* bytes */
	MOST_ACCESSES = 32,  /* of a loop whose bytes are counted */
	MOST_BODY = 1 << 12, /* instructions of a loop that is followed */
	MOST_NESTED = 32,    /* loops are followed whose nodes are so many times the function's */
};

/* A loop at hand. */
typedef struct {
	LodeNaturalLoop loop;
	LodeLoopForms forms;
	uint32_t head; /* LODE_LOOP_OF_CALL: none, or it could not be followed */
} Followed;

struct LodeLoopStrides {
	const LodeLoopCode *code;
	uint64_t n_followed; /* nodes of loops of the function, added up */
	LodeLoopRounds *rounds;
	Followed inner, outer;
};

/* By how much something is more the next time. */
typedef struct {
	enum {
		STEP_UNKNOWN,
		STEP_KNOWN,
		STEP_EQUAL
	} kind; /* equal: not known, but always the same */
	uint64_t step;
} Step;

static void init(Followed *self)
{
	lode_natural_loop_init(&self->loop);
	lode_loop_forms_init(&self->forms);
}

static void clear(Followed *self)
{
	lode_natural_loop_clear(&self->loop);
	lode_loop_forms_clear(&self->forms);
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

/* `inner`: whose first iteration alone is asked for; NULL: none. */
static bool follow(
	LodeLoopStrides *self, Followed *loop, uint32_t head, const LodeNaturalLoop *inner)
{
	const LodeLoopCode *code = self->code;
	bool is_found = lode_natural_loop_find(&loop->loop, head);

	self->n_followed += loop->loop.body->len;
	bool is_followed = is_found && self->n_followed <= (uint64_t)MOST_NESTED * code->graph->n &&
	                   loop->loop.body->len <= MOST_BODY &&
	                   lode_loop_forms_find(&loop->forms, &loop->loop, code, inner);

	loop->head = is_followed ? head : LODE_LOOP_OF_CALL;
	return is_followed;
}

/* For a register that is the loop's own at its head. */
static Step step_of(const Followed *loop, unsigned number)
{
	const LodeLoopForm *end = &loop->forms.ends[number];

	if (loop->forms.steps[number] != 0)
		return (Step){STEP_KNOWN, (uint64_t)loop->forms.steps[number]};
	return (Step){end->origin == number && end->factor == 1 && !end->is_scaled ? STEP_EQUAL
										   : STEP_UNKNOWN,
		0};
}

/* For base + index × scale, from one iteration of the loop to the next. */
static Step address_step(const LodeLoopStrides *self, const Followed *loop, uint32_t node)
{
	const LodeMemoryUse *memory = &self->code->graph->nodes[node].use.memory;
	const struct {
		uint8_t number, scale;
	} parts[] = {{memory->base, 1}, {memory->index, memory->scale}};
	Step sum = {STEP_KNOWN, 0};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		if (parts[i].number == LODE_NO_BIT)
			continue;
		LodeLoopForm form = lode_loop_forms_at(&loop->forms, node, parts[i].number).form;
		if (form.origin == LODE_LOOP_SAME)
			continue;
		Step step = form.origin < LODE_LOOP_REGISTERS ? step_of(loop, form.origin)
		                                              : (Step){STEP_UNKNOWN, 0};
		if (step.kind == STEP_UNKNOWN)
			return step;
		if (step.kind == STEP_EQUAL || form.is_scaled)
			sum.kind = STEP_EQUAL;
		sum.step += step.step * (uint64_t)form.factor * parts[i].scale;
	}
	return sum;
}

static bool is_within_line(int64_t distance)
{
	return distance > -LINE && distance < LINE;
}

/* For an access, and the inner loop around it. */
static void find_turns(LodeLoopStrides *self, uint32_t node, LodeLoopStride *out)
{
	const LodeDependenceNode *nodes = self->code->graph->nodes;
	uint32_t around = lode_loop_rounds_parent(self->rounds, self->inner.head);
	double turns = nodes[around == LODE_LOOP_OF_CALL ? 0 : around].count;

	out->rounds = lode_loop_rounds_count(self->rounds, around, node);
	out->is_exact = out->rounds > 0;
	/* a lower bound, where not every turn comes to the inner loop */
	if (!out->is_exact && turns > 0)
		out->rounds = nodes[self->inner.head].count / turns;
	if (around == LODE_LOOP_OF_CALL ||
		(self->outer.head != around &&
			!follow(self, &self->outer, around, &self->inner.loop)))
		return;
	Step step = address_step(self, &self->outer, node);
	out->comes_back = step.kind == STEP_KNOWN && is_within_line((int64_t)step.step);
}

/* The accesses of the inner loop by known strides; 0: there are others, or too many. */
static unsigned list_accesses(const LodeLoopStrides *self, const LodeLoopStride *strides,
	uint32_t out_nodes[MOST_ACCESSES])
{
	const GArray *body = self->inner.loop.body;
	unsigned n = 0;

	if (lode_natural_loop_has_inner(&self->inner.loop))
		return 0;
	for (guint k = 0; k < body->len; k++) {
		uint32_t at = LODE_AT(body, uint32_t, k);
		const LodeDependenceNode *node = &self->code->graph->nodes[at];
		bool is_other = node->use.address != 0 && node->use.memory.size == 0;
		if (!node->is_known || node->is_call || is_other || n == MOST_ACCESSES)
			return 0;
		if (node->use.memory.size > 0 && strides[at].is_known)
			out_nodes[n++] = at;
	}
	return n;
}

static int64_t line_of(int64_t displacement)
{
	return displacement >= 0 ? displacement / LINE : -1 - (-1 - displacement) / LINE;
}

/* Those of the inner loop that go by the same stride, together. */
static double used_by_stride(const LodeLoopStrides *self, const LodeLoopStride *strides,
	const uint32_t *nodes, unsigned n, int64_t stride)
{
	const LodeDependenceNode *graph = self->code->graph->nodes;
	uint64_t distance = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
	double bytes = 0, lines = 0;

	for (unsigned i = 0; i < n; i++) {
		const LodeMemoryUse *own = &graph[nodes[i]].use.memory;
		bool is_new = true, is_new_line = true;
		if (strides[nodes[i]].stride != stride)
			continue;
		for (unsigned k = 0; k < i; k++) {
			const LodeMemoryUse *other = &graph[nodes[k]].use.memory;
			if (strides[nodes[k]].stride != stride || other->form != own->form)
				continue;
			is_new &= other->displacement != own->displacement;
			is_new_line &= line_of(other->displacement) != line_of(own->displacement);
		}
		bytes += is_new ? own->size : 0;
		lines += is_new_line;
	}
	return MIN(bytes / (distance < LINE ? (double)distance : LINE * lines), 1);
}

static void find_used(const LodeLoopStrides *self, LodeLoopStride *strides)
{
	uint32_t nodes[MOST_ACCESSES];
	unsigned n = list_accesses(self, strides, nodes);

	for (unsigned i = 0; i < n; i++) {
		int64_t stride = strides[nodes[i]].stride;
		if (stride >= LEAST_APART || stride <= -LEAST_APART)
			strides[nodes[i]].used = used_by_stride(self, strides, nodes, n, stride);
	}
}

void lode_loop_strides_find(
	LodeLoopStrides *self, const LodeLoopCode *code, double least_weight, LodeLoopStride *out)
{
	const LodeDependenceGraph *graph = code->graph;

	memset(out, 0, graph->n * sizeof(*out));
	self->code = code;
	self->n_followed = 0;
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
		if (!(weight > 0) || weight < least_weight || !follow(self, &self->inner, i, NULL))
			continue;
		self->outer.head = LODE_LOOP_OF_CALL;
		for (guint k = 0; k < body->len; k++) {
			uint32_t node = LODE_AT(body, uint32_t, k);
			LodeLoopStride *it = &out[node];
			if (graph->nodes[node].use.memory.size == 0 ||
				!graph->nodes[node].is_known ||
				lode_loop_rounds_around(self->rounds, node) != i)
				continue;
			Step step = address_step(self, &self->inner, node);
			it->is_known = step.kind == STEP_KNOWN;
			it->is_equal = step.kind == STEP_EQUAL;
			it->stride = it->is_known ? (int64_t)step.step : 0;
			if (!it->is_known || !is_within_line(it->stride))
				find_turns(self, node, it);
		}
		find_used(self, out);
	}
}
