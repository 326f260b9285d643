/* SPDX-License-Identifier: MIT */
/*
 * Results for functions are kept up to a limit: queries come sorted by function.
 */
#include "images/types/data_types.h"

#include "base/arrays/partition_point.h"
#include "images/dwarf/function_variables.h"
#include "images/dwarf/source_lines.h"
#include "images/dwarf/unit_index.h"
#include "images/types/go_maps.h"
#include "images/types/register_types.h"
#include "images/types/stack_frames.h"
#include "images/types/used_bits.h"
#include "model/data_type.h"
#include "model/index.h"

#include <string.h>

/* Bytes of kept functions. */
#define MAX_KEPT (UINT64_C(64) << 20)

typedef struct {
	LodeFunctionVariables *variables; /* NULL: not described */
	GArray *states;                   /* NULL: none, or no flow was given */
	guint n_instructions;             /* of the flow that the states are of */
} Function;

struct LodeDataTypes {
	LodeElfImage *image;
	LodeDebugInfo *info; /* NULL: none */
	LodeTypeTable *table;
	LodeStackFrames *frames; /* NULL: not used yet */
	GHashTable *functions;   /* address → Function */
	GHashTable *returned;    /* return address → type of the table + 1 */
	uint64_t n_kept;
	GArray *types, *members;
	GHashTable *numbers; /* number in the table + 1 → number in `types` */
	GHashTable *by_name; /* name → GArray of numbers in `types` */
	GStringChunk *names;
};

static void free_function(void *data)
{
	Function *function = data;

	lode_function_variables_free(function->variables);
	g_clear_pointer(&function->states, g_array_unref);
	g_free(function);
}

static void free_numbers(void *data)
{
	g_array_unref(data);
}

LodeDataTypes *lode_data_types_new(LodeBinaryImage *image)
{
	LodeElfImage *elf = lode_elf_image_of(image);
	LodeDataTypes *self;

	if (elf == NULL)
		return NULL;
	self = g_new0(LodeDataTypes, 1);
	self->image = elf;
	self->info = lode_elf_image_debug_info(elf);
	if (self->info != NULL)
		self->table = lode_type_table_new(self->info);
	self->functions = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_function);
	self->returned = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->types = g_array_new(FALSE, FALSE, sizeof(LodeDataType));
	/* With room: its data are never NULL, to which not even 0 may be added. */
	self->members = g_array_sized_new(FALSE, FALSE, sizeof(LodeDataMember), 1);
	self->numbers = g_hash_table_new(NULL, NULL);
	self->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_numbers);
	self->names = g_string_chunk_new(4096);
	return self;
}

void lode_data_types_free(LodeDataTypes *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->functions);
	g_hash_table_unref(self->returned);
	lode_stack_frames_free(self->frames);
	lode_type_table_free(self->table);
	g_array_unref(self->types);
	g_array_unref(self->members);
	g_hash_table_unref(self->numbers);
	g_hash_table_unref(self->by_name);
	g_string_chunk_free(self->names);
	g_free(self);
}

const GArray *lode_data_types_types(const LodeDataTypes *self)
{
	return self->types;
}

const GArray *lode_data_types_members(const LodeDataTypes *self)
{
	return self->members;
}

const char *lode_data_types_warning(const LodeDataTypes *self)
{
	return self->info == NULL ? NULL : self->info->warning;
}

static LodeDataMember member_of(const LodeDataTypes *self, const LodeTypeField *field)
{
	LodeDataMember member = {
		.name = (char *)field->name,
		.type = (char *)"?",
		.offset = field->offset,
		.size = field->size,
		.bit_offset = field->bit_offset,
		.bit_size = field->bit_size,
	};

	/* An array of plain elements is one member as it stands. */
	if (field->stride > 0 && field->extent != field->size) {
		member.stride = field->stride;
		member.repeats = field->extent != UINT64_MAX ? field->extent / field->stride : 0;
	}
	if (field->type != LODE_NO_TYPE)
		member.type = (char *)lode_type_table_get(self->table, field->type)->name;
	return member;
}

static bool is_equal_member(const LodeDataMember *a, const LodeDataMember *b)
{
	return a->offset == b->offset && a->size == b->size && a->bit_offset == b->bit_offset &&
	       a->bit_size == b->bit_size && a->stride == b->stride && a->repeats == b->repeats &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0;
}

