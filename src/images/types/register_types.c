/* SPDX-License-Identifier: MIT */
/*
 * A register that an instruction writes and that is not followed here becomes unknown: Zydis lists
 * all that are written, hidden operands too.
 */
#include "images/types/register_types.h"

#include "base/arrays/partition_point.h"
#include "images/dwarf/function_variables.h"
#include "images/dwarf/unit_index.h"
#include "images/elf/thread_block.h"
#include "images/instructions/instruction_effect.h"
#include "images/types/go_maps.h"

#include <string.h>

enum {
	POINTER_BITS = 64,
	POINTER_BYTES = 8,
	MAX_ARRAY_STEP = 1 << 30,
	LOWEST_ADDRESS = 1 << 16, /* of Linux, for what programs map (vm.mmap_min_addr) */
};

static const LodeHeldValue NOTHING = {0};

uint32_t lode_unknown_of(uint64_t address, int number)
{
	enum { N_OF_AN_ADDRESS = 32 };

	return (uint32_t)(address * N_OF_AN_ADDRESS) + (uint32_t)number + 1;
}

bool lode_register_types_decode(
	LodeFullInstruction *out_full, const LodeElfImage *image, uint64_t address)
{
	const LodeElfRange *range = lode_elf_file_find_range(image->file, address);

	if (range == NULL)
		return false;
	out_full->bias = 0;
	return lode_full_instruction_decode(out_full, range->bytes + (address - range->address),
		range->size - (address - range->address), address);
}

static bool is_vector(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
	       class == ZYDIS_REGCLASS_ZMM;
}

/* How an instruction uses what it accesses. Moves of whole vectors copy whatever it is. */
static LodeNumberKind kind_of_use(
	const LodeFullInstruction *full, const ZydisDecodedOperand *operand)
{
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_CVTSI2SD:
	case ZYDIS_MNEMONIC_CVTSI2SS:
	case ZYDIS_MNEMONIC_VCVTSI2SD:
	case ZYDIS_MNEMONIC_VCVTSI2SS:
		return LODE_NUMBER_SIGNED;
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_DIV:
		return LODE_NUMBER_UNSIGNED;
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
		/* the name of a string instruction, too */
		return is_vector(full->operands[0].reg.value) ||
		                       is_vector(full->operands[1].reg.value)
		               ? LODE_NUMBER_FLOAT
		               : LODE_NUMBER_INTEGER;
	default:
		break;
	}
	if (full->instruction.meta.category == ZYDIS_CATEGORY_DATAXFER &&
		full->instruction.mnemonic != ZYDIS_MNEMONIC_MOV)
		return LODE_NUMBER_UNKNOWN;
	switch (operand->element_type) {
	case ZYDIS_ELEMENT_TYPE_FLOAT32:
	case ZYDIS_ELEMENT_TYPE_FLOAT64:
	case ZYDIS_ELEMENT_TYPE_FLOAT80:
		return LODE_NUMBER_FLOAT;
	case ZYDIS_ELEMENT_TYPE_INT:
	case ZYDIS_ELEMENT_TYPE_UINT:
		return LODE_NUMBER_INTEGER;
	default:
		return LODE_NUMBER_UNKNOWN;
	}
}

static bool read_memory(const LodeFullInstruction *full, const ZydisDecodedOperand *operand,
	LodeMemoryOperand *out_memory)
{
	LodeMemoryOperand memory = {.base = -1, .index = -1};

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || is_vector(operand->mem.index))
		return false;
	memory.displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
	if (operand->mem.base == ZYDIS_REGISTER_RIP)
		memory.displacement += (int64_t)(full->address + full->instruction.length);
	else if (operand->mem.base != ZYDIS_REGISTER_NONE)
		memory.base = lode_general_register(operand->mem.base);
	if (operand->mem.index != ZYDIS_REGISTER_NONE)
		memory.index = lode_general_register(operand->mem.index);
	memory.is_absolute = memory.base < 0 &&
	                     (memory.index < 0 || operand->mem.base == ZYDIS_REGISTER_NONE);
	memory.scale = operand->mem.scale;
	memory.is_thread = operand->mem.segment == ZYDIS_REGISTER_FS;
	memory.is_segmented = memory.is_thread || operand->mem.segment == ZYDIS_REGISTER_GS;
	memory.shape = (LodeAccessShape){operand->size / 8, kind_of_use(full, operand)};
	/* a variable's range begins after the store that gives it its value */
	memory.valid_from = full->address;
	if (lode_operand_is_written(operand) &&
		(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) == 0)
		memory.valid_from += full->instruction.length;
	*out_memory = memory;
	return true;
}

