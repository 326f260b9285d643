/* SPDX-License-Identifier: MIT */
/*
 * The executions of each edge, and whether the inflow of each instruction equals its executions.
 *
 * Callgrind writes taken jumps and calls; all else follows from the counts n by rule:
 *  - a plain instruction flows on n times, less the jumps it is written with (repeats of itself);
 *  - a conditional jump falls through n − taken times;
 *  - an unconditional jump and a return never fall through;
 *  - a jump to a function's first instruction, or into another section or image, is written as a
 *    call from an instruction that is not a call; running into such a place likewise, which then
 *    is a fall-through like any other;
 *  - returns are not written: the instruction after a call gets what it lacks, at most the calls.
 *    The rest are calls that did not return, which must be matched by activations of the callee
 *    that ended without a return (exit, longjmp, a thrown exception).
 *  - a system call returns at most as often as it was made (exit, a signal handler's return).
 * A trace has all of this; see join_traced.c.
 */
#include "ingest/join/join_flow.h"

#include "base/arrays/sort_order.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <math.h>
#include <stdlib.h>

typedef LodeJoinFlow Flow;

static bool is_call(const LodeJoinCode *code)
{
	return code->branch == LODE_BRANCH_CALL || code->branch == LODE_BRANCH_INDIRECT_CALL;
}

static bool is_system_call(const LodeJoinCode *code)
{
	return (code->kinds >> LODE_KIND_SYSCALL & 1) != 0;
}

uint32_t lode_join_flow_following(const Flow *self, uint32_t index)
{
	const LodeInstruction *own = lode_profile_instruction(self->profile, index);
	uint64_t next = own->address + self->codes[index].length;

	if (next == own->address)
		return LODE_NONE;
	for (uint32_t i = index + 1; i < self->n; i++) {
		const LodeInstruction *other = lode_profile_instruction(self->profile, i);
		if (other->function != own->function &&
			lode_profile_function(self->profile, other->function)->image !=
				lode_profile_function(self->profile, own->function)->image)
			return LODE_NONE;
		if (other->address >= next)
			return other->address == next ? i : LODE_NONE;
	}
	return LODE_NONE;
}

void lode_join_flow_add_edge(
	Flow *self, uint32_t source, uint32_t target, LodeEdgeKind kind, double count)
{
	LodeEdge edge = {source, target, kind, count};

	g_array_append_val(self->profile->code.edges, edge);
}

double lode_join_flow_lack(const Flow *self, uint32_t index)
{
	double count = lode_profile_instruction(self->profile, index)->count,
	       lack = count - self->in[index];

	return lack > 1e-9 * count ? lack : 0;
}

LodeEdgeKind lode_join_flow_jump_kind(const Flow *self, uint32_t source, uint32_t target)
{
	const LodeJoinCode *code = &self->codes[source];

	if (lode_profile_instruction(self->profile, source)->function !=
		lode_profile_instruction(self->profile, target)->function)
		return LODE_EDGE_CALL;
	if (source == target && code->is_repeat)
		return LODE_EDGE_REPEAT;
	return code->branch == LODE_BRANCH_CONDITIONAL ? LODE_EDGE_TAKEN : LODE_EDGE_JUMP;
}

void lode_join_flow_enter_function(Flow *self, uint32_t target, double count)
{
	LodeFunction *function = lode_profile_function(
		self->profile, lode_profile_instruction(self->profile, target)->function);

	if (lode_profile_instruction(self->profile, target)->address == function->address)
		function->calls += count;
}

/* Not a call by its instruction: a jump, or running into a function. */
static void add_jump(Flow *self, const LodeJoinTransfer *transfer)
{
	const LodeJoinCode *code = &self->codes[transfer->source];
	bool can_fall = code->branch == LODE_BRANCH_NONE || code->branch == LODE_BRANCH_CONDITIONAL;
	LodeEdgeKind kind = lode_join_flow_jump_kind(self, transfer->source, transfer->target);

	if (can_fall && transfer->target == lode_join_flow_following(self, transfer->source))
		return;
	self->in[transfer->target] += transfer->count;
	self->out[transfer->source] += transfer->count;
	lode_join_flow_add_edge(self, transfer->source, transfer->target, kind, transfer->count);
	if (kind == LODE_EDGE_CALL)
		lode_join_flow_enter_function(self, transfer->target, transfer->count);
}

