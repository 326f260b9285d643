/* SPDX-License-Identifier: MIT */
#include "images/code/size_arguments.h"

#include "images/instructions/full_instruction.h"

#include <string.h>

enum {
	N_REGISTERS = 16,
	REGISTER_RAX = 0,
	REGISTER_RSP = 4,
	N_SLOTS = 64, /* of 8 bytes, below the return address */
	MAX_CODE = 1 << 14,
	MAX_PASSES = 4,
	N_ARGUMENTS = 6,
};

/* As numbered in instructions. */
static const uint8_t argument_registers[N_ARGUMENTS] = {7, 6, 2, 1, 8, 9};

/*
 * The known kind of a value. Where paths join, the worse of two holds:
 *
 *        nothing came yet
 *   constant    address of the stack
 *   arguments       │
 *            other
 */
typedef enum { VALUE_NONE, VALUE_CONSTANT, VALUE_ARGUMENTS, VALUE_STACK, VALUE_OTHER } ValueKind;

typedef struct {
	uint8_t kind;
	LodeArgumentMask arguments;
	uint8_t shift;  /* bits that were shifted out of arguments, to be rounded */
	int32_t number; /* of a constant, cut to 32 bits; of the stack, the offset from the entry's
	                 */
} Value;

typedef struct {
	Value registers[N_REGISTERS], slots[N_SLOTS];
} State;

typedef struct {
	const uint8_t *code;
	size_t size;
	uint64_t address, call_at;
	LodeArgumentMask wanted, found;
	State state;
	bool is_reached;   /* by the instruction before */
	bool is_changed;   /* a state that was joined before has become worse */
	GHashTable *joins; /* offset → State, where jumps go */
} Search;

static const Value other = {.kind = VALUE_OTHER};

static bool is_equal(const Value *a, const Value *b)
{
	return a->kind == b->kind && a->arguments == b->arguments && a->shift == b->shift &&
	       a->number == b->number;
}

static Value constant(int64_t number)
{
	return (Value){
		.kind = VALUE_CONSTANT, .number = (int32_t)CLAMP(number, INT32_MIN, INT32_MAX)};
}

static bool is_amount(const Value *value)
{
	return value->kind == VALUE_CONSTANT || value->kind == VALUE_ARGUMENTS;
}

/* A sum of the two, or one of them. */
static Value mix(const Value *a, const Value *b)
{
	Value mixed = {.kind = VALUE_CONSTANT, .number = INT32_MAX};

	if (!is_amount(a) || !is_amount(b))
		return other;
	if (a->kind == VALUE_ARGUMENTS || b->kind == VALUE_ARGUMENTS) {
		mixed.kind = VALUE_ARGUMENTS;
		mixed.number = 0;
		mixed.arguments = a->arguments | b->arguments;
		mixed.shift = MAX(a->shift, b->shift);
	}
	return mixed;
}

static Value join(const Value *a, const Value *b)
{
	if (a->kind == VALUE_NONE || is_equal(a, b))
		return *b;
	return b->kind == VALUE_NONE ? *a : mix(a, b);
}

static void join_state(State *into, const State *from, bool *out_is_changed)
{
	Value *values = (Value *)into;
	const Value *others = (const Value *)from;

	for (size_t i = 0; i < sizeof(State) / sizeof(Value); i++) {
		const Value joined = join(&values[i], &others[i]);
		if (!is_equal(&joined, &values[i])) {
			values[i] = joined;
			*out_is_changed = true;
		}
	}
}

/* The slot of the stack that an operand is, or NULL: none that is followed. */
static Value *find_slot(Search *self, const ZydisDecodedOperand *operand)
{
	int base = lode_general_register(operand->mem.base);
	const Value *pointer = base >= 0 ? &self->state.registers[base] : &other;

	if (operand->mem.index != ZYDIS_REGISTER_NONE || pointer->kind != VALUE_STACK)
		return NULL;
	int64_t offset = -(pointer->number + operand->mem.disp.value);
	if (offset <= 0 || offset > N_SLOTS * 8 || offset % 4 != 0)
		return NULL;
	return &self->state.slots[(offset + 7) / 8 - 1];
}

