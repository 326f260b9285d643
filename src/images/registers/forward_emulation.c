/* SPDX-License-Identifier: MIT */
/*
 * Each instruction reads from the state before it and writes over one in which all that it writes
 * is unknown already. So what a case here does not compute (an operand in memory, a flag that the
 * processor leaves undefined) stays unknown without being named.
 */
#include "images/registers/forward_emulation.h"

#include "base/bits.h"
#include "images/instructions/instruction_effect.h"
#include "images/registers/register_arithmetic.h"

static int64_t sign_extended(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* Reads as many bytes as the operand has; an immediate is extended to `width`. */
static bool read_operand(const LodeFullInstruction *full, const LodeRegisterState *state,
	unsigned i, unsigned width, uint64_t *out_value)
{
	const ZydisDecodedOperand *operand = &full->operands[i];

	if (i >= full->instruction.operand_count)
		return false;
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return lode_register_state_read(state, operand->reg.value, out_value);
	if (operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	*out_value = operand->imm.value.u & lode_low_bits(width);
	return true;
}

/* Writes over the register's value before the instruction, which has been made unknown: the bytes
 * that a small register leaves alone are as well known as before. */
static void put(const LodeRegisterState *before, LodeRegisterState *state, ZydisRegister name,
	uint64_t value)
{
	state->known |= before->known & 1U << lode_general_register(name);
	lode_register_state_write(state, name, value);
}

/* xor r,r; sub r,r; and r,0; or r,−1: the same whatever was in the register. */
static bool forgets_input(const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *a = &full->operands[0], *b = &full->operands[1];

	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
		return lode_operand_register(a) >= 0 && lode_operand_register(b) >= 0 &&
		       a->reg.value == b->reg.value;
	case ZYDIS_MNEMONIC_AND:
		return b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && b->imm.value.u == 0;
	case ZYDIS_MNEMONIC_OR:
		return b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && b->imm.value.s == -1;
	default:
		return false;
	}
}

static LodeArithmeticForm form_of(
	const LodeFullInstruction *full, const LodeArithmeticOperation *operation)
{
	if (full->instruction.mnemonic != ZYDIS_MNEMONIC_IMUL)
		return operation->form;
	switch (full->instruction.operand_count_visible) {
	case 2:
		return LODE_FORM_UPDATE_WITH;
	case 3:
		return LODE_FORM_FROM_TWO;
	default:
		return LODE_FORM_NONE; /* rdx:rax */
	}
}

static bool read_inputs(const LodeFullInstruction *full, const LodeRegisterState *state,
	const LodeArithmeticOperation *operation, LodeArithmeticInputs *out)
{
	LodeArithmeticForm form = form_of(full, operation);
	unsigned first = form == LODE_FORM_FROM || form == LODE_FORM_FROM_TWO;

	if (form == LODE_FORM_NONE || lode_operand_register(&full->operands[0]) < 0)
		return false;
	out->width = full->operands[0].size;
	if (operation->takes_carry) {
		if (!(state->known_flags & ZYDIS_CPUFLAG_CF))
			return false;
		out->carry = state->flags & ZYDIS_CPUFLAG_CF;
	}
	if (forgets_input(full)) {
		out->b = full->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
		                 ? full->operands[1].imm.value.u & lode_low_bits(out->width)
		                 : 0;
		return true;
	}
	out->width_a = full->operands[first].size;
	if (!read_operand(full, state, first, out->width, &out->a))
		return false;
	if (form == LODE_FORM_UPDATE || form == LODE_FORM_FROM)
		return true;
	return read_operand(full, state, first + 1, out->width, &out->b);
}

static void write_flags(LodeRegisterState *state, const LodeArithmeticResult *result)
{
	state->flags = (state->flags & ~result->known_flags) |
	               (result->flags & result->known_flags);
	state->known_flags |= result->known_flags;
}

static void compute(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	const LodeArithmeticOperation *operation = lode_arithmetic_operation(
		full->instruction.mnemonic);
	LodeArithmeticInputs in = {0};
	LodeArithmeticResult result = {0};

	if (operation == NULL || !read_inputs(full, before, operation, &in) ||
		!operation->compute(&in, &result))
		return;
	if (lode_operand_is_written(&full->operands[0]))
		put(before, state, full->operands[0].reg.value, result.value);
	if (result.keeps_flags) {
		state->flags = before->flags;
		state->known_flags = before->known_flags;
	} else {
		write_flags(state, &result);
	}
}

static void load_address(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	uint64_t address;

	if (lode_full_instruction_effective_address(full, before, 1, &address))
		put(before, state, full->operands[0].reg.value, address);
}

static void exchange(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	ZydisRegister first = full->operands[0].reg.value, second = full->operands[1].reg.value;
	uint64_t value;

	if (lode_register_state_read(before, second, &value))
		put(before, state, first, value);
	if (lode_register_state_read(before, first, &value))
		put(before, state, second, value);
}

/* A 32-bit cmov clears the upper half also when it does not move. */
static void move_if(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	uint64_t value;
	bool holds;

	if (!lode_register_state_condition(before, full->instruction.opcode & 0xf, &holds) ||
		!read_operand(full, before, holds ? 1 : 0, 64, &value))
		return;
	put(before, state, full->operands[0].reg.value, value);
}

static void set_if(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	bool holds;

	if (lode_register_state_condition(before, full->instruction.opcode & 0xf, &holds))
		put(before, state, full->operands[0].reg.value, holds);
}

/* The value that push and call write; false: unknown. */
static bool pushed_value(
	const LodeFullInstruction *full, const LodeRegisterState *before, uint64_t *out_value)
{
	if (full->instruction.meta.category == ZYDIS_CATEGORY_CALL) {
		*out_value = full->address + full->bias + full->instruction.length;
		return true;
	}
	/* pushfq has hidden operands alone, and not all flags are followed */
	return full->operands[0].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       read_operand(full, before, 0, 64, out_value);
}

static void push(const LodeFullInstruction *full, const LodeRegisterState *before,
	LodeRegisterState *state, LodeStackMemory *stack)
{
	uint64_t pointer, bytes = lode_full_instruction_stack_bytes(full);
	LodeStackWrite write = {.size = (unsigned)bytes};

	if ((bytes != 2 && bytes != 8) ||
		!lode_register_state_read(before, ZYDIS_REGISTER_RSP, &pointer)) {
		lode_stack_memory_forget(stack);
		return;
	}
	put(before, state, ZYDIS_REGISTER_RSP, pointer - bytes);
	write.address = pointer - bytes;
	write.is_known = pushed_value(full, before, &write.value);
	lode_stack_memory_write(stack, &write);
}

/* popf: the flags that conditions and string instructions take. */
static void take_flags(LodeRegisterState *state, uint64_t value)
{
	const LodeArithmeticResult result = {.flags = value,
		.known_flags = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF |
	                       ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_DF |
	                       ZYDIS_CPUFLAG_OF};

	write_flags(state, &result);
}

/* A popped register is written after rsp has advanced; pop rsp leaves the popped value. */
static void pop(const LodeFullInstruction *full, const LodeRegisterState *before,
	LodeRegisterState *state, const LodeStackMemory *stack)
{
	const ZydisDecodedOperand *target = &full->operands[0];
	bool has_target = lode_operand_register(target) >= 0 &&
	                  target->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	uint64_t pointer, value, bytes = lode_full_instruction_stack_bytes(full);

	if ((bytes != 2 && bytes != 8) ||
		!lode_register_state_read(before, ZYDIS_REGISTER_RSP, &pointer))
		return;
	if (!has_target || lode_general_register(target->reg.value) != LODE_REGISTER_RSP)
		put(before, state, ZYDIS_REGISTER_RSP, pointer + bytes);
	if (!lode_stack_memory_read(stack, pointer, (unsigned)bytes, &value))
		return;
	if (has_target)
		put(before, state, target->reg.value, value);
	else if (full->instruction.mnemonic == ZYDIS_MNEMONIC_POPFQ)
		take_flags(state, value);
}

static void leave(const LodeFullInstruction *full, const LodeRegisterState *before,
	LodeRegisterState *state, const LodeStackMemory *stack)
{
	uint64_t frame, value, bytes = lode_full_instruction_stack_bytes(full);

	if (bytes != 8 || !lode_register_state_read(before, ZYDIS_REGISTER_RBP, &frame))
		return;
	put(before, state, ZYDIS_REGISTER_RSP, frame + bytes);
	if (lode_stack_memory_read(stack, frame, (unsigned)bytes, &value))
		put(before, state, ZYDIS_REGISTER_RBP, value);
}

/* Operand 0 is the source; the registers are of its size. */
static void multiply_wide(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	unsigned width = full->operands[0].size;
	bool is_signed = full->instruction.mnemonic == ZYDIS_MNEMONIC_IMUL;
	uint64_t a, b;
	unsigned __int128 product;

	if (width < 32 || !read_operand(full, before, 0, width, &a) ||
		!lode_register_state_read(before, ZYDIS_REGISTER_RAX, &b))
		return;
	b &= lode_low_bits(width);
	if (is_signed)
		product = (unsigned __int128)((__int128)sign_extended(a, width) *
					      sign_extended(b, width));
	else
		product = (unsigned __int128)a * b;
	put(before, state, width == 64 ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX,
		(uint64_t)product);
	put(before, state, width == 64 ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX,
		(uint64_t)(product >> width));
}

/* rdx:rax by an operand, of the operand's size. */
typedef struct {
	unsigned width;
	uint64_t high, low, divisor;
} Division;

/* False: the quotient does not fit, or the divisor is 0: a trap (#DE). */
static bool divide_unsigned(const Division *in, uint64_t *out_quotient, uint64_t *out_remainder)
{
	unsigned __int128 dividend = (unsigned __int128)in->high << in->width | in->low;

	if (in->high >= in->divisor)
		return false;
	*out_quotient = (uint64_t)(dividend / in->divisor);
	*out_remainder = (uint64_t)(dividend % in->divisor);
	return true;
}

/* Dividends of more than 64 bits are left alone. */
static bool divide_signed(const Division *in, uint64_t *out_quotient, uint64_t *out_remainder)
{
	int64_t divisor = sign_extended(in->divisor, in->width);
	int64_t dividend = (int64_t)(in->width == 64 ? in->low : in->high << 32 | in->low);
	int64_t quotient;

	if (in->width == 64 && in->high != (dividend < 0 ? UINT64_MAX : 0))
		return false;
	if (divisor == 0 || (divisor == -1 && dividend == INT64_MIN))
		return false;
	quotient = dividend / divisor;
	if (quotient != sign_extended((uint64_t)quotient & lode_low_bits(in->width), in->width))
		return false;
	*out_quotient = (uint64_t)quotient;
	*out_remainder = (uint64_t)(dividend % divisor);
	return true;
}

static void divide(
	const LodeFullInstruction *full, const LodeRegisterState *before, LodeRegisterState *state)
{
	Division in = {.width = full->operands[0].size};
	bool is_signed = full->instruction.mnemonic == ZYDIS_MNEMONIC_IDIV;
	uint64_t quotient, remainder;

	if (in.width < 32 || !read_operand(full, before, 0, in.width, &in.divisor) ||
		!lode_register_state_read(before, ZYDIS_REGISTER_RAX, &in.low) ||
		!lode_register_state_read(before, ZYDIS_REGISTER_RDX, &in.high))
		return;
	in.low &= lode_low_bits(in.width);
	in.high &= lode_low_bits(in.width);
	if (!(is_signed ? divide_signed : divide_unsigned)(&in, &quotient, &remainder))
		return;
	put(before, state, in.width == 64 ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX, quotient);
	put(before, state, in.width == 64 ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX, remainder);
}

static void set_carry(const LodeRegisterState *before, LodeRegisterState *state, ZydisMnemonic how)
{
	const LodeArithmeticResult result = {.known_flags = ZYDIS_CPUFLAG_CF,
		.flags = how == ZYDIS_MNEMONIC_STC   ? ZYDIS_CPUFLAG_CF
	                 : how == ZYDIS_MNEMONIC_CMC ? ~before->flags
	                                             : 0};

	if (how != ZYDIS_MNEMONIC_CMC || before->known_flags & ZYDIS_CPUFLAG_CF)
		write_flags(state, &result);
}

static void run(const LodeFullInstruction *full, const LodeRegisterState *before,
	LodeRegisterState *state, LodeStackMemory *stack)
{
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		load_address(full, before, state);
		return;
	case ZYDIS_MNEMONIC_XCHG:
		exchange(full, before, state);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(full, before, state, stack);
		return;
	case ZYDIS_MNEMONIC_MUL:
		multiply_wide(full, before, state);
		return;
	case ZYDIS_MNEMONIC_IMUL:
		if (full->instruction.operand_count_visible == 1)
			multiply_wide(full, before, state);
		else
			compute(full, before, state);
		return;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		divide(full, before, state);
		return;
	case ZYDIS_MNEMONIC_WRFSBASE:
		state->has_fs_base = false;
		return;
	case ZYDIS_MNEMONIC_WRGSBASE:
		state->has_gs_base = false;
		return;
	case ZYDIS_MNEMONIC_STC:
	case ZYDIS_MNEMONIC_CLC:
	case ZYDIS_MNEMONIC_CMC:
		set_carry(before, state, full->instruction.mnemonic);
		return;
	default:
		break;
	}
	switch (full->instruction.meta.category) {
	case ZYDIS_CATEGORY_CMOV:
		move_if(full, before, state);
		break;
	case ZYDIS_CATEGORY_SETCC:
		set_if(full, before, state);
		break;
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_CALL:
		push(full, before, state, stack);
		break;
	case ZYDIS_CATEGORY_POP:
		pop(full, before, state, stack);
		break;
	default:
		compute(full, before, state);
		break;
	}
}