/* Units describe the same structure each for itself. */
static bool is_equal_type(const LodeDataTypes *self, const LodeDataType *a, const LodeDataType *b)
{
	if (a->size != b->size || a->n_members != b->n_members)
		return false;
	for (uint32_t i = 0; i < a->n_members; i++)
		if (!is_equal_member(
			    &g_array_index(self->members, LodeDataMember, a->first_member + i),
			    &g_array_index(self->members, LodeDataMember, b->first_member + i)))
			return false;
	return true;
}

/* The number of a type just read: an equal one's, else its own, which makes it stay. */
static uint32_t keep_type(LodeDataTypes *self, const LodeDataType *type)
{
	GArray *same = g_hash_table_lookup(self->by_name, type->name);
	uint32_t number = self->types->len;

	if (same == NULL) {
		same = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(self->by_name, type->name, same);
	}
	for (guint i = 0; i < same->len; i++) {
		uint32_t other = g_array_index(same, uint32_t, i);

		if (is_equal_type(self, type, &g_array_index(self->types, LodeDataType, other))) {
			g_array_set_size(self->members, type->first_member);
			return other;
		}
	}
	g_array_append_val(same, number);
	g_array_append_vals(self->types, type, 1);
	return number;
}

/* The public number of a type of the table. */
static uint32_t number_of(LodeDataTypes *self, uint32_t type)
{
	LodeDataType entry = {.first_member = self->members->len};
	const GArray *fields;
	gpointer known;
	uint32_t number;

	if (g_hash_table_lookup_extended(self->numbers, GUINT_TO_POINTER(type + 1), NULL, &known))
		return GPOINTER_TO_UINT(known);
	entry.size = lode_type_table_size(self->table, type);
	fields = lode_type_table_fields(self->table, type);
	entry.name = g_string_chunk_insert_const(
		self->names, lode_type_table_get(self->table, type)->name);
	for (guint i = 0; fields != NULL && i < fields->len; i++) {
		LodeDataMember member = member_of(self, &g_array_index(fields, LodeTypeField, i));

		g_array_append_val(self->members, member);
	}
	entry.n_members = self->members->len - entry.first_member;
	number = keep_type(self, &entry);
	g_hash_table_insert(self->numbers, GUINT_TO_POINTER(type + 1), GUINT_TO_POINTER(number));
	return number;
}

uint32_t lode_data_types_find_name(LodeDataTypes *self, const char *name)
{
	uint32_t type = self->table == NULL ? LODE_NO_TYPE
	                                    : lode_type_table_find_name(self->table, name);

	return type == LODE_NO_TYPE ? LODE_NONE : number_of(self, type);
}

/* The member of the public type that a field of the same type became. */
static uint32_t member_number(
	const LodeDataTypes *self, uint32_t type, uint32_t number, const LodeTypeField *field)
{
	const GArray *fields = lode_type_table_fields(self->table, type);
	const LodeTypeField *first = (const void *)fields->data;

	return g_array_index(self->types, LodeDataType, number).first_member +
	       (uint32_t)(field - first);
}

/* Several members that an access may be to: "u" for u.tag and u.value, "bits.a/b" for bit fields in
 * the same bytes; NULL where no structure in the type has just them. */
static const char *group_of(LodeDataTypes *self, const LodeFieldChoice *choice)
{
	uint32_t n = MIN(choice->n, LODE_MAX_FIELD_CHOICES);
	g_autoptr(GString) text = g_string_new(choice->fields[0]->name);
	bool is_bits = true;
	size_t length = text->len;

	for (uint32_t i = 0; i < n; i++) {
		const char *name = choice->fields[i]->name;
		size_t k = 0;

		is_bits &= choice->fields[i]->bit_size > 0;
		while (k < length && name[k] == text->str[k])
			k++;
		length = i == 0 ? length : k;
	}
	while (length > 0 && text->str[length - 1] != '.')
		length--;
	g_string_truncate(text, length);
	for (uint32_t i = 0; is_bits && i < n; i++)
		g_string_append_printf(
			text, "%s%s", i == 0 ? "" : "/", choice->fields[i]->name + length);
	if (is_bits && choice->n > n)
		g_string_append(text, "/…");
	if (!is_bits && length > 0)
		g_string_truncate(text, length - 1);
	return text->len == 0 ? NULL : g_string_chunk_insert_const(self->names, text->str);
}

