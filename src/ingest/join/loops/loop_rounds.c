/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_rounds.h"

#include "base/arrays/sort_order.h"
#include "images/instructions/register_terms.h"
#include "images/instructions/register_test.h"
#include "model/index.h"

#include <math.h>
#include <stdlib.h>

enum {
	MAX_STEPS = 64, /* instructions that a value is followed back */
	MAX_DEPTH = 8,  /* loops in each other */
};

/* Of each node. */
typedef struct {
	uint32_t around; /* the head of the smallest loop that has it; LODE_LOOP_OF_CALL: none */
	uint32_t parent; /* of a head: that of the smallest loop around its own */
	guint size;      /* of a head: nodes of its loop; 0: it is none */
} Loop;

/* Where the loop at hand ends: a jump back to the head, by a comparison. */
typedef struct {
	LodeRegisterTest test;
	uint32_t node; /* of the test */
	LodeTestJump stop;
} End;

struct LodeLoopRounds {
	const LodeLoopCode *code;
	GArray *loops; /* Loop × nodes */
	LodeNaturalLoop loop;
	LodeLoopForms forms;
	GArray *pending; /* uint32_t: nodes from which to go back */
	GArray *marks;   /* bool × nodes: they were among these */
	/* Of the loop at hand, for samples in it. */
	End end;
	bool was_end_sought, has_end;
};

LodeLoopRounds *lode_loop_rounds_new(void)
{
	LodeLoopRounds *self = g_new0(LodeLoopRounds, 1);

	lode_natural_loop_init(&self->loop);
	lode_loop_forms_init(&self->forms);
	self->loops = g_array_new(FALSE, FALSE, sizeof(Loop));
	self->pending = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->marks = g_array_new(FALSE, TRUE, sizeof(bool));
	return self;
}

void lode_loop_rounds_free(LodeLoopRounds *self)
{
	if (self == NULL)
		return;
	lode_natural_loop_clear(&self->loop);
	lode_loop_forms_clear(&self->forms);
	g_array_unref(self->loops);
	g_array_unref(self->pending);
	g_array_unref(self->marks);
	g_free(self);
}

/* The smallest loop around each node, and around each loop. */
static void nest(LodeLoopRounds *self)
{
	const LodeDependenceGraph *graph = self->code->graph;
	Loop *loops = (Loop *)(void *)self->loops->data;

	for (uint32_t i = 0; i < graph->n; i++)
		if (loops[i].size > 0 && lode_natural_loop_find(&self->loop, i))
			for (guint k = 0; k < self->loop.body->len; k++) {
				Loop *at = &loops[LODE_AT(self->loop.body, uint32_t, k)];
				if (at->around == LODE_LOOP_OF_CALL ||
					loops[i].size < loops[at->around].size)
					at->around = i;
				if (loops[i].size > at->size &&
					(at->parent == LODE_LOOP_OF_CALL ||
						loops[i].size < loops[at->parent].size))
					at->parent = i;
			}
}

void lode_loop_rounds_begin(LodeLoopRounds *self, const LodeLoopCode *code)
{
	const LodeDependenceGraph *graph = code->graph;

	self->code = code;
	lode_natural_loop_begin(&self->loop, graph);
	g_array_set_size(self->loops, 0);
	for (uint32_t i = 0; i < graph->n; i++) {
		Loop loop = {LODE_LOOP_OF_CALL, LODE_LOOP_OF_CALL, 0};
		if (graph->nodes[i].is_loop_head && lode_natural_loop_find(&self->loop, i))
			loop.size = self->loop.body->len;
		g_array_append_val(self->loops, loop);
	}
	nest(self);
}

bool lode_loop_rounds_find(LodeLoopRounds *self, uint32_t head)
{
	self->was_end_sought = false;
	return lode_natural_loop_find(&self->loop, head);
}

uint32_t lode_loop_rounds_around(const LodeLoopRounds *self, uint32_t node)
{
	return LODE_AT(self->loops, Loop, node).around;
}

uint32_t lode_loop_rounds_parent(const LodeLoopRounds *self, uint32_t head)
{
	return LODE_AT(self->loops, Loop, head).parent;
}