static Value read_operand(Search *self, const ZydisDecodedOperand *operand)
{
	int number = lode_operand_register(operand);
	const Value *slot;

	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return constant(operand->imm.value.s);
	if (number >= 0)
		return operand->size >= 32 ? self->state.registers[number] : other;
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->size < 32)
		return other;
	slot = find_slot(self, operand);
	return slot != NULL && slot->kind != VALUE_NONE ? *slot : other;
}

static void write_operand(Search *self, const ZydisDecodedOperand *operand, Value value)
{
	int number = lode_operand_register(operand);
	Value *slot = operand->type == ZYDIS_OPERAND_TYPE_MEMORY ? find_slot(self, operand) : NULL;

	if (number < 0 && slot == NULL)
		return;
	/* A part of it, or an address that no longer is one. */
	if (operand->size < 32 || (operand->size == 32 && value.kind == VALUE_STACK))
		value = other;
	if (number >= 0)
		self->state.registers[number] = value;
	else
		*slot = value;
}

static Value load_address(Search *self, const ZydisDecodedOperand *operand)
{
	int base = lode_general_register(operand->mem.base);
	int index = lode_general_register(operand->mem.index);
	const Value none = constant(0);
	const Value *first = base >= 0 ? &self->state.registers[base] : &none;
	const Value *second = index >= 0 ? &self->state.registers[index] : &none;
	const Value displacement = constant(operand->mem.disp.value);

	if (operand->mem.base == ZYDIS_REGISTER_RIP)
		return other;
	if (first->kind == VALUE_STACK && index < 0)
		return (Value){.kind = VALUE_STACK,
			.number = (int32_t)(first->number + operand->mem.disp.value)};
	if (index >= 0 && operand->mem.scale != 1 && second->kind != VALUE_CONSTANT)
		return other;
	const Value sum = mix(first, second);
	return mix(&sum, &displacement);
}

static Value add(const Value *a, const Value *b, int sign)
{
	if (a->kind == VALUE_STACK && b->kind == VALUE_CONSTANT)
		return (Value){.kind = VALUE_STACK, .number = a->number + sign * b->number};
	return mix(a, b);
}

/* A product with a constant is a number of things; of two arguments it is a size. */
static Value multiply(const Value *a, const Value *b)
{
	if (a->kind == VALUE_CONSTANT && b->kind == VALUE_CONSTANT)
		return constant(INT32_MAX);
	if (a->kind == VALUE_ARGUMENTS && b->kind == VALUE_ARGUMENTS)
		return mix(a, b);
	if (a->kind == VALUE_CONSTANT && a->number == 1)
		return *b;
	return b->kind == VALUE_CONSTANT && b->number == 1 ? *a : other;
}

static Value shift_left(Value value, const Value *by)
{
	if (value.kind != VALUE_ARGUMENTS || by->kind != VALUE_CONSTANT || by->number < 0 ||
		by->number > value.shift)
		return other;
	value.shift -= (uint8_t)by->number;
	return value;
}

static Value shift_right(Value value, const Value *by)
{
	if (value.kind != VALUE_ARGUMENTS || by->kind != VALUE_CONSTANT || by->number < 0 ||
		by->number + value.shift > 12)
		return other;
	value.shift += (uint8_t)by->number;
	return value;
}

static void lose_written(Search *self, const LodeFullInstruction *full)
{
	for (unsigned i = 0; i < full->instruction.operand_count; i++)
		if (lode_operand_is_written(&full->operands[i]))
			write_operand(self, &full->operands[i], other);
}

static void move_stack(Search *self, int64_t bytes)
{
	Value *pointer = &self->state.registers[REGISTER_RSP];

	if (pointer->kind == VALUE_STACK)
		pointer->number += (int32_t)bytes;
}

static Value *top_of_stack(Search *self)
{
	const Value *pointer = &self->state.registers[REGISTER_RSP];
	int64_t offset = pointer->kind == VALUE_STACK ? -(int64_t)pointer->number : 0;

	return offset > 0 && offset <= N_SLOTS * 8 && offset % 8 == 0
	               ? &self->state.slots[offset / 8 - 1]
	               : NULL;
}