static LodeDataReference reference_of(
	LodeDataTypes *self, const LodeDataPlace *place, const LodeAccessShape *shape)
{
	LodeDataReference reference = {.type = LODE_NONE,
		.member = LODE_NONE,
		.is_element = place->is_element,
		.variable = place->variable};
	LodeFieldChoice choice;

	if (place->type == LODE_NO_TYPE || place->is_reference)
		return reference;
	reference.type = number_of(self, place->type);
	if (lode_type_table_get(self->table, place->type)->kind != LODE_TYPE_AGGREGATE) {
		reference.is_variable_named_first = reference.variable != NULL;
		return reference;
	}
	choice = lode_data_place_fields(self->table, place->type, place->offset, shape);
	if (choice.n == 0)
		return reference;
	reference.is_whole = choice.is_whole;
	reference.is_element |= choice.fields[0]->stride > 0;
	if (choice.n == 1)
		reference.member = member_number(
			self, place->type, reference.type, choice.fields[0]);
	else
		reference.group = group_of(self, &choice);
	return reference;
}

/* The kept results for the function at an address; made when it is new. */
static Function *find_function(LodeDataTypes *self, uint64_t key, const LodeUnitFunction *described)
{
	Function *function = g_hash_table_lookup(self->functions, &key);
	Dwarf_Die die;

	if (function != NULL)
		return function;
	if (self->n_kept > MAX_KEPT) {
		g_hash_table_remove_all(self->functions);
		self->n_kept = 0;
	}
	function = g_new0(Function, 1);
	if (described != NULL) {
		die = described->die;
		function->variables = lode_function_variables_new(self->table, &die);
		self->n_kept += function->variables->n_places * sizeof(LodeVariablePlace);
	}
	self->n_kept += sizeof *function;
	g_hash_table_insert(self->functions, g_memdup2(&key, sizeof key), function);
	return function;
}

/* The description of the function that an address is in. */
static Function *describe(LodeDataTypes *self, uint64_t address, const LodeControlFlow *flow,
	LodeFunctionContext *out_context)
{
	const LodeUnitRange *range = self->info == NULL ? NULL
	                                                : lode_debug_info_find(self->info, address);
	const LodeUnitFunction *described = NULL;
	Function *function;
	uint64_t key = 0;
	Dwarf_Die unit;

	*out_context = (LodeFunctionContext){.types = self->table,
		.image = self->image,
		.frames = self->info == NULL ? NULL : lode_elf_image_unwind(self->image, address)};
	if (range != NULL && lode_debug_info_unit_die(self->info, range->unit, &unit))
		out_context->unit = lode_type_table_unit(self->table, unit.cu);
	if (out_context->unit != NULL)
		described = lode_unit_index_find_function(out_context->unit, address);
	if (flow != NULL && flow->instructions->len > 0)
		key = g_array_index(flow->instructions, LodeStaticInstruction, 0).address;
	else if (described != NULL)
		key = described->low;
	function = find_function(self, key, described);
	out_context->variables = function->variables;
	return function;
}

static void find_state(LodeDataTypes *self, const LodeFunctionContext *context, Function *function,
	uint64_t address, const LodeControlFlow *flow, LodeRegisterTypes *out_state)
{
	if (flow != NULL && function->n_instructions != flow->instructions->len) {
		g_clear_pointer(&function->states, g_array_unref);
		function->states = lode_register_types_flow(context, flow);
		function->n_instructions = flow->instructions->len;
		if (function->states != NULL)
			self->n_kept += function->states->len * sizeof(LodeRegisterTypes);
	}
	lode_register_types_at(context, flow, function->states, address, out_state);
}

bool lode_data_types_find(LodeDataTypes *self, uint64_t address, uint8_t operand,
	const LodeControlFlow *flow, LodeDataReference *out_reference)
{
	LodeFunctionContext context;
	LodeRegisterTypes state;
	LodeFullInstruction full;
	LodeMemoryOperand memory;
	LodeDataPlace place;
	Function *function;

	if (!lode_register_types_decode(&full, self->image, address) ||
		!lode_register_types_memory(&full, operand, &memory))
		return false;
	lode_used_bits_find(self->image, flow, address, operand, &memory.shape);
	function = describe(self, address, flow, &context);
	find_state(self, &context, function, address, flow, &state);
	if (!lode_data_place_find(&context, address, &state, &memory, &place))
		return false;
	*out_reference = reference_of(self, &place, &memory.shape);
	return out_reference->type != LODE_NONE || out_reference->variable != NULL;
}

