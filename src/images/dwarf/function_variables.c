/* SPDX-License-Identifier: MIT */
/* One walk over the function's tree, which holds the blocks and the functions inlined into it. */
#include "images/dwarf/function_variables.h"

#include "base/arrays/sort_order.h"
#include "images/dwarf/type_fields.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_DEPTH = 64,
	MAX_VISITED = 4 * 1000 * 1000,
	MAX_PLACES = 1000 * 1000,
	MAX_CALLS = 1000 * 1000,
	MAX_SCOPE_RANGES = 64,
	MAX_PIECES = 16,
};

typedef struct {
	uint64_t low, high;
} Range;

typedef struct {
	Range ranges[MAX_SCOPE_RANGES];
	int n;
	uint8_t depth;
} Scope;

typedef struct {
	LodeTypeTable *types;
	LodeFunctionVariables *out;
	LodeVariablePlace frame_base;
	bool has_frame_base;
	uint32_t n_visited;
} Walk;

int lode_register_from_dwarf(uint64_t number)
{
	/* DWARF's order is rax rdx rcx rbx rsi rdi rbp rsp r8 … (System V ABI for x86-64, 3.6.2) */
	static const int8_t NUMBERS[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

	return number < G_N_ELEMENTS(NUMBERS) ? NUMBERS[number] : -1;
}

/* Register and offset of an operation that names a register; −1: it does not. */
static int register_of(const Dwarf_Op *op, int64_t *out_offset)
{
	*out_offset = 0;
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return lode_register_from_dwarf(op->atom - DW_OP_reg0);
	if (op->atom == DW_OP_regx)
		return lode_register_from_dwarf(op->number);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*out_offset = (int64_t)op->number;
		return lode_register_from_dwarf(op->atom - DW_OP_breg0);
	}
	if (op->atom == DW_OP_bregx) {
		*out_offset = (int64_t)op->number2;
		return lode_register_from_dwarf(op->number);
	}
	return -1;
}

static bool is_plain_register(const Dwarf_Op *op)
{
	return (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) || op->atom == DW_OP_regx;
}

static bool static_place(Dwarf_Attribute *attribute, const Dwarf_Op *op, LodeVariablePlace *place)
{
	Dwarf_Attribute value;
	Dwarf_Addr address;

	if (op->atom == DW_OP_addr)
		address = op->number;
	else if ((op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) ||
		 dwarf_getlocation_attr(attribute, op, &value) != 0 ||
		 dwarf_formaddr(&value, &address) != 0)
		return false;
	place->kind = LODE_PLACE_AT_ADDRESS;
	place->offset = (int64_t)address;
	return true;
}

/* Where one operation says that a variable is; false: it says something else. */
static bool simple_place(
	const Walk *walk, Dwarf_Attribute *attribute, const Dwarf_Op *op, LodeVariablePlace *place)
{
	int64_t offset;
	int number;

	if (op->atom == DW_OP_fbreg) {
		if (!walk->has_frame_base)
			return false;
		place->kind = walk->frame_base.kind;
		place->register_number = walk->frame_base.register_number;
		return !__builtin_add_overflow(
			walk->frame_base.offset, (int64_t)op->number, &place->offset);
	}
	if (op->atom == DW_OP_call_frame_cfa) {
		place->kind = LODE_PLACE_AT_FRAME;
		place->offset = 0;
		return true;
	}
	number = register_of(op, &offset);
	if (number < 0)
		return static_place(attribute, op, place);
	place->kind = is_plain_register(op) ? LODE_PLACE_IN_REGISTER : LODE_PLACE_AT_REGISTER;
	place->register_number = (uint8_t)number;
	place->offset = offset;
	return true;
}

static void add_place(Walk *walk, const LodeVariablePlace *place, const Scope *scope)
{
	GArray *out = place->kind == LODE_PLACE_IN_REGISTER
	                      ? walk->out->in_registers[place->register_number]
	                      : walk->out->in_memory;
	LodeVariablePlace clipped = *place;

	/* libdw gives 0 and −1 for a location without a list: it holds in the whole scope */
	if (place->low != 0 || place->high != UINT64_MAX) {
		if (place->low < place->high && walk->out->n_places++ < MAX_PLACES)
			g_array_append_val(out, clipped);
		return;
	}
	for (int i = 0; i < scope->n && walk->out->n_places++ < MAX_PLACES; i++) {
		clipped.low = scope->ranges[i].low;
		clipped.high = scope->ranges[i].high;
		g_array_append_val(out, clipped);
	}
}