bool lode_loop_rounds_has(const LodeLoopRounds *self, uint32_t node)
{
	return lode_natural_loop_has(&self->loop, node);
}

/* --- every way --- */

static void go_back_from(LodeLoopRounds *self, uint32_t node)
{
	bool *mark = &LODE_AT(self->marks, bool, node);

	if (!*mark)
		g_array_append_val(self->pending, node);
	*mark = true;
}

static void begin_going_back(LodeLoopRounds *self, uint32_t without)
{
	g_array_set_size(self->pending, 0);
	g_array_set_size(self->marks, 0);
	g_array_set_size(self->marks, self->code->graph->n);
	LODE_AT(self->marks, bool, without) = true;
}

/* Whether the pending nodes are reached from `start`; inside the loop at hand, or anywhere. */
static bool is_reached_from(LodeLoopRounds *self, uint32_t start, bool is_inside)
{
	const LodeDependenceGraph *graph = self->code->graph;

	for (guint i = 0; i < self->pending->len; i++) {
		uint32_t node = LODE_AT(self->pending, uint32_t, i);
		if (node == start)
			return true;
		for (uint32_t w = graph->first_ways[node]; w < graph->first_ways[node + 1]; w++)
			if (!is_inside || lode_loop_rounds_has(self, graph->ways[w].source))
				go_back_from(self, graph->ways[w].source);
	}
	return false;
}

/* Whether each turn of the loop at hand that ends executes the node. */
static bool is_in_each_turn(LodeLoopRounds *self, uint32_t node)
{
	const LodeDependenceGraph *graph = self->code->graph;
	uint32_t head = LODE_AT(self->loop.body, uint32_t, 0);

	if (node == head)
		return true;
	begin_going_back(self, node);
	for (uint32_t w = graph->first_ways[head]; w < graph->first_ways[head + 1]; w++)
		if (lode_loop_rounds_has(self, graph->ways[w].source))
			go_back_from(self, graph->ways[w].source);
	return !is_reached_from(self, head, true);
}

/* Whether each call of the function executes the node before it leaves. */
static bool is_in_each_call(LodeLoopRounds *self, uint32_t node)
{
	if (node == 0)
		return true;
	begin_going_back(self, node);
	for (uint32_t i = 0; i < self->code->graph->n; i++)
		if (self->code->leaves[i])
			go_back_from(self, i);
	return !is_reached_from(self, 0, false);
}

/* --- rounds of the loop at hand --- */

/* The one predecessor of a node, inside the loop at hand or outside of it; LODE_NONE: there are
 * several, or none. */
static uint32_t only_source(const LodeLoopRounds *self, uint32_t node, bool is_inside)
{
	const LodeDependenceGraph *graph = self->code->graph;
	uint32_t found = LODE_NONE;

	for (uint32_t w = graph->first_ways[node]; w < graph->first_ways[node + 1]; w++) {
		uint32_t source = graph->ways[w].source;
		if (lode_loop_rounds_has(self, source) != is_inside)
			continue;
		if (found != LODE_NONE)
			return LODE_NONE;
		found = source;
	}
	return found;
}

/* Whether nothing but the node leads out of the loop at hand. */
static bool is_only_exit(const LodeLoopRounds *self, uint32_t node)
{
	const LodeDependenceGraph *graph = self->code->graph;

	for (uint32_t i = 0; i < graph->n; i++) {
		bool is_inside = lode_loop_rounds_has(self, i);
		if (is_inside && i != node && self->code->leaves[i])
			return false;
		for (uint32_t w = graph->first_ways[i]; !is_inside && w < graph->first_ways[i + 1];
			w++)
			if (graph->ways[w].source != node &&
				lode_loop_rounds_has(self, graph->ways[w].source))
				return false;
	}
	return true;
}

/* A constant, or what a register has at a node on the way to the loop, plus a constant. */
typedef struct {
	uint64_t constant;
	uint32_t node;   /* LODE_NONE: it is a constant */
	unsigned number; /* register */
	bool is_before;  /* before the node, not after it */
} First;