/* The call instruction itself flows on when the callee returns: see add_returns(). */
static void add_call(Flow *self, const LodeJoinTransfer *transfer)
{
	self->in[transfer->target] += transfer->count;
	lode_join_flow_add_edge(
		self, transfer->source, transfer->target, LODE_EDGE_CALL, transfer->count);
	lode_join_flow_enter_function(self, transfer->target, transfer->count);
}

/*
 * Callgrind counts a block when the next one begins, so that the last block of a process and of a
 * signal handler is not counted. The latter is the trampoline that handlers return into.
 */
static void add_uncounted(Flow *self, const LodeJoinTransfer *transfer)
{
	const LodeInstruction *source = lode_profile_instruction(self->profile, transfer->source);
	const char *name = lode_profile_function(self->profile, source->function)->name;
	g_autofree char *example = g_strdup_printf(
		"from 0x%" G_GINT64_MODIFIER "x in %s", source->address, name);

	if (self->codes[transfer->source].branch == LODE_BRANCH_RETURN)
		self->signal_returns[source->function] += transfer->count;
	self->out[transfer->source] += transfer->count;
	lode_profile_add_unresolved(self->profile,
		"last block before an exit or a signal handler's return, not counted by callgrind",
		example, transfer->count, 0);
}

/* By callgrind, whose rules these are; inferred flow is whole as it is. */
static bool is_counted(const Flow *self)
{
	return self->recording->frequency == LODE_FREQUENCY_EXACT;
}

static void add_transfers(Flow *self)
{
	const GArray *transfers = self->transfers;

	for (guint i = 0; i < transfers->len; i++) {
		const LodeJoinTransfer *transfer = &g_array_index(transfers, LodeJoinTransfer, i);
		const LodeJoinCode *code = &self->codes[transfer->source];
		if (transfer->target == LODE_NONE && !is_counted(self))
			self->out[transfer->source] += transfer->is_call ? 0 : transfer->count;
		else if (transfer->target == LODE_NONE)
			add_uncounted(self, transfer);
		else if (transfer->is_call && (is_call(code) || code->length == 0))
			add_call(self, transfer);
		else
			add_jump(self, transfer);
	}
}

void lode_join_flow_add_fall_through(Flow *self, uint32_t source, uint32_t target, double count)
{
	bool is_inside = lode_profile_instruction(self->profile, source)->function ==
	                 lode_profile_instruction(self->profile, target)->function;

	if (count <= 0)
		return;
	self->in[target] += count;
	if (!is_inside) {
		lode_join_flow_add_edge(self, source, target, LODE_EDGE_CALL, count);
		lode_join_flow_enter_function(self, target, count);
	} else if (target == source + 1) {
		lode_profile_instruction(self->profile, source)->next_count = count;
	} else {
		lode_join_flow_add_edge(self, source, target, LODE_EDGE_FALL_THROUGH, count);
	}
}

static void add_plain_flow(Flow *self)
{
	for (uint32_t i = 0; i < self->n; i++) {
		const LodeJoinCode *code = &self->codes[i];
		uint32_t next;
		if (code->length == 0 || is_system_call(code) ||
			(code->branch != LODE_BRANCH_NONE &&
				code->branch != LODE_BRANCH_CONDITIONAL))
			continue;
		next = lode_join_flow_following(self, i);
		if (next != LODE_NONE)
			lode_join_flow_add_fall_through(self, i, next,
				lode_profile_instruction(self->profile, i)->count - self->out[i]);
	}
}

/* Adds the flow after calls and system calls: the flow that the next instruction still lacks. */
static void add_returns(Flow *self)
{
	for (uint32_t i = 0; i < self->n; i++) {
		const LodeJoinCode *code = &self->codes[i];
		double returned;
		uint32_t next;
		if (!is_call(code) && !is_system_call(code))
			continue;
		next = lode_join_flow_following(self, i);
		if (next == LODE_NONE)
			continue;
		returned = MIN(lode_join_flow_lack(self, next),
			lode_profile_instruction(self->profile, i)->count);
		lode_join_flow_add_fall_through(self, i, next, returned);
		if (!is_call(code))
			continue;
		self->arrived += returned;
		self->returned[i] = returned;
	}
}

