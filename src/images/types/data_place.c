/* SPDX-License-Identifier: MIT */
/*
 * One operand may have several candidates: variables of functions that were inlined into each other
 * share a register. The one that suits the access best is taken, the first of equals.
 */
#include "images/types/data_place.h"

#include "images/dwarf/function_variables.h"
#include "images/dwarf/unit_index.h"
#include "images/elf/thread_block.h"
#include "images/types/go_maps.h"
#include "images/variants/data_symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* How well an object suits an access. */
typedef enum {
	FIT_NONE,
	FIT_ELEMENT, /* an element beside the one that is pointed to */
	FIT_BYTES,   /* some bytes of a scalar, or several */
	FIT_SCALAR,  /* a scalar of that size */
	FIT_INSIDE,  /* somewhere in a structure */
	FIT_MEMBER,  /* a member of that size, from its beginning */
} Fit;

/* An index register's step is some multiple of so many bytes. */
typedef struct {
	bool has_index;
	uint64_t bytes;
} Stride;

/* a[i - 2] is accessed two elements before the array's displacement; farther off is other data. */
enum { MAX_ELEMENTS_BEFORE = 16 };

static const Stride NO_STRIDE = {0};

bool lode_frame_address(Dwarf_CFI *frames, uint64_t address, int *out_register, int64_t *out_offset)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	bool is_found = false;
	size_t n;

	if (frames == NULL || dwarf_cfi_addrframe(frames, address, &frame) != 0)
		return false;
	/* libdw gives a rule of register and offset as one operation; an expression, as those of
	 * PLT entries and signal frames, has more and is not followed */
	if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1) {
		int number = -1;

		if (ops[0].atom == DW_OP_bregx) {
			number = lode_register_from_dwarf(ops[0].number);
			*out_offset = (int64_t)ops[0].number2;
		} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
			number = lode_register_from_dwarf(ops[0].atom - DW_OP_breg0);
			*out_offset = (int64_t)ops[0].number;
		}
		*out_register = number;
		is_found = number >= 0;
	}
	free(frame);
	return is_found;
}

LodeHeldValue lode_held_value_of_type(LodeTypeTable *types, uint32_t type)
{
	LodeHeldValue value = {0};

	if (type == LODE_NO_TYPE || lode_type_table_get(types, type)->kind != LODE_TYPE_POINTER)
		return value;
	value.type = lode_type_table_target(types, type);
	if (value.type == LODE_NO_TYPE ||
		lode_type_table_get(types, value.type)->kind == LODE_TYPE_OTHER)
		return value;
	/* an array that is pointed to is as good as its elements */
	value.kind = LODE_HELD_VALUE_POINTER;
	return value;
}

/* The type of the whole member at an offset of a type, read as a pointer; LODE_NO_TYPE: none, or
 * members of several types. */
static uint32_t pointer_inside(LodeTypeTable *types, uint32_t type, int64_t offset)
{
	static const LodeAccessShape POINTER = {sizeof(uint64_t), LODE_NUMBER_INTEGER};
	uint32_t element = lode_type_table_element(types, type), found = LODE_NO_TYPE;
	LodeFieldChoice choice;
	uint64_t step;

	if (element == LODE_NO_TYPE || offset < 0)
		return LODE_NO_TYPE;
	step = lode_type_table_size(types, element);
	if (step == 0)
		return LODE_NO_TYPE;
	if (element != type)
		offset = (int64_t)((uint64_t)offset % step);
	if (lode_type_table_get(types, element)->kind != LODE_TYPE_AGGREGATE)
		return offset == 0 && step == sizeof(uint64_t) ? element : LODE_NO_TYPE;
	choice = lode_data_place_fields(types, element, offset, &POINTER);
	if (!choice.is_whole || choice.n > LODE_MAX_FIELD_CHOICES)
		return LODE_NO_TYPE;
	for (uint32_t i = 0; i < choice.n; i++) {
		uint32_t member = choice.fields[i]->type == LODE_NO_TYPE
		                          ? LODE_NO_TYPE
		                          : lode_type_table_element(types, choice.fields[i]->type);

		if (member == LODE_NO_TYPE ||
			lode_type_table_get(types, member)->kind != LODE_TYPE_POINTER)
			continue;
		if (found != LODE_NO_TYPE && found != member)
			return LODE_NO_TYPE;
		found = member;
	}
	return found;
}

LodeHeldValue lode_held_value_of_variable(LodeTypeTable *types, const LodeVariablePlace *place)
{
	uint32_t type = place->type;
	LodeHeldValue value;

	if (lode_type_table_get(types, type)->kind == LODE_TYPE_AGGREGATE)
		type = pointer_inside(types, type, place->piece);
	value = lode_held_value_of_type(types, type);
	if (place->is_owner && lode_type_table_get(types, type)->kind == LODE_TYPE_ARRAY)
		value = (LodeHeldValue){.kind = LODE_HELD_VALUE_POINTER, .type = type};
	value.offset = value.kind == LODE_HELD_VALUE_POINTER ? place->offset : 0;
	if (place->is_owner && place->piece == 0 && value.kind == LODE_HELD_VALUE_POINTER)
		value.variable = place->name;
	else if (place->is_owner)
		value.kind = LODE_HELD_VALUE_NONE;
	return value;
}