/* The value that a register has when the loop begins: back along the one way that leads there. */
static bool find_first(const LodeLoopRounds *self, unsigned number, First *out)
{
	const LodeLoopCode *code = self->code;
	uint32_t head = LODE_AT(self->loop.body, uint32_t, 0), node = LODE_NONE;
	uint64_t added = 0;
	bool is_short = false; /* only 32 bits of what came before count */

	if (head != 0)
		node = only_source(self, head, false);

	for (unsigned i = 0; node != LODE_NONE && i < MAX_STEPS; i++) {
		*out = (First){added, node, number, false};
		const LodeDependenceNode *at = &code->graph->nodes[node];
		LodeLoopBytes bytes = code->bytes(code->data, node);
		LodeRegisterTerms terms;
		uint8_t target;
		uint64_t value;
		if (!at->is_known || bytes.bytes == NULL || at->is_call)
			return !is_short;
		bool is_changed = (at->use.changes >> number & 1) != 0;
		if (is_changed &&
			lode_register_constant_decode(&target, &value, bytes.bytes, bytes.size) &&
			target == number) {
			value += added;
			*out = (First){is_short ? (uint32_t)value : value, LODE_NONE, 0, false};
			return true;
		}
		if (is_changed) {
			if (!lode_register_terms_decode(&terms, bytes.bytes, bytes.size) ||
				terms.width == 0 || terms.target != number)
				return !is_short;
			number = terms.terms[0].number;
			added += (uint64_t)terms.constant;
			is_short |= terms.width == 32;
		}
		*out = (First){added, node, number, true};
		/* Calls lead to the first instruction, too. */
		node = node != 0 ? only_source(self, node, false) : LODE_NONE;
		if (node == LODE_NONE)
			return !is_short;
	}
	return false;
}

/* The comparison that a jump goes by, and its node. */
static bool find_test(
	const LodeLoopRounds *self, uint32_t jump, LodeRegisterTest *out, uint32_t *out_node)
{
	const LodeLoopCode *code = self->code;
	uint32_t node = only_source(self, jump, true);

	for (unsigned i = 0; node != LODE_NONE && i < MAX_STEPS; i++) {
		const LodeDependenceNode *at = &code->graph->nodes[node];
		LodeLoopBytes bytes = code->bytes(code->data, node);
		if (!at->is_known || bytes.bytes == NULL || at->is_call)
			return false;
		*out_node = node;
		if ((at->use.changes >> LODE_BIT_FLAGS & 1) != 0)
			return lode_register_test_decode(out, bytes.bytes, bytes.size);
		node = node != LODE_AT(self->loop.body, uint32_t, 0) ? only_source(self, node, true)
		                                                     : LODE_NONE;
	}
	return false;
}

/* A register before a node of the loop at hand, as `first` + `step` × the rounds before it. */
typedef struct {
	First first;
	int64_t step;
	uint8_t width;
} Line;

static bool find_line(const LodeLoopRounds *self, uint32_t node, unsigned number, Line *out)
{
	LodeLoopValue value = lode_loop_forms_at(&self->forms, node, number).value;

	if (value.origin == LODE_LOOP_UNKNOWN)
		return false;
	unsigned origin = value.origin;
	bool is_unchanged = (self->forms.unchanged >> origin & 1) != 0;
	if ((!is_unchanged && self->forms.steps[origin] == 0) ||
		!find_first(self, origin, &out->first))
		return false;
	out->first.constant += value.constant;
	out->step = is_unchanged ? 0 : self->forms.steps[origin];
	out->width = is_unchanged ? value.width : MIN(value.width, self->forms.widths[origin]);
	return true;
}

static double as_number(uint64_t value, uint8_t width, bool is_signed)
{
	if (width == 32)
		return is_signed ? (double)(int32_t)(uint32_t)value : (double)(uint32_t)value;
	return is_signed ? (double)(int64_t)value : (double)value;
}