bool lode_register_types_memory(
	const LodeFullInstruction *full, uint8_t operand, LodeMemoryOperand *out_memory)
{
	if (operand >= full->instruction.operand_count ||
		full->operands[operand].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return false;
	return read_memory(full, &full->operands[operand], out_memory);
}

/* The object that a value leads to, whatever the instruction. */
static bool find_object(
	const LodeFunctionContext *context, const LodeHeldValue *value, LodeDataPlace *out_place)
{
	if (context->types == NULL)
		return false;
	switch (value->kind) {
	case LODE_HELD_VALUE_POINTER:
		*out_place = (LodeDataPlace){.type = value->type, .offset = value->offset};
		return true;
	case LODE_HELD_VALUE_ADDRESS:
		return lode_data_place_static(context, (uint64_t)value->offset, out_place);
	case LODE_HELD_VALUE_FRAME:
		return lode_data_place_frame(
			context, LODE_ANY_ADDRESS, NULL, value->offset, out_place);
	case LODE_HELD_VALUE_THREAD_LOCAL:
		return lode_data_place_thread_local(context, (uint64_t)value->offset, out_place);
	default:
		return false;
	}
}

static bool is_address(const LodeHeldValue *value)
{
	return value->kind == LODE_HELD_VALUE_POINTER || value->kind == LODE_HELD_VALUE_ADDRESS ||
	       value->kind == LODE_HELD_VALUE_FRAME || value->kind == LODE_HELD_VALUE_THREAD_LOCAL;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/* `offset` + `step` × the unknown value `unknown`; step 0: exact, unknown 0: not told apart. An
 * offset stays also with a step of 1: the index i + 42 of an array in a structure most likely
 * begins at its 42nd element. */
typedef struct {
	int64_t offset, step;
	uint32_t unknown;
} Number;

static bool is_number(const LodeHeldValue *value)
{
	return value->kind == LODE_HELD_VALUE_NUMBER || value->kind == LODE_HELD_VALUE_NONE ||
	       value->kind == LODE_HELD_VALUE_ZERO;
}

static Number number_of(const LodeHeldValue *value)
{
	switch (value->kind) {
	case LODE_HELD_VALUE_ZERO:
		return (Number){0};
	case LODE_HELD_VALUE_NUMBER:
		return (Number){value->offset, value->step, value->type};
	default:
		return (Number){0, 1, value->type};
	}
}

static LodeHeldValue held_number(int64_t offset, int64_t step, uint32_t unknown)
{
	/* the unknown value's sign is not kept */
	if (step < 0)
		return held_number(offset, -step, 0);
	if (step > MAX_ARRAY_STEP || offset > MAX_ARRAY_STEP || offset < -MAX_ARRAY_STEP)
		return NOTHING;
	if (step == 0 && offset == 0)
		return (LodeHeldValue){.kind = LODE_HELD_VALUE_ZERO};
	if (step == 1 && offset == 0)
		return (LodeHeldValue){.type = unknown};
	return (LodeHeldValue){.kind = LODE_HELD_VALUE_NUMBER,
		.offset = offset,
		.step = (uint32_t)step,
		.type = step == 0 ? 0 : unknown};
}

/* Pointer arithmetic by multiples of a number of bytes. */
static LodeHeldValue moved_by_step(LodeHeldValue value, int64_t step)
{
	if (!is_address(&value) || step > MAX_ARRAY_STEP)
		return NOTHING;
	value.step = (uint32_t)common_divisor(value.step, step);
	return value;
}

/* The thread pointer, perhaps with an index of steps of so many bytes, made the address of a
 * thread-local variable. */
static LodeHeldValue moved_into_thread(const LodeHeldValue *pointer, LodeHeldValue variable)
{
	return pointer->offset == 0 ? variable : moved_by_step(variable, pointer->offset);
}

/* Pointer arithmetic by a constant. */
static LodeHeldValue moved(const LodeFunctionContext *context, LodeHeldValue value, int64_t by)
{
	if (value.kind == LODE_HELD_VALUE_THREAD_POINTER)
		return by == 0 ? value
		               : moved_into_thread(&value, lode_held_value_of_thread(context, by));
	if (!is_address(&value) || __builtin_add_overflow(value.offset, by, &value.offset))
		return NOTHING;
	return value;
}

/* Pointer arithmetic by a register, times `scale`. */
static LodeHeldValue moved_by_index(LodeHeldValue value, const LodeHeldValue *index, int64_t scale)
{
	Number number = is_number(index) ? number_of(index) : (Number){0, 1, 0};
	int64_t step = number.step * (scale < 0 ? -scale : scale);

	if (value.kind == LODE_HELD_VALUE_THREAD_POINTER && value.offset == 0 &&
		number.offset == 0 && step <= MAX_ARRAY_STEP) {
		value.offset = step;
		return value;
	}
	if (__builtin_add_overflow(value.offset, number.offset * scale, &value.offset))
		return NOTHING;
	return moved_by_step(value, step);
}

static bool is_same(const LodeFunctionContext *context, uint32_t a, uint32_t b)
{
	return a == b || (context->types != NULL && a != LODE_NO_TYPE && b != LODE_NO_TYPE &&
				 lode_type_table_get(context->types, a)->canonical ==
					 lode_type_table_get(context->types, b)->canonical);
}

static bool is_equal(const LodeHeldValue *a, const LodeHeldValue *b)
{
	return a->kind == b->kind && a->step == b->step && a->type == b->type &&
	       a->offset == b->offset && a->variable == b->variable;
}

/* The sum of two numbers, the second times `scale`: 8 i - i is 7 i, 8 i + 4 k a multiple of 4. */
static LodeHeldValue sum_of_numbers(const LodeHeldValue *a, const LodeHeldValue *b, int64_t scale)
{
	Number first = number_of(a), second = number_of(b);
	int64_t offset = first.offset + second.offset * scale;

	if (!is_number(a) || !is_number(b))
		return NOTHING;
	second.step *= scale;
	if (first.unknown != 0 && first.unknown == second.unknown)
		return held_number(offset, first.step + second.step, first.unknown);
	if (first.step == 0 || second.step == 0)
		return held_number(
			offset, first.step + second.step, first.unknown | second.unknown);
	return held_number(offset, common_divisor(first.step, second.step), 0);
}

static LodeHeldValue meet_addresses(
	const LodeFunctionContext *context, LodeHeldValue a, const LodeHeldValue *b)
{
	LodeDataPlace place;
	int64_t apart;

	if (a.kind == LODE_HELD_VALUE_POINTER && !is_same(context, a.type, b->type))
		return NOTHING;
	if (__builtin_sub_overflow(b->offset, a.offset, &apart) || apart < -MAX_ARRAY_STEP ||
		apart > MAX_ARRAY_STEP)
		return NOTHING;
	if (apart != 0 && (!find_object(context, &a, &place) ||
				  !lode_data_place_recurs(context, &place, apart)))
		return NOTHING;
	a.step = (uint32_t)common_divisor(common_divisor(a.step, b->step), apart);
	if (a.variable != b->variable)
		a.variable = NULL;
	return a;
}

/* A value only ever goes from zero to an exact one, to one plus multiples of a step, and from a
 * number to a divisor of it, to nothing: so the iteration over the blocks ends. */
static LodeHeldValue meet(const LodeFunctionContext *context, LodeHeldValue a, LodeHeldValue b)
{
	if (is_equal(&a, &b))
		return a;
	if (a.kind == LODE_HELD_VALUE_ZERO && is_address(&b))
		return b;
	if (b.kind == LODE_HELD_VALUE_ZERO && is_address(&a))
		return a;
	if (is_number(&a) && is_number(&b)) {
		Number first = number_of(&a), second = number_of(&b);
		int64_t step = common_divisor(first.step, second.step);

		step = common_divisor(step, second.offset - first.offset);
		return step == 1 ? NOTHING : held_number(first.offset, step, 0);
	}
	return a.kind == b.kind && is_address(&a) ? meet_addresses(context, a, &b) : NOTHING;
}

static void set_slot(LodeRegisterTypes *state, int64_t offset, uint32_t size, LodeHeldValue value)
{
	uint8_t n = 0;

	for (uint8_t i = 0; i < state->n_slots; i++)
		if (state->slots[i].offset >= offset + (int64_t)size ||
			state->slots[i].offset + POINTER_BYTES <= offset)
			state->slots[n++] = state->slots[i];
	/* not constants: they are many */
	if (value.kind != LODE_HELD_VALUE_NONE && size == POINTER_BYTES &&
		(value.kind != LODE_HELD_VALUE_NUMBER || value.step > 0) &&
		n < LODE_MAX_TRACKED_SLOTS) {
		state->slots[n].offset = offset;
		state->slots[n++].value = value;
	}
	state->n_slots = n;
}

static LodeHeldValue get_slot(const LodeRegisterTypes *state, int64_t offset)
{
	for (uint8_t i = 0; i < state->n_slots; i++)
		if (state->slots[i].offset == offset)
			return state->slots[i].value;
	return NOTHING;
}

/* The offset in the frame that an operand without an index is at. */
static bool frame_slot(
	const LodeRegisterTypes *state, const LodeMemoryOperand *memory, int64_t *out_offset)
{
	const LodeHeldValue *base = memory->base < 0 ? &NOTHING : &state->registers[memory->base];

	return base->kind == LODE_HELD_VALUE_FRAME && base->step == 0 && memory->index < 0 &&
	       !memory->is_segmented &&
	       !__builtin_add_overflow(base->offset, memory->displacement, out_offset) &&
	       INT32_MIN < *out_offset && *out_offset < INT32_MAX;
}

/* Loads that lead to thread-local variables: fs:0 is the thread pointer itself (System V ABI for
 * x86-64, 3.4.6), and a slot of the global offset table holds an offset from it. */
static LodeHeldValue load_thread(
	const LodeFunctionContext *context, const LodeMemoryOperand *memory)
{
	const LodeThreadBlock *block = lode_elf_image_thread_block(context->image);
	uint64_t offset;

	if (block == NULL || !memory->is_absolute || memory->index >= 0)
		return NOTHING;
	if (memory->is_segmented)
		return memory->is_thread && memory->displacement == 0
		               ? (LodeHeldValue){.kind = LODE_HELD_VALUE_THREAD_POINTER}
		               : NOTHING;
	if (!lode_thread_block_slot(
		    block, (uint64_t)memory->displacement, LODE_THREAD_SLOT_OFFSET, &offset))
		return NOTHING;
	return (LodeHeldValue){.kind = LODE_HELD_VALUE_THREAD_OFFSET, .offset = (int64_t)offset};
}

static LodeHeldValue load(const LodeFunctionContext *context, const LodeRegisterTypes *state,
	const LodeMemoryOperand *memory, uint64_t address)
{
	LodeHeldValue value = NOTHING;
	LodeDataPlace place;
	int64_t offset;

	if (memory->shape.size != POINTER_BYTES)
		return NOTHING;
	value = load_thread(context, memory);
	if (frame_slot(state, memory, &offset))
		value = get_slot(state, offset);
	/* a pointer's declaration says more than that it is a multiple of a number, or an address
	 * below the frame */
	bool is_vague = is_number(&value) ||
	                (value.kind == LODE_HELD_VALUE_FRAME && value.step != 0);
	if (is_vague && value.kind != LODE_HELD_VALUE_ZERO && context->types != NULL &&
		lode_data_place_find(context, address, state, memory, &place)) {
		LodeHeldValue declared = lode_data_place_load(context, &place);
		if (declared.kind != LODE_HELD_VALUE_NONE)
			value = declared;
	}
	return value;
}

/* A constant below zero, by which an executable finds a thread-local variable from the thread
 * pointer. */
static LodeHeldValue thread_offset(const LodeFunctionContext *context, int64_t constant)
{
	LodeHeldValue value = lode_held_value_of_thread(context, constant);

	if (value.kind == LODE_HELD_VALUE_THREAD_LOCAL)
		value.kind = LODE_HELD_VALUE_THREAD_OFFSET;
	return value;
}

/* The largest power of two that a number is a multiple of; 0: it is 0. */
static int64_t power_of(const Number *number)
{
	int64_t divisor = common_divisor(number->step, number->offset);

	return divisor & -divisor;
}

/* The value of the lower 32 bits: a multiple of 24 modulo 2³² is a multiple of 8. */
static LodeHeldValue lower_half(LodeHeldValue value)
{
	Number number = number_of(&value);

	if (value.kind != LODE_HELD_VALUE_NUMBER)
		return value.kind == LODE_HELD_VALUE_ZERO ? value : NOTHING;
	if (number.step == 0)
		return held_number((int64_t)(uint32_t)number.offset, 0, 0);
	return held_number(number.offset, number.step & -number.step, 0);
}

/* The value of an operand that is read. */
static LodeHeldValue read_operand(const LodeFunctionContext *context,
	const LodeRegisterTypes *state, const LodeFullInstruction *full, int i)
{
	const ZydisDecodedOperand *operand = &full->operands[i];
	LodeMemoryOperand memory;

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size >= POINTER_BITS / 2) {
		int number = lode_general_register(operand->reg.value);

		if (number < 0)
			return NOTHING;
		return operand->size == POINTER_BITS ? state->registers[number]
		                                     : lower_half(state->registers[number]);
	}
	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		(operand->imm.value.u < LOWEST_ADDRESS || operand->imm.value.u >= INT32_MAX ||
			!context->image->file->is_fixed))
		return held_number(operand->imm.value.s, 0, 0);
	/* perhaps a variable's address: whether one lies there is checked when it is used */
	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return (LodeHeldValue){
			.kind = LODE_HELD_VALUE_ADDRESS, .offset = (int64_t)operand->imm.value.u};
	if (read_memory(full, operand, &memory))
		return load(context, state, &memory, full->address);
	return NOTHING;
}