/* Bytes from the beginning of a field's innermost element; UINT64_MAX: it is not there. */
static uint64_t inside_element(const LodeTypeField *field, uint64_t offset)
{
	if (offset < field->offset)
		return UINT64_MAX;
	offset -= field->offset;
	for (uint8_t i = 0; i < field->n_arrays; i++) {
		if (offset >= field->arrays[i].extent)
			return UINT64_MAX;
		offset %= field->arrays[i].stride;
	}
	return offset < MAX(field->element_size, 1) ? offset : UINT64_MAX;
}

enum { SUITS_NOT, SUITS_COVERS, SUITS_BEGINS, SUITS_BITS, SUITS_WHOLE };

static bool is_used(const LodeAccessShape *shape, int64_t first_bit, uint32_t n_bits)
{
	return shape->n_bits == 0 || (first_bit < shape->first_bit + shape->n_bits &&
					     shape->first_bit < first_bit + n_bits);
}

/* Bit fields are accessed by an integer that holds them, which may begin in the member before. */
static int suitability_of_bits(
	const LodeTypeField *field, uint64_t offset, const LodeAccessShape *shape)
{
	for (uint64_t i = 0; i < CLAMP(shape->size, 1, sizeof(uint64_t)); i++) {
		uint64_t inside = inside_element(field, offset + i);

		if (inside == UINT64_MAX)
			continue;
		if (!is_used(shape, ((int64_t)i - (int64_t)inside) * 8 + field->bit_offset,
			    field->bit_size))
			return SUITS_NOT;
		return shape->size > sizeof(uint64_t) ? SUITS_COVERS : SUITS_BITS;
	}
	return SUITS_NOT;
}

static int suitability(const LodeTypeField *field, uint64_t offset, const LodeAccessShape *shape)
{
	uint64_t inside;

	if (field->bit_size > 0)
		return suitability_of_bits(field, offset, shape);
	inside = inside_element(field, offset);
	if (inside == UINT64_MAX)
		return SUITS_NOT;
	if (inside > 0)
		return SUITS_COVERS;
	return field->element_size == shape->size || shape->size == 0 ? SUITS_WHOLE : SUITS_BEGINS;
}

/* How well the values of a field suit the instruction; the higher the better. */
static int agreement(LodeNumberKind field, LodeNumberKind use)
{
	bool has_sign = use == LODE_NUMBER_SIGNED || use == LODE_NUMBER_UNSIGNED;

	if (use == LODE_NUMBER_UNKNOWN)
		return 0;
	if ((field == LODE_NUMBER_FLOAT) != (use == LODE_NUMBER_FLOAT))
		return field == LODE_NUMBER_UNKNOWN ? 1 : 0;
	if (!has_sign || field == LODE_NUMBER_INTEGER || field == LODE_NUMBER_UNKNOWN)
		return 3;
	return field == use ? 4 : 2;
}

static bool is_flexible(const LodeTypeField *field)
{
	return field->n_arrays > 0 && field->arrays[0].extent == UINT64_MAX;
}

LodeFieldChoice lode_data_place_fields(
	LodeTypeTable *types, uint32_t type, int64_t offset, const LodeAccessShape *shape)
{
	enum { SUITABILITY = 16, BOUNDED = 8 };
	const GArray *fields = lode_type_table_fields(types, type);
	LodeFieldChoice choice = {0};
	int best = 0;

	for (guint i = 0; fields != NULL && offset >= 0 && i < fields->len; i++) {
		const LodeTypeField *field = &g_array_index(fields, LodeTypeField, i);
		int suits, score;

		if (field->offset > (uint64_t)offset &&
			(field->bit_size == 0 ||
				field->offset - (uint64_t)offset >= sizeof(uint64_t))) {
			/* the bytes of a wide access may begin in padding before */
			if (choice.n == 0 && field->offset - (uint64_t)offset < shape->size) {
				choice.fields[0] = field;
				choice.n = 1;
			}
			break;
		}
		suits = suitability(field, (uint64_t)offset, shape);
		score = suits * SUITABILITY + (is_flexible(field) ? 0 : BOUNDED) +
		        agreement(field->value, shape->kind);
		if (suits == SUITS_NOT || score < best)
			continue;
		if (score > best)
			choice.n = 0;
		best = score;
		if (choice.n < LODE_MAX_FIELD_CHOICES)
			choice.fields[choice.n] = field;
		choice.n++;
		choice.is_whole = suits == SUITS_WHOLE || field->bit_size > 0;
	}
	return choice;
}

static bool has_arrays(LodeTypeTable *types, uint32_t type)
{
	const GArray *fields = lode_type_table_fields(types, type);

	for (guint i = 0; fields != NULL && i < fields->len; i++)
		if (g_array_index(fields, LodeTypeField, i).stride > 0)
			return true;
	return false;
}