/* Whether a conditional jump is taken; false: not known. */
static bool decide(
	const LodeFullInstruction *full, const LodeRegisterState *state, bool *out_is_taken)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;
	uint64_t counter;

	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return false;
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
		/* the counter, after loop has decremented it: that was written before */
		if (!lode_register_state_read(state,
			    instruction->address_width == 32 ? ZYDIS_REGISTER_ECX
							     : ZYDIS_REGISTER_RCX,
			    &counter))
			return false;
		*out_is_taken = (counter == 0) == (instruction->mnemonic != ZYDIS_MNEMONIC_LOOP);
		return true;
	case ZYDIS_MNEMONIC_XBEGIN: /* a transaction may abort whatever the registers hold */
		return false;
	default:
		/* the opcode's low four bits are the condition (Intel SDM vol. 2, appendix B) */
		return lode_register_state_condition(
			state, instruction->opcode & 0xf, out_is_taken);
	}
}

static uint64_t target_of(const LodeFullInstruction *full)
{
	return full->address + full->instruction.length +
	       (uint64_t)full->instruction.raw.imm[0].value.s;
}

static bool is_trap(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_XABORT ||
		       lode_instruction_operation(instruction) == LODE_OPERATION_STOP;
	}
}

static void decrement_counter(LodeRegisterState *state, const ZydisDecodedInstruction *instruction,
	const LodeRegisterState *before)
{
	ZydisRegister name = instruction->address_width == 32 ? ZYDIS_REGISTER_ECX
	                                                      : ZYDIS_REGISTER_RCX;
	uint64_t counter;

	if (lode_register_state_read(before, name, &counter))
		put(before, state, name, counter - 1);
}

