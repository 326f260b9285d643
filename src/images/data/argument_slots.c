/* SPDX-License-Identifier: MIT */
/*
 * Code without optimisation stores its arguments first, and reads them from there:
 *
 *      push rbp
 *      mov  rbp, rsp
 *      mov  [rbp - 24], rdi     a slot: rdi is the same in the whole function, and so are these
 *      …                        bytes
 *      mov  rax, [rbp - 24]
 *
 * A slot is claimed only if, in the whole function,
 *   - nothing is called, and no jump leads elsewhere, in from elsewhere, or to an unknown place;
 *   - rbp is set once, and no other register gets an address of the frame: so no pointer leads
 * there;
 *   - only this one store by rbp writes these bytes, and nothing writes the register;
 *   - it stands before all jumps, all targets of jumps, and all loads from the frame.
 */
#include "images/data/argument_slots.h"

#include "images/code/control_flow.h"

enum { MAX_INSTRUCTIONS = 1000, MAX_FRAME_WRITES = 64 };

typedef struct {
	int64_t offset;          /* from rbp */
	unsigned size;           /* bytes */
	ZydisRegister register_; /* that was stored while it might be a slot; NONE */
	uint64_t address;        /* of the store */
} FrameWrite;

typedef struct {
	LodeAccessSearch *search;
	uint64_t first, last; /* instructions of the function */
	bool is_beginning;    /* neither a jump nor a load from the frame so far */
	bool is_end;          /* rbp is the caller's again: only ret may follow */
	uint32_t written;     /* general registers, after the frame was set */
	uint64_t lowest_target;
	FrameWrite writes[MAX_FRAME_WRITES];
	unsigned n_writes;
} Scan;

static bool is_move(const LodeFullInstruction *full, int target, int source)
{
	return full->instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
	       full->instruction.operand_width == 64 &&
	       lode_operand_register(&full->operands[0]) == target &&
	       lode_operand_register(&full->operands[1]) == source;
}

static bool is_of_frame(const ZydisDecodedOperand *operand, int base)
{
	return lode_general_register(operand->mem.base) == base &&
	       operand->mem.index == ZYDIS_REGISTER_NONE &&
	       operand->mem.segment != ZYDIS_REGISTER_FS &&
	       operand->mem.segment != ZYDIS_REGISTER_GS;
}

static bool is_by_stack(const ZydisDecodedOperand *operand)
{
	int base = lode_general_register(operand->mem.base);
	int index = lode_general_register(operand->mem.index);

	return base == LODE_REGISTER_RBP || base == LODE_REGISTER_RSP || index == LODE_REGISTER_RBP;
}

/* A plain read of the frame, or a store to a known place in it. */
static bool add_memory(Scan *self, const ZydisDecodedOperand *operand)
{
	const LodeFullInstruction *full = &self->search->full;

	if (!is_by_stack(operand))
		return true; /* no pointer leads to the frame */
	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return false;
	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
		self->is_beginning = false;
	if (!lode_operand_is_written(operand))
		return true;
	if (!is_of_frame(operand, LODE_REGISTER_RBP) || self->n_writes == MAX_FRAME_WRITES ||
		full->instruction.address_width != 64 || operand->size == 0)
		return false;
	bool is_plain = self->is_beginning && full->instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
	                lode_operand_register(&full->operands[1]) >= 0;
	self->writes[self->n_writes++] = (FrameWrite){
		.offset = operand->mem.disp.value,
		.size = operand->size / 8,
		.register_ = is_plain ? full->operands[1].reg.value : ZYDIS_REGISTER_NONE,
		.address = full->address,
	};
	return true;
}

/* rsp and rbp only as the stack and the frame. */
static bool add_register(Scan *self, const ZydisDecodedOperand *operand)
{
	ZydisInstructionCategory category = self->search->full.instruction.meta.category;
	int number = lode_operand_register(operand);

	if (number < 0)
		return true;
	if (number == LODE_REGISTER_RBP)
		return self->is_end;
	if (number == LODE_REGISTER_RSP)
		return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		       (self->is_end || category == ZYDIS_CATEGORY_RET);
	if (lode_operand_is_written(operand))
		self->written |= 1u << number;
	return true;
}

static bool add_operands(Scan *self)
{
	const LodeFullInstruction *full = &self->search->full;

	for (uint8_t i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];
		bool is_fine = operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		                               operand->visibility !=
		                                       ZYDIS_OPERAND_VISIBILITY_HIDDEN
		                       ? add_memory(self, operand)
		                       : add_register(self, operand);

		if (!is_fine)
			return false;
	}
	return true;
}

static bool add_jump(Scan *self, const LodeDecodedInstruction *decoded)
{
	self->is_beginning = false;
	if (!decoded->has_target || decoded->target <= self->first || decoded->target > self->last)
		return false;
	self->lowest_target = MIN(self->lowest_target, decoded->target);
	return true;
}