static int64_t wrap(int64_t offset, uint64_t size)
{
	int64_t rest = offset % (int64_t)size;

	return rest < 0 ? rest + (int64_t)size : rest;
}

static bool is_multiple(const Stride *stride, uint64_t size)
{
	return size % stride->bytes == 0 || stride->bytes % size == 0;
}

/* Whether an index may walk along one of the arrays that a field is in. */
static bool is_walked(const LodeTypeField *field, const Stride *stride)
{
	for (uint8_t i = 0; i < field->n_arrays; i++)
		if (is_multiple(stride, field->arrays[i].stride))
			return true;
	return false;
}

/* The array that begins some elements after the offset: the index skips its first elements. */
static const LodeTypeField *find_array_after(LodeTypeTable *types, uint32_t type, int64_t offset,
	const Stride *stride, const LodeAccessShape *shape)
{
	const GArray *fields = lode_type_table_fields(types, type);

	for (guint i = 0; fields != NULL && i < fields->len; i++) {
		const LodeTypeField *field = &g_array_index(fields, LodeTypeField, i);
		uint64_t step = field->stride;
		int64_t before;

		if (step == 0 || __builtin_sub_overflow((int64_t)field->offset, offset, &before) ||
			before <= 0 || before % (int64_t)step != 0 ||
			before / (int64_t)step > MAX_ELEMENTS_BEFORE || stride->bytes % step != 0)
			continue;
		if (field->element_size == shape->size || shape->size == 0)
			return field;
	}
	return NULL;
}

/* A structure that ends in a flexible array is not an element of an array. */
static bool has_flexible_array(LodeTypeTable *types, uint32_t type)
{
	const GArray *fields = lode_type_table_fields(types, type);

	return fields != NULL && fields->len > 0 &&
	       is_flexible(&g_array_index(fields, LodeTypeField, fields->len - 1));
}

/* An access with an index, by a pointer to a structure: to an array in it, or one of many. */
static Fit fit_indexed(LodeTypeTable *types, LodeDataPlace *place, const Stride *stride,
	const LodeAccessShape *shape)
{
	uint64_t size = lode_type_table_size(types, place->type);
	bool is_last = has_flexible_array(types, place->type);
	LodeFieldChoice choice = lode_data_place_fields(types, place->type, place->offset, shape);
	const LodeTypeField *array;

	place->is_element = true;
	if (!is_last && stride->bytes % size == 0) {
		place->offset = wrap(place->offset, size);
		return FIT_INSIDE;
	}
	for (uint32_t i = 0; i < MIN(choice.n, LODE_MAX_FIELD_CHOICES); i++)
		if (is_walked(choice.fields[i], stride))
			return FIT_INSIDE;
	/* by the step alone, what begins there and has the size is as good */
	array = choice.is_whole && stride->bytes == 1
	                ? NULL
	                : find_array_after(types, place->type, place->offset, stride, shape);
	if (array != NULL) {
		place->offset = (int64_t)array->offset;
		return FIT_INSIDE;
	}
	/* The step is known but for a factor (scale 8 of a structure of 24 bytes): one of many
	 * structures, unless the index may walk along an array in one. */
	if (is_last || !is_multiple(stride, size) ||
		(has_arrays(types, place->type) && !choice.is_whole))
		return FIT_NONE;
	place->offset = wrap(place->offset, size);
	return FIT_INSIDE;
}

static Fit fit_structure(LodeTypeTable *types, LodeDataPlace *place, const Stride *stride,
	const LodeAccessShape *shape)
{
	uint64_t size = lode_type_table_size(types, place->type);
	LodeFieldChoice choice;

	if (size == 0)
		return FIT_NONE;
	if (stride->has_index && fit_indexed(types, place, stride, shape) == FIT_NONE)
		return FIT_NONE;
	if (place->is_element && !has_flexible_array(types, place->type))
		place->offset = wrap(place->offset, size);
	choice = lode_data_place_fields(types, place->type, place->offset, shape);
	if (place->offset < 0 || (place->offset >= (int64_t)size &&
					 (choice.n == 0 || !is_flexible(choice.fields[0]))))
		return FIT_NONE;
	return choice.is_whole ? FIT_MEMBER : FIT_INSIDE;
}

static Fit fit_scalar(LodeTypeTable *types, LodeDataPlace *place, const Stride *stride,
	const LodeAccessShape *shape)
{
	uint64_t size = lode_type_table_size(types, place->type);

	if (size == 0)
		return FIT_NONE;
	place->is_element |= stride->has_index || place->offset < 0 ||
	                     place->offset >= (int64_t)size || shape->size > size;
	place->offset = wrap(place->offset, size);
	return place->offset == 0 && shape->size == size ? FIT_SCALAR : FIT_BYTES;
}

