/* SPDX-License-Identifier: MIT */
/*
 * The rule backward. From the sampled instruction up, one instruction at a time, undoing each; the
 * first that accesses memory is the one, if its operand can still be said.
 *
 *       ┌─ jcc ───┐    at the beginning of a block the walk goes on only where all targets of the
 *       │  mov …  │    image are known, nothing else leads there, and no indirect jump may:
 *   walk up       │      - what falls into it, where no target is there;
 *       │  pc     ▼      - the only jump to it, where nothing falls into it
 */
#include "images/data/access_walk.h"
#include "images/registers/backward_undoing.h"

static const LodeStaticInstruction *instruction_at(const LodeControlFlow *flow, uint32_t i)
{
	return &g_array_index(flow->instructions, LodeStaticInstruction, i);
}

static const LodeStaticBlock *block_of(const LodeControlFlow *flow, uint32_t i)
{
	return &g_array_index(flow->blocks, LodeStaticBlock, instruction_at(flow, i)->block);
}

static bool has_indirect_jump(const LodeControlFlow *flow)
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

static bool may_jump_indirectly(const LodeBranchTargets *targets, const LodeControlFlow *flow)
{
	const LodeStaticInstruction *last = instruction_at(flow, flow->instructions->len - 1);

	if (targets == NULL)
		return has_indirect_jump(flow);
	return lode_branch_targets_has_indirect_jump(
		targets, instruction_at(flow, 0)->address, last->address + last->decoded.length);
}

/* Whether instruction `i` − 1 can run on into `i`. */
static bool is_fallen_into(const LodeControlFlow *flow, uint32_t i)
{
	const LodeStaticInstruction *before = instruction_at(flow, i - 1);

	if (before->address + before->decoded.length != instruction_at(flow, i)->address)
		return false;
	switch (before->decoded.branch) {
	case LODE_BRANCH_JUMP:
	case LODE_BRANCH_INDIRECT_JUMP:
	case LODE_BRANCH_RETURN:
	case LODE_BRANCH_STOP:
		return false;
	default:
		return true;
	}
}

/* Whether a block is filling before the next one, as compilers put after a jump. */
static bool is_filling(const LodeAccessWalk *walk, const LodeStaticBlock *block)
{
	if (block->is_reachable || walk->targets == NULL)
		return false;
	for (uint32_t i = block->first; i < block->first + block->n; i++) {
		const LodeStaticInstruction *filler = instruction_at(walk->flow, i);
		guint end = lode_branch_targets_above(walk->targets, filler->address);
		bool is_target =
			end > 0 &&
			g_array_index(walk->targets->targets, LodeBranchTarget, end - 1).target ==
				filler->address;

		if (is_target || (filler->decoded.kinds >> LODE_KIND_NOP & 1) == 0)
			return false;
	}
	return block->first > 0 && !is_fallen_into(walk->flow, block->first);
}

bool lode_access_walk_falls_into(const LodeAccessWalk *walk, uint32_t number)
{
	return number > 0 && is_fallen_into(walk->flow, number) &&
	       !is_filling(walk, block_of(walk->flow, number - 1));
}

/* Whether something leads in between instruction `before` and the end of the step to `i`, which
 * follows it. A target guessed from data counts if an instruction begins there and an indirect jump
 * may go there. */
static bool has_target(LodeAccessWalk *walk, uint32_t before, uint32_t i)
{
	uint64_t address = instruction_at(walk->flow, i)->address;
	guint end = lode_branch_targets_above(walk->targets, address);

	while (end-- > 0) {
		const LodeBranchTarget *target = &g_array_index(
			walk->targets->targets, LodeBranchTarget, end);

		if (target->target <= instruction_at(walk->flow, before)->address)
			return false;
		if (target->source != 0 || (target->target == address && walk->has_indirect_jumps))
			return true;
		walk->has_ignored |= target->target == address;
	}
	return false;
}

static bool is_seen_target(const LodeControlFlow *flow, uint64_t address)
{
	for (guint i = 0; i < flow->hints->len; i++) {
		if (g_array_index(flow->hints, LodeFlowHint, i).target == address)
			return true;
	}
	return false;
}

/* The only jump that leads to an address, into which nothing falls; UINT32_MAX: none such. */
static uint32_t only_jump_to(const LodeAccessWalk *walk, uint64_t address)
{
	guint end = lode_branch_targets_above(walk->targets, address);
	const LodeBranchTarget *last;
	uint32_t source;

	if (end == 0)
		return UINT32_MAX;
	last = &g_array_index(walk->targets->targets, LodeBranchTarget, end - 1);
	if (last->target != address || last->source == 0 || (end > 1 && last[-1].target == address))
		return UINT32_MAX;
	source = lode_control_flow_find(walk->flow, last->source);
	if (source == UINT32_MAX)
		return UINT32_MAX;
	switch (instruction_at(walk->flow, source)->decoded.branch) {
	case LODE_BRANCH_JUMP:
	case LODE_BRANCH_CONDITIONAL:
		return source;
	default:
		return UINT32_MAX;
	}
}