/* A jump or call through a register. */
static LodeStep go_through_register(
	const LodeFullInstruction *full, const LodeRegisterState *before, uint64_t *out_next)
{
	uint64_t target;

	if (full->instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
		lode_operand_register(&full->operands[0]) < 0 || full->operands[0].size != 64 ||
		!lode_register_state_read(before, full->operands[0].reg.value, &target))
		return LODE_STEP_BLOCKED;
	*out_next = target - full->bias;
	return LODE_STEP_COMPUTED;
}

static LodeStep branch(const LodeFullInstruction *full, const LodeRegisterState *before,
	LodeRegisterState *state, uint64_t *out_next)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;
	bool is_taken = true;

	if (instruction->meta.category == ZYDIS_CATEGORY_COND_BR) {
		if (instruction->mnemonic == ZYDIS_MNEMONIC_LOOP)
			decrement_counter(state, instruction, before);
		if (!decide(full, state, &is_taken))
			return LODE_STEP_LOST;
	} else if (!instruction->raw.imm[0].is_relative) {
		return go_through_register(full, before, out_next);
	}
	if (is_taken)
		*out_next = target_of(full);
	return LODE_STEP_ON;
}

static LodeStep go_back(const LodeFullInstruction *full, const LodeRegisterState *before,
	LodeRegisterState *state, const LodeStackMemory *stack, uint64_t *out_next)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;
	uint64_t pointer, target, bytes = lode_full_instruction_stack_bytes(full);
	uint64_t dropped = instruction->raw.imm[0].size > 0 ? instruction->raw.imm[0].value.u : 0;

	if (instruction->mnemonic != ZYDIS_MNEMONIC_RET ||
		instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || bytes != 8 ||
		!lode_register_state_read(before, ZYDIS_REGISTER_RSP, &pointer) ||
		!lode_stack_memory_read(stack, pointer, (unsigned)bytes, &target))
		return LODE_STEP_BLOCKED;
	put(before, state, ZYDIS_REGISTER_RSP, pointer + bytes + dropped);
	*out_next = target - full->bias;
	return LODE_STEP_COMPUTED;
}