/* The values of the registers in which the size is passed. */
static LodeArgumentMask find_given(const Search *self)
{
	Value product = {.kind = VALUE_NONE};

	for (unsigned i = 0; i < N_ARGUMENTS; i++) {
		const Value *given = &self->state.registers[argument_registers[i]];
		if ((self->wanted >> i & 1) != 0)
			product = product.kind == VALUE_NONE ? *given : multiply(&product, given);
	}
	return product.kind == VALUE_ARGUMENTS && product.shift == 0 ? product.arguments : 0;
}

/* A function called through a pointer that is given the size and gives back a number is taken to
 * round it up, as sqlite's do; what any other gives is not known. */
static void call(Search *self, const LodeFullInstruction *full)
{
	static const uint8_t lost[] = {1, 2, 6, 7, 8, 9, 10, 11};
	bool is_indirect = full->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
	const Value *given = &self->state.registers[argument_registers[0]];

	self->state.registers[REGISTER_RAX] = is_indirect && given->kind == VALUE_ARGUMENTS ? *given
	                                                                                    : other;
	for (size_t i = 0; i < sizeof(lost); i++)
		self->state.registers[lost[i]] = other;
}

static void push(Search *self, const LodeFullInstruction *full)
{
	const Value value = read_operand(self, &full->operands[0]);

	move_stack(self, -8);
	Value *slot = top_of_stack(self);
	if (slot != NULL)
		*slot = value;
}

static void pop(Search *self, const LodeFullInstruction *full)
{
	const Value *slot = top_of_stack(self);
	const Value value = slot != NULL && slot->kind != VALUE_NONE ? *slot : other;

	move_stack(self, 8);
	write_operand(self, &full->operands[0], value);
}

static bool is_zeroing(const LodeFullInstruction *full)
{
	return lode_operand_register(&full->operands[0]) >= 0 &&
	       full->operands[0].type == full->operands[1].type &&
	       full->operands[0].reg.value == full->operands[1].reg.value;
}

static void follow_update(Search *self, const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *to = &full->operands[0];
	const Value before = read_operand(self, to), by = read_operand(self, &full->operands[1]);

	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		write_operand(self, to, add(&before, &by, 1));
		return;
	case ZYDIS_MNEMONIC_SUB:
		write_operand(self, to, is_zeroing(full) ? constant(0) : add(&before, &by, -1));
		return;
	case ZYDIS_MNEMONIC_XOR:
		write_operand(self, to, is_zeroing(full) ? constant(0) : other);
		return;
	case ZYDIS_MNEMONIC_AND: /* rounding, also of the stack */
		write_operand(self, to, before.kind == VALUE_STACK ? other : mix(&before, &by));
		return;
	case ZYDIS_MNEMONIC_OR:
		write_operand(self, to, mix(&before, &by));
		return;
	case ZYDIS_MNEMONIC_SHL:
		write_operand(self, to, shift_left(before, &by));
		return;
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		write_operand(self, to, shift_right(before, &by));
		return;
	default:
		lose_written(self, full);
	}
}

static void follow(Search *self, const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *operands = full->operands;
	Value first, second;

	if (full->instruction.meta.category == ZYDIS_CATEGORY_CMOV) {
		first = read_operand(self, &operands[0]);
		second = read_operand(self, &operands[1]);
		write_operand(self, &operands[0], join(&first, &second));
		return;
	}
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSXD:
		write_operand(self, &operands[0], read_operand(self, &operands[1]));
		return;
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
		return;
	case ZYDIS_MNEMONIC_LEA:
		write_operand(self, &operands[0], load_address(self, &operands[1]));
		return;
	case ZYDIS_MNEMONIC_PUSH:
		push(self, full);
		return;
	case ZYDIS_MNEMONIC_POP:
		pop(self, full);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		self->state.registers[REGISTER_RSP] = self->state.registers[5];
		self->state.registers[5] = other;
		move_stack(self, 8);
		return;
	case ZYDIS_MNEMONIC_IMUL:
		if (full->instruction.operand_count_visible < 2) {
			lose_written(self, full);
			return;
		}
		first = read_operand(self, &operands[full->instruction.operand_count_visible - 2]);
		second = read_operand(self, &operands[full->instruction.operand_count_visible - 1]);
		write_operand(self, &operands[0], multiply(&first, &second));
		return;
	case ZYDIS_MNEMONIC_MUL:
		first = self->state.registers[REGISTER_RAX];
		second = read_operand(self, &operands[0]);
		lose_written(self, full);
		self->state.registers[REGISTER_RAX] = multiply(&first, &second);
		return;
	case ZYDIS_MNEMONIC_CALL:
		call(self, full);
		return;
	default:
		follow_update(self, full);
	}
}