/* False: nothing can be said of this function. */
static bool add_instruction(Scan *self, const LodeStaticInstruction *instruction)
{
	LodeAccessSearch *search = self->search;
	const LodeFullInstruction *full = &search->full;
	ZydisMnemonic mnemonic;

	if (!lode_access_search_decode(search, instruction->address) ||
		full->instruction.length != instruction->decoded.length)
		return false;
	mnemonic = full->instruction.mnemonic;
	if (self->is_end && mnemonic != ZYDIS_MNEMONIC_RET)
		return false;
	switch (instruction->decoded.branch) {
	case LODE_BRANCH_NONE:
		self->is_end = mnemonic == ZYDIS_MNEMONIC_LEAVE ||
		               (mnemonic == ZYDIS_MNEMONIC_POP &&
				       lode_operand_register(&full->operands[0]) ==
					       LODE_REGISTER_RBP);
		return full->instruction.meta.category != ZYDIS_CATEGORY_SYSCALL &&
		       add_operands(self);
	case LODE_BRANCH_JUMP:
	case LODE_BRANCH_CONDITIONAL:
		return add_jump(self, &instruction->decoded) && add_operands(self);
	case LODE_BRANCH_RETURN:
		self->is_end = false;
		return add_operands(self);
	default:
		return false;
	}
}

/* Past endbr64, push rbp; mov rbp, rsp. 0: it does not begin so. */
static uint32_t skip_beginning(LodeAccessSearch *search, const LodeControlFlow *flow)
{
	const LodeFullInstruction *full = &search->full;

	for (uint32_t i = 0; i < MIN(flow->instructions->len, 4); i++) {
		uint64_t address =
			g_array_index(flow->instructions, LodeStaticInstruction, i).address;

		if (!lode_access_search_decode(search, address))
			return 0;
		if (is_move(full, LODE_REGISTER_RBP, LODE_REGISTER_RSP))
			return i + 1;
		if (full->instruction.mnemonic != ZYDIS_MNEMONIC_ENDBR64 &&
			(full->instruction.mnemonic != ZYDIS_MNEMONIC_PUSH ||
				lode_operand_register(&full->operands[0]) != LODE_REGISTER_RBP))
			return 0;
	}
	return 0;
}

/* Whether a jump from elsewhere leads past the beginning. */
static bool is_entered_elsewhere(const Scan *self)
{
	const LodeBranchTargets *targets = self->search->question->targets;

	if (targets == NULL)
		return true;
	for (guint i = lode_branch_targets_above(targets, self->last); i-- > 0;) {
		const LodeBranchTarget *target = &g_array_index(
			targets->targets, LodeBranchTarget, i);

		if (target->target <= self->first)
			return false;
		if (target->source != 0 &&
			(target->source < self->first || target->source > self->last))
			return true;
	}
	return false;
}

static bool is_only_write(const Scan *self, const FrameWrite *slot)
{
	for (unsigned i = 0; i < self->n_writes; i++) {
		const FrameWrite *other = &self->writes[i];

		if (other != slot && other->offset < slot->offset + (int64_t)slot->size &&
			slot->offset < other->offset + (int64_t)other->size)
			return false;
	}
	return true;
}

static unsigned choose(const Scan *self, const LodeRegisterState *state,
	LodeStackWrite out_slots[LODE_MAX_ARGUMENT_SLOTS])
{
	uint64_t pc = self->search->question->pc, frame, value;
	unsigned n = 0;

	if (!lode_register_state_read(state, ZYDIS_REGISTER_RBP, &frame))
		return 0;
	for (unsigned i = 0; i < self->n_writes && n < LODE_MAX_ARGUMENT_SLOTS; i++) {
		const FrameWrite *slot = &self->writes[i];

		if (slot->register_ == ZYDIS_REGISTER_NONE || slot->address >= pc ||
			slot->address >= self->lowest_target || !is_only_write(self, slot) ||
			(self->written & 1u << lode_general_register(slot->register_)) != 0 ||
			!lode_register_state_read(state, slot->register_, &value))
			continue;
		out_slots[n++] = (LodeStackWrite){
			frame + (uint64_t)slot->offset, value, slot->size, true};
	}
	return n;
}

unsigned lode_argument_slots_find(LodeAccessSearch *search, const LodeRegisterState *state,
	LodeStackWrite out_slots[LODE_MAX_ARGUMENT_SLOTS])
{
	const LodeControlFlow *flow = search->question->flow;
	Scan scan = {.search = search, .is_beginning = true, .lowest_target = UINT64_MAX};
	const GArray *all = flow->instructions;
	uint32_t i = skip_beginning(search, flow);

	if (i == 0 || all->len > MAX_INSTRUCTIONS)
		return 0;
	scan.first = g_array_index(all, LodeStaticInstruction, 0).address;
	scan.last = g_array_index(all, LodeStaticInstruction, all->len - 1).address;
	for (; i < all->len; i++) {
		const LodeStaticInstruction *it = &g_array_index(all, LodeStaticInstruction, i);

		/* the caller's rbp */
		if (it->address == search->question->pc && it->decoded.branch == LODE_BRANCH_RETURN)
			return 0;
		if (!add_instruction(&scan, it))
			return 0;
	}
	return is_entered_elsewhere(&scan) ? 0 : choose(&scan, state, out_slots);
}