/* Makes the place one of a structure or scalar, not of an array, and says how well it suits. */
static Fit settle(LodeTypeTable *types, LodeDataPlace *place, const Stride *stride,
	const LodeAccessShape *shape)
{
	uint32_t element = lode_type_table_element(types, place->type);

	if (element == LODE_NO_TYPE)
		return FIT_NONE;
	if (element != place->type) {
		uint64_t size = lode_type_table_size(types, element);

		if (size == 0 ||
			(stride->has_index && !is_multiple(stride, size) &&
				lode_type_table_get(types, element)->kind == LODE_TYPE_AGGREGATE &&
				!has_arrays(types, element)))
			return FIT_NONE;
		place->type = element;
		place->is_element = true;
		place->offset = wrap(place->offset, size);
		/* the index chooses the element: the rest is an offset inside of one */
		if (!stride->has_index || is_multiple(stride, size))
			stride = &NO_STRIDE;
	}
	switch (lode_type_table_get(types, place->type)->kind) {
	case LODE_TYPE_AGGREGATE:
		return fit_structure(types, place, stride, shape);
	case LODE_TYPE_SCALAR:
	case LODE_TYPE_POINTER:
		return fit_scalar(types, place, stride, shape);
	default:
		return FIT_NONE;
	}
}

static bool is_at(const LodeVariablePlace *place, uint64_t address)
{
	return place->low <= address && address < place->high;
}

/* A variable that begins `inside` bytes before the accessed address. */
static bool take_variable(const LodeFunctionContext *context, const LodeVariablePlace *variable,
	int64_t inside, LodeDataPlace *out_place)
{
	uint64_t size = variable->is_reference
	                        ? sizeof(uint64_t)
	                        : lode_type_table_size(context->types, variable->type);

	if (inside < 0 || (uint64_t)inside >= MAX(size, 1))
		return false;
	*out_place = (LodeDataPlace){.type = variable->type,
		.offset = inside,
		.is_reference = variable->is_reference,
		.is_variable_itself = true,
		.is_home = variable->is_home,
		.is_owner = variable->is_owner,
		.variable = variable->name};
	return true;
}

/* Scopes share slots of the frame. */
static bool is_better(const LodeVariablePlace *variable, const LodeVariablePlace *best)
{
	if (best == NULL || variable->is_home != best->is_home)
		return best == NULL || variable->is_home;
	return variable->depth > best->depth;
}

/* The moment for which a variable is searched. One without a home is in its place only after an
 * instruction stores it there; a home is of the scope that the instruction is in. */
typedef struct {
	uint64_t address, valid_from;
} Moment;

static bool is_there(const LodeVariablePlace *variable, const Moment *moment)
{
	return moment->address == LODE_ANY_ADDRESS ||
	       is_at(variable, variable->is_home ? moment->address : moment->valid_from);
}

/* Where a variable begins, from the canonical frame address. */
static bool frame_offset(
	const LodeVariablePlace *variable, const LodeRegisterTypes *state, int64_t *out_offset)
{
	const LodeHeldValue *base;

	if (variable->kind == LODE_PLACE_AT_FRAME) {
		*out_offset = variable->offset;
		return true;
	}
	if (state == NULL)
		return false;
	base = &state->registers[variable->register_number];
	return variable->kind == LODE_PLACE_AT_REGISTER && base->kind == LODE_HELD_VALUE_FRAME &&
	       base->step == 0 &&
	       !__builtin_add_overflow(base->offset, variable->offset, out_offset);
}

static bool find_in_frame(const LodeFunctionContext *context, const Moment *moment,
	const LodeRegisterTypes *state, int64_t offset, LodeDataPlace *out_place)
{
	const LodeVariablePlace *best = NULL;
	const GArray *variables;

	if (context->variables == NULL)
		return false;
	variables = context->variables->in_memory;
	for (guint i = 0; i < variables->len; i++) {
		const LodeVariablePlace *variable = &g_array_index(variables, LodeVariablePlace, i);
		int64_t begin, inside;

		if (variable->low > moment->valid_from)
			break;
		if (is_there(variable, moment) && is_better(variable, best) &&
			frame_offset(variable, state, &begin) &&
			!__builtin_sub_overflow(offset, begin, &inside) &&
			take_variable(context, variable, inside, out_place))
			best = variable;
	}
	return best != NULL;
}

bool lode_data_place_frame(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, int64_t offset, LodeDataPlace *out_place)
{
	const Moment moment = {address, address};

	return find_in_frame(context, &moment, state, offset, out_place);
}

/* One that lies at an offset from the operand's own base register. */
static bool find_beside(const LodeFunctionContext *context, uint64_t address,
	const LodeMemoryOperand *operand, LodeDataPlace *out_place)
{
	const GArray *variables = context->variables->in_memory;
	const LodeVariablePlace *best = NULL;

	for (guint i = 0; i < variables->len; i++) {
		const LodeVariablePlace *variable = &g_array_index(variables, LodeVariablePlace, i);
		int64_t inside;

		if (variable->low > address)
			break;
		if (is_at(variable, address) && variable->is_home && is_better(variable, best) &&
			variable->kind == LODE_PLACE_AT_REGISTER &&
			variable->register_number == operand->base &&
			!__builtin_sub_overflow(operand->displacement, variable->offset, &inside) &&
			take_variable(context, variable, inside, out_place))
			best = variable;
	}
	return best != NULL;
}

