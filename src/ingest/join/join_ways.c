/* SPDX-License-Identifier: MIT */
/*
 * The ways to instructions that several lead to, for the division of weight where executions are
 * inferred (model/causes.h):
 *
 *        jne v ──────▶ v          a way: from the jump to v; its other way is w, where only the
 *          │           ▲          jump leads to, so that all that is sampled at w waited for the
 *          ▼           │          same as this way's part of what is sampled at v
 *          w …  jmp v ─┘          a way without another one
 *
 * A way out of the loop says nothing about one that stays in it: it is taken once, the other each
 * round. Where windows saw a step to an instruction, its executions tell by which ways it
 * is reached.
 */
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/join/join_flow.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/observed/windows.h"

#include <stdlib.h>

typedef struct {
	const LodeProfile *profile;
	const LodeJoinCode *codes;
	const uint8_t *marks;
	GArray *ways;     /* LodeCauseWay */
	uint32_t *n_ways; /* of each instruction: that lead there */
	bool *is_entered; /* of each instruction: from other functions too */
} Ways;

static uint32_t find_in_function(const Ways *self, uint32_t function, uint64_t address)
{
	const LodeFunction *own = lode_profile_function(self->profile, function);
	const LodeInstruction *rows = &LODE_AT(
		lode_code_of(self->profile)->instructions, LodeInstruction, own->first_instruction);
	uint32_t at = LODE_PARTITION_POINT(own->n_instructions, i, rows[i].address < address);

	return at < own->n_instructions && rows[at].address == address ? own->first_instruction + at
	                                                               : LODE_NONE;
}

/* A jump waits for what the compare that it retires with reads; what prepares a division stands for
 * it. */
static bool can_wait(const Ways *self, uint32_t source)
{
	const uint32_t waits = 1u << LODE_KIND_LOAD | 1u << LODE_KIND_DIV | 1u << LODE_KIND_ATOMIC |
	                       1u << LODE_KIND_FENCE;
	uint8_t marks = self->marks[source];
	uint32_t waiting = (marks & LODE_CAUSE_ENDS_A_PAIR) != 0 ? source - 1
	                   : (marks & LODE_CAUSE_PREPARES) != 0  ? source + 1
	                                                         : source;

	return (self->codes[waiting].kinds & waits) != 0;
}

static void add_way(Ways *self, uint32_t source, uint32_t target)
{
	const LodeCauseWay way = {source, target, LODE_NONE, can_wait(self, source), 0};

	if (target == LODE_NONE)
		return;
	g_array_append_val(self->ways, way);
	self->n_ways[target]++;
}

/* By the code: also ways that are inferred as never taken. */
static void add_ways_from(Ways *self, uint32_t source)
{
	const LodeInstruction *row = lode_profile_instruction(self->profile, source);
	const LodeJoinCode *code = &self->codes[source];
	bool falls = code->branch == LODE_BRANCH_NONE || code->branch == LODE_BRANCH_CONDITIONAL ||
	             code->branch == LODE_BRANCH_CALL || code->branch == LODE_BRANCH_INDIRECT_CALL;

	if (code->length == 0)
		return;
	if (falls)
		add_way(self, source,
			find_in_function(self, row->function, row->address + code->length));
	if (code->branch == LODE_BRANCH_CONDITIONAL || code->branch == LODE_BRANCH_JUMP)
		add_way(self, source, find_in_function(self, row->function, code->target));
}

LODE_ORDER(compare_by_source, LodeCauseWay, LODE_ASCENDING(source), LODE_ASCENDING(target))

LODE_ORDER(compare_by_target, LodeCauseWay, LODE_ASCENDING(target), LODE_ASCENDING(source))

static LodeCauseWay *find_way(const Ways *self, size_t n, uint32_t source, uint32_t target)
{
	LodeCauseWay *ways = (LodeCauseWay *)(void *)self->ways->data;
	const LodeCauseWay wanted = {.source = source, .target = target};
	size_t at = LODE_PARTITION_POINT(n, i, compare_by_source(&ways[i], &wanted) < 0);

	return at < n && compare_by_source(&ways[at], &wanted) == 0 ? &ways[at] : NULL;
}