static LodeHeldValue multiplied(LodeHeldValue value, int64_t factor)
{
	Number number = number_of(&value);

	if (!is_number(&value) || factor < 1 || factor > MAX_ARRAY_STEP)
		return NOTHING;
	return held_number(number.offset * factor, number.step * factor, number.unknown);
}

/* A counter or a pointer plus a constant. A counter that begins at 0 and goes by 24 becomes a
 * multiple of 24. */
static LodeHeldValue stepped(const LodeFunctionContext *context, LodeHeldValue value, int64_t by)
{
	Number number = number_of(&value);

	if (!is_number(&value))
		return moved(context, value, by);
	return by < -MAX_ARRAY_STEP || by > MAX_ARRAY_STEP
	               ? NOTHING
	               : held_number(number.offset + by, number.step, number.unknown);
}

static LodeHeldValue read_address(const LodeFunctionContext *context,
	const LodeRegisterTypes *state, const LodeFullInstruction *full)
{
	static const LodeHeldValue zero = {.kind = LODE_HELD_VALUE_ZERO};
	const LodeHeldValue *base, *index;
	LodeMemoryOperand memory;
	LodeHeldValue value;

	if (!read_memory(full, &full->operands[1], &memory) ||
		full->operands[0].size != POINTER_BITS)
		return NOTHING;
	if (memory.is_absolute && memory.index < 0 && memory.displacement < 0)
		return thread_offset(context, memory.displacement);
	if (memory.is_absolute && memory.index < 0)
		return (LodeHeldValue){
			.kind = LODE_HELD_VALUE_ADDRESS, .offset = memory.displacement};
	base = memory.base < 0 ? &zero : &state->registers[memory.base];
	if (memory.index < 0)
		return stepped(context, *base, memory.displacement);
	index = &state->registers[memory.index];
	if (!is_address(base) && memory.scale == 1 && is_address(index)) {
		const LodeHeldValue *swap = base;

		base = index;
		index = swap;
	}
	/* (%rax,%rax,2), three times */
	if (is_number(base) && is_number(index)) {
		LodeHeldValue by = held_number(memory.displacement, 0, 0);

		value = sum_of_numbers(base, index, memory.scale);
		return sum_of_numbers(&value, &by, 1);
	}
	value = moved_by_index(*base, index, memory.scale);
	return moved(context, value, memory.displacement);
}