static bool find_static_local(
	const LodeFunctionContext *context, uint64_t address, LodeDataPlace *out_place)
{
	const GArray *variables = context->variables->in_memory;

	for (guint i = 0; i < variables->len; i++) {
		const LodeVariablePlace *variable = &g_array_index(variables, LodeVariablePlace, i);

		if (variable->kind == LODE_PLACE_AT_ADDRESS &&
			take_variable(
				context, variable, (int64_t)address - variable->offset, out_place))
			return true;
	}
	return false;
}

static bool take_die(const LodeFunctionContext *context, const Dwarf_Die *die, int64_t inside,
	LodeDataPlace *out_place)
{
	Dwarf_Die variable = *die;
	Dwarf_Attribute attribute;
	LodeVariablePlace place = {0};

	place.type = lode_type_table_add_type_of(context->types, &variable);
	place.name = dwarf_formstring(dwarf_attr_integrate(&variable, DW_AT_name, &attribute));
	if (place.type == LODE_NO_TYPE)
		return false;
	place.is_owner = dwarf_tag(&variable) == DW_TAG_variable &&
	                 lode_type_table_is_owned(context->types, place.type);
	return take_variable(context, &place, inside, out_place);
}

static bool find_in_unit(
	const LodeFunctionContext *context, uint64_t address, LodeDataPlace *out_place)
{
	const LodeUnitVariable *variable;

	if (context->unit == NULL)
		return false;
	variable = lode_unit_index_find_variable(context->unit, address);
	return variable != NULL &&
	       take_die(context, &variable->die, (int64_t)(address - variable->address), out_place);
}

/* The variable of one of the lists of all units. */
static bool find_in_list(const LodeFunctionContext *context, LodeVariableList list,
	uint64_t address, LodeDataPlace *out_place)
{
	uint64_t begin;
	const Dwarf_Die *die = lode_type_table_find_variable(context->types, list, address, &begin);

	return die != NULL && take_die(context, die, (int64_t)(address - begin), out_place);
}

/* Whether debug information may declare the variable of a symbol inside a function: "count.0",
 * "main.count", a static local of C++, a common block of Fortran. Symbols that compilers make
 * themselves, such as tables of virtual functions, are not searched: reading functions takes long.
 */
static bool is_maybe_local(const char *linked)
{
	size_t length = strlen(linked);

	if (g_str_has_prefix(linked, "_Z"))
		return strncmp(linked, "_ZZ", 3) == 0 || strchr(linked, '.') != NULL;
	return strchr(linked, '.') != NULL || (length > 1 && linked[length - 1] == '_');
}

/* Takes the type from a declaration in the unit, else from the unit that defines the variable. */
static bool type_symbol(const LodeFunctionContext *context, const LodeDataSymbol *symbol,
	const char *linked, int64_t inside, LodeDataPlace *out_place)
{
	uint64_t address = symbol->address + (uint64_t)inside;
	const Dwarf_Die *die = NULL;

	if (context->types == NULL)
		return false;
	if (context->unit != NULL)
		die = g_hash_table_lookup(context->unit->named, linked);
	if (die == NULL && context->unit != NULL && !g_str_has_prefix(linked, "_Z"))
		die = g_hash_table_lookup(context->unit->named, symbol->name);
	if (die != NULL && take_die(context, die, inside, out_place))
		return true;
	return find_in_list(context, LODE_VARIABLES_OF_UNITS, address, out_place) ||
	       (is_maybe_local(linked) &&
		       find_in_list(context, LODE_VARIABLES_OF_FUNCTIONS, address, out_place));
}

/* A C++ symbol's name has the scope, which the debug information's has not; that of a static
 * variable of C may end in a number of the compiler's ("count.0"). */
static void name_by_symbol(
	const LodeDataSymbol *symbol, const char *linked, bool is_found, LodeDataPlace *place)
{
	if (!is_found)
		*place = (LodeDataPlace){.type = LODE_NO_TYPE, .is_variable_itself = true};
	if (place->variable == NULL || g_str_has_prefix(linked, "_Z"))
		place->variable = symbol->name;
}

bool lode_data_place_static(
	const LodeFunctionContext *context, uint64_t address, LodeDataPlace *out_place)
{
	LodeDataSymbol symbol;
	const char *linked = NULL;
	bool is_symbol = lode_elf_image_find_data_symbol(
		context->image, LODE_SYMBOLS_OF_IMAGE, address, &symbol, &linked);
	bool is_found = (context->variables != NULL &&
				find_static_local(context, address, out_place)) ||
	                find_in_unit(context, address, out_place);

	if (!is_symbol)
		return is_found ||
		       (context->types != NULL &&
			       find_in_list(context, LODE_VARIABLES_OF_UNITS, address, out_place));
	if (!is_found)
		is_found = type_symbol(
			context, &symbol, linked, (int64_t)(address - symbol.address), out_place);
	name_by_symbol(&symbol, linked, is_found, out_place);
	if (!is_found)
		out_place->offset = (int64_t)(address - symbol.address);
	return true;
}