/* The executions of edges; those that the code does not show, as of jump tables, are ways too. */
static void add_edge(Ways *self, size_t n, const LodeEdge *edge)
{
	bool is_inner = lode_profile_instruction(self->profile, edge->source)->function ==
	                lode_profile_instruction(self->profile, edge->target)->function;

	if (edge->kind == LODE_EDGE_REPEAT)
		return;
	if (!is_inner || edge->kind == LODE_EDGE_CALL || edge->kind == LODE_EDGE_RETURN) {
		self->is_entered[edge->target] = true;
		return;
	}
	LodeCauseWay *way = find_way(self, n, edge->source, edge->target);
	if (way == NULL) {
		add_way(self, edge->source, edge->target);
		way = &g_array_index(self->ways, LodeCauseWay, self->ways->len - 1);
	}
	way->count += MAX(edge->count, 0);
}

static void add_edges(Ways *self)
{
	const LodeProfile *profile = self->profile;
	size_t n = self->ways->len;

	for (uint32_t i = 0; i + 1 < lode_code_of(profile)->instructions->len; i++) {
		const LodeEdge edge = {i, i + 1, LODE_EDGE_FALL_THROUGH,
			lode_profile_instruction(profile, i)->next_count};
		if (edge.count >= 0)
			add_edge(self, n, &edge);
	}
	for (guint i = 0; i < lode_code_of(profile)->edges->len; i++)
		add_edge(self, n, &LODE_AT(lode_code_of(profile)->edges, LodeEdge, i));
}

static bool is_measure(const Ways *self, uint32_t source, uint32_t other)
{
	return self->n_ways[other] == 1 && !self->is_entered[other] &&
	       !self->codes[other].is_entry && !self->codes[other].is_repeat &&
	       self->codes[other].loop_depth >= self->codes[source].loop_depth;
}

/* Both ways of a branch are neighbours. */
static void pair_ways(Ways *self)
{
	LodeCauseWay *ways = (LodeCauseWay *)(void *)self->ways->data;

	g_array_sort(self->ways, compare_by_source);
	for (guint i = 0; i + 1 < self->ways->len; i++) {
		LodeCauseWay *one = &ways[i], *other = &ways[i + 1];
		if (one->source != other->source || one->target == other->target ||
			self->codes[one->source].branch != LODE_BRANCH_CONDITIONAL)
			continue;
		if (is_measure(self, one->source, other->target))
			one->other = other->target;
		if (is_measure(self, one->source, one->target))
			other->other = one->target;
	}
}

/* Windows saw a step to where the ways lead: then executions tell by which of them it is reached.
 */
static bool is_observed(const Ways *self, const LodeCauseWay *ways, guint n)
{
	const LodeWindows *windows = lode_windows_of(self->profile);

	for (guint i = 0; i < n && windows != NULL; i++)
		if (lode_windows_find_edge(windows, ways[i].source, ways[i].target) != NULL)
			return true;
	return false;
}

/* Keeps the ways to where several lead, of which one has a measure at least and none was observed.
 */
static void choose_ways(Ways *self)
{
	LodeCauseWay *ways = (LodeCauseWay *)(void *)self->ways->data;
	guint kept = 0;

	g_array_sort(self->ways, compare_by_target);
	for (guint first = 0, n; first < self->ways->len; first += n) {
		uint32_t target = ways[first].target;
		bool is_measured = false;
		for (n = 0; first + n < self->ways->len && ways[first + n].target == target; n++)
			is_measured |= ways[first + n].other != LODE_NONE;
		if (n < 2 || !is_measured || self->codes[target].is_return_point ||
			is_observed(self, &ways[first], n))
			continue;
		for (guint i = 0; i < n; i++)
			ways[kept++] = ways[first + i];
	}
	g_array_set_size(self->ways, kept);
}

GArray *lode_join_ways(const LodeProfile *profile, const LodeJoinCode *codes, const uint8_t *marks)
{
	uint32_t n = lode_code_of(profile)->instructions->len;
	g_autofree uint32_t *n_ways = g_new0(uint32_t, MAX(n, 1));
	g_autofree bool *is_entered = g_new0(bool, MAX(n, 1));
	Ways self = {
		.profile = profile,
		.codes = codes,
		.marks = marks,
		.ways = g_array_new(FALSE, FALSE, sizeof(LodeCauseWay)),
		.n_ways = n_ways,
		.is_entered = is_entered,
	};

	for (uint32_t i = 0; i < n; i++)
		add_ways_from(&self, i);
	g_array_sort(self.ways, compare_by_source);
	add_edges(&self);
	pair_ways(&self);
	choose_ways(&self);
	return self.ways;
}