static void join_at(Search *self, uint64_t target)
{
	void *key = GSIZE_TO_POINTER(target - self->address + 1);

	if (target - self->address >= self->size)
		return;
	State *there = g_hash_table_lookup(self->joins, key);
	if (there == NULL) {
		there = g_new0(State, 1);
		g_hash_table_insert(self->joins, key, there);
	}
	join_state(there, &self->state, &self->is_changed);
}

/* The next instruction is reached from here, or only by jumps. */
static void leave(Search *self, const LodeFullInstruction *full)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;
	uint64_t target;

	bool is_jump = instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
	if ((is_jump || instruction->meta.category == ZYDIS_CATEGORY_COND_BR) &&
		full->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(
			instruction, &full->operands[0], full->address, &target)))
		join_at(self, target);
	if (is_jump || instruction->meta.category == ZYDIS_CATEGORY_RET ||
		instruction->mnemonic == ZYDIS_MNEMONIC_UD2 ||
		instruction->mnemonic == ZYDIS_MNEMONIC_HLT)
		self->is_reached = false;
}

/* Once through the code, in the order of addresses. */
static void pass(Search *self)
{
	LodeFullInstruction full = {0};
	size_t offset = 0;

	while (offset < self->size) {
		uint64_t at = self->address + offset;
		const State *joined = g_hash_table_lookup(
			self->joins, GSIZE_TO_POINTER(offset + 1));
		bool is_worse = false;
		if (joined != NULL && self->is_reached)
			join_state(&self->state, joined, &is_worse);
		else if (joined != NULL)
			self->state = *joined;
		self->is_reached |= joined != NULL;
		if (!lode_full_instruction_decode(
			    &full, self->code + offset, self->size - offset, at)) {
			self->is_reached = false;
			offset++;
			continue;
		}
		offset += full.instruction.length;
		if (!self->is_reached)
			continue;
		bool is_call = full.instruction.meta.category == ZYDIS_CATEGORY_CALL ||
		               full.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
		if (is_call && self->call_at - at < full.instruction.length)
			self->found = find_given(self);
		follow(self, &full);
		leave(self, &full);
	}
}

static void enter(Search *self)
{
	for (unsigned i = 0; i < N_REGISTERS; i++)
		self->state.registers[i] = other;
	for (unsigned i = 0; i < N_SLOTS; i++)
		self->state.slots[i] = (Value){.kind = VALUE_NONE};
	for (unsigned i = 0; i < N_ARGUMENTS; i++)
		self->state.registers[argument_registers[i]] = (Value){
			.kind = VALUE_ARGUMENTS, .arguments = (uint8_t)(1 << i)};
	self->state.registers[REGISTER_RSP] = (Value){.kind = VALUE_STACK};
	self->is_reached = true;
	self->is_changed = false;
	self->found = 0;
}

LodeArgumentMask lode_size_arguments_find(const uint8_t *code, size_t size, uint64_t address,
	uint64_t return_address, LodeArgumentMask wanted)
{
	g_autoptr(GHashTable) joins = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	Search self = {
		.code = code,
		.size = size,
		.address = address,
		.call_at = return_address - 1,
		.wanted = wanted,
		.joins = joins,
	};

	if (size > MAX_CODE || self.call_at - address >= size)
		return 0;
	for (unsigned i = 0; i < MAX_PASSES; i++) {
		enter(&self);
		pass(&self);
		if (!self.is_changed)
			return self.found;
	}
	return 0; /* it did not settle: loops in which everything changes */
}