bool lode_data_place_thread_local(
	const LodeFunctionContext *context, uint64_t offset, LodeDataPlace *out_place)
{
	LodeDataSymbol symbol;
	const char *linked = NULL;
	bool is_found = context->types != NULL &&
	                find_in_list(context, LODE_VARIABLES_OF_THREADS, offset, out_place);

	if (!lode_elf_image_find_data_symbol(
		    context->image, LODE_SYMBOLS_OF_THREADS, offset, &symbol, &linked))
		return is_found;
	name_by_symbol(&symbol, linked, is_found, out_place);
	if (!is_found)
		out_place->offset = (int64_t)(offset - symbol.address);
	return true;
}

LodeHeldValue lode_held_value_of_thread(const LodeFunctionContext *context, int64_t displacement)
{
	const LodeThreadBlock *block = lode_elf_image_thread_block(context->image);
	LodeHeldValue none = {0};
	uint64_t offset;

	if (block == NULL || !lode_thread_block_at_pointer(block, displacement, &offset))
		return none;
	return (LodeHeldValue){.kind = LODE_HELD_VALUE_THREAD_LOCAL, .offset = (int64_t)offset};
}

void lode_data_place_settle(
	const LodeFunctionContext *context, LodeDataPlace *place, const LodeAccessShape *shape)
{
	if (place->type != LODE_NO_TYPE && !place->is_reference &&
		settle(context->types, place, &NO_STRIDE, shape) == FIT_NONE)
		place->type = LODE_NO_TYPE;
}

bool lode_data_place_is_whole(const LodeFunctionContext *context, const LodeDataPlace *place,
	const LodeAccessShape *shape)
{
	if (lode_type_table_get(context->types, place->type)->kind != LODE_TYPE_AGGREGATE)
		return (uint64_t)place->offset + shape->size <=
		       lode_type_table_size(context->types, place->type);
	return lode_data_place_fields(context->types, place->type, place->offset, shape).is_whole;
}

bool lode_data_place_is_extended(const LodeFunctionContext *context, const LodeDataPlace *place)
{
	return lode_type_table_get(context->types, place->type)->kind == LODE_TYPE_AGGREGATE &&
	       has_flexible_array(context->types, place->type);
}

bool lode_data_place_recurs(
	const LodeFunctionContext *context, const LodeDataPlace *place, int64_t apart)
{
	LodeTypeTable *types = context->types;
	const uint64_t distance = (uint64_t)(apart < 0 ? -apart : apart);
	const GArray *fields;
	uint64_t size;
	uint32_t element = place->type == LODE_NO_TYPE
	                           ? LODE_NO_TYPE
	                           : lode_type_table_element(types, place->type);

	size = element == LODE_NO_TYPE ? 0 : lode_type_table_size(types, element);
	if (size == 0)
		return false;
	if (distance % size == 0)
		return true;
	fields = lode_type_table_fields(types, element);
	for (guint i = 0; fields != NULL && i < fields->len; i++) {
		const LodeTypeField *field = &g_array_index(fields, LodeTypeField, i);
		const Stride stride = {true, distance};

		if (inside_element(field, (uint64_t)wrap(place->offset, size)) == 0 &&
			is_walked(field, &stride))
			return true;
	}
	return false;
}

/* Whether an index can run along the found object. */
static bool is_walkable(const LodeFunctionContext *context, const LodeDataPlace *place)
{
	LodeTypeKind kind;

	if (place->type == LODE_NO_TYPE)
		return true;
	kind = lode_type_table_get(context->types, place->type)->kind;
	return kind == LODE_TYPE_ARRAY || kind == LODE_TYPE_AGGREGATE;
}

/* The variable at a static address or in the frame. */
static bool place_of_variable(const LodeFunctionContext *context, const Moment *moment,
	const LodeRegisterTypes *state, const LodeHeldValue *at, LodeDataPlace *out_place)
{
	if (at->kind == LODE_HELD_VALUE_FRAME)
		return find_in_frame(context, moment, state, at->offset, out_place);
	if (at->kind == LODE_HELD_VALUE_THREAD_LOCAL)
		return lode_data_place_thread_local(context, (uint64_t)at->offset, out_place);
	return lode_data_place_static(context, (uint64_t)at->offset, out_place);
}