/* The few that matter to what callgrind does not write. */
static void collect_unexplained(Flow *self)
{
	for (uint32_t i = 0; i < self->n; i++) {
		const LodeJoinCode *code = &self->codes[i];
		if (code->length == 0)
			self->undecoded += lode_profile_instruction(self->profile, i)->count;
		else if (lode_join_flow_lack(self, i) > 0)
			g_array_append_val(self->lacking, i);
		if (code->branch == LODE_BRANCH_RETURN || code->branch == LODE_BRANCH_INDIRECT_JUMP)
			g_array_append_val(self->exits, i);
	}
}

/* Flow conservation is the proof that jumps were read right: see inflow_equal in model/profile.h.
 * The tolerance is that of sums of doubles. */
static void check_flow(Flow *self)
{
	LodeProfile *profile = self->profile;

	for (uint32_t i = 0; i < self->n; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(self->profile, i);
		if (self->codes[i].length == 0)
			continue;
		profile->run.inflow_checked += instruction->count;
		if (fabs(self->in[i] - instruction->count) <= 1e-9 * instruction->count)
			profile->run.inflow_equal += instruction->count;
	}
}

LODE_ORDER(compare_edges, LodeEdge, LODE_ASCENDING(source), LODE_ASCENDING(target),
	LODE_ASCENDING(kind))

/* Merges to one edge for each (source, target, kind): several rows of a recording may have it. */
static void sort_edges(LodeProfile *profile)
{
	GArray *edges = profile->code.edges;
	guint kept = 0;

	if (edges->len > 1)
		qsort(edges->data, edges->len, sizeof(LodeEdge), compare_edges);
	for (guint i = 0; i < edges->len; i++) {
		LodeEdge edge = LODE_AT(edges, LodeEdge, i);
		LodeEdge *last = kept > 0 ? &LODE_AT(edges, LodeEdge, kept - 1) : NULL;
		if (last != NULL && compare_edges(last, &edge) == 0)
			last->count += edge.count;
		else
			LODE_AT(edges, LodeEdge, kept++) = edge;
	}
	g_array_set_size(edges, kept);
}

static void flow_init(Flow *self)
{
	size_t n_functions = MAX(self->profile->code.functions->len, 1), n;

	self->n = self->profile->code.instructions->len;
	n = MAX(self->n, 1);
	self->in = g_new0(double, n);
	self->out = g_new0(double, n);
	self->returned = g_new0(double, n);
	self->signal_returns = g_new0(double, n_functions);
	self->lacking = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->exits = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->arrived = self->undecoded = 0;
}

static void flow_clear(Flow *self)
{
	g_free(self->in);
	g_free(self->out);
	g_free(self->returned);
	g_free(self->signal_returns);
	g_array_unref(self->lacking);
	g_array_unref(self->exits);
}

static void account_flow(Flow *self)
{
	LodeProfile *profile = self->profile;

	collect_unexplained(self);
	double astray = lode_join_unwritten(self);
	check_flow(self);
	/* As many executions have an inflow that only seems to be explained. */
	profile->run.inflow_equal = MAX(profile->run.inflow_equal - astray, 0);
}

/* In this order: each step uses what those before it have put into `in` and `out`. */
static void conclude_flow(Flow *self)
{
	LodeProfile *profile = self->profile;

	if (is_counted(self))
		lode_join_reroute_resolver(self);
	add_transfers(self);
	add_plain_flow(self);
	add_returns(self);
	if (is_counted(self))
		account_flow(self);
	sort_edges(profile);
	lode_join_add_return_edges(self);
}

void lode_join_flow(LodeProfile *profile, const LodeRecording *recording, GArray *transfers,
	const LodeJoinCode *codes)
{
	Flow flow = {
		.profile = profile, .recording = recording, .transfers = transfers, .codes = codes};

	flow_init(&flow);
	if (recording->is_trace) {
		lode_join_traced_flow(&flow);
		check_flow(&flow);
	} else {
		conclude_flow(&flow);
	}
	sort_edges(profile);
	flow_clear(&flow);
}