/* A variable in pieces: those that are in registers, and whole in one each. */
static void add_pieces(Walk *walk, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t n,
	const LodeVariablePlace *model, const Scope *scope)
{
	LodeVariablePlace place = *model;
	uint64_t before = 0;
	size_t first = 0;

	for (size_t i = 0; i < n && i < 2 * (size_t)MAX_PIECES; i++) {
		if (ops[i].atom != DW_OP_piece)
			continue;
		if (i == first + 1 && simple_place(walk, attribute, &ops[first], &place) &&
			place.kind == LODE_PLACE_IN_REGISTER) {
			place.piece = (uint32_t)before;
			add_place(walk, &place, scope);
		}
		before += ops[i].number;
		first = i + 1;
		if (before > UINT16_MAX)
			return;
	}
}

/* An array whose length the function computes, on the stack. */
static bool is_array_of_any_length(LodeTypeTable *types, const LodeVariablePlace *place)
{
	return place->is_owner && lode_type_table_get(types, place->type)->kind == LODE_TYPE_ARRAY;
}

static void add_expression(Walk *walk, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t n,
	const LodeVariablePlace *model, const Scope *scope)
{
	LodeVariablePlace place = *model;

	if (n == 0)
		return;
	if (n > 2 || ops[n - 1].atom == DW_OP_piece) {
		add_pieces(walk, attribute, ops, n, model, scope);
		return;
	}
	place.is_home = place.low == 0 && place.high == UINT64_MAX;
	if (!simple_place(walk, attribute, &ops[0], &place))
		return;
	/* a fixed address here: the value is that of a global variable for a while; arrays have no
	 * such entries */
	if (!place.is_home && !is_array_of_any_length(walk->types, &place) &&
		(place.kind == LODE_PLACE_AT_ADDRESS || ops[n - 1].atom == DW_OP_deref))
		return;
	if (n == 2 && ops[1].atom == DW_OP_deref && place.kind != LODE_PLACE_IN_REGISTER) {
		place.is_reference = true;
	} else if (n == 2 && ops[1].atom == DW_OP_stack_value &&
		   place.kind == LODE_PLACE_AT_REGISTER && place.offset != INT64_MIN) {
		/* the value is register + offset, and so the register value − offset */
		place.kind = LODE_PLACE_IN_REGISTER;
		place.offset = -place.offset;
	} else if (n == 2) {
		return;
	} else if (place.kind == LODE_PLACE_AT_REGISTER && place.offset != INT64_MIN &&
		   is_array_of_any_length(walk->types, &place)) {
		/* the register leads to it, and so do registers that it is copied to */
		place.kind = LODE_PLACE_IN_REGISTER;
		place.offset = -place.offset;
	}
	add_place(walk, &place, scope);
}

static void add_variable(Walk *walk, Dwarf_Die *die, const Scope *scope)
{
	Dwarf_Attribute attribute, name;
	LodeVariablePlace place = {.depth = scope->depth};
	Dwarf_Addr base;
	ptrdiff_t offset = 0;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(die, DW_AT_location, &attribute) == NULL)
		return;
	place.type = lode_type_table_add_type_of(walk->types, die);
	if (place.type == LODE_NO_TYPE)
		return;
	place.name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &name));
	place.is_owner = dwarf_tag(die) == DW_TAG_variable &&
	                 lode_type_table_is_owned(walk->types, place.type);
	for (uint32_t i = 0; i < MAX_PLACES; i++) {
		offset = dwarf_getlocations(
			&attribute, offset, &base, &place.low, &place.high, &ops, &n);
		if (offset <= 0 || walk->n_visited++ > MAX_VISITED)
			return;
		/* an empty range: between two views of one address, before its instruction */
		if (place.low == place.high && place.high != UINT64_MAX)
			place.high++;
		add_expression(walk, &attribute, ops, n, &place, scope);
	}
}

static bool read_address(Dwarf_Die *die, unsigned name, uint64_t *out_address)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) != NULL &&
	       dwarf_formaddr(&attribute, out_address) == 0;
}

