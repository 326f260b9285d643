/* SPDX-License-Identifier: MIT */
/*
 * The rule backward. From the sampled instruction up, one instruction at a time, undoing each; the
 * first that accesses memory is the one, if its operand can still be said.
 */
#include "images/access_search.h"
#include "images/backward_undoing.h"

enum { MAX_STEPS = 32 };

static const LodeStaticInstruction *instruction_at(const LodeControlFlow *flow, uint32_t i)
{
	return &g_array_index(flow->instructions, LodeStaticInstruction, i);
}

static const LodeStaticBlock *block_of(const LodeControlFlow *flow, uint32_t i)
{
	return &g_array_index(flow->blocks, LodeStaticBlock, instruction_at(flow, i)->block);
}

/* Whether an instruction lets the one after it be reached only through itself, with registers that
 * follow from its own. */
static bool is_transparent(const LodeDecodedInstruction *decoded)
{
	return decoded->branch == LODE_BRANCH_NONE && !(decoded->kinds & 1U << LODE_KIND_SYSCALL);
}

static bool is_interrupt(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_INTERRUPT ||
	       instruction->meta.category == ZYDIS_CATEGORY_SYSCALL;
}

static bool has_indirect_jumps(const LodeControlFlow *flow)
{
	for (guint i = 0; i < flow->blocks->len; i++) {
		const LodeStaticBlock *block = &g_array_index(flow->blocks, LodeStaticBlock, i);
		const LodeStaticInstruction *last = instruction_at(
			flow, block->first + block->n - 1);

		if (last->decoded.branch == LODE_BRANCH_INDIRECT_JUMP)
			return true;
	}
	return false;
}

/* One instruction back from number `i`. A reason, or NONE with `full` decoded and `state` as before
 * it. */
static LodeAddressReason step_back(LodeAccessSearch *self, uint32_t i)
{
	const LodeControlFlow *flow = self->question->flow;
	const LodeStaticInstruction *before;

	if (i == 0 || block_of(flow, i)->first == i)
		return LODE_REASON_BRANCH_TARGET;
	before = instruction_at(flow, i - 1);
	if (!is_transparent(&before->decoded))
		return LODE_REASON_BLOCKED;
	if (!lode_access_search_decode(self, before->address) ||
		self->full.instruction.length != before->decoded.length)
		return LODE_REASON_NO_DECODE;
	if (is_interrupt(&self->full.instruction))
		return LODE_REASON_BLOCKED;
	lode_backward_undo(&self->full, &self->state);
	return LODE_REASON_NONE;
}

static void walk_back(LodeAccessSearch *self, uint32_t i)
{
	for (unsigned n = 0; n < MAX_STEPS; n++, i--) {
		LodeAddressReason reason = step_back(self, i);

		if (reason != LODE_REASON_NONE) {
			lode_access_search_fail(self, reason);
			return;
		}
		if (lode_access_search_take(self, LODE_RULE_BACKWARD))
			return;
	}
	lode_access_search_fail(self, LODE_REASON_NO_ACCESS_IN_RANGE);
}

void lode_access_search_backward(LodeAccessSearch *self)
{
	const LodeControlFlow *flow = self->question->flow;
	uint32_t i = flow != NULL ? lode_control_flow_find(flow, self->question->pc) : UINT32_MAX;

	if (i == UINT32_MAX) {
		lode_access_search_fail(self, LODE_REASON_NO_DECODE);
		return;
	}
	if (instruction_at(flow, i)->decoded.is_repeat) {
		/* it may have run in part already, and then was itself the last */
		lode_access_search_fail(self, LODE_REASON_BRANCH_TARGET);
		return;
	}
	walk_back(self, i);
	if (self->found.rule == LODE_RULE_BACKWARD)
		self->found.is_unverified = has_indirect_jumps(flow) ||
		                            !block_of(flow, i)->is_reachable;
}