/* A thread-local variable's offset from the thread pointer, and that. */
static bool is_thread_sum(const LodeHeldValue *a, const LodeHeldValue *b)
{
	return a->kind == LODE_HELD_VALUE_THREAD_POINTER &&
	       b->kind == LODE_HELD_VALUE_THREAD_OFFSET;
}

static LodeHeldValue sum(const LodeFunctionContext *context, LodeHeldValue a, LodeHeldValue b)
{
	if (is_thread_sum(&b, &a))
		return sum(context, b, a);
	if (is_thread_sum(&a, &b)) {
		b.kind = LODE_HELD_VALUE_THREAD_LOCAL;
		return moved_into_thread(&a, b);
	}
	if (a.kind == LODE_HELD_VALUE_THREAD_POINTER)
		return moved_by_index(a, &b, 1);
	if (b.kind == LODE_HELD_VALUE_THREAD_POINTER)
		return moved_by_index(b, &a, 1);
	if (is_address(&a) && !is_address(&b))
		return moved_by_index(a, &b, 1);
	if (is_address(&b) && !is_address(&a))
		return moved_by_index(b, &a, 1);
	return sum_of_numbers(&a, &b, 1);
}

static LodeHeldValue add_or_subtract(const LodeFunctionContext *context,
	const LodeRegisterTypes *state, const LodeFullInstruction *full)
{
	LodeHeldValue target = read_operand(context, state, full, 0), amount;
	LodeInstructionEffect effect;

	lode_instruction_effect_of(&effect, full);
	const bool is_add = effect.operation == LODE_OPERATION_ADD;
	if (lode_effect_is_constant(&effect, 1)) {
		int64_t by = effect.operands[1].constant;

		/* programs at fixed addresses have those of arrays as constants */
		if (is_add && !effect.keeps_carry && !is_address(&target) && by > 0) {
			LodeHeldValue array = read_operand(context, state, full, 1);
			LodeDataPlace place;

			if (find_object(context, &array, &place))
				return moved_by_index(array, &target, 1);
		}
		return stepped(context, target, is_add || by == INT64_MIN ? by : -by);
	}
	if (is_add && lode_effect_is_of_itself(&effect))
		return multiplied(target, 2);
	amount = read_operand(context, state, full, 1);
	if (is_add)
		return sum(context, target, amount);
	if (is_number(&target))
		return sum_of_numbers(&target, &amount, -1);
	return is_address(&amount) ? NOTHING : moved_by_index(target, &amount, 1);
}