/* The instruction that always runs before the first one of a block; UINT32_MAX: several may. */
static uint32_t find_before_block(LodeAccessWalk *walk, uint32_t i)
{
	uint64_t address = instruction_at(walk->flow, i)->address;

	if (walk->targets == NULL || walk->has_indirect_jumps ||
		is_seen_target(walk->flow, address))
		return UINT32_MAX;
	if (!lode_access_walk_falls_into(walk, i))
		return only_jump_to(walk, address);
	/* a block that begins for another reason, as one that was seen to be jumped to */
	if (instruction_at(walk->flow, i - 1)->decoded.branch != LODE_BRANCH_CONDITIONAL)
		return UINT32_MAX;
	return has_target(walk, i - 1, i) ? UINT32_MAX : i - 1;
}

uint32_t lode_access_walk_before(LodeAccessWalk *walk, uint32_t i)
{
	if (i == 0)
		return UINT32_MAX;
	if (block_of(walk->flow, i)->first == i)
		return find_before_block(walk, i);
	return walk->targets != NULL && has_target(walk, i - 1, i) ? UINT32_MAX : i - 1;
}

bool lode_access_is_opaque(const LodeFullInstruction *full, const LodeDecodedInstruction *decoded)
{
	ZydisInstructionCategory category = full->instruction.meta.category;

	switch (decoded->branch) {
	case LODE_BRANCH_NONE:
	case LODE_BRANCH_CONDITIONAL:
	case LODE_BRANCH_JUMP:
		return category == ZYDIS_CATEGORY_INTERRUPT || category == ZYDIS_CATEGORY_SYSCALL ||
		       full->instruction.mnemonic == ZYDIS_MNEMONIC_XBEGIN;
	default:
		return true;
	}
}

/* One instruction back from *i. A reason, or NONE with `full` decoded, `state` as before it and *i
 * its number. */
static LodeAddressReason step_back(LodeAccessWalk *walk, uint32_t *i)
{
	LodeAccessSearch *search = walk->search;
	uint32_t before = lode_access_walk_before(walk, *i);
	const LodeStaticInstruction *instruction;

	if (before == UINT32_MAX)
		return LODE_REASON_BRANCH_TARGET;
	instruction = instruction_at(walk->flow, before);
	if (!lode_access_search_decode(search, instruction->address) ||
		search->full.instruction.length != instruction->decoded.length)
		return LODE_REASON_NO_DECODE;
	if (lode_access_is_opaque(&search->full, &instruction->decoded))
		return LODE_REASON_BLOCKED;
	lode_backward_undo(&search->full, &search->state);
	*i = before;
	return LODE_REASON_NONE;
}

static void walk_back(LodeAccessWalk *walk, uint32_t i)
{
	for (unsigned n = 0; n < LODE_ACCESS_SEARCH_STEPS; n++) {
		LodeAddressReason reason = step_back(walk, &i);

		if (reason != LODE_REASON_NONE) {
			lode_access_search_fail(walk->search, reason);
			return;
		}
		if (lode_access_search_take(walk->search, LODE_RULE_BACKWARD))
			return;
	}
	lode_access_search_fail(walk->search, LODE_REASON_NO_ACCESS_IN_RANGE);
}

bool lode_access_walk_init(LodeAccessWalk *self, LodeAccessSearch *search, uint32_t *out_number)
{
	const LodeDataAccessQuestion *question = search->question;
	const LodeControlFlow *flow = question->flow;
	uint32_t i = flow != NULL ? lode_control_flow_find(flow, question->pc) : UINT32_MAX;

	*self = (LodeAccessWalk){.search = search, .flow = flow, .targets = question->targets};
	if (i == UINT32_MAX) {
		lode_access_search_fail(search, LODE_REASON_NO_DECODE);
		return false;
	}
	self->has_indirect_jumps = may_jump_indirectly(self->targets, flow);
	if (self->has_indirect_jumps && (self->targets == NULL || !self->targets->has_tables)) {
		lode_access_search_fail(search, LODE_REASON_BRANCH_TARGET);
		return false;
	}
	*out_number = i;
	return true;
}

const LodeStaticInstruction *lode_access_walk_at(const LodeAccessWalk *self, uint32_t number)
{
	return instruction_at(self->flow, number);
}

bool lode_access_walk_is_unverified(const LodeAccessWalk *self, uint32_t number)
{
	return self->targets == NULL || self->has_indirect_jumps || self->has_ignored ||
	       !block_of(self->flow, number)->is_reachable;
}

void lode_access_search_backward(LodeAccessSearch *self)
{
	LodeAccessWalk walk;
	uint32_t i;

	if (!lode_access_walk_init(&walk, self, &i))
		return;
	if (instruction_at(walk.flow, i)->decoded.is_repeat) {
		/* it may have run in part already, and then was itself the last */
		lode_access_search_fail(self, LODE_REASON_BRANCH_TARGET);
		return;
	}
	walk_back(&walk, i);
	if (self->found.rule == LODE_RULE_BACKWARD)
		self->found.is_unverified = lode_access_walk_is_unverified(&walk, i);
}