/* The place at a value plus a displacement, and an index if there is one. */
static bool place_of_value(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, const LodeMemoryOperand *operand,
	const LodeHeldValue *value, LodeDataPlace *out_place)
{
	const Moment moment = {address, operand->valid_from};
	LodeHeldValue at = *value;

	if (value->kind == LODE_HELD_VALUE_THREAD_POINTER &&
		(value->offset == 0 || operand->index < 0)) {
		bool is_indexed = value->offset != 0 || operand->index >= 0;
		LodeHeldValue variable = lode_held_value_of_thread(context, operand->displacement);

		if (variable.kind == LODE_HELD_VALUE_NONE ||
			!place_of_variable(context, &moment, state, &variable, out_place) ||
			(is_indexed && !is_walkable(context, out_place)))
			return false;
		out_place->is_element |= value->offset != 0;
		return true;
	}
	if (value->kind < LODE_HELD_VALUE_POINTER ||
		__builtin_add_overflow(value->offset, operand->displacement, &at.offset))
		return false;
	if (value->kind == LODE_HELD_VALUE_POINTER) {
		*out_place = (LodeDataPlace){
			.type = value->type, .offset = at.offset, .variable = value->variable};
		return true;
	}
	if (operand->index < 0 && value->step == 0)
		return place_of_variable(context, &moment, state, &at, out_place);
	/* an index may make up for a displacement to before or after the variable */
	if (place_of_variable(context, &moment, state, value, out_place) &&
		is_walkable(context, out_place))
		out_place->offset += operand->displacement;
	else if (!place_of_variable(context, &moment, state, &at, out_place) ||
		 !is_walkable(context, out_place))
		return false;
	return true;
}

/* A variable that is not an array has no neighbours of its kind, and an access of it ends where it
 * ends. */
static bool is_overrun(const LodeFunctionContext *context, const LodeDataPlace *place,
	const Stride *stride, uint32_t size)
{
	uint64_t room;

	if (!place->is_variable_itself || place->type == LODE_NO_TYPE)
		return false;
	room = place->is_reference ? sizeof(uint64_t)
	                           : lode_type_table_size(context->types, place->type);
	if (stride->has_index || place->is_element)
		return place->is_reference || !is_walkable(context, place);
	return room > 0 && (uint64_t)place->offset + size > room;
}

/* Keeps what suits better. */
static void offer(const LodeFunctionContext *context, LodeDataPlace place, const Stride *stride,
	const LodeAccessShape *shape, Fit *best, LodeDataPlace *out_place)
{
	Fit fit;

	if (is_overrun(context, &place, stride, shape->size))
		return;
	if (place.is_reference)
		fit = FIT_SCALAR;
	else if (place.type == LODE_NO_TYPE)
		fit = FIT_ELEMENT;
	else
		fit = settle(context->types, &place, stride, shape);
	if (fit > *best) {
		*best = fit;
		*out_place = place;
	}
}

/* The step of an index register; its constant part is added to the displacement. */
static Stride take_index(
	LodeMemoryOperand *operand, const LodeRegisterTypes *state, int index, uint8_t scale)
{
	const LodeHeldValue *value = index < 0 ? NULL : &state->registers[index];
	uint64_t bytes = MAX(scale, 1);

	if (value == NULL || value->kind == LODE_HELD_VALUE_ZERO)
		return NO_STRIDE;
	if (value->kind != LODE_HELD_VALUE_NUMBER)
		return (Stride){true, bytes};
	if (__builtin_add_overflow(
		    operand->displacement, value->offset * (int64_t)bytes, &operand->displacement))
		return (Stride){true, 1};
	return value->step == 0 ? NO_STRIDE : (Stride){true, bytes * value->step};
}

/* A pointer that was moved by steps is like an index. */
static Stride joined(Stride stride, uint64_t step)
{
	if (step == 0)
		return stride;
	for (uint64_t rest = stride.has_index ? stride.bytes : 0; rest != 0;) {
		uint64_t next = step % rest;

		step = rest;
		rest = next;
	}
	return (Stride){.has_index = true, .bytes = step};
}

/* By one register as the pointer, another as the index. */
static Fit find_by_register(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, const LodeMemoryOperand *encoded, LodeDataPlace *out_place)
{
	LodeMemoryOperand moved = *encoded, *operand = &moved;
	Stride stride = take_index(operand, state, operand->index, operand->scale);
	const LodeHeldValue *value = &state->registers[operand->base];
	const GArray *variables = NULL;
	LodeDataPlace place;
	Fit best = FIT_NONE;

	if (!stride.has_index)
		operand->index = -1;
	if (context->variables != NULL)
		variables = context->variables->in_registers[operand->base];
	for (guint i = 0; variables != NULL && i < variables->len; i++) {
		const LodeVariablePlace *variable = &g_array_index(variables, LodeVariablePlace, i);
		LodeHeldValue pointer;

		if (variable->low > address)
			break;
		if (!is_at(variable, address))
			continue;
		pointer = lode_held_value_of_variable(context->types, variable);
		if (place_of_value(context, address, state, operand, &pointer, &place))
			offer(context, place, &stride, &operand->shape, &best, out_place);
	}
	if (context->variables != NULL && find_beside(context, address, operand, &place))
		offer(context, place, &stride, &operand->shape, &best, out_place);
	stride = joined(stride, value->step);
	if (place_of_value(context, address, state, operand, value, &place))
		offer(context, place, &stride, &operand->shape, &best, out_place);
	return best;
}

