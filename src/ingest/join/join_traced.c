/* SPDX-License-Identifier: MIT */
/*
 * The flow of a trace. Every change of control is in it, so that nothing has to be concluded: what
 * an instruction executed more often than control left it went on to the next one.
 *
 *   instruction     goes to                        becomes
 *   a call          anywhere                       call
 *   a return        the instruction after a call   return, and that call's fall-through
 *   a jump          anywhere                       taken, jump; call, where into another function
 *   indirect jump   elsewhere, after a call        return (longjmp)
 *   any other       anywhere                       no edge: the kernel did it (a signal, its end)
 *   nothing         a thread's first instruction   likewise
 *
 * A return to another place than after a call is the kernel's work too, or a program's that makes
 * its own stack: it flows, but is not an edge.
 */
#include "ingest/join/join_flow.h"
#include "model/code.h"

typedef LodeJoinFlow Flow;

/* The call that an instruction follows; LODE_NONE. Instructions may overlap, so that it need
 * not be the row before. */
static uint32_t call_before(const Flow *self, uint32_t index)
{
	enum { MAX_ROWS = 8 }; /* a call has at most so many bytes */

	for (uint32_t i = 1; i <= MIN(index, MAX_ROWS); i++) {
		uint8_t branch = self->codes[index - i].branch;
		bool is_call = branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_INDIRECT_CALL;
		if (is_call && lode_join_flow_following(self, index - i) == index)
			return index - i;
	}
	return LODE_NONE;
}

/* Flow without an edge. */
static void pass(Flow *self, const LodeJoinTransfer *transfer)
{
	if (transfer->source != LODE_NONE)
		self->out[transfer->source] += transfer->count;
	if (transfer->target == LODE_NONE)
		return;
	self->in[transfer->target] += transfer->count;
	lode_join_flow_enter_function(self, transfer->target, transfer->count);
}

static void add_edge(Flow *self, const LodeJoinTransfer *transfer, LodeEdgeKind kind)
{
	self->out[transfer->source] += transfer->count;
	self->in[transfer->target] += transfer->count;
	lode_join_flow_add_edge(self, transfer->source, transfer->target, kind, transfer->count);
	if (kind == LODE_EDGE_CALL)
		lode_join_flow_enter_function(self, transfer->target, transfer->count);
}

static void add_return(Flow *self, const LodeJoinTransfer *transfer)
{
	uint32_t call = call_before(self, transfer->target);

	if (call == LODE_NONE) {
		pass(self, transfer);
		return;
	}
	self->out[transfer->source] += transfer->count;
	self->returned[call] += transfer->count;
	lode_join_flow_add_edge(
		self, transfer->source, transfer->target, LODE_EDGE_RETURN, transfer->count);
}

static void add_jump(Flow *self, const LodeJoinTransfer *transfer)
{
	LodeEdgeKind kind = lode_join_flow_jump_kind(self, transfer->source, transfer->target);
	bool is_long = kind == LODE_EDGE_CALL &&
	               self->codes[transfer->source].branch == LODE_BRANCH_INDIRECT_JUMP &&
	               call_before(self, transfer->target) != LODE_NONE;

	add_edge(self, transfer, is_long ? LODE_EDGE_RETURN : kind);
}

/* Whether a direct branch cannot have made this transfer itself. */
static bool is_interrupted(const Flow *self, const LodeJoinTransfer *transfer)
{
	const LodeJoinCode *code = &self->codes[transfer->source];

	if (code->branch == LODE_BRANCH_NONE || code->branch == LODE_BRANCH_STOP)
		return !code->is_repeat || transfer->source != transfer->target;
	return code->target != 0 &&
	       code->target != lode_profile_instruction(self->profile, transfer->target)->address;
}

static void add_transfer(Flow *self, const LodeJoinTransfer *transfer)
{
	if (transfer->source == LODE_NONE || transfer->target == LODE_NONE) {
		pass(self, transfer);
		return;
	}
	const LodeJoinCode *code = &self->codes[transfer->source];
	if (code->length == 0)
		add_jump(self, transfer);
	else if (transfer->target == lode_join_flow_following(self, transfer->source))
		return; /* as inside a block: see add_straight_flow() */
	else if (is_interrupted(self, transfer))
		pass(self, transfer);
	else if (transfer->is_call)
		add_edge(self, transfer, LODE_EDGE_CALL);
	else if (code->branch == LODE_BRANCH_RETURN)
		add_return(self, transfer);
	else
		add_jump(self, transfer);
}

static bool is_jump(const LodeJoinCode *code)
{
	return code->branch == LODE_BRANCH_JUMP || code->branch == LODE_BRANCH_INDIRECT_JUMP;
}

/* A block is not cut where a jump leads to the next instruction. */
static void add_straight_flow(Flow *self)
{
	for (uint32_t i = 0; i < self->n; i++) {
		const LodeJoinCode *code = &self->codes[i];
		double rest = lode_profile_instruction(self->profile, i)->count - self->out[i] +
		              self->returned[i];
		uint32_t next = code->length > 0 && rest > 0 ? lode_join_flow_following(self, i)
		                                             : LODE_NONE;
		const LodeJoinTransfer straight = {.source = i, .target = next, .count = rest};
		if (next != LODE_NONE && is_jump(code))
			add_jump(self, &straight);
		else if (next != LODE_NONE)
			lode_join_flow_add_fall_through(self, i, next, rest);
	}
}

void lode_join_traced_flow(Flow *self)
{
	const GArray *transfers = self->transfers;

	for (guint i = 0; i < transfers->len; i++)
		add_transfer(self, &g_array_index(transfers, LodeJoinTransfer, i));
	add_straight_flow(self);
}