/* The round in which `counter` first is equal to the limit. 0: it passes it. */
static double rounds_until_equal(const Line *counter, uint64_t limit, uint8_t width)
{
	uint64_t distance = limit - counter->first.constant;
	int64_t signed_distance = width == 32 ? (int32_t)(uint32_t)distance : (int64_t)distance;

	if (counter->step == INT64_MIN || counter->step == 0 ||
		(counter->step == -1 && signed_distance == INT64_MIN))
		return 0;
	bool is_met = signed_distance % counter->step == 0 && signed_distance / counter->step >= 0;
	return is_met ? (double)(signed_distance / counter->step) + 1 : 0;
}

/* The first round in which `kind` holds, or does not; 0: not known. Values above 2^53 are not
 * those of counters. */
static double rounds_until(
	const Line *counter, uint64_t limit, const LodeTestJump *stop, uint8_t width)
{
	bool is_signed = stop->kind == LODE_TEST_LESS || stop->kind == LODE_TEST_LESS_OR_EQUAL;
	bool has_equal = stop->kind == LODE_TEST_BELOW_OR_EQUAL ||
	                 stop->kind == LODE_TEST_LESS_OR_EQUAL;
	double first = as_number(counter->first.constant, width, is_signed),
	       step = (double)counter->step;
	double end = as_number(limit, width, is_signed);
	/* It stops above the limit where the condition does not hold any more, else below. */
	double direction = stop->is_negated ? 1 : -1;
	/* Whether it stops at the limit itself. */
	bool stops_at = has_equal != stop->is_negated;
	double distance = (end - first) * direction, pace = step * direction;

	if (fabs(first) > 0x1p53 || fabs(end) > 0x1p53 || pace <= 0)
		return 0;
	if (distance < 0 || (distance == 0 && stops_at))
		return 1;
	double n = stops_at ? ceil(distance / pace) : floor(distance / pace) + 1;
	double last = first + step * n, bits = width - is_signed;
	bool is_wrapped = last >= exp2(bits) || last < (is_signed ? -exp2(bits) : 0);
	return is_wrapped ? 0 : n + 1;
}

/* False: it has another end, or this is not known. Finds what the loop adds up. */
static bool find_end(LodeLoopRounds *self, End *out)
{
	const LodeLoopCode *code = self->code;
	uint32_t head = LODE_AT(self->loop.body, uint32_t, 0);
	uint32_t jump = only_source(self, head, true);

	if (jump == LODE_NONE || !is_only_exit(self, jump) ||
		!find_test(self, jump, &out->test, &out->node))
		return false;
	LodeLoopBytes bytes = code->bytes(code->data, jump);
	if (bytes.bytes == NULL || !lode_test_jump_decode(&out->stop, bytes.bytes, bytes.size) ||
		(out->test.is_equality && out->stop.kind != LODE_TEST_EQUAL))
		return false;
	/* It stops where the jump back is not taken; after a jump out of the loop comes its head.
	 */
	out->stop.is_negated ^= head != jump + 1;
	return lode_loop_forms_find(&self->forms, &self->loop, code, NULL);
}

static double rounds_to_end(const End *end, const Line *counter, const Line *limit)
{
	/* Either of two registers may be the one that advances. */
	if (end->stop.kind == LODE_TEST_EQUAL && counter->step == 0)
		return limit->step != 0 ? rounds_to_end(end, limit, counter) : 0;
	if (limit->step != 0 || counter->width < end->test.width || limit->width < end->test.width)
		return 0;
	if (end->stop.kind != LODE_TEST_EQUAL)
		return rounds_until(counter, limit->first.constant, &end->stop, end->test.width);
	return end->stop.is_negated
	               ? 0
	               : rounds_until_equal(counter, limit->first.constant, end->test.width);
}

