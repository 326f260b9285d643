/* SPDX-License-Identifier: MIT */
#include "images/code/size_arguments.h"

#include "images/instructions/instruction_effect.h"

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
static Value *find_slot(Search *self, const LodeEffectOperand *operand)
{
	const Value *pointer = operand->base >= 0 ? &self->state.registers[operand->base] : &other;

	if (operand->index != LODE_NO_REGISTER || pointer->kind != VALUE_STACK)
		return NULL;
	int64_t offset = -(pointer->number + operand->constant);
	if (offset <= 0 || offset > N_SLOTS * 8 || offset % 4 != 0)
		return NULL;
	return &self->state.slots[(offset + 7) / 8 - 1];
}

static Value read_operand(Search *self, const LodeEffectOperand *operand)
{
	const Value *slot;

	if (operand->kind == LODE_OPERAND_CONSTANT)
		return constant(operand->constant);
	if (operand->kind == LODE_OPERAND_REGISTER)
		return operand->bits >= 32 ? self->state.registers[operand->number] : other;
	if (operand->kind != LODE_OPERAND_MEMORY || operand->bits < 32)
		return other;
	slot = find_slot(self, operand);
	return slot != NULL && slot->kind != VALUE_NONE ? *slot : other;
}

static void write_operand(Search *self, const LodeEffectOperand *operand, Value value)
{
	Value *slot = operand->kind == LODE_OPERAND_MEMORY ? find_slot(self, operand) : NULL;

	/* A part of it, or an address that no longer is one. */
	if (operand->bits < 32 || (operand->bits == 32 && value.kind == VALUE_STACK))
		value = other;
	if (operand->kind == LODE_OPERAND_REGISTER)
		self->state.registers[operand->number] = value;
	else if (slot != NULL)
		*slot = value;
}