/* Whether an instruction writes memory without an access operand, and is neither push nor call. */
static bool writes_anywhere(const LodeFullInstruction *full)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;

	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_CALL:
		return false;
	case ZYDIS_CATEGORY_CLZERO: /* whose operand is a register */
	case ZYDIS_CATEGORY_SGX:
		return true;
	default:
		break;
	}
	for (unsigned i = 0; i < instruction->operand_count; i++)
		if (full->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			lode_operand_is_written(&full->operands[i]))
			return true;
	return false;
}

LodeStep lode_forward_emulate(const LodeFullInstruction *full, LodeRegisterState *state,
	LodeStackMemory *stack, uint64_t *out_next)
{
	const LodeRegisterState before = *state;

	if (is_trap(&full->instruction))
		return LODE_STEP_BLOCKED;
	*out_next = full->address + full->instruction.length;
	/* the caller found no access: it is repeated 0 times, and writes nothing */
	if (full->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP)
		return LODE_STEP_ON;
	lode_register_state_forget_written(state, full);
	if (writes_anywhere(full))
		lode_stack_memory_forget(stack);
	run(full, &before, state, stack);
	switch (full->instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
		return branch(full, &before, state, out_next);
	case ZYDIS_CATEGORY_RET:
		return go_back(full, &before, state, stack, out_next);
	default:
		return LODE_STEP_ON;
	}
}