/* 0: not known. The loop has one end, the jump back to the head. */
static double count_rounds(LodeLoopRounds *self)
{
	Line counter, limit = {.first.node = LODE_NONE, .width = 64};
	End end;

	if (!find_end(self, &end) || !find_line(self, end.node, end.test.left, &counter))
		return 0;
	limit.first.constant = (uint64_t)end.test.constant;
	if (end.test.right != LODE_TEST_CONSTANT &&
		!find_line(self, end.node, end.test.right, &limit))
		return 0;
	/* An end may be as far from its beginning each time, wherever that is. */
	bool is_known = counter.first.node == LODE_NONE;
	if (counter.first.node != limit.first.node || counter.first.number != limit.first.number ||
		counter.first.is_before != limit.first.is_before ||
		(!is_known && end.stop.kind != LODE_TEST_EQUAL))
		return 0;
	return rounds_to_end(&end, &counter, &limit);
}

/* A register before the test, in the sample's iteration. */
static bool find_sampled_line(const LodeLoopRounds *self, const LodeLoopSample *sample,
	uint32_t node, unsigned number, Line *out)
{
	LodeLoopValue value = lode_loop_forms_at(&self->forms, node, number).value;

	if (value.origin == LODE_LOOP_UNKNOWN)
		return false;
	bool is_unchanged = (self->forms.unchanged >> value.origin & 1) != 0;
	*out = (Line){
		.step = is_unchanged ? 0 : self->forms.steps[value.origin],
		.width = is_unchanged ? value.width
	                              : MIN(value.width, self->forms.widths[value.origin]),
	};
	if ((!is_unchanged && out->step == 0) ||
		!lode_loop_forms_at_head(
			&self->forms, sample, value.origin, &out->first.constant, &out->width))
		return false;
	out->first.constant += value.constant;
	return true;
}

double lode_loop_rounds_left(LodeLoopRounds *self, const LodeLoopSample *sample)
{
	const End *end = &self->end;
	Line counter, limit = {.width = 64};

	if (!self->was_end_sought)
		self->has_end = self->code->leaves != NULL && find_end(self, &self->end);
	self->was_end_sought = true;
	if (!self->has_end || !find_sampled_line(self, sample, end->node, end->test.left, &counter))
		return 0;
	limit.first.constant = (uint64_t)end->test.constant;
	if (end->test.right != LODE_TEST_CONSTANT &&
		!find_sampled_line(self, sample, end->node, end->test.right, &limit))
		return 0;
	return rounds_to_end(end, &counter, &limit);
}

/* By the `chosen` of them that are least, and those that are equal. */
static LodeMeanRounds mean_by(const double *left, size_t n, size_t chosen)
{
	double k = left[chosen - 1];

	while (chosen < n && left[chosen] <= k)
		chosen++;
	/* Half as much again, as samples near each other are alike. */
	return (LodeMeanRounds){k * (double)n / (double)chosen, 1.5 / sqrt((double)chosen)};
}

LodeMeanRounds lode_mean_rounds(double *left, size_t n)
{
	enum { FEWEST = 32, FEW = 8, MANY = 3 };

	if (n < FEWEST)
		return (LodeMeanRounds){0, 0};
	qsort(left, n, sizeof(*left), lode_compare_doubles);
	LodeMeanRounds few = mean_by(left, n, MAX(n / FEW, FEWEST / 4));
	LodeMeanRounds many = mean_by(left, n, n / MANY);
	/* Many are more exact, unless some calls have fewer rounds than that. */
	bool is_near = fabs(many.mean - few.mean) <= 2 * few.error * few.mean;
	return is_near ? many : few;
}

/* --- executions --- */

double lode_loop_rounds_count(LodeLoopRounds *self, uint32_t turn, uint32_t node)
{
	if (self->code->leaves == NULL)
		return 0;
	uint32_t around = LODE_AT(self->loops, Loop, node).around;
	double n = 1;
	for (unsigned depth = 0; around != turn; depth++) {
		if (around == LODE_LOOP_OF_CALL || depth == MAX_DEPTH ||
			!lode_loop_rounds_find(self, around) || !is_in_each_turn(self, node))
			return 0;
		n *= count_rounds(self);
		node = around;
		around = LODE_AT(self->loops, Loop, node).parent;
	}
	bool is_always = turn == LODE_LOOP_OF_CALL
	                         ? is_in_each_call(self, node)
	                         : lode_loop_rounds_find(self, turn) && is_in_each_turn(self, node);
	return is_always ? n : 0;
}