static void add_call(Walk *walk, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	LodeCallType call;
	Dwarf_Die callee;

	/* DWARF 5, and the GNU extension that came before it */
	if (!read_address(die, DW_AT_call_return_pc, &call.return_address) &&
		!read_address(die, DW_AT_low_pc, &call.return_address))
		return;
	if (dwarf_attr(die, DW_AT_call_origin, &attribute) == NULL &&
		dwarf_attr(die, DW_AT_abstract_origin, &attribute) == NULL)
		return;
	if (dwarf_formref_die(&attribute, &callee) == NULL)
		return;
	call.type = lode_type_table_add_type_of(walk->types, &callee);
	if (walk->out->calls->len < MAX_CALLS)
		g_array_append_val(walk->out->calls, call);
}

static void read_scope(Dwarf_Die *die, Scope *out_scope)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	*out_scope = (Scope){.n = 0};
	while (out_scope->n < MAX_SCOPE_RANGES &&
		(offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0)
		out_scope->ranges[out_scope->n++] = (Range){low, high};
}

static void walk_scope(Walk *walk, Dwarf_Die *parent, const Scope *scope, int depth);

static void visit(Walk *walk, Dwarf_Die *die, const Scope *scope, int depth)
{
	Scope inner;

	switch (dwarf_tag(die)) {
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
		add_variable(walk, die, scope);
		break;
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		add_call(walk, die);
		break;
	case DW_TAG_common_block:
		walk_scope(walk, die, scope, depth + 1);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		read_scope(die, &inner);
		if (inner.n == 0) /* without ranges of its own it has its parent's */
			inner = *scope;
		inner.depth = (uint8_t)(depth + 1);
		walk_scope(walk, die, &inner, depth + 1);
		break;
	default:
		break;
	}
}

static void walk_scope(Walk *walk, Dwarf_Die *parent, const Scope *scope, int depth)
{
	Dwarf_Die die;

	if (depth >= MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (walk->n_visited++ > MAX_VISITED)
			return;
		visit(walk, &die, scope, depth);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void read_frame_base(Walk *walk, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) == NULL ||
		dwarf_getlocation(&attribute, &ops, &n) != 0 || n != 1 ||
		ops[0].atom == DW_OP_fbreg)
		return;
	walk->has_frame_base = simple_place(walk, &attribute, &ops[0], &walk->frame_base);
	/* the base is the register's value itself */
	if (walk->frame_base.kind == LODE_PLACE_IN_REGISTER)
		walk->frame_base.kind = LODE_PLACE_AT_REGISTER;
}

LODE_ORDER(compare_places, LodeVariablePlace, LODE_ASCENDING(low))

LODE_ORDER(compare_calls, LodeCallType, LODE_ASCENDING(return_address))

LodeFunctionVariables *lode_function_variables_new(LodeTypeTable *types, Dwarf_Die *function)
{
	LodeFunctionVariables *self = g_new0(LodeFunctionVariables, 1);
	Walk walk = {.types = types, .out = self};
	Scope scope;

	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++)
		self->in_registers[i] = g_array_new(FALSE, FALSE, sizeof(LodeVariablePlace));
	self->in_memory = g_array_new(FALSE, FALSE, sizeof(LodeVariablePlace));
	self->calls = g_array_new(FALSE, FALSE, sizeof(LodeCallType));
	read_scope(function, &scope);
	read_frame_base(&walk, function);
	walk_scope(&walk, function, &scope, 0);
	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++)
		g_array_sort(self->in_registers[i], compare_places);
	g_array_sort(self->in_memory, compare_places);
	g_array_sort(self->calls, compare_calls);
	return self;
}

void lode_function_variables_free(LodeFunctionVariables *self)
{
	if (self == NULL)
		return;
	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++)
		g_array_unref(self->in_registers[i]);
	g_array_unref(self->in_memory);
	g_array_unref(self->calls);
	g_free(self);
}

uint32_t lode_function_variables_call_type(
	const LodeFunctionVariables *self, uint64_t return_address)
{
	LodeCallType key = {.return_address = return_address};
	const LodeCallType *call = self->calls->len == 0
	                                   ? NULL
	                                   : bsearch(&key, self->calls->data, self->calls->len,
						     sizeof key, compare_calls);

	return call == NULL ? LODE_NO_TYPE : call->type;
}