/* A number after some of its bits are cleared. */
static LodeHeldValue masked(const LodeFunctionContext *context, const LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	int64_t kept = 1;

	for (int i = 0; i < 2; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];
		LodeHeldValue value = read_operand(context, state, full, i);
		Number number = number_of(&value);
		int64_t power = is_number(&value) ? power_of(&number) : 1;

		if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			power = (int64_t)(operand->imm.value.u & (0 - operand->imm.value.u));
		if (power == 0)
			return (LodeHeldValue){.kind = LODE_HELD_VALUE_ZERO};
		kept = MAX(kept, power);
	}
	return held_number(0, kept, 0);
}

static int64_t immediate_of(const LodeFullInstruction *full, int i)
{
	const ZydisDecodedOperand *operand = &full->operands[i];

	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? operand->imm.value.s : 0;
}

static LodeHeldValue shifted_right(LodeHeldValue value, int64_t by)
{
	Number number = number_of(&value);

	if (!is_number(&value) || by < 1 || by > 30 || number.offset < 0 ||
		(number.step != 0 && number.offset % (INT64_C(1) << by) != 0) ||
		number.step % (INT64_C(1) << by) != 0)
		return NOTHING;
	return held_number(number.offset >> by, number.step >> by, 0);
}

/* The value of the first operand after the instruction, if known. */
static LodeHeldValue result_of(const LodeFunctionContext *context, const LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *operands = full->operands;

	switch (lode_instruction_operation(&full->instruction)) {
	case LODE_OPERATION_MOVE: {
		LodeHeldValue offset = thread_offset(context, immediate_of(full, 1));
		return offset.kind != LODE_HELD_VALUE_NONE ? offset
		                                           : read_operand(context, state, full, 1);
	}
	case LODE_OPERATION_ADDRESS:
		return read_address(context, state, full);
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_SUBTRACT:
		return add_or_subtract(context, state, full);
	case LODE_OPERATION_XOR:
		return operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		                       operands[0].reg.value == operands[1].reg.value
		               ? (LodeHeldValue){.kind = LODE_HELD_VALUE_ZERO}
		               : NOTHING;
	case LODE_OPERATION_SHIFT_LEFT:
		return immediate_of(full, 1) > 0 && immediate_of(full, 1) < 31
		               ? multiplied(read_operand(context, state, full, 0),
					 INT64_C(1) << immediate_of(full, 1))
		               : NOTHING;
	case LODE_OPERATION_SHIFT_RIGHT:
	case LODE_OPERATION_SHIFT_RIGHT_SIGNED:
		return shifted_right(read_operand(context, state, full, 0), immediate_of(full, 1));
	case LODE_OPERATION_AND:
		return masked(context, state, full);
	case LODE_OPERATION_EXTEND_SIGN: /* cdqe is not followed */
		return full->instruction.operand_count_visible == 2
		               ? read_operand(context, state, full, 1)
		               : NOTHING;
	case LODE_OPERATION_MULTIPLY:
		return full->instruction.operand_count_visible == 3
		               ? multiplied(read_operand(context, state, full, 1),
					 immediate_of(full, 2))
		               : NOTHING;
	default:
		return NOTHING;
	}
}