bool lode_data_types_find_pointed(LodeDataTypes *self, uint64_t address, int number,
	const LodeAccessShape *shape, const LodeControlFlow *flow, LodeDataReference *out_reference)
{
	const LodeMemoryOperand memory = {
		.base = number, .index = -1, .shape = *shape, .valid_from = address};
	LodeFunctionContext context;
	LodeRegisterTypes state;
	LodeDataPlace place;
	Function *function = describe(self, address, flow, &context);

	find_state(self, &context, function, address, flow, &state);
	if (!lode_data_place_find(&context, address, &state, &memory, &place))
		return false;
	*out_reference = reference_of(self, &place, shape);
	return out_reference->type != LODE_NONE || out_reference->variable != NULL;
}

/* Makes the answer for an access inside a variable. */
static bool settle(LodeDataTypes *self, const LodeFunctionContext *context, LodeDataPlace *place,
	const LodeAccessShape *shape, LodeDataReference *out_reference)
{
	lode_data_place_settle(context, place, shape);
	*out_reference = reference_of(self, place, shape);
	return out_reference->type != LODE_NONE || out_reference->variable != NULL;
}

bool lode_data_types_find_static(LodeDataTypes *self, uint64_t address,
	const LodeAccessShape *shape, LodeDataReference *out_reference)
{
	const LodeFunctionContext context = {.types = self->table, .image = self->image};
	LodeDataPlace place;

	return lode_data_place_static(&context, address, &place) &&
	       settle(self, &context, &place, shape, out_reference);
}

bool lode_data_types_find_thread_local(LodeDataTypes *self, uint64_t offset,
	const LodeAccessShape *shape, LodeDataReference *out_reference)
{
	const LodeFunctionContext context = {.types = self->table, .image = self->image};
	LodeDataPlace place;

	return lode_data_place_thread_local(&context, offset, &place) &&
	       settle(self, &context, &place, shape, out_reference);
}

bool lode_data_types_find_frame(LodeDataTypes *self, const LodeDataAccessQuestion *question,
	uint64_t address, LodeFramePlace *out_place)
{
	if (self->info == NULL)
		return false;
	if (self->frames == NULL)
		self->frames = lode_stack_frames_new(&self->image->image);
	return lode_stack_frames_find(self->frames, question, address, out_place);
}

bool lode_data_types_find_local(LodeDataTypes *self, const LodeFramePlace *frame,
	const LodeAccessShape *shape, const LodeControlFlow *flow, LodeDataReference *out_reference)
{
	Function *function;
	LodeFunctionContext context;
	LodeRegisterTypes state;
	LodeDataPlace place;

	if (self->info == NULL)
		return false;
	function = describe(self, frame->pc, flow, &context);
	find_state(self, &context, function, frame->pc, flow, &state);
	return lode_data_place_frame(&context, frame->pc, &state, frame->offset, &place) &&
	       settle(self, &context, &place, shape, out_reference);
}

/* The type of the allocated block, found once for each call. */
static uint32_t returned_type(
	LodeDataTypes *self, uint64_t return_address, const LodeControlFlow *flow)
{
	LodeFunctionContext context;
	LodeRegisterTypes state;
	Function *function;
	gpointer known;
	uint32_t type;

	if (g_hash_table_lookup_extended(self->returned, &return_address, NULL, &known))
		return GPOINTER_TO_UINT(known) - 1;
	/* the call is in its function, its return address need not be */
	function = describe(self, return_address - 1, flow, &context);
	find_state(self, &context, function, return_address, flow, &state);
	type = lode_register_types_returned(&context, flow, function->states, return_address);
	g_hash_table_insert(self->returned, g_memdup2(&return_address, sizeof return_address),
		GUINT_TO_POINTER(type + 1));
	return type;
}

uint64_t lode_data_types_allocated_step(
	LodeDataTypes *self, uint64_t return_address, const LodeControlFlow *flow)
{
	const LodeFunctionContext context = {.types = self->table, .image = self->image};
	const LodeDataPlace place = {.type = self->info == NULL
	                                             ? LODE_NO_TYPE
	                                             : returned_type(self, return_address, flow)};
	uint64_t length = place.type == LODE_NO_TYPE
	                          ? 0
	                          : lode_type_table_size(self->table, place.type);

	return length > 0 && lode_data_place_is_extended(&context, &place) ? UINT64_MAX : length;
}