/* A displacement that is an address, perhaps of an array: in programs at fixed addresses. */
static Fit find_by_address(const LodeFunctionContext *context, const LodeRegisterTypes *state,
	const LodeMemoryOperand *encoded, LodeDataPlace *out_place)
{
	LodeMemoryOperand moved = *encoded, *operand = &moved;
	/* table(%rax): the register encoded as the base is the index */
	int index = operand->index >= 0 ? operand->index : operand->base;
	Stride stride = take_index(operand, state, index, operand->index >= 0 ? operand->scale : 1);
	LodeDataPlace place;
	Fit best = FIT_NONE;

	if (!operand->is_absolute && !context->image->file->is_fixed)
		return FIT_NONE;
	if (lode_data_place_static(context, (uint64_t)operand->displacement, &place))
		offer(context, place, &stride, &operand->shape, &best, out_place);
	return best;
}

/* fs:[displacement], with the offset of a variable from the thread pointer in a register, or as the
 * displacement in executables. */
static Fit find_by_thread(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, const LodeMemoryOperand *operand, LodeDataPlace *out_place)
{
	int index = operand->index >= 0 ? operand->index : operand->base;
	LodeMemoryOperand relative = *operand;
	Stride stride = take_index(
		&relative, state, index, operand->index >= 0 ? operand->scale : 1);
	LodeHeldValue value = {0};
	LodeDataPlace place;
	Fit best = FIT_NONE;

	if (operand->base >= 0 &&
		state->registers[operand->base].kind == LODE_HELD_VALUE_THREAD_OFFSET) {
		value = state->registers[operand->base];
		value.kind = LODE_HELD_VALUE_THREAD_LOCAL;
		relative = *operand;
		stride = take_index(&relative, state, operand->index, operand->scale);
	} else if (operand->base < 0 || operand->index < 0) {
		value = lode_held_value_of_thread(context, operand->displacement);
		relative.displacement -= operand->displacement;
		relative.base = -1;
		relative.index = stride.has_index ? index : -1;
	}
	if (place_of_value(context, address, state, &relative, &value, &place))
		offer(context, place, &stride, &operand->shape, &best, out_place);
	return best;
}

bool lode_data_place_find(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, const LodeMemoryOperand *operand, LodeDataPlace *out_place)
{
	LodeMemoryOperand swapped = *operand;
	Fit fit = FIT_NONE;

	if (operand->is_segmented)
		return operand->is_thread &&
		       find_by_thread(context, address, state, operand, out_place) != FIT_NONE;
	if (operand->base >= 0)
		fit = find_by_register(context, address, state, operand, out_place);
	/* with a scale of 1 the encoding does not show which of the two is the pointer */
	if (fit == FIT_NONE && operand->index >= 0 && operand->scale == 1) {
		swapped.base = operand->index;
		swapped.index = operand->base;
		fit = find_by_register(context, address, state, &swapped, out_place);
	}
	if (fit == FIT_NONE)
		fit = find_by_address(context, state, operand, out_place);
	return fit != FIT_NONE;
}

LodeHeldValue lode_data_place_load(const LodeFunctionContext *context, const LodeDataPlace *place)
{
	LodeHeldValue value = {0};

	if (place->type == LODE_NO_TYPE)
		return value;
	if (place->is_reference)
		value = (LodeHeldValue){.kind = LODE_HELD_VALUE_POINTER, .type = place->type};
	else
		value = lode_held_value_of_type(
			context->types, pointer_inside(context->types, place->type, place->offset));
	if (place->is_owner && place->offset == 0)
		value.variable = place->variable;
	else if (value.kind == LODE_HELD_VALUE_POINTER && !place->is_reference &&
		 context->unit != NULL && context->unit->is_go)
		value.variable = lode_go_map_owner(context, place);
	return value;
}

/* By its name, which a PLT entry and a function in another unit share with their declaration. */
static const Dwarf_Die *find_callee(const LodeUnitIndex *unit, const LodeBinaryFunction *function)
{
	g_autofree char *name = g_strdup(function->symbol);
	char *suffix = strchr(name, '@');

	if (suffix != NULL)
		*suffix = '\0';
	return g_hash_table_lookup(unit->callable, name);
}

uint32_t lode_data_place_call_type(
	const LodeFunctionContext *context, uint64_t after, uint64_t target)
{
	uint32_t type = context->variables == NULL
	                        ? LODE_NO_TYPE
	                        : lode_function_variables_call_type(context->variables, after);
	const LodeBinaryFunction *function;
	const Dwarf_Die *callee = NULL;
	Dwarf_Die die;

	if (type != LODE_NO_TYPE || target == 0 || context->unit == NULL)
		return type;
	function = lode_binary_image_find(&context->image->image, target);
	if (function != NULL && function->address == target && function->symbol != NULL)
		callee = find_callee(context->unit, function);
	if (callee == NULL)
		return LODE_NO_TYPE;
	die = *callee;
	return lode_type_table_add_type_of(context->types, &die);
}