static void forget_written(LodeRegisterTypes *state, const LodeFullInstruction *full)
{
	for (uint8_t i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];
		int number = lode_operand_register(operand);

		if (number >= 0 && lode_operand_is_written(operand))
			state->registers[number] = NOTHING;
	}
}

/* A slot of the frame that the instruction writes to: `value` when it is a plain store. */
static void write_memory(LodeRegisterTypes *before, LodeRegisterTypes *state,
	const LodeFullInstruction *full, LodeHeldValue value)
{
	for (uint8_t i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];
		LodeMemoryOperand memory;
		int64_t offset;

		if (lode_operand_is_written(operand) && read_memory(full, operand, &memory) &&
			frame_slot(before, &memory, &offset))
			set_slot(state, offset, memory.shape.size, i == 0 ? value : NOTHING);
	}
}

/* `lea rax, [descriptor]; call [rax]` gives an offset from the thread pointer in rax, and changes
 * no other register. */
static bool call_descriptor(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	const LodeThreadBlock *block = lode_elf_image_thread_block(context->image);
	const ZydisDecodedOperand *target = &full->operands[0];
	int base = target->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	                           target->mem.index == ZYDIS_REGISTER_NONE &&
	                           target->mem.disp.value == 0
	                   ? lode_general_register(target->mem.base)
	                   : -1;
	uint64_t offset;

	if (block == NULL || base < 0 || state->registers[base].kind != LODE_HELD_VALUE_ADDRESS ||
		!lode_thread_block_slot(block, (uint64_t)state->registers[base].offset,
			LODE_THREAD_SLOT_DESCRIPTOR, &offset))
		return false;
	state->registers[0] = (LodeHeldValue){
		.kind = LODE_HELD_VALUE_THREAD_OFFSET, .offset = (int64_t)offset};
	return true;
}