static Value load_address(Search *self, const LodeEffectOperand *operand)
{
	const Value none = constant(0);
	const Value *first = operand->base >= 0 ? &self->state.registers[operand->base] : &none;
	const Value *second = operand->index >= 0 ? &self->state.registers[operand->index] : &none;
	const Value displacement = constant(operand->constant);

	if (operand->base == LODE_OTHER_REGISTER)
		return other;
	if (first->kind == VALUE_STACK && operand->index < 0)
		return (Value){.kind = VALUE_STACK,
			.number = (int32_t)(first->number + operand->constant)};
	if (operand->index >= 0 && operand->scale != 1 && second->kind != VALUE_CONSTANT)
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

static void lose_written(Search *self, const LodeInstructionEffect *effect)
{
	for (unsigned i = 0; i < effect->n; i++)
		if (effect->operands[i].is_written)
			write_operand(self, &effect->operands[i], other);
	for (unsigned i = 0; i < N_REGISTERS; i++)
		if ((effect->writes >> i & 1) != 0)
			self->state.registers[i] = other;
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
static void call(Search *self, const LodeInstructionEffect *effect)
{
	static const uint8_t lost[] = {1, 2, 6, 7, 8, 9, 10, 11};
	bool is_indirect = !lode_effect_is_constant(effect, 0);
	const Value *given = &self->state.registers[argument_registers[0]];

	self->state.registers[REGISTER_RAX] = is_indirect && given->kind == VALUE_ARGUMENTS ? *given
	                                                                                    : other;
	for (size_t i = 0; i < sizeof(lost); i++)
		self->state.registers[lost[i]] = other;
}

static void push(Search *self, const LodeEffectOperand *operand)
{
	const Value value = read_operand(self, operand);

	move_stack(self, -8);
	Value *slot = top_of_stack(self);
	if (slot != NULL)
		*slot = value;
}

static void pop(Search *self, const LodeEffectOperand *operand)
{
	const Value *slot = top_of_stack(self);
	const Value value = slot != NULL && slot->kind != VALUE_NONE ? *slot : other;

	move_stack(self, 8);
	write_operand(self, operand, value);
}

/* What an operation makes of the values of operands 0 and 1; false: unknown. */
static bool combine(
	const LodeInstructionEffect *effect, const Value *before, const Value *by, Value *out)
{
	const bool is_zero = lode_effect_is_of_itself(effect);

	switch (effect->operation) {
	case LODE_OPERATION_ADD:
		*out = add(before, by, 1);
		return true;
	case LODE_OPERATION_SUBTRACT:
		*out = is_zero ? constant(0) : add(before, by, -1);
		return true;
	case LODE_OPERATION_XOR:
		*out = is_zero ? constant(0) : other;
		return true;
	case LODE_OPERATION_AND: /* rounding, also of the stack */
		*out = before->kind == VALUE_STACK ? other : mix(before, by);
		return true;
	case LODE_OPERATION_OR:
		*out = mix(before, by);
		return true;
	case LODE_OPERATION_SHIFT_LEFT:
		*out = shift_left(*before, by);
		return true;
	case LODE_OPERATION_SHIFT_RIGHT:
	case LODE_OPERATION_SHIFT_RIGHT_SIGNED:
		*out = shift_right(*before, by);
		return true;
	case LODE_OPERATION_MOVE:
	case LODE_OPERATION_EXTEND_SIGN:
		*out = *by;
		return true;
	case LODE_OPERATION_MOVE_IF:
		*out = join(before, by);
		return true;
	default:
		return false;
	}
}

static void follow(Search *self, const LodeInstructionEffect *effect)
{
	const LodeEffectOperand *operands = effect->operands;
	Value first, second, result;

	if (effect->keeps_carry) /* by one */
		return;
	switch (effect->operation) {
	case LODE_OPERATION_COMPARE:
	case LODE_OPERATION_TEST:
		return;
	case LODE_OPERATION_ADDRESS:
		write_operand(self, &operands[0], load_address(self, &operands[1]));
		return;
	case LODE_OPERATION_PUSH:
		push(self, &operands[0]);
		return;
	case LODE_OPERATION_POP:
		pop(self, &operands[0]);
		return;
	case LODE_OPERATION_LEAVE:
		self->state.registers[REGISTER_RSP] = self->state.registers[5];
		self->state.registers[5] = other;
		move_stack(self, 8);
		return;
	case LODE_OPERATION_MULTIPLY:
		first = read_operand(self, &operands[effect->n_visible - 2]);
		second = read_operand(self, &operands[effect->n_visible - 1]);
		write_operand(self, &operands[0], multiply(&first, &second));
		return;
	case LODE_OPERATION_MULTIPLY_WIDE:
		first = self->state.registers[REGISTER_RAX];
		second = read_operand(self, &operands[0]);
		lose_written(self, effect);
		self->state.registers[REGISTER_RAX] = multiply(&first, &second);
		return;
	case LODE_OPERATION_CALL:
		call(self, effect);
		return;
	default:
		first = read_operand(self, &operands[0]);
		second = read_operand(self, &operands[1]);
		if (combine(effect, &first, &second, &result))
			write_operand(self, &operands[0], result);
		else
			lose_written(self, effect);
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
static void leave(Search *self, const LodeInstructionEffect *effect, uint64_t next)
{
	const bool is_jump = effect->operation == LODE_OPERATION_JUMP;

	if ((is_jump || effect->operation == LODE_OPERATION_JUMP_IF) &&
		lode_effect_is_constant(effect, 0))
		join_at(self, next + (uint64_t)effect->operands[0].constant);
	if (is_jump || effect->operation == LODE_OPERATION_RETURN ||
		effect->operation == LODE_OPERATION_STOP)
		self->is_reached = false;
}

/* Once through the code, in the order of addresses. */
static void pass(Search *self)
{
	LodeInstructionEffect effect;
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
		if (!lode_instruction_effect_decode(
			    &effect, self->code + offset, self->size - offset)) {
			self->is_reached = false;
			offset++;
			continue;
		}
		offset += effect.length;
		if (!self->is_reached)
			continue;
		bool is_call = effect.operation == LODE_OPERATION_CALL ||
		               effect.operation == LODE_OPERATION_JUMP;
		if (is_call && self->call_at - at < effect.length)
			self->found = find_given(self);
		follow(self, &effect);
		leave(self, &effect, at + effect.length);
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