bool lode_data_types_find_allocated(LodeDataTypes *self, const LodeAllocatedPlace *place,
	const LodeAccessShape *shape, const LodeControlFlow *flow, LodeDataReference *out_reference)
{
	const LodeFunctionContext context = {.types = self->table, .image = self->image};
	uint64_t length = lode_data_types_allocated_step(self, place->return_address, flow);
	LodeDataPlace found = {.offset = (int64_t)place->offset};

	if (length == 0 || place->offset >= place->allocated || place->offset > INT64_MAX)
		return false;
	found.type = returned_type(self, place->return_address, flow);
	if (length != UINT64_MAX) {
		/* A structure with more after it, or one of which this is the base, need not recur.
		 */
		found.is_element = true;
		found.offset = (int64_t)(place->offset % length);
		if (place->offset >= length &&
			(place->allocated % length != 0 ||
				!lode_data_place_is_whole(&context, &found, shape)))
			return false;
	}
	return settle(self, &context, &found, shape, out_reference);
}

bool lode_data_types_find_map(LodeDataTypes *self, const LodeGoMapView *view,
	const LodeControlFlow *flow, LodeDataReference *out_reference)
{
	enum { RBX = 3 }; /* the second argument: the header */
	LodeFunctionContext context;
	LodeRegisterTypes state;
	const LodeTypeField *field;
	Function *function;
	LodeGoMap map;
	uint32_t type;

	if (self->info == NULL || flow == NULL)
		return false;
	/* the last instruction before the return address is the call */
	size_t low = LODE_PARTITION_POINT(flow->instructions->len, i,
		g_array_index(flow->instructions, LodeStaticInstruction, i).address <
			view->return_address);
	if (low == 0)
		return false;
	uint64_t call = g_array_index(flow->instructions, LodeStaticInstruction, low - 1).address;
	function = describe(self, call, flow, &context);
	find_state(self, &context, function, call, flow, &state);
	if (!lode_go_map_find(&context, &state.registers[0], &map) ||
		!lode_go_map_member(&context, &map, view, &type, &field))
		return false;
	*out_reference = (LodeDataReference){.type = number_of(self, type),
		.member = LODE_NONE,
		.variable = state.registers[RBX].variable};
	if (field != NULL)
		out_reference->member = member_number(self, type, out_reference->type, field);
	return true;
}

LodeAccessShape lode_data_types_use(
	LodeDataTypes *self, uint64_t address, uint8_t operand, const LodeControlFlow *flow)
{
	LodeFullInstruction full;
	LodeMemoryOperand memory;

	if (!lode_register_types_decode(&full, self->image, address) ||
		!lode_register_types_memory(&full, operand, &memory))
		return (LodeAccessShape){0};
	lode_used_bits_find(self->image, flow, address, operand, &memory.shape);
	return memory.shape;
}

static char *variable_text(const char *type, const LodeDataReference *reference)
{
	size_t length = strlen(type);
	bool is_pointer = length > 0 && strchr("*&", type[length - 1]) != NULL;
	const char *space = is_pointer ? "" : " ";

	return g_strdup_printf(
		"%s%s%s%s", type, space, reference->variable, reference->is_element ? "[]" : "");
}

/* A structure that has no name is found in the source by the variable's. */
static bool is_nameless(const char *type)
{
	return g_str_has_suffix(type, "{…}");
}

static char *member_text(const char *type, const char *member, const LodeDataReference *reference)
{
	bool is_array = reference->is_element && strstr(member, "[]") == NULL;

	if (reference->variable == NULL || !is_nameless(type))
		return g_strdup_printf("%s.%s", type, member);
	return g_strdup_printf("%s%s.%s", reference->variable, is_array ? "[]" : "", member);
}

char *lode_data_reference_text(const LodeDataTypes *self, const LodeDataReference *reference)
{
	const char *type, *member;

	if (reference->type == LODE_NONE)
		return g_strdup(reference->variable);
	type = g_array_index(self->types, LodeDataType, reference->type).name;
	if (reference->is_variable_named_first && reference->variable != NULL)
		return variable_text(type, reference);
	if (reference->member == LODE_NONE && reference->group == NULL)
		return g_strdup(type);
	member = reference->member == LODE_NONE
	                 ? reference->group
	                 : g_array_index(self->members, LodeDataMember, reference->member).name;
	return member_text(type, member, reference);
}