static void call(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	/* rax rcx rdx rsi rdi r8 … r11, which a function need not keep (System V ABI for x86-64,
	 * 3.2.1) */
	static const uint8_t CLOBBERED[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
	/* and rbx r12 r13 r15 (Go internal ABI specification) */
	static const uint8_t CLOBBERED_BY_GO[] = {3, 12, 13, 15};
	enum { RBX = 3, FIRST_ARGUMENT = 7 }; /* rdi */
	const LodeThreadBlock *block = lode_elf_image_thread_block(context->image);
	LodeHeldValue argument = state->registers[FIRST_ARGUMENT];
	uint64_t offset;
	uint64_t after = full->address + full->instruction.length;
	uint64_t target = full->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
	                          ? after + (uint64_t)full->operands[0].imm.value.s
	                          : 0;

	const bool is_go = context->unit != NULL && context->unit->is_go;
	const LodeHeldValue element = is_go ? lode_go_map_result(context, &state->registers[0],
						      &state->registers[RBX], target)
	                                    : NOTHING;

	for (size_t i = 0; i < G_N_ELEMENTS(CLOBBERED); i++)
		state->registers[CLOBBERED[i]] = NOTHING;
	for (size_t i = 0; is_go && i < G_N_ELEMENTS(CLOBBERED_BY_GO); i++)
		state->registers[CLOBBERED_BY_GO[i]] = NOTHING;
	if (argument.kind == LODE_HELD_VALUE_ADDRESS && block != NULL &&
		lode_thread_block_slot(
			block, (uint64_t)argument.offset, LODE_THREAD_SLOT_MODULE, &offset)) {
		/* of __tls_get_addr, which alone is given such slots */
		state->registers[0] = (LodeHeldValue){
			.kind = LODE_HELD_VALUE_THREAD_LOCAL, .offset = (int64_t)offset};
		return;
	}
	if (context->types != NULL && context->unit != NULL)
		state->registers[0] = lode_held_value_of_type(
			context->types, lode_data_place_call_type(context, after, target));
	if (element.kind != LODE_HELD_VALUE_NONE)
		state->registers[0] = element;
}

static void push_or_pop(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	LodeHeldValue stack = state->registers[LODE_REGISTER_RSP];
	bool is_push = lode_instruction_operation(&full->instruction) == LODE_OPERATION_PUSH;
	LodeHeldValue value = is_push ? read_operand(context, state, full, 0) : NOTHING;
	bool is_known = stack.kind == LODE_HELD_VALUE_FRAME &&
	                full->operands[0].size == POINTER_BITS;
	int64_t offset = stack.offset;

	if (is_known && !is_push)
		value = get_slot(state, offset);
	forget_written(state, full);
	if (!is_push && full->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && is_known)
		state->registers[lode_general_register(full->operands[0].reg.value)] = value;
	if (!is_known || offset <= INT32_MIN || offset >= INT32_MAX)
		return;
	if (is_push)
		set_slot(state, offset - POINTER_BYTES, POINTER_BYTES, value);
	stack.offset += is_push ? -POINTER_BYTES : POINTER_BYTES;
	state->registers[LODE_REGISTER_RSP] = stack;
}

static void leave(LodeRegisterTypes *state)
{
	LodeHeldValue frame = state->registers[LODE_REGISTER_RBP];

	state->registers[LODE_REGISTER_RBP] = NOTHING;
	state->registers[LODE_REGISTER_RSP] = NOTHING;
	if (frame.kind != LODE_HELD_VALUE_FRAME || frame.offset >= INT32_MAX)
		return;
	state->registers[LODE_REGISTER_RBP] = get_slot(state, frame.offset);
	frame.offset += POINTER_BYTES;
	state->registers[LODE_REGISTER_RSP] = frame;
}

static void plain(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *target = &full->operands[0];
	LodeHeldValue value = result_of(context, state, full);
	LodeRegisterTypes before = *state;
	int number = lode_operand_register(target);

	if (lode_instruction_operation(&full->instruction) == LODE_OPERATION_MOVE_IF &&
		target->size == POINTER_BITS)
		value = meet(context, read_operand(context, state, full, 0),
			read_operand(context, state, full, 1));
	forget_written(state, full);
	write_memory(&before, state, full, value);
	if (number < 0 || !lode_operand_is_written(target) || target->size < POINTER_BITS / 2)
		return;
	/* A write of 32 bits clears the upper half (Intel SDM vol. 1, 3.4.1.1): a zero and an
	 * address below 2³¹ are whole then, a pointer is not. */
	if (target->size < POINTER_BITS && value.kind != LODE_HELD_VALUE_ZERO &&
		value.kind != LODE_HELD_VALUE_ADDRESS)
		value = lower_half(value);
	/* what is allocated below an array on the stack is not of the array */
	if (number == LODE_REGISTER_RSP && value.kind == LODE_HELD_VALUE_POINTER)
		value = NOTHING;
	if (value.type == 0 && (value.kind == LODE_HELD_VALUE_NONE ||
				       (value.kind == LODE_HELD_VALUE_NUMBER && value.step == 1)))
		value.type = lode_unknown_of(full->address, LODE_N_GENERAL_REGISTERS);
	state->registers[number] = value;
}

void lode_register_types_step(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	switch (lode_instruction_operation(&full->instruction)) {
	case LODE_OPERATION_CALL:
		if (!call_descriptor(context, state, full))
			call(context, state, full);
		break;
	case LODE_OPERATION_PUSH:
	case LODE_OPERATION_POP:
		push_or_pop(context, state, full);
		break;
	case LODE_OPERATION_LEAVE:
		leave(state);
		break;
	case LODE_OPERATION_MARK:
	case LODE_OPERATION_NOTHING:
		break;
	default:
		if (full->instruction.operand_count > 0)
			plain(context, state, full);
		break;
	}
}

void lode_register_types_learn(const LodeFunctionContext *context, LodeRegisterTypes *state,
	uint64_t since, uint64_t address)
{
	for (int i = 0; context->variables != NULL && i < LODE_N_GENERAL_REGISTERS; i++) {
		const GArray *places = context->variables->in_registers[i];
		guint k = LODE_PARTITION_POINT(
			places->len, n, g_array_index(places, LodeVariablePlace, n).low < since);

		for (; k < places->len; k++) {
			const LodeVariablePlace *place = &g_array_index(
				places, LodeVariablePlace, k);
			LodeHeldValue value;

			if (place->low > address)
				break;
			if (place->high <= address)
				continue;
			value = lode_held_value_of_variable(context->types, place);
			/* instructions have shown more: an exact offset, or any element */
			if (value.kind == LODE_HELD_VALUE_POINTER && i != LODE_REGISTER_RSP &&
				!is_address(&state->registers[i]))
				state->registers[i] = value;
		}
	}
}

bool lode_register_types_meet(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeRegisterTypes *other)
{
	bool is_changed = false;
	uint8_t n = 0;

	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++) {
		LodeHeldValue value = meet(context, state->registers[i], other->registers[i]);

		is_changed |= !is_equal(&value, &state->registers[i]);
		state->registers[i] = value;
	}
	for (uint8_t i = 0; i < state->n_slots; i++) {
		LodeHeldValue there = get_slot(other, state->slots[i].offset);
		LodeHeldValue value = meet(context, state->slots[i].value, there);

		is_changed |= !is_equal(&value, &state->slots[i].value);
		if (value.kind == LODE_HELD_VALUE_NONE)
			continue;
		state->slots[n].offset = state->slots[i].offset;
		state->slots[n++].value = value;
	}
	state->n_slots = n;
	return is_changed;
}
